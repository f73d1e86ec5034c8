//! Schedules to look at.

mod confined;
mod pictures;
mod show;
mod view;
