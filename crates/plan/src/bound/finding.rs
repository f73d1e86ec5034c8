//! A bound as it is found: what it claims, and why it holds.

use collsynth_core::certificate::{StepsBound, VolumeBound};

/// One bound, and why it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The family of evidence: "distance", "arc cut", "hop count", ...
    pub name: &'static str,
    /// What it proves.
    pub claim: Claim,
    /// The evidence in words, with coordinates.
    pub words: String,
}

/// What a bound says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// At least so many steps.
    Steps(StepsBound),
    /// At least so much volume.
    Volume(VolumeBound),
}
