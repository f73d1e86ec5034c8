//! How far data must go: the farthest pair of ranks, and all hops together.
//!
//! One search is enough where only one rank sends or receives, or where the machine looks the same from every rank;
//! otherwise there is one for each rank, and none of them is kept.

use collsynth_core::certificate::StepsBound;
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, Topology};

use super::count::Count;
use crate::machine::hops::Search;
use crate::pace::Pace;

/// What the distances between ranks say of a problem in which all ranks reach those that need their data.
pub struct Reach {
    /// The first of the pairs farthest apart, among those where one needs data of the other.
    pub farthest: Option<StepsBound>,
    /// Hops of all messages (chunks, for `all_to_allv`) on their shortest paths; 0 for kinds whose chunks do not each
    /// go from one rank to one rank.
    pub hops: u64,
}

impl Reach {
    /// Searches until it is time to stop.
    pub fn new(problem: &Problem, pace: &Pace<'_>) -> Self {
        let (topology, kind) = (problem.topology(), &problem.collective().kind);
        let mut reach = Self { farthest: None, hops: 0 };
        let to_root = kind.root().filter(|_| kind.is_to_root());
        let mut search = Search::new(topology, to_root.is_some());
        // Every rank, or the root, has as much for each other rank: no pair has to be asked.
        let each_the_same = problem.groups().is_none() && kind.demand().is_none();
        let alike = each_the_same && kind.root().is_none() && looks_alike(topology);
        let origins: Vec<RankId> = match kind.root() {
            Some(root) => vec![root],
            None if alike => topology.live_ranks().take(1).collect(),
            None => problem.members().collect(),
        };
        let is_one_to_one = kind.pattern() == Pattern::OneToOne;
        let (chunks, copies) = (Count::of(problem).chunks, if alike { topology.rank_count() as u64 } else { 1 });
        for origin in origins {
            if pace.is_over(topology.links().len() as u64) {
                break;
            }
            let hops = search.from(origin);
            let pair = |other: RankId| if to_root.is_some() { (other, origin) } else { (origin, other) };
            let needs = |other: RankId| {
                let (from, to) = pair(other);
                problem.needs(from, to)
            };
            let far = |other: RankId| u32::from(hops[other.index()]);
            for other in topology.live_ranks() {
                if reach.farthest.as_ref().is_none_or(|farthest| farthest.at_least < far(other)) && needs(other) {
                    let (from, to) = pair(other);
                    reach.farthest = Some(StepsBound { at_least: far(other), from, to });
                }
            }
            if is_one_to_one {
                let amount = |other: RankId| {
                    let (from, to) = pair(other);
                    u64::from(problem.owed(from, to) / chunks)
                };
                let others = topology.live_ranks().filter(|&other| other != origin);
                let sum: u64 = match each_the_same {
                    true => others.map(|other| u64::from(far(other))).sum(),
                    false => {
                        others.filter(|&other| needs(other)).map(|other| u64::from(far(other)) * amount(other)).sum()
                    }
                };
                reach.hops += copies * sum;
            }
        }
        reach
    }
}

/// Does the machine look the same from every rank?
fn looks_alike(topology: &Topology) -> bool {
    topology.as_torus().is_some_and(|torus| torus.is_symmetric())
        && topology.live_rank_count() == topology.rank_count()
        && topology.links().iter().all(|link| link.alive)
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Demand, Groups, Kind};
    use collsynth_core::topology::Distances;

    use super::*;

    /// The same by asking for every pair.
    fn plain(problem: &Problem) -> (Option<StepsBound>, u64) {
        let (topology, distances) = (problem.topology(), Distances::new(problem.topology()));
        let (mut farthest, mut hops) = (None::<StepsBound>, 0);
        for from in topology.live_ranks() {
            for to in topology.live_ranks().filter(|&to| problem.needs(from, to)) {
                let at_least = u32::from(distances.get(from, to));
                if farthest.as_ref().is_none_or(|so_far| so_far.at_least < at_least) {
                    farthest = Some(StepsBound { at_least, from, to });
                }
                hops += u64::from(at_least) * u64::from(problem.owed(from, to) / Count::of(problem).chunks);
            }
        }
        (farthest, if problem.collective().kind.pattern() == Pattern::OneToOne { hops } else { 0 })
    }

    #[test]
    fn few_searches_find_what_all_pairs_do() {
        let torus = |extents: &[u32]| Topology::torus(extents).unwrap();
        let machines = [
            torus(&[4, 3]),
            torus(&[12]).fail_cable(3, 4).unwrap(),
            torus(&[3, 4]).fail_link(0, 1).unwrap().fail_rank(7).unwrap(),
            torus(&[2, 3, 2]),
        ];
        let groups = || Groups::new(vec![vec![RankId(0), RankId(5)], vec![RankId(2), RankId(3), RankId(9)]]).unwrap();
        let counts: Vec<u32> = (0..144).map(|pair| pair % 5).collect();
        let demand = Demand::new(12, &counts).unwrap();
        for machine in machines {
            let kinds = Kind::every(RankId(3), demand.clone());
            let grouped = Kind::every(RankId(1), demand.clone()).into_iter().filter(|kind| kind.demand().is_none());
            let grouped: Vec<Kind> = grouped.map(|kind| kind.in_groups(groups())).collect();
            for kind in kinds.into_iter().chain(grouped) {
                for parts in [1, 3] {
                    let Ok(problem) = Problem::new(machine.clone(), Collective { kind: kind.clone(), parts }) else {
                        continue;
                    };
                    let reach = Reach::new(&problem, &Pace::new(&|| false));
                    assert_eq!((reach.farthest, reach.hops), plain(&problem), "{kind:?}");
                }
            }
        }
    }

    #[test]
    fn an_intact_torus_takes_one_search() {
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            false
        };
        let problem = Problem::new(Topology::torus(&[128, 128]).unwrap(), Collective::new(Kind::AllGather)).unwrap();
        let reach = Reach::new(&problem, &Pace::new(&stop));
        assert_eq!((reach.farthest.map(|bound| bound.at_least), asked.get()), (Some(128), 0));
    }
}
