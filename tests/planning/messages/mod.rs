//! Plans of an all_to_all and all_to_allv against their target figures.

mod demands;
mod smt;
mod targets;
mod twisted;
mod values;
