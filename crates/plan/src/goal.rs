//! What is asked of a schedule.

use super::Planner;
use crate::cost::Price;

/// The number of parts a message is cut in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// This many.
    Fixed(u32),
    /// The fewest at which whole chunks can meet the volume bound, as far as that stays small; else in those that
    /// come nearest. An all_reduce is cut finer, up to four parts a rank: where something failed, its trees come near
    /// the bound only then. Where time has a price, several numbers of parts are planned, and the schedule of least
    /// time is taken.
    Auto,
}

/// What is asked of a schedule, and of the search for it.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// The planner; `None`: whichever does best.
    pub planner: Option<&'a dyn Planner>,
    /// Parts per message.
    pub parts: Parts,
    /// Exactly this many steps.
    pub steps: Option<u32>,
    /// At most this many steps.
    pub max_steps: Option<u32>,
    /// What time costs; `None`: the least volume, then the fewest steps.
    pub price: Option<Price>,
    /// Same goal and seed, same schedule.
    pub seed: u64,
}

impl Default for Goal<'_> {
    /// Whole messages, any planner, the least volume in the fewest steps that reach it.
    fn default() -> Self {
        Self { planner: None, parts: Parts::Fixed(1), steps: None, max_steps: None, price: None, seed: 0 }
    }
}
