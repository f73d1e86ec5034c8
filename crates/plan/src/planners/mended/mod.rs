//! Mended templates: whole pods, in the compact form.
//!
//! # Idea
//!
//! The [template](crate::Template) of the intact torus is one rank's schedule, translated to all. A failure touches few
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
//! The exceptions negotiate for slots as in [`Negotiated`](crate::Negotiated); the pattern is only a load on each
//! direction in each step. A chunk that has to leave an overfull slot is found by translation, too (see `repair`).
//! Trees are repaired rank by rank (see `trees`).
//!
//! Failures that repeat with a period, such as those of dead switches, are planned for one cell and repeated (see
//! `lattice`).
//!
//! On whole pods [`compact`] plans so and states no move of the pattern. From 100 ranks on [`Mended`] is tried before
//! [`Negotiated`](crate::Negotiated), which negotiates with the paths of all messages, and states every move. Only an
//! all_to_all is planned so: [`Matching`](crate::Matching) gathers on the bound in less time.
//!
//! # Applies
//!
//! All_to_all, all_gather, all_reduce_gathered and reduce_scatter on tori that look the same from every rank, with any
//! failures; all_reduce (a reduce_scatter, then an all_gather of the sums) likewise, as long as cables that work both
//! ways connect all ranks (see `in_turn`).
//!
//! # Steps and volume
//!
//! All_to_all: the distance bound and the volume bound, rounded up, if the repair succeeds in one of its tries; a unit
//! more where all slots of some direction are full on a large machine; otherwise, and around many failures of thousands
//! of ranks, a little more volume. All_gather and reduce_scatter: the distance bound, and the volume bound or a few
//! units more. On intact tori: those of the template.
//!
//! # Complexity
//!
//! The template's, for the chunks of one rank; then, each time an exception moves, O(steps * links near the shortest
//! paths), or, of a tree, O(steps) for each rank that is attached anew. Memory of trees: O(ranks) for each exception.

mod hops;
mod in_turn;
mod lattice;
mod pattern;
mod repair;
mod trees;
mod within;

use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{Collective, Kind, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Solution, Translation};
use collsynth_core::topology::Topology;

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::goal::{Goal, Parts};
use crate::model::planner::scope::{Machines, Scope};
use crate::model::planner::{Outcome, Planner};
use crate::model::sharper::SharperBounds;
use crate::model::task::Task;
use trees::Orphans;
use within::Within;

/// More steps are tried, up to this many, while the width is more than this share above its bound: ranks with few links
/// left need them.
const MORE_STEPS: u32 = 3;
const NEAR: u64 = 100;
/// The most arrivals of chunks at ranks, of trees around failures: those near the failures are listed.
const MOST_ARRIVALS: u64 = 1 << 27;
/// The most hops of a pattern, at most a diameter for each chunk: a template of more takes minutes.
const MOST_HOPS: u64 = 1 << 19;

/// The fewest ranks of [`Mended`], which then makes more tries where the first one is above the bound. On smaller
/// machines [`Negotiated`](crate::Negotiated) finds as much in a second, and schedules of fewer steps.
pub(crate) const MANY_RANKS: usize = 100;

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

/// The mended templates of an all-to-all as a planner like all others, which states every move.
///
/// ```
/// use collsynth_plan::{Control, Goal, synthesize};
/// use collsynth_core::collective::Kind;
/// use collsynth_core::topology::{Topology, TopologySpec};
///
/// let torus = Topology::new(TopologySpec::torus(&[5, 5, 5]).without_cables(&[(2, 3)]))?;
/// let plan = synthesize(&torus, &Kind::AllToAll, &Goal::default(), &Control::unlimited())?;
/// assert_eq!((plan.planner, plan.schedule.step_count(), plan.schedule.total_width()), ("mended", 6, 77));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mended;

/// The kinds planned: all but the first in the compact form only.
const KINDS: [&str; 5] = ["all_to_all", "all_gather", "reduce_scatter", "all_reduce", "all_reduce_gathered"];
/// The most chunks that are planned in about a second.
const QUICK_CHUNKS: u32 = 1 << 18;

impl Planner for Mended {
    fn name(&self) -> &'static str {
        CompactPlan::PLANNER
    }

    fn summary(&self) -> &'static str {
        "all_to_all from 100 ranks, all_gather, reduce_scatter, all_reduce from 512: templates, mended"
    }

    fn scope(&self) -> Scope {
        Scope::of(&KINDS).on(Machines::Tori)
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        let reason = if problem.collective().kind.name() != KINDS[0] {
            "besides all_to_all, it plans patterns only: on tori of 512 ranks and more, without open ends"
        } else if problem.machine().rank_count() < MANY_RANKS {
            "it plans 100 ranks and more: of fewer, negotiated finds as much"
        } else if !has_pattern(problem) {
            "it needs a torus without open ends, and at most 2^19 hops of the chunks of a rank"
        } else {
            return Ok(());
        };
        Err(PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() })
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        problem.chunk_count() <= QUICK_CHUNKS
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        task.steps_or(task.bounds.least_steps())?;
        let found = nearest(task.problem, task.bounds, task.sharper, (task.steps, task.max_steps), control, |steps| {
            repair::in_steps(task.problem, task.bounds, steps, task.seed, control)
        })?;
        let limit = || "the steps asked for".to_owned();
        let (schedule, stopped) = found.ok_or_else(|| PlanError::NotFound { planner: self.name(), limit: limit() })?;
        Ok(Outcome::new(schedule.expand(), stopped))
    }
}

/// Plans a [problem](compact_problem) in the compact form, within the steps of the goal. `None` in fewer steps than it
/// needs.
///
/// # Errors
///
/// A [`PlanError`]: the collective does not fit, the network is not connected, or time ran out before there was a
/// schedule.
pub fn compact(problem: Problem, goal: &Goal<'_>, control: &Control) -> Result<Option<CompactPlan>, PlanError> {
    let control = &control.planning(&problem);
    let bounds = control.bounds(&problem)?;
    let found = match problem.collective().kind.pattern() {
        kind if kind != Pattern::OneToOne && is_intact(problem.machine()) => {
            pattern::of_trees(&problem, goal, control)?.map(|schedule| (schedule, StopReason::Finished))
        }
        Pattern::EveryToEvery => in_turn::plan(&problem, goal, control)?,
        _ => around_failures(&problem, Orphans::Left, &bounds, goal, control)?,
    };
    Ok(found.map(|(schedule, stopped)| plan(problem, schedule, bounds, stopped)))
}

/// Chunks that leave the pattern of an intact torus: cell by cell, or one by one.
fn around_failures(
    problem: &Problem,
    orphans: Orphans,
    bounds: &Bounds,
    goal: &Goal<'_>,
    control: &Control,
) -> Result<Option<(CompactSchedule, StopReason)>, PlanError> {
    let (seed, period) = (goal.seed, lattice::period(problem));
    nearest(problem, bounds, None, (goal.steps, goal.max_steps), control, |steps| {
        let within = Within { bounds, steps, seed, control };
        if let Some(period) = &period
            && let Some(found) = lattice::in_steps(problem, period, within)?
        {
            return Ok(Some(found));
        }
        match problem.collective().kind.pattern() {
            Pattern::OneToOne => repair::in_steps(problem, bounds, steps, seed, control),
            _ => trees::in_steps(problem, orphans, within),
        }
    })
}

/// The problem that [`compact`] solves, with the number of parts it chooses; `None` where it does not apply, whatever
/// the number of steps, or where another planner is stated.
pub fn compact_problem(topology: &Topology, kind: &Kind, goal: &Goal<'_>) -> Option<Problem> {
    let is_other = goal.planner.is_some_and(|planner| planner.name() != CompactPlan::PLANNER);
    if is_other || !goal.may_use(CompactPlan::PLANNER) {
        return None;
    }
    let parts = match (goal.parts, kind) {
        (Parts::Fixed(parts), _) => parts,
        (_, kind) if kind.pattern() == Pattern::EveryToEvery => topology.rank_count() as u32,
        _ => 1,
    };
    Problem::new(topology.clone(), Collective { kind: kind.clone(), parts }).ok().filter(has_pattern)
}

fn has_pattern(problem: &Problem) -> bool {
    let machine = problem.machine();
    let Some(torus) = machine.as_torus() else { return false };
    let diameter: u32 = torus.extents.iter().map(|extent| extent / 2).sum();
    Translation::new(problem).is_some_and(|translation| {
        let arrivals = u64::from(problem.chunk_count()) * machine.rank_count() as u64;
        let is_mended = match problem.collective().kind.pattern() {
            Pattern::OneToOne => true,
            _ => arrivals <= MOST_ARRIVALS,
        };
        let hops = u64::from(translation.chunks_of_rank()) * u64::from(diameter);
        (is_mended || is_intact(machine)) && hops <= MOST_HOPS
    })
}

fn is_intact(machine: &Topology) -> bool {
    machine.live_rank_count() == machine.rank_count() && machine.links().iter().all(|link| link.alive)
}

/// The narrowest schedule in the fewest steps, or in a few more if it is not near its bound; `None` if there is none in
/// the steps asked for.
fn nearest(
    problem: &Problem,
    bounds: &Bounds,
    sharper: Option<&SharperBounds<'_>>,
    (exactly, at_most): (Option<u32>, Option<u32>),
    control: &Control,
    in_steps: impl Fn(u32) -> Result<Option<(CompactSchedule, StopReason)>, PlanError>,
) -> Result<Option<(CompactSchedule, StopReason)>, PlanError> {
    let least = bounds.least_steps();
    let steps = match (exactly, at_most) {
        (Some(steps), _) => steps..=steps,
        (None, most) => least..=most.unwrap_or(u32::MAX).min(least + MORE_STEPS),
    };
    if *steps.start() < least {
        return Ok(None);
    }
    let least = |bounds: &Bounds| u64::from(bounds.least_width(problem.parts()));
    let near = |bounds: &Bounds| least(bounds) + least(bounds) / NEAR;
    let width = |found: &(CompactSchedule, StopReason)| found.0.pattern().total_width();
    let mut best = None;
    for steps in steps {
        if let Some(found) =
            in_steps(steps)?.filter(|found| best.as_ref().is_none_or(|best| width(found) < width(best)))
        {
            best = Some(found);
        }
        let is_near = |best: &(CompactSchedule, StopReason)| {
            width(best) <= near(bounds) || sharper.is_some_and(|sharper| width(best) <= near(sharper.sharp()))
        };
        if best.as_ref().is_some_and(is_near) || control.stop().is_some() {
            break;
        }
    }
    Ok(best)
}

fn plan(problem: Problem, schedule: CompactSchedule, bounds: Bounds, stopped: StopReason) -> CompactPlan {
    CompactPlan { solution: Solution { problem, schedule, bounds, origin: None }, stopped }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use collsynth_bound as bound;
    use collsynth_core::topology::TopologySpec;

    use super::*;

    /// Cuts say 180, a linear program 906/5: what takes 182 is optimal, and no more steps are tried.
    #[test]
    fn no_more_steps_are_tried_where_the_width_is_proven() {
        let cables = [(51, 52), (57, 58)];
        let torus = Topology::new(TopologySpec::torus(&[10, 12]).without_cables(&cables)).unwrap();
        let attempts = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&attempts);
        let control = Control::unlimited().with_listener(move |progress| {
            heard.lock().unwrap().push(progress.attempt.to_owned());
        });
        let problem = Problem::new(torus, Collective::new(Kind::AllToAll)).unwrap();
        let bounds = bound::find(&problem).unwrap();
        let sharper = SharperBounds::new(&problem, &bounds, &control);
        let task = Task { sharper: Some(&sharper), ..Task::new(&problem, &bounds) };
        let found = Mended.plan(&task, &control).unwrap().schedule;
        assert_eq!((bounds.least_width(1), sharper.known().least_width(1)), (180, 182));
        assert_eq!((found.step_count(), found.total_width()), (11, 182));
        let attempts = attempts.lock().unwrap();
        assert!(!attempts.is_empty() && attempts.iter().all(|attempt| attempt.starts_with("11 steps")), "{attempts:?}");
    }
}
