//! What a planner says besides its schedule: why it stopped, the phases of its algorithm, what it refuted.

use std::fmt;

use crate::model::phase::Phase;

/// Why a planner stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It ran to its end.
    Finished,
    /// The time limit came first.
    TimeLimit,
    /// It was interrupted.
    Interrupted,
}

impl StopReason {
    /// The reason as JSON answers state it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::TimeLimit => "time limit",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What a planner reports besides its schedule, for people: no claim of a schedule file rests on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Account {
    /// Nothing.
    #[default]
    None,
    /// The phases of its algorithm, in order; together they cover all steps.
    Phases(Vec<Phase>),
    /// The course of an exhaustive search.
    Search {
        /// The refuted pairs.
        refuted: Vec<Refutation>,
        /// Do refutations and bounds together prove that nothing better exists with these parts?
        proven: bool,
    },
}

/// A pair that no schedule reaches: at most these steps and at most this total width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// The number of steps.
    pub steps: u32,
    /// The total width.
    pub width: u32,
    /// The size of the unsatisfiable formula: variables and clauses.
    pub formula: (u32, usize),
}

impl Account {
    /// The phases of the algorithm, if it has any.
    pub fn phases(&self) -> &[Phase] {
        if let Self::Phases(phases) = self { phases } else { &[] }
    }

    /// The refuted pairs, if there was a search.
    pub fn refuted(&self) -> &[Refutation] {
        if let Self::Search { refuted, .. } = self { refuted } else { &[] }
    }

    /// Did a search prove that nothing better exists with these parts?
    pub fn is_proven(&self) -> bool {
        matches!(self, Self::Search { proven: true, .. })
    }
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.steps == 1 { "" } else { "s" };
        write!(f, "{} step{plural} of total width {}", self.steps, self.width)
    }
}
