//! `synth --job FILE`: several collectives at once.

use std::path::Path;
use std::time::Instant;

use collsynth::plan::{Control, JobGoal, Parts, StopReason, least_job_width};
use collsynth::problem::Problem;
use collsynth::report::{figures, job as report};
use collsynth::schedule::Origin;
use collsynth::topology::Topology;
use collsynth::verify::{Options, RejectedJob, VerifiedJob};
use collsynth::{JobRequest, JobRequestError, Size};

use crate::cli::arguments::job::collectives;
use crate::cli::arguments::size;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock;
use crate::cli::io::console::note;
use crate::cli::io::output;
use crate::cli::io::output::Format;
use crate::cli::io::progress::Ticker;
use crate::cli::options::Given;

/// What is stated for the planning of a job.
pub struct JobFile<'a> {
    pub file: &'a Path,
    pub topology: &'a Topology,
    pub parts: Parts,
    pub goal: JobGoal,
    pub output: Option<&'a Path>,
    pub format: Format,
    pub quiet: bool,
    pub command: String,
}

impl JobFile<'_> {
    pub fn run(&self, control: Control, ticker: Ticker, given: &Given) -> Result<Ending, Failure> {
        let started = Instant::now();
        let mut request = JobRequest::new(self.topology).parts(self.parts).goal(self.goal).control(control);
        for (kind, size) in collectives(self.file, self.topology)? {
            request = request.collective(kind, size);
        }
        let problems = request.problems().map_err(|error| refused(&error, self.file, self.topology))?;
        for problem in &problems {
            size::check_chunks(self.topology, &problem.collective().kind, problem.parts())?;
        }
        given.kinds(&problems.iter().map(|problem| problem.collective().kind.clone()).collect::<Vec<_>>())?;
        self.note_rounded(&request, &problems);
        let planned = request.run();
        clock::found();
        let planned = planned.map_err(|error| refused(&error, self.file, self.topology))?;
        let (stopped, mut job) = (planned.stopped, planned.into_inner());
        let planning = started.elapsed();
        ticker.say("verifying");
        job.origin = Some(Origin {
            planner: Some("job".to_owned()),
            command: Some(self.command.clone()),
            seed: Some(self.goal.seed),
            ..output::origin(None, None, None)
        });
        let job = VerifiedJob::of_job(job, &Options::default()).map_err(|rejected| wrong(&rejected))?;
        ticker.finish();
        output::deliver_file(self.output, &job.to_json(), "job")?;
        if !self.quiet {
            let seconds = (planning.as_secs_f64(), (started.elapsed() - planning).as_secs_f64());
            match self.format {
                Format::Text => {
                    note(report::headline(&job).as_str());
                    note(report::figures(&job).trim_end());
                    note(&format!("  planned in {:.2} s, verified in {:.2} s", seconds.0, seconds.1));
                }
                Format::Json => {
                    let mut figures = report::figures_to_json(&job, true);
                    figures["planning_seconds"] = seconds.0.into();
                    figures["verifying_seconds"] = seconds.1.into();
                    note(&figures.to_string());
                }
            }
        }
        let proven = job.total_width() == u64::from(least_job_width(&job));
        Ok(if stopped == StopReason::Finished || proven { Ending::Success } else { Ending::Stopped })
    }

    /// Says which messages do not divide into chunks.
    fn note_rounded(&self, request: &JobRequest<'_>, problems: &[Problem]) {
        let Some(chunk) = request.chunk_bytes().filter(|_| !self.quiet && self.format == Format::Text) else { return };
        for (index, (problem, (_, size))) in problems.iter().zip(request.collectives()).enumerate() {
            let parts = problem.parts();
            if let Size::Bytes(bytes) = *size
                && u64::from(parts) * chunk != bytes
            {
                let chunks = figures::count(parts as usize, "chunk");
                note(&format!("note: collective {index}: {bytes} bytes are rounded up to {chunks} of {chunk}"));
            }
        }
    }
}

/// A job that is not planned.
pub fn refused(error: &JobRequestError, file: &Path, topology: &Topology) -> Failure {
    match error {
        JobRequestError::Plan(error) => Failure::of_plan(error, topology),
        JobRequestError::PartsTwice => {
            Failure::usage("--parts cuts the smallest message of a job, but this job states parts itself")
                .hint("state bytes in the job, or leave --parts out")
        }
        error => Failure::usage(format!("{}: {error}", file.display())),
    }
}

/// A planner's bug ends here, and nothing is written.
pub fn wrong(RejectedJob { job, report }: &RejectedJob) -> Failure {
    let judged = report::JudgedJob { name: "the job", text: "", job, report };
    let message = format!("internal error: the schedule of a job is wrong; nothing is written\n{}", judged.to_text());
    Failure::new(Ending::Refuted, message).hint("please report this with the command line")
}
