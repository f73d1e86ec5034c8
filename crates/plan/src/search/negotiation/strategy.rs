//! A planner's part in the search: routes, and the steps and widths that suit them.

use super::slots::Slots;
use crate::model::control::Control;

/// A planner's part in the search.
pub(crate) trait Strategy: Sync {
    type Negotiation: Negotiation;

    /// Routes everything once; `None` if `abandon` became true before that.
    fn begin(&self, start: Start, abandon: &(dyn Fn() -> bool + Sync)) -> Option<Self::Negotiation>;

    /// Widths of this number of steps and this sum, each at least 1, which vary from try to try.
    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32>;

    /// Numbers of steps worth trying at a total width, ascending.
    fn step_choices(&self, width: u32, aim: Aim) -> Vec<u32>;

    /// Total widths to try once this one is reached, in order; the search continues from the first it reaches.
    fn narrower(&self, width: u32) -> Vec<u32> {
        vec![width - 1]
    }

    /// The total width to try this number of strides further up.
    fn wider(&self, width: u32, strides: u32) -> u32 {
        width.saturating_add(strides)
    }

    /// The number of steps in which a total width deserves a long try, because no other makes that width easier; `None`
    /// if patience does not help.
    fn patient_steps(&self, _width: u32) -> Option<u32> {
        None
    }

    /// False if there is provably no schedule of these steps and this width; true promises nothing.
    fn may_fit(&self, _steps: u32, _width: u32) -> bool {
        true
    }

    /// The work of routing everything once in this number of steps, roughly.
    fn routing_work(&self, steps: u32) -> u64;
}

/// The beginning of a try.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub widths: Vec<u32>,
    /// The number of the try, from 0.
    pub number: u64,
    /// The most that the pressure may rise to.
    pub pressure_cap: f64,
    /// True in long tries, which have time for routes that are slow to find.
    pub patient: bool,
    pub seed: u64,
}

/// The aim of the search when it asks for numbers of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// Some schedule: a short list that is quickly exhausted.
    Any,
    Narrower,
    Shorter,
}

/// Routes of a try.
pub(crate) trait Negotiation {
    type Routes: Send + Sync;

    fn slots(&mut self) -> &mut Slots;

    /// One round: reroutes everything that crosses an overfull slot. Ends early if `control` stops it.
    fn round(&mut self, control: &Control);

    /// Moves a unit of width from one step to another.
    fn shift_width(&mut self) {
        let steps = 0..self.slots().widths().len();
        self.slots().shift_width(steps, 1);
    }

    fn work(&self) -> u64;

    /// The width that each step needs.
    fn needed_widths(&mut self) -> Vec<u32> {
        self.slots().fit_widths();
        self.slots().widths().to_vec()
    }

    fn into_routes(self) -> Self::Routes;
}
