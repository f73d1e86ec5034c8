//! The template: all_to_all, all_gather and reduce_scatter on a torus without failures, in the fewest steps and the
//! least volume at once.
//!
//! A torus looks the same from every rank, so every rank can treat its own `+delta` alike, and one
//! schedule for the offsets of rank 0, the *template*, is translated to all N ranks. A hop in direction `x+` of the
//! template then loads every `x+` link of the torus equally: the template is contention-free if in each step no
//! direction occurs more often than the step is wide.
//!
//! ```text
//!   all_to_all                                             all_gather
//!     offset (2,1):  x+ x+ y+   in any order, one a step     0 -x+-> 1 -x+-> 2    a tree to all offsets, each
//!     offset (0,3):  y-         the shorter way round        0 -x--> 3            reached once, in one step
//!     offset (2,2):  x+ x- ?    k/2 goes either way
//! ```
//!
//! * **Applies** to tori without failures whose dimensions all look the same from every position: wrapped, or of extent
//!   1 or 2.
//! * **Steps**: the diameter (or any larger number asked for).
//! * **Volume** of all_to_all: the largest load of a direction over its capacity, rounded up to whole chunks. With
//!   capacity 1 that is `N k / 8` for the largest even extent `k`, `N (k^2 - 1) / (8 k)` for an odd one: the bisection
//!   bound. Offsets of exactly `k / 2` go either way and are shared out evenly; where their number is odd, two parts
//!   are needed. All_gather and reduce_scatter: `(N - 1) / (links of a rank)`, what a rank must receive or send,
//!   rounded up to whole chunks.
//! * **Complexity**: all_to_all, a maximum flow on `N * parts` jobs and `2 D` machines per step; the others
//!   `O(N * parts * D)` per step, and a small matching.
//!
//! Hop orders are found as in an open shop (Koenig 1916, de Werra 1971; see `open_shop`). That only shortest offsets
//! are needed and what volume they cost is known from the torus all-to-all literature (HalfRing in Qin et al., MICRO
//! 2025, doi 10.1145/3725843.3756057, needs D-fold splitting for the same volume). Trees grow by the rule of Hu
//! ("Parallel sequencing and assembly line problems", 1961; see `tree`). A reduce_scatter is an all_gather read
//! backwards.

mod messages;
mod open_shop;
mod tree;

use crate::error::check_kind;
use crate::{Control, Outcome, PlanError, Planner, StopReason, Task};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{Direction, LinkId, RankId, Topology, Torus};
pub(super) use messages::TemplateSchedule;
use tree::TemplateTrees;

/// How many more steps than the diameter are tried where those do not reach the least volume: with doubled cables, of
/// which two lead to the same rank, the first steps have too little to do.
const MORE_STEPS: u32 = 2;

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

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        let refuse = |reason: &str| PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() };
        let topology = problem.topology();
        let torus = topology.as_torus().ok_or_else(|| refuse("the topology is no torus"))?;
        check_kind(self.name(), problem, &["all_to_all", "all_gather", "all_reduce_gathered", "reduce_scatter"])?;
        if topology.links().iter().any(|link| !link.alive) || topology.live_rank_count() < topology.rank_count() {
            return Err(refuse("links or ranks failed"));
        }
        match is_symmetric(torus) {
            true => Ok(()),
            false => Err(refuse("a dimension of 3 or more positions does not wrap")),
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
                let template = TemplateSchedule::new(torus, parts, steps);
                template.map(|template| template.translate(topology, parts))
            }
            pattern => {
                let most = task.steps.or(task.max_steps).unwrap_or(u32::MAX).min(steps + MORE_STEPS);
                let trees = TemplateTrees::narrowest(task, torus, steps..=most);
                trees.map(|trees| trees.translate(topology, parts, pattern == Pattern::EveryToOne))
            }
        };
        let schedule = schedule.ok_or_else(not_found)?;
        Ok(Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished)))
    }
}

/// Does the torus look the same from every rank?
pub(super) fn is_symmetric(torus: &Torus) -> bool {
    torus.extents.iter().zip(&torus.wrap).all(|(&extent, &wrap)| wrap || extent <= 2)
}

/// Hops between the ranks farthest apart on a symmetric torus without failures.
pub(super) fn diameter(torus: &Torus) -> u32 {
    torus.extents.iter().map(|extent| extent / 2).sum()
}

/// Beyond this many jobs (parts of rank 0, times offsets) a template is put together from smaller ones.
const BLOCK_JOBS: u32 = 8192;

/// How many parts to plan at once, and how often to repeat them: all of them, unless that makes too many jobs. Nothing
/// is lost by repeating where loads are whole, which they are for multiples of so many parts.
fn block_parts(whole: Option<u32>, parts: u32, ranks: u32) -> (u32, u32) {
    let most = (BLOCK_JOBS / ranks).max(1);
    if parts <= 2 * most {
        return (parts, 1);
    }
    let block = match whole {
        Some(unit) if unit < most => most - most % unit,
        Some(unit) if unit <= parts => unit,
        _ => parts,
    };
    (block, parts / block)
}

/// The rank at an offset, the number of a rank as seen from rank 0, from another rank.
fn at_offset(torus: &Torus, rank: RankId, offset: RankId) -> RankId {
    let moved =
        |dim| (torus.position(rank, dim) + torus.position(offset, dim)) % torus.extents[dim] * torus.stride(dim);
    RankId((0..torus.extents.len()).map(moved).sum())
}

/// The link that leaves a rank in a direction. The single cable of an extent of 2 serves both directions: `x+` leaves
/// the first position, `x-` the second.
pub(super) fn link_towards(topology: &Topology, rank: RankId, direction: Direction) -> LinkId {
    let leaves = |wanted: Direction| topology.links_from(rank).find(|&id| topology.link(id).direction == Some(wanted));
    leaves(direction).or_else(|| leaves(direction.opposite())).expect("a symmetric torus has a link in each dimension")
}

/// The directions of a template: both of a wrapped dimension, one for a single cable.
fn directions(torus: &Torus) -> Vec<Direction> {
    let mut directions = Vec::new();
    for (dim, (&extent, &wrap)) in (0..).zip(torus.extents.iter().zip(&torus.wrap)) {
        let both: &[bool] = if wrap { &[true, false] } else { &[true] };
        if extent > 1 {
            directions.extend(both.iter().map(|&positive| Direction { dim, positive }));
        }
    }
    directions
}
