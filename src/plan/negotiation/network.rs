//! The live network in flat arrays, and the messages to be routed through it.

use crate::collective::{ChunkId, Holders};
use crate::problem::Problem;
use crate::topology::{Distances, LinkId, RankId};

/// In place of a live link: none.
pub(in crate::plan) const WAIT: u16 = u16::MAX;

/// Live links numbered `0..len`, with those that leave each rank.
#[derive(Debug)]
pub(in crate::plan) struct Network {
    /// The id in the topology of each live link.
    pub ids: Vec<LinkId>,
    pub from: Vec<u32>,
    pub to: Vec<u32>,
    pub capacity: Vec<u32>,
    /// `out[out_start[r]..out_start[r + 1]]` are the live links that leave rank `r`.
    out_start: Vec<u32>,
    out: Vec<u32>,
    pub distances: Distances,
}

/// A chunk that must go from one rank to another.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) struct Message {
    pub origin: u32,
    pub dest: u32,
    pub chunk: ChunkId,
}

impl Network {
    pub fn new(problem: &Problem) -> Self {
        let topology = problem.topology();
        let ids: Vec<LinkId> = topology.live_links().collect();
        let links = ids.iter().map(|&id| topology.link(id));
        let mut out_start = vec![0; topology.rank_count() + 1];
        for link in links.clone() {
            out_start[link.from.index() + 1] += 1;
        }
        for rank in 0..topology.rank_count() {
            out_start[rank + 1] += out_start[rank];
        }
        Self {
            from: links.clone().map(|link| link.from.0).collect(),
            to: links.clone().map(|link| link.to.0).collect(),
            capacity: links.map(|link| link.capacity).collect(),
            // Live links are listed by sender, so those that leave a rank stand together.
            out: (0..ids.len() as u32).collect(),
            ids,
            out_start,
            distances: Distances::new(topology),
        }
    }

    pub fn link_count(&self) -> usize {
        self.ids.len()
    }

    pub fn rank_count(&self) -> usize {
        self.out_start.len() - 1
    }

    /// The live links that leave a rank.
    pub fn out(&self, rank: u32) -> &[u32] {
        &self.out[self.out_start[rank as usize] as usize..self.out_start[rank as usize + 1] as usize]
    }

    pub fn distance(&self, from: u32, to: u32) -> u32 {
        u32::from(self.distances.get(RankId(from), RankId(to)))
    }
}

/// The messages of a problem in which every chunk goes from one rank to one rank, in ascending order of chunks;
/// `None` for other collectives. Chunks at home, and those of failed ranks, are left out.
pub(in crate::plan) fn messages(problem: &Problem) -> Option<Vec<Message>> {
    let mut messages = Vec::new();
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        let rule = problem.rule(chunk);
        let (Holders::One(origin), Holders::One(dest)) = (rule.before, rule.after) else {
            return None;
        };
        let alive = problem.topology().is_alive(origin) && problem.topology().is_alive(dest);
        if alive && origin != dest {
            messages.push(Message { origin: origin.0, dest: dest.0, chunk });
        }
    }
    Some(messages)
}
