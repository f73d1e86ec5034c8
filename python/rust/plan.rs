//! Verified schedules and the programs they are lowered to.

use std::time::Duration;

use collsynth::audit::{self, audit};
use collsynth::certificate::Rational;
use collsynth::cli::{Ending, Failure};
use collsynth::cost::Price;
use collsynth::format::{file, json};
use collsynth::lower::{Target, lower};
use collsynth::plan::{Account, StopReason};
use collsynth::program::{Barriers, Program};
use collsynth::renumber::{Renumbered, renumber};
use collsynth::report::audit::{Audited, Source, figures_to_json, headline, table};
use collsynth::report::failure::Cost;
use collsynth::report::quality::volume;
use collsynth::report::summary::Summary;
use collsynth::report::{observed, overview};
use collsynth::schedule::{Op, Solution};
use collsynth::verify::{Options, Verified};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::machine::Machine;
use crate::slots;

/// The numbers of a move: 5 of 32 bits.
const MOVE_BYTES: usize = 5 * 4;

/// A verified schedule.
#[pyclass(frozen, module = "collsynth._collsynth")]
pub struct Schedule {
    pub verified: Verified<Solution>,
    /// What is known of one that was planned here, not read.
    pub planned: Option<Planned>,
}

/// What planning tells besides the schedule.
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
    pub fn read(verified: Verified<Solution>) -> Self {
        Self { verified, planned: None }
    }

    fn summary<'a>(&'a self, planned: &'a Planned) -> Summary<'a> {
        let Planned { ref account, planner, stopped, planning, verifying, price } = *planned;
        let (solution, observed) = (&*self.verified, self.verified.report().observed.as_ref());
        Summary { solution, observed, planner, stopped, account, planning, verifying, price, cost: Cost::new(solution) }
    }

    /// Lowers without barriers, in any case out of place: what the adapters run.
    fn plain(&self, py: Python<'_>) -> PyResult<Program> {
        self.lowered(&Target::default()).map_err(|failure| errors::failure(py, &failure))
    }

    fn lowered(&self, target: &Target) -> Result<Program, Failure> {
        let program = lower(&self.verified, target).map_err(Failure::usage)?;
        let report = audit(&program, &audit::AuditOptions::default());
        if report.holds() {
            return Ok(program);
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
        py.detach(|| json::solution_to_string(&self.verified))
    }

    /// Writes that file, whole or not at all; `.gz`: compressed.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        let written = py.detach(|| file::write_atomic(&path, json::solution_to_string(&self.verified).as_bytes()));
        written.map_err(|error| errors::failure(py, &Failure::from(error)))
    }

    /// The figures of the summary, as JSON.
    #[getter]
    fn figures(&self) -> String {
        if let Some(planned) = &self.planned {
            return self.summary(planned).to_json().to_string();
        }
        let Solution { problem, schedule, bounds, .. } = &*self.verified;
        let mut figures = overview::figures_to_json(problem, schedule, bounds);
        observed::add_json(&mut figures, self.verified.report().observed.as_ref());
        figures.to_string()
    }

    /// The summary for people.
    #[getter]
    fn text(&self) -> String {
        if let Some(planned) = &self.planned {
            return self.summary(planned).to_text();
        }
        let Solution { problem, schedule, bounds, .. } = &*self.verified;
        let mut rows = overview::figures(problem, schedule, Some(bounds));
        observed::add_rows(&mut rows, problem, self.verified.report().observed.as_ref());
        format!("{}\n{}", overview::headline(problem), rows.to_string().trim_end())
    }

    /// Why planning stopped: finished, time limit or interrupted.
    #[getter]
    fn stopped(&self) -> &str {
        self.planned.as_ref().map_or(StopReason::Finished, |planned| planned.stopped).name()
    }

    /// The machine.
    #[getter]
    fn machine(&self) -> Machine {
        Machine(self.verified.problem.topology().clone())
    }

    /// Kind, parts and root of the collective.
    #[getter]
    fn collective(&self) -> (&'static str, u32, Option<u32>) {
        let kind = &self.verified.problem.collective().kind;
        (kind.name(), self.verified.problem.parts(), kind.root().map(|root| root.0))
    }

    /// The chunk counts of an all-to-allv, row by row.
    #[getter]
    fn demand(&self) -> Option<Vec<u32>> {
        self.verified.problem.collective().kind.demand().map(|demand| demand.counts().collect())
    }

    /// The width of each step.
    #[getter]
    fn widths(&self) -> Vec<u32> {
        self.verified.schedule.steps().map(|step| step.width).collect()
    }

    /// The volume as a numerator and a denominator.
    #[getter]
    fn volume(&self) -> (i128, i128) {
        pair(volume(&self.verified.problem, &self.verified.schedule))
    }

    /// The lower bound on the volume, likewise.
    #[getter]
    fn volume_bound(&self) -> Option<(i128, i128)> {
        self.verified.bounds.volume.as_ref().map(|bound| pair(bound.at_least))
    }

    /// The lower bound on the steps.
    #[getter]
    fn steps_bound(&self) -> u32 {
        self.verified.bounds.least_steps()
    }

    /// Every chunk move: step, from, to, chunk, op (0: copy, 1: reduce), 5 numbers of 32 bits each.
    fn moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let schedule = &self.verified.schedule;
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
        match chunk < self.verified.problem.chunk_count() {
            true => Ok(self.verified.problem.chunk_label(collsynth::collective::ChunkId(chunk))),
            false => Err(errors::usage(py, &format!("there is no chunk {chunk}"))),
        }
    }

    /// The program of each rank.
    fn lower(&self, py: Python<'_>, barriers: &str, in_place: bool, slots: Option<u32>) -> PyResult<Lowered> {
        let known = Barriers::ALL.into_iter().find(|kind| kind.name() == barriers);
        let Some(barriers) = known else {
            return Err(errors::usage(py, &format!("no barriers are called `{barriers}`: none, neighbour or global")));
        };
        if slots == Some(0) {
            return Err(errors::usage(py, "a channel has at least 1 slot"));
        }
        let target = Target { barriers, in_place, slots };
        py.detach(|| self.lowered(&target)).map(Lowered).map_err(|failure| errors::failure(py, &failure))
    }

    /// The same schedule among the live ranks alone, numbered without gaps, and the number that each had before.
    fn renumbered(&self, py: Python<'_>) -> PyResult<(Self, Vec<u32>)> {
        let Renumbered { solution, was } =
            renumber(&self.verified).map_err(|error| errors::usage(py, &error.to_string()))?;
        let verified = Verified::<Solution>::new(solution, &Options::default())
            .map_err(|_| errors::usage(py, "internal error: the renumbered schedule is wrong"))?;
        Ok((Self::read(verified), was.into_iter().map(|rank| rank.0).collect()))
    }

    /// Slots of input, output and scratch of each rank: 3 numbers of 32 bits for each rank.
    fn buffer_sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        numbers(py, &slots::sizes(&self.plain(py)?))
    }

    /// Every chunk move with the slots it reads and writes, and the copies before the first step; see `slots`.
    fn slot_moves<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let program = self.plain(py)?;
        let (moves, copies) = py
            .detach(|| slots::tables(&self.verified, &program))
            .ok_or_else(|| errors::usage(py, "internal error: the program does not follow its schedule"))?;
        Ok((numbers(py, &moves)?, numbers(py, &copies)?))
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
