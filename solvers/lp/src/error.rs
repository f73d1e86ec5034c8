//! Why a linear program has no answer.

use thiserror::Error;

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LpError {
    /// The network, the demand or a symmetry does not fit together.
    #[error("{0}")]
    Input(String),
    /// The constraints contradict each other: the demand cannot be routed (in this number of steps).
    #[error("the demand cannot be routed")]
    Infeasible,
    /// The time limit came first.
    #[error("the time limit came before the solution")]
    TimeLimit,
    /// It was interrupted.
    #[error("interrupted before the solution")]
    Interrupted,
    /// There is no solver to ask.
    #[error("this build has no solver of linear programs: the cargo feature `lp` adds one")]
    NoSolver,
    /// The solver gave up, or is not sure of its answer.
    #[error("the solver stopped without a solution: {0}")]
    Solver(String),
}
