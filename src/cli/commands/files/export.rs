//! `synth convert --to`: schedules and rank programs in other tools' formats.

use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use collsynth::collective::Kind;
use collsynth::format::{chakra, csv, goal, msccl, trace};
use collsynth::program::{Operation, Program};
use collsynth::report::figures::count;
use collsynth::schedule::{AnySolution, Choice, Solution, Timetable};
use collsynth::topology::{RankId, Topology};
use collsynth::verify::Verified;

use super::lower::{LowerOptions, Lowered, SlotOptions};
use crate::cli::arguments::rate::{ALPHA, BANDWIDTH};
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::naming::named;
use crate::cli::io::output::{self, Whole};
use crate::cli::io::reading::Reading;
use crate::cli::options::Given;
use crate::cli::options::quantity::{parse_bytes, parse_one_bandwidth, parse_startup};

/// What a move takes in a trace while it is made, roughly.
const TRACE_BYTES: u64 = 150;
/// The length of a chunk unless stated.
const CHUNK_BYTES: u64 = 4096;

/// How other tools' formats are written.
#[derive(Args)]
#[command(next_help_heading = "With --to")]
pub struct ExportOptions {
    /// For csv, goal and chakra: only the transfers, or the program, of this rank (42 or 2.2.2)
    #[arg(long, allow_negative_numbers = true, value_name = "RANK")]
    rank: Option<String>,
    #[command(flatten)]
    lowering: LowerOptions,
    /// For goal and chakra: bytes of a chunk (256KiB; 4KiB, unless stated)
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    chunk_bytes: Option<u64>,
    /// For trace: times for messages of this size (64KiB; of a job, for its longest); without, a millisecond for each
    /// unit of width
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    message_bytes: Option<u64>,
    /// With --message-bytes: the time a step takes to start
    #[arg(long, value_name = "TIME", default_value = ALPHA, value_parser = parse_startup)]
    alpha: f64,
    /// With --message-bytes: what a link of capacity 1 carries (50GB/s)
    #[arg(long, value_name = "RATE", default_value = BANDWIDTH, value_parser = parse_one_bandwidth)]
    bandwidth: f64,
}

/// Another tool's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    Msccl,
    Rccl,
    Csv,
    Trace,
    Goal,
    Chakra,
}

/// A file to write in another tool's format.
pub struct Export<'a> {
    pub given: &'a Given,
    pub to: Foreign,
    pub options: &'a ExportOptions,
    pub output: Option<&'a Path>,
}

impl Export<'_> {
    /// A schedule, once it is judged.
    pub fn schedule(&self, stated: AnySolution, reading: &Reading<'_>) -> Result<Ending, Failure> {
        self.given.kind(&stated.problem.collective().kind)?;
        let rank = self.chosen_rank(stated.problem.topology())?;
        let held = reading.hold(stated, "converted")?;
        match (self.to, rank) {
            (Foreign::Csv, rank) => self.table(slice::from_ref(&*held), rank),
            (Foreign::Trace, _) => {
                let verified = reading.expand(held, TRACE_BYTES)?;
                self.write(&trace::to_string(slice::from_ref(&*verified), self.prices().as_ref()))
            }
            (_, rank) => {
                let Lowered { program, map } = self.lowered(held, rank, reading)?;
                self.of_programs(&[program], rank, map)
            }
        }
    }

    /// A job, once it is judged: all its schedules in one table or trace, or the programs of all side by side.
    pub fn job(&self, reading: &Reading<'_>) -> Result<Ending, Failure> {
        let each = if self.to == Foreign::Trace { TRACE_BYTES } else { 0 };
        let schedules = reading.judged_schedules("converted", each)?;
        let kinds: Vec<Kind> = schedules.iter().map(|one| one.problem.collective().kind.clone()).collect();
        self.given.kinds(&kinds)?;
        let rank = self.chosen_rank(schedules[0].problem.machine())?;
        if matches!(self.to, Foreign::Csv | Foreign::Trace) {
            let solutions: Vec<Solution> = schedules.into_iter().map(Verified::into_inner).collect();
            return match self.to {
                Foreign::Csv => self.table(&solutions, rank),
                _ => self.write(&trace::to_string(&solutions, self.prices().as_ref())),
            };
        }
        let (mut programs, mut kept) = (Vec::new(), None);
        for held in schedules {
            // All collectives of a job are on one machine: the map is the same.
            let Lowered { program, map } = self.lowered(held.into_any(), rank, reading)?;
            programs.push(program);
            kept = map;
        }
        self.of_programs(&programs, rank, kept)
    }

    /// A rank program, once it is judged.
    pub fn program(&self, reading: &Reading<'_>) -> Result<Ending, Failure> {
        let program = reading.audited("converted")?;
        self.of_programs(slice::from_ref(&*program), self.chosen_rank(program.problem.topology())?, None)
    }

    /// The program of all ranks, or of one.
    fn lowered(
        &self,
        held: Verified<AnySolution>,
        rank: Option<RankId>,
        reading: &Reading<'_>,
    ) -> Result<Lowered, Failure> {
        let lowering = &self.options.lowering;
        match rank {
            Some(rank) => Ok(Lowered { program: lowering.lower_rank(held, rank, reading)?, map: None }),
            None => lowering.lower(held, reading, SlotOptions::default()),
        }
    }

    fn chosen_rank(&self, topology: &Topology) -> Result<Option<RankId>, Failure> {
        self.options.rank.as_ref().map(|rank| topology.parse_rank(rank)).transpose().map_err(Failure::usage)
    }

    /// A table of transfers, of all ranks or one.
    fn table<S: Timetable>(&self, solutions: &[Solution<S>], rank: Option<RankId>) -> Result<Ending, Failure> {
        let choice = Choice { ranks: rank.map(|rank| vec![rank]), ..Choice::default() };
        output::deliver_streamed(self.path(), |out| csv::write(out, solutions, &choice))?;
        Ok(Ending::Success)
    }

    /// What the format has of a program, or of those of a job: of all ranks or one; and the file of their old numbers.
    fn of_programs(&self, programs: &[Program], rank: Option<RankId>, map: Option<Whole>) -> Result<Ending, Failure> {
        if matches!(self.to, Foreign::Goal | Foreign::Chakra) {
            self.check_packets(programs)?;
        }
        let text = match self.to {
            Foreign::Msccl => xml(programs, msccl::Dialect::Msccl)?,
            Foreign::Rccl => xml(programs, msccl::Dialect::Rccl)?,
            Foreign::Goal => match rank {
                Some(rank) => goal::rank_to_string(programs, rank, self.chunk_bytes()),
                None => goal::to_string(programs, self.chunk_bytes()),
            },
            Foreign::Chakra => return self.traces(programs, rank, map),
            Foreign::Csv | Foreign::Trace => {
                return Err(Failure::usage("a rank program has no steps to show")
                    .hint("convert the schedule it was lowered from"));
            }
        };
        output::deliver_with(self.path(), &text, map)?;
        Ok(Ending::Success)
    }

    /// The prices by which a trace runs.
    fn prices(&self) -> Option<trace::Prices> {
        let ExportOptions { message_bytes, alpha, bandwidth, .. } = *self.options;
        Some(trace::Prices { alpha, bandwidth, message_bytes: message_bytes? })
    }

    fn chunk_bytes(&self) -> u64 {
        self.options.chunk_bytes.unwrap_or(CHUNK_BYTES)
    }

    /// Refuses packets of more bytes than the formats can state.
    fn check_packets(&self, programs: &[Program]) -> Result<(), Failure> {
        let slots = |operation: &Operation| match *operation {
            Operation::Send { count, .. } | Operation::Receive { count, .. } => count,
            Operation::Copy { .. } | Operation::Reduce { .. } | Operation::Wait { .. } => 0,
        };
        let most = programs.iter().flat_map(Program::operations).map(slots).max().unwrap_or(0);
        match i64::try_from(u128::from(most) * u128::from(self.chunk_bytes())) {
            Ok(_) => Ok(()),
            Err(_) => {
                Err(Failure::usage(format!("a packet of {} has more than 2^63 bytes", count(most as usize, "chunk")))
                    .hint("choose fewer --chunk-bytes"))
            }
        }
    }

    fn path(&self) -> &Path {
        self.output.unwrap_or(Path::new("-"))
    }

    fn write(&self, text: &str) -> Result<Ending, Failure> {
        output::deliver(self.path(), text)?;
        Ok(Ending::Success)
    }

    /// A file for each rank, or for one.
    fn traces(&self, programs: &[Program], only: Option<RankId>, map: Option<Whole>) -> Result<Ending, Failure> {
        let Some(output) = self.output.filter(|path| path.as_os_str() != "-") else {
            return Err(Failure::usage("chakra writes a file for each rank, not standard output")
                .hint("give -o NAME for NAME.0.et, NAME.1.et, ..., or -o FOLDER"));
        };
        let prefix = match output.is_dir() {
            true => output.join(match programs {
                [program] => program.problem.collective().kind.name(),
                _ => "job",
            }),
            false => output.to_owned(),
        };
        let mut files: Vec<Whole> = map.into_iter().collect();
        let ranks = (0..programs[0].rank_count() as u32).map(RankId);
        for rank in ranks.filter(|&rank| only.is_none_or(|only| only == rank)) {
            let bytes = chakra::to_bytes(programs, rank, self.chunk_bytes()).map_err(Failure::usage)?;
            let mut name = prefix.clone().into_os_string();
            name.push(format!(".{rank}.et"));
            files.push((PathBuf::from(name), bytes));
        }
        output::write_files(files)?;
        Ok(Ending::Success)
    }
}

/// MSCCL XML, and where it cannot be had, how to get what can.
fn xml(programs: &[Program], dialect: msccl::Dialect) -> Result<String, Failure> {
    let [program] = programs else {
        return Err(Failure::usage("MSCCL XML holds one collective, and this is a job of several")
            .hint("--schedule 0 takes the first of them; goal, chakra, csv and trace take all"));
    };
    if program.problem.groups().is_some() {
        return Err(Failure::usage("MSCCL XML has no groups: its buffers are those of all ranks together")
            .hint("goal, chakra, csv and trace say who sends what to whom, in groups too"));
    }
    msccl::to_string(program, dialect).map_err(|error| match error {
        msccl::ExportError::FailedRank { .. } => Failure::usage(named(program.problem.topology(), error))
            .hint("--renumber MAP numbers the live ranks anew, and writes the old numbers to MAP"),
        _ => Failure::usage(named(program.problem.topology(), error)),
    })
}
