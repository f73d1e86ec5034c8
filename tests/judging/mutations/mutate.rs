//! Ways to spoil a schedule, or not quite.

use collsynth::schedule::Op;
use collsynth::topology::Direction;

use super::dice::Dice;
use super::plain::{Case, PlainStep, PlainTransfer};

/// Changes one thing about the schedule, if there is anything to change.
pub fn mutate(case: &mut Case, dice: &mut Dice) {
    let some_rank = dice.roll(case.machine.ranks as usize + 1) as u32;
    let some_chunk = dice.roll(chunk_span(case)) as u32;
    let way = Direction { dim: dice.roll(2) as u8, positive: dice.once_in(2) };
    let what = dice.roll(18);
    if let Some(step) = pick_step(case, dice) {
        match what {
            0 => return drop(case.steps.remove(step)),
            1 => {
                let other = dice.roll(case.steps.len());
                return case.steps.swap(step, other);
            }
            2 => return case.steps[step].width -= 1,
            3 => return case.steps[step].width += 1,
            4 => return merge_with_next(case, step),
            5 if dice.once_in(4) => return case.steps.iter_mut().for_each(|step| step.transfers.clear()),
            _ => {}
        }
    }
    let Some((step, index)) = pick_transfer(case, dice) else { return };
    let other_step = dice.roll(case.steps.len());
    let transfer = &mut case.steps[step].transfers[index];
    let chunk = dice.roll(transfer.chunks.len().max(1));
    match what {
        6 => drop(case.steps[step].transfers.remove(index)),
        7 => {
            let copy = transfer.clone();
            case.steps[other_step].transfers.push(copy);
        }
        8 => {
            let moved = case.steps[step].transfers.remove(index);
            case.steps[other_step].transfers.push(moved);
        }
        9 => transfer.from = some_rank,
        10 => transfer.to = some_rank,
        11 => (transfer.from, transfer.to) = (transfer.to, transfer.from),
        12 if !transfer.chunks.is_empty() => drop(transfer.chunks.remove(chunk)),
        13 if !transfer.chunks.is_empty() => transfer.chunks[chunk] = some_chunk,
        14 => transfer.chunks.push(some_chunk),
        15 => transfer.op = if transfer.op == Op::Copy { Op::Reduce } else { Op::Copy },
        16 => transfer.via = Some(way).filter(|_| transfer.via.is_none()),
        17 => reroute(case, step, index, dice),
        _ => {}
    }
}

/// Sends a transfer over another link, dead or alive, to the same receiver or from the same sender.
fn reroute(case: &mut Case, step: usize, index: usize, dice: &mut Dice) {
    let PlainTransfer { from, to, .. } = case.steps[step].transfers[index];
    let touching: Vec<_> =
        case.machine.wires.iter().filter(|wire| wire.from == from || wire.to == to).copied().collect();
    if touching.is_empty() {
        return;
    }
    let wire = dice.pick(&touching);
    let transfer = &mut case.steps[step].transfers[index];
    (transfer.from, transfer.to, transfer.via) = (wire.from, wire.to, wire.way);
}

fn merge_with_next(case: &mut Case, step: usize) {
    if step + 1 < case.steps.len() {
        let PlainStep { transfers, width } = case.steps.remove(step + 1);
        case.steps[step].transfers.extend(transfers);
        case.steps[step].width += width;
    }
}

/// A little more than the chunk ids in use, so that some are out of range.
fn chunk_span(case: &Case) -> usize {
    let ids = case.steps.iter().flat_map(|step| &step.transfers).flat_map(|transfer| &transfer.chunks);
    ids.max().map_or(0, |&last| last as usize) + 3
}

fn pick_step(case: &Case, dice: &mut Dice) -> Option<usize> {
    let steps: Vec<usize> = (0..case.steps.len()).filter(|&step| case.steps[step].width > 0).collect();
    (!steps.is_empty()).then(|| *dice.pick(&steps))
}

fn pick_transfer(case: &Case, dice: &mut Dice) -> Option<(usize, usize)> {
    let all: Vec<(usize, usize)> = case
        .steps
        .iter()
        .enumerate()
        .flat_map(|(step, record)| (0..record.transfers.len()).map(move |index| (step, index)))
        .collect();
    (!all.is_empty()).then(|| *dice.pick(&all))
}
