//! Graphs, demands and symmetries.

use crate::error::LpError;

/// A directed arc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arc {
    /// The node it leaves.
    pub from: usize,
    /// The node it enters.
    pub to: usize,
    /// The flow it carries per unit of load; positive.
    pub capacity: f64,
}

/// A directed graph and a demand on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    nodes: usize,
    arcs: Vec<Arc>,
    demand: Vec<f64>,
}

/// A map of a network onto itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// The image of each node.
    pub nodes: Vec<u32>,
    /// The image of each arc.
    pub arcs: Vec<u32>,
}

impl Network {
    /// A graph with its demand, `demand[origin * nodes + destination]`; the diagonal does not count.
    ///
    /// # Errors
    ///
    /// [`LpError::Input`] if an arc is out of range, a capacity is not a positive number, an amount is negative or not
    /// a number, or the demand has the wrong size.
    pub fn new(nodes: usize, arcs: Vec<Arc>, demand: Vec<f64>) -> Result<Self, LpError> {
        if demand.len() != nodes * nodes {
            return Err(LpError::Input(format!("{} amounts are not a demand between {nodes} nodes", demand.len())));
        }
        if let Some(amount) = demand.iter().find(|amount| !(amount.is_finite() && **amount >= 0.0)) {
            return Err(LpError::Input(format!("an amount of {amount} cannot be routed")));
        }
        for (number, arc) in arcs.iter().enumerate() {
            if arc.from >= nodes || arc.to >= nodes || !(arc.capacity.is_finite() && arc.capacity > 0.0) {
                return Err(LpError::Input(format!("arc {number} is out of range or has no capacity")));
            }
        }
        Ok(Self { nodes, arcs, demand })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The arcs.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The demand from one node to another.
    pub fn demand(&self, origin: usize, dest: usize) -> f64 {
        if origin == dest { 0.0 } else { self.demand[origin * self.nodes + dest] }
    }

    /// The total demand from a node.
    pub fn supply(&self, origin: usize) -> f64 {
        (0..self.nodes).map(|dest| self.demand(origin, dest)).sum()
    }

    /// The arcs that leave each node, and those that enter it, ascending.
    pub fn arcs_by_node(&self) -> [Vec<Vec<usize>>; 2] {
        let mut by_node = [(); 2].map(|()| vec![Vec::new(); self.nodes]);
        for (index, arc) in self.arcs.iter().enumerate() {
            by_node[0][arc.from].push(index);
            by_node[1][arc.to].push(index);
        }
        by_node
    }

    /// Hops from a node to every node; `u32::MAX` if there is no path.
    pub fn hops(&self, origin: usize) -> Vec<u32> {
        let mut hops = vec![u32::MAX; self.nodes];
        hops[origin] = 0;
        // A round per hop is good enough: the graphs here have small diameters.
        let (mut round, mut grown) = (0, true);
        while std::mem::take(&mut grown) {
            for arc in &self.arcs {
                if hops[arc.from] == round && hops[arc.to] == u32::MAX {
                    hops[arc.to] = round + 1;
                    grown = true;
                }
            }
            round += 1;
        }
        hops
    }

    /// Checks that this is a map of the network onto itself.
    pub(crate) fn check_symmetry(&self, symmetry: &Symmetry) -> Result<(), LpError> {
        let wrong = |what: &str| Err(LpError::Input(format!("a symmetry does not keep {what}")));
        if !is_permutation(&symmetry.nodes, self.nodes) || !is_permutation(&symmetry.arcs, self.arcs.len()) {
            return wrong("nodes and arcs apart");
        }
        let node = |index: usize| symmetry.nodes[index] as usize;
        for (arc, &image) in self.arcs.iter().zip(&symmetry.arcs) {
            let moved = Arc { from: node(arc.from), to: node(arc.to), ..*arc };
            if self.arcs[image as usize] != moved {
                return wrong("the ends and the capacity of every arc");
            }
        }
        for origin in 0..self.nodes {
            for dest in 0..self.nodes {
                if self.demand(origin, dest) != self.demand(node(origin), node(dest)) {
                    return wrong("the demand");
                }
            }
        }
        Ok(())
    }
}

fn is_permutation(images: &[u32], count: usize) -> bool {
    let mut seen = vec![false; count];
    images.len() == count
        && images.iter().all(|&image| seen.get_mut(image as usize).is_some_and(|seen| !std::mem::replace(seen, true)))
}
