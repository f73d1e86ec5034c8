//! The commands: a file each, the options of which it declares.

pub mod files;
pub mod info;
pub mod judging;
pub mod planning;
pub mod running;
pub mod showing;
pub mod surveys;
