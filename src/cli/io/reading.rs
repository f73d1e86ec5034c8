//! Files of ours, read and judged: one way for every command, with one limit on memory.
//!
//! What is judged is the file as it is stated, within [`Limits::room`] of its text. A schedule in the compact form is
//! expanded only once it is known to hold, and only if all that is made of its moves stays within [`Limits::expanded`].

use std::path::Path;

use collsynth::audit::{self, AuditedProgram};
use collsynth::format::json::{self, ParseError, TooLarge};
use collsynth::limits::Limits;
use collsynth::program::Program;
use collsynth::report::audit::{Audited, Source};
use collsynth::report::foreign::foreign;
use collsynth::report::job::JudgedJob;
use collsynth::report::verdict::findings;
use collsynth::schedule::{AnySchedule, AnySolution, Job, Solution, Stated};
use collsynth::verify::{Options, Rejected, RejectedJob, Verified, VerifiedJob};

use super::input;
use crate::cli::ending::{Ending, Failure};
use crate::cli::options::What;

/// The text of a file, and the limits under which it is read.
pub struct Reading<'a> {
    path: &'a Path,
    pub text: String,
    pub limits: Limits,
}

impl<'a> Reading<'a> {
    /// Reads a file (`-`: standard input).
    pub fn of(path: &'a Path) -> Result<Self, Failure> {
        Ok(Self { path, limits: input::limits()?, text: input::read_text(path)? })
    }

    /// The bytes that judging the file may take.
    pub fn room(&self) -> u64 {
        self.limits.room(&self.text)
    }

    /// The bytes that may be made of it once it is known to hold.
    pub fn made(&self) -> u64 {
        self.limits.made(&self.text)
    }

    /// What the file claims to hold.
    pub fn what(&self) -> What {
        What::of(&self.text)
    }

    pub fn is_program(&self) -> bool {
        self.what() == What::Program
    }

    /// The schedule in the form in which it is stated, not judged.
    pub fn stated(&self) -> Result<AnySolution, Failure> {
        self.check_schedule()?;
        json::parse_stated_within(&self.text, &self.limits).map_err(|error| self.unreadable(&error))
    }

    /// The schedule, judged; `used` says what is done with it if it holds.
    pub fn judged(&self, used: &str) -> Result<Verified<AnySolution>, Failure> {
        self.hold(self.stated()?, used)
    }

    /// Judges what was [stated](Reading::stated).
    pub fn hold(&self, stated: AnySolution, used: &str) -> Result<Verified<AnySolution>, Failure> {
        self.hold_since(stated, used, &[])
    }

    /// The same after failures, in the words in which they were typed.
    pub fn hold_since(
        &self,
        stated: AnySolution,
        used: &str,
        since: &[String],
    ) -> Result<Verified<AnySolution>, Failure> {
        let command: Vec<String> = [self.name()].into_iter().chain(since.iter().cloned()).collect();
        verified(stated, used, self.room())
            .map_err(|failure| failure.hint(format!("`synth verify {}` says more", command.join(" "))))
    }

    /// States every move of a schedule that holds; what is done with it takes `each` bytes for every move.
    pub fn expand(&self, held: Verified<AnySolution>, each: u64) -> Result<Verified<Solution>, Failure> {
        TooLarge::check(&held.schedule, self.limits.expanded(), each).map_err(|error| self.too_large(&error))?;
        Ok(held.expand())
    }

    /// States every move of a schedule that need not hold.
    pub fn expand_stated(&self, stated: AnySolution, each: u64) -> Result<Solution, Failure> {
        TooLarge::check(&stated.schedule, self.limits.expanded(), each).map_err(|error| self.too_large(&error))?;
        Ok(stated.map(AnySchedule::into_expanded))
    }

    /// The name of the file, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The job, not judged.
    pub fn job(&self) -> Result<Job, Failure> {
        json::parse_job_within(&self.text, &self.limits).map_err(|error| self.unreadable(&error))
    }

    /// The job, judged; `used` says what is done with it if it holds.
    pub fn judged_job(&self, used: &str) -> Result<VerifiedJob, Failure> {
        let options = Options { memory: self.room(), ..Options::default() };
        VerifiedJob::of_job(self.job()?, &options).map_err(|rejected| {
            let (name, RejectedJob { job, report }) = (self.name(), &*rejected);
            if let Some(why) = report.why_not_judged() {
                return Failure::usage(format!("{name}: {why}"));
            }
            let found = JudgedJob { name: &name, text: &self.text, job, report }.to_text();
            Failure::new(Ending::Refuted, format!("the job does not hold and is not {used}\n{}", found.trim_end()))
        })
    }

    /// The schedules of the job, judged; what is done with them takes `each` bytes for every move.
    pub fn judged_schedules(&self, used: &str, each: u64) -> Result<Vec<Verified<Solution>>, Failure> {
        let schedules = self.judged_job(used)?.into_schedules();
        let moves: usize = schedules.iter().map(|one| one.schedule.move_count()).sum();
        let (needed, most) = ((moves as u64 * each) >> 20, self.made() >> 20);
        match needed > most {
            true => Err(Failure::usage(format!(
                "the job has {moves} moves: to be {used} it takes about {needed} MiB; at most {most} MiB are taken"
            ))),
            false => Ok(schedules),
        }
    }

    /// The rank program, not judged.
    pub fn program(&self) -> Result<Program, Failure> {
        json::parse_program_within(&self.text, &self.limits).map_err(|error| self.unreadable(&error))
    }

    /// The rank program, judged; `used` says what is done with it if it holds.
    pub fn audited(&self, used: &str) -> Result<AuditedProgram, Failure> {
        let options = audit::AuditOptions { memory: self.room(), ..audit::AuditOptions::default() };
        AuditedProgram::new(self.program()?, &options).map_err(|refuted| {
            let name = self.name();
            if let Some(why) = refuted.report.why_not_judged() {
                return Failure::usage(format!("{name}: {why}"));
            }
            let (program, report) = (&refuted.program, &refuted.report);
            let found = Audited { name: &name, source: Source::Program(&self.text), program, report }.to_text();
            Failure::new(Ending::Refuted, format!("the program does not hold and is not {used}\n{found}"))
        })
    }

    /// Refuses a rank program or a job where a schedule is wanted; what is wrong with it itself comes first.
    fn check_schedule(&self) -> Result<(), Failure> {
        let name = self.name();
        match self.what() {
            What::Schedule => Ok(()),
            What::Program => self.program().and_then(|_| {
                Err(Failure::usage(format!("{name} is a rank program, not a schedule"))
                    .hint(format!("`synth verify {name}`, `synth show {name}` and `synth run {name}` take programs")))
            }),
            What::Job => self.job().and_then(|_| {
                Err(Failure::usage(format!("{name} is a job, schedules that run together, not a schedule"))
                    .hint(format!("`synth convert {name} --schedule 0 -o FILE` takes the first of them out")))
            }),
        }
    }

    fn too_large(&self, error: &TooLarge) -> Failure {
        let name = self.name();
        Failure::usage(error).hint(format!(
            "`synth show {name}`, `synth convert {name} --to csv` and, for one rank, `synth lower {name} --rank 0` read \
             it as it is"
        ))
    }

    fn unreadable(&self, error: &ParseError) -> Failure {
        if let Some(what) = foreign(&self.text) {
            return Failure::usage(format!("{}: {what}", self.path.display()));
        }
        let place = format!("{}:{}:{}", self.path.display(), error.line, error.column);
        Failure::usage(format!("{place}: {}: {}", error.code, error.message))
            .hint(format!("`synth explain {}` says more", error.code))
    }
}

/// Judges a schedule within this memory; `used` says what is done with it if it holds.
pub fn verified<S: Stated>(solution: Solution<S>, used: &str, memory: u64) -> Result<Verified<Solution<S>>, Failure> {
    let options = Options { memory, ..Options::default() };
    Verified::new(solution, &options).map_err(|rejected| refused(*rejected, used))
}

/// Why a schedule that does not hold, or was not judged, is not used.
fn refused<S>(rejected: Rejected<S>, used: &str) -> Failure {
    if let Some(why) = rejected.report.why_not_judged() {
        return Failure::usage(format!("the schedule is {why}"));
    }
    let found = findings(&rejected.report, |_| None);
    Failure::new(Ending::Refuted, format!("the schedule does not hold and is not {used}\n{found}"))
}
