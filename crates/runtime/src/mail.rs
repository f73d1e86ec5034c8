//! Where the packets for a member of a group are, until it takes them.

use std::collections::VecDeque;

use super::transport::{Envelope, Incoming};
use collsynth_core::topology::RankId;

/// What was sent to a member and is not taken yet.
#[derive(Default)]
pub(super) struct Mail {
    /// One for each sender, ascending.
    queues: Vec<Queue>,
    /// How many packets the member waits for; 0: it does not wait.
    missing: usize,
    /// Members that wait for room.
    pub(super) without_room: Vec<usize>,
}

/// The packets of one sender.
pub(super) struct Queue {
    from: RankId,
    pub(super) packets: VecDeque<Envelope>,
    /// How many of them the member's step is to receive.
    due: usize,
}

impl Mail {
    /// What a sender's packets wait in.
    pub(super) fn queue(&mut self, from: RankId) -> &mut Queue {
        let at = self.queues.binary_search_by_key(&from, |queue| queue.from).unwrap_or_else(|at| {
            self.queues.insert(at, Queue { from, packets: VecDeque::new(), due: 0 });
            at
        });
        &mut self.queues[at]
    }

    /// Puts a packet in; true if it is the last one that the member waits for.
    pub(super) fn put(&mut self, from: RankId, envelope: Envelope) -> bool {
        let queue = self.queue(from);
        queue.packets.push_back(envelope);
        let was_missing = queue.packets.len() <= queue.due;
        let waits = self.missing > 0;
        self.missing -= usize::from(waits && was_missing);
        waits && self.missing == 0
    }

    /// Is all of this there? Else the member waits for what is missing.
    pub(super) fn has_all(&mut self, incoming: &[Incoming]) -> bool {
        self.queues.iter_mut().for_each(|queue| queue.due = 0);
        for due in incoming {
            self.queue(due.from).due += 1;
        }
        self.missing = self.queues.iter().map(|queue| queue.due.saturating_sub(queue.packets.len())).sum();
        self.missing == 0
    }
}
