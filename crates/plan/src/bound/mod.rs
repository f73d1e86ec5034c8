//! Lower bounds: how few steps, and how little volume, any schedule can have.
//!
//! Finding a bound is a search; believing it is not: each comes with evidence that `certificate` checks exactly.
//!
//! * **steps**: the farthest pair of ranks one of which needs data of the other.
//! * **volume**: a set of ranks and what must cross its border, over the capacity there. On a torus with few failures
//!   the best set is a slab of positions along one dimension (an *arc cut*); with many failures it may be a rank, its
//!   neighbourhood, or a set of any form, found by improving those. Where each message goes from one rank to one rank,
//!   also the *hop count*: all hops of all messages over all capacity, and, on small networks, metrics of any form. For
//!   all-reduce, partitions. Where the way of the first chunks counts, [metrics over time](over_time()).
//!
//! A barrier has no volume to speak of: it gets a bound for its steps alone.

mod count;
mod crowding;
mod cuts;
mod evidence;
mod finding;
mod flow;
mod hops;
mod over_time;
mod partition;
mod region;
mod repeated;
mod rounding;
mod stepped;
mod weighted;
mod words;

use collsynth_core::certificate::{Bounds, Evidence, Rational, StepsBound, VolumeBound};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::{Disconnected, Problem};
use collsynth_core::topology::Distances;

pub use collsynth_lp::{Limit, LpError};

pub use finding::{Claim, Finding};
pub(crate) use flow::keeps_demand;
pub use flow::{FlowBound, FlowError, FlowLimit, FlowNetwork, flow_bound};
pub use over_time::over_time;
pub use stepped::{SteppedBound, joint_bounds, stepped_bound};

use hops::HopCount;

/// The most bounds on the volume that are shown.
const MOST_VOLUMES: usize = 11;

/// The best bound on the steps and the best on the volume; none where nothing must move.
///
/// Deterministic. Takes O(N * links) time, some tens of milliseconds for 512 ranks.
///
/// # Errors
///
/// If a rank cannot reach another that needs its data: then there is no schedule at all.
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

/// The bound on the steps, then the best bound on the volume of every family that has something to say, the best first;
/// a dozen at most.
///
/// # Errors
///
/// As [`find`].
pub fn findings(problem: &Problem) -> Result<Vec<Finding>, Disconnected> {
    let distances = Distances::new(problem.topology());
    problem.check_connected(&distances)?;
    let mut volumes = volume_findings(problem, &distances);
    // Stable: among equals, the fewer links, then the family that comes first.
    volumes.sort_by(|a, b| b.at_least.cmp(&a.at_least).then(a.links.cmp(&b.links)));
    volumes.truncate(MOST_VOLUMES);
    let steps = farthest_pair(problem, &distances).map(|bound| Finding {
        name: "distance",
        words: words::distance(problem, &bound),
        claim: Claim::Steps(bound),
    });
    Ok(steps.into_iter().chain(volumes.into_iter().map(|volume| volume.finding)).collect())
}

/// Puts a bound on the volume where it belongs among others sorted by [`findings`]: behind those as good.
pub fn add(findings: &mut Vec<Finding>, finding: Finding) {
    let value = |finding: &Finding| match &finding.claim {
        Claim::Steps(_) => None,
        Claim::Volume(bound) => Some(bound.at_least),
    };
    let place = findings.iter().position(|other| value(other).is_some_and(|other| Some(other) < value(&finding)));
    findings.insert(place.unwrap_or(findings.len()), finding);
}

/// A finding with what it is ranked by.
struct Ranked {
    at_least: Rational,
    links: u64,
    finding: Finding,
}

impl Ranked {
    fn new(name: &'static str, at_least: Rational, links: u64, evidence: Evidence, words: String) -> Self {
        let claim = Claim::Volume(VolumeBound { at_least, evidence });
        Self { at_least, links, finding: Finding { name, claim, words } }
    }
}

/// The first of the pairs that are farthest apart, among those where one needs data of the other.
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

fn volume_findings(problem: &Problem, distances: &Distances) -> Vec<Ranked> {
    let kind = &problem.collective().kind;
    if !kind.has_volume() {
        return Vec::new();
    }
    let mut ranked = Vec::new();
    let mut add = |name, at_least, links, evidence, words| {
        ranked.push(Ranked::new(name, at_least, links, evidence, words));
    };
    for cut in cuts::best_cuts(problem) {
        if let Some(evidence) = evidence::of_cut(problem, &cut) {
            let (volume, words) = (cut.crossing.volume(problem), words::cut(problem, &cut));
            add(cut.family.name(), volume, cut.crossing.links, evidence, words);
        }
    }
    if let Some(found) = HopCount::new(problem, distances) {
        add(
            "hop count",
            found.volume(problem),
            found.links,
            found.evidence(problem),
            words::hop_count(problem, &found),
        );
    }
    if kind.pattern() == Pattern::EveryToEvery {
        for found in partition::best_partitions(problem) {
            let (volume, links, words) = (found.volume(), found.links, words::partition(&found));
            add("partition", volume, links, Evidence::Partition { blocks: found.blocks }, words);
        }
    }
    if let Some((volume, weights)) = weighted::best_metric(problem)
        && ranked.iter().all(|other| other.at_least < volume)
    {
        let (links, words) = (weights.len() as u64, words::metric(problem, &weights, volume));
        ranked.push(Ranked::new("weighted metric", volume, links, Evidence::Metric { weights }, words));
    }
    ranked
}
