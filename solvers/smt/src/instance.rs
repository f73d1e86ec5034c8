//! The input: a graph, a demand on it, and the time available.

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

/// The goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Chunks are copied from node to node.
    Move(Vec<Chunk>),
    /// A number of chunks; every node contributes to each, and every node needs each sum, with no contribution twice.
    Sum(u32),
}

/// A chunk to move. Equal chunks are interchangeable: parts of one message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// Its node before the first step.
    pub source: u32,
    /// Its nodes after the last: ascending, without the source.
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

/// A graph and a demand on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The number of nodes.
    pub nodes: u32,
    /// The arcs.
    pub arcs: Vec<Arc>,
    /// The goal.
    pub demand: Demand,
    /// Generators of the symmetries to use; may be empty.
    pub symmetries: Vec<Symmetry>,
    /// Sets of arc lengths. The total distance cannot exceed the capacity-weighted length of the arcs, so detours
    /// longer than the slack are excluded. Used if every chunk has one destination. May be empty.
    pub metrics: Vec<Vec<u32>>,
}

/// The time available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The number of steps; at least 1.
    pub steps: u32,
    /// The most total width; no less than the steps.
    pub width: u32,
}

/// Why an instance is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstanceError {
    /// A node or an arc is out of range, or a capacity is 0.
    #[error("{0}")]
    Malformed(String),
    /// The formula would be too large.
    #[error("the question needs about {literals} literals or more; at most {most} are tried")]
    #[expect(missing_docs, reason = "the message names the fields")]
    TooLarge { literals: u64, most: u64 },
}

impl Instance {
    /// Checks all numbers.
    ///
    /// # Errors
    ///
    /// [`InstanceError::Malformed`] with the reason.
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
                return wrong("a symmetry does not permute the nodes and the arcs".to_owned());
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

    /// Distances between all nodes by these lengths of arcs, `[from * nodes + to]`; `None` if there is no path.
    pub(crate) fn distances(&self, length: impl Fn(usize) -> u32) -> Vec<Option<u32>> {
        let nodes = self.nodes as usize;
        let mut distances: Vec<Option<u32>> = vec![None; nodes * nodes];
        for origin in 0..nodes {
            let row = &mut distances[origin * nodes..][..nodes];
            row[origin] = Some(0);
            // The graphs here are small: relax until nothing changes.
            let mut changed = true;
            while std::mem::take(&mut changed) {
                for (number, arc) in self.arcs.iter().enumerate() {
                    let Some(so_far) = row[arc.from as usize] else { continue };
                    let there = so_far.saturating_add(length(number));
                    if row[arc.to as usize].is_none_or(|known| there < known) {
                        row[arc.to as usize] = Some(there);
                        changed = true;
                    }
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
