//! How a command ends: exit codes and errors.

use std::fmt;

use collsynth::format::file::FileError;
use collsynth::plan::PlanError;
use collsynth::problem::{Disconnected, ProblemError};
use collsynth::report::figures::count;
use collsynth::report::machine::describe_components;
use collsynth::topology::{RankId, Topology};

/// The most ranks named in a hint.
const MOST_NAMED: usize = 32;

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Done; for verdicts: everything holds.
    Success = 0,
    /// A schedule was refuted.
    Refuted = 1,
    /// Wrong usage, or a file that cannot be read or written.
    Usage = 2,
    /// No such schedule can exist.
    Impossible = 3,
    /// The time limit or Ctrl-C came before the proven optimum.
    Stopped = 4,
}

/// Why a command failed, and its exit code.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub ending: Ending,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// A failure with a message: one or more complete sentences, without a final line break.
    pub fn new(ending: Ending, message: impl fmt::Display) -> Self {
        Self { ending, message: message.to_string(), hint: None }
    }

    /// Wrong usage.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Ending::Usage, message)
    }

    /// Adds the remedy.
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// What is wrong, without the remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The remedy, where one is known.
    pub fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Planning failed.
    pub fn of_plan(error: &PlanError, topology: &Topology) -> Self {
        match error {
            PlanError::UnknownPlanner { .. } => Self::usage(error),
            // A job says itself what to do; it takes no planner.
            PlanError::NotApplicable { planner: "job", .. } => Self::usage(error),
            PlanError::NotApplicable { .. } => {
                Self::usage(error).hint("leave --planner out: `auto` chooses one that applies")
            }
            PlanError::NobodyApplies { .. } => Self::usage(error)
                .hint("`synth verify FILE` judges such schedules, and `synth bound ...` says what they cannot beat"),
            PlanError::Problem(error) => Self::from(error.clone()),
            PlanError::Disconnected(disconnected) => Self::of_disconnected(disconnected, topology),
            PlanError::TooFewSteps { wanted, distance, from, to } => {
                let [from, to] = [from, to].map(|&rank| topology.rank_label(rank));
                let steps = count(*wanted as usize, "step");
                let are = if *wanted == 1 { "is" } else { "are" };
                Self::new(
                    Ending::Impossible,
                    format!("{steps} {are} impossible: rank {to} needs data of rank {from}, {distance} hops away"),
                )
            }
            PlanError::TooNarrow { .. } | PlanError::Refuted { .. } => Self::new(Ending::Impossible, error),
            PlanError::Undecided { .. } => {
                Self::new(Ending::Stopped, error).hint("allow more time with --time-limit, more steps or more width")
            }
            PlanError::NotFound { .. } | PlanError::NobodyFound { .. } => {
                Self::new(Ending::Stopped, error).hint("allow more steps, more time, or another number of --parts")
            }
            PlanError::Stopped { .. } => {
                Self::new(Ending::Stopped, "stopped before there was a schedule; nothing is written")
                    .hint("allow more time with --time-limit")
            }
            other => Self::usage(other),
        }
    }

    /// The live network is not connected; names the parts it falls into.
    pub fn of_disconnected(disconnected: &Disconnected, topology: &Topology) -> Self {
        let (from, to) = (topology.rank_label(disconnected.from), topology.rank_label(disconnected.to));
        if disconnected.components.len() < 2 {
            let why = "no path of live links stays in the group, and others may not relay";
            return Self::new(Ending::Impossible, format!("rank {from} cannot reach rank {to}: {why}"))
                .hint("leave --relays out: others then relay what a group cannot carry alone");
        }
        let parts = describe_components(topology, &disconnected.components);
        Self::new(
            Ending::Impossible,
            format!("rank {from} cannot reach rank {to}: the live network is not connected.\n{parts}"),
        )
        .hint(outside(&disconnected.components))
    }
}

/// How to go on with the largest of these components.
fn outside(components: &[Vec<RankId>]) -> String {
    let largest = components.iter().map(Vec::len).max().unwrap_or(0);
    let kept = components.iter().position(|ranks| ranks.len() == largest);
    let others = components.iter().enumerate().filter(|(index, _)| Some(*index) != kept);
    let mut ranks: Vec<RankId> = others.flat_map(|(_, ranks)| ranks.iter().copied()).collect();
    ranks.sort_unstable();
    match ranks.len() > MOST_NAMED {
        true => "take the ranks that cannot take part out of the collective with --fail-rank".to_owned(),
        false => {
            let names: Vec<String> = ranks.iter().map(RankId::to_string).collect();
            format!("--fail-rank {} takes all but the largest part out of the collective", names.join(","))
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let path = if let FileError::Write { path, .. } = &error { Some(path) } else { None };
        // Of many files in it, the first is not what is wrong.
        if let Some(file) = path.and_then(|path| path.ancestors().skip(1).find(|above| above.is_file())) {
            return Self::usage(format!("cannot write in {}: it is a file, not a folder", file.display()));
        }
        let parent = path.and_then(|path| path.parent()).filter(|parent| !parent.as_os_str().is_empty());
        match parent.filter(|parent| !parent.exists()) {
            Some(parent) => Self::usage(&error).hint(format!("`mkdir -p {}` makes the folder", parent.display())),
            None => Self::usage(error),
        }
    }
}

impl From<ProblemError> for Failure {
    fn from(error: ProblemError) -> Self {
        let failure = Self::usage(&error);
        match error {
            ProblemError::RootFailed { .. } => failure.hint("state another with --root"),
            _ => failure,
        }
    }
}
