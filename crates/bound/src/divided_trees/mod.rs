//! The trees of a collective in groups, if chunks may be divided among them: what planners aim at, and what bounds
//! prove.

mod cables;
mod demand;
mod lightest;
mod program;
mod tree;

pub use cables::Cables;
pub use demand::{Demand, Wanted};
pub use program::{Column, Divided, Sort};
pub use tree::{BOTH, DOWN, NONE, Tree, UP, Ways};
