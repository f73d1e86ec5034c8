//! The choice of a solver, its limits, and its answer.

/// The solver of the formula.
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
    /// Polled now and then; true: stop.
    pub stop: &'a dyn Fn() -> bool,
    /// The most conflicts of each formula, if stated.
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

/// A solver's verdict on a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds for these values of the variables.
    Model(Vec<bool>),
    /// It never holds.
    Refuted,
    /// Stopped before either was known.
    Unknown,
}
