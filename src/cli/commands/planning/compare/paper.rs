//! `synth compare --paper`: the table of docs/results/results.md beside the closed forms of MICRO 2025, planned anew.

use collsynth::certificate::Rational;
use collsynth::collective::{Collective, Kind};
use collsynth::plan::{Control, Parts};
use collsynth::problem::Problem;
use collsynth::report::paper::{CABLE, Line, TORI};
use collsynth::schedule::Solution;
use collsynth::topology::Topology;
use collsynth::verify::Verified;
use collsynth::{PlanError, Request};

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
