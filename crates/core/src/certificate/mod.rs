//! Lower bounds with evidence that anyone can check, exactly and without a solver.
//!
//! A bound is a claim: "no schedule for this problem has fewer steps (or less volume) than this". Its evidence is a
//! pair of ranks, a set of ranks, or integer weights of links. Finding good evidence is the business of `bound`;
//! believing it needs this module alone.
//!
//! Volumes are in messages (shards, vectors) per link of capacity 1: the sum of the widths over the parts.

mod check;
mod error;
mod over_time;
mod search;
mod stepped;

pub use check::{check_joint, check_steps, check_volume, value};
pub use error::CertificateError;
pub use stepped::stepped_value;

use num_rational::Ratio;

use crate::topology::RankId;

/// An exact number.
pub type Rational = Ratio<i128>;

/// The bounds claimed for a problem; any may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bounds {
    /// At least this many steps.
    pub steps: Option<StepsBound>,
    /// At least this much volume.
    pub volume: Option<VolumeBound>,
    /// At least so much volume in so few steps.
    pub joint: Vec<JointBound>,
}

impl Bounds {
    /// The least number of steps the bounds allow; 0 if none is claimed.
    pub fn least_steps(&self) -> u32 {
        self.steps.as_ref().map_or(0, |bound| bound.at_least)
    }

    /// The least sum of widths the bounds allow when a message has `parts` parts: the volume in whole chunks, rounded
    /// up, and at least 1 for every step.
    pub fn least_width(&self, parts: u32) -> u32 {
        let width = self.volume.as_ref().map_or(0, |bound| whole_width(bound.at_least, parts));
        width.max(self.least_steps())
    }

    /// The least sum of widths the bounds allow schedules of so many steps or fewer, when a message has `parts` parts.
    pub fn least_width_in(&self, steps: u32, parts: u32) -> u32 {
        let joint = self.joint.iter().filter(|bound| bound.steps >= steps).map(|bound| bound.least_width(parts));
        joint.fold(self.least_width(parts), u32::max)
    }
}

/// No schedule has fewer steps than `at_least`, because rank `to` needs data of rank `from`, so many hops away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepsBound {
    /// The number of steps claimed.
    pub at_least: u32,
    /// A rank that has data.
    pub from: RankId,
    /// A rank that needs it.
    pub to: RankId,
}

/// No schedule has less volume than `at_least`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeBound {
    /// The volume claimed, in messages.
    pub at_least: Rational,
    /// Why.
    pub evidence: Evidence,
}

impl VolumeBound {
    /// Does it hold in however many parts messages are cut?
    pub fn is_for_any_parts(&self) -> bool {
        !matches!(self.evidence, Evidence::MetricOverTime { .. })
    }
}

/// No schedule of `steps` steps, or fewer, has less volume than `at_least`: a bound on steps and volume jointly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointBound {
    /// The number of steps.
    pub steps: u32,
    /// The volume claimed, in messages.
    pub at_least: Rational,
    /// Why: weights of links in the steps `first..=last` of each window, counted from 1; they add up. See
    /// [`stepped_value`].
    pub weights: Vec<Window>,
}

impl JointBound {
    /// The least sum of widths in so many steps when a message has `parts` parts.
    pub fn least_width(&self, parts: u32) -> u32 {
        whole_width(self.at_least, parts)
    }
}

/// A volume in messages as a sum of widths, rounded up, when a message has `parts` parts; the largest number there is
/// if it is more than that. Exact, whatever fraction a file states: `parts` bit by bit, so that no product is ever too
/// large.
fn whole_width(volume: Rational, parts: u32) -> u32 {
    let (over, under) = (u128::try_from(*volume.numer()).unwrap_or(0), volume.denom().unsigned_abs());
    let (mut whole, mut rest) = (0_u128, 0);
    for bit in (0..u32::BITS).rev() {
        let (more, part) = if parts >> bit & 1 == 1 { (over / under, over % under) } else { (0, 0) };
        whole = whole.saturating_mul(2).saturating_add(more);
        for more in [rest, part] {
            rest += more;
            if rest >= under {
                (whole, rest) = (whole.saturating_add(1), rest - under);
            }
        }
    }
    u32::try_from(whole.saturating_add(u128::from(rest > 0))).unwrap_or(u32::MAX)
}

/// Evidence for a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Weights of links, `(from, to, weight)`, 0 for the links not listed. Every message covers at least its weighted
    /// distance: the volume is at least the sum over all messages of the weighted distance from origin to destination,
    /// over the sum of weight times capacity of all live links. Where two links join the same ranks, the weight is that
    /// of each. For all_to_all, all_to_allv, scatter and gather.
    Metric {
        /// At most one entry for a pair of ranks.
        weights: Vec<(RankId, RankId, u32)>,
    },
    /// A set of ranks. What must enter it, over the capacity into it (for reduce_scatter and reduce: what must leave
    /// it, over the capacity out of it). For all_gather, all_reduce_gathered, broadcast, all_reduce, reduce_scatter,
    /// reduce.
    Cut {
        /// The set: live ranks, without repetition.
        ranks: Vec<RankId>,
    },
    /// Weights of links in some units of time, a unit being a step of width 1: what must be moved does not fit in so
    /// many units, so the total width is larger. For all_to_all, all_to_allv, scatter and gather; for all_gather,
    /// all_reduce_gathered, broadcast, reduce_scatter and reduce of what must come to (reduce_scatter and reduce: go
    /// out from) one rank; for all_reduce of what must come to one rank from the one that is farthest from it. Unlike
    /// the others, it speaks of messages in so many parts as the problem has, and of no others.
    MetricOverTime {
        /// The total width that is not enough.
        width: u32,
        /// The one rank, for the kinds that ask for one.
        rank: Option<RankId>,
        /// Weights; they add up where windows of a link overlap.
        weights: Vec<Window>,
    },
    /// Disjoint blocks that together hold every live rank: `2 * (blocks - 1)` vectors cross between blocks at least,
    /// over the capacity of all links between blocks. For all_reduce.
    Partition {
        /// The blocks, each without repetition.
        blocks: Vec<Vec<RankId>>,
    },
}

/// The links from one rank to another weigh so much in the units of time (or steps) `first..=last`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where the links begin.
    pub from: RankId,
    /// Where they end.
    pub to: RankId,
    /// The first unit.
    pub first: u32,
    /// The last unit.
    pub last: u32,
    /// The weight of each of the links.
    pub weight: u32,
}

#[cfg(test)]
mod tests;
