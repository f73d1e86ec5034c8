//! A bound found: its claim, and why it holds.

use collsynth_core::certificate::{StepsBound, VolumeBound};

/// A bound, and why it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundFinding {
    /// The family of evidence: "distance", "arc cut", "hop count", ...
    pub name: &'static str,
    /// The claim proven.
    pub claim: Claim,
    /// The evidence in words, with coordinates.
    pub words: String,
}

/// The claim of a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A least number of steps.
    Steps(StepsBound),
    /// A least volume.
    Volume(VolumeBound),
}
