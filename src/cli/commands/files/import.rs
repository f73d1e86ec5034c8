//! `synth convert --from`: what other tools made, judged.

use std::path::Path;

use clap::{Args, ValueEnum};
use collsynth::audit::{self, audit};
use collsynth::collective::Collective;
use collsynth::format::json::ParseError;
use collsynth::format::{csv, forestcoll, json, msccl, sccl, teccl};
use collsynth::problem::Problem;
use collsynth::program::Program;
use collsynth::report::audit::{Audited, Source};
use collsynth::report::excerpt::marked;
use collsynth::report::foreign::foreign;
use collsynth::report::verdict::Judged;
use collsynth::topology::Topology;
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify};

use crate::cli::arguments::collective::CollectiveOptions;
use crate::cli::arguments::size;
use crate::cli::arguments::topology::TopologyOptions;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::{caller, input, output};
use crate::cli::options::Given;
use crate::cli::options::suggest::Spelled;

/// What files of other tools leave open.
#[derive(Args)]
#[command(next_help_heading = "With --from")]
pub struct ImportOptions {
    #[command(flatten)]
    topology: TopologyOptions,
    #[command(flatten)]
    collective: CollectiveOptions,
    /// For teccl and csv: the parts a message is cut in (1, unless stated)
    #[arg(long, value_name = "P", help_heading = "With --from")]
    parts: Option<u32>,
    /// For msccl: the packets a connection holds (2, unless stated)
    #[arg(long, value_name = "N", help_heading = "With --from", value_parser = clap::value_parser!(u32).range(1..))]
    slots: Option<u32>,
    /// For msccl: the form to write, where the file claims both (in-place, unless stated); both are judged
    #[arg(long, value_parser = Spelled::<ImportForm>::default(), help_heading = "With --from")]
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
    /// A table of moves, such as --to csv writes: step,from,to,chunk and perhaps op
    Csv,
}

/// A file that another tool made.
pub struct Import<'a> {
    pub file: &'a Path,
    pub from: ImportFormat,
    pub options: &'a ImportOptions,
    pub output: Option<&'a Path>,
}

impl Import<'_> {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        caller::tell("reading");
        let text = input::read_text(self.file)?;
        let solution = match self.from {
            ImportFormat::Msccl => return self.program(&text, given),
            ImportFormat::Sccl => sccl::parse(&text),
            ImportFormat::Teccl => teccl::parse(&text, self.problem(given, &["all_gather", "all_to_all"])?),
            ImportFormat::Csv => csv::parse_within(&text, self.problem(given, &[])?, &input::limits()?),
            ImportFormat::Forestcoll => forestcoll::parse_within(&text, self.machine()?, &input::limits()?),
        };
        let solution = solution.map_err(|error| self.unreadable(&text, &error))?;
        caller::tell("verifying");
        output::deliver_file(self.output, &json::solution_to_string(&solution), "schedule")?;
        let report = verify(&solution, &Options { memory: input::room(&text)?, ..Options::default() });
        let name = self.file.display().to_string();
        if let Some(why) = report.why_not_judged() {
            return Err(Failure::usage(format!("{name}: {why}")));
        }
        note(Judged { name: &name, text: "", solution: &solution, report: &report }.to_text().trim_end());
        if report.verdict() == Verdict::Holds {
            return Ok(Ending::Success);
        }
        self.hint_root(&solution.problem, given);
        Ok(Ending::Refuted)
    }

    fn program(&self, text: &str, given: &Given) -> Result<Ending, Failure> {
        let usual = msccl::Unsaid::default();
        let unsaid = msccl::Unsaid {
            root: self.options.collective.root_number()?,
            slots: self.options.slots.unwrap_or(usual.slots),
            custom: given.is_typed("collective").then(|| self.custom()).transpose()?,
        };
        let read = msccl::parse(text, &unsaid).map_err(|error| {
            // Not the file is wrong if it says itself what --collective says of it.
            let itself = msccl::Unsaid { custom: None, ..unsaid };
            match unsaid.custom.is_some() && msccl::parse(text, &itself).is_ok() {
                true => {
                    Failure::usage("--collective is for files with `coll=\"custom\"`: this one names its collective")
                        .hint("leave --collective out")
                }
                false => self.unreadable(text, &error),
            }
        })?;
        let msccl::Algorithm { programs, places } = read;
        given.kinds(
            &programs.iter().map(|(_, program)| program.problem.collective().kind.clone()).collect::<Vec<_>>(),
        )?;
        let is_stated = self.options.topology.is_stated();
        let machine = is_stated.then(|| self.options.topology.topology()).transpose()?;
        let chosen = self.chosen(&programs)?;
        let placed = machine.as_ref().map(|machine| on_machine(chosen, machine)).transpose()?;
        let text_of = json::program_to_string(placed.as_ref().unwrap_or(chosen));
        output::deliver_file(self.output, &text_of, "rank program")?;
        let name = self.file.display().to_string();
        let memory = input::room(text)?;
        let mut ending = Ending::Success;
        for (_, program) in &programs {
            let machine = machine.as_ref().map(|topology| audit::Machine::new(program, topology, &[])).transpose();
            let machine = machine.map_err(|error| Failure::usage(format!("the machine: {error}")))?;
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
        if ending == Ending::Refuted {
            self.hint_root(&programs[0].1.problem, given);
        }
        Ok(ending)
    }

    /// What may be wrong with what does not hold: the root, which the file does not name.
    fn hint_root(&self, problem: &Problem, given: &Given) {
        if let Some(root) = problem.collective().kind.stated_root().filter(|_| !given.is_typed("root")) {
            note(&format!(
                "hint: the file does not name the root, and {root} was taken: if it is another, add --root RANK"
            ));
        }
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

    /// The collective that `coll="custom"` stands for, in the words of MSCCL.
    fn custom(&self) -> Result<&'static str, Failure> {
        Ok(match self.options.collective.name() {
            "all_gather" => "allgather",
            "all_to_all" => "alltoall",
            "reduce_scatter" => "reduce_scatter",
            "all_reduce" => "allreduce",
            "broadcast" => "broadcast",
            "reduce" => "reduce",
            other => return Err(Failure::usage(format!("MSCCL has no {other}"))),
        })
    }

    /// The machine, which the file does not name.
    fn machine(&self) -> Result<Topology, Failure> {
        if !self.options.topology.is_stated() {
            return Err(Failure::usage("files of this format do not name the machine")
                .hint("give --torus EXTENTS or --topology FILE"));
        }
        self.options.topology.topology()
    }

    /// The problem, which the file does not name, of one of these collectives; without any, of every.
    fn problem(&self, given: &Given, possible: &[&str]) -> Result<Problem, Failure> {
        let ImportOptions { topology: machine, collective, parts, .. } = self.options;
        let hint = if possible.is_empty() { "NAME".to_owned() } else { possible.join(" or ") };
        let hint = format!("give --collective {hint}");
        if !given.is_typed("collective") {
            return Err(Failure::usage("files of this format do not name the collective").hint(hint));
        }
        if !possible.is_empty() && !possible.contains(&collective.name()) {
            return Err(Failure::usage(format!("this format has no {}", collective.name())).hint(hint));
        }
        let topology = self.machine()?;
        size::check_ranks(&topology)?;
        let kind = collective.kind(machine, &topology, given)?;
        let parts = parts.unwrap_or(1);
        size::check_chunks(&topology, &kind, parts)?;
        Ok(Problem::new(topology, Collective { kind, parts })?)
    }

    fn unreadable(&self, text: &str, error: &ParseError) -> Failure {
        let ParseError { code, line, column, message } = error;
        let lines = marked(text, (*line, *column));
        let name = self.file.display();
        let failure = Failure::usage(format!("{name}:{line}:{column}: {code}: {message}\n{}", lines.trim_end()));
        // Not the command that was typed.
        let this = self.from.to_possible_value().map(|from| format!("--from {} ", from.get_name())).unwrap_or_default();
        match (input::ours(text), foreign(text)) {
            (Some(what), _) => failure.hint(format!("this is {what}: `synth verify {name}` judges it")),
            (_, Some(what)) if what.contains("`synth convert") && !what.contains(&this) => failure.hint(what),
            _ => failure.hint("docs/formats/other-tools.md says what is read of each format"),
        }
    }
}

/// The program, which knows no links, on a machine of as many ranks.
fn on_machine(program: &Program, machine: &Topology) -> Result<Program, Failure> {
    let (ranks, places) = (program.rank_count(), machine.rank_count());
    if ranks != places {
        return Err(Failure::usage(format!("the file has {ranks} ranks, and the machine {places}")));
    }
    let mut placed = program.clone();
    placed.problem = Problem::new(machine.clone(), program.problem.collective().clone())?;
    placed.has_links = true;
    Ok(placed)
}
