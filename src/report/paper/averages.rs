//! The paper's synthetic averages (its figure 11 and section 5.2): speed-ups over Ring and Pipeline without failures,
//! averaged over the bytes of a rank and over tori of two, three and four dimensions of 5.

use std::fmt::Write;

use collsynth_plan::cost::Line;
use collsynth_verify::report::table::Table;
use serde_json::{Value, json};

use super::cost_model::{Charge, Torus};

/// The extent of every dimension.
pub const EXTENT: u32 = 5;
/// The dimensions of the tori.
pub const DIMS: [u32; 3] = [2, 3, 4];
/// The planners that are measured, whether a cable failed, and the parts for each torus.
pub const PLANNERS: [(&str, bool, [u32; 3]); 9] = [
    ("dim_rotation", false, [2, 3, 1]),
    ("template", false, [1, 1, 1]),
    ("folded_ring", true, [2, 3, 1]),
    ("open_ring", true, [2, 3, 1]),
    ("mate", true, [26, 6, 1]),
    ("mate_open", true, [6, 6, 1]),
    ("mate_e", true, [26, 6, 1]),
    ("mate_e_open", true, [6, 6, 1]),
    ("negotiated", true, [9, 1, 1]),
];
/// The least bytes of a rank, for which the second schedule of each planner is made.
pub const LEAST_BYTES: u64 = 1 << 13;

/// 8 KiB to 2 GiB a rank, doubled again and again.
fn sizes() -> impl Iterator<Item = f64> {
    (13..=31).map(|power| f64::from(1_u32 << power))
}

/// The average speed-up over a baseline, for a time by the bytes of a message.
fn speedup(torus: Torus, base: Charge, seconds: impl Fn(f64) -> f64) -> f64 {
    let base = base.line();
    let ratio = |bytes: f64| at(base, bytes / torus.ranks()) / seconds(bytes / torus.ranks());
    let ratios: Vec<f64> = sizes().map(ratio).collect();
    ratios.iter().sum::<f64>() / ratios.len() as f64
}

fn at(line: Line, bytes: f64) -> f64 {
    line.fixed + line.per_byte * bytes
}

fn torus(dims: u32) -> Torus {
    Torus { extent: EXTENT, dims }
}

/// An algorithm of the paper.
#[derive(Clone, Debug)]
pub struct Stated {
    /// Its name there.
    pub algorithm: &'static str,
    /// The average that the paper states.
    pub paper: f64,
    /// The same by its cost model, on each torus.
    pub each: [f64; 3],
}

impl Stated {
    /// The average over the tori.
    pub fn average(&self) -> f64 {
        self.each.iter().sum::<f64>() / 3.0
    }

    /// How far the cost model is from what the paper states.
    pub fn difference(&self) -> f64 {
        self.average() / self.paper - 1.0
    }
}

/// The paper's averages beside its cost model.
pub fn stated() -> Vec<Stated> {
    /// An algorithm, the paper's average, and what it charges.
    type Charged = (&'static str, f64, fn(Torus) -> Charge);
    let charged: [Charged; 6] = [
        ("HalfRing + Pipeline", 1.56, Torus::half_ring_pipeline),
        ("Ring + DimRotation", 1.45, Torus::ring_rotation),
        ("HalfRing + DimRotation", 2.28, Torus::half_ring_rotation),
        ("FoldedRing + Pipeline, one cable", 0.55, Torus::folded_pipeline),
        ("FoldedRing + DimRotation, one cable", 0.67, Torus::folded_rotation),
        ("MATE, one cable", 1.36, Torus::mate),
    ];
    let over = |dims: u32, seconds: &dyn Fn(f64) -> f64| speedup(torus(dims), torus(dims).ring_pipeline(), seconds);
    let mut rows: Vec<Stated> = Vec::new();
    for (algorithm, paper, charge) in charged {
        let each = DIMS.map(|dims| over(dims, &|bytes| at(charge(torus(dims)).line(), bytes)));
        rows.push(Stated { algorithm, paper, each });
    }
    let each = DIMS.map(|dims| over(dims, &|bytes| torus(dims).mate_e(bytes)));
    rows.push(Stated { algorithm: "MATEe, one cable", paper: 1.37, each });
    rows
}

/// The time of a planner's schedules by the bytes of a message.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// As the paper charges.
    pub phases: Line,
    /// With a start-up for every step: of the finest grain, and of one for small messages. The faster counts.
    pub steps: [Line; 2],
}

impl Times {
    /// Average speed-ups on the torus with this many dimensions, charged as in the paper and by steps. The baseline is
    /// charged the same way.
    pub fn speedups(&self, dims: u32) -> [f64; 2] {
        let torus = torus(dims);
        let by_steps = |bytes: f64| at(self.steps[0], bytes).min(at(self.steps[1], bytes));
        [
            speedup(torus, torus.ring_pipeline(), |bytes| at(self.phases, bytes)),
            speedup(torus, torus.ring_pipeline_in_steps(), by_steps),
        ]
    }
}

/// A planner of ours, measured in the same terms.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The planner.
    pub planner: &'static str,
    /// Whether a cable along x failed.
    pub broken: bool,
    /// The parts of a message on each torus.
    pub parts: [u32; 3],
    /// The average speed-ups, by phases and by steps, on each torus that it was planned on.
    pub each: [Option<[f64; 2]>; 3],
}

impl Measured {
    /// The averages over the tori; `None` unless it was planned on all of them.
    pub fn averages(&self) -> Option<[f64; 2]> {
        let all = self.each.iter().copied().collect::<Option<Vec<[f64; 2]>>>()?;
        Some([0, 1].map(|rule| all.iter().map(|each| each[rule]).sum::<f64>() / 3.0))
    }
}

fn names() -> [String; 3] {
    DIMS.map(|dims| vec![EXTENT.to_string(); dims as usize].join("x"))
}

fn cable(broken: bool) -> &'static str {
    if broken { "x" } else { "none" }
}

/// Tables for people.
pub fn to_text(measured: &[Measured]) -> String {
    let [two, three, four] = names();
    let headings = ["algorithm", "paper", "by its cost model", "difference", &two, &three, &four];
    let mut by_model = Table::new(&headings).indented(2);
    for row in stated() {
        let mut cells = vec![row.algorithm.to_owned(), row.paper.to_string(), format!("{:.3}", row.average())];
        cells.push(format!("{:+.1} %", row.difference() * 100.0));
        cells.extend(row.each.map(|speedup| format!("{speedup:.3}")));
        by_model.row(cells);
    }
    let mut headings = vec!["planner".to_owned(), "dead cable".to_owned(), "parts".to_owned()];
    for name in names().iter().map(String::as_str).chain(["average"]) {
        headings.extend([format!("{name}, phases"), "steps".to_owned()]);
    }
    let mut planned = Table::of(headings).indented(2);
    let figure = |speedups: Option<[f64; 2]>, rule: usize| {
        speedups.map_or("-".to_owned(), |speedups| format!("{:.3}", speedups[rule]))
    };
    for row in measured {
        let parts = row.parts.map(|parts| parts.to_string()).join(", ");
        let mut cells = vec![row.planner.to_owned(), cable(row.broken).to_owned(), parts];
        for speedups in row.each.into_iter().chain([row.averages()]) {
            cells.extend([0, 1].map(|rule| figure(speedups, rule)));
        }
        planned.row(cells);
    }
    format!(
        "all_to_all: speed-ups over Ring + Pipeline without failures, averaged over 8 KiB to 2 GiB a rank\n\
         as Qin et al., MICRO 2025, state them, and by their cost model:\n{by_model}\
         planned and verified; charged by phases, and by steps:\n{planned}"
    )
}

/// A line for each algorithm and planner.
pub fn to_csv(measured: &[Measured]) -> String {
    let mut out = format!("algorithm,charged,dead_cable,paper,{},average\n", names().join(","));
    for Stated { algorithm, paper, each } in stated() {
        let broken = algorithm.contains("one cable");
        let algorithm = algorithm.replace(", one cable", "");
        let average = each.iter().sum::<f64>() / 3.0;
        let _ = writeln!(
            out,
            "{algorithm},cost model,{},{paper},{},{average}",
            cable(broken),
            each.map(|each| each.to_string()).join(",")
        );
    }
    for row in measured {
        for (rule, charged) in ["phases", "steps"].into_iter().enumerate() {
            let figure = |speedups: Option<[f64; 2]>| speedups.map_or(String::new(), |all| all[rule].to_string());
            let each = row.each.map(figure).join(",");
            let _ = writeln!(out, "{},{charged},{},,{each},{}", row.planner, cable(row.broken), figure(row.averages()));
        }
    }
    out
}

/// The same as JSON.
pub fn to_json(measured: &[Measured]) -> Value {
    let by_model = stated().into_iter().map(|row| {
        json!({
            "algorithm": row.algorithm,
            "paper": row.paper,
            "cost_model": row.average(),
            "each": row.each,
        })
    });
    let planned = measured.iter().map(|row| {
        let of = |rule: usize| row.each.map(|each| each.map(|speedups| speedups[rule]));
        json!({
            "planner": row.planner,
            "dead_cable": row.broken.then_some("x"),
            "parts": row.parts,
            "phases": of(0),
            "steps": of(1),
            "average_phases": row.averages().map(|averages| averages[0]),
            "average_steps": row.averages().map(|averages| averages[1]),
        })
    });
    json!({ "tori": names(), "stated": by_model.collect::<Vec<_>>(), "planned": planned.collect::<Vec<_>>() })
}
