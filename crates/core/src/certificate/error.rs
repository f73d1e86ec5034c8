//! Why a claimed bound proves nothing, or less than it claims.

use thiserror::Error;

use super::Rational;
use crate::collective::{Kind, Pattern};
use crate::topology::PeriodError;

/// What is wrong with a certificate, in words for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum CertificateError {
    #[error("{claimed} steps are claimed, but the distance from rank {from} to rank {to} is {distance}")]
    TooManySteps { claimed: u32, distance: u64, from: String, to: String },
    #[error("a volume of {claimed} is claimed, but the evidence proves only {proven}")]
    TooMuchVolume { claimed: Rational, proven: Rational },
    #[error("a total width of {claimed} is claimed, but the evidence proves only {proven}")]
    TooMuchWidth { claimed: Rational, proven: Rational },
    #[error("rank {to} needs no data from rank {from}: name two live ranks one of which must reach the other")]
    NoNeed { from: String, to: String },
    #[error("rank {from} cannot reach rank {to} over live links, so no schedule exists and no bound has a meaning")]
    Unreachable { from: String, to: String },
    #[error("rank {to} is more than {steps} hops from rank {from}, so no schedule of {steps} steps exists")]
    OutOfReach { steps: u32, from: String, to: String },
    #[error("{evidence} proves nothing for {kind}: use {instead}")]
    WrongEvidence { evidence: &'static str, kind: &'static str, instead: &'static str },
    #[error("a weight is given to a link from rank {from} to rank {to}, but there is no such link")]
    UnknownLink { from: String, to: String },
    #[error("two weights are given to the link from rank {from} to rank {to}: give one")]
    RepeatedLink { from: String, to: String },
    #[error("weights with a period are for tori that look the same from every rank: state each weight without one")]
    NoTranslations,
    #[error(transparent)]
    Period(#[from] PeriodError),
    #[error(
        "a weight is given to a link from rank {rank}: with a period, name links from ranks of the first cell, whose \
         coordinates are below the period"
    )]
    OtherCell { rank: String },
    #[error("with the period, weights are given to {stated} links, but the machine has {links}: give each link one")]
    TooManyWeights { stated: usize, links: usize },
    #[error(
        "a weight is given to the links from rank {from} to rank {to} at the times {first} to {last}: they are 1 to \
         {units}"
    )]
    WrongWindow { first: u32, last: u32, units: u32, from: String, to: String },
    #[error("for {kind}, {evidence} {}", if *.wanted { "names one rank" } else { "names no rank" })]
    OneRank { evidence: &'static str, kind: &'static str, wanted: bool },
    #[error("the weights are too large: the sum of all, times their units, must stay below 2^63")]
    TooMuchWeight,
    #[error("the sums of this evidence do not fit in 127 bits: use smaller weights")]
    TooLarge,
    #[error(
        "to weigh the trees that join {terminals} ranks of a machine of {ranks} takes 2^{terminals} * {ranks} numbers, \
         more than {most}: use a cut, or smaller groups"
    )]
    TooManyTerminals { terminals: usize, ranks: usize, most: u64 },
    #[error(
        "to weigh the trees of {groups} groups takes {steps} steps, more than {most}: use a cut, or fewer or smaller \
         groups"
    )]
    TooManyTrees { groups: usize, steps: u64, most: u64 },
    #[error("to check it takes more than the {most} steps left for all bounds of a file: use fewer or simpler ones")]
    TooMuchWork { most: u64 },
    #[error("no live link has a weight: give weights of at least 1 to the links that limit the volume")]
    NoWeight,
    #[error("rank {rank} is in {set}, but it is out of range or failed: name live ranks only")]
    DeadRank { rank: String, set: &'static str },
    #[error("rank {rank} is twice in {set}: name each rank once")]
    RepeatedRank { rank: String, set: &'static str },
    #[error("rank {rank} is in no block: the blocks must hold every live rank")]
    UncoveredRank { rank: String },
    #[error("a partition has at least 2 blocks, and none of them is empty; this one has {blocks}")]
    TooFewBlocks { blocks: usize },
    #[error("no live link {between}, so no schedule exists and no bound has a meaning")]
    NoCapacity { between: &'static str },
}

impl CertificateError {
    /// True if nobody looked whether the claim holds, as that would take too much memory or work.
    pub fn is_unchecked(&self) -> bool {
        matches!(self, Self::TooManyTerminals { .. } | Self::TooManyTrees { .. } | Self::TooMuchWork { .. })
    }

    /// What to claim instead of evidence that is for other kinds.
    pub(super) fn wrong_evidence(evidence: &'static str, kind: &Kind) -> Self {
        let instead = match kind.pattern() {
            Pattern::OneToOne => "a metric",
            Pattern::OneToEvery | Pattern::EveryToOne => "a metric, or a cut",
            Pattern::EveryToEvery if kind.has_volume() => "a partition, or a cut",
            Pattern::EveryToEvery => "a bound on its steps; its volume has no certificate",
        };
        Self::WrongEvidence { evidence, kind: kind.name(), instead }
    }
}
