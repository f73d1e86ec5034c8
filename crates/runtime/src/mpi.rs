//! Ranks that are the processes of an MPI job. Only with the cargo feature `mpi`.
//!
//! The `i`-th process is the `i`-th live rank. A step's packets are sent and received by MPI's non-blocking calls, all
//! at once. A thread of its own, the *clerk*, makes these calls, so that no rank waits longer than the limit: MPI has
//! no way to take back a send that was started (Open MPI cancels none, MPI 4 discourages it), and its buffer must stay.
//! When the limit is over, the clerk answers with an error, and keeps what was started, with its buffers, for good.
//! Before, it tells the peers, so that they need not wait as long.
//!
//! What MPI itself does is out of reach: when a process dies, `mpirun` ends the job (with `--enable-recovery` it does
//! not, and every other rank ends with an error in time), and so do errors inside MPI. After an error, MPI cannot be
//! ended in order, either, because calls are pending: report the error, and then call `MPI_Abort`.

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
/// Tags that every MPI has, but the last, which says that a rank has given up.
const TAGS: u64 = (1 << 15) - 1;
const GIVEN_UP: i32 = TAGS as i32;
/// Looks for news that are taken before sleeping in between, and for how long.
const IMPATIENT_LOOKS: u32 = 64;
const NAP: Duration = Duration::from_micros(20);
/// How long what a peer sent before it gave up may take.
const STRAGGLERS: Duration = Duration::from_millis(200);

/// The transport of one process.
#[derive(Debug)]
pub struct MpiTransport {
    rank: RankId,
    size: usize,
    pool: Pool,
    /// `None` once the connections are ended.
    clerk: Option<Desk>,
}

/// The way to the clerk and back.
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

/// A packet that is to come.
struct Due {
    from: RankId,
    tag: u64,
    bytes: usize,
}

/// The packets that came; the list of those sent, emptied.
type Answer = Result<(Vec<Packet>, Vec<Outgoing>), TransportError>;

impl MpiTransport {
    /// This process's transport, on communicators of its own. Collective over all processes of the job; no other thread
    /// may call MPI meanwhile, nor during calls of a communicator that uses it. No wait is longer than `timeout`.
    ///
    /// # Errors
    ///
    /// [`TransportError::Processes`] if there are not as many processes as live ranks, [`TransportError::Missing`] if
    /// not all of them take part in time, and [`TransportError::OneThread`] if MPI was not initialised for calls from
    /// several threads, one at a time (`mpi::initialize_with_threading(Threading::Serialized)`).
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
            // Nobody to tell: the transport is gone already.
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
                // The clerk stays where it is.
                self.clerk = None;
                Err(error)
            }
        }
    }

    /// Tells the peers, if the clerk has not done so.
    fn close(&mut self) {
        if let Some(Desk { errands, thread, .. }) = self.clerk.take() {
            // An errand without packets. A clerk that is gone needs no telling.
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
    /// Lets the clerk finish, so that MPI can be ended afterwards.
    fn drop(&mut self) {
        if let Some(Desk { errands, thread, .. }) = self.clerk.take() {
            drop(errands);
            // It has nothing to tell.
            let _ = thread.join();
        }
    }
}

/// Makes all calls of MPI.
struct Clerk {
    world: SimpleCommunicator,
    /// The process of each rank.
    process: Vec<Option<i32>>,
    pool: Pool,
    timeout: Duration,
    /// The ranks that it has exchanged packets with.
    peers: BTreeSet<RankId>,
}

/// A call that was started.
type Started<'a, 'scope> = Request<'a, [u8], &'scope LocalScope<'a>>;

/// What a started call waits for.
enum Waiting {
    Receive { from: RankId, bytes: usize },
    Send { to: RankId },
}

impl Clerk {
    /// Does errands until there are no more, or one fails.
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

    /// Comes back only if nothing that was started is left: else, answers with the error itself, and stays.
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
                // Whoever asked may be gone.
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

    /// Waits until all of these are done, with naps.
    fn wait<'a>(&self, requests: &mut [(Waiting, Option<Started<'a, '_>>)]) -> Result<(), TransportError> {
        let (mut looks, mut news, mut told) = (0, Instant::now(), None);
        loop {
            let mut open = None;
            for (waiting, request) in requests.iter_mut() {
                match request.take().map(Request::test) {
                    Some(Ok(status)) => {
                        (looks, news) = (0, Instant::now());
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
            looks += 1;
            if looks < IMPATIENT_LOOKS {
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

    /// Tells all peers that nothing comes any more.
    fn give_up(&self) {
        for process in self.peers.iter().filter_map(|&peer| self.process(peer).ok()) {
            let nothing: &'static [u8] = &[];
            let peer = self.world.process_at_rank(process);
            let request = peer.immediate_send_with_tag(mpi::request::StaticScope, nothing, GIVEN_UP);
            // Without bytes, it has left already, or the peer is out of reach.
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

/// MPI's tags have fewer bits. Packets between two ranks come in order, so those that could be taken for each other
/// differ.
fn tag(tag: u64) -> i32 {
    ((tag ^ tag >> 32) % TAGS) as i32
}
