//! `synth lower`: a schedule as a program for ranks without a common clock.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use collsynth::audit::{self, audit};
use collsynth::format::json;
use collsynth::lower::{LowerError, MOVE_BYTES, Target, lower, lower_rank};
use collsynth::program::{Barriers, Program};
use collsynth::renumber::{Renumbered, renumber};
use collsynth::report::audit::{Audited, Source, headline, rank_table, table};
use collsynth::schedule::AnySolution;
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;
use collsynth::verify::Verified;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::naming::named;
use crate::cli::io::output::Whole;
use crate::cli::io::reading::Reading;
use crate::cli::io::{output, reading};
use crate::cli::options::What;
use crate::cli::options::suggest::Spelled;

/// Lower a schedule to a rank program, without a step clock; a job to one for each of its collectives
///
/// It says what each rank's workers send, receive and wait for. The schedule is verified first, then the program, in
/// every interleaving. Without barriers only the data is sure to be right; with them, transfers of different steps
/// never share a link either.
#[derive(Args)]
pub struct LowerCommand {
    /// The schedule or job file (- for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only the program of this rank (42 or 2.2.2), in time and memory for its share. The schedule is judged, the
    /// program is not: that takes all ranks
    #[arg(long, allow_negative_numbers = true, value_name = "RANK")]
    rank: Option<String>,
    #[command(flatten)]
    options: LowerOptions,
    #[command(flatten)]
    slots: SlotOptions,
    /// Write the program to this file (.gz: compressed) instead of standard output; of a job, NAME.json stands for
    /// NAME.0.json, NAME.1.json and so on
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// No summary
    #[arg(short, long)]
    quiet: bool,
}

/// How a schedule is lowered.
#[derive(Args)]
pub struct LowerOptions {
    /// What keeps the steps of the schedule apart (none, unless stated)
    #[arg(long, value_parser = Spelled::<BarrierName>::default())]
    barriers: Option<BarrierName>,
    /// Input and output share one buffer, as in NCCL
    #[arg(long)]
    in_place: bool,
    /// Number the live ranks without gaps, for runtimes that know no other numbers, and write the old number of each,
    /// a line `rank,was` (and its name, if it has one), to this file
    #[arg(long, value_name = "FILE")]
    renumber: Option<PathBuf>,
}

/// A program that holds, and the file of the old numbers of its ranks, where they are numbered anew.
pub struct Lowered {
    pub program: Program,
    pub map: Option<Whole>,
}

/// What no other tool's format states.
#[derive(Args, Clone, Copy, Default)]
pub struct SlotOptions {
    /// The most packets in flight in a channel [default: as many as its busiest step has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    slots: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BarrierName {
    /// Nothing but the data: values are right, links may be shared by transfers of different steps
    None,
    /// A rank and its neighbors finish a step before it begins the next
    #[value(alias = "neighbour")]
    Neighbor,
    /// All ranks finish a step before any begins the next
    Global,
}

impl LowerCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let reading = Reading::of(&self.file)?;
        if reading.what() == What::Job {
            return self.lower_job(&reading);
        }
        let stated = reading.stated()?;
        if let Some(rank) = &self.rank {
            return self.write_rank(&reading, stated, rank);
        }
        let Lowered { program, map } = self.options.lower(reading.hold(stated, "lowered")?, &reading, self.slots)?;
        let text = json::program_to_string(&program);
        output::deliver_file_with(self.output.as_deref(), &text, "rank program", map)?;
        if !self.quiet {
            note(&format!("{}\n{}", headline(&program), table(&program)));
        }
        Ok(Ending::Success)
    }

    /// Lowers each schedule of a job to a program of its own; all are written, or none.
    fn lower_job(&self, reading: &Reading<'_>) -> Result<Ending, Failure> {
        let Some(path) = self.output.as_deref().filter(|path| *path != Path::new("-")) else {
            let hint = format!("`synth lower {} -o programs.json` writes programs.0.json and so on", reading.name());
            return Err(Failure::usage("a job becomes a program for each of its collectives").hint(hint));
        };
        let (mut files, mut headlines) = (Vec::new(), Vec::new());
        for held in reading.judged_job("lowered")?.into_schedules() {
            let (program, text) = match &self.rank {
                Some(rank) => {
                    let rank = held.problem.topology().parse_rank(rank).map_err(Failure::usage)?;
                    let program = self.options.lower_rank(held.into_any(), rank, reading)?;
                    let text = json::rank_program_to_string(&program, rank);
                    (program, text)
                }
                None => {
                    let Lowered { program, map } = self.options.lower(held.into_any(), reading, self.slots)?;
                    // All collectives of a job are on one machine: the map is the same.
                    files.extend(map.filter(|_| files.is_empty()));
                    let text = json::program_to_string(&program);
                    (program, text)
                }
            };
            let path = numbered(path, headlines.len());
            headlines.push(format!("{}: {}", path.display(), headline(&program)));
            files.push((path, text.into_bytes()));
        }
        output::write_files(files)?;
        if !self.quiet {
            headlines.iter().for_each(|line| note(line));
        }
        Ok(Ending::Success)
    }
}

/// `programs.0.json.gz`: the number stands before all endings.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, endings) =
        name.split_once('.').map_or((&*name, String::new()), |(stem, rest)| (stem, format!(".{rest}")));
    path.with_file_name(format!("{stem}.{number}{endings}"))
}

impl LowerCommand {
    fn write_rank(&self, reading: &Reading<'_>, stated: AnySolution, rank: &str) -> Result<Ending, Failure> {
        let rank = stated.problem.topology().parse_rank(rank).map_err(Failure::usage)?;
        let program = self.options.lower_rank(reading.hold(stated, "lowered")?, rank, reading)?;
        let text = json::rank_program_to_string(&program, rank);
        output::deliver_file(self.output.as_deref(), &text, "rank program")?;
        if !self.quiet {
            let label = program.problem.topology().rank_label(rank);
            note(&format!("{}, rank {label} alone\n{}", headline(&program), rank_table(&program, rank)));
        }
        Ok(Ending::Success)
    }
}

impl LowerOptions {
    /// Lowers a schedule that holds, and has the program judged.
    pub fn lower(
        &self,
        held: Verified<AnySolution>,
        reading: &Reading<'_>,
        slots: SlotOptions,
    ) -> Result<Lowered, Failure> {
        let mut verified = reading.expand(held, MOVE_BYTES)?;
        let mut map = None;
        if let Some(path) = &self.renumber {
            let Renumbered { solution, was } =
                renumber(&verified).map_err(|error| Failure::usage(named(verified.problem.topology(), error)))?;
            verified = reading::verified(solution, "lowered", reading.made())?;
            let topology = verified.problem.topology();
            let named = if topology.spec().names.is_empty() { "" } else { ",name" };
            let name = |rank| topology.rank_name(RankId(rank)).map(|name| format!(",{name}")).unwrap_or_default();
            let lines = was.iter().zip(0..).map(|(was, rank)| format!("{rank},{was}{}\n", name(rank)));
            map = Some((path.clone(), format!("rank,was{named}\n{}", lines.collect::<String>()).into_bytes()));
        }
        let topology = verified.problem.topology();
        let target = self.target(reading, slots);
        let program = lower(&verified, &target).map_err(not_lowered(topology))?;
        let report = audit(&program, &audit::AuditOptions { memory: target.memory, ..audit::AuditOptions::default() });
        if report.verdict() == Verdict::Holds {
            return Ok(Lowered { program, map });
        }
        if let Some(why) = report.why_not_judged() {
            return Err(Failure::usage(format!("the program is {why}")));
        }
        let found = Audited { name: "the program", source: Source::None, program: &program, report: &report }.to_text();
        Err(match slots.slots {
            Some(_) => Failure::new(Ending::Refuted, found).hint("choose more --slots, or leave them out"),
            None => Failure::new(Ending::Refuted, format!("internal error: the program is wrong\n{found}")),
        })
    }

    /// Lowers the program of one rank of a schedule, once it is known to hold.
    pub fn lower_rank(
        &self,
        held: Verified<AnySolution>,
        rank: RankId,
        reading: &Reading<'_>,
    ) -> Result<Program, Failure> {
        let target = self.target(reading, SlotOptions::default());
        lower_rank(&held, rank, &target).map_err(not_lowered(held.problem.topology()))
    }

    fn target(&self, reading: &Reading<'_>, SlotOptions { slots }: SlotOptions) -> Target {
        let barriers = match self.barriers {
            None | Some(BarrierName::None) => Barriers::None,
            Some(BarrierName::Neighbor) => Barriers::Neighbor,
            Some(BarrierName::Global) => Barriers::Global,
        };
        Target { barriers, in_place: self.in_place, slots, memory: reading.made() }
    }
}

fn not_lowered(topology: &Topology) -> impl Fn(LowerError) -> Failure + '_ {
    move |error| Failure::usage(named(topology, error))
}
