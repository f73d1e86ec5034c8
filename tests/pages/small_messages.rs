//! docs/results/small-messages.md: all-reduce by message size. `SYNTH_UPDATE_RESULTS=1 cargo test --test pages
//! small_messages` writes it anew.

use std::fmt::Write;

use collsynth::certificate::Rational;
use collsynth::collective::Kind;
use collsynth::cost::{Bandwidth, Line, Rates};
use collsynth::plan::{Butterfly, Charge, Goal, Parts, Planner, planner_named};
use collsynth::topology::{Topology, Torus};
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify};
use rayon::prelude::*;

use crate::support::pages::{decimal, float, hold, name};
use crate::support::plans::{intact, plan_for, problem, ratio, without};

const ALPHA: f64 = 100e-9;
const BANDWIDTH: f64 = 32e9;
/// 32 B to 1 GiB: powers of eight, and the end.
const SIZES: [u64; 10] = [32, 256, 2 << 10, 16 << 10, 128 << 10, 1 << 20, 8 << 20, 64 << 20, 512 << 20, 1 << 30];

const HEAD: &str = "# All-reduce, from 32 B to 1 GiB

The best algorithms published for all-reduce of small vectors on tori exchange over several hops in one round: recursive
doubling and Rabenseifner's algorithm (Thakur et al., IJHPCA 2005), Swing (De Sensi et al., NSDI 2024), Bine trees (De
Sensi et al., SC 2025), Trivance (Jürß et al., arXiv 2602.17254). They are here as planners for comparison
(`synth planners` lists them, `crates/baselines/src/butterflies` says what is built), and planning never uses one unless
named. There are two prices:

* **As charged** by their papers: a start-up for each round, however many hops it spans, and the load of its fullest
  link. Exchanges go along one dimension in the shorter direction, half each way where both are equal; around a dead
  cable they take a shortest route that is left. `synth compare --collective all_reduce` shows it as *charged by
  phases*.
* **Hop by hop**: a schedule that the verifier accepts, store-and-forward, with a start-up for each step. So all of ours
  are charged. `swing_latency`, `trivance` and `recursive_doubling` swap whole sums: farther than to a neighbor there is
  no schedule of them, since a sum would pass ranks that hold sums of the same chunk, and a schedule has one at a rank.
  They are priced as charged only.

Ours are all_reduce schedules and, for the smallest vectors, all_reduce_gathered: each rank gathers all vectors in as
many steps as the diameter and adds them itself (the additions are not charged; nor are they in the other prices). Of
each machine a few schedules are planned, listed below its table, and the fastest for a size counts. Planning for the
price itself (`--message-bytes`, `--alpha`, `--bandwidth`) tries more parts, takes longer, and can only be better.

All times are in microseconds, for 100 ns a start-up and 32 GB/s a link and direction, the defaults of `synth compare`
(from the evaluation of Qin et al., MICRO 2025). Only their ratio moves the rows: the sizes scale with alpha times
bandwidth, 3200 bytes here. **Bold** is the fastest of the three prices. *Ratio*: ours over the best as charged.

`SYNTH_UPDATE_RESULTS=1 cargo test --test pages small_messages` writes this page; without the variable, the same test
keeps it current.
";

/// Something with a time.
struct Candidate {
    name: String,
    steps: usize,
    volume: Rational,
}

impl Candidate {
    fn seconds(&self, bytes: u64) -> f64 {
        let Line { fixed, per_byte } = rates().phased(self.steps as u32, float(self.volume));
        fixed + per_byte * bytes as f64
    }
}

fn rates() -> Rates {
    Rates { alpha: ALPHA, transfer_setup: 0.0, bandwidth: Bandwidth::Uniform(BANDWIDTH) }
}

/// One way to ask for a schedule: planner, parts, most steps; of vectors that are gathered, or added on the way.
type Wish = (Option<&'static str>, Kind, u32, Option<u32>);

/// A verified schedule; `None` if the planner does not apply.
fn planned(topology: &Topology, (planner, kind, parts, max_steps): &Wish) -> Option<Candidate> {
    let planner = planner.map(|name| planner_named(name).unwrap());
    let goal = Goal { planner, parts: Parts::Fixed(*parts), max_steps: *max_steps, ..Goal::default() };
    let plan = plan_for(topology, kind, &goal).ok()?;
    let (steps, width) = (plan.schedule.step_count(), plan.schedule.total_width() as i128);
    let gathered = if *kind == Kind::AllReduce { "" } else { ", gathered" };
    let name = format!("{}{gathered}, {parts} parts", plan.planner);
    let report = verify(&plan.into(), &Options::default());
    assert_eq!(report.verdict(), Verdict::Holds, "{name}: {report:?}");
    Some(Candidate { name, steps, volume: ratio(width, *parts) })
}

/// Ours. On 512 ranks, planners that take a second or two.
fn wishes(topology: &Topology) -> Vec<Wish> {
    let (ranks, ports) = (topology.rank_count() as u32, 2 * topology.as_torus().unwrap().extents.len() as u32);
    let diameter: u32 = topology.as_torus().unwrap().extents.iter().map(|extent| extent / 2).sum();
    let gathered = [1, ports - 1, ports].map(|parts| (None, Kind::AllReduceGathered, parts, None));
    let whole = problem(topology.clone(), Kind::AllReduce);
    let swapped = planner_named("exchange").unwrap().natural_parts(&whole);
    let swapped = swapped.map(|parts| (Some("exchange"), Kind::AllReduce, parts, None));
    let reduced: Vec<Wish> = if ranks > 100 {
        let by = |planner, parts| (Some(planner), Kind::AllReduce, parts, None);
        vec![by("composed", ranks), by("composed", ranks * ports), by("packed_trees", 192)]
    } else {
        let parts = [ranks, 2 * ranks];
        let asked =
            parts.iter().flat_map(|&parts| [Some(2 * diameter), None].map(|most| (None, Kind::AllReduce, parts, most)));
        asked.chain([(Some("matching"), Kind::AllReduce, 2 * ranks, None)]).collect()
    };
    // Around a dead cable, composing in fine parts takes half a minute on 512 ranks.
    let slow = |wish: &Wish| ranks > 100 && wish.2 > ranks && topology.live_links().count() < topology.links().len();
    reduced.into_iter().filter(|wish| !slow(wish)).chain(swapped).chain(gathered).collect()
}

/// Those that no other equals or beats in both figures, the fewest steps first.
fn front(mut all: Vec<Candidate>) -> Vec<Candidate> {
    all.sort_by_key(|one| (one.steps, one.volume));
    let mut least: Option<Rational> = None;
    all.retain(|one| least.is_none_or(|least| one.volume < least) && least.replace(one.volume) != Some(one.volume));
    all
}

fn fastest(of: &[Candidate], bytes: u64) -> Option<&Candidate> {
    of.iter().min_by(|a, b| a.seconds(bytes).total_cmp(&b.seconds(bytes)))
}

fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B")];
    let (shift, unit) = units.into_iter().find(|(shift, _)| bytes >> shift > 0).unwrap();
    format!("{} {unit}", bytes >> shift)
}

/// Microseconds.
fn time(seconds: f64) -> String {
    let micros = seconds * 1e6;
    if micros < 100.0 { format!("{micros:.2}") } else { format!("{micros:.0}") }
}

/// A machine's table, and at which sizes ours are slower than the best as charged, than any schedule hop by hop, and
/// than what no schedule can do: sums that pass ranks which hold sums of the same chunk.
fn section(heading: &str, topology: &Topology) -> (String, [Vec<u64>; 3]) {
    let whole = problem(topology.clone(), Kind::AllReduce);
    let charges: Vec<(&str, Charge)> =
        Butterfly::ALL.par_iter().filter_map(|one| Some((one.name(), one.charge(&whole).ok()?))).collect();
    let priced = |startups: fn(&Charge) -> u32| -> Vec<Candidate> {
        let one = |(name, charge): &(&str, Charge)| Candidate {
            name: (*name).to_owned(),
            steps: startups(charge) as usize,
            volume: charge.load,
        };
        charges.iter().map(one).collect()
    };
    let (charged, passing) = (priced(|charge| charge.rounds), priced(|charge| charge.hops));
    let hops: Vec<Wish> = Butterfly::ALL
        .iter()
        .filter_map(|butterfly| Some((Some(butterfly.name()), Kind::AllReduce, butterfly.natural_parts(&whole)?, None)))
        .collect();
    let plan = |wishes: Vec<Wish>| wishes.par_iter().filter_map(|wish| planned(topology, wish)).collect::<Vec<_>>();
    let (ours, hops) = (front(plan(wishes(topology))), plan(hops));
    let mut text = format!("\n## {heading}\n\n");
    text += "| vector | ours | steps | volume | time | best as charged | time | ratio | best hop by hop | time |\n";
    text += "|---|---|---|---|---|---|---|---|---|---|\n";
    let (mut lost, mut beaten, mut passed) = (Vec::new(), Vec::new(), Vec::new());
    for bytes in SIZES {
        let best = fastest(&ours, bytes).unwrap();
        let (seconds, rivals) = (best.seconds(bytes), [&charged, &hops].map(|of| fastest(of, bytes)));
        let least = rivals.iter().flatten().map(|rival| rival.seconds(bytes)).fold(seconds, f64::min);
        let shown = |seconds: f64| if seconds <= least { format!("**{}**", time(seconds)) } else { time(seconds) };
        let cells = rivals
            .map(|of| of.map_or(["-".to_owned(), "-".to_owned()], |of| [of.name.clone(), shown(of.seconds(bytes))]));
        let over = rivals[0].map_or(f64::NAN, |rival| seconds / rival.seconds(bytes));
        let how = best.name.split(", ").filter(|word| !word.ends_with("parts")).collect::<Vec<_>>().join(", ");
        let volume = decimal(best.volume);
        let [[name, charge], [hop, walked]] = &cells;
        let shown = shown(seconds);
        writeln!(
            text,
            "| {} | {how} | {} | {volume} | {shown} | {name} | {charge} | {over:.2} | {hop} | {walked} |",
            size(bytes),
            best.steps
        )
        .unwrap();
        lost.extend(Some(bytes).filter(|_| over > 1.0));
        beaten.extend(Some(bytes).filter(|_| rivals[1].is_some_and(|rival| rival.seconds(bytes) < seconds)));
        passed.extend(Some(bytes).filter(|_| fastest(&passing, bytes).is_some_and(|one| one.seconds(bytes) < seconds)));
    }
    let list = |of: &[Candidate]| {
        let one = |one: &Candidate| format!("{} ({} steps, {})", one.name, one.steps, decimal(one.volume));
        of.iter().map(one).collect::<Vec<_>>().join("; ")
    };
    let rounds = |one: &Candidate| format!("{} ({} rounds, {})", one.name, one.steps, decimal(one.volume));
    let rounds = charged.iter().map(rounds).collect::<Vec<_>>().join("; ");
    write!(text, "\nOurs, with their volumes: {}.\n\nCharged, with their loads: {rounds}.\n", list(&ours)).unwrap();
    write!(text, "\nHop by hop: {}.\n", if hops.is_empty() { "none".to_owned() } else { list(&hops) }).unwrap();
    (text, [lost, beaten, passed])
}

#[test]
fn all_reduce_by_message_size() {
    let tori: [&[u32]; 4] = [&[8, 8], &[9, 9], &[4, 4, 4], &[8, 8, 8]];
    let mut page = HEAD.to_owned();
    let mut sections = String::new();
    let mut lines = String::new();
    for extents in tori {
        for dead in [false, true] {
            let (torus, heading) = (Torus::new(extents), name(extents));
            let topology = if dead { without(torus, &[(0, 0)]) } else { intact(torus) };
            let heading = format!("{heading}, {}", if dead { "one dead cable" } else { "intact" });
            let (text, [lost, beaten, passed]) = section(&heading, &topology);
            assert!(beaten.is_empty(), "{heading}, {beaten:?}: a published algorithm hop by hop is faster than ours");
            sections += &text;
            let won = |bytes: &u64| !lost.contains(bytes);
            let words = |sizes: Vec<u64>| sizes.into_iter().map(size).collect::<Vec<_>>().join(", ");
            let wins = words(SIZES.into_iter().filter(won).collect());
            writeln!(lines, "| {heading} | {wins} | {} | {} |", words(lost), words(passed)).unwrap();
        }
    }
    page += "
## Who wins

Hop by hop, ours are the fastest at every size on every machine: the test insists. Against the papers' own charge:

| machine | ours are at least as fast at | slower at | slower than passing sums at |
|---|---|---|---|
";
    page += &lines;
    page += "
Where ours are slower, the reason is the charge and not the links: a schedule pays alpha for each hop, and no schedule,
ours or theirs, has fewer steps than the diameter (8 on 8x8 and 9x9, 6 on 4x4x4, 12 on 8x8x8), while `log2 p` or
`log3 p` rounds are fewer: 6, 4, 6 and 9. Whether a network charges a start-up a hop or a round is for the network to
say; a switch that forwards without the processor is between the two.

*Passing sums*: the published rounds hop by hop, if ranks had room for sums that pass through beside their own. A
start-up is charged for each hop of the longest route of every round, and the same load. Such steps are no schedules (a
schedule has one value of a chunk at a rank), but a machine could do them. Where ours are slower, a schedule of few
steps is missing: `exchange`, which swaps sums without passing any, applies to intact tori whose extents are powers of
two.
";
    page += &sections;
    hold("docs/results/small-messages.md", &page);
}
