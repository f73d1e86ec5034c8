//! What can be wrong with a machine specification.

use thiserror::Error;

use super::{MAX_RANKS, RankId};

/// Why a specification makes no machine, in words for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum TopologyError {
    #[error("a torus needs between 1 and 255 dimensions")]
    NoDimension,
    #[error("dimension {dim} has extent 0; an extent is at least 1")]
    ZeroExtent { dim: String },
    #[error("more than {MAX_RANKS} ranks")]
    TooManyRanks,
    #[error("`{what}` has {length} entries, but the torus has {dims} dimensions: give one entry per dimension")]
    WrongLength { what: &'static str, length: usize, dims: usize },
    #[error("the wrap of {dim} cannot shift {shifted}: {reason}")]
    Twist { dim: String, shifted: String, reason: &'static str },
    #[error("{what} has capacity 0; a capacity is at least 1 (a link that carries nothing is a failed link)")]
    ZeroCapacity { what: String },
    #[error("a link from rank {rank} to itself")]
    SelfLink { rank: RankId },
    #[error("two links from {from} to {to}: give one link with the sum of their capacities")]
    DuplicateLink { from: RankId, to: RankId },
    #[error("no rank is left alive")]
    NoRankLeft,
    #[error("rank {rank} is out of range: ranks are 0 to {}", ranks.saturating_sub(1))]
    RankOutOfRange { rank: u32, ranks: u32 },
    #[error("rank {rank} is stated as failed twice")]
    RankFailedTwice { rank: RankId },
    #[error("ranks {from} and {to} are not neighbors; neighbors of {from} are {neighbors}")]
    NotNeighbors { from: String, to: String, neighbors: String },
    #[error(
        "ranks {from} and {to} are not neighbors in {stated}: {}",
        actual.as_ref().map_or("an explicit graph has no dimensions".to_owned(), |dim| format!("they are in {dim}"))
    )]
    WrongDimension { from: String, to: String, stated: String, actual: Option<String> },
    #[error("two cables join ranks {from} and {to}: say which one with {}", choices.join(" or "))]
    AmbiguousCable { from: String, to: String, choices: Vec<String> },
    #[error("link {link} is stated as failed twice")]
    LinkFailedTwice { link: String },
    #[error("`{text}` is no dimension: dimensions are x y z w v u, then d6, d7, ...; directions are x+ and x-")]
    UnknownDimension { text: String },
    #[error("`{text}` is not a rank: write its number, its coordinates as in 2.0.0, or its name if it has one")]
    NotARank { text: String },
    #[error(transparent)]
    Switch(#[from] SwitchError),
    #[error("`{text}` gives coordinates, but an explicit graph has none: write the rank's number")]
    NoCoordinates { text: String },
    #[error("{} for {ranks} ranks: give one for every rank, failed ones too", names_of(*names))]
    WrongNameCount { names: usize, ranks: u32 },
    #[error(
        "{name:?} is no name for rank {rank}: a name has at most 253 ASCII letters, digits and . - _ : / @, begins with \
         a letter or digit, and has a letter"
    )]
    NotAName { rank: RankId, name: String },
    #[error("ranks {first} and {rank} are both named {name}")]
    NameTwice { rank: RankId, first: RankId, name: String },
    #[error("`{text}` is not a list of extents: put x between them, as in 4x4x4")]
    NotExtents { text: String },
    #[error("`{text}` is not a position on a {extents} torus")]
    OutsideTorus { text: String, extents: String },
}

/// Why there is no such switch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum SwitchError {
    #[error(
        "`{text}` is not a switch: write the dimension of its cables and their position in the others, as in x:1,2"
    )]
    NotASwitch { text: String },
    #[error("an explicit graph has no switches: they join the cells of a torus")]
    NotATorus,
    #[error(transparent)]
    Period(#[from] PeriodError),
    #[error("there is no switch {switch}: the torus has the dimensions {dims}")]
    NoDimension { switch: String, dims: String },
    #[error("switch {switch} has {stated} positions after the colon: write those in {others}, as in {example}")]
    Positions { switch: String, stated: usize, others: String, example: String },
    #[error("there is no switch {switch}: in {dim} the positions are 0 to {most}, with the period {period}")]
    OutOfRange { switch: String, dim: String, most: u32, period: String },
    #[error("there is no switch {switch}: no cable in {dim} leads from one cell to another, with the period {period}")]
    NoCable { switch: String, dim: String, period: String },
}

/// Why a torus does not repeat with a period.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum PeriodError {
    #[error("the period {period} has {length} of the {dims} extents that the torus has: give one for each dimension")]
    Length { period: String, length: usize, dims: usize },
    #[error("the period {period} does not divide {extents}: along {dim} it is one of {divisors}")]
    Divide { period: String, extents: String, dim: String, divisors: String },
    #[error("the wrap of {dim} shifts {shifted} by {shift}, which is not a multiple of the period {period}")]
    Twist { dim: String, shifted: String, shift: u32, period: String },
}

fn names_of(count: usize) -> String {
    if count == 1 { "1 name".to_owned() } else { format!("{count} names") }
}
