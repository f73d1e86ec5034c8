//! `synth run`: runs a schedule on random data, compares the results and times it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use collsynth::program::Operation;
use collsynth::report::run::{RunReport, block_for, bytes_of, has_blocks, size_row, sizes_heading};
use collsynth::runtime::tcp::{self, RankTable, TcpOptions, TcpTransport};
use collsynth::runtime::{Communicator, Dtype, Group, ReduceOp, RunError, Runnable, Sample, Transport, Trial, threads};
use collsynth::topology::{RankId, Topology};
use half::{bf16, f16};

use super::run_calls::{Outcome, outcomes, repeats};
use super::secret::secret;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::input;
use crate::cli::io::naming::named;
use crate::cli::io::output::{Format, Output};
use crate::cli::io::progress::Ticker;
use crate::cli::io::reading::Reading;
use crate::cli::options::quantity::{parse_bytes, parse_bytes_or_none, parse_duration, parse_seed};
use crate::cli::options::suggest::OneOf;
use crate::cli::options::suggest::Spelled;
use crate::cli::options::{Given, What};

/// What a move takes until it is run, roughly.
pub(super) const MOVE_BYTES: u64 = 250;
/// Memory that the buffers of all ranks of one process may take.
const MOST_MEMORY: u64 = 1 << 34;
/// Buffers of a rank while its result is compared: input, output, output before, expected output.
const BUFFERS: u64 = 4;

/// Said where other hosts can reach the ranks.
const NO_SECRET: &str = "warning: without a secret, any program that reaches the ports in the rank table can take the \
                         place of a rank (--secret-file)";

/// Run a schedule, a rank program or a job on random data, check and time it
///
/// The file is judged first; one that does not hold is not run. Ranks are threads or tasks of this process, or joined
/// by TCP or MPI. The collectives of a job run at once, in this process. Exit code 0 if every element equals the result
/// of plain arithmetic, 1 if one does not (or the file does not hold), 2 if ranks cannot reach each other.
#[derive(Args)]
pub struct RunCommand {
    /// The schedule, rank program or job file (- for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Bytes of the larger of a rank's two buffers
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = parse_bytes_or_none)]
    pub(super) bytes: u64,
    /// Sweep sizes from this one to --max-bytes, a line of figures for each: -b 1KiB -e 64MiB -f 4
    #[arg(short = 'b', long, value_name = "SIZE", value_parser = parse_bytes)]
    min_bytes: Option<u64>,
    /// The largest size of a sweep
    #[arg(short = 'e', long, value_name = "SIZE", value_parser = parse_bytes)]
    max_bytes: Option<u64>,
    /// From a size of a sweep to the next
    #[arg(short = 'f', long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u64).range(2..))]
    factor: u64,
    /// The type of the elements: f32, f64, f16, bf16, i32, i64 or u8
    #[arg(long, value_name = "TYPE", default_value = "f32", hide_possible_values = true,
        value_parser = OneOf::new("type", Dtype::ALL.map(Dtype::name).to_vec()).try_map(|name| name.parse::<Dtype>()))]
    pub(super) dtype: Dtype,
    /// How values are reduced: sum, product, min or max
    #[arg(long, value_name = "OP", default_value = "sum")]
    op: ReduceOp,
    /// How ranks are joined
    #[arg(long, value_parser = Spelled::<TransportName>::default(), default_value = "threads")]
    transport: TransportName,
    /// The number of timed calls [default: as many as move 4 GiB over all links, at most 20]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Drives the data: the same seed gives the same data
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_seed)]
    seed: u64,
    /// Give up when a rank has waited this long for another
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    timeout: Duration,
    /// With tcp: run only this rank here, and the others elsewhere; without, all run here
    #[arg(long, value_name = "RANK")]
    rank: Option<String>,
    /// Where each rank listens: a line host:port for each, in their order
    #[arg(long, value_name = "FILE")]
    rank_table: Option<PathBuf>,
    /// The secret by which ranks recognize each other, the same for all; others must not be able to read the file
    ///
    /// Without it, the environment variable SYNTH_SECRET has the secret. Without either, ranks take whoever reaches
    /// their ports for a rank: do so only on the loopback interface or among hosts you trust. Data is not encrypted.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// The form of the figures
    #[arg(long, value_parser = Spelled::<Format>::default(), default_value = "text")]
    format: Format,
    /// Write the figures to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(super) output: PathBuf,
}

/// How ranks are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TransportName {
    /// Each rank is a thread of this process
    Threads,
    /// All ranks are tasks in this process, on one thread per core
    Group,
    /// Ranks are joined by TCP: processes on one or several hosts, or here over the loopback interface
    Tcp,
    /// Ranks are the processes of an MPI job: mpirun -n N synth run ... (only if built with the feature `mpi`)
    Mpi,
}

/// The calls that every rank makes.
#[derive(Clone, Copy)]
struct Calls<'a> {
    repeat: u32,
    /// The rank that tells what comes next.
    said_by: Option<RankId>,
    say: &'a (dyn Fn(&str) + Sync),
}

/// A rank, and why it failed.
type Trouble = (RankId, RunError);

impl RunCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let format = given.form("format").unwrap_or(self.format);
        self.check_words()?;
        let ticker = Ticker::new(false, &format!("judging {}", self.file.display()));
        let reading = Reading::of(&self.file)?;
        given.file(reading.what())?;
        match reading.what() {
            What::Job => return self.run_job(&reading, given, format),
            What::Program => {
                let program = reading.audited("run")?;
                given.kind(&program.problem.collective().kind)?;
                ticker.finish();
                return self.run_typed(&[Runnable::from(&program)], format);
            }
            What::Schedule => {}
        }
        let stated = reading.stated()?;
        given.kind(&stated.problem.collective().kind)?;
        let solution = reading.expand(reading.hold(stated, "run")?, MOVE_BYTES)?;
        Runnable::from(&solution).check_size(reading.made()).map_err(Failure::usage)?;
        ticker.finish();
        self.run_typed(&[Runnable::from(&solution)], format)
    }

    /// Refuses a sweep of no size, and what means something else to nccl-tests.
    fn check_words(&self) -> Result<(), Failure> {
        if let (Some(first), Some(last)) = (self.min_bytes, self.max_bytes)
            && first > last
        {
            return Err(Failure::usage(format!("a sweep from {first} to {last} bytes has no size"))
                .hint(format!("`-b {last} -e {first}` sweeps between them")));
        }
        match self.output.to_str().filter(|name| name.parse::<ReduceOp>().is_ok()) {
            Some(op) => Err(Failure::usage(format!("-o {op} would write a file: the operation is --op {op}"))
                .hint(format!("write to ./{op} if a file of that name is wanted"))),
            None => Ok(()),
        }
    }

    /// Runs one schedule or program, or several at once.
    pub(super) fn run_typed(&self, runnables: &[Runnable<'_>], format: Format) -> Result<Ending, Failure> {
        match self.dtype {
            Dtype::F32 => self.run_as::<f32>(runnables, format),
            Dtype::F64 => self.run_as::<f64>(runnables, format),
            Dtype::F16 => self.run_as::<f16>(runnables, format),
            Dtype::Bf16 => self.run_as::<bf16>(runnables, format),
            Dtype::I32 => self.run_as::<i32>(runnables, format),
            Dtype::I64 => self.run_as::<i64>(runnables, format),
            Dtype::U8 => self.run_as::<u8>(runnables, format),
        }
    }

    fn run_as<E: Sample>(&self, runnables: &[Runnable<'_>], format: Format) -> Result<Ending, Failure> {
        let &[runnable] = runnables else { return self.together::<E>(runnables, format) };
        if self.transport == TransportName::Mpi && self.rank.is_none() {
            let block = block_for(runnable.problem(), self.bytes, self.dtype);
            self.check_memory(self.buffer_memory(runnable, block))?;
            return self.in_job(runnable, &self.trial::<E>(runnable, block), format);
        }
        let Some(sizes) = self.sizes() else {
            let report = self.measured_alone::<E>(runnable, self.bytes)?;
            format.deliver(&self.output, || report.to_text(), || report.to_json())?;
            return Ok(if report.holds() { Ending::Success } else { Ending::Refuted });
        };
        let mut runs = Vec::new();
        let mut out = Output::to(&self.output);
        for bytes in sizes {
            let run = self.measured_alone::<E>(runnable, bytes)?;
            if format == Format::Text {
                let heading = if runs.is_empty() { sizes_heading(&run) } else { String::new() };
                out.write(&(heading + &size_row(&run)))?;
            }
            runs.push(run);
        }
        if format == Format::Json {
            out.write(&format!("{:#}\n", runs.iter().map(RunReport::to_json).collect::<serde_json::Value>()))?;
        }
        out.finish()?;
        Ok(if runs.iter().all(RunReport::holds) { Ending::Success } else { Ending::Refuted })
    }

    /// The timed calls with blocks of this many elements.
    fn repeats(&self, runnable: Runnable<'_>, block: usize) -> u32 {
        let moves = match runnable {
            Runnable::Schedule(schedule) => schedule.schedule.move_count(),
            Runnable::Program(program) => program.operations().iter().map(sent).sum(),
        };
        let block_bytes = block as u64 * self.dtype.bytes() as u64;
        self.repeat.unwrap_or_else(|| repeats(runnable.problem(), moves, block_bytes))
    }

    /// The sizes of a sweep.
    fn sizes(&self) -> Option<impl Iterator<Item = u64>> {
        let (first, last) = self.min_bytes.zip(self.max_bytes)?;
        let factor = self.factor;
        Some(
            std::iter::successors(Some(first), move |size| size.checked_mul(factor))
                .take_while(move |&size| size <= last),
        )
    }

    /// The bytes of all buffers in this process.
    pub(super) fn buffer_memory(&self, runnable: Runnable<'_>, block: usize) -> u64 {
        let one = self.rank.is_some() || self.transport == TransportName::Mpi;
        let here = if one { 1 } else { runnable.problem().topology().live_rank_count() };
        bytes_of(runnable.problem(), block, self.dtype).saturating_mul(BUFFERS).saturating_mul(here as u64)
    }

    pub(super) fn check_memory(&self, memory: u64) -> Result<(), Failure> {
        if memory <= MOST_MEMORY {
            return Ok(());
        }
        let text = format!("the buffers of all ranks take {memory} bytes of memory; at most {MOST_MEMORY} are taken");
        Err(Failure::usage(text).hint("choose fewer --bytes"))
    }

    /// Random data in blocks of this many elements.
    pub(super) fn trial<E: Sample>(&self, runnable: Runnable<'_>, block: usize) -> Trial<E> {
        Trial::new(runnable.problem(), block, self.op, self.seed)
    }

    /// Runs one size in this process, or this process's rank of it, and nothing else meanwhile.
    fn measured_alone<'a, E: Sample>(&self, runnable: Runnable<'a>, bytes: u64) -> Result<RunReport<'a>, Failure> {
        let block = block_for(runnable.problem(), bytes, self.dtype);
        self.check_memory(self.buffer_memory(runnable, block))?;
        let trial = self.trial::<E>(runnable, block);
        let ticker = Ticker::new(false, "running");
        let size = collsynth::report::figures::bytes(bytes);
        let report = self.measured(runnable, &trial, &|what| ticker.say(format!("running {size}: {what}")))?;
        ticker.finish();
        if report.bytes() != bytes && has_blocks(runnable.problem()) {
            note(&format!("note: {}", self.undivided(bytes, "blocks", report.bytes())));
        }
        Ok(report)
    }

    /// `1001 bytes do not divide into blocks of int32: 1000 were run`
    pub(super) fn undivided(&self, bytes: u64, pieces: &str, run: u64) -> String {
        let (bytes, verb) =
            (collsynth::report::figures::count(bytes as usize, "byte"), if bytes == 1 { "does" } else { "do" });
        let were = if run == 1 { "was" } else { "were" };
        format!("{bytes} {verb} not divide into {pieces} of {}: {run} {were} run", self.dtype)
    }

    /// Runs all ranks in this process, or this process's rank.
    pub(super) fn measured<'a, E: Sample>(
        &self,
        runnable: Runnable<'a>,
        trial: &Trial<E>,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<RunReport<'a>, Failure> {
        let topology = runnable.problem().topology();
        let repeat = self.repeats(runnable, trial.block());
        let calls = Calls { repeat, said_by: topology.live_ranks().next(), say };
        let only = self.rank.as_ref().map(|text| topology.parse_rank(text)).transpose().map_err(Failure::usage)?;
        let outcomes = match (self.transport, only, &self.rank_table) {
            (TransportName::Threads, None, None) => {
                threads::run(runnable, self.timeout, |communicator| self.on_rank(trial, communicator, &calls))
                    .map_err(|error| broken(topology, &[error.to_string()]))?
            }
            (TransportName::Group, None, None) => {
                let outcomes = self.in_group(runnable, trial, &calls).map_err(|error| match error {
                    RunError::NoGroup { kind } => Failure::usage(format!("a group has no calls for {kind}"))
                        .hint("leave --transport out: each rank is then a thread"),
                    error => broken(topology, &[error.to_string()]),
                })?;
                outcomes.into_iter().map(Ok).collect()
            }
            (TransportName::Tcp, None, None) => {
                tcp::run_on_loopback(runnable, self.timeout, |communicator| self.on_rank(trial, communicator, &calls))
                    .map_err(|error| broken(topology, &[error.to_string()]))?
            }
            (TransportName::Tcp, Some(rank), Some(path)) => vec![self.one_rank(runnable, trial, rank, path, &calls)?],
            _ => return Err(Failure::usage("--rank, --rank-table and --secret-file go with --transport tcp")),
        };
        let (outcomes, troubles) = sorted(outcomes);
        match troubles.is_empty() {
            true => Ok(self.report(runnable, trial.block(), only, &outcomes, repeat)),
            false => Err(broken(topology, &troubles)),
        }
    }

    /// Runs this process's rank of an MPI job.
    #[cfg(feature = "mpi")]
    fn in_job<E: Sample>(&self, runnable: Runnable<'_>, trial: &Trial<E>, format: Format) -> Result<Ending, Failure> {
        let (problem, block) = (runnable.problem(), trial.block());
        let job = super::run_mpi::Job::join()?;
        let communicator = job.communicator(runnable, self.timeout)?;
        let repeat = self.repeats(runnable, block);
        job.agree(problem.topology(), self.common(block, repeat))?;
        let outcome = self.on_rank(trial, communicator, &Calls { repeat, said_by: None, say: &|_| {} });
        let outcome = outcome
            .unwrap_or_else(|(rank, error)| job.end(&broken(problem.topology(), &[format!("rank {rank}: {error}")])));
        let times: Vec<Duration> = std::iter::once(outcome.time).chain(outcome.steps.iter().copied()).collect();
        let mut report = self.report(runnable, block, Some(outcome.rank), &[outcome], repeat);
        let shared = job.share::<E>(problem, block, self.op, repeat, &times, report.holds());
        (report.time, report.steps, report.library) = (shared.time, shared.steps, shared.library);
        report.rank = report.rank.filter(|_| !shared.holds);
        if shared.prints || !report.holds() {
            // One process writes the file; the others say what was wrong with theirs.
            let path = if shared.prints { &*self.output } else { Path::new("-") };
            format.deliver(path, || report.to_text(), || report.to_json())?;
        }
        Ok(if shared.holds { Ending::Success } else { Ending::Refuted })
    }

    #[cfg(not(feature = "mpi"))]
    fn in_job<E: Sample>(&self, _: Runnable<'_>, _: &Trial<E>, _: Format) -> Result<Ending, Failure> {
        Err(Failure::usage("this synth was built without MPI").hint("build it with: cargo build --features mpi"))
    }

    fn report<'a>(
        &self,
        runnable: Runnable<'a>,
        block: usize,
        rank: Option<RankId>,
        outcomes: &[Outcome],
        repeat: u32,
    ) -> RunReport<'a> {
        let steps = outcomes.iter().map(|one| one.steps.len()).max().unwrap_or_default();
        let longest = |step: usize| outcomes.iter().map(|one| one.steps[step]).max().unwrap_or_default();
        RunReport {
            runnable,
            transport: match self.transport {
                TransportName::Threads => "threads",
                TransportName::Group => "group",
                TransportName::Tcp => "tcp",
                TransportName::Mpi => "mpi",
            },
            dtype: self.dtype,
            op: self.op,
            block,
            seed: self.seed,
            repeat,
            rank,
            time: outcomes.iter().map(|one| one.time).max().unwrap_or_default(),
            steps: (0..steps).map(longest).collect(),
            library: None,
            mismatches: outcomes.iter().filter_map(|one| one.mismatch.clone()).collect(),
            unrepeated: outcomes.iter().filter(|one| !one.repeated).map(|one| one.rank).collect(),
        }
    }

    /// Runs one rank, joined to the others by TCP.
    fn one_rank<E: Sample>(
        &self,
        runnable: Runnable<'_>,
        trial: &Trial<E>,
        rank: RankId,
        path: &Path,
        calls: &Calls<'_>,
    ) -> Result<Result<Outcome, Trouble>, Failure> {
        let text = input::read_text(path)?;
        let table = RankTable::parse(&text, runnable.problem().topology().rank_count())
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        let options = TcpOptions { timeout: self.timeout, secret: secret(self.secret_file.as_deref())? };
        if options.secret.is_none() && !table.is_loopback() {
            note(NO_SECRET);
        }
        let connected = TcpTransport::connect(&table, rank, &runnable.peers(rank), &options);
        let failed = |why: String| broken(runnable.problem().topology(), &[format!("rank {rank}: {why}")]);
        let transport = connected.map_err(|error| failed(error.to_string()))?;
        let mut communicator = Communicator::new(transport, runnable).map_err(|error| failed(error.to_string()))?;
        for (option, value) in self.common(trial.block(), calls.repeat) {
            communicator.agree(option, value).map_err(|error| failed(error.to_string()))?;
        }
        Ok(self.on_rank(trial, communicator, &Calls { said_by: Some(rank), ..*calls }))
    }

    /// What all ranks must have in common, beside the file, in the order in which it is compared: the blocks that bytes
    /// make depend on the type.
    fn common(&self, block: usize, repeat: u32) -> [(&'static str, u64); 5] {
        [
            ("--dtype", self.dtype as u64),
            ("--bytes", block as u64),
            ("--op", self.op as u64),
            ("--repeat", repeat.into()),
            ("--seed", self.seed),
        ]
    }

    /// Runs one rank.
    fn on_rank<E: Sample, T: Transport>(
        &self,
        trial: &Trial<E>,
        mut communicator: Communicator<T>,
        calls: &Calls<'_>,
    ) -> Result<Outcome, Trouble> {
        let rank = communicator.rank();
        let say = |what: &str| {
            if calls.said_by == Some(rank) {
                (calls.say)(what);
            }
        };
        let outcomes = outcomes(trial, &[rank], calls.repeat, say, |buffers| {
            trial.call(&mut communicator, &mut buffers[0]).map_err(|error| (rank, error))?;
            Ok(vec![communicator.step_times().to_vec()])
        });
        Ok(outcomes?.remove(0))
    }

    /// Runs all ranks in this process, in calls made together.
    fn in_group<E: Sample>(
        &self,
        runnable: Runnable<'_>,
        trial: &Trial<E>,
        calls: &Calls<'_>,
    ) -> Result<Vec<Outcome>, RunError> {
        let mut group = Group::new(runnable)?;
        let live: Vec<RankId> = runnable.problem().topology().live_ranks().collect();
        outcomes(trial, &live, calls.repeat, calls.say, |buffers| {
            trial.call_group(&mut group, buffers)?;
            Ok(group.step_times().collect())
        })
    }
}

/// The chunks that an operation sends.
fn sent(operation: &Operation) -> usize {
    match *operation {
        Operation::Send { count, .. } | Operation::Receive { count, forward: Some(_), .. } => count as usize,
        _ => 0,
    }
}

/// The ranks that succeeded, and the errors of the others: causes before closed connections.
fn sorted(outcomes: Vec<Result<Outcome, Trouble>>) -> (Vec<Outcome>, Vec<String>) {
    let (mut good, mut causes, mut consequences) = (Vec::new(), Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(outcome) => good.push(outcome),
            Err((rank, error)) => {
                let list = if error.is_consequence() { &mut consequences } else { &mut causes };
                list.push(format!("rank {rank}: {error}"));
            }
        }
    }
    causes.extend(consequences);
    (good, causes)
}

/// Some ranks failed.
fn broken(topology: &Topology, troubles: &[String]) -> Failure {
    let shown = troubles.iter().map(|trouble| named(topology, trouble));
    let text = collsynth::report::figures::shortened(shown, 5, "\n  ");
    Failure::usage(format!("the run failed\n  {text}"))
}
