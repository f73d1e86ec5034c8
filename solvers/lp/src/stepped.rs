//! The flow of least total width in a fixed number of steps.
//!
//! ```text
//!   minimize w[0] + ... + w[S-1]
//!   f[s][a][t] >= 0: flow from node s over arc a in step t;  h[s][v][t] >= 0: flow from s waiting at v meanwhile
//!   h[s][v][t-1] + into v in step t-1 = h[s][v][t] + out of v in step t      (all of it at s before step 0,
//!                                                                            demand[s][v] at v after step S-1)
//!   sum over s of f[s][a][t] <= capacity[a] * w[t]
//! ```
//!
//! Flow that arrives in a step continues in a later one: store and forward. No schedule of at most S steps has a
//! smaller sum of widths, so this bounds steps and volume *jointly*. Time-stepped multi-commodity flow: Basu et al.,
//! HPDC 2024, section 4. The dual is a length of each arc in each step.

use crate::error::LpError;
use crate::limit::Limit;
use crate::model::{Model, Precision};
use crate::network::{Network, Symmetry};
use crate::orbits::{Classes, Orbits};

/// A flow in steps of least total width.
#[derive(Clone, Debug)]
pub struct SteppedFlow {
    /// The sum of the widths: the optimum.
    pub total_width: f64,
    /// The width of each step.
    pub widths: Vec<f64>,
    /// The length of each arc in each step that proves it, `lengths[step][arc]`; in every step the sum of `capacity *
    /// length` is at most 1, up to the solver's precision.
    pub lengths: Vec<Vec<f64>>,
    /// Variables of the program solved.
    pub variables: usize,
    orbits: Orbits,
    arcs: usize,
    /// `value[step * classes + class]`
    value: Vec<f64>,
}

impl SteppedFlow {
    /// The flow from this node over this arc in this step.
    pub fn on(&self, source: usize, arc: usize, step: usize) -> f64 {
        self.value[step * self.orbits.flows.count() + self.orbits.flows.of(source * self.arcs + arc)]
    }
}

/// About the number of variables of [`least_widths`]. O(nodes * arcs * symmetries).
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is invalid.
pub fn least_widths_size(network: &Network, symmetries: &[Symmetry], steps: usize) -> Result<usize, LpError> {
    let orbits = Orbits::new(network, symmetries)?;
    let sends: Vec<bool> = (0..network.nodes()).map(|source| network.supply(source) > 0.0).collect();
    let sent =
        |things: &Classes, each: usize| things.representatives().iter().filter(|&&thing| sends[thing / each]).count();
    let (flows, waits) = (sent(&orbits.flows, network.arcs().len()), sent(&orbits.pairs, network.nodes()));
    Ok((flows + waits).saturating_mul(steps))
}

/// Routes the demand in a number of steps of least total width. A step of width `w` carries `w * capacity` over each
/// arc. Symmetries as in [`crate::flow::least_load`]; there are about `steps` times as many variables.
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is invalid, [`LpError::Infeasible`] if there are too few steps, and the errors of
/// the solver.
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
    let variables = Variables::new(network, &orbits, &hops, steps, &mut model);
    variables.balance(steps, &mut model);
    let mut rows = Vec::with_capacity(steps * orbits.arcs.count());
    for (step, &width) in widths.iter().enumerate() {
        for &arc in orbits.arcs.representatives() {
            let crosses = (0..nodes).filter_map(|source| Some((variables.crosses(source, arc, step)?, 1.0)));
            let mut terms: Vec<_> = crosses.collect();
            terms.push((width, -arcs[arc].capacity));
            rows.push(model.at_most(terms, 0.0));
        }
    }
    let solved = model.solve(Precision::Usual, limit)?;
    let classes = orbits.arcs.count();
    let value = |variable: &Option<usize>| variable.map_or(0.0, |variable| solved.value[variable]);
    Ok(SteppedFlow {
        total_width: solved.objective,
        widths: widths.iter().map(|&width| solved.value[width]).collect(),
        lengths: (0..steps).map(|step| orbits.lengths(&solved.dual, &rows[step * classes..][..classes])).collect(),
        variables: solved.value.len(),
        value: variables.crosses.iter().map(value).collect(),
        arcs: arcs.len(),
        orbits,
    })
}

/// Variables, `[step * classes + class]`, for flow at nodes near enough to the source.
struct Variables<'a> {
    network: &'a Network,
    orbits: &'a Orbits,
    hops: &'a [Vec<u32>],
    crosses: Vec<Option<usize>>,
    waits: Vec<Option<usize>>,
}

impl<'a> Variables<'a> {
    fn new(network: &'a Network, orbits: &'a Orbits, hops: &'a [Vec<u32>], steps: usize, model: &mut Model) -> Self {
        let (nodes, arcs) = (network.nodes(), network.arcs());
        let sends: Vec<bool> = (0..nodes).map(|source| network.supply(source) > 0.0).collect();
        let (mut crosses, mut waits) = (Vec::new(), Vec::new());
        for step in 0..steps as u32 {
            crosses.extend(orbits.flows.representatives().iter().map(|&flow| {
                let (source, arc) = (flow / arcs.len(), &arcs[flow % arcs.len()]);
                let useful = sends[source] && hops[source][arc.from] <= step && arc.to != source;
                useful.then(|| model.variable(0.0))
            }));
            waits.extend(orbits.pairs.representatives().iter().map(|&pair| {
                let (source, node) = (pair / nodes, pair % nodes);
                (sends[source] && hops[source][node] <= step).then(|| model.variable(0.0))
            }));
        }
        Self { network, orbits, hops, crosses, waits }
    }

    fn crosses(&self, source: usize, arc: usize, step: usize) -> Option<usize> {
        let class = self.orbits.flows.of(source * self.network.arcs().len() + arc);
        self.crosses[step * self.orbits.flows.count() + class]
    }

    /// Flow at a node waits there or leaves in the next step; after the last step it meets the demand of the node.
    fn balance(&self, steps: usize, model: &mut Model) {
        let (network, nodes) = (self.network, self.network.nodes());
        let [out, into] = network.arcs_by_node();
        for (class, &pair) in self.orbits.pairs.representatives().iter().enumerate() {
            let (source, node) = (pair / nodes, pair % nodes);
            let supply = network.supply(source);
            let waits = |step: usize| self.waits[step * self.orbits.pairs.count() + class];
            for step in (0..=steps).filter(|&step| supply > 0.0 && self.hops[source][node] as usize <= step) {
                let mut terms = Vec::new();
                if let Some(before) = step.checked_sub(1) {
                    terms.extend(waits(before).map(|variable| (variable, 1.0)));
                    terms.extend(into[node].iter().filter_map(|&arc| Some((self.crosses(source, arc, before)?, 1.0))));
                }
                if step < steps {
                    terms.extend(waits(step).map(|variable| (variable, -1.0)));
                    terms.extend(out[node].iter().filter_map(|&arc| Some((self.crosses(source, arc, step)?, -1.0))));
                }
                let begins = if step == 0 && node == source { supply } else { 0.0 };
                let ends = if step == steps { network.demand(source, node) } else { 0.0 };
                model.equal(terms, ends - begins);
            }
        }
    }
}
