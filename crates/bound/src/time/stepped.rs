//! Steps and volume jointly: the least volume in a given number of steps.
//!
//! The flow that may split every message over any paths, in a fixed number of store-and-forward steps, is a linear
//! program `steps` times as large as that of the flow bound. Its dual solution is a length of each link in each step;
//! it is rounded to integers, and the bound those prove is computed exactly.
//!
//! Where chunks are copied or added up, the program has only what one rank must receive, or send (`stars`; of an
//! all_reduce: the contribution of the rank farthest from it), so it is small. Two such ranks are looked at.
//!
//! Over all numbers of steps this is a frontier that no planner can beat, at any price of steps and volume.
//!
//! Sources: Basu et al., HPDC 2024 (the time-stepped flow).

use crate::flows::flow::{FlowError, FlowLimit, FlowNetwork};
use crate::flows::rounding::{FINE, Rounding, windows};
use crate::flows::stars::{Measure, Star, stars};
use crate::machine::hops::Hops;
use collsynth_core::certificate::{self, Bounds, JointBound, Rational};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// Ranks of a machine of which single ones are looked at: networks have a number for every pair.
const MOST_RANKS: usize = 512;
/// Of the stars, the one with the most hops, and of those with the least capacity; and the other way round. The first
/// decides in few steps, the second in many.
const FARTHEST: Measure = |_, capacity, hops| u64::from(hops) << 32 | u64::from(u32::MAX - capacity);
const NARROWEST: Measure = |_, capacity, hops| u64::from(u32::MAX - capacity) << 32 | u64::from(hops);

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

/// The least volume in a number of steps. Deterministic; for all_to_all and all_to_allv about `steps` times as many
/// variables as [`crate::flow_bound`], for the others `steps * links`, twice.
///
/// # Errors
///
/// A [`FlowError`] with the reason why there is no bound; `Solver(Infeasible)` if there are too few steps.
pub fn stepped_bound(problem: &Problem, steps: u32, limit: &FlowLimit) -> Result<SteppedBound, FlowError> {
    let kind = &problem.collective().kind;
    if !kind.has_volume() {
        return Err(FlowError::NoVolume);
    }
    if problem.is_trivial() {
        let proven = JointBound { steps, at_least: 0.into(), rank: None, weights: Vec::new() };
        return Ok(SteppedBound { proven, optimum: 0.0, widths: vec![0.0; steps as usize], variables: 0 });
    }
    if kind.pattern() == Pattern::OneToOne {
        return solved(problem, &FlowNetwork::new(problem)?, None, steps, limit);
    }
    let (ranks, most) = (problem.topology().rank_count(), limit.variables);
    if ranks > MOST_RANKS {
        let variables = problem.topology().links().len().saturating_mul(steps as usize);
        return Err(FlowError::TooLarge { variables, symmetries: 1, most: most.min(variables) });
    }
    problem.check_connected()?;
    let hops = Hops::of(problem.topology());
    let of = |measure| stars(problem, &hops, measure).into_iter().max_by_key(|star| star.slowness);
    let mut slowest: Vec<Star> = [FARTHEST, NARROWEST].into_iter().filter_map(of).collect();
    slowest.dedup_by_key(|star| (star.named, star.amounts.clone()));
    let mut best: Option<SteppedBound> = None;
    for star in slowest {
        let found = solved(problem, &FlowNetwork::around(problem, &star)?, star.named, steps, limit)?;
        if best.as_ref().is_none_or(|best| best.proven.at_least < found.proven.at_least) {
            best = Some(found);
        }
    }
    best.ok_or(FlowError::NoVolume)
}

/// The bound of the chunks that `instance` moves, which are those of `rank`, if it is one.
fn solved(
    problem: &Problem,
    instance: &FlowNetwork,
    rank: Option<RankId>,
    steps: u32,
    limit: &FlowLimit,
) -> Result<SteppedBound, FlowError> {
    let (network, generators) = (&instance.network, &instance.generators);
    instance.check_size(collsynth_lp::least_widths_size(network, generators, steps as usize)?, limit)?;
    let mut flow = collsynth_lp::least_widths(network, generators, steps as usize, &limit.solver)?;
    if instance.reversed {
        // In reversed time too.
        flow.lengths.reverse();
        flow.widths.reverse();
    }
    let spans: Vec<(u32, u32)> = (1..=steps).map(|step| (step, step)).collect();
    let windows = |rounded: &[u32]| windows(&instance.pairs, rounded, &spans);
    let mut rounding =
        Rounding::new(|rounded: &[u32]| certificate::stepped_value(problem, steps, rank, &windows(rounded)).ok());
    rounding.add(&flow.lengths.concat(), &FINE);
    let (at_least, weights) = match rounding.best {
        Some((at_least, rounded)) => (at_least, windows(&rounded)),
        None => (Rational::from(0), Vec::new()),
    };
    Ok(SteppedBound {
        proven: JointBound { steps, at_least, rank, weights },
        optimum: flow.total_width,
        widths: flow.widths,
        variables: flow.variables,
    })
}

/// Joint bounds of a schedule of this many steps and this total width, where the separate bounds leave a gap: one which
/// proves that none of fewer steps is as narrow, if that can be proven, and one on the volume in this many steps, if it
/// proves more than the volume bound.
///
/// Solves at most two linear programs (four where ranks are named); none for a barrier, if they are too large, or past
/// the limit.
pub fn joint_bounds(problem: &Problem, bounds: &Bounds, steps: u32, width: u32, limit: &FlowLimit) -> Vec<JointBound> {
    let parts = problem.parts();
    let mut joint = Vec::new();
    let proven = |steps: u32| stepped_bound(problem, steps, limit).ok().map(|found| found.proven);
    if steps > bounds.least_steps() {
        joint.extend(proven(steps - 1).filter(|bound| bound.least_width(parts) > width));
    }
    if width > bounds.least_width(parts) {
        let known = bounds.volume.as_ref().map_or(0.into(), |bound| bound.at_least);
        joint.extend(proven(steps).filter(|bound| bound.at_least > known));
    }
    joint
}
