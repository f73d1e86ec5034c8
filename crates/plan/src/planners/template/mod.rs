//! The template: all_to_all, all_gather and reduce_scatter on an intact torus, in the fewest steps and the least volume
//! at once.
//!
//! # Idea
//!
//! A torus looks the same from every rank, so one schedule for the offsets of rank 0, the *template*, is translated to
//! all N ranks. A hop in direction `x+` of the template then loads every `x+` link equally, so the template is
//! contention-free if no direction occurs more often in a step than the step is wide.
//!
//! ```text
//!   all_to_all                                             all_gather
//!     offset (2,1):  x+ x+ y+   in any order, one a step     0 -x+-> 1 -x+-> 2    a tree to all offsets, each
//!     offset (0,3):  y-         the shorter direction        0 -x--> 3            reached once, in one step
//!     offset (2,2):  x+ x- ?    k/2 goes in either direction
//! ```
//!
//! The order of hops is an open shop (see `open_shop`); the trees grow step by step (see `tree`). A reduce_scatter is
//! an all_gather read backward.
//!
//! # Applies
//!
//! All_to_all, all_gather, all_reduce_gathered and reduce_scatter on intact tori whose dimensions all look the same
//! from every position: wrapped, or of extent 1 or 2.
//!
//! # Steps and volume
//!
//! Steps: the diameter, or any larger number asked for.
//!
//! Volume of all_to_all: the largest load of a direction over its capacity, rounded up to whole chunks. With capacity 1
//! that is `N k / 8` for the largest even extent `k`, `N (k^2 - 1) / (8 k)` for an odd one: the bisection bound.
//! Offsets of exactly `k / 2` go in either direction and are split evenly; where their number is odd, that takes two
//! parts. All_gather and reduce_scatter: `(N - 1) / (links of a rank)`, what a rank must receive or send, rounded up to
//! whole chunks.
//!
//! Twisted tori look the same from every rank too. There, an offset has shortest ways that use different dimensions;
//! they are chosen so that all directions carry about the same (see `twisted`).
//!
//! # Complexity
//!
//! All_to_all: a maximum flow on at most `N * parts` jobs and `2 D` machines per step, both halves side by side. The
//! others: `O(N * parts * D)` per step, and a small matching.
//!
//! # Reference
//!
//! Koenig 1916 and de Werra 1971 for open shops; Hu, "Parallel sequencing and assembly line problems", 1961, for the
//! trees; Qin et al., MICRO 2025, doi 10.1145/3725843.3756057, whose HalfRing takes the same volume for all_to_all with
//! messages in `D` parts.

mod messages;
mod offsets;
mod open_shop;
mod tree;
mod twisted;

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::planner::scope::{Machines, Scope};
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use offsets::diameter;

pub(super) use messages::TemplateSchedule;
pub(super) use offsets::link_towards;
pub(super) use tree::{TemplateTrees, most_steps};
pub(super) use twisted::shortest as shortest_ways;

/// The template planner.
///
/// ```
/// use collsynth_plan::{Control, Goal, Template, synthesize};
/// use collsynth_core::{collective::Kind, topology::Topology};
///
/// let goal = Goal { planner: Some(&Template), ..Goal::default() };
/// let intact = Topology::torus(&[4, 4, 4])?;
/// let plan = |kind| synthesize(&intact, &kind, &goal, &Control::unlimited());
/// let schedule = plan(Kind::AllToAll)?.schedule;
/// assert_eq!((schedule.step_count(), schedule.total_width()), (6, 32));
/// // 63 chunks over 6 links.
/// let schedule = plan(Kind::AllGather)?.schedule;
/// assert_eq!((schedule.step_count(), schedule.total_width()), (6, 11));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Template;

impl Planner for Template {
    fn name(&self) -> &'static str {
        "template"
    }

    fn summary(&self) -> &'static str {
        "all_to_all, all_gather, reduce_scatter on a torus without failures: fewest steps and least volume at once"
    }

    fn scope(&self) -> Scope {
        Scope::of(&["all_to_all", "all_gather", "all_reduce_gathered", "reduce_scatter"]).on(Machines::IntactTori)
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        let reason = "a dimension of 3 or more positions does not wrap".to_owned();
        match problem.topology().as_torus() {
            Some(torus) if torus.is_symmetric() => Ok(()),
            _ => Err(PlanError::NotApplicable { planner: self.name(), reason }),
        }
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let (topology, parts) = (task.problem.topology(), task.problem.parts());
        let torus = topology.as_torus().expect("the template applies to tori only");
        let steps = task.steps_or(diameter(torus))?;
        let not_found = || PlanError::NotFound { planner: self.name(), limit: format!("{steps} steps") };
        let schedule = match task.problem.collective().kind.pattern() {
            Pattern::OneToOne => {
                TemplateSchedule::new(torus, parts, steps).map(|template| template.translate(topology, parts))
            }
            pattern => {
                let trees = TemplateTrees::narrowest(task, torus, steps..=most_steps(task, steps));
                trees.map(|trees| trees.translate(topology, parts, pattern == Pattern::EveryToOne))
            }
        };
        let schedule = schedule.ok_or_else(not_found)?;
        Ok(Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished)))
    }
}
