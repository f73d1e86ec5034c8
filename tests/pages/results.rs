//! docs/results/results.md holds the figures of this build. `SYNTH_UPDATE_RESULTS=1 cargo test --test pages results`
//! writes it anew.

use std::fmt::Write;

use collsynth::bound::{self, FlowLimit};
use collsynth::certificate::Rational;
use collsynth::collective::Kind;
use collsynth::plan::{Goal, Plan};
use collsynth::report::paper::{self, ClosedForms, Line, Reached};
use collsynth::schedule::Solution;
use collsynth::topology::RankId;

use crate::support::pages::{decimal, hold, name, sections};
use crate::support::plans::{self, torus};

const HEAD: &str = "# Results

Every figure here comes from a schedule that the verifier accepts, together with its bounds.
`SYNTH_UPDATE_RESULTS=1 cargo test --test pages results` writes this page; without the variable, the same test keeps it
current. Volumes are in messages (shards) on one link of capacity 1; steps are
store-and-forward steps. **Bold**: equal to the certified bound, for the parts given.
";

const RANDOM_FAILURES: &str = "
Of 1400 random sets of 1 to 8 dead cables on 14 tori, all were planned at the value of the flow LP rounded up: 1325 in
as many steps as the diameter, 71 in the fewest steps that allow this volume, by a time-stepped flow LP, and four in at
most one step more. The tests plan a selection of them again (`tests/data/random_failures.txt`, `hard_failures.txt`).
";

/// A verified plan, by this planner or by the best one.
fn plan_with<'a>(
    planner: impl Into<Option<&'a str>>,
    extents: &[u32],
    cables: &[(u32, u32)],
    kind: &Kind,
    parts: u32,
) -> Plan {
    let plan = plans::plan(planner, &torus(extents, cables, &[]), kind.clone(), parts).unwrap();
    plans::figures(&plan);
    plan
}

fn plan(extents: &[u32], cables: &[(u32, u32)], kind: &Kind, parts: u32) -> Plan {
    plan_with(None, extents, cables, kind, parts)
}

/// Steps and volume, bold where they meet the bound.
fn figures(plan: &Plan) -> (String, String) {
    let parts = plan.problem.parts();
    let bold = |text: String, met: bool| if met { format!("**{text}**") } else { text };
    let (steps, width) = (plan.schedule.step_count(), plan.schedule.total_width());
    let volume = Rational::new(i128::from(width), i128::from(parts));
    (
        bold(steps.to_string(), steps as u64 == u64::from(plan.bounds.least_steps())),
        bold(decimal(volume), width == u64::from(plan.bounds.least_width(parts))),
    )
}

fn bound_of(plan: &Plan) -> Rational {
    plan.bounds.volume.as_ref().unwrap().at_least
}

/// The cost of one dead cable, ours and by the closed forms of MICRO 2025, on tori of equal extents.
fn one_cable(page: &mut String) {
    page.push_str(
        "\n## All-to-all, one dead cable\n\n\
         Whole messages, and the parts at which the gap closes. `MATEe`, `MATE` and `FoldedRing + DimRotation` are \
         the\nclosed forms of Qin et al. (MICRO 2025) for these tori; they are volumes alone, without the cost of \
         start-ups.\n\n\
         | torus | without failure | bound | steps | volume | parts | steps | volume | MATEe | MATE | FoldedRing |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (extents, parts) in paper::TORI {
        let planned = |parts| Solution::from(plan(extents, &[paper::CABLE], &Kind::AllToAll, parts));
        let intact = bound_of(&plan(extents, &[], &Kind::AllToAll, 2));
        let line = Line::new(extents, intact, &planned(1), &planned(parts));
        let bold = |text: String, met: bool| if met { format!("**{text}**") } else { text };
        let reached = |one: Reached| {
            let (steps, volume) = (one.steps.0.to_string(), decimal(one.volume.0));
            format!("{} | {}", bold(steps, one.steps.1), bold(volume, one.volume.1))
        };
        let ClosedForms { mate_e, mate, folded_ring } = line.closed;
        writeln!(
            page,
            "| {} | {} | {} = {} | {} | {parts} | {} | {} | {} | {} |",
            name(extents),
            decimal(intact),
            line.bound,
            decimal(line.bound),
            reached(line.whole),
            reached(line.fine),
            decimal(mate_e),
            decimal(mate),
            decimal(folded_ring),
        )
        .unwrap();
    }
    page.push_str(
        "\nOther tori, whole messages:\n\n| torus | dead cables | bound | steps | volume |\n|---|---|---|---|---|\n",
    );
    for (extents, cables) in [
        (&[3, 3][..], &[(0, 1)][..]),
        (&[3, 3, 3], &[(0, 1)]),
        (&[2, 3, 4], &[(0, 1)]),
        (&[8, 4, 4], &[(0, 1)]),
        (&[8, 4, 4], &[(0, 8)]),
        (&[8, 8, 8], &[(2, 3)]),
        (&[4, 4, 4], &[(0, 1), (2, 3)]),
        (&[4, 4, 4], &[(0, 1), (0, 4), (0, 16)]),
    ] {
        row(page, extents, cables, &Kind::AllToAll, None);
    }
    page.push_str(RANDOM_FAILURES);
}

/// Steps against volume: the time-stepped flow and the plan, for each number of steps that pays.
fn frontiers(page: &mut String) {
    page.push_str(
        "\n## All-to-all: fewer steps for more volume\n\n\
         Whole messages. The flow in a number of steps is a linear program whose dual solution, rounded and checked \
         exactly,\nproves that no schedule in as many steps, or fewer, has less volume. **Bold**: equal to that, \
         rounded up.\n\n\
         | torus | dead cables | steps | flow in as many steps | volume |\n|---|---|---|---|---|\n",
    );
    let limit = FlowLimit::of_size(20_000);
    for (extents, cables) in [
        (&[7, 3][..], &[(0, 1)][..]),
        (&[5, 5], &[(0, 1), (0, 5), (0, 4)]),
        (&[4, 4], &[(0, 1), (1, 2), (1, 5), (12, 13), (12, 15)]),
        (&[4, 4], &[(4, 5), (5, 6), (5, 9), (0, 1), (12, 13)]),
        (&[4, 4, 4], &[(2, 3)]),
    ] {
        let Plan { problem, bounds, .. } = plan(extents, cables, &Kind::AllToAll, 1);
        let names: Vec<String> = cables.iter().map(|(from, to)| format!("{from}-{to}")).collect();
        for steps in bounds.least_steps().. {
            let flow = bound::stepped_bound(&problem, steps, &limit).unwrap();
            let goal = Goal { steps: Some(steps), ..Goal::default() };
            let plan = plans::plan_for(problem.topology(), &Kind::AllToAll, &goal).unwrap();
            let (width, least) = (plan.schedule.total_width(), u64::from(flow.least_width(1)));
            let volume = if width == least { format!("**{width}**") } else { width.to_string() };
            let flow = decimal(flow.proven.at_least);
            writeln!(page, "| {} | {} | {steps} | {flow} | {volume} |", name(extents), names.join(", ")).unwrap();
            if least <= u64::from(bounds.least_width(1)) {
                break;
            }
        }
    }
}

fn row(page: &mut String, extents: &[u32], cables: &[(u32, u32)], kind: &Kind, parts: Option<u32>) {
    let plan = plan(extents, cables, kind, parts.unwrap_or(1));
    let (steps, volume) = figures(&plan);
    let cables: Vec<String> = cables.iter().map(|(from, to)| format!("{from}-{to}")).collect();
    let parts = parts.map(|parts| format!("{parts} | ")).unwrap_or_default();
    let bound = bound_of(&plan);
    let bound = if bound.is_integer() { bound.to_string() } else { format!("{bound} = {}", decimal(bound)) };
    writeln!(page, "| {} | {} | {parts}{bound} | {steps} | {volume} |", name(extents), cables.join(", ")).unwrap();
}

fn gathers(page: &mut String) {
    for (title, kind) in [("All-gather", Kind::AllGather), ("Reduce-scatter", Kind::ReduceScatter)] {
        write!(
            page,
            "\n## {title}\n\n| torus | dead cables | parts | bound | steps | volume |\n|---|---|---|---|---|---|\n"
        )
        .unwrap();
        for (extents, cables, parts) in [
            (&[4, 4][..], &[][..], 4),
            (&[4, 4, 4], &[], 2),
            (&[4, 4, 4], &[(2, 3)], 1),
            (&[4, 4, 4], &[(2, 3)], 5),
            (&[5, 5, 5], &[(0, 1)], 1),
            (&[8, 8, 8], &[(0, 1)], 1),
        ] {
            row(page, extents, cables, &kind, Some(parts));
        }
    }
}

fn broadcasts(page: &mut String) {
    page.push_str(
        "\n## Broadcast on 4x4x4\n\nFrom rank 0, with all its six links and without the cable to rank 1. The bound on \
         the volume counts the chunks that must\ncross a cut, not the journey of the last one: schedules approach it \
         as the parts grow. Reduce is the same, reversed.\n\n\
         | dead cables | parts | bound | steps | volume |\n|---|---|---|---|---|\n",
    );
    for cables in [&[][..], &[(0, 1)]] {
        for parts in [6, 24, 96, 384, 1536] {
            let mut line = String::new();
            row(&mut line, &[4, 4, 4], cables, &Kind::Broadcast(RankId(0)), Some(parts));
            page.push_str(line.trim_start_matches("| 4x4x4 "));
        }
    }
}

fn scatters(page: &mut String) {
    page.push_str(
        "\n## Scatter from rank 0\n\nGather is the same, reversed.\n\n\
         | torus | dead cables | parts | bound | steps | volume |\n|---|---|---|---|---|---|\n",
    );
    for (extents, cables, parts) in [
        (&[8][..], &[][..], 2),
        (&[4, 4], &[], 4),
        (&[4, 4], &[(0, 1)], 1),
        (&[4, 4, 4], &[], 2),
        (&[4, 4, 4], &[(0, 1)], 5),
        (&[8, 8, 8], &[(0, 1)], 5),
    ] {
        row(page, extents, cables, &Kind::Scatter(RankId(0)), Some(parts));
    }
}

/// The figures of the classical algorithms, and of planning without naming one.
fn baselines(page: &mut String) {
    page.push_str(
        "\n## Baselines on 4x4x4\n\n\
         On the whole torus. All but `half_ring` and `dim_rotation` also plan around failures.\n\n\
         | collective | parts | baseline | steps | volume | best | steps | volume |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let root = RankId(0);
    for (kind, parts, names) in [
        (Kind::AllToAll, 3, &["half_ring", "dim_rotation"][..]),
        (Kind::AllGather, 2, &["ring_gather"]),
        (Kind::AllReduce, 128, &["ring_all_reduce", "composed"]),
        (Kind::Broadcast(root), 96, &["binary_tree"]),
        (Kind::Reduce(root), 96, &["binary_tree"]),
        (Kind::Barrier, 1, &["two_wave"]),
    ] {
        let best = plan(&[4, 4, 4], &[], &kind, parts);
        let (best_steps, best_volume) = figures(&best);
        for name in names {
            let (steps, volume) = figures(&plan_with(*name, &[4, 4, 4], &[], &kind, parts));
            let (kind, best) = (kind.name(), best.planner);
            writeln!(
                page,
                "| {kind} | {parts} | {name} | {steps} | {volume} | {best} | {best_steps} | {best_volume} |"
            )
            .unwrap();
        }
    }
}

fn all_reduces(page: &mut String) {
    page.push_str(
        "\n## All-reduce\n\nVolumes are in vectors. The bound counts the traffic between all ranks, or between blocks \
         of them.\n\n| torus | dead cables | parts | bound | steps | volume |\n|---|---|---|---|---|---|\n",
    );
    for (extents, cables, parts) in [
        (&[4, 4][..], &[][..], 64),
        (&[4, 4], &[(0, 1)], 62),
        (&[5, 5], &[(0, 1)], 98),
        (&[4, 4, 4], &[], 128),
        (&[4, 4, 4], &[(2, 3)], 128),
        (&[4, 4, 4], &[(2, 3)], 192),
        (&[4, 4, 4], &[(0, 1), (2, 3)], 192),
        (&[4, 4, 4], &[(0, 1), (20, 21), (40, 44)], 192),
        (&[8, 8, 8], &[], 1024),
    ] {
        row(page, extents, cables, &Kind::AllReduce, Some(parts));
    }
}

#[test]
fn the_results_page_is_current() {
    let page = sections(&[one_cable, frontiers, gathers, broadcasts, all_reduces, scatters, baselines]);
    hold("docs/results/results.md", &(HEAD.to_owned() + &page));
}

#[test]
fn the_readme_shows_rows_of_the_page() {
    let [page, readme] = [include_str!("../../docs/results/results.md"), include_str!("../../README.md")];
    let is_row = |line: &&str| line.strip_prefix("| ").is_some_and(|row| row.starts_with(|c: char| c.is_ascii_digit()));
    let rows: Vec<&str> = readme.lines().filter(is_row).collect();
    assert!(rows.len() >= 2 && rows.iter().all(|row| page.lines().any(|line| line == *row)), "{rows:#?}");
}
