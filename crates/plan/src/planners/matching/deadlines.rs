//! When a chunk must have come to a rank, so that it can still get everywhere in time.
//!
//! Behind a rank lie the ranks that a shortest path from the root reaches through it; the farthest of them are `h` hops
//! away. In a spread of `S` steps, the chunk must have come by the end of step `S - h`. As whoever passes it on on such
//! a path must have it a step earlier, keeping these deadlines is always possible, and `S` steps are enough.

use crate::model::network::Network;

/// The last step, from 1, in which each chunk may come to each rank.
pub(super) struct Deadlines {
    ranks: usize,
    by_chunk: Vec<u16>,
}

impl Deadlines {
    /// For chunks that spread from these ranks, `each` for a chunk, in at least as many steps as they take. O(chunks *
    /// links).
    pub fn new(network: &Network, roots: &[u32], each: usize, steps: u32) -> Self {
        let ranks = network.rank_count();
        let mut by_chunk = Vec::with_capacity(roots.len() / each * ranks);
        for members in roots.chunks(each) {
            let (order, distance) = reached(network, members);
            let mut behind = vec![0_u16; ranks];
            for &rank in order.iter().rev() {
                for &link in network.out(rank) {
                    let next = network.to[link as usize] as usize;
                    if distance[next] == distance[rank as usize] + 1 {
                        behind[rank as usize] = behind[rank as usize].max(behind[next] + 1);
                    }
                }
            }
            by_chunk.extend(behind.iter().map(|&behind| (steps as u16).saturating_sub(behind)));
        }
        Self { ranks, by_chunk }
    }

    pub fn of(&self, chunk: u32, rank: u32) -> u16 {
        self.by_chunk[chunk as usize * self.ranks + rank as usize]
    }
}

/// The steps that a spread from these ranks takes at least.
pub(super) fn reach(network: &Network, members: &[u32]) -> u32 {
    let (order, distance) = reached(network, members);
    order.last().map_or(0, |&last| u32::from(distance[last as usize]))
}

/// Ranks in the order of their distance from the nearest member, and the distances.
fn reached(network: &Network, members: &[u32]) -> (Vec<u32>, Vec<u16>) {
    let mut distance = vec![u16::MAX; network.rank_count()];
    let mut order = members.to_vec();
    members.iter().for_each(|&member| distance[member as usize] = 0);
    let mut next = 0;
    while let Some(&rank) = order.get(next) {
        next += 1;
        for &link in network.out(rank) {
            let to = network.to[link as usize];
            if distance[to as usize] == u16::MAX {
                distance[to as usize] = distance[rank as usize] + 1;
                order.push(to);
            }
        }
    }
    (order, distance)
}
