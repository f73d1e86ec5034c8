//! The trees of a collective in groups, if chunks may be divided among them: what planners aim at, and what bounds
//! prove.

mod cables;
mod demand;
mod lightest;
mod program;
mod tree;

pub(crate) use cables::Cables;
pub(crate) use demand::{Demand, Wanted};
pub(crate) use program::{Column, Divided, Sort};
pub(crate) use tree::{BOTH, DOWN, NONE, Tree, UP, Ways};
