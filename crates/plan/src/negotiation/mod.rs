//! Negotiated congestion, whatever is being routed.
//!
//! A schedule of `S` steps of widths `w_1 .. w_S` is a set of routes through the *time-expanded network*: a *slot* of
//! room `w_t * capacity` for every link in every step. Everything is routed at once; then those that meet in an
//! overfull slot negotiate who of them moves away. In each round, what crosses an overfull slot is routed anew, as
//! cheaply as can be. The price of a slot is
//!
//! ```text
//!   hop price + history + (pressure * what it would be over its room)
//! ```
//!
//! History grows a little in every round in which the slot ends overfull, and stays: slots that many want become dear
//! for good, and those who have a choice leave. No slot overfull: the routes are a contention-free schedule. The idea
//! is that of PathFinder (McMurchie and Ebeling, FPGA 1995), where wires of an FPGA share its tracks; time expansion is
//! due to Ford and Fulkerson (1958).
//!
//! Here are the slots and the search over steps and widths; what a route is, and how it is found, is a planner's
//! [`Strategy`].

mod network;
mod search;
mod slots;

use crate::Control;

pub(super) use network::{LiveLink, Message, Network, WAIT, messages, most_useful};
pub(super) use search::{Search, Start};
pub(super) use slots::Slots;

/// A planner's part in the search.
pub(super) trait Strategy: Sync {
    /// What it negotiates with.
    type Negotiation: Negotiation;

    /// Begins a try.
    fn begin(&self, start: Start) -> Self::Negotiation;

    /// Widths of this many steps and this sum, each at least 1, that differ from try to try.
    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32>;

    /// Numbers of steps worth trying at a total width, ascending.
    fn step_choices(&self, width: u32, aim: Aim) -> Vec<u32>;

    /// Total widths to try next once this one is reached: the first of them that is reached is the next.
    fn narrower(&self, width: u32) -> Vec<u32> {
        vec![width - 1]
    }

    /// The total width to try so many strides further up.
    fn wider(&self, width: u32, strides: u32) -> u32 {
        width.saturating_add(strides)
    }

    /// The number of steps in which a total width is worth a long try, because nothing of that width is harder to find
    /// elsewhere; none where that does not help.
    fn patient_steps(&self, _width: u32) -> Option<u32> {
        None
    }

    /// Is a point worth trying? Routes may well not be found if it is, but cannot if it is not.
    fn hopeful(&self, _steps: u32, _width: u32) -> bool {
        true
    }

    /// The work of routing everything once in so many steps, in rough terms.
    fn routing_work(&self, steps: u32) -> u64;
}

/// What the search is about when it asks for numbers of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Some schedule: few numbers, that are soon met.
    Any,
    /// Less width.
    Narrower,
    /// Fewer steps.
    Shorter,
}

/// Routes of a try.
pub(super) trait Negotiation {
    /// What is negotiated for.
    type Routes: Send + Sync;

    /// The slots.
    fn slots(&mut self) -> &mut Slots;

    /// One round: routes anew what crosses an overfull slot. Ends early when told to stop.
    fn round(&mut self, control: &Control);

    /// Moves a unit of width from step to step.
    fn shift_width(&mut self) {
        let steps = 0..self.slots().widths().len();
        self.slots().shift_width(steps, 1);
    }

    /// Effort so far.
    fn work(&self) -> u64;

    /// The width that each step needs.
    fn needed_widths(&mut self) -> Vec<u32> {
        self.slots().fit_widths();
        self.slots().widths().to_vec()
    }

    /// The routes.
    fn into_routes(self) -> Self::Routes;
}
