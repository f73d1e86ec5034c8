//! The cheapest path of one message through the time-expanded network.
//!
//! A state is a rank at the end of a step. A message waits at no cost or crosses a link at the price of that link's
//! slot. Only ranks on a shortest path, or on one a few hops longer, are examined, and only while the destination can
//! still be reached in time. Dynamic programming over the steps: O(steps * links among those ranks).

use crate::network::{LiveLink, Message, Network, WAIT};
use collsynth_core::topology::RankId;

const FAR: u32 = u32::MAX / 2;

/// Scratch space, kept from message to message.
#[derive(Debug, Default)]
pub(crate) struct Router {
    /// The ranks examined, and their distances to the destination.
    nodes: Vec<u32>,
    to_go: Vec<u32>,
    /// Per rank, its place in `nodes` plus 1; 0 for other ranks. All 0 between calls.
    place: Vec<u32>,
    /// Links among `nodes`: (place of the sender, place of the receiver, link).
    arcs: Vec<(u32, u32, u32)>,
    before: Vec<u32>,
    after: Vec<u32>,
    /// `arrival[step * nodes + place]`: the link over which the cheapest path arrives there in this step, or [`WAIT`].
    arrival: Vec<LiveLink>,
    /// Links examined in all calls, once per step.
    work: u64,
}

impl Router {
    pub fn new(network: &Network) -> Self {
        Self { place: vec![0; network.rank_count()], ..Self::default() }
    }

    /// Writes the cheapest path, one entry per step, with at most `detour` hops more than the distance; `price[step *
    /// links + link]`. The destination must be no farther than there are steps.
    pub fn route(&mut self, network: &Network, message: Message, detour: u32, price: &[u32], path: &mut [LiveLink]) {
        let steps = path.len();
        self.look_around(network, message, (network.distance(message.origin, message.dest) + detour).min(steps as u32));
        let dest = self.place[message.dest as usize] as usize - 1;
        self.relax(network.link_count(), steps, price);

        let nodes = self.nodes.len();
        let mut at = dest;
        for (step, hop) in path.iter_mut().enumerate().rev() {
            *hop = self.arrival[step * nodes + at];
            if *hop != WAIT {
                at = self.place[network.from[*hop as usize] as usize] as usize - 1;
            }
        }
        debug_assert_eq!(at, 0, "a path begins at its origin");
        for &rank in &self.nodes {
            self.place[rank as usize] = 0;
        }
    }

    pub fn work(&self) -> u64 {
        self.work
    }

    /// Lists the ranks on paths of at most `limit` hops, the origin first, and the links among them.
    fn look_around(&mut self, network: &Network, message: Message, limit: u32) {
        let from_origin = network.distances.row(RankId(message.origin));
        self.nodes.clear();
        self.to_go.clear();
        self.arcs.clear();
        self.nodes.push(message.origin);
        self.to_go.push(network.distance(message.origin, message.dest));
        self.place[message.origin as usize] = 1;
        let mut next = 0;
        while let Some(&rank) = self.nodes.get(next) {
            let hops = u32::from(from_origin[rank as usize]);
            let links = if rank == message.dest { &[] } else { network.out(rank) };
            for &link in links {
                let neighbor = network.to[link as usize];
                let to_go = network.distance(neighbor, message.dest);
                if hops + 1 + to_go > limit || neighbor == message.origin {
                    continue;
                }
                if self.place[neighbor as usize] == 0 {
                    self.nodes.push(neighbor);
                    self.to_go.push(to_go);
                    self.place[neighbor as usize] = self.nodes.len() as u32;
                }
                self.arcs.push((next as u32, self.place[neighbor as usize] - 1, link));
            }
            next += 1;
        }
    }

    fn relax(&mut self, links: usize, steps: usize, price: &[u32]) {
        let nodes = self.nodes.len();
        self.before.clear();
        self.before.resize(nodes, FAR);
        self.before[0] = 0;
        self.arrival.clear();
        self.arrival.resize(nodes * steps, WAIT);
        self.work += (steps * self.arcs.len()) as u64;
        for step in 0..steps {
            self.after.clone_from(&self.before);
            let price = &price[step * links..][..links];
            let arrival = &mut self.arrival[step * nodes..][..nodes];
            let left = (steps - step - 1) as u32;
            for &(from, to, link) in &self.arcs {
                let so_far = self.before[from as usize];
                if so_far >= FAR || self.to_go[to as usize] > left {
                    continue;
                }
                let cost = so_far.saturating_add(price[link as usize]);
                if cost < self.after[to as usize] {
                    self.after[to as usize] = cost;
                    arrival[to as usize] = link;
                }
            }
            std::mem::swap(&mut self.before, &mut self.after);
        }
    }
}
