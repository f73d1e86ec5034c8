//! Verified schedules in the terms of the averages: the named algorithms, and planning without a name.

use collsynth::certificate::Rational;
use collsynth::cost::Line;
use collsynth::report::paper::averages::{DIMS, LEAST_BYTES, Measured, PLANNERS, Times};
use collsynth::report::paper::cost_model::{ALPHA, BANDWIDTH};

use crate::support::pages::float;
use crate::support::plans::Cable;

use super::closed_forms::load;
use super::page::Page;
use super::planned::{Planned, plan_both, torus};

/// The dead cable of planners around one.
const X: &[Cable] = &[(0, 0)];

fn cables(broken: bool) -> &'static [Cable] {
    if broken { X } else { &[] }
}

/// What a schedule of 5x5x5x5 comes to: planning its 625 ranks takes too long for every run of the tests.
/// [`recorded_figures_are_planned_again`] plans them.
struct Recorded {
    planner: &'static str,
    /// Steps and volume of the finest grain, then of the grain for 8 KiB a rank.
    steps: [usize; 2],
    volume: [u32; 2],
    /// The sum of the loads of the phases, and their start-ups; without phases, volume and steps.
    load: u32,
    startups: u32,
}

const RECORDED: &[Recorded] = &[
    Recorded { planner: "dim_rotation", steps: [8, 8], volume: [380, 380], load: 380, startups: 4 },
    Recorded { planner: "folded_ring", steps: [43, 28], volume: [1250, 1531], load: 1250, startups: 16 },
    Recorded { planner: "open_ring", steps: [18, 16], volume: [750, 752], load: 750, startups: 4 },
    Recorded { planner: "mate", steps: [104, 36], volume: [508, 577], load: 500, startups: 20 },
    Recorded { planner: "mate_open", steps: [96, 24], volume: [498, 600], load: 491, startups: 16 },
    Recorded { planner: "mate_e", steps: [112, 56], volume: [472, 586], load: 464, startups: 32 },
    Recorded { planner: "mate_e_open", steps: [72, 32], volume: [448, 497], load: 441, startups: 16 },
    Recorded { planner: "negotiated", steps: [8, 8], volume: [377, 377], load: 377, startups: 8 },
];

fn both(planner: &str, cables: &[Cable], dims: usize, parts: u32) -> [Planned; 2] {
    plan_both(planner, &torus(&vec![5; dims], cables), [parts; 2], LEAST_BYTES, BANDWIDTH).unwrap()
}

fn times(planner: &str, cables: &[Cable], dims: u32, parts: u32) -> Times {
    let dims = dims as usize;
    let line = |startups: usize, volume: f64| Line { fixed: ALPHA * startups as f64, per_byte: volume / BANDWIDTH };
    let recorded = RECORDED.iter().find(|recorded| dims == 4 && recorded.planner == planner);
    match recorded {
        Some(recorded) => {
            let steps = [0, 1].map(|grain| line(recorded.steps[grain], recorded.volume[grain].into()));
            Times { phases: line(recorded.startups as usize, recorded.load.into()), steps }
        }
        None => {
            let planned = both(planner, cables, dims, parts);
            let closed = load(planner, &vec![5; dims], 0).unwrap_or(planned[0].load);
            assert!(near(planned[0].load, closed), "{planner} on 5^{dims}: {} for {closed}", planned[0].load);
            let steps = [0, 1].map(|grain| planned[grain].by_steps(BANDWIDTH));
            Times { phases: planned[0].by_phases(BANDWIDTH), steps }
        }
    }
}

/// Shares rounded to whole chunks may add this much to a closed form.
fn near(load: Rational, closed: Rational) -> bool {
    load >= closed && float(load / closed) < 1.03
}

pub fn write(page: &mut Page) {
    page.text(
        "\n### The same, planned and verified\n\n\
         Schedules of `synth` in the same terms: every transfer of every step, accepted by the verifier.\n\
         *Phases*: charged as above, as is the baseline. *Steps*: a start-up for every step and the sum of all\n\
         widths, store-and-forward; also for the baseline, `ring_pipeline` in `(6 + D - 1) 4` steps. Of two\n\
         schedules of each algorithm, with the finest grain and with the best for 8 KiB per rank, the faster\n\
         counts for each size. `template` and `negotiated` have no phases: in both columns they pay for every\n\
         step. The dead cable, if any, is along x. With few parts the shares of MATE are rounded, at most 3 %\n\
         above its closed form. 5x5x5x5 was planned once, except for `template` (an ignored test does it\n\
         again; `negotiated` takes 18 s of a core); every run checks its figures against closed forms and\n\
         bounds.\n",
    );
    let headings = [
        "planner",
        "dead cable",
        "parts",
        "5x5, phases",
        "steps",
        "5x5x5, phases",
        "steps",
        "5x5x5x5, phases",
        "steps",
        "average, phases",
        "steps",
    ];
    page.table(&headings);
    for (planner, broken, parts) in PLANNERS {
        let each = [0, 1, 2].map(|at| Some(times(planner, cables(broken), DIMS[at], parts[at]).speedups(DIMS[at])));
        let row = Measured { planner, broken, parts, each };
        let dead = if broken { "x" } else { "none" };
        let mut cells = vec![format!("`{planner}`"), dead.to_owned(), parts.map(|parts| parts.to_string()).join(", ")];
        let speedups = row.each.into_iter().flatten().chain(row.averages()).flatten();
        cells.extend(speedups.map(|speedup| format!("{speedup:.3}")));
        page.row(cells);
    }
    page.text(
        "\nOn 5x5x5x5 with a dead cable, `negotiated` takes 8 steps, the diameter, and whole messages of volume\n\
         377; no schedule of whole messages takes fewer steps or less volume (bound 31250/83 = 376.506).\n",
    );
}

/// Recorded figures are at least possible: not below bounds, nor far from closed forms.
#[test]
fn recorded_figures_are_possible() {
    let extents = [5; 4];
    let bounds = collsynth::bound::find(&problem(&torus(&extents, X))).unwrap();
    let least = bounds.volume.unwrap().at_least;
    for recorded in RECORDED {
        let whole = |figure: u32| Rational::from(i128::from(figure));
        let planner = recorded.planner;
        let Recorded { volume: [fine, coarse], steps: [many, few], .. } = *recorded;
        assert!(recorded.load <= fine && fine <= coarse && few <= many && few >= 8, "{planner}");
        match load(planner, &extents, 0) {
            Some(closed) => assert!(near(whole(recorded.load), closed), "{planner}: {closed}"),
            // Optimal: the diameter, and the bound rounded up.
            None => assert_eq!((many, whole(fine)), (8, least.ceil()), "{planner}"),
        }
    }
}

fn problem(topology: &collsynth::topology::Topology) -> collsynth::problem::Problem {
    let collective = collsynth::collective::Collective { kind: collsynth::collective::Kind::AllToAll, parts: 1 };
    collsynth::problem::Problem::new(topology.clone(), collective).unwrap()
}

/// `cargo test --release --test pages -- --ignored recorded --nocapture`
#[test]
#[ignore = "plans for minutes"]
fn recorded_figures_are_planned_again() {
    let rows = || PLANNERS.iter().filter(|(planner, ..)| *planner != "template");
    let planned: Vec<[Planned; 2]> =
        rows().map(|&(planner, broken, parts)| both(planner, cables(broken), 4, parts[2])).collect();
    for ((planner, ..), [fine, coarse]) in rows().zip(&planned) {
        let (steps, volumes) =
            ([fine.steps, coarse.steps], [fine.volume, coarse.volume].map(|volume| volume.to_string()));
        println!("{planner}: steps {steps:?}, volume {volumes:?}, load {}, {} start-ups", fine.load, fine.startups);
    }
    for ((planner, ..), [fine, coarse]) in rows().zip(&planned) {
        let recorded = RECORDED.iter().find(|recorded| recorded.planner == *planner).unwrap();
        assert_eq!([fine.steps, coarse.steps], recorded.steps, "{planner}");
        assert_eq!([fine.volume, coarse.volume], recorded.volume.map(|volume| i128::from(volume).into()), "{planner}");
        assert_eq!((fine.load, fine.startups), (i128::from(recorded.load).into(), recorded.startups), "{planner}");
    }
}
