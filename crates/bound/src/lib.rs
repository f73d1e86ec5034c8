//! Lower bounds on the steps and the volume of any schedule.
//!
//! Finding a bound takes a search; trusting it does not: each comes with evidence that `certificate` checks exactly.
//!
//! * **steps**: the farthest pair of ranks of which one needs data of the other.
//! * **volume**: a set of ranks and the traffic that must cross its border, over the capacity there. On a torus with
//!   few failures the best set is a slab of positions along one dimension (an *arc cut*); with many failures it may be
//!   a rank, its neighborhood, or any set found by improving those. If each message goes from one rank to one rank,
//!   also the *hop count* (all hops of all messages over all capacity) and, on small networks, arbitrary metrics. For
//!   all-reduce, the best of all partitions. If the latency of the first chunks counts, [metrics over
//!   time](over_time()). In groups with relays, [prices of links](tree_bound()) and the lightest trees.
//!
//! A barrier has no volume, so only its steps are bounded.
//!
//! What planners look at too is public here: [`symmetry`], [`period`], [`hops`], [`link_table`] and [`divided_trees`]
//! of a machine, and the [`pace`] of a search under a clock.

mod cuts;
pub mod divided_trees;
mod find;
mod finding;
mod flows;
mod job;
mod machine;
pub mod pace;
mod time;
mod trees;
mod words;

pub use collsynth_lp::{Limit, LpError};

pub use find::{add, find, find_within, findings, findings_within};
pub use finding::{BoundFinding, Claim};
pub use flows::flow::{FlowBound, FlowError, FlowLimit, flow_bound};
pub use job::of_job;
pub use machine::{hops, link_table, period, symmetry};
pub use time::over_time::over_time;
pub use time::stepped::{SteppedBound, joint_bounds, stepped_bound};
pub use trees::tree_bound;
