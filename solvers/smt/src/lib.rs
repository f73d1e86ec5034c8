//! Schedules of exactly so many steps and so much width, or the proof that there are none. Plain graphs and numbers;
//! nothing here knows what they are for.
//!
//! [`solve`] writes a [`Question`] about an [`Instance`] as a formula of propositional logic and asks a solver. A model
//! is a schedule; where there is no model, there is no schedule, of whatever form: the formulas leave out only what can
//! be left out of any schedule, see the modules `moves` (chunks that are copied) and `sums` (contributions that are
//! added).
//!
//! Three formulas are tried one after the other, the first two for so many conflicts:
//!
//! 1. *Schedules that keep symmetries*: maps of the graph that keep no node where it is carry the schedule into itself.
//!    There are far fewer of those, and on a torus there nearly always is one. Without an answer, nothing is proven.
//! 2. *All schedules*, plainly.
//! 3. *All schedules but for images of each other*: the symmetries are broken (see `lex`), until there is an answer.
//!
//! One formula, two solvers: CaDiCaL, which builds with a C++ compiler and writes proofs of its refutations
//! ([`prove`]); and, with the feature `z3`, z3.
//!
//! ```
//! use collsynth_smt::{Answer, Arc, Backend, Chunk, Demand, Instance, Limits, Question, solve};
//!
//! // A line of three nodes; each end has a chunk for the other.
//! let arc = |from, to| Arc { from, to, capacity: 1 };
//! let chunks = vec![Chunk { source: 0, dests: vec![2] }, Chunk { source: 2, dests: vec![0] }];
//! let line = Instance {
//!     nodes: 3,
//!     arcs: vec![arc(0, 1), arc(1, 2), arc(2, 1), arc(1, 0)],
//!     demand: Demand::Move(chunks),
//!     symmetries: Vec::new(),
//!     metrics: Vec::new(),
//! };
//! let limits = Limits { stop: &|| false, conflicts: None };
//! let ask = |steps, width| solve(&line, Question { steps, width }, Backend::Cadical, &limits);
//! assert!(matches!(ask(1, 1)?, Answer::Refuted(_)));
//! let Answer::Found(schedule) = ask(2, 2)? else { panic!("both chunks meet in the middle") };
//! assert_eq!(schedule.steps[1].moves.len(), 2);
//! # Ok::<(), collsynth_smt::InstanceError>(())
//! ```

mod cadical;
mod cnf;
mod instance;
mod lex;
mod moves;
mod pruning;
mod schedule;
mod search;
mod sends;
mod sums;
mod symmetry;
#[cfg(feature = "z3")]
mod z3;

pub use cnf::Cnf;
pub use instance::{Arc, Chunk, Demand, Instance, InstanceError, Question, Symmetry};
pub use schedule::{Move, Schedule, ScheduleStep};
pub use search::{Answer, Formula, Proof, prove, solve};

use symmetry::Action;

/// Who solves the formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// CaDiCaL, a SAT solver.
    #[default]
    Cadical,
    /// z3.
    #[cfg(feature = "z3")]
    Z3,
}

/// When to stop.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Asked now and then; true: stop.
    pub stop: &'a dyn Fn() -> bool,
    /// After so many conflicts of each formula, if stated.
    pub conflicts: Option<u32>,
}

/// The form of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofForm {
    /// Clauses added and deleted; `drat-trim` checks it.
    Drat,
    /// The same with the clauses that each follows from; `lrat-check` and `cake_lpr` check it.
    Lrat,
}

/// What a solver says of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds where these variables do.
    Model(Vec<bool>),
    /// It never holds.
    Refuted,
    /// Stopped before either was known.
    Unknown,
}

/// How a formula uses symmetries.
#[derive(Clone, Copy, Debug)]
enum Symmetries<'a> {
    /// Not at all.
    Ignore,
    /// Of schedules that are images of each other, only some are models.
    Break(&'a [Action]),
    /// Only schedules that are carried into themselves are models.
    Keep(&'a [Action]),
}
