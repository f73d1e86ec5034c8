//! docs/results/phased.md holds the figures of this build. `SYNTH_UPDATE_RESULTS=1 cargo test --test pages phased`
//! writes it anew.

use std::fmt::Write;

use collsynth::certificate::Rational;
use collsynth::plan::Phase;
use collsynth::topology::{Topology, Torus};
use num_rational::Ratio;

use crate::support::pages::{decimal, float, hold, name, sections};
use crate::support::plans::{Cable, ratio, without};

use super::machine::{closed_form, closed_form_of_each, figures, intact_volume, plan, torus};

const HEAD: &str = "# Algorithms in phases

The algorithms of Qin et al. (MICRO 2025), and the routing of TPU pods, as schedules: every transfer of every step,
accepted by the verifier. `SYNTH_UPDATE_RESULTS=1 cargo test --test pages phased` writes this page; without the
variable, the same test keeps it current.

The *load* is the volume as papers state it: the load of the fullest link in each phase, per unit of capacity, summed
over the phases; in messages. The *volume* is the total width of the schedule, which includes filling the pipelines.
Steps are those of the finest grain, which wastes least; with a message size and prices, or with `--max-steps`, planning
takes a coarser one: fewer steps for more volume.
";

/// Planner and parts for each torus, with a dead cable in this dimension: parts at which all shares are whole.
type Whole = (&'static [u32], u8, &'static [(&'static str, u32)]);
const WHOLE: &[Whole] = &[
    (
        &[4, 4],
        0,
        &[("folded_ring", 2), ("open_ring", 2), ("mate", 4), ("mate_open", 6), ("mate_e", 12), ("mate_e_open", 6)],
    ),
    (
        &[5, 5],
        0,
        &[("folded_ring", 2), ("open_ring", 2), ("mate", 26), ("mate_open", 6), ("mate_e", 52), ("mate_e_open", 12)],
    ),
    (
        &[8, 8],
        0,
        &[("folded_ring", 2), ("open_ring", 2), ("mate", 9), ("mate_open", 6), ("mate_e", 63), ("mate_e_open", 6)],
    ),
    (
        &[4, 4, 4],
        0,
        &[("folded_ring", 3), ("open_ring", 3), ("mate", 21), ("mate_open", 15), ("mate_e", 21), ("mate_e_open", 15)],
    ),
    (
        &[5, 5, 5],
        0,
        &[("folded_ring", 3), ("open_ring", 3), ("mate", 69), ("mate_open", 6), ("mate_e", 69), ("mate_e_open", 6)],
    ),
    (
        &[8, 4, 4],
        0,
        &[("folded_ring", 3), ("open_ring", 3), ("mate", 12), ("mate_open", 15), ("mate_e", 21), ("mate_e_open", 15)],
    ),
    (&[8, 4, 4], 1, &[("folded_ring", 3), ("mate", 21), ("mate_e", 21)]),
];

fn both(value: Rational) -> String {
    if value.is_integer() { value.to_string() } else { format!("{value} = {}", decimal(value)) }
}

/// The excess of a volume over a load, in percent.
fn above(volume: Rational, load: Rational) -> String {
    match (volume / load - ratio(1, 1)) * ratio(100, 1) {
        none if none == ratio(0, 1) => "0".to_owned(),
        share => format!("{:.2} %", float(share)),
    }
}

fn closed_forms(page: &mut String) {
    page.push_str(
        "\n## One dead cable: loads equal to the closed forms\n
`dim_rotation` is the intact torus. In all rows the load equals the closed form exactly
(`crates/baselines/src/phased.rs` has them; on 8x4x4, where the paper has none, `T0 + L / (D-1+r)` and
`T0 + (1 - f) L / (D-1+r)` with `f = min(1, r T0 / L)`, where `T0` is the load of the long dimension and `L` that of the
dimension with the dead cable).\n
| torus | dead in | planner | parts | load | steps | volume | above the load |
|---|---|---|---|---|---|---|---|\n",
    );
    let mut row = |extents: &[u32], dead: &str, planner: &str, topology: &Topology, parts: u32| {
        let plan = plan(planner, topology, parts).unwrap();
        let (load, steps) = (Phase::total_load(&plan.phases), plan.schedule.step_count());
        let volume = Ratio::new(plan.schedule.total_width().into(), parts.into());
        let (torus, load_text, volume_text) = (name(extents), both(load), decimal(volume));
        let above = above(volume, load);
        writeln!(
            page,
            "| {torus} | {dead} | `{planner}` | {parts} | {load_text} | {steps} | {volume_text} | {above} |"
        )
        .unwrap();
        (load, volume)
    };
    let mut last: &[u32] = &[];
    for &(extents, dim, planners) in WHOLE {
        if std::mem::replace(&mut last, extents) != extents {
            let parts = extents.len() as u32;
            let figures = row(extents, "", "dim_rotation", &torus(extents, &[]), parts);
            assert_eq!(figures, (intact_volume(extents), intact_volume(extents)), "{extents:?}");
        }
        for &(planner, parts) in planners {
            let dead = ["x", "y", "z"][usize::from(dim)];
            let (load, volume) = row(extents, dead, planner, &torus(extents, &[(0, dim)]), parts);
            assert_eq!(load, closed_form(planner, extents, dim.into()), "{planner} on {extents:?}");
            assert!(volume >= load && volume <= load * ratio(11, 10), "{planner} on {extents:?}: {volume}");
        }
    }
}

/// Dead cables along x and along y that do not affect each other, and parts at which all shares are whole.
const TWICE: &[(&[u32], Cable, u32)] = &[
    (&[4, 4], (6, 1), 12),
    (&[5, 5], (13, 1), 52),
    (&[8, 8], (28, 1), 63),
    (&[4, 4, 4], (38, 1), 21),
    (&[5, 5, 5], (63, 1), 69),
    (&[8, 4, 4], (44, 1), 21),
];

fn two_phases(page: &mut String) {
    page.push_str(
        "\n## An acceleration phase for each of two dead cables\n
Two-phase MATEe, `mate_e2`: one dead cable along x at rank 0, another along y. Each normal phase is followed by an
acceleration phase for each broken ring, so the loads add up to `T0 (1 + 2 (1-r) / (D-1+r))`; on 8x4x4 to `T0` and the
rest of each of the two rings, as above. In all rows the load is exactly that; each schedule is verified. *Shared*: the
load of `mate_e` in at most 12 parts, with one acceleration phase for both.\n
| torus | along y from | parts | phases | load | steps | volume | above the load | shared |
|---|---|---|---|---|---|---|---|---|\n",
    );
    for &(extents, second, parts) in TWICE {
        let topology = torus(extents, &[(0, 0), second]);
        let plan = plan("mate_e2", &topology, parts).unwrap();
        let (load, phases, steps) = (Phase::total_load(&plan.phases), plan.phases.len(), plan.schedule.step_count());
        assert_eq!(load, closed_form_of_each(extents, &[0, 1]), "{extents:?}");
        // A normal phase and two acceleration phases for each dimension.
        assert_eq!(phases, 3 * extents.len(), "{extents:?}");
        let volume = Ratio::new(plan.schedule.total_width().into(), parts.into());
        assert!(volume >= load && volume <= load * ratio(11, 10), "{extents:?}: {volume}");
        // One phase for both, sharing its links, takes no longer.
        let (_, shared) = figures("mate_e", &topology, parts.min(12));
        assert!(shared <= load, "{extents:?}: {shared} > {load}");
        let (torus, from, above) = (name(extents), second.0, above(volume, load));
        let (load, volume, shared) = (both(load), decimal(volume), decimal(shared));
        writeln!(page, "| {torus} | {from} | {parts} | {phases} | {load} | {steps} | {volume} | {above} | {shared} |")
            .unwrap();
    }
}

/// As the parts grow, the volume's excess over the closed form falls as one over them.
fn convergence(page: &mut String) {
    page.push_str(
        "\n## More parts, closer to the closed form\n
With few parts the shares are rounded, and a chunk in the pipeline weighs more. `mate_e2`: the two dead cables above.\n
| torus | planner | parts | closed form | load | volume | above the closed form |
|---|---|---|---|---|---|---|\n",
    );
    for (planner, extents, many) in [
        ("mate", &[4, 4][..], &[1, 2, 4, 8, 16, 64][..]),
        ("mate_e", &[4, 4, 4], &[1, 3, 6, 12, 21, 42, 84]),
        ("mate_e", &[5, 5], &[1, 2, 4, 13, 26, 52, 104]),
        ("mate_e2", &[4, 4], &[1, 3, 6, 12, 24, 96]),
        ("mate_e2", &[4, 4, 4], &[1, 3, 6, 21]),
    ] {
        let twice = TWICE.iter().find(|(of, ..)| planner == "mate_e2" && *of == extents);
        let (closed, cables) = match twice {
            Some(&(_, second, _)) => (closed_form_of_each(extents, &[0, 1]), vec![(0, 0), second]),
            None => (closed_form(planner, extents, 0), vec![(0, 0)]),
        };
        let mut most = None;
        for &parts in many {
            let (volume, load) = figures(planner, &torus(extents, &cables), parts);
            let (text, load, decimals) = (both(closed), decimal(load), decimal(volume));
            let above_closed = if volume < closed { "below".to_owned() } else { above(volume, closed) };
            let torus = name(extents);
            writeln!(page, "| {torus} | `{planner}` | {parts} | {text} | {load} | {decimals} | {above_closed} |")
                .unwrap();
            // Chunks in the pipelines and rounded shares: a bounded number, whatever the parts.
            let chunks = (volume - closed) * ratio(parts, 1);
            assert!(chunks <= ratio(10 * extents.len() as u32, 1), "{planner} on {extents:?} in {parts}: {chunks}");
            most = Some((parts, volume));
        }
        let (_, volume) = most.unwrap();
        assert!(volume <= closed * ratio(102, 100), "{planner} on {extents:?}: {volume}");
    }
}

/// The paper's failures, and others.
type Case = (&'static [u32], &'static str, &'static [Cable], u32);
const SEVERAL: &[Case] = &[
    (&[4, 4], "one ring", &[(0, 0), (2, 0)], 12),
    (&[4, 4], "one dimension, apart", &[(0, 0), (8, 0)], 12),
    (&[4, 4], "one dimension, neighbors", &[(0, 0), (6, 0)], 12),
    (&[4, 4], "two dimensions", &[(0, 0), (6, 1)], 12),
    (&[4, 4], "two dimensions, one rank", &[(0, 0), (0, 1)], 12),
    (&[5, 5], "two dimensions", &[(0, 0), (13, 1)], 26),
    (&[4, 4, 4], "one ring", &[(0, 0), (2, 0)], 21),
    (&[4, 4, 4], "one dimension, apart", &[(0, 0), (40, 0)], 21),
    (&[4, 4, 4], "one dimension, neighbors", &[(0, 0), (6, 0)], 21),
    (&[4, 4, 4], "two dimensions", &[(0, 0), (38, 1)], 21),
    (&[4, 4, 4], "three dimensions, one rank", &[(0, 0), (0, 1), (0, 2)], 21),
    (&[8, 4, 4], "two dimensions", &[(0, 0), (44, 1)], 12),
    (&[2, 4, 4], "extent 2, one cable", &[(0, 0)], 12),
];

fn several(page: &mut String) {
    page.push_str(
        "\n## Several dead cables\n
Loads. `mate_e` has one acceleration phase for all broken rings, with its links allocated by the linear program;
`mate_e2` one for each, as in the paper if they share links or are of different dimensions. A dash: refused, since no
broken ring is in one piece.\n
| torus | dead cables | parts | `mate` | `mate_e` | `mate_e2` | `mate_open` | `mate_e_open` | bound |
|---|---|---|---|---|---|---|---|---|\n",
    );
    for &(extents, what, cables, parts) in SEVERAL {
        let topology = torus(extents, cables);
        let mut bound = None;
        let mut load = |planner: &str| {
            let plan = plan(planner, &topology, parts).ok()?;
            bound = plan.bounds.volume.as_ref().map(|bound| bound.at_least);
            Some(Phase::total_load(&plan.phases))
        };
        let loads = ["mate", "mate_e", "mate_e2", "mate_open", "mate_e_open"].map(&mut load);
        let texts = loads.map(|load| load.map_or("-".to_owned(), decimal));
        let bound = bound.map_or("-".to_owned(), decimal);
        let torus = name(extents);
        writeln!(page, "| {torus} | {what} | {parts} | {} | {bound} |", texts.join(" | ")).unwrap();
        if let (Some(shared), Some(each)) = (loads[1], loads[2]) {
            assert!(shared <= each, "{extents:?}, {what}: {shared} > {each}");
        }
    }
}

/// Extents, and the static load of WFR with a dead cable in each dimension (`None`: not recorded), worked out
/// elsewhere.
const WILD: &[(&[u32], &[Option<u32>])] = &[
    (&[4, 4], &[Some(14), Some(16)]),
    (&[5, 5], &[Some(24), Some(30)]),
    (&[8, 8], &[Some(104), Some(128)]),
    (&[4, 4, 4], &[Some(50), Some(56), Some(64)]),
    (&[5, 5, 5], &[Some(108), Some(120), Some(150)]),
    (&[8, 4, 4], &[Some(200), Some(128), None]),
];

fn routes(page: &mut String) {
    page.push_str(
        "\n## Fixed routes: DOR and WFR\n
Whole messages, one phase: the load is the static load of the fullest link.\n
| torus | dead in | planner | load | steps | volume |\n|---|---|---|---|---|---|\n",
    );
    let mut row = |extents: &[u32], dead: &str, planner: &str, topology: &Topology| {
        let plan = plan(planner, topology, 1).unwrap();
        let (load, width) = (Phase::total_load(&plan.phases), plan.schedule.total_width());
        let (torus, steps) = (name(extents), plan.schedule.step_count());
        writeln!(page, "| {torus} | {dead} | `{planner}` | {load} | {steps} | {width} |").unwrap();
        load
    };
    for (extents, loads) in WILD {
        let intact = torus(extents, &[]);
        assert_eq!(row(extents, "", "dor", &intact), intact_volume(extents), "{extents:?}");
        assert_eq!(figures("wfr", &intact, 1).1, intact_volume(extents));
        for (dim, expected) in (0..).zip(*loads) {
            let topology = torus(extents, &[(0, dim)]);
            let load = row(extents, ["x", "y", "z"][usize::from(dim)], "wfr", &topology);
            assert!(expected.is_none_or(|expected| load == ratio(expected, 1)), "{extents:?}, dimension {dim}: {load}");
            let refused = plan("dor", &topology, 1).unwrap_err().to_string();
            assert!(refused.contains("a link failed"), "{refused}");
        }
    }
}

#[test]
fn the_page_is_current() {
    let page = sections(&[closed_forms, two_phases, convergence, several, routes]);
    hold("docs/results/phased.md", &(HEAD.to_owned() + &page));
}

#[test]
fn unequal_capacities_move_the_shares() {
    // x carries 2, y carries 1, a cable of x is dead. A normal phase takes 4 messages, for y. All of the broken ring's
    // data, 2 from each position to each, takes 3 on the virtual ring (its links along y) and 12 / 2 on the folded one.
    let torus = Torus { capacity: vec![2, 1], ..Torus::new(&[4, 4]) };
    let (_, load) = figures("mate", &without(torus, &[(0, 0)]), 6);
    assert_eq!(load, ratio(2, 1) * (ratio(4, 1) + ratio(1, 1) / (ratio(1, 3) + ratio(1, 6))));
}
