//! All-to-all around one failed cable, beside the closed forms of Qin et al., "Optimizing All-to-All Collective
//! Communication with Fault Tolerance on Torus Networks", MICRO 2025, for tori of equal extents.
//!
//! The closed forms are volumes alone: the load of the fullest link in each phase, without start-ups.

pub mod averages;
pub mod cost_model;

use std::fmt::Write;

use serde_json::{Value, json};

use collsynth_core::certificate::Rational;
use collsynth_core::schedule::Solution;
use collsynth_verify::claim::volume;
use collsynth_verify::report::figures::{decimal, exact_and_decimal, times};
use collsynth_verify::report::table::Table;

/// The tori, and the parts in which a schedule meets the bound.
pub const TORI: [(&[u32], u32); 5] = [(&[4, 4], 7), (&[5, 5], 9), (&[8, 8], 15), (&[4, 4, 4], 31), (&[5, 5, 5], 49)];
/// The cable that failed.
pub const CABLE: (u32, u32) = (0, 1);

/// The volumes of the paper, in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedForms {
    /// MATEe: neighbors carry what the broken ring cannot.
    pub mate_e: Rational,
    /// MATE.
    pub mate: Rational,
    /// FoldedRing with DimRotation.
    pub folded_ring: Rational,
}

/// A torus, planned.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its extents.
    pub extents: Vec<u32>,
    /// The least volume before the cable failed.
    pub intact: Rational,
    /// The least volume of any schedule.
    pub bound: Rational,
    /// With whole messages.
    pub whole: Reached,
    /// With messages in parts.
    pub fine: Reached,
    /// The paper's figures.
    pub closed: ClosedForms,
}

/// The figures of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Its parts.
    pub parts: u32,
    /// Its steps, and whether they are the fewest of any schedule.
    pub steps: (usize, bool),
    /// Its volume, and whether it is the least in these parts.
    pub volume: (Rational, bool),
}

impl ClosedForms {
    /// On a torus of these equal extents, whose least volume was `intact` before a cable failed.
    pub fn new(extents: &[u32], intact: Rational) -> Self {
        let (k, d) = (i128::from(extents[0]), extents.len() as i128);
        // What half a ring carries, over what the folded ring carries.
        let r = if k % 2 == 0 { Rational::new(k, 4 * (k - 1)) } else { Rational::new(k + 1, 4 * k) };
        let one = Rational::from(1);
        let share = one / (Rational::from(d - 1) + r);
        Self { mate_e: intact * Rational::from(d) * share, mate: intact * (one + share), folded_ring: intact / r }
    }
}

impl Reached {
    fn new(solution: &Solution) -> Self {
        let Solution { problem, schedule, bounds, .. } = solution;
        let (parts, steps) = (problem.parts(), schedule.step_count());
        let least = schedule.total_width() == u64::from(bounds.least_width(parts));
        let fewest = steps as u64 == u64::from(bounds.least_steps());
        Self { parts, steps: (steps, fewest), volume: (volume(problem, schedule), least) }
    }

    fn to_json(self) -> Value {
        json!({
            "parts": self.parts,
            "steps": self.steps.0,
            "volume": self.volume.0.to_string(),
            "volume_decimal": decimal(self.volume.0),
            "certified": self.steps.1 && self.volume.1,
        })
    }
}

impl Line {
    /// From two verified schedules, in whole messages and in parts, and the volume bound of the intact torus.
    pub fn new(extents: &[u32], intact: Rational, whole: &Solution, fine: &Solution) -> Self {
        let bound = whole.bounds.volume.as_ref().map_or(Rational::from(0), |bound| bound.at_least);
        let (whole, fine) = (Reached::new(whole), Reached::new(fine));
        Self { extents: extents.to_vec(), intact, bound, whole, fine, closed: ClosedForms::new(extents, intact) }
    }

    fn name(&self) -> String {
        self.extents.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
    }
}

/// A table for people; a star marks what is certified.
pub fn to_text(lines: &[Line]) -> String {
    let star = |text: String, certified: bool| if certified { format!("{text} *") } else { text };
    let short =
        |value: Rational| format!("{:.3}", decimal(value)).trim_end_matches('0').trim_end_matches('.').to_owned();
    let mut table = Table::new(&[
        "torus",
        "intact",
        "bound",
        "steps",
        "volume",
        "parts",
        "steps",
        "volume",
        "MATEe",
        "MATE",
        "FoldedRing",
        "MATEe/ours",
    ])
    .indented(2);
    for line in lines {
        let mut cells = vec![line.name(), short(line.intact), exact_and_decimal(line.bound)];
        for (index, Reached { parts, steps, volume }) in [line.whole, line.fine].into_iter().enumerate() {
            cells.extend((index > 0).then(|| parts.to_string()));
            cells.extend([star(steps.0.to_string(), steps.1), star(short(volume.0), volume.1)]);
        }
        let ClosedForms { mate_e, mate, folded_ring } = line.closed;
        cells.extend([mate_e, mate, folded_ring].map(short));
        cells.push(format!("{:.2}x", times(mate_e, line.fine.volume.0)));
        table.row(cells);
    }
    format!(
        "all_to_all with the cable {}-{} failed, in whole messages and in parts: volumes in messages per link\n\
         {table}* certified optimal for its parts; MATEe, MATE, FoldedRing + DimRotation: closed forms of Qin et al., \
         MICRO 2025, without start-ups\n",
        CABLE.0, CABLE.1
    )
}

/// A line for each torus and number of parts.
pub fn to_csv(lines: &[Line]) -> String {
    let mut out = "torus,intact,bound,parts,steps,volume,certified,mate_e,mate,folded_ring\n".to_owned();
    for line in lines {
        let ClosedForms { mate_e, mate, folded_ring } = line.closed;
        for Reached { parts, steps, volume } in [line.whole, line.fine] {
            let certified = steps.1 && volume.1;
            let _ = writeln!(
                out,
                "{},{},{},{parts},{},{},{certified},{mate_e},{mate},{folded_ring}",
                line.name(),
                line.intact,
                line.bound,
                steps.0,
                volume.0
            );
        }
    }
    out
}

/// The same as JSON.
pub fn to_json(lines: &[Line]) -> Value {
    let one = |line: &Line| {
        json!({
            "torus": line.name(),
            "failed_cable": [CABLE.0, CABLE.1],
            "intact": line.intact.to_string(),
            "bound": line.bound.to_string(),
            "whole": line.whole.to_json(),
            "fine": line.fine.to_json(),
            "paper": {
                "mate_e": line.closed.mate_e.to_string(),
                "mate": line.closed.mate.to_string(),
                "folded_ring": line.closed.folded_ring.to_string(),
            },
        })
    };
    json!({ "tori": lines.iter().map(one).collect::<Vec<Value>>() })
}
