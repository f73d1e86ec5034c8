//! Bounds on the total width of a job.
//!
//! The candidates give the links of a machine weights that its collectives compete for: all links equally (every rank a
//! block), the links of each dimension (its positions as blocks), both at several ratios, the borders that are hardest
//! to cross for all collectives together, those of every slab and of every root (of every rank, where no messages have
//! distances), and what bounds each collective alone. Each is worth what all collectives pay together; see
//! [`JobBound`]. The best is improved by adding candidates to it as long as that helps.

mod estimate;

use std::collections::{BTreeMap, BTreeSet};

use collsynth_core::certificate::{Bounds, Evidence, JobBound, Rational, every_weight, job_value};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, Topology};
use collsynth_lp::Limit;
use rayon::prelude::*;

use estimate::Estimate;

use crate::cuts::best::{Cut, best_cuts};
use crate::cuts::region::{Region, Side};
use crate::pace::Pace;

/// Weights of the dimensions to combine: 0 to this.
const MOST_WEIGHT: u32 = 2;
/// Combinations of dimensions to try, at most.
const MOST_COMBINATIONS: u32 = 243;
/// Weights that the best and a candidate are added with; others than the first only with the most promising ones.
const RATIOS: &[(u32, u32)] = &[(1, 1), (1, 2), (2, 1), (1, 4), (4, 1)];
const PROMISING: usize = 24;
/// Candidates valued exactly, times the ranks of the machine, as each takes a search from every rank; and the fewest.
const VALUED: usize = 1 << 13;
const FEW: usize = 8;
/// The most ranks around each of which a cut is a candidate.
const MOST_AROUND: usize = 512;
/// Rounds of adding candidates.
const ROUNDS: usize = 4;

/// The best bound found within a limit on the total width of collectives on one machine, given the bounds of each
/// alone; `None` if nothing must move. Some hundreds of candidates are estimated; the most promising cost what
/// [`job_value`] costs, and some are valued whatever the limit.
pub fn of_job(problems: &[Problem], alone: &[Bounds], limit: &Limit) -> Option<JobBound> {
    let all: Vec<&Problem> = problems.iter().collect();
    let machine = all.first()?.machine();
    let estimate = Estimate::new(machine, problems);
    let over = || limit.check().is_err();
    let cuts = best_cuts(&mut Region::of_all(machine, problems), &Pace::new(&over));
    let cuts = cuts.into_iter().map(|cut| entered(machine, cut));
    let evidence = problems.iter().zip(alone).filter_map(|(problem, bounds)| of_one(problem, bounds));
    // Distances in weights take long.
    let is_cheap = problems.iter().all(|problem| problem.collective().kind.pattern() != Pattern::OneToOne);
    let is_small = machine.live_rank_count() <= MOST_AROUND;
    let roots = problems.iter().flat_map(|problem| problem.collective().kind.roots());
    let ranks: BTreeSet<RankId> = if is_cheap && is_small { machine.live_ranks().collect() } else { roots.collect() };
    let around = ranks.into_iter().take(MOST_AROUND).flat_map(|rank| around_rank(machine, rank));
    let candidates: Vec<JobBound> =
        cuts.chain(evidence).chain(by_dimension(machine)).chain(slabs(machine)).chain(around).collect();
    let order = estimate.order(&candidates, limit);
    let (mut at_least, mut best) = best_of(&all, order.iter().map(|&index| &candidates[index]))?;
    for _ in 0..ROUNDS {
        if over() {
            break;
        }
        let mut sums: Vec<JobBound> = candidates.iter().map(|other| sum(&best, other, RATIOS[0])).collect();
        let promising = estimate.order(&sums, limit).into_iter().take(PROMISING).map(|index| &candidates[index]);
        sums.extend(promising.flat_map(|other| RATIOS[1..].iter().map(|ratio| sum(&best, other, *ratio))));
        let order = estimate.order(&sums, limit);
        let better = best_of(&all, order.iter().map(|&index| &sums[index]));
        let Some(better) = better.filter(|better| better.0 > at_least) else { break };
        (at_least, best) = better;
    }
    (at_least > Rational::from(0)).then_some(JobBound { at_least, ..best })
}

/// The best of the first few, and what it is worth.
fn best_of<'a>(all: &[&Problem], bounds: impl Iterator<Item = &'a JobBound>) -> Option<(Rational, JobBound)> {
    let ranks = all.first()?.machine().live_rank_count().max(1);
    let few: Vec<&JobBound> = bounds.take((VALUED / ranks).max(FEW)).collect();
    let value = |bound: &JobBound| job_value(all, bound).unwrap_or(Rational::from(0));
    let values: Vec<Rational> = few.par_iter().map(|bound| value(bound)).collect();
    // Among equals, the first.
    let best = (0..few.len()).rev().max_by_key(|&index| values[index])?;
    Some((values[best], few[best].clone()))
}

fn empty() -> JobBound {
    JobBound { at_least: 0.into(), weights: Vec::new(), cuts: Vec::new(), partitions: Vec::new() }
}

/// What must enter the ranks beyond a border, from the side that the traffic comes from.
fn entered(machine: &Topology, cut: Cut) -> JobBound {
    let ranks = match cut.crossing.side {
        Side::Into => cut.ranks,
        Side::Out => others(machine, &cut.ranks),
    };
    JobBound { cuts: vec![(ranks, 1)], ..empty() }
}

/// The live ranks that are not among these.
fn others(machine: &Topology, ranks: &[RankId]) -> Vec<RankId> {
    machine.live_ranks().filter(|rank| !ranks.contains(rank)).collect()
}

/// What bounds a collective alone. Evidence in time says nothing of weights, and a bound on a job weighs no trees.
fn of_one(problem: &Problem, bounds: &Bounds) -> Option<JobBound> {
    let topology = problem.topology();
    Some(match &bounds.volume.as_ref()?.evidence {
        Evidence::Metric { .. } if problem.collective().kind.pattern() != Pattern::OneToOne => return None,
        Evidence::Metric { period, weights } => {
            let weights = every_weight(topology, period.as_deref(), weights).ok()?.into_owned();
            JobBound { weights, ..empty() }
        }
        Evidence::Cut { ranks } => match problem.collective().kind.pattern() {
            Pattern::EveryToOne => JobBound { cuts: vec![(others(topology, ranks), 1)], ..empty() },
            _ => JobBound { cuts: vec![(ranks.clone(), 1)], ..empty() },
        },
        Evidence::Partition { blocks } => JobBound { partitions: vec![(blocks.clone(), 1)], ..empty() },
        Evidence::MetricOverTime { .. } => return None,
    })
}

/// Every rank a block, and the positions of each dimension, with all small weights.
fn by_dimension(machine: &Topology) -> Vec<JobBound> {
    let mut families = vec![machine.live_ranks().map(|rank| vec![rank]).collect::<Vec<_>>()];
    if let Some(torus) = machine.as_torus() {
        for (dim, &extent) in torus.extents.iter().enumerate().filter(|&(_, &extent)| extent > 1) {
            families.push(blocks(machine, extent, |rank| torus.position(rank, dim)));
        }
    }
    families.retain(|blocks| blocks.len() > 1);
    let base = MOST_WEIGHT + 1;
    let combinations = base.saturating_pow(families.len() as u32).min(MOST_COMBINATIONS);
    let combined = |number: u32| {
        let weights = (0..families.len() as u32).map(|family| number / base.pow(family) % base);
        let stated = families.iter().cloned().zip(weights).filter(|&(_, weight)| weight > 0);
        JobBound { partitions: stated.collect(), ..empty() }
    };
    (1..combinations).map(combined).collect()
}

/// The slabs of every dimension, each beside the rest of the machine.
fn slabs(machine: &Topology) -> Vec<JobBound> {
    let Some(torus) = machine.as_torus() else { return Vec::new() };
    let mut slabs = Vec::new();
    for (dim, &extent) in torus.extents.iter().enumerate() {
        for (first, length) in (0..extent).flat_map(|first| (1..=extent / 2).map(move |length| (first, length))) {
            let inside = |rank| u32::from((torus.position(rank, dim) + extent - first) % extent < length);
            let two = blocks(machine, 2, inside);
            if two.len() == 2 {
                slabs.push(JobBound { partitions: vec![(two, 1)], ..empty() });
            }
        }
    }
    slabs
}

/// A rank alone, and all but it: what must enter it, or leave it.
fn around_rank(machine: &Topology, rank: RankId) -> impl Iterator<Item = JobBound> {
    let sides = [vec![rank], others(machine, &[rank])].into_iter().filter(|ranks| !ranks.is_empty());
    sides.map(|ranks| JobBound { cuts: vec![(ranks, 1)], ..empty() })
}

/// The live ranks of each class, without empty ones.
fn blocks(machine: &Topology, classes: u32, class: impl Fn(RankId) -> u32) -> Vec<Vec<RankId>> {
    let mut blocks = vec![Vec::new(); classes as usize];
    machine.live_ranks().for_each(|rank| blocks[class(rank) as usize].push(rank));
    blocks.retain(|ranks| !ranks.is_empty());
    blocks
}

/// The evidence of both, with these weights.
fn sum(one: &JobBound, other: &JobBound, (of_one, of_other): (u32, u32)) -> JobBound {
    let mut sum = empty();
    let mut weights = BTreeMap::new();
    for (bound, times) in [(one, of_one), (other, of_other)] {
        let scaled = |weight: u32| weight.saturating_mul(times);
        for &(from, to, weight) in &bound.weights {
            let of: &mut u32 = weights.entry((from, to)).or_default();
            *of = of.saturating_add(scaled(weight));
        }
        sum.cuts.extend(bound.cuts.iter().map(|(ranks, weight)| (ranks.clone(), scaled(*weight))));
        for (blocks, weight) in &bound.partitions {
            match sum.partitions.iter_mut().find(|(known, _)| known == blocks) {
                Some((_, of)) => *of = of.saturating_add(scaled(*weight)),
                None => sum.partitions.push((blocks.clone(), scaled(*weight))),
            }
        }
    }
    sum.weights = weights.into_iter().map(|((from, to), weight)| (from, to, weight)).collect();
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::collective::{Collective, Kind};

    /// Each root alone could send over two links; the ranks that are no roots receive both messages over two links.
    #[test]
    fn ranks_that_receive_all_messages_bound_a_job() {
        let torus = Topology::torus(&[2, 2]).unwrap();
        let problem =
            |root| Problem::new(torus.clone(), Collective { kind: Kind::Broadcast(RankId(root)), parts: 4 }).unwrap();
        let problems = [problem(0), problem(1)];
        let alone = problems.each_ref().map(|problem| crate::find(problem).unwrap());
        assert_eq!(of_job(&problems, &alone, &Limit::NONE).unwrap().at_least, Rational::from(4));
    }

    /// A gather to rank 0 and an all_to_all: both enter it. Neither alone, nor distances, bound them as well.
    #[test]
    fn messages_of_all_collectives_enter_a_root() {
        let torus = Topology::torus(&[3, 3]).unwrap();
        let problem = |kind, parts| Problem::new(torus.clone(), Collective { kind, parts }).unwrap();
        let problems = [problem(Kind::Gather(RankId(0)), 4), problem(Kind::AllToAll, 1)];
        let alone = problems.each_ref().map(|problem| crate::find(problem).unwrap());
        assert_eq!(of_job(&problems, &alone, &Limit::NONE).unwrap().at_least, Rational::new((4 + 1) * 8, 4));
    }

    #[test]
    fn a_limit_leaves_a_bound_that_holds() {
        let torus = Topology::torus(&[4, 4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let problem = |kind, parts| Problem::new(torus.clone(), Collective { kind, parts }).unwrap();
        let problems = [problem(Kind::AllToAll, 1), problem(Kind::AllGather, 5)];
        let alone = problems.each_ref().map(|problem| crate::find(problem).unwrap());
        let all: Vec<&Problem> = problems.iter().collect();
        let found = |limit| of_job(&problems, &alone, &limit).unwrap();
        let (over, full) = (found(Limit::NONE.unless(|| true)), found(Limit::NONE));
        assert_eq!(job_value(&all, &over).unwrap(), over.at_least);
        assert!(
            over.at_least > Rational::from(0) && over.at_least <= full.at_least,
            "{} {}",
            over.at_least,
            full.at_least
        );
    }
}
