//! Shrinking rank programs: leaves out packets, each at both ends, then single operations. (A packet left out at only
//! one end is a violation of its own, which would mask the others.)

use super::{Shrunk, Whole, ddmin};
use crate::audit::{AuditOptions, ProgramCode, ProgramViolation, audit};
use collsynth_core::exact::narrow;
use collsynth_core::program::{Buffer, Operation, Program, ProgramBuilder, Slot};
use collsynth_core::topology::RankId;

/// A small part of a program that still violates the rule it violates first, at the same operation. A wait for an
/// omitted operation waits for the one before it in that worker. Workers keep their numbers; channels and scratch do
/// not change.
///
/// # Errors
///
/// [`Whole::Holds`] if nothing is violated.
pub fn shrink_program(
    program: &Program,
    options: &AuditOptions<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<Shrunk<Program, ProgramViolation>, Whole<ProgramViolation>> {
    let target = audit(program, &AuditOptions { max_errors: 1, ..*options }).violations.into_iter().next();
    let target = target.ok_or(Whole::Holds)?;
    let count = program.operations().len();
    let find = |kept: &[usize]| {
        let part = of(program, kept);
        let report = audit(&part, &AuditOptions { max_errors: usize::MAX, ..*options });
        let found = report.violations.into_iter().find(|found| is_same(found, kept, &target))?;
        Some((part, found))
    };
    let groups = packets(program);
    let flat = |kept: &[usize]| {
        let mut all: Vec<usize> = kept.iter().flat_map(|&group| groups[group].iter().copied()).collect();
        all.sort_unstable();
        all
    };
    let (kept, _) = ddmin(groups.len(), stop, |kept| find(&flat(kept)).is_some());
    let rest = flat(&kept);
    let of_rest = |kept: &[usize]| kept.iter().map(|&at| rest[at]).collect::<Vec<_>>();
    let (kept, is_minimal) = ddmin(rest.len(), stop, |kept| find(&of_rest(kept)).is_some());
    let kept = of_rest(&kept);
    let (smallest, finding) = find(&kept).unwrap_or_else(|| (program.clone(), target.clone()));
    Ok(Shrunk { smallest, finding, items: (count, kept.len()), is_minimal })
}

/// The operations, those at both ends of a packet together, and each other one alone; in the order of their first.
fn packets(program: &Program) -> Vec<Vec<usize>> {
    let mut ends = vec![(Vec::new(), Vec::new()); program.channels.len()];
    for (number, operation) in program.operations().iter().enumerate() {
        let (sends, receives) = match *operation {
            Operation::Send { channel, .. } => (Some(channel), None),
            Operation::Receive { channel, forward, .. } => (forward, Some(channel)),
            _ => (None, None),
        };
        // A missing channel is what is wrong.
        if let Some(ends) = sends.and_then(|channel| ends.get_mut(channel as usize)) {
            ends.0.push(number);
        }
        if let Some(ends) = receives.and_then(|channel| ends.get_mut(channel as usize)) {
            ends.1.push(number);
        }
    }
    // A forwarding receive belongs to two packets, which then belong together: each operation points to an earlier one.
    let mut first: Vec<usize> = (0..program.operations().len()).collect();
    let root = |first: &[usize], mut at: usize| {
        while first[at] != at {
            at = first[at];
        }
        at
    };
    for (sends, receives) in &ends {
        for (&send, &receive) in sends.iter().zip(receives) {
            let (one, other) = (root(&first, send), root(&first, receive));
            first[one.max(other)] = one.min(other);
        }
    }
    let mut groups = vec![Vec::new(); first.len()];
    for number in 0..first.len() {
        groups[root(&first, number)].push(number);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// True if a finding of a part matches the target. A cycle of waiting workers has no first operation.
fn is_same(found: &ProgramViolation, kept: &[usize], target: &ProgramViolation) -> bool {
    let place = match (found.operation, target.operation) {
        (Some(number), Some(wanted)) => kept[number] == wanted || target.code == ProgramCode::P003,
        (None, None) => found.message == target.message,
        _ => false,
    };
    found.code == target.code && place
}

/// The program of some of the operations, in ascending order.
fn of(program: &Program, kept: &[usize]) -> Program {
    let mut builder = ProgramBuilder::new(program.problem.clone(), program.has_links, program.in_place);
    for &channel in &program.channels {
        builder.channel(channel);
    }
    // How many of a worker's operations before a given one are kept.
    let before = |worker: usize, operation: usize| {
        let range = program.range(worker);
        let from = kept.partition_point(|&number| number < range.start);
        kept.partition_point(|&number| number < range.start.saturating_add(operation).min(range.end)) - from
    };
    for rank in (0..narrow(program.rank_count())).map(RankId) {
        builder.rank(program.scratch[rank.index()]);
        let workers = program.workers(rank);
        for worker in workers.clone() {
            builder.worker();
            let range = program.range(worker);
            let first = kept.partition_point(|&number| number < range.start);
            for &number in kept[first..].iter().take_while(|&&number| number < range.end) {
                let operation = match program.operations()[number] {
                    Operation::Wait { worker: other, operation } if (other as usize) < workers.len() => {
                        // The last operation kept up to the one waited for; beyond the end stays beyond the end.
                        let target = workers.start + other as usize;
                        let len = program.range(target).len();
                        match (operation as usize).checked_sub(len) {
                            Some(beyond) => Some(narrow(before(target, len) + beyond)),
                            None => narrow(before(target, operation as usize + 1)).checked_sub(1),
                        }
                        .map(|operation| Operation::Wait { worker: other, operation })
                    }
                    other => Some(other),
                };
                // A wait without a target does nothing, but keeps its place so that numbers agree.
                builder.operation(operation.unwrap_or(NOTHING));
            }
        }
    }
    if program.contention_free {
        builder.contention_free(transfers(program, kept));
    }
    builder.finish(program.barriers)
}

/// The packets kept of each channel's transfers.
fn transfers(program: &Program, kept: &[usize]) -> Vec<Vec<u32>> {
    let of_channel = |(channel, sends): (usize, Vec<usize>)| {
        let mut begin = 0;
        let mut left = |end: usize| {
            let sends = sends.get(begin..end).unwrap_or_default();
            begin = end;
            narrow(sends.iter().filter(|number| kept.binary_search(number).is_ok()).count())
        };
        let ends = program.transfer_ends(channel, sends.len());
        ends.into_iter().map(&mut left).filter(|&count| count > 0).collect()
    };
    program.sends().into_iter().enumerate().map(of_channel).collect()
}

const FIRST: Slot = Slot { buffer: Buffer::Input, offset: 0 };
const NOTHING: Operation = Operation::Copy { src: FIRST, dst: FIRST, count: 0 };
