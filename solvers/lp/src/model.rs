//! A linear program in rows, and the solver behind it.

use std::time::{Duration, Instant};

use good_lp::{
    Constraint, DualValues, Expression, ProblemVariables, ResolutionError, Solution, SolutionWithDual, SolverModel,
    Variable, variable,
};

use crate::LpError;

/// Minimise the sum of `cost * x` over rows `sum of coefficient * x (<= or =) bound`, all `x >= 0`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    cost: Vec<f64>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    terms: Vec<(usize, f64)>,
    equal: bool,
    bound: f64,
}

/// An optimal solution.
#[derive(Debug)]
pub(crate) struct Solved {
    /// Per variable.
    pub value: Vec<f64>,
    /// Per row, by how much the optimum falls for each unit its bound rises; never negative for `<=`.
    pub dual: Vec<f64>,
    /// The optimum.
    pub objective: f64,
}

/// How near to the optimum the solver must get, as a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// 1e-8: for large programs.
    Usual,
    /// 1e-11: for programs of some dozens of variables.
    Fine,
}

impl Model {
    /// A variable of this cost.
    pub fn variable(&mut self, cost: f64) -> usize {
        self.cost.push(cost);
        self.cost.len() - 1
    }

    /// Adds `terms <= bound`; the number of the row.
    pub fn at_most(&mut self, terms: Vec<(usize, f64)>, bound: f64) -> usize {
        self.rows.push(Row { terms, equal: false, bound });
        self.rows.len() - 1
    }

    /// Adds `terms = bound`; the number of the row.
    pub fn equal(&mut self, terms: Vec<(usize, f64)>, bound: f64) -> usize {
        self.rows.push(Row { terms, equal: true, bound });
        self.rows.len() - 1
    }

    /// Solves it. Deterministic, on one thread.
    pub fn solve(self, precision: Precision, limit: Option<Duration>) -> Result<Solved, LpError> {
        let started = Instant::now();
        let mut variables = ProblemVariables::new();
        let x: Vec<Variable> = self.cost.iter().map(|_| variables.add(variable().min(0.0))).collect();
        let cost: Expression = x.iter().zip(&self.cost).filter(|(_, cost)| **cost != 0.0).map(|(&x, &c)| c * x).sum();
        let mut problem = backend::model(variables.minimise(cost), precision, limit);
        let rows: Vec<_> = self
            .rows
            .into_iter()
            .map(|row| {
                let mut terms = Expression::with_capacity(row.terms.len());
                row.terms.iter().for_each(|&(variable, factor)| terms.add_mul(factor, x[variable]));
                let row: Constraint = if row.equal { terms.eq(row.bound) } else { terms.leq(row.bound) };
                problem.add_constraint(row)
            })
            .collect();
        let late = || limit.is_some_and(|limit| started.elapsed() >= limit);
        let mut solution = problem.solve().map_err(|error| match error {
            ResolutionError::Infeasible => LpError::Infeasible,
            // Solvers have many words for having been stopped.
            _ if late() => LpError::TimeLimit,
            error => LpError::Solver(error.to_string()),
        })?;
        backend::check(&solution)?;
        let value: Vec<f64> = x.iter().map(|&x| solution.value(x).max(0.0)).collect();
        let objective = value.iter().zip(&self.cost).map(|(value, cost)| value * cost).sum();
        let duals = solution.compute_dual();
        let dual = rows.into_iter().map(|row| -duals.dual(row)).collect();
        Ok(Solved { value, dual, objective })
    }
}

#[cfg(not(feature = "highs"))]
mod backend {
    use std::time::Duration;

    use good_lp::solvers::clarabel::{ClarabelProblem, ClarabelSolution, clarabel};
    use good_lp::variable::UnsolvedProblem;

    use super::Precision;
    use crate::LpError;

    pub fn model(problem: UnsolvedProblem, precision: Precision, limit: Option<Duration>) -> ClarabelProblem {
        let mut model = clarabel(problem);
        if precision == Precision::Fine {
            model.settings().tol_gap_abs(1e-11).tol_gap_rel(1e-11).tol_feas(1e-11);
        }
        if let Some(limit) = limit {
            model.settings().time_limit(limit.as_secs_f64());
        }
        model
    }

    /// The adapter calls any end an optimum: the solver's own status tells.
    pub fn check(solution: &ClarabelSolution) -> Result<(), LpError> {
        match format!("{:?}", solution.inner().status).as_str() {
            "Solved" => Ok(()),
            status => Err(LpError::Solver(status.to_owned())),
        }
    }
}

#[cfg(feature = "highs")]
mod backend {
    use std::time::Duration;

    use good_lp::solvers::highs::{HighsProblem, HighsSolution, highs};
    use good_lp::variable::UnsolvedProblem;
    use good_lp::{Solution, SolutionStatus, WithTimeLimit};

    use super::Precision;
    use crate::LpError;

    /// The simplex method, whose vertices are as precise as the numbers.
    pub fn model(problem: UnsolvedProblem, _: Precision, limit: Option<Duration>) -> HighsProblem {
        let model = highs(problem).set_threads(1);
        match limit {
            Some(limit) => model.with_time_limit(limit.as_secs_f64()),
            None => model,
        }
    }

    pub fn check(solution: &HighsSolution) -> Result<(), LpError> {
        match solution.status() {
            SolutionStatus::Optimal => Ok(()),
            SolutionStatus::TimeLimit => Err(LpError::TimeLimit),
            SolutionStatus::GapLimit => Err(LpError::Solver("gap limit".to_owned())),
        }
    }
}
