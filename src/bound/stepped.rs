//! Steps and volume jointly: the least volume of schedules of so many steps.
//!
//! The flow that may split every message over any paths, in a fixed number of steps, store and forward: a linear
//! program again, `steps` times as large as that of the flow bound. Its dual solution is a length of each link in each step; it
//! is rounded to integers, and what those prove is computed exactly.
//!
//! Over all numbers of steps this is a frontier: what no planner can be better than, at any price of steps and volume.
//!
//! Sources: Basu et al., HPDC 2024 (the time-stepped flow).

use super::flow::{FlowError, FlowLimit, FlowNetwork};
use super::rounding::{FINE, Rounding, Weights, weights};
use crate::certificate::{self, Rational};
use crate::problem::Problem;

/// No schedule of `steps` steps, or fewer, has less volume than `at_least`.
#[derive(Clone, Debug, PartialEq)]
pub struct SteppedBound {
    /// The number of steps.
    pub steps: u32,
    /// The least volume, in messages: what [`certificate::stepped_value`] says of `weights`.
    pub at_least: Rational,
    /// The weights of each step.
    pub weights: Vec<Weights>,
    /// The solver's optimum, in messages.
    pub optimum: f64,
    /// The widths of the steps in the solver's solution, in messages.
    pub widths: Vec<f64>,
    /// Variables of the program.
    pub variables: usize,
}

impl SteppedBound {
    /// The least sum of widths when a message has `parts` parts.
    pub fn least_width(&self, parts: u32) -> u32 {
        let chunks = (self.at_least * i128::from(parts)).ceil().to_integer();
        u32::try_from(chunks).unwrap_or(u32::MAX).max(self.steps)
    }
}

/// The least volume in so many steps. Deterministic; there are about `steps` times as many variables as in
/// [`super::flow_bound`].
///
/// # Errors
///
/// A [`FlowError`] with the reason why there is no bound; `Solver(Infeasible)` if there are too few steps.
pub fn stepped_bound(problem: &Problem, steps: u32, limit: &FlowLimit) -> Result<SteppedBound, FlowError> {
    let instance = FlowNetwork::new(problem)?;
    if problem.is_trivial() {
        let (weights, widths) = (vec![Vec::new(); steps as usize], vec![0.0; steps as usize]);
        return Ok(SteppedBound { steps, at_least: 0.into(), weights, optimum: 0.0, widths, variables: 0 });
    }
    let (network, generators) = (&instance.network, &instance.generators);
    instance.check_size(synth_lp::least_widths_size(network, generators, steps as usize)?, limit)?;
    let mut flow = synth_lp::least_widths(network, generators, steps as usize, &limit.solver)?;
    if instance.reversed {
        // A gather is a scatter in reversed time too.
        flow.lengths.reverse();
        flow.widths.reverse();
    }
    let pairs = &instance.pairs;
    let per_step = |rounded: &[u32]| rounded.chunks(pairs.len()).map(|step| weights(pairs, step)).collect::<Vec<_>>();
    let mut rounding = Rounding::new(|rounded: &[u32]| certificate::stepped_value(problem, &per_step(rounded)).ok());
    rounding.add(&flow.lengths.concat(), &FINE);
    let (at_least, weights) = match rounding.best {
        Some((at_least, rounded)) => (at_least, per_step(&rounded)),
        None => (Rational::from(0), vec![Vec::new(); steps as usize]),
    };
    Ok(SteppedBound {
        steps,
        at_least,
        weights,
        optimum: flow.total_width,
        widths: flow.widths,
        variables: flow.variables,
    })
}
