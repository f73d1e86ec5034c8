//! Patterns of intact tori.

use collsynth_core::collective::{ChunkId, Collective, Kind, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Exceptions, Schedule};
use collsynth_core::topology::Topology;

use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::goal::Goal;
use crate::model::task::Task;
use crate::planners::template::{TemplateTrees, most_steps};
use crate::search::altered::with_exceptions;

/// A pattern in steps of other widths, without chunks that move by themselves.
pub(super) fn without(
    problem: &Problem,
    pattern: &Schedule,
    widths: &[u32],
    exceptions: Vec<ChunkId>,
    own: Schedule,
) -> Option<CompactSchedule> {
    let mut builder = Schedule::builder();
    for (step, &width) in pattern.steps().zip(widths) {
        builder.step(width);
        for transfer in step.transfers {
            let chunks = pattern.chunks(transfer).iter().copied();
            builder.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
        }
    }
    with_exceptions(problem, builder.finish(), exceptions, own).ok()
}

/// The trees of an all_gather, reduce_scatter or all_reduce on an intact torus; `None` if there are none in the steps
/// asked for.
pub(super) fn of_trees(
    problem: &Problem,
    goal: &Goal<'_>,
    control: &Control,
) -> Result<Option<CompactSchedule>, PlanError> {
    let topology = problem.machine();
    let ranks = topology.rank_count() as u32;
    let phases: &[bool] = match problem.collective().kind.pattern() {
        Pattern::EveryToOne => &[true],
        Pattern::EveryToEvery => &[true, false],
        _ => &[false],
    };
    let parts = if phases.len() == 2 { problem.parts() / ranks } else { problem.parts() };
    let steps = |steps: Option<u32>| steps.map(|steps| steps / phases.len() as u32);
    let gather = gather(topology.clone(), parts)?;
    let bounds = control.bounds(&gather)?;
    let (exact, most) = (steps(goal.steps), steps(goal.max_steps));
    let task = Task { steps: exact, max_steps: most, seed: goal.seed, ..Task::new(&gather, &bounds) };
    let (Ok(least), Some(torus)) = (task.steps_or(bounds.least_steps()), topology.as_torus()) else { return Ok(None) };
    if goal.steps.is_some_and(|stated| stated % phases.len() as u32 != 0) {
        return Ok(None);
    }
    let Some(trees) = TemplateTrees::narrowest(&task, torus, least..=most_steps(&task, least)) else { return Ok(None) };
    let phases = phases.iter().map(|&collected| trees.pattern(&intact(topology), parts, collected));
    let pattern = phases.reduce(|first, second| then(&first, &second)).unwrap_or_default();
    let none = Exceptions::replacing(Vec::new(), Schedule::of_widths(pattern.widths()));
    Ok(CompactSchedule::new(problem, pattern, None, none).ok())
}

/// One schedule after the other.
pub(super) fn then(first: &Schedule, second: &Schedule) -> Schedule {
    let mut builder = Schedule::builder();
    for part in [first, second] {
        for step in part.steps() {
            builder.step(step.width);
            for transfer in step.transfers {
                let chunks = part.chunks(transfer).iter().copied();
                builder.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
            }
        }
    }
    builder.finish()
}

/// The all_gather whose trees, backward in time, are those of a reduce_scatter.
pub(super) fn gather(topology: Topology, parts: u32) -> Result<Problem, PlanError> {
    Problem::new(topology, Collective { kind: Kind::AllGather, parts })
        .map_err(|error| PlanError::NotApplicable { planner: super::CompactPlan::PLANNER, reason: error.to_string() })
}

/// The machine as built.
pub(super) fn intact(topology: &Topology) -> Topology {
    use collsynth_core::topology::TopologySpec;
    Topology::new(TopologySpec::new(topology.spec().shape.clone())).expect("the machine was built with failures")
}
