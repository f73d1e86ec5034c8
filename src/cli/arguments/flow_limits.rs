//! Limits of linear programs.

use std::time::Duration;

use collsynth::bound::{FlowError, FlowLimit, LpError};
use collsynth::plan::Control;
use collsynth::problem::Problem;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::clock::control;

/// What the linear programs may cost: each the same size, all together the time, until Ctrl-C.
pub struct Limits {
    variables: usize,
    control: Control,
}

impl Limits {
    /// Listens for Ctrl-C from now on.
    pub fn new(variables: usize, time: Option<Duration>) -> Result<Self, Failure> {
        Ok(Self { variables, control: control(time)? })
    }

    /// The limit of a program.
    pub fn flow(&self) -> FlowLimit {
        FlowLimit { variables: self.variables, solver: self.control.limit() }
    }

    /// The limit of a plan.
    pub fn control(&self) -> Control {
        self.control.clone()
    }
}

/// Did the time limit or Ctrl-C come first?
pub fn is_stopped(error: &FlowError) -> bool {
    matches!(error, FlowError::Solver(LpError::TimeLimit | LpError::Interrupted))
}

/// There is no flow bound, which this option asked for: the error, with its remedy.
pub fn of_flow(error: &FlowError, problem: &Problem, option: &str) -> Failure {
    match error {
        FlowError::Disconnected(disconnected) => Failure::of_disconnected(disconnected, problem.topology()),
        FlowError::Solver(LpError::TimeLimit) => {
            Failure::new(Ending::Stopped, error).hint("allow more time with --time-limit")
        }
        FlowError::Solver(LpError::Interrupted) => Failure::new(Ending::Stopped, error),
        FlowError::TooLarge { .. } => {
            Failure::usage(error).hint(format!("leave {option} out: cuts bound machines of any size"))
        }
        FlowError::WrongKind(_) | FlowError::NoVolume | FlowError::Solver(_) => {
            Failure::usage(error).hint(format!("leave {option} out: the other bounds need no solver"))
        }
    }
}
