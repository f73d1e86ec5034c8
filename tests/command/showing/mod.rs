//! Schedules to look at.

mod pictures;
mod show;
mod view;
