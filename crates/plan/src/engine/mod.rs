//! The choice among planners: in how many parts, by which planner, and which of their schedules.

pub mod alternatives;
pub mod curve;
pub mod driver;
pub mod front;
pub mod in_groups;
pub mod job;
pub mod nearness;
pub mod parts;
pub mod planned;
pub mod portfolio;
pub mod quickest;
pub mod registry;
pub mod together;
