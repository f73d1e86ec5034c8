//! Random mutations of valid schedules: the verifier must agree with an independent, naive one.
//!
//! The schedules come from a generator of this test's own (trees and a greedy timetable, every kind of collective,
//! random machines with failures), never from a planner.

mod commands;
pub mod dice;
mod generate;
mod machine;
mod mutate;
mod plain;
mod reference;
mod shrink;

use std::collections::BTreeMap;

use proptest::prelude::{ProptestConfig, any};
use proptest::{prop_assert, proptest};

use collsynth::certificate::{Evidence, Rational, value};
use collsynth::topology::RankId;
use collsynth::verdict::Verdict;
use collsynth::verify::{Code, Options, verify};
use dice::Dice;
use plain::Case;

/// Compares the verdicts; an error describes the difference.
fn compare(case: &Case) -> Result<reference::Verdict, String> {
    let solution = case.solution();
    let report = verify(&solution, &Options::default());
    let expected = reference::judge(case);
    let found: Vec<(Code, u64)> = report.totals().collect();
    let agrees = match expected {
        Ok(()) => report.verdict() == Verdict::Holds,
        // The first violation in the order of steps, and the right reason among those found.
        Err((code, step)) => {
            found.iter().any(|&(other, _)| other == code)
                && report.violations.first().is_some_and(|first| first.step == step)
        }
    };
    if !agrees {
        return Err(format!(
            "the reference says {expected:?}, the verifier {found:?}: {:#?}\n{case:#?}",
            report.violations
        ));
    }
    let short = verify(&solution, &Options { max_errors: 1, ..Options::default() });
    if !short.totals().eq(report.totals()) || short.violations.first() != report.violations.first() {
        return Err(format!("another limit, another verdict: {short:#?} {report:#?}"));
    }
    Ok(expected)
}

fn mutated(seed: u64, mutations: &[u64]) -> Case {
    let mut case = generate::random_case(&mut Dice::new(seed));
    for &mutation in mutations {
        mutate::mutate(&mut case, &mut Dice::new(mutation));
    }
    case
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn the_verdict_on_mutated_schedules_is_that_of_the_reference(
        seed in any::<u64>(),
        mutations in proptest::collection::vec(any::<u64>(), 0..4),
    ) {
        if let Err(difference) = compare(&mutated(seed, &mutations)) {
            prop_assert!(false, "{}", difference);
        }
    }

    #[test]
    fn generated_schedules_hold_and_no_evidence_proves_more_than_their_volume(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let case = generate::random_case(&mut dice);
        let verdict = compare(&case);
        prop_assert!(matches!(verdict, Ok(Ok(()))), "{:?}", verdict);
        let solution = case.solution();
        let volume = Rational::new(i128::from(solution.schedule.total_width()), i128::from(case.parts));
        for evidence in random_evidence(&case, &mut dice) {
            if let Ok(proven) = value(&solution.problem, &evidence) {
                prop_assert!(proven <= volume, "{} > {} by {:?} for {:#?}", proven, volume, evidence, case);
            }
        }
    }
}

/// A metric, a cut and a partition; most do not apply to the collective.
fn random_evidence(case: &Case, dice: &mut Dice) -> [Evidence; 3] {
    let mut weights: Vec<(RankId, RankId, u32)> = Vec::new();
    for wire in &case.machine.wires {
        let (from, to) = (RankId(wire.from), RankId(wire.to));
        if !weights.iter().any(|&(a, b, _)| (a, b) == (from, to)) {
            weights.push((from, to, dice.roll(3) as u32));
        }
    }
    let ranks = case.machine.live_ranks().filter(|_| dice.once_in(2)).map(RankId).collect();
    let mut blocks: [Vec<RankId>; 3] = Default::default();
    for rank in case.machine.live_ranks() {
        blocks[dice.roll(3)].push(RankId(rank));
    }
    let blocks = blocks.into_iter().filter(|block| !block.is_empty()).collect();
    [Evidence::metric(weights), Evidence::Cut { ranks }, Evidence::Partition { blocks }]
}

#[test]
fn single_mutations_meet_every_rule() {
    let mut met: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..4000 {
        let verdict = compare(&mutated(seed, &[seed])).unwrap_or_else(|difference| panic!("seed {seed}: {difference}"));
        let rule = verdict.err().map_or("holds".to_owned(), |(code, _)| code.to_string());
        *met.entry(rule).or_default() += 1;
    }
    let expected = [
        "D001", "D002", "D003", "F005", "F006", "F007", "L001", "L002", "R001", "R002", "R003", "T001", "T002", "T003",
        "holds",
    ];
    assert!(met.keys().eq(expected), "{met:?}");
}
