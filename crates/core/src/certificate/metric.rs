//! Metrics: lengths of links, stated one by one or with a period.
//!
//! With a period, an entry for a link from a rank of the first cell stands for its translations by all multiples of the
//! period. Where these translations map what lives onto what lives, and every rank has as much for every other, the
//! distances from a rank and from its translation have the same sum: then those from the first cell are enough. In all
//! other cases the period only shortens the list.

use std::borrow::Cow;

use super::search::{INFINITE, Orientation, Search};
use super::trees::owed_trees;
use super::{CertificateError, LinkWeight, Rational, Work};
use crate::collective::Pattern;
use crate::exact::sum_of_products;
use crate::problem::Problem;
use crate::topology::{Link, RankId, Topology, Torus};

/// The volume that a metric proves.
pub(super) fn value(
    problem: &Problem,
    period: Option<&[u32]>,
    weights: &[LinkWeight],
    work: &mut Work,
) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let kind = &problem.collective().kind;
    let pattern = kind.pattern();
    if pattern == Pattern::EveryToEvery {
        return Err(CertificateError::wrong_evidence("a metric", kind));
    }
    let weight = link_weights(topology, &every_weight(topology, period, weights)?)?;
    let scale = capacity(topology, &weight)?;
    let owed = match pattern {
        Pattern::OneToOne => match period.filter(|period| is_uniform(problem) && repeats(topology, period)) {
            Some(period) => owed_from_a_cell(problem, &weight, period, work)?,
            None => owed_distance(problem, &weight, work)?,
        },
        _ => owed_trees(problem, &weight, work)?,
    };
    let scale = scale.checked_mul(problem.parts().into()).ok_or(CertificateError::TooLarge)?;
    Ok(Rational::new(owed, scale))
}

/// The weights of all links that a list stands for: with a period, each entry is of a link from a rank of the first
/// cell, where all coordinates are below the period, and of its translations by multiples of the period.
///
/// # Errors
///
/// A [`CertificateError`] if the machine has no such period, if an entry is of another cell's link, or if the list
/// stands for more links than there are. Entries may still name links that do not exist, or one link twice.
pub fn every_weight<'a>(
    topology: &Topology,
    period: Option<&[u32]>,
    weights: &'a [LinkWeight],
) -> Result<Cow<'a, [LinkWeight]>, CertificateError> {
    let Some(period) = period else { return Ok(weights.into()) };
    let torus = topology.as_torus().filter(|torus| torus.is_symmetric()).ok_or(CertificateError::NoTranslations)?;
    torus.check_period(period)?;
    let label = |rank| topology.rank_label(rank);
    for &(from, to, _) in weights {
        // Translations would take a rank that does not exist onto one that does.
        if from.index().max(to.index()) >= topology.rank_count() {
            return Err(CertificateError::UnknownLink { from: label(from), to: label(to) });
        }
        if !is_in_first_cell(torus, period, from) {
            return Err(CertificateError::OtherCell { rank: label(from) });
        }
    }
    let cells = multiples(torus, period);
    // What saturates is refused.
    let (stated, links) = (weights.len().saturating_mul(cells.len()), topology.links().len());
    if stated > links {
        return Err(CertificateError::TooManyWeights { stated, links });
    }
    let image = |&by: &RankId| {
        weights.iter().map(move |&(from, to, weight)| (torus.translated(from, by), torus.translated(to, by), weight))
    };
    Ok(cells.iter().flat_map(image).collect())
}

fn ranks(torus: &Torus) -> impl Iterator<Item = RankId> + use<> {
    (0..torus.extents.iter().product()).map(RankId)
}

/// Are all coordinates of a rank below the period?
fn is_in_first_cell(torus: &Torus, period: &[u32], rank: RankId) -> bool {
    period.iter().enumerate().all(|(dim, &extent)| torus.position(rank, dim) < extent)
}

/// The translations by multiples of the period, by where they take rank 0.
fn multiples(torus: &Torus, period: &[u32]) -> Vec<RankId> {
    let is_multiple =
        |&rank: &RankId| (0..period.len()).all(|dim| torus.position(rank, dim).is_multiple_of(period[dim]));
    ranks(torus).filter(is_multiple).collect()
}

/// Does every rank have as much for every other?
fn is_uniform(problem: &Problem) -> bool {
    let kind = &problem.collective().kind;
    kind.pattern() == Pattern::OneToOne
        && kind.root().is_none()
        && kind.demand().is_none()
        && problem.groups().is_none()
}

/// Do translations by multiples of a period of the torus map live ranks onto live ranks, and live links onto live links
/// of the same capacity? O(links * dimensions).
#[expect(clippy::arithmetic_side_effects, reason = "a multiple of a stride below the extent is the number of a rank")]
fn repeats(topology: &Topology, period: &[u32]) -> bool {
    let Some(torus) = topology.as_torus() else { return false };
    let dims = (0..period.len()).filter(|&dim| period[dim] < torus.extents[dim]);
    let offsets: Vec<RankId> = dims.map(|dim| RankId(period[dim] * torus.stride(dim))).collect();
    let has_image = |link: &Link, offset: RankId| {
        let mut images = topology.links_between(torus.translated(link.from, offset), torus.translated(link.to, offset));
        images.any(|id| {
            let image = topology.link(id);
            (image.direction, image.alive, image.capacity) == (link.direction, link.alive, link.capacity)
        })
    };
    let lives_like = |rank, offset| topology.is_alive(torus.translated(rank, offset)) == topology.is_alive(rank);
    offsets.iter().all(|&offset| {
        ranks(torus).all(|rank| lives_like(rank, offset)) && topology.links().iter().all(|link| has_image(link, offset))
    })
}

/// What [`owed_distance`] is, of an all_to_all whose machine and weights repeat with a period.
fn owed_from_a_cell(
    problem: &Problem,
    weight: &[u32],
    period: &[u32],
    work: &mut Work,
) -> Result<i128, CertificateError> {
    let Some(torus) = problem.topology().as_torus() else { return Err(CertificateError::NoTranslations) };
    let cells = multiples(torus, period).len() as i128;
    let owed = distance_from(problem, weight, work, |rank| is_in_first_cell(torus, period, rank))?;
    owed.checked_mul(cells).ok_or(CertificateError::TooLarge)
}

/// The weight times the capacity of all live links: at least 1.
pub(super) fn capacity(topology: &Topology, weight: &[u32]) -> Result<i128, CertificateError> {
    let links = topology.live_links().map(|id| (weight[id.index()].into(), topology.link(id).capacity.into()));
    match sum_of_products(links) {
        Some(0) => Err(CertificateError::NoWeight),
        scale => scale.ok_or(CertificateError::TooLarge),
    }
}

/// The distance from origin to destination, in these weights of links, summed over all chunks that go from one rank to
/// one rank.
pub(super) fn owed_distance(problem: &Problem, weight: &[u32], work: &mut Work) -> Result<i128, CertificateError> {
    distance_from(problem, weight, work, |_| true)
}

/// The same, of the chunks that some ranks send (gather: that the root receives).
fn distance_from(
    problem: &Problem,
    weight: &[u32],
    work: &mut Work,
    counts: impl Fn(RankId) -> bool,
) -> Result<i128, CertificateError> {
    let (topology, kind) = (problem.topology(), &problem.collective().kind);
    let (orientation, center) = (if kind.is_to_root() { Orientation::In } else { Orientation::Out }, kind.root());
    let mut search = Search::new(topology, weight, orientation);
    let mut total = 0_i128;
    for near in topology.live_ranks().filter(|&rank| center.is_none_or(|center| center == rank) && counts(rank)) {
        work.take(topology.rank_count() as u64)?;
        let distance = search.from(near);
        for far in topology.live_ranks() {
            let (origin, dest) = if orientation == Orientation::Out { (near, far) } else { (far, near) };
            match (problem.owed(origin, dest), distance[far.index()]) {
                (0, _) => {}
                (_, INFINITE) => {
                    let (from, to) = (topology.rank_label(origin), topology.rank_label(dest));
                    return Err(CertificateError::Unreachable { from, to });
                }
                (chunks, distance) => {
                    let sum = sum_of_products([(total, 1), (chunks.into(), distance.into())]);
                    total = sum.ok_or(CertificateError::TooLarge)?;
                }
            }
        }
        work.take(search.steps())?;
    }
    Ok(total)
}

/// The weight of each link; both links of a pair joined by two have its weight.
pub(super) fn link_weights(topology: &Topology, weights: &[LinkWeight]) -> Result<Vec<u32>, CertificateError> {
    let mut stated: Vec<Option<u32>> = vec![None; topology.links().len()];
    for &(from, to, weight) in weights {
        let mut links = topology.links_between(from, to).peekable();
        let label = |rank| topology.rank_label(rank);
        if links.peek().is_none() {
            return Err(CertificateError::UnknownLink { from: label(from), to: label(to) });
        }
        if links.any(|id| stated[id.index()].replace(weight).is_some()) {
            return Err(CertificateError::RepeatedLink { from: label(from), to: label(to) });
        }
    }
    Ok(stated.into_iter().map(|weight| weight.unwrap_or(0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{Evidence, value};
    use crate::collective::{Collective, Demand, Groups, Kind};
    use crate::exact::narrow;
    use crate::topology::{Shape, TopologySpec};

    /// A torus without the switch x:0, by this period.
    fn around_a_switch(torus: Torus, period: &[u32]) -> Topology {
        let intact = Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap();
        intact.fail_switch(&"x:0".parse().unwrap(), period).unwrap()
    }

    fn problem(machine: &Topology, kind: Kind) -> Problem {
        Problem::new(machine.clone(), Collective::new(kind)).unwrap()
    }

    /// Some weight for every link from a rank of the first cell.
    fn of_the_first_cell(machine: &Topology, period: &[u32], salt: u32) -> Vec<LinkWeight> {
        let torus = machine.as_torus().unwrap();
        let ends = machine.links().iter().map(|link| (link.from, link.to));
        let first = ends.filter(|&(from, _)| is_in_first_cell(torus, period, from));
        let mut weights: Vec<_> = first
            .map(|(from, to)| (from, to, from.0.wrapping_mul(7).wrapping_add(to.0).wrapping_add(salt) % 5))
            .collect();
        weights.dedup_by_key(|&mut (from, to, _)| (from, to));
        weights
    }

    #[test]
    fn a_period_only_shortens_the_list() {
        let (plain, doubled) = (Torus::new(&[4, 6]), Torus { wrap: vec![true, true], ..Torus::new(&[4, 2]) });
        for (torus, period) in [
            (plain.clone(), &[2, 3][..]),
            (plain.clone(), &[4, 2]),
            (plain, &[1, 6]),
            (doubled, &[2, 2]),
            (Torus::twisted(&[3, 6]).unwrap(), &[3, 3]),
            (Torus::twisted(&[4, 8]).unwrap(), &[2, 4]),
        ] {
            let repeating = around_a_switch(torus.clone(), period);
            let next = torus.extents[0];
            let irregular = repeating.clone().fail_cable(next, next + 1).unwrap();
            for (machine, salt) in [(repeating, 0), (irregular, 3)] {
                let ranks = narrow(machine.rank_count());
                let counts: Vec<u32> = (0..ranks * ranks).map(|pair| pair % 3).collect();
                let halves = (0..2).map(|half| (half..ranks).step_by(2).map(RankId).collect()).collect();
                let kinds = [
                    Kind::AllToAll,
                    Kind::Scatter(RankId(5)),
                    Kind::Gather(RankId(3)),
                    Kind::AllToAllV(Demand::new(ranks, &counts).unwrap()),
                    Kind::AllToAll.in_groups(Groups::new(halves).unwrap()),
                ];
                let stated = of_the_first_cell(&machine, period, salt);
                let every = every_weight(&machine, Some(period), &stated).unwrap().into_owned();
                assert!(every.len() == stated.len() * (ranks / period.iter().product::<u32>()) as usize);
                for kind in kinds {
                    let problem = problem(&machine, kind);
                    let repeated = Evidence::Metric { period: Some(period.to_vec()), weights: stated.clone() };
                    let proven = value(&problem, &repeated);
                    assert_eq!(proven, value(&problem, &Evidence::metric(every.clone())), "{torus:?} {period:?}");
                    assert!(proven.is_ok());
                }
            }
        }
    }

    /// Where a machine repeats, the distances are searched from one cell alone.
    #[test]
    fn machines_that_repeat_take_one_search_for_each_rank_of_a_cell() {
        let machine = around_a_switch(Torus::new(&[8, 8]), &[4, 4]);
        let broken = machine.clone().fail_cable(0, 1).unwrap();
        let steps = |machine: &Topology| {
            let mut work = Work::default();
            let weights = of_the_first_cell(machine, &[4, 4], 1);
            super::value(&problem(machine, Kind::AllToAll), Some(&[4, 4]), &weights, &mut work).unwrap();
            crate::certificate::MOST_STEPS - work.left()
        };
        assert!(steps(&machine) * 3 < steps(&broken), "{} {}", steps(&machine), steps(&broken));
    }

    #[test]
    fn what_does_not_repeat_is_refused() {
        let machine = around_a_switch(Torus::new(&[4, 4]), &[2, 2]);
        let refused = |machine: &Topology, period: &[u32], weights: &[[u32; 3]]| {
            let weights = weights.iter().map(|&[from, to, weight]| (RankId(from), RankId(to), weight)).collect();
            let evidence = Evidence::Metric { period: Some(period.to_vec()), weights };
            value(&problem(machine, Kind::AllToAll), &evidence).unwrap_err().to_string()
        };
        let one = [[0, 1, 1]];
        assert!(refused(&machine, &[3, 2], &one).contains("the period 3x2 does not divide 4x4"));
        assert!(refused(&machine, &[2], &one).contains("the period 2 has 1 of the 2 extents"));
        assert!(refused(&machine, &[0, 2], &one).contains("does not divide"));
        assert!(refused(&machine, &[2, 2], &[[2, 3, 1]]).contains("to a link from rank 2 (2,0)"));
        assert!(refused(&machine, &[2, 2], &[[0, 2, 1]]).contains("no such link"));
        assert!(refused(&machine, &[2, 2], &[[0, 17, 1]]).contains("no such link"));
        assert!(refused(&machine, &[2, 2], &[[16, 1, 1]]).contains("no such link"));
        assert!(refused(&machine, &[2, 2], &[[0, 1, 1], [0, 1, 2]]).contains("give one"));
        assert!(refused(&machine, &[2, 2], &[[0, 4, 0]]).contains("no live link has a weight"));
        assert!(refused(&machine, &[1, 1], &[[0, 1, 1]; 5]).contains("given to 80 links, but the machine has 64"));
        let mesh = Torus { wrap: vec![true, false], ..Torus::new(&[4, 4]) };
        let mesh = Topology::new(TopologySpec::new(Shape::Torus(mesh))).unwrap();
        assert!(refused(&mesh, &[2, 2], &one).contains("look the same from every rank"));
    }
}
