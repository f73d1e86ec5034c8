//! Generated schedules, right and wrong, read from files of the judging kit: what holds is above everything that
//! evidence proves, what is wrong is refuted for the right reason.
//!
//! That the judge agrees with the kit's naive one on them, and meets every rule, is a test of the kit itself.

mod commands;
mod shrink;

use std::collections::BTreeMap;

use collsynth::certificate::{Bounds, Evidence, Rational, StepsBound, check_steps, stepped_value, value};
use collsynth::collective::ChunkId;
use collsynth::format::json::parse_solution;
use collsynth::schedule::{Schedule, Solution};
use collsynth::verdict::Verdict;
use collsynth::verify::{Code, Options, verify};
use collsynth_judging_kit::dice::Dice;
use collsynth_judging_kit::mutate;
use collsynth_judging_kit::naive::reader::to_text;
use proptest::prelude::{ProptestConfig, any};
use proptest::{prop_assert, proptest};

/// A schedule with up to three changes, if it can still be read.
fn mutated(seed: u64) -> Option<Solution> {
    parse_solution(&to_text(&mutate::schedule(&mut Dice::from_seed(seed)))).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn no_evidence_proves_more_than_a_schedule_that_holds(seed in any::<u64>()) {
        if let Err(why) = proven(seed) {
            prop_assert!(false, "{}", why);
        }
    }
}

#[test]
fn evidence_of_every_kind_proves_something() {
    let mut met: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for seed in 0..3000 {
        for (kind, something, all) in proven(seed).unwrap_or_else(|why| panic!("{why}")) {
            let (some, most) = met.entry(kind).or_default();
            (*some, *most) = (*some + u32::from(something), *most + u32::from(all));
        }
    }
    let kinds = ["cut", "joint", "metric", "metric_over_time", "partition", "steps"];
    assert!(met.keys().eq(&kinds) && met.values().all(|&(some, most)| some >= 20 && most >= 5), "{met:?}");
}

/// Of each evidence for a schedule that holds: its kind, whether it proves anything, and whether it proves the schedule
/// optimal.
fn proven(seed: u64) -> Result<Vec<(&'static str, bool, bool)>, String> {
    let solution = parse_solution(&to_text(&mutate::evident(&mut Dice::from_seed(seed)))).expect("a schedule");
    let Solution { problem, schedule, bounds, .. } = &solution;
    let report = verify(&Solution { bounds: Bounds::default(), ..solution.clone() }, &Options::default());
    if report.verdict() != Verdict::Holds {
        return Err(format!("seed {seed}: {report:#?}"));
    }
    let volume = Rational::new(i128::from(schedule.total_width()), i128::from(problem.collective().parts));
    let steps = schedule.step_count() as u32;
    let of_volume = bounds.volume.iter().map(|bound| (kind(&bound.evidence), value(problem, &bound.evidence)));
    let jointly = bounds.joint.iter().filter(|bound| bound.steps >= steps);
    let jointly = jointly.map(|bound| ("joint", stepped_value(problem, bound.steps, bound.rank, &bound.weights)));
    let mut met = Vec::new();
    for (kind, proven) in of_volume.chain(jointly).filter_map(|(kind, proven)| Some((kind, proven.ok()?))) {
        if proven > volume {
            return Err(format!("seed {seed}: {kind} proves {proven}, but a volume of {volume} is enough"));
        }
        met.push((kind, proven > 0.into(), proven == volume));
    }
    if let Some(bound) = &bounds.steps {
        let proves = |at_least| check_steps(problem, &StepsBound { at_least, ..bound.clone() }).is_ok();
        if proves(steps + 1) {
            return Err(format!("seed {seed}: {steps} steps are enough: {bound:?}"));
        }
        met.push(("steps", proves(1), steps > 0 && proves(steps)));
    }
    Ok(met)
}

fn kind(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Metric { .. } => "metric",
        Evidence::Cut { .. } => "cut",
        Evidence::MetricOverTime { .. } => "metric_over_time",
        Evidence::Partition { .. } => "partition",
    }
}

/// A reader refuses what names no chunk; a program may build it.
#[test]
fn a_chunk_that_does_not_exist_is_refuted() {
    let mut refuted = 0;
    for seed in 0..500 {
        let mut dice = Dice::from_seed(seed);
        let solution = parse_solution(&to_text(&mutate::evident(&mut dice))).expect("a schedule");
        if solution.schedule.transfers().is_empty() {
            continue;
        }
        let solution = Solution { bounds: Bounds::default(), ..solution };
        let chosen = dice.below(solution.schedule.transfers().len());
        let beyond = ChunkId(solution.problem.chunk_count() + dice.below(3) as u32);
        let (mut builder, mut number, mut broken) = (Schedule::builder(), 0, None);
        for (step, index) in solution.schedule.steps().zip(1..) {
            builder.step(step.width);
            for transfer in step.transfers {
                let chunks = solution.schedule.chunks(transfer).iter().copied();
                let extra = (number == chosen).then_some(beyond);
                broken = broken.or(extra.map(|_| index));
                builder.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks.chain(extra));
                number += 1;
            }
        }
        let report = verify(&Solution { schedule: builder.finish(), ..solution }, &Options::default());
        assert_eq!(report.totals().find(|(code, _)| *code == Code::F005), Some((Code::F005, 1)), "seed {seed}");
        assert_eq!(report.violations.first().map(|first| first.step), Some(broken), "seed {seed}: {report:#?}");
        refuted += 1;
    }
    assert!(refuted > 300, "{refuted}");
}
