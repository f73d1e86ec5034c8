//! Mended templates: whole pods, in the compact form.
//!
//! # Idea
//!
//! The [template](super::Template) of the intact torus is one rank's schedule, translated to all. A failure touches few
//! messages: on 16x16x16, the links of a dead cable carry 16 384 of 16.7 million. Only these leave the pattern, and
//! those that make room for them; all others stay what they are, a translation that nobody has to write down.
//!
//! ```text
//!   pattern       every rank r sends its chunks along  r -> r+(1,0,0) -> r+(1,1,0) -> ...
//!   a dead cable  which chunks cross it in a step follows from the pattern: of those that rank 0 sends over x+ in
//!                 this step, the translations that put their hop on the cable
//!   exceptions    these chunks, and those that had to leave an overfull slot to them, each on a path of its own
//! ```
//!
//! The exceptions negotiate for slots as in [`Negotiated`](super::Negotiated); the pattern is only a load on each
//! direction in each step. A chunk that has to leave an overfull slot is found by translation, too (see `repair`).
//!
//! # Applies
//!
//! All_to_all on tori that look the same from every rank, with any failures; all_gather, all_reduce_gathered,
//! reduce_scatter and all_reduce (a reduce_scatter, then an all_gather of the sums) on such tori without failures.
//!
//! # Steps and volume
//!
//! All_to_all: the distance bound and the volume bound, rounded up, if the repair succeeds in its first tries; a unit
//! more where all slots of some direction are full; otherwise a little more volume. The others: those of the template.
//!
//! # Complexity
//!
//! The template's, for the chunks of one rank; then O(steps * links near the shortest paths) for each time an exception
//! is routed.

mod pattern;
mod repair;

use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{Collective, Kind, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Solution, Translation};
use collsynth_core::topology::Topology;

use crate::{Control, Goal, Parts, PlanError, StopReason, bound};

/// The most hops of a pattern, at most a diameter for each chunk: a template of more takes minutes.
const MOST_HOPS: u64 = 1 << 19;

/// A plan in the compact form, with lower bounds; the schedule is not verified.
#[derive(Clone, Debug)]
pub struct CompactPlan {
    /// The problem and the schedule, with the bounds.
    pub solution: Solution<CompactSchedule>,
    /// Why planning stopped.
    pub stopped: StopReason,
}

impl CompactPlan {
    /// The name of the planner, in `origin` and in progress.
    pub const PLANNER: &'static str = "mended";
}

/// Plans in the compact form. `None` where it does not apply: to this collective, this machine with its failures, these
/// parts, with a price of time or a planner by name, or in fewer steps than it needs.
///
/// # Errors
///
/// A [`PlanError`]: the collective does not fit, the network is not connected, or time ran out before there was a
/// schedule.
pub fn compact(
    topology: &Topology,
    kind: &Kind,
    goal: &Goal<'_>,
    control: &Control,
) -> Result<Option<CompactPlan>, PlanError> {
    let ranks = topology.rank_count() as u32;
    let parts = match (goal.parts, kind) {
        (Parts::Fixed(parts), _) => parts,
        (_, kind) if kind.pattern() == Pattern::EveryToEvery => ranks,
        _ => 1,
    };
    if goal.planner.is_some() || goal.price.is_some() {
        return Ok(None);
    }
    let whole = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts });
    let Ok(problem) = whole else { return Ok(None) };
    if !has_compact_plan(&problem) {
        return Ok(None);
    }
    let bounds = bound::find(&problem)?;
    let found = match kind.pattern() {
        Pattern::OneToOne => repair::plan(&problem, &bounds, goal, control)?,
        _ => pattern::of_trees(&problem, goal)?.map(|schedule| (schedule, StopReason::Finished)),
    };
    Ok(found.map(|(schedule, stopped)| plan(problem, schedule, bounds, stopped)))
}

/// Does [`compact`] plan this, if no planner and no price of time is stated?
pub fn has_compact_plan(problem: &Problem) -> bool {
    let machine = problem.machine();
    let is_intact = machine.live_rank_count() == machine.rank_count() && machine.links().iter().all(|link| link.alive);
    let Some(torus) = machine.as_torus() else { return false };
    let diameter: u32 = torus.extents.iter().map(|extent| extent / 2).sum();
    Translation::new(problem).is_some_and(|translation| {
        let is_alone = problem.collective().kind.pattern() == Pattern::OneToOne;
        let hops = u64::from(translation.chunks_of_rank()) * u64::from(diameter);
        (is_alone || is_intact) && hops <= MOST_HOPS
    })
}

fn plan(problem: Problem, schedule: CompactSchedule, bounds: Bounds, stopped: StopReason) -> CompactPlan {
    CompactPlan { solution: Solution { problem, schedule, bounds, origin: None }, stopped }
}
