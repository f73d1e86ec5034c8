//! Verified schedules and the programs they are lowered to.

use std::time::Duration;

use collsynth::audit::{self, audit};
use collsynth::bound::Limit;
use collsynth::certificate::Rational;
use collsynth::claim::volume;
use collsynth::cli::{self, Ending, Failure};
use collsynth::collective::{ChunkId, Collective};
use collsynth::cost::Price;
use collsynth::form::Form;
use collsynth::format::json;
use collsynth::lower::{Target, lower};
use collsynth::plan::{Account, StopReason};
use collsynth::program::{Barriers, Program};
use collsynth::renumber::{Renumbered, renumber};
use collsynth::report::audit::{Audited, Source, figures_to_json, headline, table};
use collsynth::report::failure::Cost;
use collsynth::report::summary::Summary;
use collsynth::report::{observed, overview};
use collsynth::schedule::{AnySchedule, AnySolution, Op, Timetable};
use collsynth::verdict::Verdict;
use collsynth::verify::{Observed, Options, Verified};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::held::Held;
use crate::machine::Machine;
use crate::slots;

/// The numbers of a move: 5 of 32 bits.
const MOVE_BYTES: usize = 5 * 4;

/// A verified schedule, in the explicit or in the compact form.
#[pyclass(frozen, module = "collsynth._collsynth")]
pub struct Schedule {
    pub held: Held,
    /// What is known of one that was planned here, not read.
    pub planned: Option<Planned>,
}

/// What planning tells besides the schedule.
#[derive(Clone)]
pub struct Planned {
    pub account: Account,
    pub planner: &'static str,
    pub stopped: StopReason,
    pub planning: Duration,
    pub verifying: Duration,
    pub price: Option<Price>,
}

/// A rank program that holds.
#[pyclass(frozen, module = "collsynth._collsynth")]
pub struct Lowered(Program);

impl Schedule {
    pub fn read(held: Held) -> Self {
        Self { held, planned: None }
    }

    /// Every move.
    fn every_move(&self, py: Python<'_>) -> PyResult<&collsynth::schedule::Schedule> {
        py.detach(|| self.held.schedule()).map_err(|failure| errors::failure(py, &failure))
    }

    /// Lowers without barriers, in any case out of place: what the adapters run.
    fn plain(&self, py: Python<'_>) -> PyResult<Program> {
        self.lowered(Target::default()).map_err(|failure| errors::failure(py, &failure))
    }

    fn lowered(&self, target: Target) -> Result<Program, Failure> {
        let target = Target { memory: cli::limits()?.expanded(), ..target };
        let program = lower(&self.held.verified, &target).map_err(Failure::usage)?;
        let report = audit(&program, &audit::AuditOptions::default());
        if report.verdict() == Verdict::Holds {
            return Ok(program);
        }
        if let Some(why) = report.why_not_judged() {
            return Err(Failure::usage(format!("the program is {why}")));
        }
        let found = Audited { name: "the program", source: Source::None, program: &program, report: &report }.to_text();
        Err(match target.slots {
            Some(_) => Failure::new(Ending::Refuted, found).hint("choose more slots, or leave them out"),
            None => Failure::new(Ending::Refuted, format!("internal error: the program is wrong\n{found}")),
        })
    }
}

#[pymethods]
impl Schedule {
    /// The file that the command writes.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| json::solution_to_string(&self.held.verified))
    }

    /// Writes that file, whole or not at all; `.gz`: compressed.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        errors::save(py, &path, || json::solution_to_string(&self.held.verified))
    }

    /// The form: `explicit` or `compact`.
    #[getter]
    fn form(&self) -> &'static str {
        match self.held.form() {
            Form::Compact => "compact",
            Form::Explicit => "explicit",
        }
    }

    /// Is every move stated, or was it expanded?
    #[getter]
    fn is_expanded(&self) -> bool {
        self.held.is_expanded()
    }

    /// The same with every move stated.
    fn expanded(&self, py: Python<'_>) -> PyResult<Self> {
        let held = py.detach(|| self.held.expanded()).map_err(|failure| errors::failure(py, &failure))?;
        Ok(Self { held, planned: self.planned.clone() })
    }

    /// The same as a pattern and exceptions.
    fn compact(&self, py: Python<'_>) -> PyResult<Self> {
        let held = py.detach(|| self.held.compact()).map_err(|failure| errors::failure(py, &failure))?;
        Ok(Self { held, planned: self.planned.clone() })
    }

    /// The collective, its groups and the machine in a few words.
    #[getter]
    fn headline(&self) -> String {
        overview::headline(&self.held.verified.problem)
    }

    /// The figures of the summary, as JSON.
    #[getter]
    fn figures(&self) -> String {
        let (solution, observed) = (&*self.held.verified, self.held.verified.report().observed.as_ref());
        if let Some(planned) = &self.planned {
            return planned.summary(solution, observed).to_json().to_string();
        }
        let mut figures = overview::figures_to_json(&solution.problem, &solution.schedule, Some(&solution.bounds));
        observed::add_json(&mut figures, observed);
        figures.to_string()
    }

    /// The summary for people.
    #[getter]
    fn text(&self) -> String {
        let (solution, observed) = (&*self.held.verified, self.held.verified.report().observed.as_ref());
        if let Some(planned) = &self.planned {
            return planned.summary(solution, observed).to_text();
        }
        let mut rows = overview::figures(&solution.problem, &solution.schedule, Some(&solution.bounds));
        observed::add_rows(&mut rows, &solution.problem, observed);
        format!("{}\n{}", overview::headline(&solution.problem), rows.to_string().trim_end())
    }

    /// Why planning stopped: finished, time limit or interrupted.
    #[getter]
    fn stopped(&self) -> &str {
        self.planned.as_ref().map_or(StopReason::Finished, |planned| planned.stopped).name()
    }

    /// The machine.
    #[getter]
    fn machine(&self) -> Machine {
        Machine(self.held.verified.problem.machine().clone())
    }

    /// Kind, parts and root of the collective; in groups, the root is a place among the members.
    #[getter]
    fn collective(&self) -> (&'static str, u32, Option<u32>) {
        let Collective { kind, parts } = self.held.verified.problem.collective();
        (kind.name(), *parts, kind.stated_root().map(|root| root.0))
    }

    /// The members of each group, in their order, and whether other ranks may relay.
    #[getter]
    fn groups(&self) -> Option<(Vec<Vec<u32>>, bool)> {
        let groups = self.held.verified.problem.groups()?;
        let members = groups.members().iter().map(|ranks| ranks.iter().map(|rank| rank.0).collect());
        Some((members.collect(), groups.may_relay()))
    }

    /// The chunk counts of an all-to-allv, row by row.
    #[getter]
    fn demand(&self) -> Option<Vec<u32>> {
        self.held.verified.problem.collective().kind.demand().map(|demand| demand.counts().collect())
    }

    /// The width of each step.
    #[getter]
    fn widths(&self) -> Vec<u32> {
        let schedule = &self.held.verified.schedule;
        schedule.numbers().map(|step| schedule.width(step)).collect()
    }

    /// The volume as a numerator and a denominator.
    #[getter]
    fn volume(&self) -> (i128, i128) {
        pair(volume(&self.held.verified.problem, &self.held.verified.schedule))
    }

    /// The lower bound on the volume, likewise.
    #[getter]
    fn volume_bound(&self) -> Option<(i128, i128)> {
        self.held.verified.bounds.volume.as_ref().map(|bound| pair(bound.at_least))
    }

    /// The lower bound on the steps.
    #[getter]
    fn steps_bound(&self) -> u32 {
        self.held.verified.bounds.least_steps()
    }

    /// Every chunk move: step, from, to, chunk, op (0: copy, 1: reduce), 5 numbers of 32 bits each.
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let schedule = self.every_move(py)?;
        PyBytes::new_with(py, schedule.move_count() * MOVE_BYTES, |table| {
            let mut rows = table.chunks_exact_mut(MOVE_BYTES);
            for step in schedule.steps() {
                for transfer in step.transfers {
                    let op = match transfer.op {
                        Op::Copy => 0,
                        Op::Reduce => 1,
                    };
                    for (chunk, row) in schedule.chunks(transfer).iter().zip(&mut rows) {
                        let numbers = [step.number, transfer.from.0, transfer.to.0, chunk.0, op];
                        row.copy_from_slice(numbers.map(u32::to_ne_bytes).as_flattened());
                    }
                }
            }
            Ok(())
        })
    }

    /// What a chunk is called: `2>3` or `2>3.1`.
    fn chunk_label(&self, py: Python<'_>, chunk: u32) -> PyResult<String> {
        let problem = &self.held.verified.problem;
        match chunk < problem.chunk_count() {
            true => Ok(problem.chunk_label(ChunkId(chunk))),
            false => Err(errors::usage(py, &format!("there is no chunk {chunk}"))),
        }
    }

    /// The program of each rank.
    fn lower(&self, py: Python<'_>, barriers: &str, in_place: bool, slots: Option<u32>) -> PyResult<Lowered> {
        // Files write `neighbour`.
        let name = if barriers == "neighbor" { "neighbour" } else { barriers };
        let Some(barriers) = Barriers::ALL.into_iter().find(|kind| kind.name() == name) else {
            return Err(errors::usage(py, &format!("no barriers are called `{barriers}`: none, neighbor or global")));
        };
        if slots == Some(0) {
            return Err(errors::usage(py, "a channel has at least 1 slot"));
        }
        let target = Target { barriers, in_place, slots, ..Target::default() };
        py.detach(|| self.lowered(target)).map(Lowered).map_err(|failure| errors::failure(py, &failure))
    }

    /// The same schedule among the live ranks alone, numbered without gaps, and the number that each had before.
    fn renumbered(&self, py: Python<'_>) -> PyResult<(Self, Vec<u32>)> {
        let Renumbered { solution, was } =
            renumber(&self.held.verified).map_err(|error| errors::usage(py, &error.to_string()))?;
        let verified = Verified::new(solution, &Options::default())
            .map_err(|_| errors::usage(py, "internal error: the renumbered schedule is wrong"))?;
        Ok((Self::read(verified.into_any().into()), was.into_iter().map(|rank| rank.0).collect()))
    }

    /// Slots of input, output and scratch, 3 numbers of 32 bits for each rank; every chunk move with the slots it reads
    /// and writes; the copies before the first step. See `slots`.
    fn slot_moves<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 3]> {
        let (schedule, program) = (self.every_move(py)?, self.plain(py)?);
        let topology = self.held.verified.problem.machine();
        let (moves, copies) = py
            .detach(|| slots::tables(topology, schedule, &program))
            .ok_or_else(|| errors::usage(py, "internal error: the program does not follow its schedule"))?;
        Ok([numbers(py, &slots::sizes(&program))?, numbers(py, &moves)?, numbers(py, &copies)?])
    }
}

impl Planned {
    fn summary<'a>(&'a self, solution: &'a AnySolution, observed: Option<&'a Observed>) -> Summary<'a, AnySchedule> {
        let Self { ref account, planner, stopped, planning, verifying, price } = *self;
        let cost = Cost::new(solution, &Limit::NONE);
        Summary { solution, observed, improved: None, planner, stopped, account, planning, verifying, price, cost }
    }
}

#[pymethods]
impl Lowered {
    /// The file that `synth lower` writes.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| json::program_to_string(&self.0))
    }

    /// The figures, as JSON.
    #[getter]
    fn figures(&self) -> String {
        figures_to_json(&self.0).to_string()
    }

    /// The figures for people.
    #[getter]
    fn text(&self) -> String {
        format!("{}\n{}", headline(&self.0), table(&self.0).to_string().trim_end())
    }
}

fn pair(value: Rational) -> (i128, i128) {
    (*value.numer(), *value.denom())
}

fn numbers<'py>(py: Python<'py>, table: &[i32]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, table.len() * 4, |bytes| {
        for (number, place) in table.iter().zip(bytes.chunks_exact_mut(4)) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        Ok(())
    })
}
