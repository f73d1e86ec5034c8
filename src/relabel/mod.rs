//! A schedule around some failures as a schedule around others that a symmetry of the machine carries them onto.

mod bounds;
mod compact;

use collsynth_bound::symmetry::Automorphism;
use collsynth_core::collective::{ChunkId, Collective, Demand, Kind};
use collsynth_core::problem::{Problem, ProblemError};
use collsynth_core::schedule::{CompactError, ScheduleBuilder, Solution, Transfer};
use collsynth_core::topology::{LinkId, RankId, Topology};
use thiserror::Error;

pub use compact::relabel_compact;

use bounds::Images;

/// Why a schedule cannot be relabelled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum RelabelError {
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error("schedules in groups are not relabelled")]
    Groups,
    #[error("the schedule is for another machine")]
    OtherMachine,
    #[error("a demand names pairs of ranks, which no symmetry keeps")]
    Demand,
    #[error("step {step} sends from rank {from} to rank {to}, which no link joins")]
    NoLink { step: u32, from: RankId, to: RankId },
    #[error("a symmetry that does not carry translations onto translations keeps no pattern")]
    NotAffine,
    #[error(transparent)]
    Compact(#[from] CompactError),
}

/// Moves every rank, link and chunk of a schedule, its bounds and their evidence to their images, on the machine
/// `topology`, which has the failures' images. The result is as unproven as any schedule until it is judged; if the
/// symmetry is one, it holds where the schedule does. O(moves).
///
/// # Errors
///
/// If the collective has a demand or groups, the machines differ in more than their failures, or the schedule names
/// links that do not exist.
pub fn relabel(solution: &Solution, symmetry: &Automorphism, topology: Topology) -> Result<Solution, RelabelError> {
    let old = &solution.problem;
    let map = Images { machine: old.machine(), symmetry };
    let problem = image_of(old, symmetry, topology)?;
    let topology = problem.topology();
    let (owners, parts, ranks) = (problem.collective().kind.owners(), problem.parts(), topology.rank_count() as u32);
    let chunk = |chunk: &ChunkId| {
        let (number, part) = (chunk.0 / parts, chunk.0 % parts);
        ChunkId(match owners {
            2 => (map.rank(RankId(number / ranks)).0 * ranks + map.rank(RankId(number % ranks)).0) * parts + part,
            1 => map.rank(RankId(number)).0 * parts + part,
            _ => chunk.0,
        })
    };
    let mut builder = ScheduleBuilder::default();
    for step in solution.schedule.steps() {
        builder.step(step.width);
        for transfer in step.transfers {
            let (from, to) = (transfer.from, transfer.to);
            let link = link(old.topology(), transfer).ok_or(RelabelError::NoLink { step: step.number, from, to })?;
            let mut chunks: Vec<ChunkId> = solution.schedule.chunks(transfer).iter().map(chunk).collect();
            chunks.sort_unstable();
            builder.transfer_over(topology, symmetry.links[link.index()], transfer.op, chunks);
        }
    }
    let (schedule, origin) = (builder.finish(), solution.origin.clone());
    Ok(Solution { problem, schedule, bounds: map.bounds(&solution.bounds), origin })
}

/// The problem whose schedules are the images of those of another.
fn image_of(old: &Problem, symmetry: &Automorphism, topology: Topology) -> Result<Problem, RelabelError> {
    let Collective { kind, parts } = old.collective();
    if kind.demand().is_some() {
        return Err(RelabelError::Demand);
    }
    if kind.groups().is_some() {
        return Err(RelabelError::Groups);
    }
    let links = old.topology().links().iter().map(|link| (link.from, link.to));
    if !links.eq(topology.links().iter().map(|link| (link.from, link.to))) {
        return Err(RelabelError::OtherMachine);
    }
    let root = kind.root().map_or(RankId(0), |root| Images { machine: old.machine(), symmetry }.rank(root));
    let kind = Kind::named(kind.name(), root, Demand::default()).unwrap_or_else(|| kind.clone());
    Ok(Problem::new(topology, Collective { kind, parts: *parts })?)
}

fn link(topology: &Topology, transfer: &Transfer) -> Option<LinkId> {
    let stated = |link: &LinkId| transfer.via.is_none() || topology.link(*link).direction == transfer.via;
    topology.links_between(transfer.from, transfer.to).find(stated)
}

#[cfg(test)]
mod tests {
    use collsynth_bound::symmetry::{Group, cables, fail};
    use collsynth_core::topology::{Shape, TopologySpec, Torus};
    use collsynth_plan::Parts;

    use super::*;
    use crate::request::Request;
    use collsynth_verify::verify::{Options, Verified};

    /// The schedule around the first cable, carried by every symmetry, holds around the cable's image.
    fn check(torus: Torus, kind: Kind, parts: u32) {
        let machine = Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap();
        let cable = &cables(&machine)[0];
        let broken = fail(&machine, [cable]).unwrap();
        let plan = Request::new(&broken, kind.clone()).parts(Parts::Fixed(parts)).run().unwrap();
        let solution = plan.verify().unwrap().expand().into_inner();
        let group = Group::new(&machine, |_| true);
        for symmetry in 0..group.order() {
            let inverse = group.inverse(symmetry);
            let image = |link: &LinkId| inverse.links[link.index()];
            let moved =
                collsynth_bound::symmetry::Unit { links: cable.links.iter().map(image).collect(), ranks: Vec::new() };
            let relabelled = relabel(&solution, &inverse, fail(&machine, [&moved]).unwrap()).unwrap();
            let verified = Verified::<Solution>::new(relabelled, &Options::default());
            let verified = verified.unwrap_or_else(|rejected| panic!("{kind:?}: {:?}", rejected.report.violations));
            assert_eq!(verified.schedule.total_width(), solution.schedule.total_width());
        }
    }

    #[test]
    fn every_symmetry_keeps_schedules_and_their_bounds() {
        let doubled = Torus { wrap: vec![true, true], ..Torus::new(&[2, 3]) };
        for kind in Kind::every(RankId(1), Demand::default()) {
            if kind.demand().is_none() {
                check(Torus::new(&[4, 3]), kind.clone(), if kind.has_volume() { 2 } else { 1 });
                check(doubled.clone(), kind, 1);
            }
        }
        check(Torus::new(&[4, 4]), Kind::AllToAll, 1);
    }
}
