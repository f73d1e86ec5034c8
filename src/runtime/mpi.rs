//! Ranks that are the processes of an MPI job. Only with the cargo feature `mpi`.
//!
//! A step's packets are sent and received by MPI's non-blocking calls, all at once. The `i`-th process is the `i`-th live
//! rank. As MPI has it, trouble ends the whole job: where other transports return an error, this one hands it to a
//! function and calls `MPI_Abort`; MPI does the same by itself when a process dies.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mpi::datatype::Equivalence;
use mpi::point_to_point::Status;
use mpi::request::{LocalScope, Request};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, Destination, Source};

use super::packet::{Packet, Pool};
use super::transport::{Incoming, Outgoing, Transport, TransportError};
use crate::topology::{RankId, Topology};

/// What `MPI_Abort` is told.
const ABORTED: i32 = 2;
/// Long enough for the latency of a network not to matter; far below the 2 GiB that MPI can count.
const PACKET_BYTES: usize = 1 << 22;
/// Tags that every MPI has.
const TAGS: u64 = 1 << 15;
/// Looks for news that are taken before sleeping in between, and for how long.
const IMPATIENT_LOOKS: u32 = 64;
const NAP: Duration = Duration::from_micros(20);

/// The transport of one process.
pub struct MpiTransport {
    world: SimpleCommunicator,
    rank: RankId,
    /// The process of each rank.
    process: Vec<Option<i32>>,
    pool: Pool,
    timeout: Duration,
    lost: fn(RankId, &TransportError),
}

impl MpiTransport {
    /// This process's transport. Its packets do not mix with others over `world`. Collective over all processes.
    ///
    /// A wait that is longer than `timeout`, or a packet that does not fit, is told to `lost`, with this rank, before
    /// the job is aborted.
    ///
    /// # Errors
    ///
    /// [`TransportError::Processes`] if there are not as many processes as live ranks.
    pub fn new(
        world: &SimpleCommunicator,
        topology: &Topology,
        timeout: Duration,
        lost: fn(RankId, &TransportError),
    ) -> Result<Self, TransportError> {
        let (found, live) = (world.size() as usize, topology.live_rank_count());
        let mut process = vec![None; topology.rank_count()];
        for (rank, number) in topology.live_ranks().zip(0..) {
            process[rank.index()] = Some(number);
        }
        let rank = topology.live_ranks().nth(world.rank() as usize).filter(|_| found == live);
        let rank = rank.ok_or(TransportError::Processes { found, live })?;
        Ok(Self { world: world.duplicate(), rank, process, pool: Pool::default(), timeout, lost })
    }

    fn process(&self, peer: RankId) -> Result<i32, TransportError> {
        self.process.get(peer.index()).copied().flatten().ok_or(TransportError::NotConnected { peer })
    }

    /// Waits until all of these are done, with naps.
    fn wait<'a>(&self, requests: &mut [(Waiting, Option<Started<'a, '_>>)]) {
        let (mut looks, mut news) = (0, Instant::now());
        loop {
            let mut open = None;
            for (waiting, request) in requests.iter_mut() {
                match request.take().map(Request::test) {
                    Some(Ok(status)) => {
                        (looks, news) = (0, Instant::now());
                        self.check(waiting, &status);
                    }
                    Some(Err(unfinished)) => {
                        *request = Some(unfinished);
                        open.get_or_insert(waiting.peer());
                    }
                    None => {}
                }
            }
            let Some(peer) = open else { return };
            if news.elapsed() > self.timeout {
                self.abort(&TransportError::NothingCame { peer, waited: self.timeout });
            }
            looks += 1;
            match looks {
                0..IMPATIENT_LOOKS => thread::yield_now(),
                _ => thread::sleep(NAP),
            }
        }
    }

    fn check(&self, waiting: &Waiting, status: &Status) {
        if let Waiting::Receive { from, bytes } = *waiting {
            let found = status.count(u8::equivalent_datatype()) as usize;
            if found != bytes {
                self.abort(&TransportError::Length { peer: from, expected: bytes, found });
            }
        }
    }

    fn abort(&self, error: &TransportError) -> ! {
        (self.lost)(self.rank, error);
        self.world.abort(ABORTED)
    }
}

/// A call that was started.
type Started<'a, 'scope> = Request<'a, [u8], &'scope LocalScope<'a>>;

/// What a started call waits for.
enum Waiting {
    Receive { from: RankId, bytes: usize },
    Send { to: RankId },
}

impl Waiting {
    fn peer(&self) -> RankId {
        match *self {
            Self::Receive { from, .. } => from,
            Self::Send { to } => to,
        }
    }
}

impl Transport for MpiTransport {
    fn rank(&self) -> RankId {
        self.rank
    }

    fn size(&self) -> usize {
        self.process.len()
    }

    fn exchange(&mut self, outgoing: &mut Vec<Outgoing>, incoming: &mut [Incoming]) -> Result<(), TransportError> {
        let mut packets: Vec<Packet> = incoming.iter().map(|due| self.pool.packet(due.bytes)).collect();
        let from = incoming.iter().map(|due| self.process(due.from)).collect::<Result<Vec<i32>, _>>()?;
        let to = outgoing.iter().map(|one| self.process(one.to)).collect::<Result<Vec<i32>, _>>()?;
        mpi::request::scope(|scope| {
            let mut requests = Vec::with_capacity(from.len() + to.len());
            for ((due, &from), packet) in incoming.iter().zip(&from).zip(&mut packets) {
                let source = self.world.process_at_rank(from);
                let request = source.immediate_receive_into_with_tag(scope, packet.elements_mut::<u8>(), tag(due.tag));
                requests.push((Waiting::Receive { from: due.from, bytes: due.bytes }, Some(request)));
            }
            for (one, &to) in outgoing.iter().zip(&to) {
                let destination = self.world.process_at_rank(to);
                let request = destination.immediate_send_with_tag(scope, one.packet.elements::<u8>(), tag(one.tag));
                requests.push((Waiting::Send { to: one.to }, Some(request)));
            }
            self.wait(&mut requests);
        });
        for sent in outgoing.drain(..) {
            self.pool.recycle(sent.packet);
        }
        for (due, packet) in incoming.iter_mut().zip(packets) {
            due.packet = Some(Arc::new(packet));
        }
        Ok(())
    }

    /// Does nothing: MPI ends connections with the job.
    fn close(&mut self) {}

    fn pool(&self) -> Pool {
        self.pool.clone()
    }

    fn packet_bytes(&self) -> usize {
        PACKET_BYTES
    }
}

/// MPI's tags have fewer bits. Packets between two ranks come in order, so those that could be taken for each other
/// differ.
fn tag(tag: u64) -> i32 {
    ((tag ^ tag >> 32) % TAGS) as i32
}
