//! The smallest part of a wrong schedule is wrong for the same reason, and all of it is needed.

use std::collections::BTreeMap;

use collsynth::schedule::{Schedule, Solution};
use collsynth::shrink::{Whole, shrink_solution};
use collsynth::verdict::Verdict;
use collsynth::verify::{Code, Finding, Options, verify};

use super::mutated;

/// What makes two violations the same one.
fn key(finding: &Finding) -> impl PartialEq + use<> {
    let end = finding.trace.as_ref().map(|trace| trace.path.last().map(|hop| hop.to));
    (finding.code, finding.chunk, finding.to, end)
}

fn has(solution: &Solution, wanted: &Finding) -> bool {
    let report = verify(solution, &Options { max_errors: usize::MAX, ..Options::default() });
    report.violations.iter().any(|found| key(found) == key(wanted))
}

/// The schedule without one of its chunk moves, each in turn; transfers without chunks go whole.
fn without_one(schedule: &Schedule) -> Vec<Schedule> {
    let count: usize = schedule.transfers().iter().map(|transfer| schedule.chunks(transfer).len().max(1)).sum();
    let without = |left_out: usize| {
        let (mut builder, mut number) = (Schedule::builder(), 0);
        for step in schedule.steps() {
            builder.step(step.width);
            for transfer in step.transfers {
                let chunks = schedule.chunks(transfer);
                let rest: Vec<_> =
                    (number..).zip(chunks).filter(|&(at, _)| at != left_out).map(|(_, &one)| one).collect();
                if !rest.is_empty() || (chunks.is_empty() && number != left_out) {
                    builder.transfer(transfer.from, transfer.to, transfer.via, transfer.op, rest);
                }
                number += chunks.len().max(1);
            }
        }
        builder.finish()
    };
    (0..count).map(without).collect()
}

#[test]
fn what_is_left_of_a_wrong_schedule_is_needed() {
    let mut met: BTreeMap<Code, (usize, usize)> = BTreeMap::new();
    for solution in (0..1500).filter_map(mutated) {
        let report = verify(&solution, &Options::default());
        let shrunk = match shrink_solution(&solution, &|| false) {
            Ok(shrunk) => shrunk,
            Err(Whole::Holds) => {
                assert_eq!(report.verdict(), Verdict::Holds);
                continue;
            }
            Err(Whole::Elsewhere(finding)) => {
                assert_eq!(finding.code, Code::F007);
                continue;
            }
        };
        let first = &report.violations[0];
        assert!(shrunk.is_minimal && key(&shrunk.finding) == key(first), "{first:#?} {shrunk:#?}");
        assert!(has(&shrunk.smallest, first), "{first:#?} {shrunk:#?}");
        for schedule in without_one(&shrunk.smallest.schedule) {
            let part = Solution { schedule, ..shrunk.smallest.clone() };
            assert!(!has(&part, first), "{first:#?}\n{:#?}\n{:#?}", shrunk.smallest, part);
        }
        let again = shrink_solution(&solution, &|| false).map(|shrunk| shrunk.smallest).ok();
        assert_eq!(again, Some(shrunk.smallest), "the same each time");
        let (all, left) = met.entry(first.code).or_default();
        (*all, *left) = (*all + shrunk.items.0, *left + shrunk.items.1);
    }
    assert!(met.len() >= 12, "{met:?}");
    let (all, left) = met.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(left * 8 < all, "{left} of {all} moves are left: {met:?}");
}
