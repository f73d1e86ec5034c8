//! From a problem to a schedule: the planners, their registry, and the choice among them.
//!
//! Every algorithm is a [`Planner`]: one file or folder named after it, and one line in [`planners`]. It turns a
//! [`Task`] into a schedule that need not be trusted: the verifier judges every schedule before it is used.

mod engine;
mod model;
mod planners;
mod search;

pub use engine::alternatives::alternatives;
pub use engine::curve::trace;
pub use engine::driver::synthesize;
pub use engine::front::Front;
pub use engine::job::{JobGoal, check_job_size, in_pieces, least_job_width, plan_job, plan_job_in_parts};
pub use engine::parts::{likely_steps, shares_vectors, useful_parts};
pub use engine::planned::{Plan, prove_jointly};
pub use engine::registry::planners;
pub use model::account::{Account, Refutation, StopReason};
pub use model::addition::addition_depth;
pub use model::control::{Control, Incumbent, Progress};
pub use model::cost;
pub use model::error::PlanError;
pub use model::goal::{Goal, Parts};
pub use model::phase::{Phase, StatedPhase};
pub use model::planner::scope::{Machines, Scope};
pub use model::planner::{AutoUse, Outcome, Planner};
pub use model::sharper::SharperBounds;
pub use model::task::Task;
pub use model::widths::{bounded_widths, even_widths};
pub use planners::exchange::Exchange;
pub use planners::flood::Flood;
pub use planners::matching::Matching;
pub use planners::mended::{CompactPlan, Mended, compact, compact_problem};
pub use planners::negotiated::Negotiated;
pub use planners::published::binary_tree::BinaryTree;
pub use planners::published::composed::Composed;
pub use planners::published::ring_of_ranks::RingOfRanks;
pub use planners::published::rings::Rings;
pub use planners::rooted::arborescences::Arborescences;
pub use planners::rooted::flow_over_time::FlowOverTime;
#[cfg(feature = "smt")]
pub use planners::smt::{Minimize, Proof, ProofForm, Smt, SmtBackend};
pub use planners::template::Template;
pub use planners::trees::negotiated::Trees;
pub use planners::trees::packed_trees::PackedTrees;
pub use planners::trees::spanning_trees::SpanningTrees;
pub use search::altered::with_exceptions;
pub use search::phased;
