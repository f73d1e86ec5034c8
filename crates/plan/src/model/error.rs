//! Why there is no schedule.

use thiserror::Error;

use crate::model::account::{Refutation, StopReason};
use collsynth_core::problem::{Disconnected, ProblemError};
use collsynth_core::topology::RankId;

/// Why a planner gives no schedule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum PlanError {
    #[error("no planner is called `{name}`; there are {}", known.join(", "))]
    UnknownPlanner { name: String, known: Vec<&'static str> },
    #[error("planner `{planner}` does not apply: {reason}")]
    NotApplicable { planner: &'static str, reason: String },
    #[error("no planner applies:{}", listed(refusals))]
    NobodyApplies { refusals: Vec<PlanError> },
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Disconnected(#[from] Disconnected),
    #[error("{} impossible: rank {to} needs data of rank {from}, {distance} hops away", counted(*wanted))]
    TooFewSteps { wanted: u32, distance: u32, from: RankId, to: RankId },
    #[error("{steps} steps are more than the {most} allowed at most")]
    Contradiction { steps: u32, most: u32 },
    #[error("planner `{planner}` found no schedule within {limit}")]
    NotFound { planner: &'static str, limit: String },
    #[error("no planner found a schedule:{}", listed(failures))]
    NobodyFound { failures: Vec<PlanError> },
    #[error("stopped ({stopped:?}) before there was a schedule")]
    Stopped { stopped: StopReason },
    #[error("total width {width} is impossible: {why}")]
    TooNarrow { width: u32, why: String },
    #[error("there is no schedule{limits}: {by} refutes {}", questions(refuted))]
    Refuted { limits: String, by: &'static str, refuted: Vec<Refutation> },
    #[error("unknown whether there is a schedule{limits}: stopped ({}){}", stopped.name(), but(refuted))]
    Undecided { limits: String, refuted: Vec<Refutation>, stopped: StopReason },
}

impl PlanError {
    /// What is worth looking for takes less time than the best plan, and that was not found.
    pub(crate) fn takes_too_long(planner: &'static str) -> Self {
        Self::NotFound { planner, limit: "less time than the best plan takes".to_owned() }
    }

    /// The error when every planner failed: what those that apply were looking for, their first failure of another
    /// kind, or all refusals.
    pub(crate) fn of_all(failures: Vec<Self>) -> Self {
        let refused = |error: &&Self| matches!(error, Self::NotApplicable { .. });
        let each = |error: Self| match error {
            // In several ways.
            Self::NobodyFound { failures } => failures,
            error => vec![error],
        };
        let failures: Vec<Self> = failures.into_iter().flat_map(each).collect();
        // In several numbers of parts, a planner may fail alike.
        let mut tried: Vec<Self> = Vec::new();
        for error in failures.iter().filter(|error| !refused(error)) {
            if !tried.contains(error) {
                tried.push(error.clone());
            }
        }
        if tried.len() > 1 && tried.iter().all(|error| matches!(error, Self::NotFound { .. })) {
            return Self::NobodyFound { failures: tried };
        }
        match failures.iter().find(|error| !refused(error)) {
            Some(first) => first.clone(),
            None if failures.len() == 1 => failures[0].clone(),
            None => Self::NobodyApplies { refusals: failures },
        }
    }
}

fn listed(refusals: &[PlanError]) -> String {
    refusals.iter().map(|refusal| format!("\n  {refusal}")).collect()
}

fn questions(refuted: &[Refutation]) -> String {
    let words: Vec<String> = refuted.iter().map(Refutation::to_string).collect();
    if words.is_empty() { "all that the bounds allow".to_owned() } else { words.join(", ") }
}

fn but(refuted: &[Refutation]) -> String {
    if refuted.is_empty() { String::new() } else { format!("; refuted: {}", questions(refuted)) }
}

fn counted(steps: u32) -> String {
    if steps == 1 { "1 step is".to_owned() } else { format!("{steps} steps are") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(planner: &'static str) -> PlanError {
        PlanError::NotApplicable { planner, reason: "so".to_owned() }
    }

    #[test]
    fn a_failure_says_more_than_a_refusal() {
        let stopped = PlanError::Stopped { stopped: StopReason::TimeLimit };
        assert_eq!(PlanError::of_all(vec![refusal("a"), stopped.clone(), refusal("b")]), stopped);
        assert_eq!(PlanError::of_all(vec![refusal("a")]), refusal("a"));
        let limit = |limit: &str| PlanError::NotFound { planner: "a", limit: limit.to_owned() };
        let ways = PlanError::of_all(vec![limit("one"), limit("two")]);
        let all = PlanError::NobodyFound { failures: vec![limit("one"), limit("two"), limit("three")] };
        assert_eq!(PlanError::of_all(vec![refusal("b"), ways, limit("three")]), all);
        let nobody = PlanError::of_all(vec![refusal("a"), refusal("b")]).to_string();
        assert_eq!(nobody, "no planner applies:\n  planner `a` does not apply: so\n  planner `b` does not apply: so");
    }
}
