//! The packets for a member of a group, until it takes them.

use std::collections::VecDeque;

use super::transport::{Envelope, Incoming};
use collsynth_core::topology::RankId;

#[derive(Default)]
pub(crate) struct Mail {
    /// One for each sender, ascending.
    queues: Vec<Queue>,
    /// The number of packets the member waits for; 0: it does not wait.
    missing: usize,
    /// Members waiting for room.
    pub(crate) without_room: Vec<usize>,
}

pub(crate) struct Queue {
    from: RankId,
    pub(crate) packets: VecDeque<Envelope>,
    /// How many of them the member's step receives.
    due: usize,
}

impl Mail {
    pub(crate) fn queue(&mut self, from: RankId) -> &mut Queue {
        let at = self.queues.binary_search_by_key(&from, |queue| queue.from).unwrap_or_else(|at| {
            self.queues.insert(at, Queue { from, packets: VecDeque::new(), due: 0 });
            at
        });
        &mut self.queues[at]
    }

    /// Adds a packet; true if it is the last one that the member waits for.
    pub(crate) fn put(&mut self, from: RankId, envelope: Envelope) -> bool {
        let queue = self.queue(from);
        queue.packets.push_back(envelope);
        let was_missing = queue.packets.len() <= queue.due;
        let waits = self.missing > 0;
        self.missing -= usize::from(waits && was_missing);
        waits && self.missing == 0
    }

    /// Whether all of this has arrived; if not, the member waits for the rest.
    pub(crate) fn has_all(&mut self, incoming: &[Incoming]) -> bool {
        self.queues.iter_mut().for_each(|queue| queue.due = 0);
        for due in incoming {
            self.queue(due.from).due += 1;
        }
        self.missing = self.queues.iter().map(|queue| queue.due.saturating_sub(queue.packets.len())).sum();
        self.missing == 0
    }
}
