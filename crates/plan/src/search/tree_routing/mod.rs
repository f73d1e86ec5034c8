//! Trees of chunks that negotiate for slots: one root to every rank, or, backward in time, every rank to one root.
//!
//! Shared by the planners [`Trees`](crate::Trees) and [`SpanningTrees`](crate::SpanningTrees). `timed_network` maps the
//! links of every step to slots, `tree_router` finds the cheapest tree at given prices, and `forest` holds the trees of
//! a try and moves them apart, round by round.

mod forest;
mod timed_network;
mod tree_router;

pub(crate) use forest::{Forest, RoutedTrees, TreeSpec};
pub(crate) use timed_network::TimedNetwork;
pub(crate) use tree_router::{Arrival, TreeRouter};
