//! Whether two schedules say the same.

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Op, Schedule, Step, Transfer};
use collsynth_core::topology::{Direction, RankId};

/// What differs between a schedule and its compact form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The transfers of a step: two that share a link are one there, and one that carries nothing is none.
    Transfers,
    /// The order in which a rank adds to a chunk within a step.
    Additions,
}

/// The first step, from 1, in which two schedules differ, and in what. Transfers of a step stand in any order, but for
/// those that add to the same chunk. O(moves log moves).
pub fn difference(one: &Schedule, other: &Schedule) -> Option<(u32, Difference)> {
    if one.step_count() != other.step_count() {
        let first = one.step_count().min(other.step_count()) as u32 + 1;
        return Some((first, Difference::Transfers));
    }
    one.steps().zip(other.steps()).find_map(|(a, b)| {
        let what = if a.width != b.width || transfers(one, &a) != transfers(other, &b) {
            Difference::Transfers
        } else if additions(one, &a) != additions(other, &b) {
            Difference::Additions
        } else {
            return None;
        };
        Some((a.number, what))
    })
}

type Sent = (RankId, RankId, Option<Direction>, Op, Vec<ChunkId>);

fn transfers(schedule: &Schedule, step: &Step<'_>) -> Vec<Sent> {
    let sent = |transfer: &Transfer| {
        let mut chunks = schedule.chunks(transfer).to_vec();
        chunks.sort_unstable();
        (transfer.from, transfer.to, transfer.via, transfer.op, chunks)
    };
    let mut all: Vec<Sent> = step.transfers.iter().map(sent).collect();
    all.sort_unstable();
    all
}

/// By receiver and chunk, the senders in the order in which what they send is added.
fn additions(schedule: &Schedule, step: &Step<'_>) -> Vec<(RankId, ChunkId, RankId, Option<Direction>)> {
    let reduced = step.transfers.iter().filter(|transfer| transfer.op == Op::Reduce);
    let mut all: Vec<_> = reduced
        .flat_map(|transfer| {
            let chunks = schedule.chunks(transfer).iter();
            chunks.map(|&chunk| (transfer.to, chunk, transfer.from, transfer.via))
        })
        .collect();
    all.sort_by_key(|&(to, chunk, ..)| (to, chunk));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(transfers: &[(u32, u32, &[u32])]) -> Schedule {
        let mut builder = Schedule::builder();
        builder.step(2);
        for &(from, to, chunks) in transfers {
            let chunks = chunks.iter().copied().map(ChunkId);
            builder.transfer(RankId(from), RankId(to), None, Op::Reduce, chunks);
        }
        builder.finish()
    }

    #[test]
    fn order_counts_where_it_decides_a_sum() {
        let one = schedule(&[(0, 1, &[4, 5]), (2, 1, &[4]), (2, 3, &[5])]);
        assert_eq!(difference(&one, &schedule(&[(2, 3, &[5]), (0, 1, &[5, 4]), (2, 1, &[4])])), None);
        let turned = schedule(&[(2, 1, &[4]), (0, 1, &[4, 5]), (2, 3, &[5])]);
        assert_eq!(difference(&one, &turned), Some((1, Difference::Additions)));
        for other in [
            schedule(&[(0, 1, &[4]), (0, 1, &[5]), (2, 1, &[4]), (2, 3, &[5])]),
            schedule(&[(0, 1, &[4, 5]), (2, 1, &[4]), (2, 3, &[5]), (3, 2, &[])]),
            Schedule::default(),
        ] {
            assert_eq!(difference(&one, &other), Some((1, Difference::Transfers)));
        }
    }
}
