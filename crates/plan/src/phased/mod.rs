//! Machinery of phased all-to-all algorithms on tori, public because published schemes that exist only for comparison are
//! planned in a crate of their own (`collsynth-baselines`), from the same parts as the planners here.
//!
//! A phased algorithm moves chunks ([`Traveler`]) along one dimension in a phase; [`Walks`] schedules chunks on given
//! routes; [`Phase`] says what a phase costs as papers count it.

mod phase;
mod travelers;
mod walks;

pub use phase::{Phase, StatedPhase};
pub use travelers::{Block, Traveler, active_dims, check_torus, half_ring_split, rotation_class, travelers};
pub use walks::{Walks, plan_walks};
