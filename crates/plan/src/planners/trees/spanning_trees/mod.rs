//! Spanning trees: all-reduce near its bound, on any network with any failures.
//!
//! # Idea
//!
//! Every chunk has a root, a tree up to it, along which contributions are added, and a tree down from it, along which
//! the sum spreads. Which rank is the root of how many chunks is free. All trees negotiate for the same slots (see
//! `negotiation`), in two shapes:
//!
//! ```text
//!   mirrored        going up                 going down
//!                   a --1--+                           +--4--> a     the tree down, seen backward in time over
//!                   b --1--c --2--> r        r --3--> c --4--> b     reversed links, is the tree up
//!
//!   overlapping     steps      0  1  2  3  4  5  6  7
//!                   chunk 0   <------|------------->                 up before it meets in its root, down from there
//!                   chunk 2   <------------|------->                 a link carries chunk 0 down and 2 up in turn
//! ```
//!
//! Mirrored trees all go up first, then down, in few steps (see `mirrored`). Overlapping ones meet one after another,
//! evenly spread over the time, so that trees up and trees down keep the links busy together from the first step to the
//! last: that takes as many steps as the total width, and the fewest parts to come near the bound (see `overlapping`).
//! The better schedule counts.
//!
//! [`PackedTrees`](crate::PackedTrees) packs first and schedules then, which takes more parts to come as near. An
//! all-reduce composed of reduce_scatter and all_gather is the special case of equally many roots per rank: a rank with
//! a dead cable then delays everyone twice.
//!
//! # Applies
//!
//! All_reduce, in groups too, on any topology, with any failures. In groups, trees overlap.
//!
//! # Steps and volume
//!
//! The bound says that `2 (N - 1)` vectors must cross the links. A tree up and down takes exactly that many hops, so
//! only idle links and rounding to whole chunks lose anything. Over the `c` links left to a rank `h` hops from the
//! farthest, `P` chunks must come in after they can have been everywhere else, and leave while they can still get
//! everywhere. So the total width is at least `P / c + h - 1`; if ranks have lost several links, this exceeds the
//! bound.
//!
//! Mirrored: at least twice the hops to and from the rank that is nearest to all; a few more steps reduce the volume.
//! An intact 4x4x4 torus in 128 parts meets the bound, 21/64, in 12 steps; with a dead cable it does so in 382 parts,
//! 63/191, and is 1 % above in 192 parts, in less than 20 steps.
//!
//! Overlapping: steps of width 1, mostly one more than the larger of both bounds. In 48 parts, a 4x4 torus with two
//! dead cables takes the 24 of the bound, and so it does with a dead rank.
//!
//! # Complexity
//!
//! Routing a tree takes O(steps * links); a round O(arrivals moved * degree * steps).
//!
//! # Reference
//!
//! Frank, "On disjoint trees and arborescences", 1978: trees with free roots fit in the links exactly as far as the
//! bound for partitions allows. McMurchie and Ebeling, "PathFinder", FPGA 1995, for the prices. Träff, Ripke, Siebert,
//! Balaji, Thakur and Gropp, "A pipelined algorithm for large, irregular all-gather problems", 2010, and Sanders, Speck
//! and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009, overlap up and down along
//! fixed trees.

mod mirrored;
mod overlapping;

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::planner::best::Best;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner, arrivals};
use crate::model::task::Task;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;

/// Of more arrivals each way, or of a greater width, trees take too much memory: 8 bytes in every try and step.
const MOST_ARRIVALS: u64 = 1 << 26;
const MOST_WIDTH: u32 = 1 << 14;
/// Trees, counted at every rank in every step, that overlapping ones are worth their seconds for if other planners have
/// a schedule.
const MOST_WORK: u64 = 800_000;

/// The planner of spanning trees.
///
/// ```
/// use collsynth_plan::{Control, Goal, Parts, SpanningTrees, synthesize};
/// use collsynth_core::{collective::Kind, topology::{Topology, TopologySpec}};
///
/// let width = |torus: &Topology, parts| {
///     let goal = Goal { parts: Parts::Fixed(parts), planner: Some(&SpanningTrees), ..Goal::default() };
///     synthesize(torus, &Kind::AllReduce, &goal, &Control::unlimited()).map(|plan| plan.schedule.total_width())
/// };
/// // 15/32 of the vector, which is the bound: 2 * 15 vectors over 64 links.
/// assert_eq!(width(&Topology::torus(&[4, 4])?, 32)?, 15);
/// // The bound again: 2 * 15 vectors over 60 links.
/// assert_eq!(width(&Topology::new(TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1), (8, 9)]))?, 48)?, 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SpanningTrees;

const NAME: &str = "spanning_trees";

/// When the trees up of chunks go, beside the trees down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Mirrored,
    Overlapping,
}

impl Shape {
    fn is_quick(self, problem: &Problem) -> bool {
        match self {
            Self::Mirrored => mirrored::is_quick(problem),
            Self::Overlapping => overlapping::is_quick(problem),
        }
    }

    fn plan(self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        match self {
            Self::Mirrored => mirrored::plan(task, control),
            Self::Overlapping => overlapping::plan(task, control),
        }
    }
}

/// The shapes to try, in order. Trees that overlap are there sooner, but take more steps: mirrored ones come first
/// where nobody has a schedule, and would give up once there is one. Where one that is near will do, what is quick
/// comes first.
fn shapes(task: &Task<'_>) -> Vec<Shape> {
    let mut shapes = match task.problem.groups() {
        Some(_) => vec![Shape::Overlapping],
        None if task.incumbent.is_none() && is_about_volume(task) => vec![Shape::Mirrored, Shape::Overlapping],
        None => vec![Shape::Overlapping, Shape::Mirrored],
    };
    if task.near.is_some() {
        shapes.sort_by_key(|shape| !shape.is_quick(task.problem));
    }
    shapes
}

/// Do steps count for nothing but a choice among schedules of the same width?
fn is_about_volume(task: &Task<'_>) -> bool {
    task.price.is_none() && task.steps.is_none() && task.max_steps.is_none()
}

impl Planner for SpanningTrees {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "all_reduce on any network with any failures: trees up and down with free roots, in few steps or few parts"
    }

    fn scope(&self) -> Scope {
        Scope::of(&["all_reduce"]).in_groups(&["all_reduce"])
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        overlapping::is_quick(problem) || (problem.groups().is_none() && mirrored::is_quick(problem))
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.steps_or(task.bounds.least_steps())?;
        if problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        problem.check_connected()?;
        if arrivals(problem) > MOST_ARRIVALS || task.bounds.least_width(problem.parts()) > MOST_WIDTH {
            let limit =
                format!("a total width of {MOST_WIDTH} and {MOST_ARRIVALS} arrivals of a chunk: use fewer parts");
            return Err(PlanError::NotFound { planner: NAME, limit });
        }
        // The flow LP does not model sums.
        let mut best = Best::new(&Task { sharper: None, ..task.clone() });
        for shape in shapes(task) {
            if best.is_optimal() {
                break;
            }
            let waits = task.only_quick || best.task().has_near_incumbent();
            let is_over = control.stop().is_some() && best.task().incumbent.is_some();
            best.add(match (waits && !shape.is_quick(problem)) || is_over {
                true => Err(PlanError::takes_too_long(NAME)),
                false => shape.plan(best.task(), control),
            });
        }
        best.into_outcome()
    }
}

impl SpanningTrees {
    /// Do trees overlap in this number of parts, about this wide, if other planners have a schedule?
    pub(crate) fn may_overlap(whole: &Problem, parts: u32, width: u32) -> bool {
        arrivals(whole) / u64::from(whole.parts()) * u64::from(parts) * u64::from(width) <= MOST_WORK
    }
}
