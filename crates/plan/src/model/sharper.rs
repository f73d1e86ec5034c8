//! The bounds of linear programs and of flows over time, computed once a schedule is above the bound that cuts give.
//!
//! A program takes up to a second, cuts milliseconds, and mostly both give the same bound. Where they differ, a search
//! would chase an impossible width, and an optimal schedule would not be recognized.

use std::sync::OnceLock;

use crate::model::control::Control;
use collsynth_bound as bound;
use collsynth_bound::{Claim, FlowLimit};
use collsynth_core::certificate::Bounds;
use collsynth_core::problem::Problem;

/// Bounds that are sharpened on demand.
pub struct SharperBounds<'a> {
    problem: &'a Problem,
    cheap: &'a Bounds,
    control: &'a Control,
    sharp: OnceLock<Bounds>,
}

impl<'a> SharperBounds<'a> {
    /// The cheap bounds, with nothing computed yet.
    pub fn new(problem: &'a Problem, cheap: &'a Bounds, control: &'a Control) -> Self {
        Self { problem, cheap, control, sharp: OnceLock::new() }
    }

    /// The best bounds so far: those of [`SharperBounds::sharp`] once it has run.
    pub fn known(&self) -> &Bounds {
        self.sharp.get().unwrap_or(self.cheap)
    }

    /// The best bounds: the first call looks for metrics over time and solves the flow LP, if that has at most
    /// [`FlowLimit::UNASKED`] variables after symmetries and finishes within the time limit; for trees in groups, the
    /// tree LP.
    pub fn sharp(&self) -> &Bounds {
        if self.control.stop().is_some() {
            return self.known();
        }
        self.sharp.get_or_init(|| {
            let limit = FlowLimit { variables: FlowLimit::UNASKED, solver: self.control.limit() };
            let mut bounds = self.cheap.clone();
            // Without an answer the bounds stay as they are.
            if let Some(found) = self.control.sharper(self.problem)
                && bounds.volume.as_ref().is_none_or(|known| known.at_least < found.at_least)
            {
                bounds.volume = Some(found);
            }
            let finding = bound::over_time(self.problem, &bounds, &limit);
            if let Some(Claim::Volume(found)) = finding.map(|finding| finding.claim) {
                bounds.volume = Some(found);
            }
            bounds
        })
    }
}
