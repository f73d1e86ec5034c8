//! A verified schedule in the form in which it was planned or read; every move of it on demand.

use std::sync::OnceLock;

use collsynth::cli::{self, Ending, Failure};
use collsynth::form::{Form, formed};
use collsynth::format::json::TooLarge;
use collsynth::report::verdict::findings;
use collsynth::schedule::{AnySolution, Schedule, Stated, View};
use collsynth::verify::{Options, Verified};

/// A verified schedule.
pub struct Held {
    pub verified: Verified<AnySolution>,
    /// Every move of a pattern, once somebody asked.
    every_move: OnceLock<Schedule>,
}

impl From<Verified<AnySolution>> for Held {
    fn from(verified: Verified<AnySolution>) -> Self {
        Self { verified, every_move: OnceLock::new() }
    }
}

impl Held {
    pub fn form(&self) -> Form {
        if self.verified.schedule.is_explicit() { Form::Explicit } else { Form::Compact }
    }

    /// Is every move at hand?
    pub fn is_expanded(&self) -> bool {
        self.verified.schedule.is_explicit() || self.every_move.get().is_some()
    }

    /// Every move.
    pub fn schedule(&self) -> Result<&Schedule, Failure> {
        match self.verified.schedule.view() {
            View::Explicit(schedule) => Ok(schedule),
            View::Compact(schedule) => {
                self.check_size()?;
                Ok(self.every_move.get_or_init(|| schedule.expand()))
            }
        }
    }

    /// The same with every move stated, judged again for what only a run of every move shows.
    pub fn expanded(&self) -> Result<Self, Failure> {
        self.check_size()?;
        let explicit = self.verified.clone().expand().into_any().into_inner();
        let verified = Verified::new(explicit, &Options::default()).map_err(|rejected| {
            let found = findings(&rejected.report, |_| None);
            Failure::new(Ending::Refuted, format!("internal error: the expanded schedule is wrong\n{found}"))
        })?;
        Ok(verified.into())
    }

    /// The same with a pattern and exceptions, as short as one is found.
    pub fn compact(&self) -> Result<Self, Failure> {
        self.check_size()?;
        formed(self.verified.clone().expand(), Some(Form::Compact)).map(Self::from).map_err(Failure::usage)
    }

    /// Refuses to state every move where that takes more memory than the judge grants schedules that it expands.
    fn check_size(&self) -> Result<(), Failure> {
        TooLarge::check(&self.verified.schedule, cli::limits()?.expanded(), 0).map_err(Failure::usage)
    }
}
