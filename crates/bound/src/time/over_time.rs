//! Metrics over time: bounds for demands whose first chunks have a long path ahead.
//!
//! Cuts and metrics count the load of links over all units of time; but in the first units some links have nothing to
//! carry yet, and in the last ones a chunk that sets out arrives too late. Where few chunks go far, or all of them
//! between few ranks, this decides.
//!
//! ```text
//!   unit             1    2    3    4    5         5 chunks from a to d over a -> b -> c -> d: 7 units, though
//!   a -> b           x    x    x    x    x         no link carries more than 5
//!   b -> c                x    x    x    x   ...
//! ```
//!
//! * **Stars**: traffic from one rank to others, or from others to one rank, is a flow of one commodity. Its least time
//!   is found exactly: between two ranks by a flow repeated in time, else by maximal flows through the time-expanded
//!   network. The minimum cut of the last flow that does not suffice is the metric. For broadcast and reduce: the flow
//!   between the root and each rank. For all_reduce: the flow to each rank from the one whose parts take longest, given
//!   the capacity at both ends and the hops between. For all_to_allv: the chunks of one origin or one destination.
//! * **Ends**: for all_to_allv also the linear program of all commodities, which resolves the first and the last units
//!   one by one (`collsynth_lp::least_time`). Its dual solution is rounded and proven exactly.
//!
//! These bounds hold only for the number of parts at hand: twice the parts have the same latency.
//!
//! Source: Ford and Fulkerson, "Constructing maximal dynamic flows from static flows", 1958.

use std::cmp::Reverse;

use petgraph::Direction;
use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::repeated::{TooFew, too_few_units};
use crate::finding::{BoundFinding, Claim};
use crate::flows::flow::{FlowLimit, FlowNetwork};
use crate::flows::rounding::{FINE, Rounding, joined_pairs, windows};
use crate::flows::stars::{Star, capacity, stars};
use crate::machine::hops::Hops;
use crate::words;
use collsynth_core::certificate::{self, Bounds, Evidence, Rational, VolumeBound, Window};
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// Arcs of the time-expanded networks of all stars together.
const STAR_WORK: u64 = 2_000_000;
/// Links and ranks of the networks of all stars of two ranks together.
const PAIR_WORK: u64 = 8_000_000;
/// Units resolved one by one at each end; more are better.
const ENDS: [usize; 2] = [2, 1];

/// The best metric over time, of stars and of the linear program if it is within the limit, if it proves a larger total
/// width than the known bounds. Deterministic unless the solver runs out of time.
pub fn over_time(problem: &Problem, known: &Bounds, limit: &FlowLimit) -> Option<BoundFinding> {
    problem.check_connected().ok()?;
    let hops = Hops::of(problem.topology());
    let mut best = Best { problem, least: known.least_width(problem.parts()), evidence: None };
    let mut work = Work { many: STAR_WORK, two: PAIR_WORK };
    let mut stars = stars(problem, &hops, |chunks, capacity, hops| u64::from(chunks.div_ceil(capacity) + hops));
    stars.sort_by_key(|star| Reverse(star.slowness));
    // With a demand the busiest ranks are the slowest; otherwise any rank may be.
    let any = problem.collective().kind.demand().is_none();
    for star in &stars {
        if limit.solver.check().is_err() {
            break;
        }
        if (any || star.slowness > u64::from(best.least))
            && let Some(evidence) = star.slowest(problem, best.least, &mut work)
        {
            best.add(evidence);
        }
    }
    if !any && let Some(evidence) = of_all(problem, best.least, limit) {
        best.add(evidence);
    }
    let (at_least, evidence) = best.evidence?;
    let words = words::over_time(problem, &evidence);
    Some(BoundFinding { name: "flow over time", claim: Claim::Volume(VolumeBound { at_least, evidence }), words })
}

struct Best<'a> {
    problem: &'a Problem,
    /// The least total width proven.
    least: u32,
    evidence: Option<(Rational, Evidence)>,
}

impl Best<'_> {
    fn add(&mut self, evidence: Evidence) {
        let parts = i128::from(self.problem.parts());
        if let Ok(proven) = certificate::value(self.problem, &evidence)
            && proven * parts > Rational::from(i128::from(self.least))
        {
            self.least = u32::try_from((proven * parts).to_integer()).unwrap_or(u32::MAX);
            self.evidence = Some((proven, evidence));
        }
    }
}

/// Work left for stars of many ranks and of two.
struct Work {
    many: u64,
    two: u64,
}

impl Star {
    /// Evidence for the largest insufficient width, if that is at least `least` and the work allows.
    fn slowest(&self, problem: &Problem, least: u32, work: &mut Work) -> Option<Evidence> {
        match self.amounts[..] {
            [] => None,
            [(far, amount)] => {
                let topology = problem.topology();
                work.two = work.two.checked_sub((topology.links().len() + topology.rank_count()) as u64)?;
                self.slowest_of_two(problem, far, amount, least)
            }
            _ => self.slowest_of_many(problem, least, &mut work.many),
        }
    }

    /// The same where all traffic is between the center and one rank.
    fn slowest_of_two(&self, problem: &Problem, far: RankId, amount: u32, least: u32) -> Option<Evidence> {
        let topology = problem.topology();
        let links = topology.live_links().map(|id| topology.link(id)).map(|link| {
            let (from, to) = self.oriented((link.from, link.to));
            (from.0, to.0, link.capacity)
        });
        let TooFew { units, since } = too_few_units(topology.rank_count(), links, (self.center.0, far.0), amount)?;
        (units >= least).then(|| self.evidence(problem, units, &since))
    }

    /// A link as seen if time runs from the center.
    fn oriented(&self, (from, to): (RankId, RankId)) -> (RankId, RankId) {
        if self.inward { (to, from) } else { (from, to) }
    }

    fn slowest_of_many(&self, problem: &Problem, least: u32, work: &mut u64) -> Option<Evidence> {
        let topology = problem.topology();
        let size = (topology.links().len() + topology.rank_count()) as u64;
        let (mut width, mut evidence) = (least, None);
        loop {
            *work = work.checked_sub(size * u64::from(width))?;
            let Some((missing, found)) = self.stopped(problem, width) else { return evidence };
            evidence = Some(found);
            // One more unit adds at most the capacity of the center's links.
            let room = capacity(problem, self.center, self.inward);
            width += missing.div_ceil(room).saturating_sub(1).max(1);
        }
    }

    /// The amount that does not get through in `width` units, and the cut over time that stops it; `None` if all of it
    /// does. For inward traffic, links and time are reversed.
    fn stopped(&self, problem: &Problem, width: u32) -> Option<(u32, Evidence)> {
        let topology = problem.topology();
        let ranks = topology.rank_count() as u32;
        let all: u32 = self.amounts.iter().map(|&(_, amount)| amount).sum();
        let pairs = joined_pairs(problem);
        let (source, sink) = (self.center.0, ranks * (width + 1));
        let mut edges: Vec<(u32, u32, u32)> = Vec::new();
        for unit in 0..width {
            for &pair in &pairs {
                let links =
                    topology.links_between(pair.0, pair.1).map(|id| topology.link(id)).filter(|link| link.alive);
                let (from, to) = self.oriented(pair);
                let capacity = links.map(|link| link.capacity.min(all)).sum();
                edges.push((unit * ranks + from.0, (unit + 1) * ranks + to.0, capacity));
            }
            edges.extend((0..ranks).map(|rank| (unit * ranks + rank, (unit + 1) * ranks + rank, all)));
        }
        edges.extend(self.amounts.iter().map(|&(rank, amount)| (width * ranks + rank.0, sink, amount)));
        let graph = DiGraph::<(), u32>::from_edges(edges);
        let (value, flows) = dinics(&graph, source.into(), sink.into());
        if value >= all {
            return None;
        }
        // The time from which the source still reaches a rank.
        let mut reached = vec![false; graph.node_count()];
        reached[source as usize] = true;
        let mut stack = vec![NodeIndex::from(source)];
        while let Some(node) = stack.pop() {
            let out =
                graph.edges(node).filter(|edge| flows[edge.id().index()] < *edge.weight()).map(|edge| edge.target());
            let into = graph.edges_directed(node, Direction::Incoming);
            let back = into.filter(|edge| flows[edge.id().index()] > 0).map(|edge| edge.source());
            for next in out.chain(back) {
                if !std::mem::replace(&mut reached[next.index()], true) {
                    stack.push(next);
                }
            }
        }
        let since = |rank: u32| {
            let first = (0..=width).find(|&time| reached[(time * ranks + rank) as usize]);
            first.unwrap_or(width + 1)
        };
        let since: Vec<u32> = (0..ranks).map(since).collect();
        Some((all - value, self.evidence(problem, width, &since)))
    }

    /// The cut over time that has the ranks on its near side from the times in `since` on.
    fn evidence(&self, problem: &Problem, width: u32, since: &[u32]) -> Evidence {
        let window = |pair: (RankId, RankId)| {
            let (from, to) = self.oriented(pair);
            // The units in which the link leads from a reached rank to an unreached one.
            let (first, last) = (since[from.index()] + 1, since[to.index()].saturating_sub(1).min(width));
            let (first, last) =
                if self.inward { (width + 1 - last, (width + 1).checked_sub(first)?) } else { (first, last) };
            (first <= last).then_some(Window { from: pair.0, to: pair.1, first, last, weight: 1 })
        };
        let weights = joined_pairs(problem).into_iter().filter_map(window).collect();
        Evidence::MetricOverTime { width, rank: self.named, weights }
    }
}

/// Evidence from the linear program of all commodities, for a width of at least `least`.
fn of_all(problem: &Problem, least: u32, limit: &FlowLimit) -> Option<Evidence> {
    let instance = FlowNetwork::new(problem).ok()?;
    let (network, generators) = (&instance.network, &instance.generators);
    let fits = |ends: &usize| {
        collsynth_lp::least_time_size(network, generators, *ends).is_ok_and(|variables| variables <= limit.variables)
    };
    let ends = ENDS.into_iter().find(fits)?;
    let parts = f64::from(problem.parts());
    let flow = collsynth_lp::least_time(network, generators, ends, 1.0 / parts, &limit.solver).ok()?;
    // The largest width below the optimum, by more than the solver's tolerance.
    let width = (flow.time * parts - 1e-4).ceil() - 1.0;
    if width < f64::from(least) || width < 2.0 * ends as f64 + 1.0 {
        return None;
    }
    let width = width as u32;
    // One unit per layer at both ends, all others in one layer.
    let last = width - ends as u32 + 1..=width;
    let ends = 1..=ends as u32;
    let middle = (ends.end() + 1, last.start() - 1);
    let single = |unit: u32| (unit, unit);
    let layers: Vec<(u32, u32)> = ends.map(single).chain([middle]).chain(last.map(single)).collect();
    let evidence = |rounded: &[u32]| Evidence::MetricOverTime {
        width,
        rank: None,
        weights: windows(&instance.pairs, rounded, &layers),
    };
    let mut rounding = Rounding::new(|rounded: &[u32]| certificate::value(problem, &evidence(rounded)).ok());
    rounding.add(&flow.lengths.concat(), &FINE);
    rounding.best.map(|(_, rounded)| evidence(&rounded))
}
