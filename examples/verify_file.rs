//! Verifies a schedule file from any source: `cargo run --example verify_file [FILE]`.

use std::error::Error;
use std::path::PathBuf;

use collsynth::Verified;
use collsynth::format::{file, json};
use collsynth::limits;
use collsynth::verify::Options;

fn main() -> Result<(), Box<dyn Error>> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/schedules/all-gather-ring.json");
    let path = std::env::args_os().nth(1).map_or(PathBuf::from(own), PathBuf::from);
    let solution = json::parse_solution(&file::read_text(&path, limits::FILE)?)?;
    match Verified::new(solution, &Options::default()) {
        Ok(verified) => println!("holds: {} steps", verified.schedule.step_count()),
        Err(rejected) => {
            for violation in &rejected.report.violations {
                println!("{}: {}", violation.code, violation.message);
            }
            return Err(rejected);
        }
    }
    Ok(())
}
