//! `synth export` and `synth import`: other tools' formats.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use collsynth::audit::{self, audit};
use collsynth::collective::{Collective, Kind};
use collsynth::format::json::ParseError;
use collsynth::format::{chakra, csv, forestcoll, goal, json, msccl, sccl, teccl, trace};
use collsynth::problem::Problem;
use collsynth::program::Program;
use collsynth::report::audit::{Audited, Source};
use collsynth::report::excerpt::marked;
use collsynth::report::foreign::foreign;
use collsynth::report::verdict::Judged;
use collsynth::schedule::{AnySolution, Choice};
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify};

use super::lower::{LowerOptions, SlotOptions};
use crate::cli::arguments::topology::read_machine;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::naming::named;
use crate::cli::io::reading::Reading;
use crate::cli::io::{caller, input, output};
use crate::cli::options::Given;
use crate::cli::options::quantity::{parse_bytes, parse_one_bandwidth, parse_seconds};
use crate::cli::options::suggest::Spelled;

/// What a move takes in a trace while it is made, roughly.
const TRACE_BYTES: u64 = 150;
/// The length of a chunk unless stated.
const CHUNK_BYTES: u64 = 4096;

/// Write a schedule or a rank program in another tool's format
///
/// The file is verified first. Of a schedule, csv and trace show the steps; the other formats hold the program that it
/// is lowered to. docs/formats/other-tools.md says what each format can express.
#[derive(Args)]
pub struct ExportCommand {
    /// The schedule or rank program file (- for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The format [default: csv or goal, if -o ends so]
    #[arg(long, value_parser = Spelled::<ExportFormat>::default())]
    to: Option<ExportFormat>,
    /// For csv, goal and chakra: only the transfers, or the program, of this rank (42 or 2.2.2)
    #[arg(long, allow_negative_numbers = true, value_name = "RANK")]
    rank: Option<String>,
    #[command(flatten)]
    options: LowerOptions,
    /// For goal and chakra: bytes of a chunk (256KiB; 4KiB, unless stated)
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    chunk_bytes: Option<u64>,
    /// For trace: times for messages of this size (64KiB), with --alpha and --bandwidth; without, a millisecond for
    /// each unit of width
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    message_bytes: Option<u64>,
    /// For trace: the time a step takes to start (1us)
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    alpha: Option<f64>,
    /// For trace: what a link of capacity 1 carries (50GB/s)
    #[arg(long, value_name = "RATE", value_parser = parse_one_bandwidth)]
    bandwidth: Option<f64>,
    /// Write to this file (.gz: compressed) instead of standard output. For chakra: a folder, or the prefix of the file
    /// names (NAME.0.et, NAME.1.et, ...)
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

/// Formats that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// MSCCL XML, as microsoft/msccl reads it
    Msccl,
    /// MSCCL XML, as RCCL and Azure's fork read it
    Rccl,
    /// A table of transfers
    Csv,
    /// Chrome trace, for Perfetto
    #[value(alias = "perfetto")]
    Trace,
    /// GOAL, for LogGOPSim
    Goal,
    /// Chakra execution traces, for ASTRA-sim: a file for each rank
    Chakra,
}

/// Read a schedule or a program that another tool made
///
/// It is written as a file of synth. MSCCL XML becomes a rank program, the others a schedule. It is judged, and written
/// even if it is refuted (exit code 1). MSCCL XML is judged in each form that it claims, in place and out of place.
#[derive(Args)]
pub struct ImportCommand {
    /// The file (- for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Its format
    #[arg(long, value_parser = Spelled::<ImportFormat>::default())]
    from: ImportFormat,
    /// For teccl and forestcoll: the machine (a topology file); for msccl: check its connections against this machine
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// For teccl: all_gather or all_to_all; for msccl: what `coll="custom"` means
    #[arg(long, value_parser = Spelled::<ImportCollective>::default())]
    collective: Option<ImportCollective>,
    /// For teccl: the parts a message is cut in (1, unless stated)
    #[arg(long, value_name = "P")]
    parts: Option<u32>,
    /// For msccl: the root of a broadcast, reduce, gather or scatter (0, unless stated)
    #[arg(long, value_name = "RANK")]
    root: Option<u32>,
    /// For msccl: the packets a connection holds (2, unless stated)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    slots: Option<u32>,
    /// For msccl: the form to write, where the file claims both (in-place, unless stated); both are judged
    #[arg(long, value_enum)]
    form: Option<ImportForm>,
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How a call passes its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ImportForm {
    /// Input and output share one buffer
    InPlace,
    /// They do not
    OutOfPlace,
}

/// Formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    /// MSCCL XML, in either dialect
    #[value(alias = "rccl")]
    Msccl,
    /// SCCL JSON
    Sccl,
    /// TE-CCL JSON
    #[value(alias = "te-ccl")]
    Teccl,
    /// Broadcast trees of ForestColl
    Forestcoll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ImportCollective {
    /// Every rank's shard reaches every rank
    AllGather,
    /// Every rank has a message for every rank
    AllToAll,
    /// Every rank ends with its shard of the sum
    ReduceScatter,
    /// Every rank ends with the sum
    AllReduce,
    /// The root's message reaches every rank
    Broadcast,
    /// The root ends with the sum
    Reduce,
}

impl ExportCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let to = self.to.or(given.form("to")).ok_or_else(|| {
            Failure::usage("no format is given: use --to").hint("--to msccl, or an ending that says so: -o FILE.csv")
        })?;
        caller::tell("reading");
        let reading = Reading::of(&self.file)?;
        given.file(reading.what())?;
        caller::tell("verifying");
        if reading.is_program() {
            let program = reading.audited("exported")?;
            return self.of_program(&program, self.chosen_rank(program.problem.topology())?, to);
        }
        let stated = reading.stated()?;
        let rank = self.chosen_rank(stated.problem.topology())?;
        match (to, rank) {
            (ExportFormat::Csv, rank) => self.table(&*reading.hold(stated, "exported")?, rank),
            (ExportFormat::Trace, _) => {
                let verified = reading.expand(reading.hold(stated, "exported")?, TRACE_BYTES)?;
                self.write(&trace::to_string(&verified, self.prices().as_ref()))
            }
            (_, Some(rank)) => self.of_program(&self.options.lower_rank(stated, rank, &reading)?, Some(rank), to),
            (_, None) => {
                let (held, slots) = (reading.hold(stated, "exported")?, SlotOptions::default());
                self.of_program(&self.options.lower(held, &reading, slots)?, None, to)
            }
        }
    }

    fn chosen_rank(&self, topology: &Topology) -> Result<Option<RankId>, Failure> {
        self.rank.as_ref().map(|rank| topology.parse_rank(rank)).transpose().map_err(Failure::usage)
    }

    /// A table of transfers, of all ranks or one.
    fn table(&self, solution: &AnySolution, rank: Option<RankId>) -> Result<Ending, Failure> {
        let choice = Choice { ranks: rank.map(|rank| vec![rank]), ..Choice::default() };
        output::deliver_streamed(&self.output, |out| csv::write(out, solution, &choice))?;
        Ok(Ending::Success)
    }

    /// What the format has of a program: of all ranks or one.
    fn of_program(&self, program: &Program, rank: Option<RankId>, to: ExportFormat) -> Result<Ending, Failure> {
        let is_xml = matches!(to, ExportFormat::Msccl | ExportFormat::Rccl);
        if is_xml && program.problem.groups().is_some() {
            return Err(Failure::usage("MSCCL XML has no groups: its buffers are those of all ranks together")
                .hint("goal, chakra, csv and trace say who sends what to whom, in groups too"));
        }
        match to {
            ExportFormat::Msccl => self.write(&xml(program, msccl::Dialect::Msccl)?),
            ExportFormat::Rccl => self.write(&xml(program, msccl::Dialect::Rccl)?),
            ExportFormat::Goal => self.write(&match rank {
                Some(rank) => goal::rank_to_string(program, rank, self.chunk_bytes()),
                None => goal::to_string(program, self.chunk_bytes()),
            }),
            ExportFormat::Chakra => self.traces(program, rank),
            ExportFormat::Csv | ExportFormat::Trace => {
                Err(Failure::usage("a rank program has no steps to show")
                    .hint("export the schedule it was lowered from"))
            }
        }
    }

    /// The prices by which a trace runs.
    fn prices(&self) -> Option<trace::Prices> {
        let (alpha, bandwidth) = self.alpha.zip(self.bandwidth)?;
        Some(trace::Prices { alpha, bandwidth, message_bytes: self.message_bytes? })
    }

    fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes.unwrap_or(CHUNK_BYTES)
    }

    fn write(&self, text: &str) -> Result<Ending, Failure> {
        output::deliver(&self.output, text)?;
        Ok(Ending::Success)
    }

    /// A file for each rank, or for one.
    fn traces(&self, program: &Program, only: Option<RankId>) -> Result<Ending, Failure> {
        if self.output.as_os_str() == "-" {
            return Err(Failure::usage("chakra writes a file for each rank, not standard output")
                .hint("give -o NAME for NAME.0.et, NAME.1.et, ..., or -o FOLDER"));
        }
        let prefix = match self.output.is_dir() {
            true => self.output.join(program.problem.collective().kind.name()),
            false => self.output.clone(),
        };
        let mut files = Vec::new();
        let ranks = (0..program.rank_count() as u32).map(RankId);
        for rank in ranks.filter(|&rank| only.is_none_or(|only| only == rank)) {
            let bytes = chakra::to_bytes(program, rank, self.chunk_bytes()).map_err(Failure::usage)?;
            let mut name = prefix.clone().into_os_string();
            name.push(format!(".{rank}.et"));
            files.push((PathBuf::from(name), bytes));
        }
        output::write_files(files)?;
        Ok(Ending::Success)
    }
}

impl ImportCollective {
    fn msccl_name(self) -> &'static str {
        match self {
            Self::AllGather => "allgather",
            Self::AllToAll => "alltoall",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllReduce => "allreduce",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
        }
    }
}

impl ImportCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        caller::tell("reading");
        let text = input::read_text(&self.file)?;
        let solution = match self.from {
            ImportFormat::Msccl => return self.program(&text, given),
            ImportFormat::Sccl => sccl::parse(&text),
            ImportFormat::Teccl => teccl::parse(&text, self.problem()?),
            ImportFormat::Forestcoll => forestcoll::parse_within(&text, self.machine()?, &input::limits()?),
        };
        let solution = solution.map_err(|error| unreadable(&self.file, &text, &error))?;
        caller::tell("verifying");
        output::deliver_file(self.output.as_deref(), &json::solution_to_string(&solution), "schedule")?;
        let report = verify(&solution, &Options { memory: input::room(&text)?, ..Options::default() });
        let name = self.file.display().to_string();
        if let Some(why) = report.why_not_judged() {
            return Err(Failure::usage(format!("{name}: {why}")));
        }
        note(Judged { name: &name, text: "", solution: &solution, report: &report }.to_text().trim_end());
        Ok(if report.verdict() == Verdict::Holds { Ending::Success } else { Ending::Refuted })
    }

    fn program(&self, text: &str, given: &Given) -> Result<Ending, Failure> {
        let usual = msccl::Unsaid::default();
        let unsaid = msccl::Unsaid {
            root: self.root.unwrap_or(usual.root),
            slots: self.slots.unwrap_or(usual.slots),
            custom: self.collective.map(ImportCollective::msccl_name),
        };
        let read = msccl::parse(text, &unsaid).map_err(|error| unreadable(&self.file, text, &error))?;
        let msccl::Algorithm { programs, places } = read;
        given.kinds(
            &programs.iter().map(|(_, program)| program.problem.collective().kind.clone()).collect::<Vec<_>>(),
        )?;
        output::deliver_file(
            self.output.as_deref(),
            &json::program_to_string(self.chosen(&programs)?),
            "rank program",
        )?;
        let machine = self.topology.as_deref().map(read_machine).transpose()?;
        let name = self.file.display().to_string();
        let memory = input::room(text)?;
        let mut ending = Ending::Success;
        for (_, program) in &programs {
            let machine = machine.as_ref().map(|topology| audit::Machine::new(program, topology, &[])).transpose();
            let machine = machine.map_err(|error| Failure::usage(format!("--topology: {error}")))?;
            let machine = machine.as_ref();
            let report = audit(program, &audit::AuditOptions { machine, memory, ..audit::AuditOptions::default() });
            if let Some(why) = report.why_not_judged() {
                return Err(Failure::usage(format!("{name}: {why}")));
            }
            let source = Source::Listed(text, &places);
            note(Audited { name: &name, source, program, report: &report }.to_text().trim_end());
            if report.verdict() == Verdict::Refuted {
                ending = Ending::Refuted;
            }
        }
        Ok(ending)
    }

    /// The program to write.
    fn chosen<'a>(&self, programs: &'a [(msccl::Form, Program)]) -> Result<&'a Program, Failure> {
        let wanted = self.form.map(|form| match form {
            ImportForm::InPlace => msccl::Form::InPlace,
            ImportForm::OutOfPlace => msccl::Form::OutOfPlace,
        });
        let found = programs.iter().find(|(form, _)| wanted.is_none_or(|wanted| wanted == *form));
        found.map(|(_, program)| program).ok_or_else(|| {
            let claimed = programs.iter().map(|(form, _)| form.name()).collect::<Vec<_>>().join(" and ");
            Failure::usage(format!("--form asks for another form than the file claims: {claimed}"))
        })
    }

    /// The machine, which the file does not name.
    fn machine(&self) -> Result<Topology, Failure> {
        let unsaid = || Failure::usage("files of this format do not name the machine").hint("give --topology FILE");
        read_machine(self.topology.as_deref().ok_or_else(unsaid)?)
    }

    /// The problem, which a TE-CCL file does not name.
    fn problem(&self) -> Result<Problem, Failure> {
        let Some(collective) = self.collective else {
            return Err(Failure::usage("TE-CCL files do not name the collective")
                .hint("give --collective all_gather or all_to_all"));
        };
        let topology = self.machine()?;
        let kind = match collective {
            ImportCollective::AllGather => Kind::AllGather,
            ImportCollective::AllToAll => Kind::AllToAll,
            _ => {
                return Err(
                    Failure::usage("TE-CCL has no such collective").hint("give --collective all_gather or all_to_all")
                );
            }
        };
        Ok(Problem::new(topology, Collective { kind, parts: self.parts.unwrap_or(1) })?)
    }
}

/// MSCCL XML, and where ranks failed, how to get it.
fn xml(program: &Program, dialect: msccl::Dialect) -> Result<String, Failure> {
    msccl::to_string(program, dialect).map_err(|error| match error {
        msccl::ExportError::FailedRank { .. } => Failure::usage(named(program.problem.topology(), error))
            .hint("--renumber MAP numbers the live ranks anew, and writes the old numbers to MAP"),
        _ => Failure::usage(named(program.problem.topology(), error)),
    })
}

fn unreadable(path: &Path, text: &str, error: &ParseError) -> Failure {
    let ParseError { code, line, column, message } = error;
    let lines = marked(text, (*line, *column));
    let name = path.display();
    let failure = Failure::usage(format!("{name}:{line}:{column}: {code}: {message}\n{}", lines.trim_end()));
    match (input::ours(text), foreign(text)) {
        (Some(what), _) => failure.hint(format!("this is {what}: `synth verify {name}` judges it")),
        (_, Some(what)) if what.contains("`synth import") => failure.hint(what),
        _ => failure.hint("docs/formats/other-tools.md says what is read of each format"),
    }
}
