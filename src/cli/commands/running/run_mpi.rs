//! `synth run --transport mpi`: one rank, in a process of an MPI job, and the MPI library's own collective for
//! comparison.

use std::thread;
use std::time::{Duration, Instant};

use collsynth::collective::Kind;
use collsynth::problem::Problem;
use collsynth::runtime::mpi::MpiTransport;
use collsynth::runtime::{Communicator, Dtype, ReduceOp, Runnable, Sample, TransportError};
use collsynth::topology::Topology;
use mpi::collective::{CommunicatorCollectives, Root, SystemOperation};
use mpi::environment::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator as _;

use crate::cli::ending::Failure;
use crate::cli::io::console::note;

/// How long a failed rank waits for the others to report their own errors.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A call of MPI's own collective, with its buffers.
type LibraryCall = Box<dyn FnMut(&SimpleCommunicator)>;

/// The results of all ranks, known to each.
pub struct Shared {
    /// Whether every rank's result is right.
    pub holds: bool,
    /// The time of a call and of each step, of the slowest rank.
    pub time: Duration,
    pub steps: Vec<Duration>,
    /// Whether this is the process that prints.
    pub prints: bool,
    /// The time of MPI's own collective, where there is one.
    pub library: Option<Duration>,
}

/// The job, for as long as it lasts.
pub struct Job {
    world: SimpleCommunicator,
    // Ends MPI when dropped; after the communicator.
    _universe: mpi::environment::Universe,
}

impl Job {
    /// Joins the job that this process was started for.
    pub fn join() -> Result<Self, Failure> {
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, _) = started.ok_or_else(|| Failure::usage("MPI cannot be initialized"))?;
        Ok(Self { world: universe.world(), _universe: universe })
    }

    /// This process's end of the collective.
    pub fn communicator(
        &self,
        runnable: Runnable<'_>,
        timeout: Duration,
    ) -> Result<Communicator<MpiTransport>, Failure> {
        let topology = runnable.problem().topology();
        let transport = MpiTransport::new(topology, timeout);
        let hint = format!("start one process for each live rank: mpirun -n {}", topology.live_rank_count());
        let transport = transport.or_else(|error| match error {
            TransportError::Missing { .. } => self.end(&Failure::usage(error)),
            _ => Err(Failure::usage(error).hint(hint)),
        })?;
        Communicator::new(transport, runnable).map_err(|error| self.end(&Failure::usage(error)))
    }

    /// Checks that all processes were given the same options.
    pub fn agree<const N: usize>(&self, topology: &Topology, options: [(&str, u64); N]) -> Result<(), Failure> {
        let mine = options.map(|(_, value)| value);
        let mut all = vec![0_u64; N * self.world.size() as usize];
        self.world.all_gather_into(&mine[..], &mut all[..]);
        for (rank, theirs) in topology.live_ranks().zip(all.chunks(N)) {
            if let Some(at) = (0..N).find(|&at| theirs[at] != all[at]) {
                let name = options[at].0;
                return Err(Failure::usage(format!("rank {rank} does not make the same call: its {name} differs"))
                    .hint(format!("give every process the same {name}")));
            }
        }
        Ok(())
    }

    /// Aborts the job after this rank failed: with calls pending, MPI cannot be finalized. The others end with it, so
    /// they get time to report first.
    pub fn end(&self, failure: &Failure) -> ! {
        note(&failure.to_string());
        thread::sleep(LAST_WORDS);
        self.world.abort(failure.ending as i32)
    }

    /// Shares each rank's times and whether its result is right with all ranks, and times MPI's own collective.
    pub fn share<E: Sample>(
        &self,
        problem: &Problem,
        block: usize,
        op: ReduceOp,
        repeat: u32,
        times: &[Duration],
        holds: bool,
    ) -> Shared {
        let mut wrong = 0_u8;
        self.world.all_reduce_into(&u8::from(!holds), &mut wrong, SystemOperation::max());
        let mine: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
        let mut slowest = mine.clone();
        self.world.all_reduce_into(&mine[..], &mut slowest[..], SystemOperation::max());
        let mut slowest = slowest.into_iter().map(Duration::from_secs_f64);
        let time = slowest.next().unwrap_or_default();
        let library = self.library::<E>(problem, block, op, repeat);
        Shared { holds: wrong == 0, time, steps: slowest.collect(), prints: self.world.rank() == 0, library }
    }

    /// The time of a call of MPI's own collective, on average, of the slowest rank; `None` without elements.
    fn library<E: Sample>(&self, problem: &Problem, block: usize, op: ReduceOp, repeat: u32) -> Option<Duration> {
        if block == 0 {
            // Rust's pointer to an empty buffer has a meaning of its own to MPI.
            return None;
        }
        let mut call = self.library_call::<E>(&problem.collective().kind, block, op)?;
        call(&self.world);
        self.world.barrier();
        let started = Instant::now();
        for _ in 0..repeat {
            call(&self.world);
        }
        let mine = started.elapsed().as_secs_f64() / f64::from(repeat);
        let mut slowest = mine;
        self.world.all_reduce_into(&mine, &mut slowest, SystemOperation::max());
        Some(Duration::from_secs_f64(slowest))
    }

    /// MPI's own collective on buffers of the same size; `None` where it has none that this program calls.
    fn library_call<E: Sample>(&self, kind: &Kind, block: usize, op: ReduceOp) -> Option<LibraryCall> {
        let (ranks, bytes) = (self.world.size() as usize, block * size_of::<E>());
        let (mut one, mut all, mut other) = (vec![0_u8; bytes], vec![0_u8; bytes * ranks], vec![0_u8; bytes * ranks]);
        match kind {
            Kind::AllToAll => Some(Box::new(move |world| world.all_to_all_into(&all[..], &mut other[..]))),
            Kind::AllGather => Some(Box::new(move |world| world.all_gather_into(&one[..], &mut all[..]))),
            Kind::Broadcast(_) => Some(Box::new(move |world| world.process_at_rank(0).broadcast_into(&mut one[..]))),
            Kind::AllReduce => {
                let op = match op {
                    ReduceOp::Sum => SystemOperation::sum(),
                    ReduceOp::Product => SystemOperation::product(),
                    ReduceOp::Min => SystemOperation::min(),
                    ReduceOp::Max => SystemOperation::max(),
                };
                macro_rules! all_reduce {
                    ($element:ty) => {{
                        let (input, mut output) =
                            (vec![<$element>::default(); block], vec![<$element>::default(); block]);
                        Some(Box::new(move |world: &SimpleCommunicator| {
                            world.all_reduce_into(&input[..], &mut output[..], op)
                        }))
                    }};
                }
                match E::DTYPE {
                    Dtype::F32 => all_reduce!(f32),
                    Dtype::F64 => all_reduce!(f64),
                    Dtype::I32 => all_reduce!(i32),
                    Dtype::I64 => all_reduce!(i64),
                    Dtype::U8 => all_reduce!(u8),
                    Dtype::F16 | Dtype::Bf16 => None,
                }
            }
            _ => None,
        }
    }
}
