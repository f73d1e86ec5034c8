//! The SMT planner with its options.

use std::fmt;
use std::str::FromStr;

/// The SMT planner.
///
/// ```
/// use collsynth_plan::{Control, Goal, Smt, synthesize};
/// use collsynth_core::{collective::Kind, topology::Topology};
///
/// let smt = Smt::new();
/// let goal = Goal { planner: Some(&smt), ..Goal::default() };
/// let plan = synthesize(&Topology::torus(&[3, 3])?, &Kind::AllToAll, &goal, &Control::unlimited())?;
/// assert_eq!((plan.schedule.step_count(), plan.schedule.total_width()), (2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Smt {
    /// The solver of the formulas.
    pub backend: SmtBackend,
    /// The first objective.
    pub minimize: Minimize,
    /// At most this total width, if stated.
    pub width: Option<u32>,
}

/// The solver of the formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmtBackend {
    /// CaDiCaL, the built-in SAT solver.
    #[default]
    Cadical,
    /// z3.
    Z3,
}

/// The first objective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Minimize {
    /// The least volume, then the fewest steps that allow it.
    #[default]
    Volume,
    /// The fewest steps, then the least volume that they allow.
    Steps,
}

impl fmt::Display for Minimize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Volume => "volume",
            Self::Steps => "steps",
        })
    }
}

impl FromStr for Minimize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = [Self::Volume, Self::Steps].into_iter().find(|minimize| minimize.to_string() == text);
        named.ok_or_else(|| "write steps or volume".to_owned())
    }
}

impl Smt {
    /// CaDiCaL, the least volume, any width.
    pub const fn new() -> Self {
        Self { backend: SmtBackend::Cadical, minimize: Minimize::Volume, width: None }
    }
}

impl SmtBackend {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cadical => "cadical",
            Self::Z3 => "z3",
        }
    }
}

impl fmt::Display for SmtBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SmtBackend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = [Self::Cadical, Self::Z3].into_iter().find(|backend| backend.name() == text);
        named.ok_or_else(|| "write cadical or z3".to_owned())
    }
}
