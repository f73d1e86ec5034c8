//! Shrinking schedules: leaves out chunk moves, then empty steps.

use super::{Shrunk, Whole, ddmin};
use crate::verify::{Code, Finding, Options, verify, violations_of};
use collsynth_core::certificate::Bounds;
use collsynth_core::schedule::{Schedule, Solution};

/// A small part of a solution that still violates the rule it violates first: same code, chunk and ranks, and a missing
/// chunk gets equally far. The problem does not change, so the part also violates other rules: most chunks do not
/// arrive. Bounds are left out.
///
/// # Errors
///
/// [`Whole`] if there is nothing to leave out.
pub fn shrink_solution(
    solution: &Solution,
    stop: &dyn Fn() -> bool,
) -> Result<Shrunk<Solution, Finding>, Whole<Finding>> {
    let report = verify(solution, &Options { max_errors: 1, ..Options::default() });
    let target = report.violations.into_iter().next().ok_or(Whole::Holds)?;
    if matches!(target.code, Code::F007 | Code::C001 | Code::C002) {
        return Err(Whole::Elsewhere(Box::new(target)));
    }
    let all = items(&solution.schedule);
    let part = |schedule: Schedule| Solution { schedule, bounds: Bounds::default(), ..solution.clone() };
    let fails = |schedule: Schedule| find(&part(schedule), &target).is_some();
    let (kept, is_minimal) = ddmin(all.len(), stop, |kept| fails(of(&solution.schedule, &all, kept, false)));
    let mut smallest = part(of(&solution.schedule, &all, &kept, false));
    let without_gaps = part(of(&solution.schedule, &all, &kept, true));
    if find(&without_gaps, &target).is_some() {
        smallest = without_gaps;
    }
    let finding = find(&smallest, &target).unwrap_or(target);
    Ok(Shrunk { smallest, finding, items: (all.len(), kept.len()), is_minimal })
}

/// What can be left out: a transfer and the index of one of its chunks, or a whole transfer without chunks.
type Item = (usize, Option<usize>);

fn items(schedule: &Schedule) -> Vec<Item> {
    let of = |(number, transfer)| {
        let chunks = schedule.chunks(transfer).len();
        let alone = (chunks == 0).then_some((number, None));
        (0..chunks).map(move |chunk| (number, Some(chunk))).chain(alone)
    };
    schedule.transfers().iter().enumerate().flat_map(of).collect()
}

/// The schedule of some of the items, in ascending order, with or without empty steps.
fn of(schedule: &Schedule, all: &[Item], kept: &[usize], drop_steps: bool) -> Schedule {
    let mut builder = Schedule::builder();
    let mut rest = kept.iter().map(|&item| all[item]).peekable();
    for step in schedule.steps() {
        let end = step.first_transfer + step.transfers.len();
        if drop_steps && rest.peek().is_none_or(|&(number, _)| number >= end) {
            continue;
        }
        builder.step(step.width);
        for (number, transfer) in (step.first_transfer..).zip(step.transfers) {
            let (mut chunks, mut is_kept) = (Vec::new(), false);
            while let Some((_, chunk)) = rest.next_if(|&(other, _)| other == number) {
                chunks.extend(chunk.map(|chunk| schedule.chunks(transfer)[chunk]));
                is_kept = true;
            }
            if is_kept {
                builder.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
            }
        }
    }
    builder.finish()
}

/// The violation in a part that matches the target. Chunks are independent, so no other is executed.
fn find(part: &Solution, target: &Finding) -> Option<Finding> {
    let violations = violations_of(part, target.chunk.map_or(0..0, |chunk| chunk.0..chunk.0 + 1));
    // If several senders contribute, which one is named first does not matter.
    let is_of_sender = !matches!(target.code, Code::D003 | Code::R001 | Code::R003);
    violations.into_iter().find(|found| {
        let same = found.code == target.code && found.chunk == target.chunk && found.to == target.to;
        same && (found.from == target.from || !is_of_sender) && end_of_trace(found) == end_of_trace(target)
    })
}

/// How far the missing chunk got.
fn end_of_trace(finding: &Finding) -> Option<Option<u32>> {
    finding.trace.as_ref().map(|trace| trace.path.last().map(|hop| hop.to.0))
}
