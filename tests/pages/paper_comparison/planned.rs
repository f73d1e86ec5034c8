//! Machines, and verified schedules on them, reduced to figures.

use collsynth::certificate::Rational;
use collsynth::collective::{Collective, Kind};
use collsynth::cost::{Bandwidth, Line, Price, Rates};
use collsynth::plan::{Phase, PlanError};
use collsynth::problem::Problem;
use collsynth::schedule::Solution;
use collsynth::topology::{Topology, Torus, dim_name};
use collsynth::verify::{Options, Verified};
use num_rational::Ratio;

use crate::support::pages::float;
use crate::support::plans::{Cable, planned_alone, without};

/// Seconds of a start-up.
pub const ALPHA: f64 = 100e-9;

/// A verified schedule.
#[derive(Clone, Debug)]
pub struct Planned {
    pub steps: usize,
    pub volume: Rational,
    /// The sum of the loads of the phases; without phases, the volume.
    pub load: Rational,
    /// The start-ups of its phases; without phases, the steps.
    pub startups: u32,
    /// The phases of its algorithm.
    pub phases: usize,
    /// The best bound on the volume.
    pub bound: Rational,
    pub transfers: usize,
    /// The most a rank holds at a time, in messages.
    pub held: f64,
}

impl Planned {
    /// Its time by bytes of a message, where every step pays a start-up.
    pub fn by_steps(&self, bandwidth: f64) -> Line {
        rates(bandwidth).phased(self.steps as u32, float(self.volume))
    }

    /// The same as the paper charges: a start-up for each link of the longest logical edge of a phase, and the loads.
    pub fn by_phases(&self, bandwidth: f64) -> Line {
        rates(bandwidth).phased(self.startups, float(self.load))
    }

    /// A cell for phased schedules only.
    pub fn of_phases(&self, cell: impl ToString) -> String {
        if self.phases > 0 { cell.to_string() } else { "-".to_owned() }
    }
}

fn rates(bandwidth: f64) -> Rates {
    Rates { alpha: ALPHA, transfer_setup: 0.0, bandwidth: Bandwidth::Uniform(bandwidth) }
}

pub fn torus(extents: &[u32], cables: &[Cable]) -> Topology {
    without(Torus::new(extents), cables)
}

/// Plans an all-to-all for the least volume and has it verified.
pub fn plan(planner: &str, topology: &Topology, parts: u32) -> Result<Planned, PlanError> {
    plan_for(planner, topology, &Kind::AllToAll, parts, None)
}

/// Plans for a price, if there is one, and has the schedule verified.
pub fn plan_for(
    planner: &str,
    topology: &Topology,
    kind: &Kind,
    parts: u32,
    price: Option<Price>,
) -> Result<Planned, PlanError> {
    let problem = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts })?;
    let (solution, phases) = planned_alone(planner, problem, price)?;
    let verified = Verified::<Solution>::new(solution, &Options::default()).expect("planners are right");
    let held = verified.report().observed.as_ref().unwrap().held.chunks as f64 / f64::from(parts);
    let (steps, volume) =
        (verified.schedule.step_count(), Ratio::new(verified.schedule.total_width().into(), parts.into()));
    let (load, startups) = match phases.is_empty() {
        true => (volume, steps as u32),
        false => (Phase::total_load(&phases), Phase::total_startups(&phases)),
    };
    let bound = verified.bounds.volume.as_ref().unwrap().at_least;
    let transfers = verified.schedule.transfers().len();
    Ok(Planned { steps, volume, load, startups, phases: phases.len(), bound, transfers, held })
}

/// The schedule in `fine` parts, and the best for this many bytes in `coarse` parts; without phases, the first twice.
pub fn plan_both(
    planner: &str,
    topology: &Topology,
    [fine, coarse]: [u32; 2],
    bytes: u64,
    bandwidth: f64,
) -> Result<[Planned; 2], PlanError> {
    let finest = plan(planner, topology, fine)?;
    if finest.phases == 0 {
        return Ok([finest.clone(), finest]);
    }
    let message_bytes = (bytes / topology.rank_count() as u64).max(1);
    let price = Some(Price { message_bytes, alpha: ALPHA, bandwidth });
    Ok([finest, plan_for(planner, topology, &Kind::AllToAll, coarse, price)?])
}

/// Cables as people write them: `0 x, 38 y`.
pub fn places(cables: &[Cable]) -> String {
    cables.iter().map(|&(rank, dim)| format!("{rank} {}", dim_name(dim))).collect::<Vec<_>>().join(", ")
}
