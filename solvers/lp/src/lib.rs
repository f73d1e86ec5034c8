//! Linear programs over flows on directed graphs. Plain graphs and numbers; nothing here knows what they are for.
//!
//! * [`least_load`]: a demand between all pairs of nodes, routed so that the fullest arc is as empty as can be. The
//!   dual solution, a length of each arc, proves it.
//! * [`least_widths`]: the same in a fixed number of steps, where what arrives in a step moves on in a later one.
//! * [`least_time`]: the same as soon as can be, with the first and the last units of time looked at one by one.
//! * [`Allocation`]: amounts shared out among ways that use resources in phases, so that the phases end as soon as can
//!   be. Small.
//!
//! The flows are aggregated by source: what begins at one node is one commodity, whatever its destinations. And they
//! can be reduced by [`Symmetry`]: since the average of optimal flows is optimal, some optimal flow is the same on all
//! arcs that symmetries carry into each other, so one variable does for all of them.
//!
//! The solver is Clarabel, an interior-point method in pure Rust (or HiGHS, with the feature `highs`), through
//! `good_lp`. What comes out is floating point and near the truth; whoever wants proof rounds the lengths and computes
//! exactly what those prove. A running solver gives up when its [`Limit`] says so.

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
