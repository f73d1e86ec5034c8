//! `synth show`: a schedule step by step.

use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use collsynth::collective::ChunkLabelError;
use collsynth::problem::Problem;
use collsynth::program::Program;
use collsynth::report::audit;
use collsynth::report::collective::chunks_named;
use collsynth::report::overview::{figures, headline};
use collsynth::report::tables::links::LinkTable;
use collsynth::report::tables::operations;
use collsynth::report::tables::steps::{Selection, StepTables};
use collsynth::schedule::{AnySolution, Choice, Solution};
use collsynth::topology::{RankId, Topology};

use super::show_picture;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::output;
use crate::cli::io::reading::Reading;
use crate::cli::options::Given;
use crate::cli::options::suggest::Spelled;

/// Show a schedule step by step, or a rank program worker by worker
///
/// Who sends what to whom, and how busy the links are. The file is read, not judged: `synth verify` does that.
#[derive(Args)]
pub struct ShowCommand {
    /// The schedule or rank program file (- for standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How much each link carries over the whole schedule (or the steps of --step), the hottest first
    #[arg(long)]
    links: bool,
    /// Only this step. Repeatable
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    step: Vec<u32>,
    /// Only transfers from or to this rank: 42 or 2.2.2; of a program, what it does
    #[arg(long, allow_negative_numbers = true, value_name = "RANK")]
    rank: Option<String>,
    /// Only transfers over this link, from U to V
    #[arg(long, allow_negative_numbers = true, value_name = "U,V")]
    link: Option<String>,
    /// Only this chunk: 3-7 (in files 3>7), or 3-7/1 for part 1 alone
    #[arg(long, allow_negative_numbers = true, value_name = "CHUNK")]
    chunk: Option<String>,
    /// List all chunks of a transfer, and all operations of a worker
    #[arg(long)]
    all: bool,
    /// With --format svg: the evidence of the bound on the steps or on the volume
    #[arg(long, value_parser = Spelled::<show_picture::Figure>::default(), value_name = "FIGURE")]
    bound: Option<show_picture::Figure>,
    /// The form of the answer
    #[arg(long, value_parser = Spelled::<ShowFormat>::default(), default_value = "text")]
    format: ShowFormat,
    /// Write to this file (.gz: compressed) instead of standard output; .json, .csv and .svg choose the form
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

/// Who reads the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShowFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// With --links: a line for each link
    Csv,
    /// A picture: of all steps, or of --step, --chunk or --bound
    Svg,
    /// The loads of all links on a map of a machine of one or two dimensions: of all steps, or of --step
    Map,
}

impl ShowCommand {
    pub fn run(&self, given: &Given) -> Result<Ending, Failure> {
        let reading = Reading::of(&self.file)?;
        given.file(reading.what())?;
        let format = given.form("format").unwrap_or(self.format);
        if reading.is_program() {
            return self.show_program(&reading.program()?);
        }
        let stated = reading.stated()?;
        if format != ShowFormat::Svg {
            return self.show(&stated, format);
        }
        let solution = reading.expand_stated(stated, 0)?;
        let selection = self.selection(&solution.problem, solution.schedule.step_count())?;
        let picture = show_picture::svg(&solution, &selection, self.bound)?;
        output::deliver(&self.output, &picture)?;
        Ok(Ending::Success)
    }

    /// Shows a schedule in either form as it is.
    fn show(&self, solution: &AnySolution, format: ShowFormat) -> Result<Ending, Failure> {
        let Solution { problem, schedule, .. } = solution;
        let selection = self.selection(problem, schedule.step_count())?;
        if format == ShowFormat::Map {
            output::deliver(&self.output, &show_picture::map(solution, &selection)?)?;
            return Ok(Ending::Success);
        }
        // Without the bounds in the file, which are not checked here.
        let head = || format!("{}\n{}", headline(problem), figures(problem, schedule, None));
        if self.links {
            let table = LinkTable::new(problem, schedule, &selection);
            output::deliver(
                &self.output,
                &match format {
                    ShowFormat::Text => format!("{}\n{}", head(), table.to_text()),
                    ShowFormat::Json => format!("{:#}\n", table.to_json()),
                    ShowFormat::Csv | ShowFormat::Svg | ShowFormat::Map => table.to_csv(),
                },
            )?;
            return Ok(Ending::Success);
        }
        let steps = StepTables::new(problem, schedule, &selection);
        output::deliver_streamed(&self.output, |mut out| match format {
            ShowFormat::Json => steps.write_json(&mut out),
            _ => {
                out.write_all(head().as_bytes())?;
                steps.write_text(&mut out)
            }
        })?;
        Ok(Ending::Success)
    }

    fn show_program(&self, program: &Program) -> Result<Ending, Failure> {
        let topology = program.problem.topology();
        let rank = self.rank.as_ref().map(|text| topology.parse_rank(text)).transpose().map_err(Failure::usage)?;
        let selection = operations::Selection { rank, link: self.ends(topology)?, all: self.all };
        output::deliver_streamed(&self.output, |out| {
            write!(out, "{}\n{}", audit::headline(program), audit::table(program))?;
            operations::texts(program, selection).try_for_each(|text| write!(out, "\n{text}"))
        })?;
        Ok(Ending::Success)
    }

    fn selection(&self, problem: &Problem, step_count: usize) -> Result<Selection, Failure> {
        if let Some(step) = self.step.iter().find(|&&step| step as usize > step_count) {
            return Err(Failure::usage(format!("there is no step {step}: the schedule has {step_count}")));
        }
        let topology = problem.machine();
        let rank = self.rank.as_ref().map(|text| topology.parse_rank(text)).transpose();
        let chunks = self.chunk.as_ref().map(|label| chosen_chunks(problem, label)).transpose()?;
        let link = self.ends(topology)?;
        if let Some((from, to)) = link
            && topology.links_between(from, to).next().is_none()
        {
            let (from, to) = (topology.rank_label(from), topology.rank_label(to));
            return Err(Failure::usage(format!("there is no link from rank {from} to rank {to}")));
        }
        if let Some((from, to)) = link
            && !topology.links_between(from, to).any(|link| topology.link(link).alive)
        {
            let (from, to) = (topology.rank_label(from), topology.rank_label(to));
            note(&format!("note: the link from rank {from} to rank {to} failed"));
        }
        Ok(Selection {
            steps: self.step.clone(),
            choice: Choice { ranks: rank.map_err(Failure::usage)?.map(|rank| vec![rank]), link, chunks },
            all: self.all,
        })
    }

    /// The ranks of --link.
    fn ends(&self, topology: &Topology) -> Result<Option<(RankId, RankId)>, Failure> {
        let Some(text) = &self.link else { return Ok(None) };
        let form = || Failure::usage(format!("`{text}` is no link: write its two ranks, as in 2,3 or 2.0.0,3.0.0"));
        let (from, to) = text.split_once(',').ok_or_else(form)?;
        let rank = |word: &str| topology.parse_rank(word.trim()).map_err(Failure::usage);
        Ok(Some((rank(from)?, rank(to)?)))
    }
}

/// The chunks of --chunk. Between two ranks a `-` stands for the `>` of files, which shells take for their own.
fn chosen_chunks(problem: &Problem, label: &str) -> Result<Range<u32>, Failure> {
    chunks_named(problem, &label.replacen(['-', ':', ','], ">", 1)).map_err(|error| match error {
        ChunkLabelError::Form { kind, expected, .. } => {
            Failure::usage(format!("`{label}` is no chunk of {kind}: write {}", expected.replace('>', "-")))
        }
        other => Failure::usage(other),
    })
}
