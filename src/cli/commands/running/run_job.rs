//! `synth run` of a job: its collectives at once, each by ranks of its own.

use std::thread;

use collsynth::collective::Kind;
use collsynth::report::run::{RunReport, block_for, has_blocks};
use collsynth::runtime::{Runnable, Sample};

use super::run::{MOVE_BYTES, RunCommand};
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::output::Format;
use crate::cli::io::reading::Reading;
use crate::cli::options::Given;

impl RunCommand {
    /// Runs a job that holds.
    pub(super) fn run_job(&self, reading: &Reading<'_>, given: &Given, format: Format) -> Result<Ending, Failure> {
        let schedules = reading.judged_schedules("run", MOVE_BYTES)?;
        let kinds: Vec<Kind> = schedules.iter().map(|one| one.problem.collective().kind.clone()).collect();
        given.kinds(&kinds)?;
        let runnables: Vec<Runnable<'_>> = schedules.iter().map(Runnable::from).collect();
        self.run_typed(&runnables, format)
    }

    /// Runs several collectives at once. Chunks of all are equally large: as large as lets the largest buffer have the
    /// bytes stated.
    pub(super) fn together<E: Sample>(&self, runnables: &[Runnable<'_>], format: Format) -> Result<Ending, Failure> {
        let problems = || runnables.iter().map(|one| one.problem());
        let chunks = problems()
            .filter(|problem| has_blocks(problem))
            .map(|problem| block_for(problem, self.bytes, self.dtype) / problem.chunks_per_block() as usize);
        let chunk = if self.bytes == 0 { 0 } else { chunks.min().unwrap_or(1).max(1) };
        let blocks = problems().map(|problem| chunk * problem.chunks_per_block() as usize);
        let mut trials = Vec::new();
        let mut memory = 0_u64;
        for (runnable, block) in runnables.iter().zip(blocks) {
            memory = memory.saturating_add(self.buffer_memory(*runnable, block));
            self.check_memory(memory)?;
            trials.push(self.trial::<E>(*runnable, block));
        }
        let reports: Vec<RunReport<'_>> = thread::scope(|scope| {
            let mut threads = Vec::new();
            for (&runnable, trial) in runnables.iter().zip(&trials) {
                threads.push(scope.spawn(move || self.measured(runnable, trial, &|_| {})));
            }
            let join = |thread: thread::ScopedJoinHandle<'_, Result<_, Failure>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect::<Result<_, Failure>>()
        })?;
        let largest = reports.iter().map(RunReport::bytes).max().unwrap_or(0);
        if largest != self.bytes && problems().any(has_blocks) {
            note(&format!("note: {}", self.undivided(self.bytes, "chunks", largest)));
        }
        let text = || {
            let head = format!("a job of {} collectives, run at once\n\n", reports.len());
            let each: Vec<String> = reports.iter().map(RunReport::to_text).collect();
            head + &each.join("\n")
        };
        format.deliver(&self.output, text, || reports.iter().map(RunReport::to_json).collect())?;
        Ok(if reports.iter().all(RunReport::holds) { Ending::Success } else { Ending::Refuted })
    }
}
