//! Lower bounds with evidence that can be checked exactly and without a solver.
//!
//! A bound is a claim: "no schedule for this problem has fewer steps (or less volume) than this". Its evidence is a
//! pair of ranks, a set of ranks, or integer weights of links. `bound` finds evidence; this module alone decides what
//! it proves.
//!
//! No arithmetic here can wrap: sums of evidence that do not fit are refused, and what is rounded claims less.
//!
//! Volumes are in messages (shards, vectors) per link of capacity 1: the sum of the widths over the parts.

#![warn(clippy::arithmetic_side_effects)]

mod check;
mod error;
mod job;
mod metric;
mod over_time;
mod search;
mod stepped;
mod trees;
mod work;

pub use check::{check_joint, check_steps, check_volume, value};
pub use error::CertificateError;
pub use job::{JobBound, check_job, job_value};
pub use metric::every_weight;
pub use stepped::stepped_value;
pub use work::{MOST_STEPS, Work};

pub use crate::exact::Rational;
use crate::exact::round_up;
use crate::topology::RankId;

/// The bounds claimed for a problem; any may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bounds {
    /// At least this many steps.
    pub steps: Option<StepsBound>,
    /// At least this much volume.
    pub volume: Option<VolumeBound>,
    /// At least this much volume at limited numbers of steps.
    pub joint: Vec<JointBound>,
}

impl Bounds {
    /// The least number of steps the bounds allow; 0 if none is claimed.
    pub fn least_steps(&self) -> u32 {
        self.steps.as_ref().map_or(0, |bound| bound.at_least)
    }

    /// The least sum of widths the bounds allow when a message has `parts` parts: the volume rounded up to a whole
    /// width, and at least 1 per step.
    pub fn least_width(&self, parts: u32) -> u32 {
        let width = self.volume.as_ref().map_or(0, |bound| whole_width(bound.at_least, parts));
        width.max(self.least_steps())
    }

    /// The least sum of widths the bounds allow in `steps` steps or fewer when a message has `parts` parts.
    pub fn least_width_in(&self, steps: u32, parts: u32) -> u32 {
        let joint = self.joint.iter().filter(|bound| bound.steps >= steps).map(|bound| bound.least_width(parts));
        joint.fold(self.least_width(parts), u32::max)
    }
}

/// No schedule has fewer steps than `at_least`: rank `to` needs data from rank `from`, that many hops away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepsBound {
    /// The number of steps claimed.
    pub at_least: u32,
    /// The rank that has data.
    pub from: RankId,
    /// The rank that needs it.
    pub to: RankId,
}

/// No schedule has less volume than `at_least`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeBound {
    /// The volume claimed, in messages.
    pub at_least: Rational,
    /// Its evidence.
    pub evidence: Evidence,
}

impl VolumeBound {
    /// The schedules it holds for.
    pub fn scope(&self) -> Scope {
        match self.evidence {
            Evidence::Metric { .. } | Evidence::Cut { .. } | Evidence::Partition { .. } => Scope::AnyParts,
            Evidence::MetricOverTime { .. } => Scope::TheseParts,
        }
    }
}

/// The schedules a bound holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All, whatever the number of parts.
    AnyParts,
    /// Those with the problem's own number of parts.
    TheseParts,
}

/// A joint bound: no schedule of `steps` steps or fewer has less volume than `at_least`, whatever the number of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointBound {
    /// The number of steps.
    pub steps: u32,
    /// The volume claimed, in messages.
    pub at_least: Rational,
    /// The one rank whose chunks count, for the kinds that need it; as in [`Evidence::MetricOverTime`].
    pub rank: Option<RankId>,
    /// Its evidence: weights of links in the steps `first..=last` of each window, from 1; they add up. See
    /// [`stepped_value`].
    pub weights: Vec<Window>,
}

impl JointBound {
    /// The least sum of widths in these steps when a message has `parts` parts.
    pub fn least_width(&self, parts: u32) -> u32 {
        whole_width(self.at_least, parts)
    }
}

/// A volume in messages as a sum of widths, rounded up, when a message has `parts` parts. What is above the largest
/// width claims that width.
fn whole_width(volume: Rational, parts: u32) -> u32 {
    round_up(volume, parts.into()).and_then(|width| u32::try_from(width).ok()).unwrap_or(u32::MAX)
}

/// Evidence for a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Weights of links; 0 for links not listed. Every message covers links that weigh at least as much as the lightest
    /// tree from its origin to all ranks that need it (reduce_scatter and reduce: to its destination from all ranks
    /// that contribute), which for a single such rank is the weighted distance: the volume is at least the sum over all
    /// messages of these weights, over the sum of weight times capacity of all live links. For all kinds but all_reduce
    /// and barrier. Trees to several ranks are weighed exactly, so for groups of a dozen ranks at most.
    Metric {
        /// With a period, the weights are of links from ranks of the first cell, and of all translations of these links
        /// by multiples of the period: see [`every_weight`].
        period: Option<Vec<u32>>,
        /// At most one entry per pair of ranks; if two links join it, each has this weight.
        weights: Vec<LinkWeight>,
    },
    /// A set of ranks: what must enter it, over the capacity into it (for reduce_scatter and reduce: what must leave
    /// it, over the capacity out of it). For all_gather, all_reduce_gathered, broadcast, all_reduce, reduce_scatter,
    /// reduce.
    Cut {
        /// The set: live ranks, without repetition.
        ranks: Vec<RankId>,
    },
    /// Weights of links in some units of time, a unit being a step of width 1: the chunks to move do not fit in `width`
    /// units, so the total width is larger. Counts all chunks of all_to_all, all_to_allv, scatter and gather; of
    /// all_gather, all_reduce_gathered, broadcast, reduce_scatter and reduce those that must reach (reduce_scatter and
    /// reduce: leave) one rank; of all_reduce those that must reach one rank from the rank farthest from it. Unlike the
    /// others, it holds only for the problem's own number of parts.
    MetricOverTime {
        /// The total width that is not enough.
        width: u32,
        /// The one rank, for the kinds that need it.
        rank: Option<RankId>,
        /// Weights; they add up where windows of a link overlap.
        weights: Vec<Window>,
    },
    /// Disjoint blocks that together hold every live rank: at least `2 * (blocks - 1)` vectors cross between blocks,
    /// over the capacity of all links between blocks. For all_reduce.
    Partition {
        /// The blocks, each without repetition.
        blocks: Vec<Vec<RankId>>,
    },
}

impl Evidence {
    /// A metric whose weights are stated one by one.
    pub fn metric(weights: Vec<LinkWeight>) -> Self {
        Self::Metric { period: None, weights }
    }
}

/// `(from, to, weight)`: the weight of the links from one rank to another.
pub type LinkWeight = (RankId, RankId, u32);

/// A weight of the links from one rank to another in the units of time (or steps) `first..=last`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The sender.
    pub from: RankId,
    /// The receiver.
    pub to: RankId,
    /// The first unit.
    pub first: u32,
    /// The last unit.
    pub last: u32,
    /// The weight of each link.
    pub weight: u32,
}

#[cfg(test)]
mod tests;
