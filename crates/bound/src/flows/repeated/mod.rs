//! Metrics of machines whose failures repeat with a period: one weight for all links that look alike.
//!
//! The best metric is the dual solution of the flow program (see `flow`), which is far too large for thousands of
//! ranks. But a dead switch leaves many symmetries, and the best metric may be taken to be the same on links that they
//! map onto each other, some dozens of *orbits*; and ranks of an orbit send alike, so one of each is enough:
//!
//! ```text
//!   minimize T
//!   sum of x[routing]                          =  1             for each orbit of ranks, over its routings
//!   sum of x[routing] * load[routing][orbit]  <=  capacity * T  for each orbit of links
//! ```
//!
//! A routing sends all messages of an orbit of ranks on shortest paths, by some lengths. There are too many to list:
//! begin with one, take the prices of the orbits of links as lengths, add what is shortest by them, and solve again
//! (Dantzig and Wolfe, "Decomposition principle for linear programs", Operations Research 1960). T falls to the optimum
//! from above. Once it is no more than what a cut proves, no metric proves more: mostly after a few rounds. Otherwise
//! the prices rise to the best metric; rounded to integers, they prove what an exact count says.
//!
//! 8x16x16 without switch x:1,2: 12 orbits of ranks, 47 of links, 15 rounds; 4096.25 where the cuts prove 4096.

mod orbits;

use collsynth_core::certificate::{Evidence, LinkWeight, Rational, VolumeBound, every_weight};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_lp::{Allocation, Choice, Limit, Resource, Share};

use super::rounding::{FINE, Rounding};
use crate::finding::{BoundFinding, Claim};
use crate::machine::period::failure_period;
use crate::words;
use orbits::{OrbitOfRanks, Orbits};

/// The most ranks: of more, a round takes a tenth of a second and more.
const MOST_RANKS: usize = 4096;
/// The most rounds.
const MOST_ROUNDS: usize = 100;
/// The share of T that may be left.
const CLOSE: f64 = 2e-6;
/// The finest lengths: the longest is so many.
const FINEST: f64 = 1e6;

/// The best metric of an all_to_all around failures that repeat, if it proves more than `floor`. `None` also for
/// machines that are too large or too irregular, and once the limit is reached.
pub fn repeated_metric(problem: &Problem, floor: Rational, limit: &Limit) -> Option<BoundFinding> {
    let topology = problem.topology();
    let torus = topology.as_torus().filter(|torus| torus.extents.iter().all(|&extent| extent > 2))?;
    let kind = &problem.collective().kind;
    let is_uniform = kind.root().is_none() && kind.demand().is_none() && problem.groups().is_none();
    if kind.pattern() != Pattern::OneToOne || !is_uniform || topology.rank_count() > MOST_RANKS {
        return None;
    }
    let period = failure_period(topology)?;
    let orbits = Orbits::new(topology)?;
    let lengths = best_lengths(&orbits, *floor.numer() as f64 / *floor.denom() as f64, limit)?;
    let mut rounding = Rounding::new(|weights: &[u32]| {
        Some(Rational::new(orbits.distances(weights, |_, _| ()).into(), orbits.offered(weights)?.into()))
    });
    rounding.add(&lengths, &FINE);
    let (at_least, rounded) = rounding.best.filter(|(at_least, _)| *at_least > floor)?;
    let is_first = |rank| (0..period.len()).all(|dim| torus.position(rank, dim) < period[dim]);
    let links = topology.live_links().zip(&orbits.of_links).map(|(id, &orbit)| (topology.link(id), rounded[orbit]));
    let weights: Vec<LinkWeight> = links
        .filter(|&(link, weight)| weight > 0 && is_first(link.from))
        .map(|(link, weight)| (link.from, link.to, weight))
        .collect();
    let words = words::metric(problem, &every_weight(topology, Some(&period), &weights).ok()?, at_least);
    let evidence = Evidence::Metric { period: Some(period), weights };
    Some(BoundFinding { name: "repeated metric", claim: Claim::Volume(VolumeBound { at_least, evidence }), words })
}

/// The lengths of orbits that prove most, unless they prove no more than `floor`.
fn best_lengths(orbits: &Orbits, floor: f64, limit: &Limit) -> Option<Vec<f64>> {
    let mut lengths = vec![1.0; orbits.capacity.len()];
    let mut routings: Vec<Vec<Vec<f64>>> = vec![Vec::new(); orbits.ranks.len()];
    let (mut best, mut proven) = (lengths.clone(), 0.0);
    for _ in 0..MOST_ROUNDS {
        limit.check().ok()?;
        // Never 0: among equally short paths, those of fewer hops.
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        let whole: Vec<u32> = lengths.iter().map(|length| (length / longest * FINEST).round() as u32 + 1).collect();
        let distances = orbits.distances(&whole, |orbit, loads| {
            let mut load = vec![0.0; orbits.capacity.len()];
            loads.iter().zip(&orbits.of_links).for_each(|(of_link, &orbit)| load[orbit] += of_link);
            routings[orbit].push(load);
        });
        let proves = distances as f64 / orbits.offered(&whole)? as f64;
        if proves > proven {
            (best, proven) = (whole.iter().copied().map(f64::from).collect(), proves);
        }
        // Rounding may keep the solver from its last digits: what was found before will do.
        let Some((least, prices)) = divide(orbits, &routings, proven, limit) else { break };
        if least <= floor * (1.0 + CLOSE) {
            return None;
        }
        if least <= proven * (1.0 + CLOSE) {
            break;
        }
        lengths = prices;
    }
    Some(best)
}

/// The best division of what orbits of ranks send among their routings: T, and what a unit of capacity costs in each
/// orbit of links. `scale` is about T.
fn divide(orbits: &Orbits, routings: &[Vec<Vec<f64>>], scale: f64, limit: &Limit) -> Option<(f64, Vec<f64>)> {
    let capacity = || orbits.capacity.iter().map(|&capacity| capacity as f64);
    let share = |count: f64, load: &Vec<f64>| {
        let loads = load.iter().zip(capacity()).map(|(load, capacity)| count * load / capacity / scale);
        Share { loads: loads.enumerate().filter(|&(_, load)| load > 0.0).collect() }
    };
    let choice = |(orbit, loads): (&OrbitOfRanks, &Vec<Vec<f64>>)| Choice {
        amount: 1.0,
        ways: loads.iter().map(|load| share(orbit.count as f64, load)).collect(),
    };
    let allocation = Allocation {
        phases: 1,
        resources: vec![Resource { phase: 0, capacity: 1.0, base: 0.0 }; orbits.capacity.len()],
        choices: orbits.ranks.iter().zip(routings).map(choice).collect(),
    };
    let divided = allocation.solve_roughly(limit).ok()?;
    let prices = divided.prices.iter().zip(capacity()).map(|(price, capacity)| price.max(0.0) / capacity);
    Some((divided.total() * scale, prices.collect()))
}

#[cfg(test)]
mod tests {
    use collsynth_core::certificate;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::{Shape, Topology, TopologySpec, Torus};

    use super::*;
    use crate::{FlowLimit, find, flow_bound};

    fn around(torus: Torus, period: &[u32], switches: &[&str]) -> Problem {
        let mut machine = Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap();
        for switch in switches {
            machine = machine.fail_switch(&switch.parse().unwrap(), period).unwrap();
        }
        Problem::new(machine, Collective::new(Kind::AllToAll)).unwrap()
    }

    fn beyond(problem: &Problem, floor: Rational) -> Option<VolumeBound> {
        match repeated_metric(problem, floor, &Limit::NONE)?.claim {
            Claim::Volume(bound) => Some(bound),
            Claim::Steps(_) => None,
        }
    }

    #[test]
    fn orbits_prove_what_the_whole_program_does() {
        for (torus, period, switches) in [
            (Torus::new(&[8, 4]), &[4, 4][..], &["x:1"][..]),
            (Torus::new(&[6, 6]), &[3, 3], &["x:1", "y:2"]),
            (Torus::new(&[4, 6]), &[2, 3], &["y:0"]),
            (Torus { capacity: vec![1, 3], ..Torus::new(&[8, 4]) }, &[4, 2], &["y:3"]),
            (Torus::twisted(&[4, 8]).unwrap(), &[4, 4], &["x:0"]),
            (Torus::twisted(&[3, 6]).unwrap(), &[3, 3], &["x:1", "y:1"]),
        ] {
            let problem = around(torus.clone(), period, switches);
            let VolumeBound { at_least, evidence } = beyond(&problem, Rational::from(0)).expect("few orbits");
            assert_eq!(certificate::value(&problem, &evidence), Ok(at_least), "{torus:?}");
            let optimum = flow_bound(&problem, &FlowLimit::of_size(100_000)).unwrap().optimum;
            let proven = *at_least.numer() as f64 / *at_least.denom() as f64;
            assert!((proven / optimum - 1.0).abs() < 1e-5, "{torus:?}: {proven} of {optimum}");
        }
    }

    #[test]
    fn rows_that_messages_have_to_leave_prove_more_than_cuts() {
        let problem = around(Torus::new(&[8, 16, 16]), &[4, 4, 4], &["x:1,2"]);
        let bound = find(&problem).unwrap().volume.unwrap();
        assert_eq!(bound.at_least, Rational::new(16385, 4));
        assert!(matches!(bound.evidence, Evidence::Metric { period: Some(_), .. }));
        assert_eq!(certificate::check_volume(&problem, &bound), Ok(()));
    }

    #[test]
    fn nothing_is_found_where_cuts_are_best_and_where_nothing_repeats() {
        let problem = around(Torus::new(&[8, 8, 8]), &[4, 4, 4], &["x:1,2"]);
        let cut = find(&problem).unwrap().volume.unwrap().at_least;
        assert_eq!((cut, beyond(&problem, cut)), (Rational::new(8192, 15), None));
        assert!(beyond(&problem, Rational::from(500)).is_some_and(|bound| bound.at_least <= cut));
        let broken = problem.machine().clone().fail_cable(0, 1).unwrap();
        let broken = Problem::new(broken, Collective::new(Kind::AllToAll)).unwrap();
        assert_eq!(beyond(&broken, Rational::from(0)), None);
    }
}
