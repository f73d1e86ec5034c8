//! What every planner keeps to, and which plan is chosen: among planners, in how many parts, for a size of message.

mod brief;
mod conformance;
mod enough;
mod message_size;
mod optimum;
mod portfolio;
