//! From a problem to a schedule: the planners, their registry, and how one is chosen.
//!
//! Every planner is a [`Planner`]: one file (or folder) named as its algorithm, and one line in [`planners`]. A planner
//! is given a [`Task`] and answers with a schedule that it believes in; nobody else needs to, since the verifier judges
//! every schedule before it is used.

mod alternatives;
mod arborescences;
mod binary_tree;
pub mod bound;
mod composed;
mod control;
pub mod cost;
mod curve;
mod driver;
mod error;
mod exchange;
mod flood;
mod flow_over_time;
mod front;
mod goal;
mod hamiltonian;
pub mod link_table;
mod lp;
mod moves;
mod negotiated;
mod negotiation;
mod network;
mod parts;
mod path_routing;
pub mod phased;
mod pipeline;
mod planned;
mod planner;
mod portfolio;
mod quickest;
mod registry;
mod ring_of_ranks;
mod rings;
mod searchers;
mod sharper;
mod smt;
mod spanning_trees;
pub mod symmetry;
mod task;
mod template;
mod tree_routing;
mod trees;
mod widths;

pub use alternatives::alternatives;
pub use arborescences::Arborescences;
pub use binary_tree::BinaryTree;
pub use composed::Composed;
pub use control::{Control, Progress, StopReason};
pub use curve::trace;
pub use driver::synthesize;
pub use error::PlanError;
pub use exchange::Exchange;
pub use flood::Flood;
pub use flow_over_time::FlowOverTime;
pub use front::Front;
pub use goal::{Goal, Parts};
pub use lp::Lp;
pub use negotiated::Negotiated;
pub use parts::useful_parts;
pub use phased::Phase;
pub use planned::Plan;
pub use planner::{Account, AutoUse, Outcome, Planner, Refutation};
pub use registry::planners;
pub use ring_of_ranks::RingOfRanks;
pub use rings::Rings;
pub use sharper::SharperBounds;
pub use smt::{Minimize, Proof, ProofForm, Smt, SmtBackend};
pub use spanning_trees::SpanningTrees;
pub use task::Task;
pub use template::Template;
pub use trees::Trees;
pub use widths::{bounded_widths, even_widths};
