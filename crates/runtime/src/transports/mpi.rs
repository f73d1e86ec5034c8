//! Ranks that are the processes of an MPI job. Requires the cargo feature `mpi`.
//!
//! The `i`-th process is the `i`-th live rank. A step's packets are sent and received by MPI's non-blocking calls, all
//! at once. A dedicated thread, the *clerk*, makes these calls, so that no rank waits longer than the limit: MPI cannot
//! reliably cancel a send (Open MPI cancels none, MPI 4 discourages it), and its buffer must stay. When the limit is
//! over, the clerk notifies the peers, so that they need not wait as long, answers with an error, and keeps the pending
//! calls and their buffers forever.
//!
//! MPI's own behavior is out of reach: when a process dies, `mpirun` ends the job (not with `--enable-recovery`: then
//! every other rank ends with an error in time), and so do errors inside MPI. After an error, MPI cannot be finalized
//! either, because calls are pending: report the error, then call `MPI_Abort`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use mpi::datatype::Equivalence;
use mpi::environment::Threading;
use mpi::point_to_point::Status;
use mpi::request::{LocalScope, Request};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, Destination, Source};

use super::packet::{Packet, Pool};
use super::transport::{Incoming, Outgoing, Transport, TransportError};
use collsynth_core::topology::{RankId, Topology};

/// Long enough for the latency of a network not to matter; far below the 2 GiB that MPI can count.
const PACKET_BYTES: usize = 1 << 22;
/// The tags that every MPI guarantees, except the last, which signals that a rank has given up.
const TAGS: u64 = (1 << 15) - 1;
const GIVEN_UP: i32 = TAGS as i32;
/// Polls before naps begin.
const EAGER_POLLS: u32 = 64;
const NAP: Duration = Duration::from_micros(20);
/// How long packets of a peer that has given up may still take.
const STRAGGLERS: Duration = Duration::from_millis(200);

/// The transport of one process.
#[derive(Debug)]
pub struct MpiTransport {
    rank: RankId,
    size: usize,
    pool: Pool,
    /// `None` once the connections are closed.
    clerk: Option<Desk>,
}

/// The channels to the clerk and back.
#[derive(Debug)]
struct Desk {
    errands: Sender<Errand>,
    answers: Receiver<Answer>,
    thread: JoinHandle<()>,
}

/// The packets of a step.
struct Errand {
    outgoing: Vec<Outgoing>,
    due: Vec<Due>,
}

/// A packet to receive.
struct Due {
    from: RankId,
    tag: u64,
    bytes: usize,
}

/// The packets received, and the emptied list of those sent.
type Answer = Result<(Vec<Packet>, Vec<Outgoing>), TransportError>;

impl MpiTransport {
    /// This process's transport, on its own MPI communicator. Collective over all processes of the job; no other thread
    /// may call MPI meanwhile, nor during calls of a communicator that uses it. No wait is longer than `timeout`.
    ///
    /// # Errors
    ///
    /// [`TransportError::Processes`] if the number of processes is not that of live ranks, [`TransportError::Missing`]
    /// if not all of them take part in time, and [`TransportError::OneThread`] if MPI was not initialized for calls
    /// from several threads, one at a time (`mpi::initialize_with_threading(Threading::Serialized)`).
    pub fn new(topology: &Topology, timeout: Duration) -> Result<Self, TransportError> {
        if mpi::environment::threading_support() < Threading::Serialized {
            return Err(TransportError::OneThread);
        }
        let world = SimpleCommunicator::world();
        let (found, live) = (world.size() as usize, topology.live_rank_count());
        let size = topology.rank_count();
        let mut process = vec![None; size];
        for (rank, number) in topology.live_ranks().zip(0..) {
            process[rank.index()] = Some(number);
        }
        let rank = topology.live_ranks().nth(world.rank() as usize).filter(|_| found == live);
        let rank = rank.ok_or(TransportError::Processes { found, live })?;
        let pool = Pool::default();
        let (errands, to_do) = bounded(1);
        let (done, answers) = bounded(1);
        let clerk_pool = pool.clone();
        let thread = thread::spawn(move || {
            let world = SimpleCommunicator::world().duplicate();
            let mut clerk = Clerk { world, process, pool: clerk_pool, timeout, peers: BTreeSet::new() };
            // Fails only if the transport is already gone.
            let _ = done.send(Ok((Vec::new(), Vec::new())));
            clerk.work(&to_do, &done);
        });
        let desk = Desk { errands, answers, thread };
        match desk.answers.recv_timeout(timeout) {
            Ok(_) => Ok(Self { rank, size, pool, clerk: Some(desk) }),
            Err(_) => Err(TransportError::Missing { waited: timeout }),
        }
    }
}

impl Transport for MpiTransport {
    fn rank(&self) -> RankId {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(&mut self, outgoing: &mut Vec<Outgoing>, incoming: &mut [Incoming]) -> Result<(), TransportError> {
        let gone = TransportError::NotConnected { peer: self.rank };
        let Some(desk) = &self.clerk else { return Err(gone) };
        let due = incoming.iter().map(|due| Due { from: due.from, tag: due.tag, bytes: due.bytes }).collect();
        let errand = Errand { outgoing: std::mem::take(outgoing), due };
        let answer = desk.errands.send(errand).ok().and_then(|()| desk.answers.recv().ok());
        match answer.unwrap_or(Err(gone)) {
            Ok((packets, emptied)) => {
                *outgoing = emptied;
                for (due, packet) in incoming.iter_mut().zip(packets) {
                    due.packet = Some(Arc::new(packet));
                }
                Ok(())
            }
            Err(error) => {
                // The clerk keeps the pending calls.
                self.clerk = None;
                Err(error)
            }
        }
    }

    /// Notifies the peers, if the clerk has not done so.
    fn close(&mut self) {
        if let Some(Desk { errands, thread, .. }) = self.clerk.take() {
            // An empty errand means giving up; sending it fails only if the clerk is gone.
            let _ = errands.send(Errand { outgoing: Vec::new(), due: Vec::new() });
            drop(errands);
            let _ = thread.join();
        }
    }

    fn pool(&self) -> Pool {
        self.pool.clone()
    }

    fn packet_bytes(&self) -> usize {
        PACKET_BYTES
    }
}

impl Drop for MpiTransport {
    /// Lets the clerk finish, so that MPI can be finalized afterwards.
    fn drop(&mut self) {
        if let Some(Desk { errands, thread, .. }) = self.clerk.take() {
            drop(errands);
            let _ = thread.join();
        }
    }
}

/// Makes all MPI calls.
struct Clerk {
    world: SimpleCommunicator,
    /// The process of each rank.
    process: Vec<Option<i32>>,
    pool: Pool,
    timeout: Duration,
    /// The ranks it has exchanged packets with.
    peers: BTreeSet<RankId>,
}

type Started<'a, 'scope> = Request<'a, [u8], &'scope LocalScope<'a>>;

enum Waiting {
    Receive { from: RankId, bytes: usize },
    Send { to: RankId },
}

impl Clerk {
    /// Runs errands until there are no more, or one fails.
    fn work(&mut self, errands: &Receiver<Errand>, answers: &Sender<Answer>) {
        for Errand { outgoing, due } in errands {
            if outgoing.is_empty() && due.is_empty() {
                return self.give_up();
            }
            let answer = self.exchange(outgoing, &due, answers);
            let failed = answer.is_err();
            if answers.send(answer).is_err() || failed {
                return;
            }
        }
    }

    /// Returns only if no call is pending; otherwise sends the error itself and parks forever.
    fn exchange(&mut self, mut outgoing: Vec<Outgoing>, due: &[Due], answers: &Sender<Answer>) -> Answer {
        let mut packets: Vec<Packet> = due.iter().map(|due| self.pool.packet(due.bytes)).collect();
        let from = due.iter().map(|due| self.process(due.from)).collect::<Result<Vec<i32>, _>>()?;
        let to = outgoing.iter().map(|one| self.process(one.to)).collect::<Result<Vec<i32>, _>>()?;
        self.peers.extend(due.iter().map(|due| due.from).chain(outgoing.iter().map(|one| one.to)));
        mpi::request::scope(|scope| {
            let mut requests = Vec::with_capacity(from.len() + to.len());
            for ((due, &from), packet) in due.iter().zip(&from).zip(&mut packets) {
                let source = self.world.process_at_rank(from);
                let request = source.immediate_receive_into_with_tag(scope, packet.elements_mut::<u8>(), tag(due.tag));
                requests.push((Waiting::Receive { from: due.from, bytes: due.bytes }, Some(request)));
            }
            for (one, &to) in outgoing.iter().zip(&to) {
                let destination = self.world.process_at_rank(to);
                let request = destination.immediate_send_with_tag(scope, one.packet.elements::<u8>(), tag(one.tag));
                requests.push((Waiting::Send { to: one.to }, Some(request)));
            }
            if let Err(error) = self.wait(&mut requests) {
                self.give_up();
                // The transport may be gone.
                let _ = answers.send(Err(error));
                loop {
                    thread::park();
                }
            }
        });
        for sent in outgoing.drain(..) {
            self.pool.recycle(sent.packet);
        }
        Ok((packets, outgoing))
    }

    fn process(&self, peer: RankId) -> Result<i32, TransportError> {
        self.process.get(peer.index()).copied().flatten().ok_or(TransportError::NotConnected { peer })
    }

    /// Polls, with naps, until all of these are done.
    fn wait<'a>(&self, requests: &mut [(Waiting, Option<Started<'a, '_>>)]) -> Result<(), TransportError> {
        let (mut polls, mut news, mut told) = (0, Instant::now(), None);
        loop {
            let mut open = None;
            for (waiting, request) in requests.iter_mut() {
                match request.take().map(Request::test) {
                    Some(Ok(status)) => {
                        (polls, news) = (0, Instant::now());
                        waiting.check(&status)?;
                    }
                    Some(Err(unfinished)) => {
                        *request = Some(unfinished);
                        open.get_or_insert(waiting.peer());
                    }
                    None => {}
                }
            }
            let Some(peer) = open else { return Ok(()) };
            if news.elapsed() > self.timeout {
                return Err(TransportError::NothingCame { peer, waited: self.timeout });
            }
            polls += 1;
            if polls < EAGER_POLLS {
                thread::yield_now();
                continue;
            }
            let open = requests.iter().filter(|(_, request)| request.is_some()).map(|(waiting, _)| waiting.peer());
            match open.into_iter().find(|&peer| self.has_given_up(peer)) {
                Some(peer) if told.is_some_and(|told: Instant| told.elapsed() > STRAGGLERS) => {
                    return Err(TransportError::Closed { peer });
                }
                Some(_) => _ = told.get_or_insert_with(Instant::now),
                None => told = None,
            }
            thread::sleep(NAP);
        }
    }

    fn has_given_up(&self, peer: RankId) -> bool {
        let process = self.process(peer).ok();
        process.is_some_and(|process| self.world.process_at_rank(process).immediate_probe_with_tag(GIVEN_UP).is_some())
    }

    /// Notifies all peers that no more packets will come.
    fn give_up(&self) {
        for process in self.peers.iter().filter_map(|&peer| self.process(peer).ok()) {
            let nothing: &'static [u8] = &[];
            let peer = self.world.process_at_rank(process);
            let request = peer.immediate_send_with_tag(mpi::request::StaticScope, nothing, GIVEN_UP);
            // An empty message has left already, or the peer is unreachable.
            if let Err(unfinished) = request.test() {
                std::mem::forget(unfinished);
            }
        }
    }
}

impl Waiting {
    fn peer(&self) -> RankId {
        match *self {
            Self::Receive { from, .. } => from,
            Self::Send { to } => to,
        }
    }

    fn check(&self, status: &Status) -> Result<(), TransportError> {
        if let Self::Receive { from: peer, bytes: expected } = *self {
            let found = status.count(u8::equivalent_datatype()) as usize;
            if found != expected {
                return Err(TransportError::Length { peer, expected, found });
            }
        }
        Ok(())
    }
}

/// MPI's tags have fewer bits. Packets between two ranks arrive in order, so those that could be confused differ.
fn tag(tag: u64) -> i32 {
    ((tag ^ tag >> 32) % TAGS) as i32
}
