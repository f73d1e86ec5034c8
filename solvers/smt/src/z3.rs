//! z3, as a second opinion on the same formulas. Builds only Boolean constants and clauses, and reads only values of
//! constants, which work alike in all versions of the library from 4.8.12 on.
//!
//! z3 polls no flag, so it runs for a second, then from the beginning for two, and so on: its answer does not depend on
//! where it was interrupted.

use z3::ast::Bool;
use z3::{Params, SatResult, Tactic};

use crate::cnf::Cnf;
use crate::solver::{Limits, Verdict};

/// The first time slice, in milliseconds.
const FIRST_SLICE: u32 = 1000;

pub fn solve(cnf: &Cnf, limits: &Limits<'_>) -> Verdict {
    let variables: Vec<Bool> = (1..=cnf.variables()).map(|variable| Bool::new_const(format!("v{variable}"))).collect();
    let literal = |literal: i32| {
        let variable = &variables[literal.unsigned_abs() as usize - 1];
        if literal > 0 { variable.clone() } else { variable.not() }
    };
    let clause = |literals: &[i32]| Bool::or(&literals.iter().map(|&number| literal(number)).collect::<Vec<Bool>>());
    let clauses: Vec<Bool> = cnf.iter().map(clause).collect();
    let mut slice = FIRST_SLICE;
    while !(limits.stop)() {
        let solver = Tactic::new("sat").solver();
        let mut params = Params::new();
        params.set_u32("timeout", slice);
        if let Some(conflicts) = limits.conflicts {
            params.set_u32("max_conflicts", conflicts);
        }
        solver.set_params(&params);
        clauses.iter().for_each(|clause| solver.assert(clause));
        match solver.check() {
            SatResult::Sat => {
                let Some(model) = solver.get_model() else { return Verdict::Unknown };
                let value = |variable: &Bool| model.eval(variable, true).and_then(|value| value.as_bool());
                return Verdict::Model(variables.iter().map(|variable| value(variable).unwrap_or(false)).collect());
            }
            SatResult::Unsat => return Verdict::Refuted,
            SatResult::Unknown if limits.conflicts.is_some() => return Verdict::Unknown,
            SatResult::Unknown => slice = slice.saturating_mul(2),
        }
    }
    Verdict::Unknown
}
