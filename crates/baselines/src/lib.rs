//! Published algorithms on tori with failed links, for comparison: [`planners`] lists them.
//!
//! Planning uses one only if it is named. Those of all-to-all are built from the machinery in
//! [`collsynth_plan::phased`]; those of all-reduce are [`Butterfly`].

mod broken_rings;
mod butterflies;
mod dor;
mod phased;
mod router;
mod wfr;

pub use butterflies::{Butterfly, Charge};
pub use phased::Phased;
pub use router::Routed;

use collsynth_plan::Planner;

/// The planners of this crate.
pub fn planners() -> &'static [&'static dyn Planner] {
    &[
        &Phased::FOLDED_RING,
        &Phased::OPEN_RING,
        &Phased::MATE,
        &Phased::MATE_OPEN,
        &Phased::MATE_E,
        &Phased::MATE_E2,
        &Phased::MATE_E_OPEN,
        &Routed::DOR,
        &Routed::WFR,
        &Butterfly::RECURSIVE_DOUBLING,
        &Butterfly::RABENSEIFNER,
        &Butterfly::SWING,
        &Butterfly::SWING_LATENCY,
        &Butterfly::BINE,
        &Butterfly::BINE_TREE,
        &Butterfly::TRIVANCE,
        &Butterfly::TRIVANCE_BANDWIDTH,
    ]
}
