//! The machine: ranks, directed links, failures, and the distances between ranks.
//!
//! A [`Topology`] is built from a [`TopologySpec`] (what a person or a file states) and checked once, in
//! [`Topology::new`]; from then on every rank, link and coordinate in it is valid. Failed links stay in it, marked
//! dead, so that a schedule that uses one can be told from a schedule that uses a link that never existed.
//!
//! * Ranks are `0..N`. On a torus of extents `X x Y x Z ...`, rank = `x + X*(y + Y*(z + ...))`.
//! * Links are directed. A *cable* is a link and its opposite.
//! * An extent of 3 or more wraps; an extent of 2 is one cable unless `wrap` is stated; an extent of 1 has no link.
//! * A dead [`Switch`] is a set of failed cables that repeats from cell to cell.
//! * On a twisted torus, some wraps lead to another position along other dimensions as well.

mod coordinates;
mod direction;
mod distance;
mod error;
mod id;
mod link;
mod names;
mod network;
mod spec;
mod switches;
mod words;

pub use coordinates::format_coordinates;
pub use direction::{DimRef, Direction, dim_name};
pub use distance::{Distances, UNREACHABLE};
pub use error::{PeriodError, SwitchError, TopologyError};
pub(crate) use id::id;
pub use id::{LinkId, MAX_RANKS, RankId};
pub use link::Link;
pub use network::Topology;
pub use spec::{FailedLink, GraphLink, Shape, TopologySpec, Torus};
pub use switches::Switch;

#[cfg(test)]
mod tests;
