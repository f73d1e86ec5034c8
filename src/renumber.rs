//! Live ranks numbered without gaps, for runtimes that know no other numbers.

use std::collections::HashMap;

use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{ChunkId, Collective, Demand, Holders, Kind};
use collsynth_core::problem::{Problem, ProblemError};
use collsynth_core::schedule::{Choice, ScheduleBuilder, Solution, Timetable};
use collsynth_core::topology::{GraphLink, RankId, Shape, Topology, TopologyError, TopologySpec};
use thiserror::Error;

/// Why ranks cannot be numbered anew.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum RenumberError {
    #[error(transparent)]
    Machine(#[from] TopologyError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error("schedules in groups are not renumbered: they name their members")]
    Groups,
    #[error("step {step} sends from or to rank {rank}, which failed or does not exist")]
    DeadRank { step: u32, rank: RankId },
    #[error("step {step} sends chunk {chunk} of a failed rank")]
    DeadChunk { step: u32, chunk: String },
}

/// A schedule among live ranks alone, and the old number of each.
#[derive(Clone, Debug)]
pub struct Renumbered {
    /// The schedule on the graph of the live links, without bounds.
    pub solution: Solution,
    /// The number that each rank had before, ascending.
    pub was: Vec<RankId>,
}

/// Numbers the live ranks of a schedule anew, in their order: the machine becomes a graph of its live links, and the
/// collective one among its ranks. The result is as unproven as any schedule until it is judged.
///
/// # Errors
///
/// If two live links join the same ranks (a graph has one), the schedule uses what failed, or it is in groups.
pub fn renumber<S: Timetable>(solution: &Solution<S>) -> Result<Renumbered, RenumberError> {
    let old = &solution.problem;
    if old.groups().is_some() {
        return Err(RenumberError::Groups);
    }
    let was: Vec<RankId> = old.topology().live_ranks().collect();
    let mut now = vec![None; old.topology().rank_count()];
    was.iter().enumerate().for_each(|(number, rank)| now[rank.index()] = Some(RankId(number as u32)));
    let new = Problem::new(machine(old.topology(), &now, was.len() as u32)?, collective(old, &now, &was))?;
    let chunks = chunks(old, &new, &now);
    let mut builder = ScheduleBuilder::default();
    for step in solution.schedule.numbers() {
        builder.step(solution.schedule.width(step));
        let rank =
            |rank: RankId| now.get(rank.index()).copied().flatten().ok_or(RenumberError::DeadRank { step, rank });
        for slot in solution.schedule.slots(step, &Choice::default()) {
            let dead = |chunk| RenumberError::DeadChunk { step, chunk: old.chunk_label(chunk) };
            let moved = solution.schedule.chunks_of(&slot);
            let moved: Result<Vec<ChunkId>, _> =
                moved.iter().map(|&chunk| chunks[chunk.index()].ok_or_else(|| dead(chunk))).collect();
            builder.transfer(rank(slot.from)?, rank(slot.to)?, None, slot.op, moved?);
        }
    }
    let (schedule, origin) = (builder.finish(), solution.origin.clone());
    Ok(Renumbered { solution: Solution { problem: new, schedule, bounds: Bounds::default(), origin }, was })
}

/// The graph of the live links.
fn machine(topology: &Topology, now: &[Option<RankId>], ranks: u32) -> Result<Topology, TopologyError> {
    let live = topology.live_links().map(|id| topology.link(id));
    let ends = live.filter_map(|link| Some((now[link.from.index()]?, now[link.to.index()]?, link.capacity)));
    let links = ends.map(|(from, to, capacity)| GraphLink { from, to, capacity }).collect();
    let names = topology.live_ranks().filter_map(|rank| topology.rank_name(rank).map(str::to_owned)).collect();
    Topology::new(TopologySpec { names, ..TopologySpec::new(Shape::Graph { ranks, links }) })
}

/// The collective among the live ranks.
fn collective(old: &Problem, now: &[Option<RankId>], was: &[RankId]) -> Collective {
    let kind = &old.collective().kind;
    let root = kind.root().and_then(|root| now[root.index()]).unwrap_or(RankId(0));
    let demand = kind.demand().and_then(|demand| {
        let pairs = was.iter().flat_map(|&from| was.iter().map(move |&to| (from, to)));
        let counts: Vec<u32> = pairs.map(|(from, to)| demand.chunks(from, to).len() as u32).collect();
        Demand::new(was.len() as u32, &counts)
    });
    let kind = Kind::named(kind.name(), root, demand.unwrap_or_default()).unwrap_or_else(|| kind.clone());
    Collective { kind, parts: old.parts() }
}

/// The new number of each chunk; `None` for those of failed ranks. Chunks with the same holders keep their order.
fn chunks(old: &Problem, new: &Problem, now: &[Option<RankId>]) -> Vec<Option<ChunkId>> {
    let mut numbers: HashMap<_, Vec<ChunkId>> = HashMap::new();
    for chunk in (0..new.chunk_count()).rev().map(ChunkId) {
        let rule = new.rule(chunk);
        numbers.entry((rank_of(rule.before), rank_of(rule.after))).or_default().push(chunk);
    }
    let moved = |holders: Holders| match holders {
        Holders::One(rank) => now.get(rank.index()).copied().flatten().map(Some),
        Holders::Every | Holders::Group(_) => Some(None),
    };
    let one = |chunk| {
        let rule = old.rule(chunk);
        numbers.get_mut(&(moved(rule.before)?, moved(rule.after)?))?.pop()
    };
    (0..old.chunk_count()).map(ChunkId).map(one).collect()
}

/// The single holder; `None` for every rank.
fn rank_of(holders: Holders) -> Option<RankId> {
    match holders {
        Holders::One(rank) => Some(rank),
        Holders::Every | Holders::Group(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;
    use collsynth_plan::Parts;
    use collsynth_verify::verdict::Verdict;
    use collsynth_verify::verify::{Options, verify};

    #[test]
    fn every_collective_holds_among_the_live_ranks() {
        let torus =
            Topology::new(TopologySpec::torus(&[4, 3]).without_ranks(&[0, 5]).without_cables(&[(2, 3)])).unwrap();
        let counts: Vec<u32> = (0..144).map(|pair| pair % 3).collect();
        for kind in Kind::every(RankId(7), Demand::new(12, &counts).unwrap()) {
            let parts = if kind.can_be_cut() { 2 } else { 1 };
            let plan = Request::new(&torus, kind.clone()).parts(Parts::Fixed(parts)).run().unwrap();
            let solution = plan.verify().unwrap().expand().into_inner();
            let Renumbered { solution: new, was } = renumber(&solution).unwrap();
            assert_eq!(was.len(), 10, "{kind:?}");
            assert_eq!((was[0], was[4]), (RankId(1), RankId(6)));
            assert_eq!(new.schedule.total_width(), solution.schedule.total_width());
            let report = verify(&new, &Options::default());
            assert_eq!(report.verdict(), Verdict::Holds, "{kind:?}");
        }
    }

    #[test]
    fn what_failed_is_not_sent() {
        let torus = Topology::torus(&[4]).unwrap();
        let plan = Request::new(&torus, Kind::AllGather).run().unwrap();
        let whole = plan.verify().unwrap().expand().into_inner();
        let problem = Problem::new(torus.fail_rank(1).unwrap(), whole.problem.collective().clone()).unwrap();
        let error = renumber(&Solution { problem, ..whole }).unwrap_err();
        assert!(matches!(error, RenumberError::DeadRank { .. } | RenumberError::DeadChunk { .. }), "{error}");
    }
}
