//! Machinery of phased all-to-all algorithms on tori, public because `collsynth-baselines` plans published schemes for
//! comparison with it.
//!
//! A phased algorithm moves chunks ([`Traveler`]) along one dimension in a phase; [`Walks`] schedules chunks on given
//! routes; [`Phase`](crate::Phase) is the cost of a phase as papers count it.

mod travelers;
mod walks;

pub use travelers::{Block, ROUTED, Traveler, active_dims, check_torus, half_ring_split, rotation_class, travelers};
pub use walks::{Walks, plan_walks};
