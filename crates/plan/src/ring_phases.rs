//! What the classical ring algorithms share: all chunks move along one dimension each, a phase at a time.
//!
//! In a phase every chunk is given one dimension and is brought to its destination's position there, one hop a step,
//! round the ring one way or the other. Chunks that a rank sends the same way to the same position form a *block*; an
//! algorithm is a rule for how much of a block goes which way, and for which chunk works on which dimension when.

use super::link_table::LinkTable;
use super::phase::Stated;
use super::walks::write;
use super::{Control, Outcome, Phase, PlanError, StopReason, Task};
use collsynth_core::collective::{ChunkId, Holders, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Torus, dim_name};

/// Chunks with the same way to go in a phase: from one rank, `offset` positions up a ring of `extent` positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The extent of the dimension.
    pub extent: u32,
    /// How far up the destination is, `1..extent`.
    pub offset: u32,
    /// How many chunks there are.
    pub chunks: usize,
}

/// A chunk on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traveller {
    /// The chunk.
    pub id: ChunkId,
    /// Which part of its message it is, from 0.
    pub part: u32,
    /// Where it set out.
    pub origin: RankId,
    /// Where it is going.
    pub dest: RankId,
    /// Where it is.
    pub at: RankId,
}

impl Traveller {
    /// How far up a dimension it still has to go, from 0 to the extent less 1.
    pub fn offset(&self, torus: &Torus, dim: usize) -> u32 {
        let extent = torus.extents[dim];
        (torus.position(self.dest, dim) + extent - torus.position(self.at, dim)) % extent
    }
}

/// Checks that a problem is an all-to-all on a torus without failures, all of whose rings close.
///
/// # Errors
///
/// [`PlanError::NotApplicable`] with the reason.
pub(super) fn check(planner: &'static str, problem: &Problem) -> Result<(), PlanError> {
    let topology = problem.topology();
    check_torus(planner, problem)?;
    match topology.links().iter().position(|link| !link.alive) {
        None => Ok(()),
        Some(dead) => {
            let reason = format!("a ring is broken: link {} failed", topology.link_label(LinkId(dead as u32)));
            Err(PlanError::NotApplicable { planner, reason })
        }
    }
}

/// Checks that a problem is an all-to-all on a torus without failed ranks, all of whose rings were built closed. An
/// extent of 2 may have a single cable.
///
/// # Errors
///
/// [`PlanError::NotApplicable`] with the reason.
pub(super) fn check_torus<'a>(planner: &'static str, problem: &'a Problem) -> Result<&'a Torus, PlanError> {
    let refuse = |reason: String| Err(PlanError::NotApplicable { planner, reason });
    let topology = problem.topology();
    let kind = &problem.collective().kind;
    if !matches!(kind, Kind::AllToAll | Kind::AllToAllV(_)) {
        return refuse(format!("it plans all_to_all and all_to_allv, not {}", kind.name()));
    }
    let Some(torus) = topology.as_torus() else {
        return refuse("it needs a torus, and this is an explicit graph".to_owned());
    };
    if let Some(dim) = (0..torus.extents.len()).find(|&dim| torus.extents[dim] > 2 && !torus.wrap[dim]) {
        return refuse(format!("dimension {} does not wrap, and it needs closed rings", dim_name(dim as u8)));
    }
    match topology.live_rank_count() == topology.rank_count() {
        true => Ok(torus),
        false => refuse("a rank failed".to_owned()),
    }
}

/// The dimensions along which there is somewhere to go.
pub(super) fn active_dims(problem: &Problem) -> Vec<usize> {
    let extents = problem.topology().as_torus().map_or(&[][..], |torus| &torus.extents);
    (0..extents.len()).filter(|&dim| extents[dim] > 1).collect()
}

/// Runs a phase for each dimension, one after the other, in which all that has to go along it goes: `upwards(block)` of
/// a block's chunks go up.
///
/// # Errors
///
/// As [`run`], and if the problem is none for it ([`check`]).
pub(super) fn in_turn(
    planner: &'static str,
    task: &Task<'_>,
    control: &Control,
    upwards: impl Fn(Block) -> usize,
) -> Result<Outcome, PlanError> {
    check(planner, task.problem)?;
    let dims = active_dims(task.problem);
    let names = dims.iter().map(|&dim| format!("dimension {}", dim_name(dim as u8))).collect();
    run(planner, task, control, names, |phase, _| Some(dims[phase]), upwards)
}

/// Runs phases of these names and writes the schedule down. In phase `p`, `dim_of(p, chunk)` says along which
/// dimension a chunk goes, if it goes, `upwards(block)` how many of a block's chunks go up; the others go down. Where
/// an extent of 2 has a single cable, all take it. Time and memory are in the number of hops.
///
/// # Errors
///
/// If it is stopped between two phases, or the schedule has not the number of steps wished for.
pub(super) fn run(
    planner: &'static str,
    task: &Task<'_>,
    control: &Control,
    phases: Vec<String>,
    dim_of: impl Fn(usize, &Traveller) -> Option<usize>,
    upwards: impl Fn(Block) -> usize,
) -> Result<Outcome, PlanError> {
    let topology = task.problem.topology();
    let Some(torus) = topology.as_torus() else {
        return Err(PlanError::NotApplicable { planner, reason: "it needs a torus".to_owned() });
    };
    let links = LinkTable::live(topology);
    let mut travellers = travellers(task.problem);
    let mut steps: Vec<Vec<(LinkId, ChunkId)>> = Vec::new();
    let mut lengths = Vec::with_capacity(phases.len());
    for phase in 0..phases.len() {
        if let Some(stopped) = control.stop() {
            return Err(PlanError::Stopped { stopped });
        }
        let place = |traveller: &Traveller| {
            let dim = dim_of(phase, traveller);
            (traveller.at, dim, dim.map_or(0, |dim| traveller.offset(torus, dim)))
        };
        // Stable: within a block the chunks stay in ascending order.
        travellers.sort_by_cached_key(place);
        let begin = steps.len();
        for block in travellers.chunk_by_mut(|a, b| place(a) == place(b)) {
            let (at, Some(dim), offset) = place(&block[0]) else { continue };
            if offset == 0 {
                continue;
            }
            let extent = torus.extents[dim];
            let up = match extent == 2 && !torus.wrap[dim] {
                true if torus.position(at, dim) == 0 => block.len(),
                true => 0,
                false => upwards(Block { extent, offset, chunks: block.len() }),
            };
            for (index, traveller) in block.iter_mut().enumerate() {
                let (positive, hops) = if index < up { (true, offset) } else { (false, extent - offset) };
                for hop in begin..begin + hops as usize {
                    if steps.len() == hop {
                        steps.push(Vec::new());
                    }
                    let link = links.get(traveller.at, dim, positive).expect("rings were checked to be whole");
                    steps[hop].push((link, traveller.id));
                    traveller.at = topology.link(link).to;
                }
            }
        }
        lengths.push(steps.len() - begin);
    }
    let schedule = write(topology, steps);
    task.takes(planner, schedule.step_count())?;
    let stated = phases.into_iter().map(|name| Stated { name, startups: 1 });
    let phases = Phase::measure(task.problem, &schedule, stated.zip(lengths));
    Ok(Outcome { phases, ..Outcome::new(schedule, StopReason::Finished) })
}

/// Every chunk that must go from one rank to another, ascending.
pub(super) fn travellers(problem: &Problem) -> Vec<Traveller> {
    let mut travellers: Vec<Traveller> = Vec::new();
    for id in (0..problem.chunk_count()).map(ChunkId) {
        let rule = problem.rule(id);
        if let (Holders::One(origin), Holders::One(dest)) = (rule.before, rule.after)
            && origin != dest
        {
            let same_message = |last: &&Traveller| (last.origin, last.dest) == (origin, dest);
            let part = travellers.last().filter(same_message).map_or(0, |last| last.part + 1);
            travellers.push(Traveller { id, part, origin, dest, at: origin });
        }
    }
    travellers
}
