//! Negotiated congestion: slots and the search over steps and widths, shared by all planners that negotiate.
//!
//! A schedule of `S` steps of widths `w_1 .. w_S` is a set of routes through the *time-expanded network*: a *slot* of
//! capacity `w_t * capacity` for every link in every step. All routes are found at once; those that share an overfull
//! slot then negotiate which of them moves. Each round moves them to the cheapest routes. The price of a slot is
//!
//! ```text
//!   hop price + history + (pressure * chunks over its capacity, counting the one that asks)
//! ```
//!
//! History grows in every round in which the slot ends overfull, and stays: contested slots become expensive for good,
//! and routes with an alternative leave. Once no slot is overfull, the routes are a contention-free schedule. The idea
//! is that of PathFinder (McMurchie and Ebeling, FPGA 1995), where the nets of an FPGA share its wires; time expansion
//! is due to Ford and Fulkerson (1958).
//!
//! `slots` prices the slots, `search` decides which steps and widths to try, and a planner's [`Strategy`] says what a
//! route is and how it is found.

mod search;
mod slots;
mod strategy;

pub(crate) use search::Search;
pub(crate) use slots::Slots;
pub(crate) use strategy::{Aim, Negotiation, Start, Strategy};
