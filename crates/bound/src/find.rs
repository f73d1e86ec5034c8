//! The bounds of a problem, the best first: all families of cuts, the hop count, partitions and metrics.

use std::cmp::Reverse;

use collsynth_core::certificate::{Bounds, Evidence, Rational, VolumeBound};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::{Disconnected, Problem};
use collsynth_lp::Limit;

use crate::cuts::best::best_cuts;
use crate::cuts::evidence::of_cut;
use crate::cuts::hop_count::HopCount;
use crate::cuts::partition::best_partitions;
use crate::cuts::reach::Reach;
use crate::cuts::region::Region;
use crate::finding::{BoundFinding, Claim};
use crate::flows::repeated::repeated_metric;
use crate::flows::weighted::best_metric;
use crate::pace::Pace;
use crate::words;

/// The most bounds on the volume to show.
const MOST_VOLUMES: usize = 11;

/// The best bound on the steps and the best on the volume; none where nothing must move.
///
/// Deterministic. Takes O(N * links) time, tens of milliseconds for 512 ranks; less on intact tori. The parts of a
/// message change nothing.
///
/// # Errors
///
/// If a rank cannot reach another that needs its data: then there is no schedule.
///
/// ```
/// use collsynth_core::collective::{Collective, Kind};
/// use collsynth_core::{problem::Problem, topology::Topology};
/// use collsynth_bound as bound;
///
/// let problem = Problem::new(Topology::torus(&[4, 4, 4])?, Collective::new(Kind::AllToAll))?;
/// let bounds = bound::find(&problem)?;
/// assert_eq!(bounds.steps.map(|bound| bound.at_least), Some(6));
/// assert_eq!(bounds.volume.map(|bound| bound.at_least), Some(32.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find(problem: &Problem) -> Result<Bounds, Disconnected> {
    Ok(best(findings(problem)?))
}

/// The same within a limit, at which one looks now and then; `None` if it came first.
///
/// # Errors
///
/// As [`find`].
pub fn find_within(problem: &Problem, limit: &Limit) -> Result<Option<Bounds>, Disconnected> {
    Ok(findings_within(problem, limit)?.map(best))
}

fn best(findings: Vec<BoundFinding>) -> Bounds {
    let mut bounds = Bounds::default();
    for finding in findings {
        match finding.claim {
            Claim::Steps(bound) => bounds.steps = bounds.steps.or(Some(bound)),
            Claim::Volume(bound) => bounds.volume = bounds.volume.or(Some(bound)),
        }
    }
    bounds
}

/// The bound on the steps, then the best bound on the volume of every family that applies, the best first; at most a
/// dozen.
///
/// # Errors
///
/// As [`find`].
pub fn findings(problem: &Problem) -> Result<Vec<BoundFinding>, Disconnected> {
    Ok(findings_within(problem, &Limit::NONE)?.unwrap_or_default())
}

/// The same within a limit, at which one looks now and then; `None` if it came first.
///
/// # Errors
///
/// As [`find`].
pub fn findings_within(problem: &Problem, limit: &Limit) -> Result<Option<Vec<BoundFinding>>, Disconnected> {
    let stop = || limit.check().is_err();
    let pace = Pace::new(&stop);
    problem.check_connected()?;
    let reach = Reach::new(problem, &pace);
    let mut volumes = volume_findings(problem, &reach, limit, &pace);
    if pace.is_over(0) {
        return Ok(None);
    }
    // Stable: among equals, the fewest links, then the first family.
    volumes.sort_by_key(|&(at_least, links, _)| (Reverse(at_least), links));
    volumes.truncate(MOST_VOLUMES);
    let steps = reach.farthest.map(|bound| BoundFinding {
        name: "distance",
        words: words::distance(problem, &bound),
        claim: Claim::Steps(bound),
    });
    Ok(Some(steps.into_iter().chain(volumes.into_iter().map(|(.., finding)| finding)).collect()))
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

/// Findings with their volume and their number of links, which rank them; some, once it is time to stop.
fn volume_findings(
    problem: &Problem,
    reach: &Reach,
    limit: &Limit,
    pace: &Pace<'_>,
) -> Vec<(Rational, u64, BoundFinding)> {
    let kind = &problem.collective().kind;
    if !kind.has_volume() {
        return Vec::new();
    }
    let ranked = |name, at_least, links, evidence, words| {
        (at_least, links, BoundFinding { name, claim: Claim::Volume(VolumeBound { at_least, evidence }), words })
    };
    let mut found = Vec::new();
    for cut in best_cuts(&mut Region::new(problem), pace) {
        if let Some(evidence) = of_cut(problem, &cut) {
            let (volume, words) = (cut.crossing.volume(problem), words::cut(problem, &cut));
            found.push(ranked(cut.family.name(), volume, cut.crossing.links, evidence, words));
        }
    }
    if let Some(count) = HopCount::new(problem, reach) {
        let (volume, words) = (count.volume(problem), words::hop_count(problem, &count));
        found.push(ranked("hop count", volume, count.links, count.evidence(problem), words));
    }
    if kind.pattern() == Pattern::EveryToEvery && !pace.is_over(0) {
        for best in best_partitions(problem) {
            let (volume, words) = (best.volume(), words::partition(&best));
            found.push(ranked("partition", volume, best.links, Evidence::Partition { blocks: best.blocks }, words));
        }
    }
    if let Some((volume, weights)) = best_metric(problem)
        && found.iter().all(|&(other, ..)| other < volume)
    {
        let (links, words) = (weights.len() as u64, words::metric(problem, &weights, volume));
        found.push(ranked("weighted metric", volume, links, Evidence::metric(weights), words));
    }
    let floor = found.iter().map(|&(volume, ..)| volume).max();
    if let Some(finding) = floor.and_then(|floor| repeated_metric(problem, floor, limit))
        && let Claim::Volume(bound) = &finding.claim
    {
        // It proves more than all others, of however few links.
        found.push((bound.at_least, 0, finding));
    }
    found
}
