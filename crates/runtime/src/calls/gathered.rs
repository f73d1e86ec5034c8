//! The memory that gathering compressed pieces takes.

use super::runnable::Runnable;
use crate::playing::role::{Role, Send};
use collsynth_core::program::Layout;
use collsynth_core::topology::RankId;

/// The order in which the pieces of all ranks are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// By rank: all ranks get the same bits. Pieces that arrive before their turn, at most one of each rank, are kept
    /// until then.
    #[default]
    ByRank,
    /// On arrival, this rank's own first: the least memory. The same bits in every run, but floating-point sums of
    /// different ranks can differ in their rounding.
    AsTheyCome,
}

/// The most chunks that any rank holds at a time while it gathers, by [`Order`]: its own until they have been sent for
/// the last time, copies being sent, arrivals, chunks to be sent on, and chunks waiting for their turn. All ranks must
/// arrive at the same number, because they cut buffers by it. O(ranks * the time for a role).
pub(crate) fn most_chunks(runnable: Runnable<'_>) -> [usize; 2] {
    let live: Vec<RankId> = runnable.problem().topology().live_ranks().collect();
    let mut most = [0; 2];
    for &rank in &live {
        let (role, parts) = (runnable.role(rank), Layout::of_call(runnable.problem(), rank).parts());
        for order in [Order::ByRank, Order::AsTheyCome] {
            let chunks = chunks_held(&role, &live, parts, order);
            most[order as usize] = most[order as usize].max(chunks);
        }
    }
    most
}

fn chunks_held(role: &Role, live: &[RankId], parts: usize, order: Order) -> usize {
    let mut early = Early { live, turns: vec![0; parts], waiting: Vec::new(), order };
    let chunks = |packet: usize| role.packets[packet].chunks.len();
    role.deliveries[..role.owed].iter().for_each(|one| early.take(one.part, one.block));
    let (mut own, mut held) = (parts, 0);
    let mut most = own + early.waiting.len();
    for (number, step) in role.steps.iter().enumerate() {
        if number >= role.input_steps {
            own = 0;
        }
        let copied = |send: &&Send| send.whole.is_none();
        let sent: usize = role.sends[step.sends.clone()].iter().filter(copied).map(|send| send.chunks.len()).sum();
        let arriving: usize = step.arrivals.clone().map(chunks).sum();
        most = most.max(own + held + sent + arriving + early.waiting.len());
        for &at in &role.taken_in[step.taken_in.clone()] {
            let packet = &role.packets[at as usize];
            for chunk in &role.received[packet.chunks.clone()] {
                if let Some(block) = chunk.deliver {
                    early.take(chunk.part, block);
                }
            }
            if packet.keep {
                held += packet.chunks.len();
            }
        }
        role.deliveries[step.deliveries.clone()].iter().for_each(|one| early.take(one.part, one.block));
        most = most.max(own + held + early.waiting.len());
        for range in [&step.release_early, &step.release_late] {
            held -= role.releases[range.clone()].iter().map(|&packet| chunks(packet as usize)).sum::<usize>();
        }
    }
    most
}

/// Counts chunks that wait for their turn.
struct Early<'a> {
    live: &'a [RankId],
    turns: Vec<usize>,
    /// Part and place among the live ranks.
    waiting: Vec<(u32, usize)>,
    order: Order,
}

impl Early<'_> {
    fn take(&mut self, part: u32, block: u32) {
        let turn = self.live.iter().position(|rank| rank.0 == block);
        let Some(turn) = turn.filter(|_| self.order == Order::ByRank) else { return };
        self.waiting.push((part, turn));
        let next = &mut self.turns[part as usize];
        while let Some(at) = self.waiting.iter().position(|&one| one == (part, *next)) {
            self.waiting.swap_remove(at);
            *next += 1;
        }
    }
}
