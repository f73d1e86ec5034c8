//! A verified schedule in the form in which it was planned or read; every move of it on demand.

use std::sync::{Arc, OnceLock};

use collsynth::certificate::Bounds;
use collsynth::cli::{self, Ending, Failure};
use collsynth::form::{Form, Formed, expanded, formed};
use collsynth::format::json;
use collsynth::problem::Problem;
use collsynth::report::verdict::findings;
use collsynth::schedule::{CompactSchedule, Solution};
use collsynth::verify::{Options, Verified};

/// A verified schedule.
pub enum Held {
    /// Every move.
    Explicit(Arc<Verified<Solution>>),
    /// A pattern and exceptions; and every move, once somebody asked.
    Compact(Box<Verified<Solution<CompactSchedule>>>, OnceLock<Arc<Verified<Solution>>>),
}

impl From<Formed> for Held {
    fn from(formed: Formed) -> Self {
        match formed {
            Formed::Explicit(verified) => Self::Explicit(Arc::new(*verified)),
            Formed::Compact(verified) => Self::Compact(verified, OnceLock::new()),
        }
    }
}

impl Held {
    pub fn form(&self) -> Form {
        match self {
            Self::Explicit(_) => Form::Explicit,
            Self::Compact(..) => Form::Compact,
        }
    }

    /// Is every move at hand?
    pub fn is_expanded(&self) -> bool {
        match self {
            Self::Explicit(_) => true,
            Self::Compact(_, every_move) => every_move.get().is_some(),
        }
    }

    pub fn problem(&self) -> &Problem {
        match self {
            Self::Explicit(verified) => &verified.problem,
            Self::Compact(verified, _) => &verified.problem,
        }
    }

    pub fn bounds(&self) -> &Bounds {
        match self {
            Self::Explicit(verified) => &verified.bounds,
            Self::Compact(verified, _) => &verified.bounds,
        }
    }

    /// The width of each step.
    pub fn widths(&self) -> Vec<u32> {
        match self {
            Self::Explicit(verified) => verified.schedule.widths().collect(),
            Self::Compact(verified, _) => verified.schedule.pattern().widths().collect(),
        }
    }

    /// The file that the command writes.
    pub fn to_json(&self) -> String {
        match self {
            Self::Explicit(verified) => json::solution_to_string(verified),
            Self::Compact(verified, _) => json::compact_to_string(verified),
        }
    }

    /// Every move, judged again the first time: within the memory that the judge grants schedules that it expands.
    pub fn explicit(&self) -> Result<&Arc<Verified<Solution>>, Failure> {
        let (compact, every_move) = match self {
            Self::Explicit(verified) => return Ok(verified),
            Self::Compact(compact, every_move) => (compact, every_move),
        };
        if let Some(verified) = every_move.get() {
            return Ok(verified);
        }
        let whole = expanded(compact, cli::limits()?.expanded()).map_err(Failure::usage)?;
        let verified = Verified::<Solution>::new(whole, &Options::default()).map_err(|rejected| {
            let found = findings(&rejected.report, |_| None);
            Failure::new(Ending::Refuted, format!("internal error: the expanded schedule is wrong\n{found}"))
        })?;
        Ok(every_move.get_or_init(|| Arc::new(verified)))
    }

    /// The same with a pattern and exceptions, as short as one is found.
    pub fn compact(&self) -> Result<Self, Failure> {
        let explicit = self.explicit()?;
        formed((**explicit).clone(), Some(Form::Compact)).map(Self::from).map_err(Failure::usage)
    }
}
