//! Every collective on small machines with all sorts of failures, from and to every root of the smallest: planned,
//! verified, compared with its bounds. docs/results/collectives.md and data/collectives.txt hold the outcome of this
//! build; `SYNTH_UPDATE_RESULTS=1 cargo test --test pages collectives` writes them anew.

use std::collections::BTreeMap;
use std::fmt::Write;

use collsynth::bound;
use collsynth::certificate::{Rational, Scope};
use collsynth::claim::{Quality, Standing};
use collsynth::collective::{Demand, Kind};
use collsynth::plan::{Plan, PlanError};
use collsynth::problem::Problem;
use collsynth::report::figures::fine_percent;
use collsynth::schedule::Solution;
use collsynth::topology::{DimRef, Distances, FailedLink, RankId, Topology, TopologySpec};
use collsynth::verify::{Options, Verified};
use rayon::prelude::*;

use crate::support::pages::{decimal, hold, name};
use crate::support::plans::{plan, problem};

const MACHINES: [&[u32]; 9] = [&[3], &[4], &[5], &[8], &[2, 2], &[3, 3], &[4, 4], &[2, 3, 4], &[4, 4, 4]];
const DAMAGES: [&str; 5] = ["none", "1 cable", "2 cables", "3 cables", "1 rank"];
/// Up to this many ranks, every rank is a root; beyond, a few are.
const ALL_ROOTS: usize = 9;

const HEAD: &str = "# Every collective, with and without failures

Every collective on nine machines with all sorts of failures, planned in stated parts (the numbers are in the data
below), verified, and compared with its certified bounds; a command that states no parts chooses its own, often more.
`SYNTH_UPDATE_RESULTS=1 cargo test --test pages collectives` writes this page; without the
variable, the same test keeps it current.

For collectives with a root, each figure is that of the root with the largest gap: of all roots up to 9 ranks, of four
beyond. The gap is how far the volume lies above its bound. Where the bound holds for the parts planned only, or is met
but for rounding up to a whole width, more parts may need less volume: *certified optimal for these parts*.
[tests/data/collectives.txt](../../tests/data/collectives.txt) has every case, with its steps, volume and bounds.

The failed cables: the first; one from the middle of the list; one more at a rank of the first. The failed rank is the
one in the middle. Machines whose live ranks cannot all reach each other are left out: there the command ends with exit
code 3 and names the parts.
";

const ROWS_HEAD: &str = "\
# Every collective on small machines with all sorts of failures, planned in the stated parts; see
# docs/results/collectives.md. Volumes are in messages (shards, vectors) on one link of capacity 1.
# collective | machine | failed | root | parts | steps | bound | volume | bound | gap | which figures stand on the bound
";

/// The machine with a damage; `None` if it has too few cables.
fn machine(extents: &[u32], damage: &str) -> Option<Topology> {
    let mut spec = TopologySpec::torus(extents);
    let intact = Topology::new(spec.clone()).unwrap();
    let links = intact.links().iter().filter(|link| link.direction.is_some_and(|direction| direction.positive));
    let cables: Vec<FailedLink> = links
        .map(|link| FailedLink { from: link.from, to: link.to, dim: link.direction.map(DimRef::Direction), both: true })
        .collect();
    let first = cables[0];
    let touches = |cable: &&FailedLink| [cable.from, cable.to].iter().any(|end| [first.from, first.to].contains(end));
    let others = || cables[1..].iter().filter(|cable| **cable != cables[cables.len() / 2]);
    let third = others().rfind(touches).or_else(|| others().next());
    match damage {
        "none" => {}
        "1 rank" => spec.failed_ranks.push(RankId(intact.rank_count() as u32 / 2)),
        _ => spec.failed_links.push(first),
    }
    if ["2 cables", "3 cables"].contains(&damage) {
        spec.failed_links.push(cables[cables.len() / 2]);
    }
    if damage == "3 cables" {
        spec.failed_links.push(*third?);
    }
    Some(Topology::new(spec).unwrap())
}

/// The collectives, each with the roots to try.
fn kinds(topology: &Topology) -> Vec<Vec<Kind>> {
    let ranks = topology.rank_count() as u32;
    let counts: Vec<u32> =
        (0..ranks * ranks).map(|pair| 4 * ((pair * 5 + pair / ranks * 3) % 7).saturating_sub(4) + pair % 3).collect();
    let live: Vec<RankId> = topology.live_ranks().collect();
    let roots = match live.len() {
        0..=ALL_ROOTS => live,
        ranks => vec![live[0], live[1], live[ranks / 2], live[ranks - 1]],
    };
    let rooted = |kind: fn(RankId) -> Kind| roots.iter().copied().map(kind).collect();
    vec![
        vec![Kind::AllToAll],
        vec![Kind::AllToAllV(Demand::new(ranks, &counts).unwrap())],
        vec![Kind::AllGather],
        vec![Kind::ReduceScatter],
        vec![Kind::AllReduce],
        rooted(Kind::Broadcast),
        rooted(Kind::Reduce),
        rooted(Kind::Scatter),
        rooted(Kind::Gather),
        vec![Kind::Barrier],
        vec![Kind::AllReduceGathered],
    ]
}

/// Few parts: for messages and shards the fewest that allow nearly the volume bound, more for vectors, which travel in
/// a pipeline.
fn parts(topology: &Topology, kind: &Kind) -> u32 {
    let ranks = topology.live_rank_count() as u32;
    let most = match kind {
        Kind::AllToAllV(_) | Kind::Barrier => return 1,
        Kind::AllReduce => return (3 * ranks).clamp(48, 128),
        Kind::Broadcast(_) | Kind::Reduce(_) => return 12,
        Kind::AllToAll => (256 / ranks).clamp(2, 16),
        _ => 8,
    };
    let problem = problem(topology.clone(), kind.clone());
    let Ok(bounds) = bound::find(&problem) else { return 1 };
    let volume = |parts: u32| Rational::new(bounds.least_width(parts).into(), parts.into());
    let fewest = (1..=most).min_by_key(|&parts| volume(parts)).unwrap_or(1);
    most / fewest * fewest
}

/// The least total width of a broadcast or reduce, derived without flows over time. All `P` chunks must cross from the
/// ranks within `j` hops of the root to the rest, over `c` links: the first cannot before `j` steps are over, the last
/// still has to reach the farthest rank, `h` hops from the root, in steps at least 1 wide. So `P / c + h - 1`, for any
/// `j`. Likewise all must enter every rank: `P / c + (its hops) - 1`. A reduce is a broadcast reversed.
fn pipeline_width(problem: &Problem) -> u64 {
    let topology = problem.topology();
    let distances = Distances::new(topology);
    let (root, outwards) = match problem.collective().kind {
        Kind::Broadcast(root) => (root, true),
        Kind::Reduce(root) => (root, false),
        _ => return 0,
    };
    let hops = |rank| u64::from(if outwards { distances.get(root, rank) } else { distances.get(rank, root) });
    let links = || {
        let live = topology.live_links().map(|id| topology.link(id));
        live.map(
            |link| if outwards { (link.from, link.to, link.capacity) } else { (link.to, link.from, link.capacity) },
        )
    };
    let over = |crosses: &dyn Fn(RankId, RankId) -> bool| -> u64 {
        let room: u64 =
            links().filter(|&(from, to, _)| crosses(from, to)).map(|(.., capacity)| u64::from(capacity)).sum();
        u64::from(problem.parts()).div_ceil(room)
    };
    let farthest = topology.live_ranks().map(hops).max().unwrap_or(0);
    let levels = (0..farthest).map(|j| over(&|from, to| hops(from) <= j && hops(to) > j) + farthest - 1);
    let others = topology.live_ranks().filter(|rank| *rank != root);
    let ranks = others.map(|rank| over(&|_, to| to == rank) + hops(rank) - 1);
    levels.chain(ranks).max().unwrap_or(0)
}

/// The figures of a case.
struct Outcome {
    kind: Kind,
    parts: u32,
    steps: usize,
    volume: Rational,
    bounds: (u32, Option<Rational>),
    quality: Quality,
}

impl Outcome {
    fn gap(&self) -> f64 {
        self.quality.volume.gap().unwrap_or(0.0)
    }
}

/// Plans and verifies; `None` if the machine is not connected.
fn outcome(topology: &Topology, kind: Kind) -> Option<Outcome> {
    let parts = parts(topology, &kind);
    let planned = plan(None, topology, kind.clone(), parts);
    let what = || format!("{} in {parts} on {:?}", kind.name(), topology.spec());
    if topology.components().len() > 1 {
        assert!(matches!(planned, Err(PlanError::Disconnected(_))), "{}: {planned:?}", what());
        return None;
    }
    let Plan { problem, schedule, bounds, .. } = planned.unwrap_or_else(|error| panic!("{}: {error}", what()));
    let (quality, steps) = (Quality::new(&problem, &schedule, &bounds), schedule.step_count());
    let (width, pipeline) = (schedule.total_width(), pipeline_width(&problem));
    assert!(width >= pipeline, "{}", what());
    // A schedule above its certified bound has the best bound there is.
    let least_width = u64::from(bounds.least_width(parts));
    assert!(least_width >= width.min(pipeline), "{}: {least_width} certified, {pipeline} known", what());
    let volume = Rational::new(schedule.total_width().into(), parts.into());
    assert!(steps as u64 >= u64::from(bounds.least_steps()), "{}", what());
    assert!(width >= least_width, "{}", what());
    let least = (bounds.least_steps(), bounds.volume.as_ref().map(|bound| bound.at_least));
    let verified = Verified::<Solution>::new(Solution { problem, schedule, bounds, origin: None }, &Options::default());
    let verified = verified.unwrap_or_else(|rejected| panic!("{}: {rejected}", what()));
    assert!(verified.report().violation_count() == 0);
    Some(Outcome { kind, parts, steps, volume, bounds: least, quality })
}

/// By collective, machine and damage, of the root with the largest gap; `None` where disconnected.
type Outcomes = BTreeMap<(usize, usize, usize), Option<Outcome>>;

fn outcomes() -> Outcomes {
    let mut cases = Vec::new();
    for (m, extents) in MACHINES.iter().enumerate() {
        for (d, damage) in DAMAGES.iter().enumerate() {
            let Some(topology) = machine(extents, damage) else { continue };
            for (k, kinds) in kinds(&topology).into_iter().enumerate() {
                cases.extend(kinds.into_iter().map(|kind| ((k, m, d), topology.clone(), kind)));
            }
        }
    }
    // The largest first, so that all threads are busy to the end.
    let done: Vec<_> = cases.into_par_iter().rev().map(|(at, topology, kind)| (at, outcome(&topology, kind))).collect();
    let mut worst = BTreeMap::new();
    for (at, outcome) in done.into_iter().rev() {
        let entry = worst.entry(at).or_insert(None);
        if let Some(outcome) = outcome
            && entry.as_ref().is_none_or(|other: &Outcome| outcome.gap() > other.gap())
        {
            *entry = Some(outcome);
        }
    }
    worst
}

fn machine_name(extents: &[u32]) -> String {
    match extents {
        [ranks] => format!("ring of {ranks}"),
        _ => name(extents),
    }
}

/// Does it meet its bound on the volume or, without one, on the steps?
fn is_certified(outcome: &Outcome) -> bool {
    match outcome.quality.volume.standing {
        Standing::Unknown => outcome.quality.steps.is_certified(),
        volume => volume.is_certified(),
    }
}

/// Does the claim about its volume hold for its own parts only?
fn is_for_parts(outcome: &Outcome) -> bool {
    outcome.quality.volume.standing.scope() == Some(Scope::TheseParts)
}

/// A case in numbers: root, parts, steps and their bound, volume and its bound, gap, and what is certified.
fn cells(outcome: &Outcome) -> [String; 8] {
    let optional = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let (steps, volume) = outcome.bounds;
    let gap = outcome.quality.volume.gap().map(|gap| if gap == 0.0 { "0".to_owned() } else { fine_percent(gap) });
    let certified = match (outcome.quality.steps.is_certified(), outcome.quality.volume.is_certified()) {
        (true, true) => "both",
        (true, false) => "steps",
        (false, true) => "volume",
        (false, false) => "none",
    };
    let parts = if is_for_parts(outcome) { ", the volume for these parts" } else { "" };
    [
        optional(outcome.kind.root().map(|root| root.to_string())),
        outcome.parts.to_string(),
        outcome.steps.to_string(),
        steps.to_string(),
        decimal(outcome.volume),
        optional(volume.map(decimal)),
        optional(gap),
        format!("{certified}{parts}"),
    ]
}

/// Every case, a line each.
fn rows(outcomes: &Outcomes) -> String {
    let names = kind_names();
    let rows = outcomes.iter().map(|(&(k, m, d), outcome)| {
        let start = format!("{} | {} | {}", names[k], machine_name(MACHINES[m]), DAMAGES[d]);
        match outcome {
            Some(outcome) => format!("{start} | {}\n", cells(outcome).join(" | ")),
            None => format!("{start} | disconnected\n"),
        }
    });
    ROWS_HEAD.to_owned() + &rows.collect::<String>()
}

fn page(outcomes: &Outcomes) -> String {
    let mut page = HEAD.to_owned();
    let explained = "How many meet their bound on the volume (on the steps, where data has no volume), how many of\n\
                     these one that holds for the parts planned only (*p*), and the largest gap of the others";
    write!(page, "\n## By failures\n\n{explained}.\n\n{}", table(outcomes, &DAMAGES.map(String::from), |d, _| d))
        .unwrap();
    let machines = MACHINES.map(machine_name);
    write!(page, "\n## By machine\n\nThe same, over all failures.\n\n{}", table(outcomes, &machines, |_, m| m))
        .unwrap();
    page.push_str(
        "\n## Above the bound\n\nEvery case that does not meet its bound.\n\n\
         | collective | machine | failed | root | parts | steps | bound | volume | bound | gap |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    let names = kind_names();
    for (&(k, m, d), outcome) in outcomes {
        let Some(outcome) = outcome.as_ref().filter(|outcome| !is_certified(outcome)) else { continue };
        let cells = cells(outcome)[..7].join(" | ");
        writeln!(page, "| {} | {} | {} | {cells} |", names[k], machines[m], DAMAGES[d]).unwrap();
    }
    page
}

fn kind_names() -> Vec<&'static str> {
    kinds(&machine(&[3], "none").unwrap()).iter().map(|kinds| kinds[0].name()).collect()
}

/// Per collective and column (from damage and machine): how many of how many cases meet the bound, how many of them one
/// for these parts only, and the largest gap of the others.
fn table(outcomes: &Outcomes, columns: &[String], column: impl Fn(usize, usize) -> usize) -> String {
    let mut table = format!("| collective | {} |\n|---|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
    for (k, name) in kind_names().into_iter().enumerate() {
        write!(table, "| {name} |").unwrap();
        for c in 0..columns.len() {
            let of_cell = outcomes.iter().filter(|&(&(kind, m, d), _)| (kind, column(d, m)) == (k, c));
            let cell: Vec<&Outcome> = of_cell.filter_map(|(_, outcome)| outcome.as_ref()).collect();
            let met = cell.iter().filter(|outcome| is_certified(outcome)).count();
            let of_parts = cell.iter().filter(|outcome| is_certified(outcome) && is_for_parts(outcome)).count();
            let others = cell.iter().filter(|outcome| !is_certified(outcome));
            let worst = others.map(|outcome| outcome.gap()).fold(0.0, f64::max);
            let worst = if met < cell.len() { format!(", {}", fine_percent(worst)) } else { String::new() };
            let of_parts = if of_parts > 0 { format!(" ({of_parts} p)") } else { String::new() };
            write!(table, " {met} of {}{of_parts}{worst} |", cell.len()).unwrap();
        }
        table.push('\n');
    }
    table
}

#[test]
fn every_collective_holds_and_the_page_is_current() {
    let outcomes = outcomes();
    hold("tests/data/collectives.txt", &rows(&outcomes));
    hold("docs/results/collectives.md", &page(&outcomes));
}
