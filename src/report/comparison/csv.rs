//! The comparison as CSV: a line for each schedule and message size, and one for each planner without a schedule.
//!
//! | column | meaning |
//! |---|---|
//! | `machine`, `failures` | what it was planned for; the failures as they would be typed |
//! | `planner`, `parts`, `steps` | its planner, parts and steps |
//! | `volume`, `ratio` | the volume in messages, exactly (`1024/31`), and over the best bound for as many parts |
//! | `held` | the most chunks a rank holds at a time |
//! | `message_bytes`, `seconds` | a size, and the time for it |
//! | `algbw`, `busbw` | bytes per second |
//! | `speedup`, `baseline` | over which planner's schedule: one baseline for each machine |
//! | `phases`, `phase_seconds` | of algorithms of phases: their number, and the time by the rule of their papers |
//! | `phase_speedup` | over the baseline by the same rule |
//! | `refusal` | why there is no schedule; the columns from `parts` on are then empty |
//!
//! Where a planner without a schedule has a price by the rule of its paper, lines before that of its refusal have
//! `message_bytes`, `phases`, `phase_seconds` and `phase_speedup`.

use std::fmt::Write;

use super::text::name;
use super::{Comparison, Machine};

const HEADING: &str = "machine,failures,planner,parts,steps,volume,ratio,held,message_bytes,seconds,algbw,\
     busbw,speedup,baseline,phases,phase_seconds,phase_speedup,refusal\n";

impl Comparison {
    /// The text of the table, with a heading.
    pub fn to_csv(&self) -> String {
        let mut out = HEADING.to_owned();
        for machine in &self.machines {
            self.write_machine(&mut out, machine);
        }
        out
    }

    fn write_machine(&self, out: &mut String, machine: &Machine) {
        let optional = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let (machine_name, failures) = (quoted(&name(machine)), quoted(&machine.failures));
        let baseline = machine.baseline.as_ref().map_or(String::new(), |baseline| quoted(&baseline.name));
        for entry in &machine.entries {
            let held = entry.held.map_or(String::new(), |held| held.chunks.to_string());
            let ratio = optional(machine.ratio(entry));
            let phases = entry.phased.map_or(String::new(), |phased| phased.phases.to_string());
            for &size in &self.sizes {
                let phase_seconds = optional(entry.phased.map(|phased| phased.time.seconds(size)));
                let time = entry.time.seconds(size);
                let bandwidths = machine.bandwidths(entry, size);
                let (algbw, busbw) = (optional(bandwidths.map(|both| both.0)), optional(bandwidths.map(|both| both.1)));
                let speedup = optional(machine.speedup(entry, size));
                let by_phases = entry.phased.and_then(|phased| machine.phase_speedup(&phased, size));
                let phase_speedup = optional(by_phases);
                let (planner, parts, steps, volume) = (quoted(&entry.planner), entry.parts, entry.steps, entry.volume);
                let _ = writeln!(
                    out,
                    "{machine_name},{failures},{planner},{parts},{steps},{volume},{ratio},{held},{size},{time},\
                     {algbw},{busbw},{speedup},{baseline},{phases},{phase_seconds},{phase_speedup},"
                );
            }
        }
        for charged in &machine.charged {
            let (planner, phases) = (charged.planner, charged.phased.phases);
            for &size in &self.sizes {
                let seconds = charged.phased.time.seconds(size);
                let speedup = optional(machine.phase_speedup(&charged.phased, size));
                let _ = writeln!(
                    out,
                    "{machine_name},{failures},{planner},,,,,,{size},,,,,{baseline},{phases},{seconds},{speedup},"
                );
            }
        }
        for refusal in &machine.refusals {
            let (planner, reason) = (quoted(&refusal.planner), quoted(&refusal.reason.replace('\n', " ")));
            let _ = writeln!(out, "{machine_name},{failures},{planner},,,,,,,,,,,,,,,{reason}");
        }
    }
}

/// A field as RFC 4180 has it: in quotes if it holds a comma or a quote.
pub(crate) fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}
