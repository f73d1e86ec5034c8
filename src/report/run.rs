//! The results of a run: times, and bandwidths as [`super::bandwidth`] defines them.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::bandwidth::{bandwidths, blocks};
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;
use collsynth_runtime::{Dtype, Mismatch, ReduceOp, Runnable};
use collsynth_verify::report::figures::{rate, seconds};
use collsynth_verify::report::overview::headline;
use collsynth_verify::report::table::Table;

/// The most steps whose times are shown.
const MOST_STEPS: usize = 10;

/// What was run, and its results.
#[derive(Debug)]
pub struct RunReport<'a> {
    /// The schedule or program.
    pub runnable: Runnable<'a>,
    /// How ranks were joined: `threads`, `tcp`, `mpi`.
    pub transport: &'static str,
    /// The type of the elements.
    pub dtype: Dtype,
    /// What `reduce` did.
    pub op: ReduceOp,
    /// Elements of a block.
    pub block: usize,
    /// Drives the inputs.
    pub seed: u64,
    /// Calls that were timed.
    pub repeat: u32,
    /// The rank whose times these are; `None`: of all ranks, the slowest.
    pub rank: Option<RankId>,
    /// The time of a call, on average.
    pub time: Duration,
    /// The time of each step (of a program: of each round) of a call, on average.
    pub steps: Vec<Duration>,
    /// The time of a call of the transport's own collective on buffers of the same size, where there is one.
    pub library: Option<Duration>,
    /// The first wrong element of each rank that has one.
    pub mismatches: Vec<Mismatch>,
    /// Ranks on which a second call with the same inputs gave other bits.
    pub unrepeated: Vec<RankId>,
}

impl RunReport<'_> {
    /// True if every element was right, every time.
    pub fn holds(&self) -> bool {
        self.mismatches.is_empty() && self.unrepeated.is_empty()
    }

    /// For people.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}, run by {}\n", self.headline(), self.transport);
        let mut table = Table::default().indented(2);
        let bytes = self.bytes();
        if self.problem().collective().kind.has_volume() {
            let (block, dtype) = (self.block, self.dtype);
            let size = collsynth_verify::report::figures::count(bytes as usize, "byte");
            let of = match blocks(self.problem()) {
                0 => "nothing is demanded".to_owned(),
                blocks => {
                    format!("{} of {block} {dtype}", collsynth_verify::report::figures::count(blocks, "block"))
                }
            };
            table.remark("size", format!("{size}: {of}"));
        }
        table.remark("result", self.result());
        let label = |rank| self.problem().topology().numbered_name(rank);
        let whose = self.rank.map(|rank| format!(" on rank {}", label(rank))).unwrap_or_default();
        let calls = collsynth_verify::report::figures::count(self.repeat as usize, "call");
        table.remark("time", format!("{} a call{whose}, of {calls}", seconds(self.time.as_secs_f64())));
        if let Some(library) = self.library {
            let own = format!("{} a call of {}'s own {}", seconds(library.as_secs_f64()), self.transport, self.kind());
            table.remark("beside", own);
        }
        if let Some((algorithm, bus)) = self.bandwidths() {
            table.remark("algbw", rate(algorithm));
            table.remark("busbw", rate(bus));
        }
        let _ = writeln!(text, "{table}");
        let step = match self.runnable {
            Runnable::Schedule(_) => "step",
            Runnable::Program(_) => "round",
        };
        let mut steps = Table::new(&[step, "time"]).indented(2);
        let longest = self.longest();
        for &number in &longest {
            steps.row([(number + 1).to_string(), seconds(self.steps[number].as_secs_f64())]);
        }
        if longest.len() < self.steps.len() {
            let _ = writeln!(text, "  the {} longest of {} {step}s", longest.len(), self.steps.len());
        }
        let _ = write!(text, "{steps}");
        let all: Duration = self.steps.iter().sum();
        if all > self.time {
            let all = seconds(all.as_secs_f64());
            let _ = writeln!(text, "  ranks are in different {step}s at a time: together {all}");
        }
        text
    }

    /// The longest steps, in order.
    fn longest(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..self.steps.len()).collect();
        numbers.sort_by_key(|&number| (std::cmp::Reverse(self.steps[number]), number));
        numbers.truncate(MOST_STEPS);
        numbers.sort_unstable();
        numbers
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let bandwidths = self.bandwidths();
        let mismatches = self.mismatches.iter().map(|mismatch| mismatch.on(self.problem().topology()));
        json!({
            "collective": self.kind(),
            "machine": self.problem().topology().to_string(),
            "ranks": self.problem().topology().rank_count(),
            "live_ranks": self.problem().topology().live_rank_count(),
            "parts": self.problem().parts(),
            "transport": self.transport,
            "dtype": self.dtype.name(),
            "op": self.adds().then(|| self.op.name()),
            "bytes": self.bytes(),
            "block": self.block,
            "seed": self.seed,
            "repeat": self.repeat,
            "rank": self.rank.map(|rank| rank.0),
            "correct": self.mismatches.is_empty(),
            "repeatable": self.unrepeated.is_empty(),
            "mismatches": mismatches.collect::<Vec<_>>(),
            "seconds": self.time.as_secs_f64(),
            "library_seconds": self.library.map(|time| time.as_secs_f64()),
            "algbw": bandwidths.map(|(algorithm, _)| algorithm),
            "busbw": bandwidths.map(|(_, bus)| bus),
            "step_seconds": self.steps.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
        })
    }

    fn result(&self) -> String {
        let topology = self.problem().topology();
        let label = |rank| topology.numbered_name(rank);
        let mut wrong: Vec<String> = self.mismatches.iter().map(|mismatch| mismatch.on(topology)).collect();
        let unrepeated =
            self.unrepeated.iter().map(|&rank| format!("rank {}: other bits in the second call", label(rank)));
        wrong.extend(unrepeated);
        match (&wrong[..], self.rank) {
            ([], None) => format!("right on every rank, to the same bits twice (seed {})", self.seed),
            ([], Some(rank)) => format!("right on rank {}, to the same bits twice (seed {})", label(rank), self.seed),
            _ => format!("WRONG: {}", wrong.join("; ")),
        }
    }

    /// Does `op` do anything?
    fn adds(&self) -> bool {
        self.problem().collective().kind.adds()
    }

    fn problem(&self) -> &Problem {
        self.runnable.problem()
    }

    fn headline(&self) -> String {
        match self.runnable {
            Runnable::Schedule(schedule) => headline(&schedule.problem),
            Runnable::Program(program) => collsynth_verify::report::audit::headline(program),
        }
    }

    fn kind(&self) -> &'static str {
        self.problem().collective().kind.name()
    }

    /// Bytes of the larger of a rank's two buffers.
    pub fn bytes(&self) -> u64 {
        bytes_of(self.problem(), self.block, self.dtype)
    }

    /// Algorithm and bus bandwidth, in bytes per second; `None` for no bytes.
    fn bandwidths(&self) -> Option<(f64, f64)> {
        bandwidths(self.problem(), self.bytes() as f64, self.time.as_secs_f64())
    }
}

/// The line above runs of several sizes, and the names of the columns, which are those of nccl-tests.
pub fn sizes_heading(first: &RunReport<'_>) -> String {
    let columns = ["size (B)", "count", "type", "redop", "time", "algbw", "busbw", "wrong"].map(str::to_owned);
    format!("{}, run by {}\n{}", first.headline(), first.transport, size_line(columns))
}

/// A run among those of several sizes; what was wrong follows on a line of its own.
pub fn size_row(run: &RunReport<'_>) -> String {
    let bytes = run.bytes();
    let bandwidths = run.bandwidths().map(|(algorithm, bus)| [algorithm, bus].map(rate));
    let [algorithm, bus] = bandwidths.unwrap_or_else(|| ["-", "-"].map(str::to_owned));
    let line = size_line([
        bytes.to_string(),
        (bytes / run.dtype.bytes() as u64).to_string(),
        run.dtype.name().to_owned(),
        if run.adds() { run.op.name() } else { "none" }.to_owned(),
        seconds(run.time.as_secs_f64()),
        algorithm,
        bus,
        (run.mismatches.len() + run.unrepeated.len()).to_string(),
    ]);
    if run.holds() { line } else { format!("{line}  {bytes} bytes: {}\n", run.result()) }
}

/// Columns of fixed widths, since lines come one by one.
fn size_line([size, count, dtype, op, time, algorithm, bus, wrong]: [String; 8]) -> String {
    format!("  {size:>12}  {count:>11}  {dtype:>4}  {op:>7}  {time:>9}  {algorithm:>12}  {bus:>12}  {wrong:>5}\n")
}

/// Bytes of the larger of a rank's two buffers, with blocks of this many elements.
pub fn bytes_of(problem: &Problem, block: usize, dtype: Dtype) -> u64 {
    (blocks(problem) * block) as u64 * dtype.bytes() as u64
}

/// Does a rank have blocks? None has for a barrier, nor for a demand of nothing between live ranks.
pub fn has_blocks(problem: &Problem) -> bool {
    blocks(problem) > 0
}

/// The elements of a block with which the larger of a rank's two buffers has about this many bytes; 0 only for 0 bytes
/// or for a demand of nothing. Blocks of failed ranks are not counted.
pub fn block_for(problem: &Problem, bytes: u64, dtype: Dtype) -> usize {
    let elements = bytes / dtype.bytes() as u64;
    let block = usize::try_from(elements / blocks(problem).max(1) as u64).unwrap_or(usize::MAX);
    let is_none = bytes == 0 || problem.collective().kind.has_volume() && !has_blocks(problem);
    if is_none { 0 } else { block.max(1) }
}
