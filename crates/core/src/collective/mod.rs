//! What must become true: which chunks there are, who holds them before, and who must hold them after.
//!
//! A message (or shard, or vector) is cut into `parts` equal parts; a part in flight is a *chunk*, named by an integer.
//! A kind of collective is a line of data: [who](Who) holds its chunks [`before`] and [`after`], and how two values of
//! a chunk [combine](Combining). [`Collective::rule`] applies it to any chunk.
//!
//! [`before`]: Kind::before
//! [`after`]: Kind::after

mod chunk;
mod chunk_set;
mod demand;
mod groups;
mod kind;
mod label;
mod rule;
mod words;

pub use chunk::ChunkId;
pub use chunk_set::ChunkSet;
pub use demand::Demand;
pub use groups::{Groups, GroupsError};
pub use kind::{Combining, InGroups, Kind, Pattern, Unit, Who};
pub use label::ChunkLabelError;
pub use rule::{ChunkRule, Collective, Holders};
pub use words::UnknownKind;

#[cfg(test)]
mod tests;
