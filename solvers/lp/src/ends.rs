//! The flow that ends soonest, with the first and the last units of time resolved one by one.
//!
//! ```text
//!   minimize m                      layers   unit ... unit | between | unit ... unit        time = 2 * ends * unit + m
//!   f[s][a][l] >= 0: flow from node s over arc a in layer l;    h[s][v][l] >= 0: flow from s waiting at v meanwhile
//!   in a unit, arrivals continue in a later layer; between the ends, flow takes no time
//!   sum over s of f[s][a][l] <= capacity[a] * unit, or capacity[a] * m between the ends
//! ```
//!
//! A flow over time needs a copy of the network for every unit. But the units in the middle are all alike, and the ends
//! account for the latency of the first and last chunks. The flow between them is a relaxation, so the optimum is a
//! lower bound; if the ends are as long as the paths, it is close to that of the full program. The dual is a length of
//! each arc in each layer.
//!
//! Time expansion: Ford and Fulkerson 1958; aggregation by source: Basu et al., HPDC 2024, section 4.

use crate::error::LpError;
use crate::limit::Limit;
use crate::model::{Model, Precision};
use crate::network::{Network, Symmetry};
use crate::orbits::Orbits;

/// The flow that ends soonest.
#[derive(Clone, Debug)]
pub struct QuickFlow {
    /// Its end: the optimum, both ends included.
    pub time: f64,
    /// The length of each arc in each layer that proves it, `lengths[layer][arc]`.
    pub lengths: Vec<Vec<f64>>,
    /// Variables of the program solved.
    pub variables: usize,
}

/// An upper bound on the variables of [`least_time`]. O(nodes * arcs * symmetries).
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is invalid.
pub fn least_time_size(network: &Network, symmetries: &[Symmetry], ends: usize) -> Result<usize, LpError> {
    let orbits = Orbits::new(network, symmetries)?;
    Ok((orbits.flows.count() + orbits.pairs.count()).saturating_mul(2 * ends + 1))
}

/// Routes the demand so that it ends soonest, resolving `ends` units of this length one by one at each end. Symmetries
/// as in [`crate::flow::least_load`].
///
/// # Errors
///
/// [`LpError::Input`] if a symmetry is invalid, [`LpError::Infeasible`] if some demand has no path, and the errors of
/// the solver.
pub fn least_time(
    network: &Network,
    symmetries: &[Symmetry],
    ends: usize,
    unit: f64,
    limit: &Limit,
) -> Result<QuickFlow, LpError> {
    let orbits = Orbits::new(network, symmetries)?;
    let arcs = network.arcs();
    let mut model = Model::default();
    let between = model.variable(1.0);
    let layers = Layers::new(network, &orbits, ends, &mut model);
    layers.balance(&mut model);
    let mut rows = Vec::with_capacity(layers.count() * orbits.arcs.count());
    for layer in 0..layers.count() {
        for &arc in orbits.arcs.representatives() {
            let mut terms: Vec<_> =
                (0..network.nodes()).filter_map(|source| Some((layers.crosses(source, arc, layer)?, 1.0))).collect();
            let room = if layer == ends { 0.0 } else { arcs[arc].capacity * unit };
            if layer == ends {
                terms.push((between, -arcs[arc].capacity));
            }
            rows.push(model.at_most(terms, room));
        }
    }
    let solved = model.solve(Precision::Usual, limit)?;
    let classes = orbits.arcs.count();
    let lengths = |layer: usize| orbits.lengths(&solved.dual, &rows[layer * classes..][..classes]);
    Ok(QuickFlow {
        time: solved.objective + 2.0 * ends as f64 * unit,
        lengths: (0..layers.count()).map(lengths).collect(),
        variables: solved.value.len(),
    })
}

/// The variables, layer by layer.
struct Layers<'a> {
    network: &'a Network,
    orbits: &'a Orbits,
    ends: usize,
    /// `before[source][node]`: hops from the source. `after[source][node]`: hops to the nearest node with demand.
    before: Vec<Vec<u32>>,
    after: Vec<Vec<u32>>,
    /// `[layer * classes + class]`
    crosses: Vec<Option<usize>>,
    waits: Vec<Option<usize>>,
}

impl<'a> Layers<'a> {
    fn new(network: &'a Network, orbits: &'a Orbits, ends: usize, model: &mut Model) -> Self {
        let nodes = network.nodes();
        let before: Vec<Vec<u32>> = (0..nodes).map(|source| network.hops(source)).collect();
        let nearest = |source: usize, node: usize| {
            let wanted = (0..nodes).filter(|&dest| network.demand(source, dest) > 0.0);
            wanted.map(|dest| before[node][dest]).min().unwrap_or(u32::MAX)
        };
        let after = (0..nodes).map(|source| (0..nodes).map(|node| nearest(source, node)).collect()).collect();
        let mut this = Self { network, orbits, ends, before, after, crosses: Vec::new(), waits: Vec::new() };
        for layer in 0..this.count() {
            for &flow in orbits.flows.representatives() {
                let (source, arc) = (flow / network.arcs().len(), &network.arcs()[flow % network.arcs().len()]);
                let in_time = this.is_used(source, arc.from, layer) && this.is_used(source, arc.to, layer + 1);
                let useful = if layer == ends { network.supply(source) > 0.0 } else { in_time };
                let variable = (useful && arc.to != source).then(|| model.variable(0.0));
                this.crosses.push(variable);
            }
            for &pair in orbits.pairs.representatives() {
                let (source, node) = (pair / nodes, pair % nodes);
                let useful = this.is_used(source, node, layer) && this.is_used(source, node, layer + 1);
                let variable = (useful && layer != ends).then(|| model.variable(0.0));
                this.waits.push(variable);
            }
        }
        this
    }

    fn count(&self) -> usize {
        2 * self.ends + 1
    }

    /// Can useful flow from the source be at a node after this number of layers?
    fn is_used(&self, source: usize, node: usize, layers: usize) -> bool {
        let in_time = match layers <= self.ends {
            true => self.before[source][node] as usize <= layers,
            false => self.after[source][node] as usize <= self.count() - layers,
        };
        self.network.supply(source) > 0.0 && in_time
    }

    fn crosses(&self, source: usize, arc: usize, layer: usize) -> Option<usize> {
        let class = self.orbits.flows.of(source * self.network.arcs().len() + arc);
        self.crosses[layer * self.orbits.flows.count() + class]
    }

    /// Flow at a node waits there or leaves in the next layer; between the ends it may arrive and leave at once; in the
    /// end it meets the demand of the node.
    fn balance(&self, model: &mut Model) {
        let nodes = self.network.nodes();
        let [out, into] = self.network.arcs_by_node();
        for (class, &pair) in self.orbits.pairs.representatives().iter().enumerate() {
            let (source, node) = (pair / nodes, pair % nodes);
            if self.network.supply(source) == 0.0 {
                continue;
            }
            let waits = |layer: usize| self.waits[layer * self.orbits.pairs.count() + class];
            let crossing = |among: &[usize], layer: usize, sign: f64| -> Vec<(usize, f64)> {
                among.iter().filter_map(|&arc| Some((self.crosses(source, arc, layer)?, sign))).collect()
            };
            // Before layer 0, ...; before, in and after the one between the ends; ...; after the last layer.
            for point in 0..self.count() {
                let before = if point <= self.ends { point.checked_sub(1) } else { Some(point) };
                let after = if point < self.ends { Some(point) } else { Some(point + 1) };
                let mut terms = Vec::new();
                if let Some(layer) = before {
                    terms.extend(waits(layer).map(|variable| (variable, 1.0)));
                    terms.extend(crossing(&into[node], layer, 1.0));
                }
                if point == self.ends {
                    terms.extend(crossing(&into[node], point, 1.0));
                    terms.extend(crossing(&out[node], point, -1.0));
                }
                if let Some(layer) = after.filter(|&layer| layer < self.count()) {
                    terms.extend(waits(layer).map(|variable| (variable, -1.0)));
                    terms.extend(crossing(&out[node], layer, -1.0));
                }
                let begins = if point == 0 && node == source { self.network.supply(source) } else { 0.0 };
                let ends = if point + 1 == self.count() { self.network.demand(source, node) } else { 0.0 };
                if !terms.is_empty() || begins != ends {
                    model.equal(terms, ends - begins);
                }
            }
        }
    }
}
