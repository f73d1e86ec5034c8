//! `synth compare --paper`: what MICRO 2025 states, planned anew: the table of docs/results/results.md beside its
//! closed forms, and the averages of docs/results/paper-comparison.md.

use collsynth::certificate::Rational;
use collsynth::collective::{Collective, Kind};
use collsynth::cost::{Bandwidth, Price, Rates};
use collsynth::plan::{Control, Goal, Parts, StopReason, synthesize};
use collsynth::problem::Problem;
use collsynth::report::comparison::Entry;
use collsynth::report::paper::averages::{DIMS, EXTENT, LEAST_BYTES, Measured, PLANNERS, Times};
use collsynth::report::paper::cost_model::{ALPHA, BANDWIDTH};
use collsynth::report::paper::{CABLE, Line, TORI};
use collsynth::schedule::Solution;
use collsynth::topology::Topology;
use collsynth::verify::Verified;
use collsynth::{PlanError, Request};

use crate::cli::arguments::plan::named;
use crate::cli::commands::planning::plan;
use crate::cli::ending::Failure;
use crate::cli::io::progress::{Ticker, figures};

/// Plans and verifies all-to-all on each torus of the table; those that are done when time is up.
pub fn lines(control: &Control, seed: u64, ticker: &Ticker) -> Result<Vec<Line>, Failure> {
    let mut lines = Vec::new();
    for (extents, parts) in TORI {
        let intact = Topology::torus(extents).map_err(Failure::usage)?;
        let broken = intact.clone().fail_cable(CABLE.0, CABLE.1).map_err(Failure::usage)?;
        let planned = |parts: u32| -> Result<Option<Verified<Solution>>, Failure> {
            ticker.say(format!("{extents:?} in {parts} parts"));
            let request = Request::new(&broken, Kind::AllToAll).parts(Parts::Fixed(parts)).seed(seed);
            match request.control(control.clone()).run() {
                Ok(planned) => plan::verified(planned.into_inner(), None).map(|verified| Some(verified.expand())),
                Err(PlanError::Stopped { .. }) => Ok(None),
                Err(error) => Err(Failure::of_plan(&error, &broken)),
            }
        };
        let (Some(whole), Some(fine)) = (planned(1)?, planned(parts)?) else { break };
        // What was cut short is no figure of the table.
        if control.stop().is_some() {
            break;
        }
        let line = Line::new(extents, least_volume(intact, control)?, &whole, &fine);
        ticker.best(figures(line.fine.steps.0, line.fine.volume.0));
        lines.push(line);
    }
    Ok(lines)
}

/// The bound on the volume of all-to-all.
fn least_volume(topology: Topology, control: &Control) -> Result<Rational, Failure> {
    let problem = Problem::new(topology, Collective::new(Kind::AllToAll))?;
    let bounds = control.bounds(&problem).map_err(|error| Failure::of_plan(&error, problem.topology()))?;
    Ok(bounds.volume.map_or(Rational::from(0), |bound| bound.at_least))
}

/// Plans and verifies what is measured for the averages, the smallest torus first; as far as the time allows.
pub fn averages(control: &Control, seed: u64, ticker: &Ticker) -> Result<Vec<Measured>, Failure> {
    let rows = PLANNERS.map(|(planner, broken, parts)| Measured { planner, broken, parts, each: [None; 3] });
    let mut measured: Vec<Measured> = rows.into();
    for (at, dims) in DIMS.into_iter().enumerate() {
        let extents = vec![EXTENT; dims as usize];
        let intact = Topology::torus(&extents).map_err(Failure::usage)?;
        let broken = intact.clone().fail_cable(CABLE.0, CABLE.1).map_err(Failure::usage)?;
        for row in &mut measured {
            ticker.say(format!("{} on {extents:?}", row.planner));
            let topology = if row.broken { &broken } else { &intact };
            let times = times(row.planner, topology, row.parts[at], seed, control)?;
            row.each[at] = times.map(|times| times.speedups(dims));
            if control.stop().is_some() {
                return Ok(measured);
            }
        }
    }
    Ok(measured)
}

/// The times of a planner's schedules: of the finest grain, and in phases also of the best for the least bytes. `None`
/// if time was up before.
fn times(
    planner: &str,
    topology: &Topology,
    parts: u32,
    seed: u64,
    control: &Control,
) -> Result<Option<Times>, Failure> {
    let rates = Rates { alpha: ALPHA, transfer_setup: 0.0, bandwidth: Bandwidth::Uniform(BANDWIDTH) };
    let plan = |price: Option<Price>| -> Result<Option<Entry>, Failure> {
        let goal = Goal { planner: Some(named(planner)?), parts: Parts::Fixed(parts), price, seed, ..Goal::default() };
        match synthesize(topology, &Kind::AllToAll, &goal, control) {
            Ok(plan) if plan.stopped != StopReason::Finished => Ok(None),
            Ok(plan) => {
                let account = plan.account.clone();
                let verified = plan::verified(plan, None)?;
                Ok(Some(Entry::new(&verified, planner, account.phases(), &rates, String::new())))
            }
            Err(PlanError::Stopped { .. }) => Ok(None),
            Err(error) => Err(Failure::of_plan(&error, topology)),
        }
    };
    let Some(fine) = plan(None)? else { return Ok(None) };
    let Some(phased) = fine.phased else {
        return Ok(Some(Times { phases: fine.time, steps: [fine.time; 2] }));
    };
    let message_bytes = (LEAST_BYTES / topology.rank_count() as u64).max(1);
    let price = Price { message_bytes, alpha: ALPHA, bandwidth: BANDWIDTH };
    let coarse = plan(Some(price))?;
    Ok(coarse.map(|coarse| Times { phases: phased.time, steps: [fine.time, coarse.time] }))
}
