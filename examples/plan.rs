//! Plans an all-reduce, verifies it, and writes it to a file.

use std::error::Error;
use std::time::Duration;

use collsynth::format::file;
use collsynth::{Kind, Parts, Request, Topology};

fn main() -> Result<(), Box<dyn Error>> {
    let torus = Topology::torus(&[4, 4])?;
    let plan = Request::new(&torus, Kind::AllReduce).parts(Parts::Auto).time_limit(Duration::from_secs(5)).run()?;
    println!("planned by {}, {:?}", plan.planner, plan.stopped);
    let verified = plan.verify()?;
    let (parts, width) = (verified.problem.parts(), verified.schedule.total_width());
    println!("{} steps, volume {width}/{parts}", verified.schedule.step_count());

    let path = std::env::temp_dir().join(format!("all-reduce-{}.json", std::process::id()));
    file::write_atomic(&path, verified.to_json().as_bytes())?;
    println!("written to {}", path.display());
    std::fs::remove_file(path)?;
    Ok(())
}
