//! Lower bounds on the steps and the volume of any schedule.
//!
//! Finding a bound takes a search; trusting it does not: each comes with evidence that `certificate` checks exactly.
//!
//! * **steps**: the farthest pair of ranks of which one needs data of the other.
//! * **volume**: a set of ranks and the traffic that must cross its border, over the capacity there. On a torus with
//!   few failures the best set is a slab of positions along one dimension (an *arc cut*); with many failures it may be
//!   a rank, its neighborhood, or any set found by improving those. If each message goes from one rank to one rank,
//!   also the *hop count* (all hops of all messages over all capacity) and, on small networks, arbitrary metrics. For
//!   all-reduce, the best of all partitions. If the latency of the first chunks counts, [metrics over
//!   time](over_time()). In groups with relays, [prices of links](tree_bound()) and the lightest trees.
//!
//! A barrier has no volume, so only its steps are bounded.

mod count;
mod crowding;
mod cuts;
mod evidence;
mod flow;
mod hops;
mod job;
mod merging;
mod over_time;
mod partition;
mod region;
mod repeated;
mod rounding;
mod stars;
mod stepped;
mod strength;
mod trees;
mod weighted;
mod words;

use std::cmp::Reverse;

use collsynth_core::certificate::{Bounds, Evidence, Rational, StepsBound, VolumeBound};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::{Disconnected, Problem};
use collsynth_core::topology::Distances;

pub use collsynth_lp::{Limit, LpError};

pub(crate) use flow::keeps_demand;
pub use flow::{FlowBound, FlowError, FlowLimit, FlowNetwork, flow_bound};
pub use job::of_job;
pub use over_time::over_time;
pub use stepped::{SteppedBound, joint_bounds, stepped_bound};
pub use trees::tree_bound;

use hops::HopCount;

/// The most bounds on the volume to show.
const MOST_VOLUMES: usize = 11;

/// A bound, and why it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundFinding {
    /// The family of evidence: "distance", "arc cut", "hop count", ...
    pub name: &'static str,
    /// The claim proven.
    pub claim: Claim,
    /// The evidence in words, with coordinates.
    pub words: String,
}

/// The claim of a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A least number of steps.
    Steps(StepsBound),
    /// A least volume.
    Volume(VolumeBound),
}

/// The best bound on the steps and the best on the volume; none where nothing must move.
///
/// Deterministic. Takes O(N * links) time, tens of milliseconds for 512 ranks.
///
/// # Errors
///
/// If a rank cannot reach another that needs its data: then there is no schedule.
///
/// ```
/// use collsynth_core::collective::{Collective, Kind};
/// use collsynth_core::{problem::Problem, topology::Topology};
/// use collsynth_plan::bound;
///
/// let problem = Problem::new(Topology::torus(&[4, 4, 4])?, Collective::new(Kind::AllToAll))?;
/// let bounds = bound::find(&problem)?;
/// assert_eq!(bounds.steps.map(|bound| bound.at_least), Some(6));
/// assert_eq!(bounds.volume.map(|bound| bound.at_least), Some(32.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find(problem: &Problem) -> Result<Bounds, Disconnected> {
    let mut bounds = Bounds::default();
    for finding in findings(problem)? {
        match finding.claim {
            Claim::Steps(bound) => bounds.steps = bounds.steps.or(Some(bound)),
            Claim::Volume(bound) => bounds.volume = bounds.volume.or(Some(bound)),
        }
    }
    Ok(bounds)
}

/// The bound on the steps, then the best bound on the volume of every family that applies, the best first; at most a
/// dozen.
///
/// # Errors
///
/// As [`find`].
pub fn findings(problem: &Problem) -> Result<Vec<BoundFinding>, Disconnected> {
    let distances = Distances::new(problem.topology());
    problem.check_connected(&distances)?;
    let mut volumes = volume_findings(problem, &distances);
    // Stable: among equals, the fewest links, then the first family.
    volumes.sort_by_key(|&(at_least, links, _)| (Reverse(at_least), links));
    volumes.truncate(MOST_VOLUMES);
    let steps = farthest_pair(problem, &distances).map(|bound| BoundFinding {
        name: "distance",
        words: words::distance(problem, &bound),
        claim: Claim::Steps(bound),
    });
    Ok(steps.into_iter().chain(volumes.into_iter().map(|(.., finding)| finding)).collect())
}

/// Inserts a bound on the volume among others sorted by [`findings`], behind its equals.
pub fn add(findings: &mut Vec<BoundFinding>, finding: BoundFinding) {
    let value = |finding: &BoundFinding| match &finding.claim {
        Claim::Steps(_) => None,
        Claim::Volume(bound) => Some(bound.at_least),
    };
    let place = findings.iter().position(|other| value(other).is_some_and(|other| Some(other) < value(&finding)));
    findings.insert(place.unwrap_or(findings.len()), finding);
}

/// The first of the pairs farthest apart, among those where one needs data of the other.
fn farthest_pair(problem: &Problem, distances: &Distances) -> Option<StepsBound> {
    let mut farthest: Option<StepsBound> = None;
    for from in problem.topology().live_ranks() {
        for to in problem.topology().live_ranks() {
            let at_least = u32::from(distances.get(from, to));
            if farthest.as_ref().is_none_or(|so_far| so_far.at_least < at_least) && problem.needs(from, to) {
                farthest = Some(StepsBound { at_least, from, to });
            }
        }
    }
    farthest
}

/// Findings with their volume and their number of links, which rank them.
fn volume_findings(problem: &Problem, distances: &Distances) -> Vec<(Rational, u64, BoundFinding)> {
    let kind = &problem.collective().kind;
    if !kind.has_volume() {
        return Vec::new();
    }
    let ranked = |name, at_least, links, evidence, words| {
        (at_least, links, BoundFinding { name, claim: Claim::Volume(VolumeBound { at_least, evidence }), words })
    };
    let mut found = Vec::new();
    for cut in cuts::best_cuts(problem) {
        if let Some(evidence) = evidence::of_cut(problem, &cut) {
            let (volume, words) = (cut.crossing.volume(problem), words::cut(problem, &cut));
            found.push(ranked(cut.family.name(), volume, cut.crossing.links, evidence, words));
        }
    }
    if let Some(count) = HopCount::new(problem, distances) {
        let (volume, words) = (count.volume(problem), words::hop_count(problem, &count));
        found.push(ranked("hop count", volume, count.links, count.evidence(problem), words));
    }
    if kind.pattern() == Pattern::EveryToEvery {
        for best in partition::best_partitions(problem) {
            let (volume, words) = (best.volume(), words::partition(&best));
            found.push(ranked("partition", volume, best.links, Evidence::Partition { blocks: best.blocks }, words));
        }
    }
    if let Some((volume, weights)) = weighted::best_metric(problem)
        && found.iter().all(|&(other, ..)| other < volume)
    {
        let (links, words) = (weights.len() as u64, words::metric(problem, &weights, volume));
        found.push(ranked("weighted metric", volume, links, Evidence::Metric { weights }, words));
    }
    found
}
