//! The multi-commodity flow of least maximum load.
//!
//! ```text
//!   minimize t       f[s][a] >= 0: flow from node s over arc a
//!   into v - out of v = demand[s][v]     for all s and v != s
//!   sum over s of f[s][a] <= capacity[a] * t
//! ```
//!
//! Its dual: lengths of arcs, `sum of capacity * length = 1`, that maximize the total distance of the demand. Nothing
//! is routed back into its source. Source-aggregated multi-commodity flow for all-to-all: Basu et al., HPDC 2024,
//! section 4; the maximum concurrent flow problem and its dual: Shahrokhi and Matula, JACM 1990.

use crate::error::LpError;
use crate::limit::Limit;
use crate::model::{Model, Precision};
use crate::network::{Network, Symmetry};
use crate::orbits::Orbits;

/// A flow of least maximum load.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The maximum load per capacity: the optimum.
    pub load: f64,
    /// The length of each arc that proves it, `sum of capacity * length = 1` up to the solver's precision.
    pub lengths: Vec<f64>,
    /// Variables of the program solved.
    pub variables: usize,
    orbits: Orbits,
    arcs: usize,
    value: Vec<f64>,
}

impl Flow {
    /// The flow from this node over this arc.
    pub fn on(&self, source: usize, arc: usize) -> f64 {
        self.value[self.orbits.flows.of(source * self.arcs + arc)]
    }
}

/// The variables of [`least_load`]. O(nodes * arcs * symmetries).
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is invalid.
pub fn least_load_size(network: &Network, symmetries: &[Symmetry]) -> Result<usize, LpError> {
    let orbits = Orbits::new(network, symmetries)?;
    Ok(orbits.flows.representatives().iter().filter(|&&flow| is_variable(network, flow)).count())
}

/// May there be such a flow: from a node with something to send, over an arc that does not lead back to it?
fn is_variable(network: &Network, flow: usize) -> bool {
    let (source, arc) = (flow / network.arcs().len(), flow % network.arcs().len());
    network.supply(source) > 0.0 && network.arcs()[arc].to != source
}

/// Routes the demand so as to minimize the maximum load per capacity.
///
/// `symmetries` are maps of the network onto itself (generators are enough); they shrink the program but keep its
/// optimum. The program has `nodes * arcs` variables over the number of symmetries. An interior-point method needs 15
/// to 30 iterations, each a sparse factorization: 1500 variables take hundredths of a second, 25 thousand seconds, 100
/// thousand less than a minute.
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is invalid, [`LpError::Infeasible`] if some demand has no path, and the errors of
/// the solver.
pub fn least_load(network: &Network, symmetries: &[Symmetry], limit: &Limit) -> Result<Flow, LpError> {
    let orbits = Orbits::new(network, symmetries)?;
    let (nodes, arcs) = (network.nodes(), network.arcs());
    let mut model = Model::default();
    let load = model.variable(1.0);
    let mut variable = vec![None; orbits.flows.count()];
    for (class, &flow) in orbits.flows.representatives().iter().enumerate() {
        if is_variable(network, flow) {
            variable[class] = Some(model.variable(0.0));
        }
    }
    let [out, into] = network.arcs_by_node();
    let on = |source: usize, arc: usize| variable[orbits.flows.of(source * arcs.len() + arc)];
    for &pair in orbits.pairs.representatives() {
        let (source, node) = (pair / nodes, pair % nodes);
        if source == node || network.supply(source) == 0.0 {
            continue;
        }
        let enters = into[node].iter().filter_map(|&arc| Some((on(source, arc)?, 1.0)));
        let leaves = out[node].iter().filter_map(|&arc| Some((on(source, arc)?, -1.0)));
        model.equal(enters.chain(leaves).collect(), network.demand(source, node));
    }
    let mut capacity_rows = Vec::with_capacity(orbits.arcs.count());
    for &arc in orbits.arcs.representatives() {
        let mut terms: Vec<_> = (0..nodes).filter_map(|source| Some((on(source, arc)?, 1.0))).collect();
        terms.push((load, -arcs[arc].capacity));
        capacity_rows.push(model.at_most(terms, 0.0));
    }
    let solved = model.solve(Precision::Usual, limit)?;
    Ok(Flow {
        load: solved.objective,
        lengths: orbits.lengths(&solved.dual, &capacity_rows),
        variables: solved.value.len(),
        value: variable.iter().map(|variable| variable.map_or(0.0, |variable| solved.value[variable])).collect(),
        arcs: arcs.len(),
        orbits,
    })
}
