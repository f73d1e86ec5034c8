//! Steps and volume jointly: the least volume in a given number of steps.
//!
//! The flow that may split every message over any paths, in a fixed number of store-and-forward steps, is a linear
//! program `steps` times as large as that of the flow bound. Its dual solution is a length of each link in each step;
//! it is rounded to integers, and the bound those prove is computed exactly.
//!
//! Over all numbers of steps this is a frontier that no planner can beat, at any price of steps and volume.
//!
//! Sources: Basu et al., HPDC 2024 (the time-stepped flow).

use super::flow::{FlowError, FlowLimit, FlowNetwork};
use super::rounding::{FINE, Rounding, windows};
use collsynth_core::certificate::{self, Bounds, JointBound, Rational};
use collsynth_core::problem::Problem;

/// The optimum of the linear program for a number of steps, and the bound proven from it.
#[derive(Clone, Debug, PartialEq)]
pub struct SteppedBound {
    /// The bound.
    pub proven: JointBound,
    /// The solver's optimum, in messages.
    pub optimum: f64,
    /// The solver's widths of the steps, in messages.
    pub widths: Vec<f64>,
    /// Variables of the program.
    pub variables: usize,
}

impl SteppedBound {
    /// The least total width for messages of `parts` parts: every step is at least 1 wide.
    pub fn least_width(&self, parts: u32) -> u32 {
        self.proven.least_width(parts).max(self.proven.steps)
    }
}

/// The least volume in a number of steps. Deterministic; about `steps` times as many variables as
/// [`super::flow_bound`].
///
/// # Errors
///
/// A [`FlowError`] with the reason why there is no bound; `Solver(Infeasible)` if there are too few steps.
pub fn stepped_bound(problem: &Problem, steps: u32, limit: &FlowLimit) -> Result<SteppedBound, FlowError> {
    let instance = FlowNetwork::new(problem)?;
    if problem.is_trivial() {
        let proven = JointBound { steps, at_least: 0.into(), weights: Vec::new() };
        return Ok(SteppedBound { proven, optimum: 0.0, widths: vec![0.0; steps as usize], variables: 0 });
    }
    let (network, generators) = (&instance.network, &instance.generators);
    instance.check_size(collsynth_lp::least_widths_size(network, generators, steps as usize)?, limit)?;
    let mut flow = collsynth_lp::least_widths(network, generators, steps as usize, &limit.solver)?;
    if instance.reversed {
        // A gather is a scatter in reversed time too.
        flow.lengths.reverse();
        flow.widths.reverse();
    }
    let spans: Vec<(u32, u32)> = (1..=steps).map(|step| (step, step)).collect();
    let windows = |rounded: &[u32]| windows(&instance.pairs, rounded, &spans);
    let mut rounding =
        Rounding::new(|rounded: &[u32]| certificate::stepped_value(problem, steps, &windows(rounded)).ok());
    rounding.add(&flow.lengths.concat(), &FINE);
    let (at_least, weights) = match rounding.best {
        Some((at_least, rounded)) => (at_least, windows(&rounded)),
        None => (Rational::from(0), Vec::new()),
    };
    Ok(SteppedBound {
        proven: JointBound { steps, at_least, weights },
        optimum: flow.total_width,
        widths: flow.widths,
        variables: flow.variables,
    })
}

/// Joint bounds which prove that no schedule of at most `steps` steps is narrower than `width`, and none of fewer steps
/// as narrow, where the separate bounds do not: one each, if it can be proven.
///
/// Solves at most two linear programs; none for kinds without them, if they are too large, or past the limit.
pub fn joint_bounds(problem: &Problem, bounds: &Bounds, steps: u32, width: u32, limit: &FlowLimit) -> Vec<JointBound> {
    let parts = problem.parts();
    let mut joint = Vec::new();
    let mut ask = |steps: u32, width: u32| {
        let bound = stepped_bound(problem, steps, limit).ok().map(|found| found.proven);
        joint.extend(bound.filter(|bound| bound.least_width(parts) >= width));
    };
    if steps > bounds.least_steps() {
        ask(steps - 1, width + 1);
    }
    if width > bounds.least_width(parts) {
        ask(steps, width);
    }
    joint
}
