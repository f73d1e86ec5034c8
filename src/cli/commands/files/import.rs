//! `synth convert --from`: what other tools made, judged.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use collsynth::audit::{self, audit};
use collsynth::collective::{Collective, Kind};
use collsynth::format::json::ParseError;
use collsynth::format::{forestcoll, json, msccl, sccl, teccl};
use collsynth::problem::Problem;
use collsynth::program::Program;
use collsynth::report::audit::{Audited, Source};
use collsynth::report::excerpt::marked;
use collsynth::report::foreign::foreign;
use collsynth::report::verdict::Judged;
use collsynth::topology::Topology;
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify};

use crate::cli::arguments::topology::read_machine;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::{caller, input, output};
use crate::cli::options::Given;
use crate::cli::options::suggest::Spelled;

/// What files of other tools leave open.
#[derive(Args)]
#[command(next_help_heading = "With --from")]
pub struct ImportOptions {
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
    #[arg(long, value_parser = Spelled::<ImportForm>::default())]
    form: Option<ImportForm>,
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
pub enum ImportFormat {
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

/// A file that another tool made.
pub struct Import<'a> {
    pub file: &'a Path,
    pub from: ImportFormat,
    pub options: &'a ImportOptions,
    pub output: Option<&'a Path>,
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

impl Import<'_> {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        caller::tell("reading");
        let text = input::read_text(self.file)?;
        let solution = match self.from {
            ImportFormat::Msccl => return self.program(&text, given),
            ImportFormat::Sccl => sccl::parse(&text),
            ImportFormat::Teccl => teccl::parse(&text, self.problem()?),
            ImportFormat::Forestcoll => forestcoll::parse_within(&text, self.machine()?, &input::limits()?),
        };
        let solution = solution.map_err(|error| unreadable(self.file, &text, &error, self.from))?;
        caller::tell("verifying");
        output::deliver_file(self.output, &json::solution_to_string(&solution), "schedule")?;
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
            root: self.options.root.unwrap_or(usual.root),
            slots: self.options.slots.unwrap_or(usual.slots),
            custom: self.options.collective.map(ImportCollective::msccl_name),
        };
        let read = msccl::parse(text, &unsaid).map_err(|error| {
            // Not the file is wrong if it says itself what --collective says of it.
            let itself = msccl::Unsaid { custom: None, ..unsaid };
            match unsaid.custom.is_some() && msccl::parse(text, &itself).is_ok() {
                true => {
                    Failure::usage("--collective is for files with `coll=\"custom\"`: this one names its collective")
                        .hint("leave --collective out")
                }
                false => unreadable(self.file, text, &error, ImportFormat::Msccl),
            }
        })?;
        let msccl::Algorithm { programs, places } = read;
        given.kinds(
            &programs.iter().map(|(_, program)| program.problem.collective().kind.clone()).collect::<Vec<_>>(),
        )?;
        output::deliver_file(self.output, &json::program_to_string(self.chosen(&programs)?), "rank program")?;
        let machine = self.options.topology.as_deref().map(read_machine).transpose()?;
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
        let wanted = self.options.form.map(|form| match form {
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
        read_machine(self.options.topology.as_deref().ok_or_else(unsaid)?)
    }

    /// The problem, which a TE-CCL file does not name.
    fn problem(&self) -> Result<Problem, Failure> {
        let Some(collective) = self.options.collective else {
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
        Ok(Problem::new(topology, Collective { kind, parts: self.options.parts.unwrap_or(1) })?)
    }
}

/// `--from msccl`
fn said_from(from: ImportFormat) -> String {
    format!("--from {}", from.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned()))
}

fn unreadable(path: &Path, text: &str, error: &ParseError, from: ImportFormat) -> Failure {
    let ParseError { code, line, column, message } = error;
    let lines = marked(text, (*line, *column));
    let name = path.display();
    let failure = Failure::usage(format!("{name}:{line}:{column}: {code}: {message}\n{}", lines.trim_end()));
    match (input::ours(text), foreign(text)) {
        (Some(what), _) => failure.hint(format!("this is {what}: `synth verify {name}` judges it")),
        (_, Some(what)) if what.contains("`synth convert --from") && !what.contains(&said_from(from)) => {
            failure.hint(what)
        }
        _ => failure.hint("docs/formats/other-tools.md says what is read of each format"),
    }
}
