//! What critics of the paper asked, point by point.

use collsynth::certificate::Rational;
use collsynth::collective::{Collective, Kind};
use collsynth::cost::{Stretch, fastest};
use collsynth::plan::Phased;
use collsynth::problem::Problem;
use collsynth::report::paper::cost_model::BANDWIDTH;
use collsynth::topology::{Torus, dim_name};

use crate::support::pages::{decimal, float, name};
use crate::support::plans::{Cable, without};

use super::page::Page;
use super::planned::{ALPHA, places, plan, plan_for, torus};

pub fn write(page: &mut Page) {
    page.text("\n## What critics asked\n");
    allocation(page);
    conflicts(page);
    mixed(page);
    store_and_forward(page);
    overlap(page);
}

/// Extents, dead cables, and milliseconds: to write down the programs of `mate_e`, and to solve them.
type Measured = (&'static [u32], &'static [Cable], [f64; 2]);
const MEASURED: &[Measured] = &[
    (&[4, 4], &[(0, 0)], [0.1, 0.2]),
    (&[8, 8], &[(0, 0)], [2.1, 0.5]),
    (&[16, 16], &[(0, 0)], [30.3, 1.0]),
    (&[32, 32], &[(0, 0)], [453.1, 1.4]),
    (&[4, 4, 4], &[(0, 0)], [2.3, 0.4]),
    (&[8, 8, 8], &[(0, 0)], [142.7, 0.7]),
    (&[4, 4, 4, 4], &[(0, 0)], [52.8, 0.7]),
    (&[3, 3, 3, 3, 3], &[(0, 0)], [66.1, 0.8]),
    (&[8, 8], &[(0, 0), (28, 1)], [1.5, 0.5]),
    (&[8, 8], &[(0, 0), (28, 1), (34, 0), (53, 1)], [1.6, 0.9]),
    (&[4, 4, 4], &[(0, 0), (38, 1)], [2.4, 0.7]),
    (&[4, 4, 4], &[(0, 0), (38, 1), (21, 2), (60, 0)], [2.5, 1.5]),
    (&[4, 4, 4], &[(0, 0), (38, 1), (21, 2), (60, 0), (7, 1), (26, 2), (44, 0), (49, 1)], [2.6, 2.4]),
];

fn programs(extents: &[u32], cables: &[Cable]) -> Vec<collsynth_lp::Allocation> {
    let collective = Collective { kind: Kind::AllToAll, parts: 1 };
    Phased::MATE_E.allocations(&Problem::new(torus(extents, cables), collective).unwrap()).unwrap()
}

fn allocation(page: &mut Page) {
    page.text(
        "\n### How the offline bandwidth allocation is computed, and what it costs\n\n\
         By a linear program for each normal phase and the acceleration phases after it\n\
         (`crates/baselines/src/broken_rings/allocation.rs`): a variable for each routing of each broken ring\n\
         (itself in the normal phase; itself and a virtual ring for each other dimension in the acceleration\n\
         phase) and for the time of each phase; a row for each link that they use in a phase, and one for each\n\
         broken ring. Equal extents and one cable give the paper's closed form to 1e-9. A torus of `D`\n\
         dimensions takes `D` programs; the sizes are of the largest. They grow with the failures, the\n\
         dimensions and the extents, not with the number of ranks. *Written in*: milliseconds for all\n\
         programs, mostly spent on the chunks of each broken ring; *solved in*: milliseconds for all of them,\n\
         by Clarabel. Measured once on one of the two cores of a small machine, the best of five\n\
         (`cargo test --test pages -- --ignored allocation --nocapture`); every run of the tests checks the\n\
         sizes.\n",
    );
    let headings =
        ["torus", "dead cables", "programs", "variables", "rows", "nonzeros", "written in, ms", "solved in, ms"];
    page.table(&headings);
    for &(extents, cables, milliseconds) in MEASURED {
        let programs = programs(extents, cables);
        let size = programs.iter().map(collsynth_lp::Allocation::size).max_by_key(|size| size.nonzeros).unwrap();
        let figures = [programs.len(), size.variables, size.rows, size.nonzeros].map(|figure| figure.to_string());
        let begin = [name(extents), cables.len().to_string()];
        page.row(begin.into_iter().chain(figures).chain(milliseconds.map(|figure| format!("{figure:.1}"))));
        // Of each ring itself twice and D - 1 virtual rings, if all are whole; and two phases.
        let most = 2 + cables.len() * (extents.len() + 1);
        assert!(programs.len() == extents.len() && size.variables <= most, "{extents:?}: {size:?}");
    }
}

#[test]
#[ignore = "a measurement"]
fn allocation_is_measured() {
    for (extents, cables, _) in MEASURED {
        let millis = |of: &dyn Fn() -> usize| {
            let times = (0..5).map(|_| {
                let started = std::time::Instant::now();
                assert!(of() > 0);
                started.elapsed().as_secs_f64() * 1e3
            });
            times.fold(f64::INFINITY, f64::min)
        };
        let written = programs(extents, cables);
        let solve =
            || written.iter().map(|program| program.solve(&collsynth_lp::Limit::NONE).unwrap().times.len()).sum();
        let figures = [millis(&|| programs(extents, cables).len()), millis(&solve)];
        println!("{} {}: {figures:.1?}", name(extents), places(cables));
    }
}

fn conflicts(page: &mut Page) {
    page.text(
        "\n### Is MATEe with two acceleration phases free of conflicts?\n\n\
         The paper argues by orthogonality; neither it nor its artifact moves data. Here every transfer of\n\
         every step is explicit, and a verifier that knows nothing of MATE executes them: no link carries more\n\
         than its width, every chunk is where it is sent from, and all arrive. [phased.md](phased.md) has more\n\
         tori; on all of them the loads of the phases add up to the closed form exactly.\n",
    );
    page.table(&["torus", "dead cables from", "planner", "parts", "phases", "steps", "transfers", "verdict"]);
    let cases: [(&[u32], &[Cable], u32); 4] = [
        (&[4, 4], &[(0, 0), (6, 1)], 12),
        (&[5, 5], &[(0, 0), (13, 1)], 26),
        (&[4, 4, 4], &[(0, 0), (38, 1)], 21),
        (&[8, 4, 4], &[(0, 0), (44, 1)], 3),
    ];
    for (extents, cables, parts) in cases {
        let planned = plan("mate_e2", &torus(extents, cables), parts).unwrap();
        let begin = [name(extents), places(cables), "`mate_e2`".to_owned()];
        let figures = [parts as usize, planned.phases, planned.steps, planned.transfers];
        page.row(begin.into_iter().chain(figures.map(|figure| figure.to_string())).chain(["holds".to_owned()]));
    }
}

fn mixed(page: &mut Page) {
    page.text(
        "\n### Mixed radix\n\n\
         The paper has figures for one torus of unequal extents. The allocation does not assume equal ones;\n\
         nor does `negotiated`, which meets the bound rounded up. *Over bound*: the load (`negotiated`: the\n\
         volume) over it.\n",
    );
    page.table(&["torus", "dead cable", "planner", "parts", "load", "steps", "volume", "bound", "over bound"]);
    let cases: [(&[u32], u8); 4] = [(&[8, 4], 0), (&[8, 4], 1), (&[3, 4, 5], 2), (&[2, 3, 4], 2)];
    for (extents, dim) in cases {
        for (planner, parts) in [("mate", 12), ("mate_e", 12), ("mate_e_open", 12), ("negotiated", 1)] {
            let planned = plan(planner, &torus(extents, &[(0, dim)]), parts).unwrap();
            assert!(planner != "negotiated" || planned.volume == planned.bound.ceil(), "{extents:?}");
            page.row([
                name(extents),
                dim_name(dim),
                format!("`{planner}`"),
                parts.to_string(),
                planned.of_phases(decimal(planned.load)),
                planned.steps.to_string(),
                decimal(planned.volume),
                decimal(planned.bound),
                format!("{:.3}", float(planned.load / planned.bound)),
            ]);
        }
    }
}

fn store_and_forward(page: &mut Page) {
    page.text(
        "\n### Store-and-forward against cut-through\n\n\
         Store-and-forward pays a start-up for every step, and ranks hold the chunks they pass on. Cut-through\n\
         pays one for each link of the longest logical edge of a phase, as the paper charges, and no filling\n\
         of pipelines. Both for the same schedules with one dead cable along x, 100 ns and 32 GB/s, with the\n\
         finest grain (least volume); a coarser grain takes fewer steps (`--message-bytes`). `negotiated` is\n\
         charged by steps in both: its steps are the diameter, and the longest route has as many links, so\n\
         cut-through would gain it nothing. *Held*: the most a rank holds at a time, in messages, including\n\
         its own input and output; *in passing*: beyond the `N-1` that it begins or ends with.\n",
    );
    let headings = [
        "torus",
        "planner",
        "parts",
        "start-ups, steps",
        "cut-through",
        "8 KiB a rank, steps",
        "cut-through",
        "16 MiB a rank, steps",
        "cut-through",
        "held",
        "in passing",
    ];
    page.table(&headings);
    let mut told = String::new();
    for (extents, negotiated, planners) in [
        (&[4, 4][..], 7, &[("folded_ring", 2), ("open_ring", 2), ("mate", 4), ("mate_e", 12), ("mate_e_open", 6)][..]),
        (&[4, 4, 4], 1, &[("folded_ring", 3), ("open_ring", 3), ("mate", 21), ("mate_e", 21), ("mate_e_open", 15)]),
    ] {
        let ranks: u32 = extents.iter().product();
        let mut lines = Vec::new();
        for (planner, parts) in [("negotiated", negotiated)].iter().chain(planners) {
            let planned = plan(planner, &torus(extents, &[(0, 0)]), *parts).unwrap();
            let charged = [planned.by_steps(BANDWIDTH), planned.by_phases(BANDWIDTH)];
            lines.push(charged[1]);
            let time =
                |bytes: u64| charged.map(|line| format!("{:.2} us", line.seconds(bytes / u64::from(ranks)) * 1e6));
            let begin = [name(extents), format!("`{planner}`"), parts.to_string()];
            let startups = [planned.steps.to_string(), planned.startups.to_string()];
            let held = [planned.held, planned.held - f64::from(ranks - 1)].map(|held| format!("{held:.1}"));
            page.row(begin.into_iter().chain(startups).chain(time(1 << 13)).chain(time(1 << 24)).chain(held));
        }
        let first = fastest(&lines).iter().rev().take_while(|stretch: &&Stretch| stretch.line == 0).last().copied();
        let from = first.map_or("never".to_owned(), |stretch| format!("from {} B a message on", stretch.from_bytes));
        told.push_str(&format!(
            "\nOn {}, `negotiated` by steps is faster than all the others by cut-through {from}.\n",
            name(extents)
        ));
    }
    page.text(&told);
}

/// Collectives that run at the same time on shares of every link.
fn overlap(page: &mut Page) {
    page.text(&format!(
        "\n### Other traffic at the same time\n\n\
         The paper has the torus to itself. If part of every link is reserved for other traffic, state the\n\
         rest with `--capacity`: planners, bounds and the verifier respect it. Here the unit is a quarter of a\n\
         link: with 3 of 4 an all_to_all leaves a quarter of every link to an all_gather planned with 1. Each\n\
         is verified on its share, so together they never exceed a link, however they are shifted against each\n\
         other. Volumes are in messages over a unit; *time* is for messages of 64 KiB and shards of 64 KiB,\n\
         {} ns and 32 GB/s per link, 8 GB/s per unit.\n",
        ALPHA * 1e9,
    ));
    page.table(&[
        "torus",
        "dead cable",
        "collective",
        "units of x, y, z",
        "planner",
        "parts",
        "steps",
        "volume",
        "bound",
        "time",
    ]);
    let gather = Kind::AllGather;
    let cases: [(&Kind, [u32; 3], &str, u32); 9] = [
        (&Kind::AllToAll, [4, 4, 4], "mate_e", 12),
        (&Kind::AllToAll, [3, 3, 3], "mate_e", 12),
        (&Kind::AllToAll, [4, 4, 4], "negotiated", 4),
        (&Kind::AllToAll, [3, 3, 3], "negotiated", 3),
        (&gather, [1, 1, 1], "trees", 5),
        (&Kind::AllToAll, [2, 2, 2], "negotiated", 2),
        (&gather, [2, 2, 2], "trees", 5),
        (&Kind::AllToAll, [3, 4, 4], "negotiated", 4),
        (&Kind::AllToAll, [4, 3, 4], "negotiated", 4),
    ];
    for (kind, capacity, planner, parts) in cases {
        let shared = without(Torus { capacity: capacity.to_vec(), ..Torus::new(&[4, 4, 4]) }, &[(0, 0)]);
        let planned = plan_for(planner, &shared, kind, parts, None).unwrap();
        assert!(planned.volume >= planned.bound && planned.bound > Rational::from(0), "{capacity:?}");
        let seconds = planned.by_steps(BANDWIDTH / 4.0).seconds(1 << 16);
        page.row([
            "4x4x4".to_owned(),
            "x".to_owned(),
            kind.name().to_owned(),
            capacity.map(|of| of.to_string()).join(", "),
            format!("`{planner}`"),
            parts.to_string(),
            planned.steps.to_string(),
            decimal(planned.volume),
            decimal(planned.bound),
            format!("{:.1} us", seconds * 1e6),
        ]);
    }
    page.text(
        "\n```sh\n\
         synth --torus 4x4x4 --fail 0,1 --capacity 3 --parts 3 -o exchange.json      # three quarters of every link\n\
         synth --torus 4x4x4 --fail 0,1 --capacity 1 --parts 5 --collective all_gather -o gather.json   # the fourth\n\
         synth verify exchange.json gather.json\n\
         ```\n",
    );
}
