//! The flow of least total width in a fixed number of steps.
//!
//! ```text
//!   minimise w[0] + ... + w[S-1]
//!   f[s][a][t] >= 0: what begins at node s and crosses arc a in step t;  h[s][v][t] >= 0: what waits at v meanwhile
//!   h[s][v][t-1] + into v in step t-1 = h[s][v][t] + out of v in step t      (all of it at s before step 0,
//!                                                                            demand[s][v] at v after step S-1)
//!   sum over s of f[s][a][t] <= capacity[a] * w[t]
//! ```
//!
//! What arrives in a step moves on in a later one: store and forward. No schedule of S steps (or fewer) has a smaller
//! sum of widths, so this bounds steps and volume *jointly*. Time-stepped multi-commodity flow: Basu et al., HPDC 2024,
//! section 4. The dual is a length of each arc in each step.

use crate::model::{Model, Precision};
use crate::orbits::Orbits;
use crate::{Limit, LpError, Network, Symmetry};

/// A flow in steps of least total width.
#[derive(Clone, Debug)]
pub struct SteppedFlow {
    /// The sum of the widths: the optimum.
    pub total_width: f64,
    /// The width of each step.
    pub widths: Vec<f64>,
    /// The length of each arc in each step that proves it, `lengths[step][arc]`; in every step the sum of
    /// `capacity * length` is 1 at most, as near as the solver gets.
    pub lengths: Vec<Vec<f64>>,
    /// Variables of the program that was solved.
    pub variables: usize,
    orbits: Orbits,
    arcs: usize,
    /// `value[step * classes + class]`
    value: Vec<f64>,
}

impl SteppedFlow {
    /// What begins at this node and crosses this arc in this step.
    pub fn on(&self, source: usize, arc: usize, step: usize) -> f64 {
        self.value[step * self.orbits.flows.count() + self.orbits.flows.of(source * self.arcs + arc)]
    }
}

/// The number of variables [`least_widths`] would need, about. O(nodes * arcs * symmetries).
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is none.
pub fn least_widths_size(network: &Network, symmetries: &[Symmetry], steps: usize) -> Result<usize, LpError> {
    let orbits = Orbits::new(network, symmetries)?;
    Ok((orbits.flows.count() + orbits.pairs.count()).saturating_mul(steps))
}

/// Variables: `[step * classes + class]`.
struct Variables {
    crosses: Vec<Option<usize>>,
    waits: Vec<Option<usize>>,
}

/// Routes the demand in so many steps, so that the sum of the widths is as small as can be. A step of width `w` carries
/// `w * capacity` over each arc. Symmetries as in [`crate::least_load`]; there are about `steps` times as many
/// variables.
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is none, [`LpError::Infeasible`] if there are too few steps, and what the solver
/// says.
pub fn least_widths(
    network: &Network,
    symmetries: &[Symmetry],
    steps: usize,
    limit: &Limit,
) -> Result<SteppedFlow, LpError> {
    let orbits = Orbits::new(network, symmetries)?;
    let (nodes, arcs) = (network.nodes(), network.arcs());
    let hops: Vec<Vec<u32>> = (0..nodes).map(|source| network.hops(source)).collect();
    let too_far = |(source, dest): (usize, usize)| {
        network.demand(source, dest) > 0.0 && u64::from(hops[source][dest]) > steps as u64
    };
    if (0..nodes * nodes).any(|pair| too_far((pair / nodes, pair % nodes))) {
        return Err(LpError::Infeasible);
    }
    let mut model = Model::default();
    let widths: Vec<usize> = (0..steps).map(|_| model.variable(1.0)).collect();
    let variables = variables(network, &orbits, &hops, steps, &mut model);
    balance(network, &orbits, &hops, steps, &variables, &mut model);
    let mut rows = Vec::with_capacity(steps * orbits.arcs.count());
    for (step, &width) in widths.iter().enumerate() {
        for &arc in orbits.arcs.representatives() {
            let crosses = |source: usize| {
                variables.crosses[step * orbits.flows.count() + orbits.flows.of(source * arcs.len() + arc)]
            };
            let mut terms: Vec<_> = (0..nodes).filter_map(|source| Some((crosses(source)?, 1.0))).collect();
            terms.push((width, -arcs[arc].capacity));
            rows.push(model.at_most(terms, 0.0));
        }
    }
    let solved = model.solve(Precision::Usual, limit)?;
    let length = |step: usize, arc: usize| {
        let class = orbits.arcs.of(arc);
        solved.dual[rows[step * orbits.arcs.count() + class]].max(0.0) / f64::from(orbits.arcs.size(class))
    };
    Ok(SteppedFlow {
        total_width: solved.objective,
        widths: widths.iter().map(|&width| solved.value[width]).collect(),
        lengths: (0..steps).map(|step| (0..arcs.len()).map(|arc| length(step, arc)).collect()).collect(),
        variables: solved.value.len(),
        value: variables
            .crosses
            .iter()
            .map(|variable| variable.map_or(0.0, |variable| solved.value[variable]))
            .collect(),
        arcs: arcs.len(),
        orbits,
    })
}

/// Variables where something can be: at nodes that are near enough to the source.
fn variables(network: &Network, orbits: &Orbits, hops: &[Vec<u32>], steps: usize, model: &mut Model) -> Variables {
    let (nodes, arcs) = (network.nodes(), network.arcs());
    let sends: Vec<bool> = (0..nodes).map(|source| network.supply(source) > 0.0).collect();
    let mut variables = Variables { crosses: Vec::new(), waits: Vec::new() };
    for step in 0..steps as u32 {
        variables.crosses.extend(orbits.flows.representatives().iter().map(|&flow| {
            let (source, arc) = (flow / arcs.len(), &arcs[flow % arcs.len()]);
            let useful = sends[source] && hops[source][arc.from] <= step && arc.to != source;
            useful.then(|| model.variable(0.0))
        }));
        variables.waits.extend(orbits.pairs.representatives().iter().map(|&pair| {
            let (source, node) = (pair / nodes, pair % nodes);
            (sends[source] && hops[source][node] <= step).then(|| model.variable(0.0))
        }));
    }
    variables
}

/// What is at a node before a step waits there or leaves in it; after the last step, it is what the node needs.
fn balance(
    network: &Network,
    orbits: &Orbits,
    hops: &[Vec<u32>],
    steps: usize,
    variables: &Variables,
    model: &mut Model,
) {
    let (nodes, arcs) = (network.nodes(), network.arcs());
    let (mut into, mut out) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for (index, arc) in arcs.iter().enumerate() {
        into[arc.to].push(index);
        out[arc.from].push(index);
    }
    let crosses = |source: usize, arc: usize, step: usize| {
        variables.crosses[step * orbits.flows.count() + orbits.flows.of(source * arcs.len() + arc)]
    };
    for (class, &pair) in orbits.pairs.representatives().iter().enumerate() {
        let (source, node) = (pair / nodes, pair % nodes);
        let supply = network.supply(source);
        if supply == 0.0 {
            continue;
        }
        let waits = |step: usize| variables.waits[step * orbits.pairs.count() + class];
        for step in 0..=steps {
            if hops[source][node] as usize > step {
                continue;
            }
            let mut terms = Vec::new();
            if let Some(before) = step.checked_sub(1) {
                terms.extend(waits(before).map(|variable| (variable, 1.0)));
                terms.extend(into[node].iter().filter_map(|&arc| Some((crosses(source, arc, before)?, 1.0))));
            }
            if step < steps {
                terms.extend(waits(step).map(|variable| (variable, -1.0)));
                terms.extend(out[node].iter().filter_map(|&arc| Some((crosses(source, arc, step)?, -1.0))));
            }
            let begins = if step == 0 && node == source { supply } else { 0.0 };
            let ends = if step == steps { network.demand(source, node) } else { 0.0 };
            model.equal(terms, ends - begins);
        }
    }
}
