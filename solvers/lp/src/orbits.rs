//! What symmetries carry into each other: one variable, or one row, for all of it.

use crate::{LpError, Network, Symmetry};

/// Things numbered from 0 in classes.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// The class of each thing, `0..count`.
    class: Vec<u32>,
    /// The first thing of each class.
    first: Vec<usize>,
    /// How many things each class has.
    size: Vec<u32>,
}

impl Classes {
    /// The classes of things `0..count` under maps of them onto themselves.
    fn new(count: usize, maps: impl Iterator<Item = impl Fn(usize) -> usize>) -> Self {
        let mut parent: Vec<u32> = (0..count as u32).collect();
        for map in maps {
            for thing in 0..count {
                let (a, b) = (root(&mut parent, thing), root(&mut parent, map(thing)));
                // The smaller number is the root, so that classes come in the order of their first things.
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

    /// The number of classes.
    pub fn count(&self) -> usize {
        self.first.len()
    }

    /// The class of a thing.
    pub fn of(&self, thing: usize) -> usize {
        self.class[thing] as usize
    }

    /// The first thing of every class, in order.
    pub fn representatives(&self) -> &[usize] {
        &self.first
    }

    /// How many things are in a class.
    pub fn size(&self, class: usize) -> u32 {
        self.size[class]
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

/// The classes that a flow aggregated by source needs.
#[derive(Clone, Debug)]
pub(crate) struct Orbits {
    /// Of `source * nodes + node`.
    pub pairs: Classes,
    /// Of `source * arcs + arc`.
    pub flows: Classes,
    /// Of arcs.
    pub arcs: Classes,
}

impl Orbits {
    /// The classes under all compositions of these symmetries.
    pub fn new(network: &Network, symmetries: &[Symmetry]) -> Result<Self, LpError> {
        symmetries.iter().try_for_each(|symmetry| network.check_symmetry(symmetry))?;
        let (nodes, arcs) = (network.nodes(), network.arcs().len());
        let node = |s: &Symmetry, index: usize| s.nodes[index] as usize;
        let arc = |s: &Symmetry, index: usize| s.arcs[index] as usize;
        let maps = symmetries.iter();
        Ok(Self {
            pairs: Classes::new(
                nodes * nodes,
                maps.clone().map(|s| move |pair: usize| node(s, pair / nodes) * nodes + node(s, pair % nodes)),
            ),
            flows: Classes::new(
                nodes * arcs,
                maps.clone().map(|s| move |flow: usize| node(s, flow / arcs) * arcs + arc(s, flow % arcs)),
            ),
            arcs: Classes::new(arcs, maps.map(|s| move |index: usize| arc(s, index))),
        })
    }
}
