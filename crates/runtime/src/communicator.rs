//! Collectives on slices, one call for each kind.

use std::sync::Arc;
use std::time::Duration;

use super::digest::Digest;
use super::element::{Element, ReduceOp};
use super::ends::{Ends, Slices};
use super::error::RunError;
use super::execute::{self, Failed, Job, Workspace, pieces};
use super::gathered::most_chunks;
use super::lengths;
use super::packet::Packet;
use super::role::Role;
use super::runnable::Runnable;
use super::transport::{Incoming, Outgoing, Transport};
use collsynth_core::problem::Problem;
use collsynth_core::program::Layout;
use collsynth_core::topology::RankId;

/// The tag of the packets with which ranks compare their schedules.
const GREETING: u64 = u64::MAX;

/// One rank's end of a collective: a transport, and a schedule that was verified or a rank program that was audited.
///
/// Every live rank makes one with the same schedule or program, and all make the same calls with the same type,
/// operation and number of elements. A call blocks until this rank's part is done. If it fails, the connections are
/// ended, so that the other ranks fail as well instead of waiting, and every later call is refused. Calls without
/// elements send nothing, so they cannot find out that others make another call.
///
/// `N` is the number of ranks, failed ones included: they have their places in buffers, which are neither read nor
/// written. See the [module](super) for how buffers are laid out, and in which order values are added.
#[derive(Debug)]
pub struct Communicator<T: Transport> {
    transport: T,
    problem: Problem,
    /// The ranks it exchanges packets with, ascending.
    peers: Vec<RankId>,
    role: Role,
    /// For `all_reduce_gathered`, see [`most_chunks`].
    gathered_chunks: [usize; 2],
    work: Workspace,
    digest: u64,
    calls: u64,
    ended: bool,
}

impl<T: Transport> Communicator<T> {
    /// Works out this rank's part, and compares the digest of the schedule or program with that of every peer.
    ///
    /// O(transfers + the rank's moves), for a program O(slots that all ranks move), and one packet to and from each
    /// peer.
    ///
    /// # Errors
    ///
    /// The transport has another number of ranks ([`RunError::Size`]), this rank failed ([`RunError::NotLive`]), a peer
    /// has another schedule ([`RunError::OtherSchedule`]) or cannot be reached ([`RunError::Start`]).
    pub fn new<'a>(transport: T, runnable: impl Into<Runnable<'a>>) -> Result<Self, RunError> {
        let runnable = runnable.into();
        let (problem, rank) = (runnable.problem(), transport.rank());
        let expected = problem.topology().rank_count();
        if transport.size() != expected {
            return Err(RunError::Size { expected, found: transport.size() });
        }
        if !problem.topology().is_alive(rank) {
            return Err(RunError::NotLive { rank });
        }
        let mut communicator = Self {
            transport,
            problem: problem.clone(),
            peers: runnable.peers(rank),
            role: runnable.role(rank),
            gathered_chunks: match problem.collective().kind.reduces_afterwards() {
                true => most_chunks(runnable),
                false => [0; 2],
            },
            work: Workspace::default(),
            digest: runnable.digest(),
            calls: 0,
            ended: false,
        };
        communicator.greet()?;
        Ok(communicator)
    }

    /// This rank.
    pub fn rank(&self) -> RankId {
        self.transport.rank()
    }

    /// The problem that is solved.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The time this rank spent in each step (of a program: in each round) of the last call, waiting included.
    pub fn step_times(&self) -> &[Duration] {
        &self.work.step_times
    }

    /// Every rank's message for every rank: block `d` of the input goes to rank `d`, block `o` of the output comes from
    /// rank `o`. Both have `N` blocks.
    ///
    /// # Errors
    ///
    /// A [`RunError`]: another kind of schedule, buffers that do not fit, a transport that failed. So for all calls.
    pub fn all_to_all<E: Element>(&mut self, input: &[E], output: &mut [E]) -> Result<(), RunError> {
        self.check_kind("all_to_all")?;
        self.run(input, output, ReduceOp::Sum)
    }

    /// As all-to-all, with as many chunks for each pair as the schedule's demand says, each of `chunk` elements. The
    /// input holds the chunks for rank 0, those for rank 1 and so on; the output those from rank 0, from rank 1 and so
    /// on.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn all_to_allv<E: Element>(&mut self, input: &[E], output: &mut [E], chunk: usize) -> Result<(), RunError> {
        self.check_kind("all_to_allv")?;
        self.run_blocks(input, output, chunk, ReduceOp::Sum)
    }

    /// Every rank's shard to every rank: block `o` of the output is the input of rank `o`.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn all_gather<E: Element>(&mut self, input: &[E], output: &mut [E]) -> Result<(), RunError> {
        self.check_kind("all_gather")?;
        self.run(input, output, ReduceOp::Sum)
    }

    /// The output of rank `d` is block `d` of all inputs, combined. The input has `N` blocks.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn reduce_scatter<E: Element>(&mut self, input: &[E], output: &mut [E], op: ReduceOp) -> Result<(), RunError> {
        self.check_kind("reduce_scatter")?;
        self.run(input, output, op)
    }

    /// The buffers of all ranks, combined, take the place of each. Every rank has the same bits, unless the verifier
    /// warned (W003) that the schedule adds in different orders.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn all_reduce<E: Element>(&mut self, buffer: &mut [E], op: ReduceOp) -> Result<(), RunError> {
        self.check_kind("all_reduce")?;
        self.run(&[], buffer, op)
    }

    /// The root's buffer takes the place of each rank's.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn broadcast<E: Element>(&mut self, buffer: &mut [E]) -> Result<(), RunError> {
        self.check_kind("broadcast")?;
        self.run(&[], buffer, ReduceOp::Sum)
    }

    /// The inputs of all ranks, combined, are the output of the root. The output of the others is empty.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn reduce<E: Element>(&mut self, input: &[E], output: &mut [E], op: ReduceOp) -> Result<(), RunError> {
        self.check_kind("reduce")?;
        self.run(input, output, op)
    }

    /// Block `d` of the root's input is the output of rank `d`. The input of the others is empty.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn scatter<E: Element>(&mut self, input: &[E], output: &mut [E]) -> Result<(), RunError> {
        self.check_kind("scatter")?;
        self.run(input, output, ReduceOp::Sum)
    }

    /// Block `o` of the root's output is the input of rank `o`. The output of the others is empty.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn gather<E: Element>(&mut self, input: &[E], output: &mut [E]) -> Result<(), RunError> {
        self.check_kind("gather")?;
        self.run(input, output, ReduceOp::Sum)
    }

    /// Returns when every rank has called it. What travels is the list of arrivals, a byte for each rank.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn barrier(&mut self) -> Result<(), RunError> {
        self.check_kind("barrier")?;
        let mut arrived = vec![0_u8; self.problem.topology().rank_count()];
        arrived[self.rank().index()] = 1;
        self.run(&[], &mut arrived, ReduceOp::Max)?;
        match self.problem.topology().live_ranks().find(|rank| arrived[rank.index()] == 0) {
            Some(rank) => Err(RunError::NotArrived { rank }),
            None => Ok(()),
        }
    }

    /// The most bytes a packet should have.
    pub(super) fn packet_bytes(&self) -> usize {
        self.transport.packet_bytes().max(1)
    }

    /// Refuses a call that the schedule is not for.
    pub(super) fn check_kind(&self, called: &'static str) -> Result<(), RunError> {
        let scheduled = self.problem.collective().kind.name();
        if scheduled == called { Ok(()) } else { Err(RunError::OtherKind { scheduled, called }) }
    }

    /// Runs the schedule on buffers whose lengths tell the length of a block.
    fn run<E: Element>(&mut self, input: &[E], output: &mut [E], op: ReduceOp) -> Result<(), RunError> {
        let block = lengths::block_length(&self.layout(), input.len(), output.len())?;
        self.run_blocks(input, output, block, op)
    }

    /// Runs the schedule on blocks of this length.
    fn run_blocks<E: Element>(
        &mut self,
        input: &[E],
        output: &mut [E],
        block: usize,
        op: ReduceOp,
    ) -> Result<(), RunError> {
        if self.ended {
            return Err(RunError::Ended);
        }
        lengths::check(&self.layout(), block, input.len(), output.len())?;
        self.carry_out(&mut Slices { input, output, block }, block, 1, op)
    }

    /// Plays this rank's role, on blocks of so many elements that are cut only between units.
    pub(super) fn carry_out<E: Element, N: Ends<E>>(
        &mut self,
        ends: &mut N,
        block: usize,
        unit: usize,
        op: ReduceOp,
    ) -> Result<(), RunError> {
        if self.ended {
            return Err(RunError::Ended);
        }
        let parts = self.parts();
        let pieces = pieces::<E>(block, unit, parts, self.role.largest_packet, self.packet_bytes());
        self.calls += 1;
        let call =
            Digest::new().add([self.calls, E::DTYPE as u64, op as u64, block as u64, pieces as u64]).finish_short();
        let mut job = Job { ends, block, unit, parts, op, pieces, played: 0..pieces, call };
        execute::run(&self.role, &mut self.work, &mut self.transport, &mut job)
            .map_err(|Failed { step, error }| self.end(RunError::Step { step, source: error }))
    }

    /// The parts a block is cut in.
    pub(super) fn parts(&self) -> usize {
        self.layout().parts()
    }

    fn layout(&self) -> Layout<'_> {
        Layout::of_call(&self.problem, self.rank())
    }

    /// The ranks that take part, ascending.
    pub(super) fn live_ranks(&self) -> Vec<RankId> {
        self.problem.topology().live_ranks().collect()
    }

    /// The most chunks that any rank holds at a time while it gathers, by order.
    pub(super) fn gathered_chunks(&self) -> [usize; 2] {
        self.gathered_chunks
    }

    /// What this rank has to do.
    pub(super) fn role(&self) -> &Role {
        &self.role
    }

    /// A packet of so many bytes, whatever they are.
    pub(super) fn new_packet(&self, bytes: usize) -> Packet {
        self.transport.pool().packet(bytes)
    }

    /// Takes a packet back.
    pub(super) fn recycle(&self, packet: Arc<Packet>) {
        self.transport.pool().recycle(packet);
    }

    /// Tells every peer the digest of the schedule, and compares theirs.
    fn greet(&mut self) -> Result<(), RunError> {
        let pool = self.transport.pool();
        let mut greeting = pool.packet(size_of::<u64>());
        greeting.elements_mut().copy_from_slice(&[self.digest]);
        let greeting = Arc::new(greeting);
        let peers = &self.peers;
        let mut outgoing: Vec<Outgoing> =
            peers.iter().map(|&to| Outgoing { to, tag: GREETING, packet: Arc::clone(&greeting) }).collect();
        let due = |&from| Incoming { from, tag: GREETING, bytes: size_of::<u64>(), packet: None };
        let mut incoming: Vec<Incoming> = peers.iter().map(due).collect();
        self.transport.exchange(&mut outgoing, &mut incoming).map_err(|source| self.end(RunError::Start { source }))?;
        let other =
            |due: &&Incoming| due.packet.as_ref().is_none_or(|packet| packet.elements::<u64>() != [self.digest]);
        match incoming.iter().find(other).map(|due| due.from) {
            Some(peer) => Err(self.end(RunError::OtherSchedule { peer })),
            None => Ok(()),
        }
    }

    /// Ends all connections because of an error.
    fn end(&mut self, error: RunError) -> RunError {
        self.ended = true;
        self.transport.close();
        error
    }
}
