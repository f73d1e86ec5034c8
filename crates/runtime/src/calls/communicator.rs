//! Collectives on slices.

use std::sync::Arc;
use std::time::Duration;

use super::digest::Digest;
use super::error::RunError;
use super::gathered::most_chunks;
use super::lengths;
use super::runnable::Runnable;
use crate::playing::element::{Element, ReduceOp};
use crate::playing::ends::{Ends, Slices};
use crate::playing::execute;
use crate::playing::execute::{Failed, Job, Workspace, pieces};
use crate::playing::role::Role;
use crate::transports::transport::{Incoming, Outgoing, Transport};
use collsynth_core::collective::Combining;
use collsynth_core::problem::Problem;
use collsynth_core::program::Layout;
use collsynth_core::topology::RankId;

/// The tag of the packets that compare schedules.
const DIGESTS: u64 = u64::MAX;
/// The tag of the first number that callers compare; that of the next is one less.
const AGREED: u64 = u64::MAX - 1;

/// One rank's end of a collective: a transport with a verified schedule or an audited rank program.
///
/// Every live rank makes one with the same schedule or program, and all make the same calls with the same type,
/// operation and number of elements. A call blocks until this rank's part is done. A failed call closes the
/// connections, so that the other ranks fail too instead of waiting, and every later call is refused. Calls without
/// elements send nothing, so they cannot detect that other ranks make a different call.
///
/// `N` is the number of ranks, failed ones included: their blocks in buffers are neither read nor written. See the
/// [crate](crate) for the layout of buffers and the order of additions.
#[derive(Debug)]
pub struct Communicator<T: Transport> {
    pub(crate) transport: T,
    problem: Problem,
    peers: Vec<RankId>,
    pub(crate) role: Role,
    /// For `all_reduce_gathered`, see [`most_chunks`].
    pub(crate) gathered_chunks: [usize; 2],
    work: Workspace,
    digest: u64,
    calls: u64,
    /// How many numbers callers have compared.
    agreed: u64,
    ended: bool,
}

impl<T: Transport> Communicator<T> {
    /// Compiles this rank's role and compares the digest of the schedule or program with every peer's.
    ///
    /// O(transfers + the rank's moves), for a program O(slots that all ranks move), and one packet to and from each
    /// peer.
    ///
    /// # Errors
    ///
    /// The transport's number of ranks differs ([`RunError::Size`]), this rank has failed ([`RunError::NotLive`]), or a
    /// peer has a different schedule ([`RunError::OtherSchedule`]) or is unreachable ([`RunError::Start`]); sums of
    /// compressed pieces are not carried out in groups ([`RunError::GatheredInGroups`]).
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
        if problem.groups().is_some() && problem.collective().kind.reduces_afterwards() {
            return Err(RunError::GatheredInGroups);
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
            agreed: 0,
            ended: false,
        };
        match communicator.other(DIGESTS, communicator.digest)? {
            Some(peer) => Err(communicator.end(RunError::OtherSchedule { peer })),
            None => Ok(communicator),
        }
    }

    /// Compares with every peer what callers must have in common beside the schedule, as the number of calls; `what`
    /// is its name. All ranks call this, in the same order. One packet to and from each peer.
    ///
    /// # Errors
    ///
    /// A peer has another number ([`RunError::OtherCall`]) or is unreachable ([`RunError::Start`]).
    pub fn agree(&mut self, what: &'static str, number: u64) -> Result<(), RunError> {
        let tag = AGREED - self.agreed;
        self.agreed += 1;
        match self.other(tag, number)? {
            Some(peer) => Err(self.end(RunError::OtherCall { peer, what })),
            None => Ok(()),
        }
    }

    /// This rank.
    pub fn rank(&self) -> RankId {
        self.transport.rank()
    }

    /// The problem solved.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The time this rank spent in each step (of a program: each round) of the last call, waiting included.
    pub fn step_times(&self) -> &[Duration] {
        &self.work.step_times
    }

    /// Every rank's message for every rank: block `d` of the input goes to rank `d`, block `o` of the output comes from
    /// rank `o`. Both have `N` blocks.
    ///
    /// # Errors
    ///
    /// A [`RunError`]: wrong kind of schedule, buffers of the wrong length, or a failed transport. So for all calls.
    pub fn all_to_all<E: Element>(&mut self, input: &[E], output: &mut [E]) -> Result<(), RunError> {
        self.check_kind("all_to_all")?;
        self.run(input, output, ReduceOp::Sum)
    }

    /// All-to-all with the number of chunks for each pair that the schedule's demand gives, each of `chunk` elements.
    /// The input holds the chunks for rank 0, for rank 1 and so on; the output those from rank 0, from rank 1, ...
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

    /// Replaces each rank's buffer by the combination of all. Every rank gets the same bits, unless the verifier warned
    /// (W003) that the schedule adds in different orders.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn all_reduce<E: Element>(&mut self, buffer: &mut [E], op: ReduceOp) -> Result<(), RunError> {
        self.check_kind("all_reduce")?;
        self.run(&[], buffer, op)
    }

    /// Replaces each rank's buffer by the root's.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn broadcast<E: Element>(&mut self, buffer: &mut [E]) -> Result<(), RunError> {
        self.check_kind("broadcast")?;
        self.run(&[], buffer, ReduceOp::Sum)
    }

    /// Combines the inputs of all ranks into the root's output. The other outputs are empty.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn reduce<E: Element>(&mut self, input: &[E], output: &mut [E], op: ReduceOp) -> Result<(), RunError> {
        self.check_kind("reduce")?;
        self.run(input, output, op)
    }

    /// Block `d` of the root's input is the output of rank `d`. The other inputs are empty.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn scatter<E: Element>(&mut self, input: &[E], output: &mut [E]) -> Result<(), RunError> {
        self.check_kind("scatter")?;
        self.run(input, output, ReduceOp::Sum)
    }

    /// Block `o` of the root's output is the input of rank `o`. The other outputs are empty.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn gather<E: Element>(&mut self, input: &[E], output: &mut [E]) -> Result<(), RunError> {
        self.check_kind("gather")?;
        self.run(input, output, ReduceOp::Sum)
    }

    /// Returns once every rank has called it. Packets carry the list of arrivals, a byte for each rank.
    ///
    /// # Errors
    ///
    /// See [`Communicator::all_to_all`].
    pub fn barrier(&mut self) -> Result<(), RunError> {
        self.check_kind("barrier")?;
        let (rank, count) = (self.rank(), self.problem.topology().rank_count());
        if self.only_relays() {
            let mut nothing = Slices { input: &[0_u8; 0], output: &mut [], block: count };
            return self.carry_out(&mut nothing, count, 1, ReduceOp::Max);
        }
        let mut arrived = vec![0_u8; count];
        arrived[rank.index()] = 1;
        self.run(&[], &mut arrived, ReduceOp::Max)?;
        let together = |other: &RankId| self.problem.groups().is_none_or(|groups| groups.join(rank, *other));
        let mut expected = self.problem.topology().live_ranks().filter(together);
        match expected.find(|rank| arrived[rank.index()] == 0) {
            Some(rank) => Err(RunError::NotArrived { rank }),
            None => Ok(()),
        }
    }

    /// Takes part in a collective in groups that this rank is in none of: passes chunks on, or adds them up with `op`
    /// (that of the members), where the schedule has it as a relay. Blocks have `block` elements, as many as those of
    /// the members.
    ///
    /// # Errors
    ///
    /// [`RunError::Member`] if it is in a group, or all ranks take part together; else as
    /// [`Communicator::all_to_all`].
    pub fn relay<E: Element>(&mut self, block: usize, op: ReduceOp) -> Result<(), RunError> {
        if !self.only_relays() {
            return Err(RunError::Member { rank: self.rank() });
        }
        // Members state no operation either where nothing is added.
        let adds = self.problem.collective().kind.combining() == Combining::Sum;
        let op = if adds { op } else { ReduceOp::Sum };
        self.carry_out(&mut Slices { input: &[] as &[E], output: &mut [], block }, block, 1, op)
    }

    /// Is this rank in none of the groups?
    fn only_relays(&self) -> bool {
        self.problem.groups().is_some_and(|groups| groups.place(self.rank()).is_none())
    }

    /// The most bytes a packet should have.
    pub(crate) fn packet_bytes(&self) -> usize {
        self.transport.packet_bytes().max(1)
    }

    pub(crate) fn check_kind(&self, called: &'static str) -> Result<(), RunError> {
        let scheduled = self.problem.collective().kind.name();
        if scheduled == called { Ok(()) } else { Err(RunError::OtherKind { scheduled, called }) }
    }

    /// Runs the schedule on buffers whose lengths imply the length of a block.
    fn run<E: Element>(&mut self, input: &[E], output: &mut [E], op: ReduceOp) -> Result<(), RunError> {
        if self.only_relays() {
            return Err(RunError::Relay { rank: self.rank() });
        }
        let block = lengths::block_length(&self.layout(), input.len(), output.len())?;
        self.run_blocks(input, output, block, op)
    }

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

    /// Plays this rank's role on blocks of `block` elements, cut only at multiples of `unit`.
    pub(crate) fn carry_out<E: Element, N: Ends<E>>(
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

    pub(crate) fn parts(&self) -> usize {
        self.layout().parts()
    }

    fn layout(&self) -> Layout<'_> {
        Layout::of_call(&self.problem, self.rank())
    }

    /// Exchanges a number with all peers: the first that has another one.
    fn other(&mut self, tag: u64, number: u64) -> Result<Option<RankId>, RunError> {
        let pool = self.transport.pool();
        let mut packet = pool.packet(size_of::<u64>());
        packet.elements_mut().copy_from_slice(&[number]);
        let packet = Arc::new(packet);
        let peers = &self.peers;
        let mut outgoing: Vec<Outgoing> =
            peers.iter().map(|&to| Outgoing { to, tag, packet: Arc::clone(&packet) }).collect();
        let mut incoming: Vec<Incoming> =
            peers.iter().map(|&from| Incoming { from, tag, bytes: size_of::<u64>(), packet: None }).collect();
        self.transport.exchange(&mut outgoing, &mut incoming).map_err(|source| self.end(RunError::Start { source }))?;
        let differs = |due: &&Incoming| due.packet.as_ref().is_none_or(|packet| packet.elements::<u64>() != [number]);
        Ok(incoming.iter().find(differs).map(|due| due.from))
    }

    /// Closes all connections because of an error.
    fn end(&mut self, error: RunError) -> RunError {
        self.ended = true;
        self.transport.close();
        error
    }
}
