//! Why there is no schedule.

use thiserror::Error;

use super::StopReason;
use crate::problem::{Disconnected, ProblemError};

/// Why a planner gives no schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
pub enum PlanError {
    #[error("no planner is called `{name}`; there are {}", known.join(", "))]
    UnknownPlanner { name: String, known: Vec<&'static str> },
    #[error("planner `{planner}` does not apply: {reason}")]
    NotApplicable { planner: &'static str, reason: String },
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Disconnected(#[from] Disconnected),
    #[error("{wanted} steps are impossible: rank {to} needs data of rank {from}, {distance} hops away")]
    TooFewSteps { wanted: u32, distance: u32, from: String, to: String },
    #[error("planner `{planner}` found no schedule within {limit}")]
    NotFound { planner: &'static str, limit: String },
    #[error("stopped ({stopped:?}) before there was a schedule")]
    Stopped { stopped: StopReason },
}
