//! Commands that show what a file holds.

pub mod show;
pub mod show_picture;
pub mod view;
