//! Linear programs for flows on directed graphs: plain graphs and numbers, independent of their use.
//!
//! * [`least_load`]: a demand between all pairs of nodes, routed to minimize the load of the fullest arc. The dual
//!   solution, a length of each arc, proves it.
//! * [`least_widths`]: the same in a fixed number of store-and-forward steps.
//! * [`least_time`]: the same in the least time, with the first and the last units of time resolved one by one.
//! * [`Allocation`]: amounts divided among options that load resources in phases, in the least time. Small.
//!
//! The flows are aggregated by source: all flow from one node is one commodity, whatever its destinations. [`Symmetry`]
//! reduces them: since the average of optimal flows is optimal, some optimal flow is equal on all arcs that symmetries
//! map to each other, so one variable serves all of them.
//!
//! The solver is Clarabel, an interior-point method in pure Rust (or HiGHS, with the feature `highs`), through
//! `good_lp`, with the feature `clarabel`, a default; without either, programs are stated and measured, and
//! [not solved](HAS_SOLVER). Its answers are floating-point approximations; for a proof, round the lengths and compute
//! exactly what they prove. A running solver gives up at its [`Limit`].

mod allocation;
mod ends;
mod error;
mod flow;
mod limit;
mod model;
mod network;
mod orbits;
mod stepped;

pub use allocation::{Allocated, Allocation, Choice, ProgramSize, Resource, Share};
pub use ends::{QuickFlow, least_time, least_time_size};
pub use error::LpError;
pub use flow::{Flow, least_load, least_load_size};
pub use limit::Limit;
pub use network::{Arc, Network, Symmetry};
pub use stepped::{SteppedFlow, least_widths, least_widths_size};

/// Whether this build solves anything.
pub const HAS_SOLVER: bool = cfg!(any(feature = "clarabel", feature = "highs"));
