//! The machine: ranks, directed links, what failed, and how far ranks are apart.
//!
//! A [`Topology`] is built from a [`TopologySpec`] (what a person or a file states) and checked once, in
//! [`Topology::new`]; afterwards every rank, link and coordinate in it is known to make sense. It keeps the links that
//! failed, marked as such, so that a schedule that uses one can be told apart from a schedule that uses a link that
//! never existed.
//!
//! * Ranks are `0..N`. On a torus of extents `X x Y x Z ...`, rank = `x + X*(y + Y*(z + ...))`.
//! * Links are directed. A *cable* is a link and the opposite link.
//! * An extent of 3 or more wraps; an extent of 2 is one cable unless `wrap` is stated; an extent of 1 has no link.

mod coordinates;
mod direction;
mod distance;
mod error;
mod id;
mod link;
mod network;
mod spec;

pub use coordinates::format_coordinates;
pub use direction::{DimRef, Direction, dim_name};
pub use distance::{Distances, UNREACHABLE};
pub use error::TopologyError;
pub use id::{LinkId, MAX_RANKS, RankId};
pub use link::Link;
pub use network::Topology;
pub use spec::{FailedLink, GraphLink, Shape, TopologySpec, Torus};

#[cfg(test)]
mod tests;
