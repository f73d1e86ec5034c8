//! Reads bounds that no schedule can beat, and checks their certificates independently.

use std::error::Error;

use collsynth::certificate::{check_steps, check_volume};
use collsynth::collective::Collective;
use collsynth::problem::Problem;
use collsynth::{Kind, Topology, bound};

fn main() -> Result<(), Box<dyn Error>> {
    let torus = Topology::torus(&[4, 4, 4])?.fail_cable(2, 3)?;
    let problem = Problem::new(torus, Collective::new(Kind::AllToAll))?;
    let bounds = bound::find(&problem)?;
    if let Some(steps) = &bounds.steps {
        check_steps(&problem, steps)?;
        println!("at least {} steps: rank {} needs data of rank {}", steps.at_least, steps.to, steps.from);
    }
    if let Some(volume) = &bounds.volume {
        check_volume(&problem, volume)?;
        println!("volume at least {}", volume.at_least);
        println!("whole messages: total width at least {}", bounds.least_width(1));
    }
    for finding in bound::findings(&problem)? {
        println!("{}: {}", finding.name, finding.words);
    }
    Ok(())
}
