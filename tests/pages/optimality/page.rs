//! docs/results/optimality.md: a summary by collective, machine and planner, and the largest gaps; and the file of
//! all cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Row;
use super::judge::Figures;

const HEAD: &str = "\
# The fast planners and the optimum

On small machines the [SMT planner](../internals/smt.md) finds the best schedules and proves them optimal: a bound or
the solver refutes every better one. Here every fast planner is compared with them.

`SYNTH_UPDATE_RESULTS=1 cargo test --test pages optimality` writes this page; without the variable, the same test keeps
it current, and fails if a planner beats a proven optimum.

The machines are rings of 3 to 8 and tori up to 4x4, intact, without one cable and without two, one for each case up to
symmetry (of the many pairs of cables, five for each torus). A ring without two cables is not connected. The root, if
any, is rank 0, which the first failed cable nearly always touches. A schedule is written as *steps/total width*, for
the parts given.

The *optimum* is the least total width, in the fewest steps that allow it. Where fewer steps are possible at a greater
width, either end of the front counts as optimal. *Decided*: the solver has an answer within 20 seconds. Reduce-scatter
and all_reduce_gathered are judged as all-gathers, reduce as a broadcast and gather as a scatter, with links and time
reversed.

[tests/data/optimality.txt](../../tests/data/optimality.txt) has every case: the optimum, the schedule planned without
naming a planner, and that of every planner by name. [tests/data/optima.txt](../../tests/data/optima.txt) has what the
solver found and refuted.
";

const ROWS_HEAD: &str = "\
# What the fast planners reach beside the optimum, as steps/total width; see docs/results/optimality.md. \
The second optimum is of
# the fewest steps, where that is another schedule. The last column has every planner that applies, best first.
# collective | machine | failed cables | parts | optimum | in the fewest steps | planned | by | by name
";

/// How many of the largest gaps are listed.
const LISTED: usize = 15;

pub fn page(rows: &[Row]) -> String {
    let mut page = HEAD.to_owned();
    by_collective(&mut page, rows);
    by_machine(&mut page, rows);
    by_planner(&mut page, rows);
    largest_gaps(&mut page, rows);
    page
}

/// Every case, a line each.
pub fn rows(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| {
        let (machine, (least, fewest), (planner, _)) = (&row.case.machine, optimum(row), row.unnamed);
        let (kind, name, dead, parts) = (row.case.kind.name(), machine.name(), machine.damage(), row.case.parts);
        let (planned, others) = (planned(row), others(row));
        format!("{kind} | {name} | {dead} | {parts} | {least} | {fewest} | {planned} | {planner} | {others}\n")
    });
    ROWS_HEAD.to_owned() + &lines.collect::<String>()
}

/// How far a schedule is from the best: at an end of the front, wider by this much, or as wide in more steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Optimal,
    Fewest,
    Longer(u32),
    Wider(u32),
    Undecided,
}

fn standing(row: &Row, figures: Figures) -> Standing {
    match (row.facts.least, row.facts.fewest) {
        (Some(least), _) if figures == least => Standing::Optimal,
        (_, Some(fewest)) if figures == fewest => Standing::Fewest,
        (Some(least), _) if figures.width == least.width => Standing::Longer(figures.steps - least.steps),
        (Some(least), _) => Standing::Wider(figures.width - least.width),
        (None, _) => Standing::Undecided,
    }
}

fn by_collective(page: &mut String, rows: &[Row]) {
    page.push_str(
        "\n## By collective\n\n`synth` without a named planner, against the optimum of the decided cases. *As narrow*: \
         the least width, in more steps.\n*Bound met*: the cases in which the best certificate found, of steps, cuts \
         or flows, proves the least width without a\nsolver; in the others it proves less.\n\n\
         | collective | cases | decided | optimal | as narrow | wider by 1 | wider by more | largest gap \
         | bound met |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let mut names: Vec<&str> = rows.iter().map(|row| row.case.kind.name()).collect();
    names.dedup();
    for name in names.into_iter().chain(["all"]) {
        let of_name: Vec<&Row> = rows.iter().filter(|row| name == "all" || row.case.kind.name() == name).collect();
        let is_met = |row: &&&Row| row.facts.least.is_some_and(|least| least.width == row.bound.width);
        let met = of_name.iter().filter(is_met).count();
        writeln!(page, "| {name} | {} | {met} |", chosen(&of_name)).unwrap();
    }
}

fn by_machine(page: &mut String, rows: &[Row]) {
    page.push_str(
        "\n## By machine\n\nThe same, for each torus intact and without one cable and two.\n\n\
         | machine | failed cables | cases | decided | optimal | as narrow | wider by 1 | wider by more \
         | largest gap |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let of_machine = |row: &Row| (row.case.machine.name(), row.case.machine.dead.len());
    let mut machines = Vec::new();
    for row in rows.iter().map(of_machine) {
        if !machines.contains(&row) {
            machines.push(row);
        }
    }
    for machine in machines {
        let of_name: Vec<&Row> = rows.iter().filter(|row| of_machine(row) == machine).collect();
        writeln!(page, "| {} | {} | {} |", machine.0, machine.1, chosen(&of_name)).unwrap();
    }
}

/// Schedules planned without naming a planner: cases, counts and gap, as cells.
fn chosen(rows: &[&Row]) -> String {
    let (counts, gap) = counts(rows.iter().map(|row| (standing(row, row.unnamed.1), row.facts.least)));
    format!("{} | {counts} | {gap}", rows.len())
}

fn by_planner(page: &mut String, rows: &[Row]) {
    page.push_str(
        "\n## By planner\n\nEvery planner by name, where it applies. Baselines stand here as their papers have them, \
         and some are for messages in\nmany parts.\n\n\
         | planner | cases | decided | optimal | as narrow | wider by 1 | wider by more | largest gap |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let names: BTreeSet<&str> = rows.iter().flat_map(|row| row.named.iter().map(|(name, _)| *name)).collect();
    for name in names {
        let of_row = |row: &Row| {
            let figures = row.named.iter().find(|(named, _)| *named == name)?.1;
            Some((standing(row, figures), row.facts.least))
        };
        let of_name: Vec<_> = rows.iter().filter_map(of_row).collect();
        let cases = of_name.len();
        let (counts, gap) = counts(of_name.into_iter());
        writeln!(page, "| {name} | {cases} | {counts} | {gap} |").unwrap();
    }
}

/// Decided, optimal (at either end of the front), as narrow, wider by 1, by more, as cells; and the largest gap in
/// percent.
fn counts(of: impl Iterator<Item = (Standing, Option<Figures>)>) -> (String, String) {
    let mut cells = [0_u32; 5];
    let mut gap = 0.0_f64;
    for (standing, least) in of {
        cells[0] += u32::from(standing != Standing::Undecided);
        match standing {
            Standing::Optimal | Standing::Fewest => cells[1] += 1,
            Standing::Longer(_) => cells[2] += 1,
            Standing::Wider(by) => {
                cells[if by == 1 { 3 } else { 4 }] += 1;
                gap = gap.max(f64::from(by) / least.map_or(1.0, |least| f64::from(least.width)));
            }
            Standing::Undecided => {}
        }
    }
    (cells.map(|cell| cell.to_string()).join(" | "), format!("{:.0} %", 100.0 * gap))
}

/// The cases whose plans are farthest from the optimum.
fn largest_gaps(page: &mut String, rows: &[Row]) {
    let wider = |row: &Row| match (standing(row, row.unnamed.1), row.facts.least) {
        (Standing::Wider(by), Some(least)) => Some(f64::from(by) / f64::from(least.width)),
        _ => None,
    };
    let mut gaps: Vec<(f64, &Row)> = rows.iter().filter_map(|row| Some((wider(row)?, row))).collect();
    gaps.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let shown = gaps.len().min(LISTED);
    write!(
        page,
        "\n## Largest gaps\n\nWithout a named planner: {shown} of the {} cases that are wider than the optimum.\n\n\
         | collective | machine | failed cables | parts | optimum | planned | by |\n|---|---|---|---|---|---|---|\n",
        gaps.len()
    )
    .unwrap();
    for (_, row) in &gaps[..shown] {
        let (machine, (least, _), (planner, figures)) = (&row.case.machine, optimum(row), row.unnamed);
        let (kind, name, dead, parts) = (row.case.kind.name(), machine.name(), machine.damage(), row.case.parts);
        writeln!(page, "| {kind} | {name} | {dead} | {parts} | {least} | {figures} | {planner} |").unwrap();
    }
}

/// The plan, and how far it is from the optimum.
fn planned(row: &Row) -> String {
    let figures = row.unnamed.1;
    match standing(row, figures) {
        Standing::Optimal => format!("{figures}, optimal"),
        Standing::Fewest => format!("{figures}, fewest steps"),
        Standing::Longer(by) => format!("{figures}, {by} longer"),
        Standing::Wider(by) => format!("{figures}, {by} wider"),
        Standing::Undecided => figures.to_string(),
    }
}

/// The ends of the front, or their bounds.
fn optimum(row: &Row) -> (String, String) {
    let facts = &row.facts;
    let list = |figures: &[Figures]| figures.iter().map(Figures::to_string).collect::<Vec<_>>().join(", ");
    let least = facts.least.map_or_else(
        || {
            let Figures { steps, width } = row.bound;
            let mut text = format!("undecided: at least {steps} steps and width {width}");
            for (word, figures) in [("not", &facts.refuted), ("found", &facts.found)] {
                if !figures.is_empty() {
                    write!(text, "; {word} {}", list(figures)).unwrap();
                }
            }
            text
        },
        |least| least.to_string(),
    );
    let fewest = match facts.fewest {
        Some(fewest) if facts.least == Some(fewest) => "-".to_owned(),
        Some(fewest) => fewest.to_string(),
        None => "undecided".to_owned(),
    };
    (least, fewest)
}

/// The figures of the planners by name, best first.
fn others(row: &Row) -> String {
    let mut by_figures: BTreeMap<(u32, u32), (Figures, Vec<&str>)> = BTreeMap::new();
    for &(name, figures) in &row.named {
        by_figures.entry(figures.by_width()).or_insert((figures, Vec::new())).1.push(name);
    }
    let groups = by_figures.into_values().map(|(figures, names)| format!("{figures} {}", names.join(" ")));
    groups.collect::<Vec<_>>().join("; ")
}
