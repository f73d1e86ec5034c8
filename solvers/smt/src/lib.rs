//! Schedules of given steps and width, or the proof that there are none: plain graphs and numbers, independent of their
//! use.
//!
//! [`solve`] encodes a [`Question`] about an [`Instance`] as a formula of propositional logic for a solver. A model is
//! a schedule; without a model there is no schedule of any form, since the formulas exclude only what no schedule
//! needs: see the modules `moves` (chunks are copied) and `sums` (contributions are added).
//!
//! Three formulas are tried in sequence, the first two for a limited number of conflicts:
//!
//! 1. *Schedules that keep symmetries*: maps of the graph that fix no node map the schedule to itself. There are far
//!    fewer of those, and on a torus nearly always one. A refutation of this formula proves nothing.
//! 2. *All schedules*.
//! 3. *All schedules up to symmetry*: the symmetries are broken (see `lex`), until there is an answer.
//!
//! Two solvers share the formulas: CaDiCaL, which builds with a C++ compiler and writes proofs of its refutations
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
mod solver;
mod sums;
mod symmetry;
#[cfg(feature = "z3")]
mod z3;

pub use cnf::Cnf;
pub use instance::{Arc, Chunk, Demand, Instance, InstanceError, Question, Symmetry};
pub use schedule::{Move, Schedule, ScheduleStep};
pub use search::{Answer, Formula, Proof, prove, solve};
pub use solver::{Backend, Limits, ProofForm, Verdict};
