//! Published all-to-all schemes on tori with failed links, for comparison: [`planners`] lists them.
//!
//! Planning uses one only if it is named. They are built from the machinery in [`collsynth_plan::phased`].

mod broken_rings;
mod dor;
mod phased;
mod router;
mod wfr;

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
    ]
}
