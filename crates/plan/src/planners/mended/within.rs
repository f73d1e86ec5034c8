//! What limits one try at a schedule.

use collsynth_core::certificate::Bounds;

use crate::model::control::Control;

/// What a schedule is planned within: exactly these steps, near these bounds.
#[derive(Clone, Copy)]
pub(super) struct Within<'a> {
    pub bounds: &'a Bounds,
    pub steps: u32,
    pub seed: u64,
    pub control: &'a Control,
}
