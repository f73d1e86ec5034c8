//! Tori with dead cables, verified plans for them, and the closed forms.

use collsynth::certificate::{Bounds, Rational};
use collsynth::collective::{Collective, Kind};
use collsynth::plan::{Phase, PlanError};
use collsynth::problem::Problem;
use collsynth::schedule::{Schedule, Solution};
use collsynth::topology::{Topology, Torus};
use collsynth::verdict::Verdict;
use collsynth::verify::{Code, Options, verify};
use num_rational::Ratio;

use crate::support::plans::{Cable, planned_alone, ratio, without};

pub fn torus(extents: &[u32], cables: &[Cable]) -> Topology {
    without(Torus::new(extents), cables)
}

/// A verified schedule, and its phases.
#[derive(Debug)]
pub struct Planned {
    pub schedule: Schedule,
    pub phases: Vec<Phase>,
    pub bounds: Bounds,
}

pub fn plan(name: &str, topology: &Topology, parts: u32) -> Result<Planned, PlanError> {
    let problem = Problem::new(topology.clone(), Collective { kind: Kind::AllToAll, parts })?;
    let (solution, phases) = planned_alone(name, problem, None)?;
    let report = verify(&solution, &Options::default());
    assert_eq!(report.verdict(), Verdict::Holds, "{name}: {report:?}");
    // Folded and virtual rings pass ranks a second time; nothing else is wasted.
    let folds = ["folded", "mate", "wfr"].iter().any(|beginning| name.starts_with(beginning));
    assert!(report.totals().all(|(code, total)| total == 0 || (folds && code == Code::W001)), "{name}: {report:?}");
    let Solution { schedule, bounds, .. } = solution;
    assert_eq!(phases.last().map_or(0, |phase| phase.steps.end), schedule.step_count());
    Ok(Planned { schedule, phases, bounds })
}

/// The volume, and the sum of the loads of the phases.
pub fn figures(planner: &str, topology: &Topology, parts: u32) -> (Rational, Rational) {
    let plan = plan(planner, topology, parts).unwrap();
    let volume = Ratio::new(plan.schedule.total_width().into(), parts.into());
    (volume, Phase::total_load(&plan.phases))
}

/// The volume of HalfRing with DimRotation: that of its longest dimension.
pub fn intact_volume(extents: &[u32]) -> Rational {
    of_dim(extents, extents.iter().copied().max().unwrap())
}

/// The speed of a folded ring relative to an intact one.
fn r(k: u32) -> Rational {
    if k.is_multiple_of(2) { ratio(k, 4 * (k - 1)) } else { ratio(k + 1, 4 * k) }
}

/// The sum of the loads with a dead cable in dimension `dim`. On equal extents that is `T0 / r`, `T0 (1 + 1 / (D-1+r))`
/// and `T0 D / (D-1+r)`.
pub fn closed_form(planner: &str, extents: &[u32], dim: usize) -> Rational {
    let k = extents[dim];
    let r = if planner.contains("open") { ratio(1, 2) } else { r(k) };
    let speed = ratio(extents.len() as u32 - 1, 1) + r;
    // What all rings take, and those of this dimension alone.
    let (t0, own) = (intact_volume(extents), of_dim(extents, k));
    match planner {
        "folded_ring" | "open_ring" => t0.max(own / r),
        "mate" | "mate_open" => t0 + own / speed,
        "mate_e" | "mate_e_open" => t0 + left_over(extents, dim, r),
        _ => unreachable!("{planner}"),
    }
}

/// The same for `mate_e2` with dead cables in these dimensions that do not affect each other: an acceleration phase for
/// each. On equal extents with two of them that is `T0 (1 + 2 (1-r) / (D-1+r))`.
pub fn closed_form_of_each(extents: &[u32], dims: &[usize]) -> Rational {
    intact_volume(extents) + dims.iter().map(|&dim| left_over(extents, dim, r(extents[dim]))).sum::<Rational>()
}

/// The load that MATEe leaves to its acceleration phases.
fn left_over(extents: &[u32], dim: usize, r: Rational) -> Rational {
    let one = ratio(1, 1);
    let (t0, own) = (intact_volume(extents), of_dim(extents, extents[dim]));
    (one - (r * t0 / own).min(one)) * own / (ratio(extents.len() as u32 - 1, 1) + r)
}

/// The volume of HalfRing with DimRotation along the dimensions of this extent.
fn of_dim(extents: &[u32], k: u32) -> Rational {
    let n: u32 = extents.iter().product();
    if k.is_multiple_of(2) { ratio(n * k, 8) } else { ratio(n * (k * k - 1), 8 * k) }
}
