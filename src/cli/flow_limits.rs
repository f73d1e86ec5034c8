//! Limits of linear programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use collsynth::bound::{FlowError, FlowLimit, Limit, LpError};
use collsynth::plan::Control;
use collsynth::problem::Problem;

use super::progress::{interrupt_flag, within};
use super::{Ending, Failure};

/// What each linear program may cost: the same size and time, until Ctrl-C.
pub struct Limits {
    variables: usize,
    time: Option<Duration>,
    interrupted: Arc<AtomicBool>,
}

impl Limits {
    /// Listens for Ctrl-C from now on.
    pub fn new(variables: usize, time: Option<Duration>) -> Result<Self, Failure> {
        Ok(Self { variables, time, interrupted: interrupt_flag()? })
    }

    /// The limit of a program solved now.
    pub fn next(&self) -> FlowLimit {
        let flag = Arc::clone(&self.interrupted);
        let solver = Limit::NONE.unless(move || flag.load(Ordering::Relaxed));
        FlowLimit { variables: self.variables, solver: self.time.map_or(solver.clone(), |time| solver.within(time)) }
    }

    /// The limit of a plan searched for now.
    pub fn control(&self) -> Control {
        within(Control::unlimited().with_interrupt(Arc::clone(&self.interrupted)), self.time)
    }
}

/// Did the time limit or Ctrl-C come first?
pub fn is_stopped(error: &FlowError) -> bool {
    matches!(error, FlowError::Solver(LpError::TimeLimit | LpError::Interrupted))
}

/// There is no flow bound: the error, with its remedy.
pub fn of_flow(error: &FlowError, problem: &Problem) -> Failure {
    match error {
        FlowError::Disconnected(disconnected) => Failure::of_disconnected(disconnected, problem.topology()),
        FlowError::Solver(LpError::TimeLimit) => {
            Failure::new(Ending::Stopped, error).hint("allow more time with --time-limit")
        }
        FlowError::Solver(LpError::Interrupted) => Failure::new(Ending::Stopped, error),
        FlowError::TooLarge { .. } => Failure::usage(error).hint("without it, cuts bound machines of any size"),
        FlowError::WrongKind(_) | FlowError::NoVolume | FlowError::Solver(_) => {
            Failure::usage(error).hint("without it, the other bounds need no solver")
        }
    }
}
