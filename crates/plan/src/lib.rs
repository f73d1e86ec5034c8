//! From a problem to a schedule: the planners, their registry, and how one is chosen.
//!
//! Every planner is a [`Planner`]: one file (or folder) named as its algorithm, and one line in [`planners`]. A planner
//! is given a [`Task`] and answers with a schedule that it believes in; nobody else needs to, since the verifier judges
//! every schedule before it is used.

mod alternatives;
mod arborescences;
mod binary_tree;
pub mod bound;
mod broken_rings;
mod composed;
mod control;
pub mod cost;
mod curve;
mod dor;
mod driver;
mod error;
mod exchange;
mod flood;
mod flow_over_time;
mod folded_ring;
mod hamiltonian;
pub mod link_table;
mod lp;
mod mate;
mod moves;
mod negotiated;
mod negotiation;
mod network;
mod path_routing;
pub mod phased;
mod pipeline;
mod quickest;
mod ring_of_ranks;
mod rings;
mod sharper;
mod smt;
mod spanning_trees;
pub mod symmetry;
mod template;
mod tree_routing;
mod trees;
mod wfr;
mod widths;

pub use alternatives::alternatives;
pub use arborescences::Arborescences;
pub use binary_tree::BinaryTree;
pub use composed::Composed;
pub use curve::{Front, can_be_cut, trace, useful_parts};
pub use dor::Dor;
pub use driver::{Parts, Plan, Wish, synthesise};
pub use exchange::Exchange;
pub use flood::Flood;
pub use flow_over_time::FlowOverTime;
pub use folded_ring::{FoldedRing, OpenRing};
pub use lp::Lp;
pub use mate::{Mate, MateE};
pub use negotiated::Negotiated;
pub use ring_of_ranks::RingOfRanks;
pub use rings::Rings;
pub use sharper::SharperBounds;
pub use smt::{Minimise, Proof, ProofForm, Refuted, Smt, SmtBackend, SmtWish, polish, prove};
pub use spanning_trees::SpanningTrees;
pub use template::Template;
pub use trees::Trees;
pub use wfr::Wfr;
pub use widths::{bounded_widths, even_widths};

pub use control::{Control, Progress};
pub use error::PlanError;
pub use phased::Phase;

use crate::cost::Price;
use collsynth_core::certificate::Bounds;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;

/// What a planner is asked for.
#[derive(Clone)]
pub struct Task<'a> {
    /// The problem; its parts are fixed.
    pub problem: &'a Problem,
    /// Lower bounds already proven for it, as targets.
    pub bounds: &'a Bounds,
    /// Bounds that are dearer to find, for when a schedule stands above the others.
    pub sharper: Option<&'a SharperBounds<'a>>,
    /// Exactly this many steps, if stated.
    pub steps: Option<u32>,
    /// At most this many steps, if stated.
    pub max_steps: Option<u32>,
    /// What time costs, if stated; otherwise the least volume counts, then the fewest steps.
    pub price: Option<Price>,
    /// Breaks ties and drives random choices: same task and seed, same schedule.
    pub seed: u64,
    /// What is wished of the SMT planner; others do not look at it.
    pub smt: SmtWish,
}

impl Task<'_> {
    /// The number of steps to plan for: the one asked for, or else the least there can be.
    ///
    /// # Errors
    ///
    /// [`PlanError::TooFewSteps`] if fewer are asked for than the distance allows.
    pub fn step_count(&self, least: u32) -> Result<u32, PlanError> {
        let label = |rank| self.problem.topology().rank_label(rank);
        for wanted in self.steps.into_iter().chain(self.max_steps) {
            if let Some(bound) = self.bounds.steps.as_ref().filter(|bound| wanted < bound.at_least) {
                return Err(PlanError::TooFewSteps {
                    wanted,
                    distance: bound.at_least,
                    from: label(bound.from),
                    to: label(bound.to),
                });
            }
        }
        Ok(self.steps.unwrap_or(least))
    }

    /// Checks that so many steps, which a planner cannot change, are among those asked for.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotFound`] if they are not.
    pub fn takes(&self, planner: &'static str, steps: usize) -> Result<(), PlanError> {
        let refuse = |limit: String| Err(PlanError::NotFound { planner, limit: format!("{limit} (it takes {steps})") });
        match (self.steps, self.max_steps) {
            (Some(wanted), _) if wanted as usize != steps => refuse(format!("exactly {wanted} steps")),
            (_, Some(most)) if steps > most as usize => refuse(format!("{most} steps")),
            _ => Ok(()),
        }
    }

    /// Is the first schedule the better one: cheaper if there are prices, else of less volume, then of fewer steps?
    pub fn prefers(&self, first: &Schedule, second: &Schedule) -> bool {
        match self.price {
            Some(price) => price.seconds(self.problem, first) < price.seconds(self.problem, second),
            None => (first.total_width(), first.step_count()) < (second.total_width(), second.step_count()),
        }
    }

    /// Does the schedule stand on both bounds, in the steps asked for?
    pub fn is_optimal(&self, schedule: &Schedule) -> bool {
        let bounds = self.sharper.map_or(self.bounds, SharperBounds::known);
        let least_steps = self.steps.unwrap_or(bounds.least_steps());
        schedule.step_count() as u64 == u64::from(least_steps)
            && schedule.total_width() == u64::from(bounds.least_width(self.problem.parts()).max(least_steps))
    }
}

/// When planning without a named planner asks a planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Whenever it applies.
    Always,
    /// Where time has a price: the baselines, which are planned at once, and may be fast where messages are small.
    ForTime,
    /// Never: only who names it has it.
    ByName,
}

/// A way to plan.
pub trait Planner: Sync {
    /// The name on the command line and in `origin`.
    fn name(&self) -> &'static str;

    /// One line for people: what it does and when it applies.
    fn summary(&self) -> &'static str;

    /// When planning without a named planner asks this one.
    fn asked(&self) -> Asked {
        Asked::Always
    }

    /// Whether it can plan this problem at all.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] with the reason.
    fn applies(&self, problem: &Problem) -> Result<(), PlanError>;

    /// In how many parts it comes to its best volume, if that is known beforehand: where the shares of its closed form
    /// are whole.
    fn natural_parts(&self, _problem: &Problem) -> Option<u32> {
        None
    }

    /// Plans. Calls `control` between pieces of work and returns early, with the best schedule so far, when told to.
    ///
    /// # Errors
    ///
    /// A [`PlanError`] if it does not apply, if the wish cannot be met, or if it was stopped before it had a schedule.
    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError>;
}

/// All planners, those that planning tries first before the others.
pub fn planners() -> &'static [&'static dyn Planner] {
    &[
        &Template,
        &FlowOverTime,
        &Negotiated,
        &Arborescences,
        &Trees,
        &SpanningTrees,
        &Flood,
        &Lp,
        &Smt,
        &Rings::DIM_ROTATION,
        &Rings::HALF_RING,
        &Rings::RING,
        &Rings::RING_PIPELINE,
        &FoldedRing,
        &OpenRing,
        &Mate::FOLDED,
        &Mate::OPEN,
        &MateE::SHARED,
        &MateE::EACH,
        &MateE::OPEN,
        &Dor,
        &Wfr,
        &Exchange,
        &RingOfRanks::ALL_REDUCE,
        &RingOfRanks::GATHER,
        &BinaryTree,
        &RingOfRanks::TWO_WAVE,
        &Composed,
    ]
}

/// The planner of this name.
///
/// # Errors
///
/// [`PlanError::UnknownPlanner`] with the names there are.
pub fn planner_named(name: &str) -> Result<&'static dyn Planner, PlanError> {
    let unknown = || PlanError::UnknownPlanner {
        name: name.to_owned(),
        known: planners().iter().map(|planner| planner.name()).collect(),
    };
    planners().iter().copied().find(|planner| planner.name() == name).ok_or_else(unknown)
}

/// Why a planner stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It did all it knows to do.
    Finished,
    /// The time limit came first.
    TimeLimit,
    /// It was interrupted.
    Interrupted,
}

impl StopReason {
    /// The reason in answers for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::TimeLimit => "time limit",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A planner's answer.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The schedule, not yet verified.
    pub schedule: Schedule,
    /// Why the planner stopped.
    pub stopped: StopReason,
    /// The phases of an algorithm that has some, in order; together they have all its steps.
    pub phases: Vec<Phase>,
    /// What a solver has refuted on the way.
    pub refuted: Vec<Refuted>,
    /// Is it proven, by those refutations and the bounds, that nothing better exists with these parts?
    pub proven: bool,
}

impl Outcome {
    /// A schedule of a planner that has no phases and proves nothing.
    pub fn new(schedule: Schedule, stopped: StopReason) -> Self {
        Self { schedule, stopped, phases: Vec::new(), refuted: Vec::new(), proven: false }
    }
}
