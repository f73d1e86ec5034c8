//! `synth lower`: a schedule as a program for ranks without a common clock.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use collsynth::audit::{self, audit};
use collsynth::format::json;
use collsynth::lower::{Target, lower};
use collsynth::program::{Barriers, Program};
use collsynth::renumber::{Renumbered, renumber};
use collsynth::report::audit::{Audited, Source, headline, table};
use collsynth::schedule::Solution;
use collsynth::topology::RankId;

use super::naming::named;
use super::{Ending, Failure, input, output, show};

/// Lower a schedule to a rank program, without a step clock
///
/// It says what each rank's workers send, receive and wait for. The schedule is verified first, then the program, in
/// every interleaving. Without barriers only the data is sure to be right; with them, transfers of different steps
/// never share a link either.
#[derive(Args)]
pub struct LowerCommand {
    /// The schedule file (- for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    options: LowerOptions,
    /// Write the program to this file (.gz: compressed) instead of standard output
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
    #[arg(long, value_enum)]
    barriers: Option<BarrierName>,
    /// Input and output share one buffer, as in NCCL
    #[arg(long)]
    in_place: bool,
    /// The most packets in flight in a channel [default: as many as its busiest step has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    slots: Option<u32>,
    /// Number the live ranks without gaps, for runtimes that know no other numbers, and write the old number of each,
    /// a line `rank,was` (and its name, if it has one), to this file
    #[arg(long, value_name = "FILE")]
    renumber: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BarrierName {
    /// Nothing but the data: values are right, links may be shared by transfers of different steps
    None,
    /// A rank and its neighbors finish a step before it begins the next
    Neighbour,
    /// All ranks finish a step before any begins the next
    Global,
}

impl LowerCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let text = input::read_text(&self.file)?;
        let program = self.options.lower(show::parse(&self.file, &text)?, input::room(&text)?)?;
        output::deliver_file(self.output.as_deref(), &json::program_to_string(&program), "rank program")?;
        if !self.quiet {
            output::note(&format!("{}\n{}", headline(&program), table(&program)));
        }
        Ok(Ending::Success)
    }
}

impl LowerOptions {
    /// One of the stated options, if any.
    pub(super) fn stated(&self) -> Option<&'static str> {
        let stated = [
            ("--barriers", self.barriers.is_some()),
            ("--in-place", self.in_place),
            ("--slots", self.slots.is_some()),
            ("--renumber", self.renumber.is_some()),
        ];
        stated.into_iter().find(|(_, is_stated)| *is_stated).map(|(option, _)| option)
    }

    /// Lowers a schedule that holds, which may take `room` bytes to judge, and has the program judged.
    pub fn lower(&self, solution: Solution, room: u64) -> Result<Program, Failure> {
        let mut verified = show::verified(solution, "lowered", room)?;
        if let Some(path) = &self.renumber {
            let Renumbered { solution, was } =
                renumber(&verified).map_err(|error| Failure::usage(named(verified.problem.topology(), error)))?;
            verified = show::verified(solution, "lowered", room)?;
            let topology = verified.problem.topology();
            let named = if topology.spec().names.is_empty() { "" } else { ",name" };
            let name = |rank| topology.rank_name(RankId(rank)).map(|name| format!(",{name}")).unwrap_or_default();
            let lines = was.iter().zip(0..).map(|(was, rank)| format!("{rank},{was}{}\n", name(rank)));
            output::deliver(path, &format!("rank,was{named}\n{}", lines.collect::<String>()))?;
        }
        let barriers = match self.barriers {
            None | Some(BarrierName::None) => Barriers::None,
            Some(BarrierName::Neighbour) => Barriers::Neighbor,
            Some(BarrierName::Global) => Barriers::Global,
        };
        let target = Target { barriers, in_place: self.in_place, slots: self.slots };
        let topology = verified.problem.topology();
        let program = lower(&verified, &target).map_err(|error| Failure::usage(named(topology, error)))?;
        let report = audit(&program, &audit::AuditOptions::default());
        if report.holds() {
            return Ok(program);
        }
        let found = Audited { name: "the program", source: Source::None, program: &program, report: &report }.to_text();
        Err(match self.slots {
            Some(_) => Failure::new(Ending::Refuted, found).hint("choose more --slots, or leave them out"),
            None => Failure::new(Ending::Refuted, format!("internal error: the program is wrong\n{found}")),
        })
    }
}
