//! The multi-commodity flow of least largest load.
//!
//! ```text
//!   minimise t       f[s][a] >= 0: what begins at node s and crosses arc a
//!   into v - out of v = demand[s][v]     for all s and v != s
//!   sum over s of f[s][a] <= capacity[a] * t
//! ```
//!
//! Its dual: lengths of arcs, `sum of capacity * length = 1`, so that all demand together has as far to go as possible.
//! Nothing is routed back into its source. Source-aggregated multi-commodity flow for all-to-all: Basu et al., HPDC
//! 2024, section 4; the maximum concurrent flow problem and its dual: Shahrokhi and Matula, JACM 1990.

use crate::model::{Model, Precision};
use crate::orbits::Orbits;
use crate::{Limit, LpError, Network, Symmetry};

/// A flow of least largest load.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The largest load, over the capacity: the optimum.
    pub load: f64,
    /// The length of each arc that proves it, `sum of capacity * length = 1` as near as the solver gets.
    pub lengths: Vec<f64>,
    /// Variables of the program that was solved.
    pub variables: usize,
    orbits: Orbits,
    arcs: usize,
    value: Vec<f64>,
}

impl Flow {
    /// What begins at this node and crosses this arc.
    pub fn on(&self, source: usize, arc: usize) -> f64 {
        self.value[self.orbits.flows.of(source * self.arcs + arc)]
    }
}

/// The number of variables [`least_load`] would need. O(nodes * arcs * symmetries).
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is none.
pub fn least_load_size(network: &Network, symmetries: &[Symmetry]) -> Result<usize, LpError> {
    Ok(Orbits::new(network, symmetries)?.flows.count())
}

/// Routes the demand so that the largest load over capacity is as small as can be.
///
/// `symmetries` are maps of the network onto itself (generators are enough); they make the program smaller, not its
/// optimum. The program has `nodes * arcs` variables over the number of symmetries. An interior-point method needs some
/// 15 to 30 iterations, each a sparse factorisation: 1500 variables take some hundredths of a second, 25 thousand some
/// seconds, 100 thousand less than a minute.
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is none, [`LpError::Infeasible`] if some demand has no way, and what the solver
/// says.
pub fn least_load(network: &Network, symmetries: &[Symmetry], limit: &Limit) -> Result<Flow, LpError> {
    let orbits = Orbits::new(network, symmetries)?;
    let (nodes, arcs) = (network.nodes(), network.arcs());
    let mut model = Model::default();
    let load = model.variable(1.0);
    let mut variable = vec![None; orbits.flows.count()];
    for (class, &flow) in orbits.flows.representatives().iter().enumerate() {
        let (source, arc) = (flow / arcs.len(), &arcs[flow % arcs.len()]);
        if network.supply(source) > 0.0 && arc.to != source {
            variable[class] = Some(model.variable(0.0));
        }
    }
    let (mut into, mut out) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
    for (index, arc) in arcs.iter().enumerate() {
        into[arc.to].push(index);
        out[arc.from].push(index);
    }
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
    let lengths = (0..arcs.len()).map(|arc| {
        let class = orbits.arcs.of(arc);
        solved.dual[capacity_rows[class]].max(0.0) / f64::from(orbits.arcs.size(class))
    });
    Ok(Flow {
        load: solved.objective,
        lengths: lengths.collect(),
        variables: solved.value.len(),
        value: variable.iter().map(|variable| variable.map_or(0.0, |variable| solved.value[variable])).collect(),
        arcs: arcs.len(),
        orbits,
    })
}
