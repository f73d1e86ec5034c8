//! A plan that a program asks for: in the words of the command line, except for the machine and the demand, which it
//! holds as objects.

use std::iter::once;
use std::time::Duration;

use clap::{Args, Command, Error, FromArgMatches};
use collsynth::PlannedSchedule;
use collsynth::collective::{Demand, Kind};
use collsynth::cost::Price;
use collsynth::form::Form;
use collsynth::plan::Control;
use collsynth::schedule::AnySolution;
use collsynth::topology::Topology;
use collsynth::verify::Verified;

use super::plan::PlanCommand;
use crate::cli::arguments::size;
use crate::cli::ending::Failure;
use crate::cli::options::Given;

/// What is asked for on a machine, read and checked as far as that takes no planning.
pub struct Asked {
    topology: Topology,
    command: PlanCommand,
    kind: Kind,
}

impl Asked {
    /// Reads the words of `synth plan` without those that state a machine. A demand takes the place of the file that
    /// `--demand` names.
    ///
    /// # Errors
    ///
    /// As the command.
    pub fn read(topology: Topology, words: &[String], demand: Option<Demand>) -> Result<Self, Failure> {
        size::check_ranks(&topology)?;
        let all = PlanCommand::augment_args(Command::new("synth"));
        let line = once("synth").chain(words.iter().map(String::as_str));
        let matches = all.clone().try_get_matches_from(line).map_err(|error| refused(&error))?;
        let given = Given::read(&all, &matches)?;
        let command = PlanCommand::from_arg_matches(&matches).map_err(|error| refused(&error))?;
        let kind = command.kind(&topology, &given, demand)?;
        Ok(Self { topology, command, kind })
    }

    /// The time limit.
    pub fn time_limit(&self) -> Option<Duration> {
        self.command.options.time_limit
    }

    /// The price, if the least time is asked for.
    pub fn price(&self) -> Option<Price> {
        self.command.options.price()
    }

    /// The form, if one is stated.
    pub fn form(&self) -> Option<Form> {
        self.command.form
    }

    /// Plans.
    ///
    /// # Errors
    ///
    /// As the command.
    pub fn plan(&self, control: Control) -> Result<PlannedSchedule, Failure> {
        let smt = self.command.smt.planner();
        let goal = self.command.options.goal(&smt)?;
        let (request, _) = self.command.request(&self.topology, self.kind.clone(), goal)?;
        request.control(control).run().map_err(|error| Failure::of_plan(&error, &self.topology))
    }

    /// Has a plan judged. Its origin has the command line, if `machine` gives the words that state the machine.
    ///
    /// # Errors
    ///
    /// As the command.
    pub fn verified(
        &self,
        plan: PlannedSchedule,
        machine: Option<&[String]>,
    ) -> Result<Verified<AnySolution>, Failure> {
        let smt = self.command.smt.planner();
        let goal = self.command.options.goal(&smt)?;
        let line = machine.map(|machine| self.command.line(machine, &goal));
        self.command.verified(plan, line)
    }
}

/// What clap says, as the message and the hint of a failure.
fn refused(error: &Error) -> Failure {
    let text = error.render().to_string();
    let text = text.trim_start_matches("error: ").trim_end();
    match text.split_once("\nhint: ") {
        Some((message, hint)) => Failure::usage(message).hint(hint),
        None => Failure::usage(text),
    }
}
