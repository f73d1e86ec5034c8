//! What is asked: a graph, what must move or be added on it, and in how much time.

use thiserror::Error;

/// A directed arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// The node it leaves.
    pub from: u32,
    /// The node it enters.
    pub to: u32,
    /// Chunks it carries in a step of width 1; at least 1.
    pub capacity: u32,
}

/// What must become true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Chunks are copied from node to node.
    Move(Vec<Chunk>),
    /// So many chunks; every node has a contribution to each, and each must reach every node with all of them added,
    /// none twice.
    Sum(u32),
}

/// A chunk that is moved. Chunks alike are interchangeable: parts of one message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// Where it is before the first step.
    pub source: u32,
    /// Where it must be after the last: ascending, without the source.
    pub dests: Vec<u32>,
}

/// A map of the graph onto itself that keeps the demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// The image of each node.
    pub nodes: Vec<u32>,
    /// The image of each arc.
    pub arcs: Vec<u32>,
}

/// A graph and what must be done on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The number of nodes.
    pub nodes: u32,
    /// The arcs.
    pub arcs: Vec<Arc>,
    /// What must become true.
    pub demand: Demand,
    /// Maps by which others are composed; may be empty.
    pub symmetries: Vec<Symmetry>,
    /// Lengths of arcs, any number of times: the sum of all distances is less than what the arcs offer, so a detour
    /// longer than the difference is not looked at. Used where every chunk has one destination. May be empty.
    pub metrics: Vec<Vec<u32>>,
}

/// How much time there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// So many steps; at least 1.
    pub steps: u32,
    /// At most so much width, summed over the steps; no less than the steps.
    pub width: u32,
}

/// Why an instance is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstanceError {
    /// A number of a node or an arc is out of range, or a capacity is 0.
    #[error("{0}")]
    Malformed(String),
    /// The formula would be too large.
    #[error("the question needs about {literals} literals; at most {most} are tried")]
    #[expect(missing_docs, reason = "the message names the fields")]
    TooLarge { literals: u64, most: u64 },
}

impl Instance {
    /// Checks all numbers.
    ///
    /// # Errors
    ///
    /// [`InstanceError::Malformed`] says what is out of range.
    pub fn check(&self) -> Result<(), InstanceError> {
        let wrong = |what: String| Err(InstanceError::Malformed(what));
        for (number, arc) in self.arcs.iter().enumerate() {
            if arc.from >= self.nodes || arc.to >= self.nodes || arc.from == arc.to || arc.capacity == 0 {
                return wrong(format!("arc {number} is out of range, a loop, or has no capacity"));
            }
        }
        if let Demand::Move(chunks) = &self.demand {
            for (number, chunk) in chunks.iter().enumerate() {
                let ascending = chunk.dests.windows(2).all(|pair| pair[0] < pair[1]);
                let inside = chunk.source < self.nodes && chunk.dests.iter().all(|&dest| dest < self.nodes);
                if !ascending || !inside || chunk.dests.contains(&chunk.source) {
                    return wrong(format!("chunk {number} has ends out of range, out of order, or at its source"));
                }
            }
        }
        for symmetry in &self.symmetries {
            if !is_permutation(&symmetry.nodes, self.nodes) || !is_permutation(&symmetry.arcs, self.arcs.len() as u32) {
                return wrong("a symmetry is no permutation of the nodes and the arcs".to_owned());
            }
            let node = |node: u32| symmetry.nodes[node as usize];
            for (arc, &image) in self.arcs.iter().zip(&symmetry.arcs) {
                let moved = Arc { from: node(arc.from), to: node(arc.to), ..*arc };
                if self.arcs[image as usize] != moved {
                    return wrong("a symmetry does not keep the arcs".to_owned());
                }
            }
        }
        if self.metrics.iter().any(|lengths| lengths.len() != self.arcs.len()) {
            return wrong("a metric needs a length for every arc".to_owned());
        }
        Ok(())
    }

    /// Distances between all nodes by these lengths of arcs, `[from * nodes + to]`; `None` where there is no way.
    pub(crate) fn distances(&self, length: impl Fn(usize) -> u32) -> Vec<Option<u32>> {
        let nodes = self.nodes as usize;
        let mut distances: Vec<Option<u32>> = vec![None; nodes * nodes];
        for origin in 0..nodes {
            let row = &mut distances[origin * nodes..][..nodes];
            row[origin] = Some(0);
            // The graphs here are small: relax until nothing changes.
            loop {
                let mut changed = false;
                for (number, arc) in self.arcs.iter().enumerate() {
                    let Some(so_far) = row[arc.from as usize] else { continue };
                    let there = so_far.saturating_add(length(number));
                    if row[arc.to as usize].is_none_or(|known| there < known) {
                        row[arc.to as usize] = Some(there);
                        changed = true;
                    }
                }
                if !changed {
                    break;
                }
            }
        }
        distances
    }
}

fn is_permutation(images: &[u32], count: u32) -> bool {
    let mut seen = vec![false; count as usize];
    let fresh =
        images.iter().all(|&image| seen.get_mut(image as usize).is_some_and(|seen| !std::mem::replace(seen, true)));
    fresh && images.len() == count as usize
}
