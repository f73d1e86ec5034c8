//! What planners look at, and what they answer: tasks, the network in time, prices, errors, the control of a search.

pub mod account;
pub mod addition;
pub mod control;
pub mod cost;
pub mod error;
pub mod goal;
pub mod moves;
pub mod network;
pub mod phase;
pub mod planner;
pub mod sharper;
pub mod task;
pub mod widths;
