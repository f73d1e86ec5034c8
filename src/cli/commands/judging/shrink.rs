//! `synth verify --shrink`: a smallest part of a refuted file that is still refuted for the same reason.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use collsynth::audit;
use collsynth::format::json;
use collsynth::plan::Control;
use collsynth::program::Program;
use collsynth::schedule::{Origin, Solution};
use collsynth::shrink::{Shrunk, Whole, shrink_program, shrink_solution};
use collsynth::topology::Topology;
use collsynth::verdict::Verdict;
use collsynth::verify::{Finding, Options, verify};

use crate::cli::arguments::elsewhere::Elsewhere;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::control;
use crate::cli::io::console::note;
use crate::cli::io::output;
use crate::cli::io::progress::Ticker;
use crate::cli::io::reading::Reading;
use crate::cli::options::Given;

/// What shrinking takes for each move, roughly.
const MOVE_BYTES: u64 = 100;

/// The file to shrink, where its smallest part goes, and the time limit.
#[derive(Clone, Copy)]
pub(crate) struct Shrinking<'a> {
    pub(crate) path: &'a Path,
    pub(crate) output: &'a Path,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) given: &'a Given,
    pub(crate) elsewhere: &'a Elsewhere<'a>,
}

impl Shrinking<'_> {
    /// Reads the file and shrinks it; `program` does so for rank programs.
    pub(crate) fn run(
        &self,
        program: impl FnOnce(&Program, &str, Option<&Topology>) -> Result<Ending, Failure>,
    ) -> Result<Ending, Failure> {
        let reading = Reading::of(self.path)?;
        self.given.file(reading.what())?;
        let machine = self.elsewhere.machine(&reading.text)?;
        if reading.is_program() {
            return program(&reading.program()?, &reading.text, machine.as_ref());
        }
        let mut stated = reading.stated()?;
        if let Some(machine) = &machine {
            stated = stated
                .on(machine.clone())
                .map_err(|error| Failure::usage(format!("{}: {error}", self.path.display())))?;
        }
        let options = Options { memory: reading.room(), max_errors: 1 };
        let report = verify(&stated, &options);
        if let Some(why) = report.why_not_judged() {
            return Err(Failure::usage(format!("{}: {why}", self.path.display())));
        }
        if report.verdict() == Verdict::Holds {
            return self.nothing(Whole::<Finding>::Holds);
        }
        let solution = reading.expand_stated(stated, MOVE_BYTES)?;
        let (control, ticker) = self.control()?;
        let shrunk = shrink_solution(&solution, &|| control.stop().is_some());
        ticker.finish();
        let Shrunk { smallest, finding, items, is_minimal } = match shrunk {
            Ok(shrunk) => shrunk,
            Err(whole) => return self.nothing(whole),
        };
        let smallest = Solution { origin: Some(self.origin()), ..smallest };
        output::deliver(self.output, &json::solution_to_string(&smallest))?;
        self.tell(items, "chunk moves", is_minimal, finding)
    }

    /// Shrinks a program.
    pub(crate) fn program(&self, program: &Program, options: &audit::AuditOptions<'_>) -> Result<Ending, Failure> {
        // An audit that ran out of memory has refuted nothing that a part could be compared with.
        if let Some(why) = audit::audit(program, options).why_not_judged() {
            return Err(Failure::usage(format!("{}: {why}", self.path.display())));
        }
        let (control, ticker) = self.control()?;
        let shrunk = shrink_program(program, options, &|| control.stop().is_some());
        ticker.finish();
        let Shrunk { mut smallest, finding, items, is_minimal } = match shrunk {
            Ok(shrunk) => shrunk,
            Err(whole) => return self.nothing(whole),
        };
        smallest.origin = Some(self.origin());
        output::deliver(self.output, &json::program_to_string(&smallest))?;
        self.tell(items, "operations", is_minimal, finding)
    }

    fn control(&self) -> Result<(Control, Ticker), Failure> {
        let control = control(self.time_limit)?;
        let ticker = Ticker::new(false, "shrinking");
        Ok((control, ticker))
    }

    fn origin(&self) -> Origin {
        output::origin(None, Some(format!("synth verify --shrink {}", self.path.display())), None)
    }

    fn nothing(&self, whole: Whole<impl Display>) -> Result<Ending, Failure> {
        let name = self.path.display();
        match whole {
            Whole::Holds => {
                note(&format!("{name}: holds; nothing is written"));
                Ok(Ending::Success)
            }
            Whole::Elsewhere(finding) => Err(Failure::new(Ending::Refuted, format!("{name}: {finding}"))
                .hint("no transfer causes this: there is nothing to leave out")),
        }
    }

    fn tell(
        &self,
        items: (usize, usize),
        what: &str,
        is_minimal: bool,
        finding: impl Display,
    ) -> Result<Ending, Failure> {
        let (all, left) = items;
        let end =
            if is_minimal { "none can be left out" } else { "stopped before it was known that none can be left out" };
        note(&format!("{}: {left} of {all} {what} are left; {end}\n  {finding}", self.path.display()));
        Ok(if is_minimal { Ending::Refuted } else { Ending::Stopped })
    }
}
