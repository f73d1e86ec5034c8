//! A linear program in rows, and the solver behind it.

use crate::error::LpError;
use crate::limit::Limit;

/// Minimize the sum of `cost * x` over rows `sum of coefficient * x (<= or =) bound`, all `x >= 0`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    cost: Vec<f64>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
#[cfg_attr(not(any(feature = "clarabel", feature = "highs")), expect(dead_code, reason = "read by solvers alone"))]
struct Row {
    terms: Vec<(usize, f64)>,
    equal: bool,
    bound: f64,
}

/// An optimal solution.
#[derive(Debug)]
pub(crate) struct Solved {
    pub value: Vec<f64>,
    /// Per row, the decrease of the optimum for each unit of its bound; never negative for `<=`.
    pub dual: Vec<f64>,
    pub objective: f64,
}

/// The relative tolerance of the optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// 1e-8: for large programs.
    Usual,
    /// 1e-11: for programs of dozens of variables.
    Fine,
    /// 1e-5: for programs that are solved again with more variables.
    Rough,
}

impl Model {
    pub fn variable(&mut self, cost: f64) -> usize {
        self.cost.push(cost);
        self.cost.len() - 1
    }

    /// Adds `terms <= bound`; returns the number of the row.
    pub fn at_most(&mut self, terms: Vec<(usize, f64)>, bound: f64) -> usize {
        self.rows.push(Row { terms, equal: false, bound });
        self.rows.len() - 1
    }

    /// Adds `terms = bound`.
    pub fn equal(&mut self, terms: Vec<(usize, f64)>, bound: f64) {
        self.rows.push(Row { terms, equal: true, bound });
    }

    /// Solves it. Deterministic, on one thread.
    pub fn solve(self, precision: Precision, limit: &Limit) -> Result<Solved, LpError> {
        limit.check()?;
        let cost = self.cost.clone();
        let (value, dual) = solver::solve(self, precision, limit)?;
        let value: Vec<f64> = value.into_iter().map(|value| value.max(0.0)).collect();
        let objective = value.iter().zip(&cost).map(|(value, cost)| value * cost).sum();
        Ok(Solved { value, dual, objective })
    }
}

#[cfg(not(any(feature = "clarabel", feature = "highs")))]
mod solver {
    use crate::error::LpError;
    use crate::limit::Limit;
    use crate::model::{Model, Precision};

    pub fn solve(_: Model, _: Precision, _: &Limit) -> Result<(Vec<f64>, Vec<f64>), LpError> {
        Err(LpError::NoSolver)
    }
}

#[cfg(any(feature = "clarabel", feature = "highs"))]
mod solver {
    use good_lp::{Constraint, Expression, ProblemVariables, SolverModel, Variable, variable};

    use crate::error::LpError;
    use crate::limit::Limit;
    use crate::model::{Model, Precision, backend};

    /// The values of the variables, and the dual values of the rows.
    pub fn solve(model: Model, precision: Precision, limit: &Limit) -> Result<(Vec<f64>, Vec<f64>), LpError> {
        let mut variables = ProblemVariables::new();
        let x: Vec<Variable> = model.cost.iter().map(|_| variables.add(variable().min(0.0))).collect();
        let costs = x.iter().zip(&model.cost).filter(|(_, cost)| **cost != 0.0);
        let cost: Expression = costs.map(|(&x, &c)| c * x).sum();
        let mut problem = backend::model(variables.minimise(cost), precision);
        let rows: Vec<_> = model
            .rows
            .into_iter()
            .map(|row| {
                let mut terms = Expression::with_capacity(row.terms.len());
                row.terms.iter().for_each(|&(variable, factor)| terms.add_mul(factor, x[variable]));
                let row: Constraint = if row.equal { terms.eq(row.bound) } else { terms.leq(row.bound) };
                problem.add_constraint(row)
            })
            .collect();
        backend::solve(problem, x, rows, limit)
    }
}

#[cfg(all(feature = "clarabel", not(feature = "highs")))]
mod backend {
    use std::sync::{Arc, OnceLock};

    use clarabel::solver::{IPSolver, SolverStatus};
    use good_lp::Variable;
    use good_lp::constraint::ConstraintReference;
    use good_lp::solvers::clarabel::{ClarabelProblem, clarabel};
    use good_lp::variable::UnsolvedProblem;

    use crate::error::LpError;
    use crate::limit::Limit;
    use crate::model::Precision;

    pub fn model(problem: UnsolvedProblem, precision: Precision) -> ClarabelProblem {
        let mut model = clarabel(problem);
        match precision {
            Precision::Fine => model.settings().tol_gap_abs(1e-11).tol_gap_rel(1e-11).tol_feas(1e-11),
            Precision::Rough => model.settings().tol_gap_abs(1e-5).tol_gap_rel(1e-5).tol_feas(1e-7),
            Precision::Usual => model.settings(),
        };
        model
    }

    /// The values of the variables, and the dual values of the rows.
    ///
    /// The adapter can neither stop the solver nor tell an optimum from other ends, so this calls the solver itself,
    /// for which `x >= 0` is a row too: these rows come first.
    pub fn solve(
        problem: ClarabelProblem,
        variables: Vec<Variable>,
        rows: Vec<ConstraintReference>,
        limit: &Limit,
    ) -> Result<(Vec<f64>, Vec<f64>), LpError> {
        let wrong = |error: &dyn std::fmt::Display| LpError::Solver(error.to_string());
        let mut solver = problem.try_into_solver().map_err(|error| wrong(&error))?;
        let (watched, ended) = (limit.clone(), Arc::new(OnceLock::new()));
        let why = Arc::clone(&ended);
        solver.set_termination_callback(move |_| match watched.check() {
            Ok(()) => false,
            Err(error) => why.set(error).is_ok(),
        });
        solver.solve();
        if let Some(error) = ended.get() {
            return Err(error.clone());
        }
        let mut solution = solver.solution;
        match solution.status {
            SolverStatus::Solved => {}
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => return Err(LpError::Infeasible),
            status => return Err(wrong(&status)),
        }
        let dual = solution.z.split_off(variables.len());
        debug_assert_eq!((solution.x.len(), dual.len()), (variables.len(), rows.len()));
        Ok((solution.x, dual))
    }
}

#[cfg(feature = "highs")]
mod backend {
    use good_lp::constraint::ConstraintReference;
    use good_lp::solvers::highs::{HighsProblem, highs};
    use good_lp::variable::UnsolvedProblem;
    use good_lp::{
        DualValues, ResolutionError, Solution, SolutionStatus, SolutionWithDual, SolverModel, Variable, WithTimeLimit,
    };

    use crate::error::LpError;
    use crate::limit::Limit;
    use crate::model::Precision;

    /// The simplex method, whose vertices are exact to machine precision.
    pub fn model(problem: UnsolvedProblem, _: Precision) -> HighsProblem {
        highs(problem).set_threads(1)
    }

    /// The values of the variables, and the dual values of the rows.
    pub fn solve(
        mut problem: HighsProblem,
        variables: Vec<Variable>,
        rows: Vec<ConstraintReference>,
        limit: &Limit,
    ) -> Result<(Vec<f64>, Vec<f64>), LpError> {
        limit.check()?;
        if let Some(left) = limit.remaining() {
            problem = problem.with_time_limit(left.as_secs_f64());
        }
        let mut solution = problem.solve().map_err(|error| match error {
            ResolutionError::Infeasible => LpError::Infeasible,
            // The solver reports a stop in many ways.
            error => limit.check().err().unwrap_or(LpError::Solver(error.to_string())),
        })?;
        match solution.status() {
            SolutionStatus::Optimal => {}
            SolutionStatus::TimeLimit => return Err(LpError::TimeLimit),
            SolutionStatus::GapLimit => return Err(LpError::Solver("gap limit".to_owned())),
        }
        let value = variables.iter().map(|&variable| solution.value(variable)).collect();
        let duals = solution.compute_dual();
        Ok((value, rows.into_iter().map(|row| -duals.dual(row)).collect()))
    }
}
