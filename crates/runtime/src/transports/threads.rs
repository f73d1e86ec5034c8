//! Ranks that are threads of one process, joined by bounded channels.
//!
//! Packets are handed over, not copied. A channel for each ordered pair of peers holds more packets than a step can
//! have between them, so ranks that send a step's packets before they receive never deadlock: no rank that is furthest
//! behind finds a channel full, and one whose packets have all been sent can continue. It holds several steps' packets
//! because ranks share cores: a rank that gets a core then has more than one step's work before it must wait, and
//! threads are switched less often.
//!
//! A rank that must wait first yields, polling for its packet, and only then sleeps: waking up takes longer than the
//! work on a packet.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, TryRecvError, bounded};

use super::packet::Pool;
use super::transport::{Envelope, Incoming, Outgoing, PACKETS_IN_FLIGHT, Transport, TransportError};
use collsynth_core::topology::RankId;

/// How often a rank polls for a packet before it sleeps.
const POLLS: u32 = 256;
/// Small enough for a step's packets to stay in the caches, large enough to amortize switching threads.
const PACKET_BYTES: usize = 1 << 18;

/// The transport of one thread.
#[derive(Debug)]
pub struct ThreadTransport {
    rank: RankId,
    size: usize,
    to: BTreeMap<RankId, Sender<Envelope>>,
    from: BTreeMap<RankId, Receiver<Envelope>>,
    pool: Pool,
    timeout: Duration,
}

/// Joins `size` ranks by channels between the given pairs, in both directions. No wait is longer than `timeout`.
///
/// Returns the transports of all ranks, in their order.
///
/// # Panics
///
/// If a pair names a rank that is not below `size`.
pub fn network(
    size: usize,
    pairs: impl IntoIterator<Item = (RankId, RankId)>,
    timeout: Duration,
) -> Vec<ThreadTransport> {
    let pool = Pool::default();
    let alone = |rank| ThreadTransport {
        rank: RankId(rank as u32),
        size,
        to: BTreeMap::new(),
        from: BTreeMap::new(),
        pool: pool.clone(),
        timeout,
    };
    let mut all: Vec<ThreadTransport> = (0..size).map(alone).collect();
    let ordered: BTreeSet<(RankId, RankId)> =
        pairs.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]).collect();
    for (from, to) in ordered {
        let (sender, receiver) = bounded(PACKETS_IN_FLIGHT);
        all[from.index()].to.insert(to, sender);
        all[to.index()].from.insert(from, receiver);
    }
    all
}

fn receive(channel: &Receiver<Envelope>, timeout: Duration) -> Result<Envelope, RecvTimeoutError> {
    for _ in 0..POLLS {
        match channel.try_recv() {
            Ok(envelope) => return Ok(envelope),
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
        }
    }
    channel.recv_timeout(timeout)
}

impl Transport for ThreadTransport {
    fn rank(&self) -> RankId {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(&mut self, outgoing: &mut Vec<Outgoing>, incoming: &mut [Incoming]) -> Result<(), TransportError> {
        for Outgoing { to: peer, tag, packet } in outgoing.drain(..) {
            let channel = self.to.get(&peer).ok_or(TransportError::NotConnected { peer })?;
            channel.send_timeout(Envelope { tag, packet }, self.timeout).map_err(|error| match error {
                SendTimeoutError::Timeout(_) => TransportError::NothingTaken { peer, waited: self.timeout },
                SendTimeoutError::Disconnected(_) => TransportError::Closed { peer },
            })?;
        }
        for due in incoming {
            let peer = due.from;
            let channel = self.from.get(&peer).ok_or(TransportError::NotConnected { peer })?;
            let Envelope { tag, packet } = receive(channel, self.timeout).map_err(|error| match error {
                RecvTimeoutError::Timeout => TransportError::NothingCame { peer, waited: self.timeout },
                RecvTimeoutError::Disconnected => TransportError::Closed { peer },
            })?;
            due.accept(tag, packet)?;
        }
        Ok(())
    }

    fn close(&mut self) {
        self.to.clear();
        self.from.clear();
    }

    fn pool(&self) -> Pool {
        self.pool.clone()
    }

    fn packet_bytes(&self) -> usize {
        PACKET_BYTES
    }
}
