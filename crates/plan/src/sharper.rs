//! The bounds of the flow LP and of flows over time, looked for once a schedule stands above the bound that cuts give.
//!
//! The LP costs up to a second where cuts cost milliseconds, and mostly cuts meet it. But where they do not, a search
//! would work hard for a width that cannot be reached, and a schedule that is optimal would not be known to be.

use std::sync::OnceLock;

use super::Control;
use crate::bound::{self, Claim, FlowLimit};
use collsynth_core::certificate::Bounds;
use collsynth_core::problem::Problem;

/// Bounds that get better when it matters.
pub struct SharperBounds<'a> {
    problem: &'a Problem,
    cheap: &'a Bounds,
    control: &'a Control,
    sharp: OnceLock<Bounds>,
}

impl<'a> SharperBounds<'a> {
    /// Nothing is computed yet.
    pub fn new(problem: &'a Problem, cheap: &'a Bounds, control: &'a Control) -> Self {
        Self { problem, cheap, control, sharp: OnceLock::new() }
    }

    /// The best bounds known: the flow bound is among them if [`SharperBounds::sharp`] was called.
    pub fn known(&self) -> &Bounds {
        self.sharp.get().unwrap_or(self.cheap)
    }

    /// The best bounds: the first call solves the flow LP, if it has at most [`FlowLimit::UNASKED`] variables
    /// after symmetries, and if it is done within the time limit, and looks for metrics over time.
    pub fn sharp(&self) -> &Bounds {
        if self.control.stop().is_some() {
            return self.known();
        }
        self.sharp.get_or_init(|| {
            let limit = FlowLimit { variables: FlowLimit::UNASKED, solver: self.control.limit() };
            // Without an answer the bounds stay as they are.
            let finding = bound::flow_bound(self.problem, &limit).ok().and_then(|flow| flow.finding);
            let mut bounds = self.cheap.clone();
            if let Some(Claim::Volume(found)) = finding.map(|finding| finding.claim)
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
