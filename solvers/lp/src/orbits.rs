//! Orbits under symmetries: each needs only one variable, or one row.

use crate::error::LpError;
use crate::network::{Network, Symmetry};

/// Equivalence classes of the numbers `0..count`.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// The class of each number.
    class: Vec<u32>,
    /// The first number of each class.
    first: Vec<usize>,
    /// The size of each class.
    size: Vec<u32>,
}

impl Classes {
    /// The orbits of `0..count` under permutations.
    fn new(count: usize, maps: impl Iterator<Item = impl Fn(usize) -> usize>) -> Self {
        let mut parent: Vec<u32> = (0..count as u32).collect();
        for map in maps {
            for thing in 0..count {
                let (a, b) = (root(&mut parent, thing), root(&mut parent, map(thing)));
                // The smaller number is the root, so that classes are ordered by their first numbers.
                parent[a.max(b)] = a.min(b) as u32;
            }
        }
        let (mut first, mut size, mut class) = (Vec::new(), Vec::new(), vec![0; count]);
        for thing in 0..count {
            let root = root(&mut parent, thing);
            if root == thing {
                class[thing] = first.len() as u32;
                first.push(thing);
                size.push(0);
            }
            class[thing] = class[root];
            size[class[thing] as usize] += 1;
        }
        Self { class, first, size }
    }

    pub fn count(&self) -> usize {
        self.first.len()
    }

    pub fn of(&self, thing: usize) -> usize {
        self.class[thing] as usize
    }

    /// The first number of every class, in order.
    pub fn representatives(&self) -> &[usize] {
        &self.first
    }
}

fn root(parent: &mut [u32], mut thing: usize) -> usize {
    while parent[thing] as usize != thing {
        let above = parent[thing] as usize;
        parent[thing] = parent[above];
        thing = parent[thing] as usize;
    }
    thing
}

/// The orbits of a flow aggregated by source.
#[derive(Clone, Debug)]
pub(crate) struct Orbits {
    /// Of `source * nodes + node`.
    pub pairs: Classes,
    /// Of `source * arcs + arc`.
    pub flows: Classes,
    pub arcs: Classes,
}

impl Orbits {
    /// The length of each arc, given the dual solution and the capacity row of each class of arcs.
    pub fn lengths(&self, dual: &[f64], rows: &[usize]) -> Vec<f64> {
        let length = |&class: &u32| dual[rows[class as usize]].max(0.0) / f64::from(self.arcs.size[class as usize]);
        self.arcs.class.iter().map(length).collect()
    }

    pub fn new(network: &Network, symmetries: &[Symmetry]) -> Result<Self, LpError> {
        symmetries.iter().try_for_each(|symmetry| network.check_symmetry(symmetry))?;
        let (nodes, arcs) = (network.nodes(), network.arcs().len());
        let node = |s: &Symmetry, index: usize| s.nodes[index] as usize;
        let arc = |s: &Symmetry, index: usize| s.arcs[index] as usize;
        let maps = symmetries.iter();
        let pairs = maps.clone().map(|s| move |pair: usize| node(s, pair / nodes) * nodes + node(s, pair % nodes));
        let flows = maps.clone().map(|s| move |flow: usize| node(s, flow / arcs) * arcs + arc(s, flow % arcs));
        Ok(Self {
            pairs: Classes::new(nodes * nodes, pairs),
            flows: Classes::new(nodes * arcs, flows),
            arcs: Classes::new(arcs, maps.map(|s| move |index: usize| arc(s, index))),
        })
    }
}
