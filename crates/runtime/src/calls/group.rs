//! All ranks of a schedule in one process, as tasks of a pool of threads.
//!
//! A rank plays its role until it must wait, and is then suspended; once its packets have arrived, any free thread of
//! the pool resumes it. There are as many threads as cores, however many ranks, and switching ranks takes a fraction of
//! a microsecond. Threads take the newest task first: the rank that a packet was just sent to comes next, while the
//! packet is in the caches. Each thread begins with its own [lane](crate::playing::lanes), a share of the elements, and
//! helps others when it is done.
//!
//! ```text
//!  play   send      into the mail of each receiver; the last packet a rank waits for wakes it
//!         receive   from its own mail, if everything due is there; else the rank is suspended
//!         ...       the next step
//! ```
//!
//! A rank is also suspended while a receiver has [`PACKETS_IN_FLIGHT`] of its packets waiting. This never stops a rank
//! that is furthest behind: its packets of earlier steps have been taken, and in a step it sends at most
//! [`PACKETS_A_STEP`](crate::PACKETS_A_STEP). So some rank can always continue.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rayon::Scope;

use super::error::RunError;
use super::lengths;
use super::runnable::Runnable;
use crate::playing::element::{Element, ReduceOp};
use crate::playing::execute::{Job, Workspace, pieces};
use crate::playing::lanes::{Cut, Share};
use crate::playing::role::Role;
use crate::transports::mail::Mail;
use crate::transports::packet::Pool;
use crate::transports::transport::{Envelope, Incoming, Outgoing, PACKETS_IN_FLIGHT, TransportError};
use collsynth_core::problem::Problem;
use collsynth_core::program::Layout;
use collsynth_core::topology::RankId;

/// Small enough for packets to stay in the caches, large enough to amortize switching ranks.
const PACKET_BYTES: usize = 1 << 17;

/// All live ranks of a verified schedule or audited rank program, in this process.
///
/// A [`Communicator`](crate::Communicator) is one rank's end, and its calls wait for other ranks; a group makes the
/// calls of all ranks at once. The results have the same bits.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, synthesize};
/// use collsynth_runtime::{Group, ReduceOp, RankBuffers};
/// use collsynth_core::schedule::Solution;
/// use collsynth_core::topology::Topology;
/// use collsynth_verify::verify::{Options, Verified};
///
/// let plan = synthesize(&Topology::torus(&[4])?, &Kind::AllReduce, &Goal::default(), &Control::unlimited())?;
/// let verified = Verified::<Solution>::new(plan.into(), &Options::default())?;
/// let mut buffers = [[1.0_f32, 0.0], [2.0, 0.5], [3.0, 0.25], [4.0, 0.25]];
///
/// let mut group = Group::new(&verified)?;
/// let ranks = buffers.iter_mut().map(|buffer| RankBuffers { input: &[], output: buffer });
/// group.run(&mut ranks.collect::<Vec<_>>(), ReduceOp::Sum)?;
/// assert_eq!(buffers, [[10.0, 1.0]; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Group {
    problem: Problem,
    members: Vec<Member>,
    /// The place of each rank among the members.
    place: Vec<usize>,
    /// One for each lane.
    pools: Vec<Pool>,
}

/// The buffers of one rank, laid out as for the corresponding call of a [`Communicator`](crate::Communicator); the
/// input is empty if that call has none.
#[derive(Debug)]
pub struct RankBuffers<'a, E> {
    /// The data that the rank contributes.
    pub input: &'a [E],
    /// The result; of collectives that work in place, also the contribution.
    pub output: &'a mut [E],
}

#[derive(Debug)]
struct Member {
    rank: RankId,
    role: Role,
    /// One for each lane.
    work: Vec<Workspace>,
}

impl Group {
    /// Compiles each rank's role. O(ranks * transfers), for a program O(ranks * slots that all ranks move).
    ///
    /// # Errors
    ///
    /// [`RunError::NoGroup`] for a barrier, which is pointless here, and for compressed sums.
    pub fn new<'a>(runnable: impl Into<Runnable<'a>>) -> Result<Self, RunError> {
        let runnable = runnable.into();
        let problem = runnable.problem();
        let kind = &problem.collective().kind;
        if !kind.has_volume() || kind.reduces_afterwards() {
            return Err(RunError::NoGroup { kind: kind.name() });
        }
        let member = |rank| Member { rank, role: runnable.role(rank), work: Vec::new() };
        let members: Vec<Member> = problem.topology().live_ranks().map(member).collect();
        let mut place = vec![usize::MAX; problem.topology().rank_count()];
        for (at, member) in members.iter().enumerate() {
            place[member.rank.index()] = at;
        }
        Ok(Self { problem: problem.clone(), members, place, pools: Vec::new() })
    }

    /// The problem solved.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// For each live rank, the time it spent in each step (of a program: each round) of the last call, waiting
    /// included.
    pub fn step_times(&self) -> impl Iterator<Item = Vec<Duration>> {
        self.members.iter().map(|member| {
            let times = |step: usize| member.work.iter().filter_map(move |work| work.step_times.get(step));
            (0..member.role.steps.len()).map(|step| times(step).max().copied().unwrap_or_default()).collect()
        })
    }

    /// Makes the calls of all ranks; `buffers` are those of the live ranks, ascending, and empty for ranks in no group.
    /// Collectives that only move data ignore `op`.
    ///
    /// The threads are those of the rayon pool that this is called in, else of the global one, one for each core. Their
    /// number does not affect results.
    ///
    /// # Errors
    ///
    /// [`RunError::Length`] if the number of buffers is not that of live ranks, and within [`RunError::OfRank`] if the
    /// lengths of a rank's buffers do not match those of the other ranks; no buffer was touched.
    pub fn run<E: Element>(&mut self, buffers: &mut [RankBuffers<'_, E>], op: ReduceOp) -> Result<(), RunError> {
        let block = self.block_length(buffers)?;
        let Some(first) = self.members.first() else { return Ok(()) };
        let parts = Layout::of_call(&self.problem, first.rank).parts();
        let pieces = pieces::<E>(block, 1, parts, first.role.largest_packet, PACKET_BYTES);
        let cut = Cut { block, parts, pieces, lanes: rayon::current_num_threads().min(pieces) };
        self.pools.resize_with(self.pools.len().max(cut.lanes), Pool::default);
        let mut shares: Vec<Vec<Share<'_, E>>> =
            buffers.iter_mut().map(|one| cut.shares(one.input, &mut *one.output)).collect();
        let mut tables: Vec<Table<'_, E>> =
            self.pools[..cut.lanes].iter().map(|pool| Table::new(pool, &self.place)).collect();
        for (member, shares) in self.members.iter_mut().zip(&mut shares) {
            member.work.resize_with(cut.lanes, Workspace::default);
            let lanes = tables.iter_mut().zip(&mut member.work).zip(shares).enumerate();
            for (lane, ((table, work), ends)) in lanes {
                let job = Job { ends, block, unit: 1, parts, op, pieces, played: cut.pieces(lane), call: 0 };
                table.seat(Seat { rank: member.rank, role: &member.role, work, job, done: false, failed: None });
            }
        }
        let started = Instant::now();
        rayon::scope(|scope| {
            for table in &tables {
                scope.spawn(move |scope| table.enter(scope));
            }
        });
        tables.into_iter().try_for_each(|table| table.outcome(started.elapsed()))
    }

    /// The elements of a block, if all buffers agree.
    fn block_length<E>(&self, buffers: &[RankBuffers<'_, E>]) -> Result<usize, RunError> {
        if buffers.len() != self.members.len() {
            let rule = format!("it must have {}, one for each live rank", self.members.len());
            return Err(RunError::Length { buffer: "list of buffers", found: buffers.len(), rule });
        }
        let of = |rank| move |error| RunError::OfRank { rank, source: Box::new(error) };
        let lengths = || {
            let ranks = self.members.iter().map(|member| member.rank);
            ranks.zip(buffers.iter().map(|one| (one.input.len(), one.output.len())))
        };
        let mut block = 0;
        for (rank, (input, output)) in lengths() {
            let found =
                lengths::block_length(&Layout::of_call(&self.problem, rank), input, output).map_err(of(rank))?;
            if block == 0 {
                block = found;
            }
        }
        for (rank, (input, output)) in lengths() {
            lengths::check(&Layout::of_call(&self.problem, rank), block, input, output).map_err(of(rank))?;
        }
        Ok(block)
    }
}

/// A lane of a running call. Seats and mail are in the order of the members.
struct Table<'a, E> {
    seats: Vec<Mutex<Seat<'a, E>>>,
    mail: Vec<Mutex<Mail>>,
    place: &'a [usize],
    pool: &'a Pool,
}

/// A member in a lane. At most one task at a time exists for it, and holds its lock.
struct Seat<'a, E> {
    rank: RankId,
    role: &'a Role,
    work: &'a mut Workspace,
    job: Job<'a, Share<'a, E>>,
    done: bool,
    failed: Option<TransportError>,
}

impl<'a, E: Element> Table<'a, E> {
    fn new(pool: &'a Pool, place: &'a [usize]) -> Self {
        Self { seats: Vec::new(), mail: Vec::new(), place, pool }
    }

    fn seat(&mut self, seat: Seat<'a, E>) {
        self.seats.push(Mutex::new(seat));
        self.mail.push(Mutex::default());
    }

    /// Starts all members.
    fn enter<'s>(&'s self, scope: &Scope<'s>) {
        for at in 0..self.seats.len() {
            let mut seat = lock(&self.seats[at]);
            let Seat { role, work, job, done, .. } = &mut *seat;
            work.start::<E, _>(role, job);
            *done = !work.begin::<E, _>(role, job, self.pool);
            if !*done {
                scope.spawn(move |scope| self.play(at, scope));
            }
        }
    }

    /// Advances a member as far as possible.
    fn play<'s>(&'s self, at: usize, scope: &Scope<'s>) {
        let mut seat = lock(&self.seats[at]);
        let Seat { rank, role, work, job, done, failed } = &mut *seat;
        while self.send(at, *rank, &mut work.outgoing, scope) {
            match self.receive(at, &mut work.incoming, scope) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    *failed = Some(error);
                    return;
                }
            }
            work.end::<E, _>(role, job, self.pool);
            if !work.begin::<E, _>(role, job, self.pool) {
                *done = true;
                return;
            }
        }
    }

    /// Puts packets into the mail of their receivers. False: one has no room; the member is resumed when it has.
    fn send<'s>(&'s self, at: usize, from: RankId, outgoing: &mut Vec<Outgoing>, scope: &Scope<'s>) -> bool {
        let mut left = outgoing.drain(..);
        while let Some(next) = left.next() {
            let to = self.place[next.to.index()];
            let mut mail = lock(&self.mail[to]);
            if mail.queue(from).packets.len() >= PACKETS_IN_FLIGHT {
                mail.without_room.push(at);
                drop(mail);
                *outgoing = std::iter::once(next).chain(left).collect();
                return false;
            }
            if mail.put(from, Envelope { tag: next.tag, packet: next.packet }) {
                scope.spawn(move |scope| self.play(to, scope));
            }
        }
        true
    }

    /// Takes the due packets out of the mail. False: some are missing; the member is resumed once all are there.
    fn receive<'s>(&'s self, at: usize, incoming: &mut [Incoming], scope: &Scope<'s>) -> Result<bool, TransportError> {
        let mut mail = lock(&self.mail[at]);
        if !mail.has_all(incoming) {
            return Ok(false);
        }
        for due in incoming {
            if let Some(Envelope { tag, packet }) = mail.queue(due.from).packets.pop_front() {
                due.accept(tag, packet)?;
            }
        }
        for sender in std::mem::take(&mut mail.without_room) {
            scope.spawn(move |scope| self.play(sender, scope));
        }
        Ok(true)
    }

    /// The result of a call that took `waited`.
    fn outcome(self, waited: Duration) -> Result<(), RunError> {
        for seat in self.seats {
            let Seat { rank, work, done, failed, .. } = seat.into_inner().unwrap_or_else(PoisonError::into_inner);
            let stuck = || match (work.outgoing.first(), work.incoming.first()) {
                (Some(Outgoing { to: peer, .. }), _) => TransportError::NothingTaken { peer: *peer, waited },
                (None, due) => TransportError::NothingCame { peer: due.map_or(rank, |due| due.from), waited },
            };
            if !done {
                let step = work.step as u32 + 1;
                let source = RunError::Step { step, source: failed.unwrap_or_else(stuck) };
                return Err(RunError::OfRank { rank, source: Box::new(source) });
            }
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
