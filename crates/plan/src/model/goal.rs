//! What the caller asks for.

use crate::model::cost::Price;
use crate::model::planner::Planner;

/// The number of parts a message is cut in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// A stated number.
    Fixed(u32),
    /// Whole messages, but in groups where these are not within 5 % of the volume bound, the fewest parts that are, if
    /// they are found; of vectors that all ranks share (all_reduce, broadcast, reduce), the fewest parts, found by
    /// doubling, with which a planner comes within 5 % of the volume bound, but at most 1024 (of an all_reduce 1536);
    /// of an all_reduce first the parts of [`Parts::Auto`]. Among schedules as close as that, the one with the fewest
    /// steps. Where steps are stated, the first such number of parts. Whole vectors too where a planner is stated;
    /// with a price, the same as [`Parts::Auto`].
    Enough,
    /// The fewest at which whole chunks can meet the volume bound; if those are too many, the number that comes closest
    /// to it. Vectors that all ranks share are cut in up to 1024 parts (of an all_reduce 1536), and in twice as many
    /// while that closes a gap of over 0.5 %: trees and pipelines begin and end with idle links, whatever their number.
    /// If time has a price, several numbers are planned and the fastest schedule wins.
    Auto,
}

/// Requirements on a schedule and on the search for it.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// The planner; `None`: the one that does best.
    pub planner: Option<&'a dyn Planner>,
    /// The planners to choose among; `None`: those of the registry.
    pub among: Option<&'a [&'a dyn Planner]>,
    /// Parts per message.
    pub parts: Parts,
    /// Exactly this many steps.
    pub steps: Option<u32>,
    /// At most this many steps.
    pub max_steps: Option<u32>,
    /// Prices of time; `None`: the least volume, then the fewest steps.
    pub price: Option<Price>,
    /// Same goal and seed, same schedule.
    pub seed: u64,
}

impl Default for Goal<'_> {
    /// Enough parts, any planner, the least volume in the fewest steps that reach it.
    fn default() -> Self {
        Self { planner: None, among: None, parts: Parts::Enough, steps: None, max_steps: None, price: None, seed: 0 }
    }
}

impl Goal<'_> {
    /// May a planner of this name be used?
    pub fn may_use(&self, name: &str) -> bool {
        self.among.is_none_or(|planners| planners.iter().any(|planner| planner.name() == name))
    }
}
