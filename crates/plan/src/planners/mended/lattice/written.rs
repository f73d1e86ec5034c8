//! A plan on the quotient as a schedule in the compact form.

use std::collections::BTreeMap;

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Op, Schedule, Translation};
use collsynth_core::topology::{RankId, Torus};

use super::negotiation::Negotiation;
use super::quotient::WAIT;

/// The pattern at these widths; the moves of messages that depart from it, each where its sender is in the first cell;
/// and these messages.
pub(super) fn differences(
    plan: &Negotiation<'_>,
    torus: &Torus,
    translation: &Translation,
    pattern: &Schedule,
    widths: &[u32],
) -> (Schedule, Schedule, Vec<ChunkId>) {
    let period = &plan.quotient.period;
    let rank = |at: &[i64]| torus.rank_at(at);
    let chunks = plan.template.len() / widths.len();
    let mut departed = Vec::new();
    let mut moves: Vec<BTreeMap<(RankId, RankId), Vec<ChunkId>>> = vec![BTreeMap::new(); widths.len()];
    for (number, origin) in plan.origins.iter().enumerate() {
        let origin: Vec<i64> = origin.iter().map(|&at| at as i64).collect();
        for chunk in 0..chunks {
            let path = plan.path(number * chunks + chunk);
            if path == &plan.template[chunk * widths.len()..][..widths.len()] {
                continue;
            }
            let chunk = translation.chunk(ChunkId(chunk as u32), rank(&origin));
            departed.push(chunk);
            let mut at = origin.clone();
            for (step, &direction) in path.iter().enumerate().filter(|(_, direction)| **direction != WAIT) {
                let dim = usize::from(direction) / 2;
                let home: Vec<i64> = at.iter().zip(period).map(|(at, &part)| at.rem_euclid(part as i64)).collect();
                let by = translation.between(rank(&at), rank(&home));
                let mut next = home.clone();
                let hop = if direction.is_multiple_of(2) { 1 } else { -1 };
                next[dim] += hop;
                moves[step].entry((rank(&home), rank(&next))).or_default().push(translation.chunk(chunk, by));
                at[dim] += hop;
            }
        }
    }
    departed.sort_unstable();
    let (mut template, mut cell) = (Schedule::builder(), Schedule::builder());
    for ((step, of_step), &width) in pattern.steps().zip(moves).zip(widths) {
        template.step(width);
        for transfer in step.transfers {
            let chunks = pattern.chunks(transfer).iter().copied();
            template.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
        }
        cell.step(width);
        for ((from, to), chunks) in of_step {
            cell.transfer(from, to, None, Op::Copy, chunks);
        }
    }
    (template.finish(), cell.finish(), departed)
}

/// Steps of these widths without transfers.
pub(super) fn empty(widths: &[u32]) -> Schedule {
    let mut builder = Schedule::builder();
    for &width in widths {
        builder.step(width);
    }
    builder.finish()
}
