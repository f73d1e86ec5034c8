//! What evidence for a job is worth, roughly, in little time.

use collsynth_core::certificate::{JobBound, job_value};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Topology};
use collsynth_lp::Limit;
use rayon::prelude::*;

use crate::flows::shortest::ShortestPaths;

/// Ranks sampled, where distances from every rank would take long.
const SAMPLED: usize = 8;
/// Among at most this many ranks, all are looked at.
const FEW: usize = 64;
/// Evidence estimated between two looks at the limit.
const AT_ONCE: usize = 32;

/// Collectives, and from which ranks distances are looked at.
pub(super) struct Estimate<'a> {
    machine: &'a Topology,
    /// Those whose worth takes little time.
    exact: Vec<&'a Problem>,
    sampled: Vec<Sample<'a>>,
}

/// Messages of a few ranks.
struct Sample<'a> {
    problem: &'a Problem,
    links: Vec<LinkId>,
    paths: ShortestPaths,
    origins: Vec<RankId>,
    /// For how many ranks each of them stands.
    each: f64,
}

impl<'a> Estimate<'a> {
    pub fn new(machine: &'a Topology, problems: &'a [Problem]) -> Self {
        let takes_long = |problem: &&Problem| {
            let kind = &problem.collective().kind;
            let origins = if kind.root().is_some() { 1 } else { machine.live_rank_count() };
            kind.pattern() == Pattern::OneToOne && origins > FEW
        };
        let (long, exact): (Vec<_>, Vec<_>) = problems.iter().partition(takes_long);
        Self { machine, exact, sampled: long.into_iter().map(Sample::new).collect() }
    }

    /// The places of what is looked at within the limit, the most promising first; among equals, in their order.
    pub fn order(&self, bounds: &[JobBound], limit: &Limit) -> Vec<usize> {
        let mut worth: Vec<f64> = Vec::with_capacity(bounds.len());
        for some in bounds.chunks(AT_ONCE) {
            worth.par_extend(some.par_iter().map(|bound| self.of(bound)));
            if limit.check().is_err() {
                break;
            }
        }
        let mut order: Vec<usize> = (0..worth.len()).collect();
        order.sort_by(|&one, &other| worth[other].total_cmp(&worth[one]));
        order
    }

    /// As [`job_value`], with samples for what takes long.
    fn of(&self, bound: &JobBound) -> f64 {
        let exact = job_value(&self.exact, bound).map_or(0.0, |value| *value.numer() as f64 / *value.denom() as f64);
        if self.sampled.is_empty() {
            return exact;
        }
        let weights = link_weights(self.machine, bound);
        let scale = |id: LinkId| weights[id.index()] * f64::from(self.machine.link(id).capacity);
        let scale: f64 = self.machine.live_links().map(scale).sum();
        exact + self.sampled.iter().map(|sample| sample.owed(&weights)).sum::<f64>() / scale.max(1.0)
    }
}

impl<'a> Sample<'a> {
    fn new(problem: &'a Problem) -> Self {
        let topology = problem.topology();
        let links: Vec<LinkId> = topology.live_links().collect();
        let paths = ShortestPaths::new(topology, &links, 1.0);
        let owes = |&from: &RankId| topology.live_ranks().any(|to| to != from && problem.owed(from, to) > 0);
        let all: Vec<RankId> = topology.live_ranks().filter(owes).collect();
        // In steps of the golden ratio, which no period of a torus meets.
        let place = |number: usize| (number as f64 * 0.618_034 * all.len() as f64) as usize % all.len();
        let count = SAMPLED.min(all.len());
        let origins: Vec<RankId> = (0..count).map(|number| all[place(number)]).collect();
        Self { problem, links, paths, origins, each: all.len() as f64 / count.max(1) as f64 }
    }

    /// The distances of all messages, in these weights.
    fn owed(&self, weights: &[f64]) -> f64 {
        let length: Vec<f64> = self.links.iter().map(|id| weights[id.index()]).collect();
        let from = |&origin: &RankId| -> f64 {
            let distance = self.paths.distances(origin.index(), &length);
            let owed = |to: RankId| f64::from(self.problem.owed(origin, to)) * distance[to.index()];
            self.problem.topology().live_ranks().filter(|&to| self.problem.owed(origin, to) > 0).map(owed).sum()
        };
        self.each * self.origins.iter().map(from).sum::<f64>()
    }
}

/// The weight of each link in all evidence together.
fn link_weights(machine: &Topology, bound: &JobBound) -> Vec<f64> {
    let mut weight = vec![0.0; machine.links().len()];
    for &(from, to, of) in &bound.weights {
        machine.links_between(from, to).for_each(|id| weight[id.index()] += f64::from(of));
    }
    let mut block = vec![0; machine.rank_count()];
    for (ranks, of) in &bound.cuts {
        block.fill(0);
        ranks.iter().for_each(|rank| block[rank.index()] = 1);
        let enters = |id: &LinkId| block[machine.link(*id).from.index()] < block[machine.link(*id).to.index()];
        machine.live_links().filter(enters).for_each(|id| weight[id.index()] += f64::from(*of));
    }
    for (blocks, of) in &bound.partitions {
        for (number, ranks) in blocks.iter().enumerate() {
            ranks.iter().for_each(|rank| block[rank.index()] = number);
        }
        let crosses = |id: &LinkId| block[machine.link(*id).from.index()] != block[machine.link(*id).to.index()];
        machine.live_links().filter(crosses).for_each(|id| weight[id.index()] += f64::from(*of));
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::collective::{Collective, Kind};

    /// With every rank looked at, the estimate is what the evidence is worth.
    #[test]
    fn samples_of_all_ranks_are_exact() {
        let torus = Topology::torus(&[3, 3]).unwrap().fail_cable(0, 1).unwrap();
        let problem = |kind, parts| Problem::new(torus.clone(), Collective { kind, parts }).unwrap();
        let problems = [problem(Kind::AllToAll, 2), problem(Kind::AllGather, 3)];
        let sampled = Estimate {
            machine: &torus,
            exact: vec![&problems[1]],
            sampled: vec![Sample { origins: torus.live_ranks().collect(), each: 1.0, ..Sample::new(&problems[0]) }],
        };
        let all: Vec<&Problem> = problems.iter().collect();
        let empty = JobBound { at_least: 0.into(), weights: Vec::new(), cuts: Vec::new(), partitions: Vec::new() };
        let rows = |of: &dyn Fn(u32) -> u32| {
            (0..3).map(|row| (0..9).filter(|&rank| of(rank) == row).map(RankId).collect()).collect::<Vec<Vec<_>>>()
        };
        let bounds = [
            JobBound { cuts: vec![(vec![RankId(0), RankId(4)], 3)], ..empty.clone() },
            JobBound { weights: [1, 3, 5, 7].map(|to| (RankId(4), RankId(to), 2 + to)).to_vec(), ..empty.clone() },
            JobBound { partitions: vec![(rows(&|rank| rank / 3), 2), (rows(&|rank| rank % 3), 1)], ..empty },
        ];
        for bound in &bounds {
            let exact = job_value(&all, bound).unwrap();
            let exact = *exact.numer() as f64 / *exact.denom() as f64;
            assert!((sampled.of(bound) - exact).abs() < 1e-9 && exact > 0.0, "{bound:?}");
        }
    }
}
