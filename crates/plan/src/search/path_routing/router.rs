//! The cheapest path of one message through the time-expanded network.
//!
//! A state is a rank at the end of a step. A message waits at no cost or crosses a link at the price of that link's
//! slot. Only ranks on a shortest path, or on one a few hops longer, are examined, and only while the destination can
//! still be reached in time. Dynamic programming over the steps: O(steps * links among those ranks). Ranks are examined
//! in the order of their distance from the origin, so in each step those in reach of both ends are one range.

use crate::model::network::{LiveLink, Message, Network, WAIT};

const FAR: u32 = u32::MAX / 2;

/// Scratch space, kept from message to message.
#[derive(Debug, Default)]
pub(crate) struct Router {
    /// The ranks examined, by ascending distance from the origin; that distance, and the one to the destination.
    nodes: Vec<u32>,
    hops: Vec<u32>,
    to_go: Vec<u32>,
    /// Per rank, its place in `nodes` plus 1; 0 for other ranks. All 0 between calls.
    place: Vec<u32>,
    /// Links among `nodes`, by the place of the sender: (place of the receiver, link).
    arcs: Vec<(u32, u32)>,
    /// The first of them, per place of the sender, and the end.
    first_arc: Vec<u32>,
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
    /// links + link]`. The destination must be no farther than there are steps. Its price.
    pub fn route(
        &mut self,
        network: &Network,
        message: Message,
        detour: u32,
        price: &[u32],
        path: &mut [LiveLink],
    ) -> u32 {
        let found = self.route_below(network, message, detour, price, FAR, path);
        found.expect("the destination is in reach")
    }

    /// The same if it is cheaper than `below`; otherwise the path stays what it is.
    pub fn route_below(
        &mut self,
        network: &Network,
        message: Message,
        detour: u32,
        price: &[u32],
        below: u32,
        path: &mut [LiveLink],
    ) -> Option<u32> {
        let steps = path.len();
        self.look_around(network, message, (network.distance(message.origin, message.dest) + detour).min(steps as u32));
        let dest = self.place[message.dest as usize] as usize - 1;
        self.relax(network.link_count(), steps, price, below);

        let nodes = self.nodes.len();
        let cost = self.before[dest];
        if cost < below {
            let mut at = dest;
            for (step, hop) in path.iter_mut().enumerate().rev() {
                *hop = self.arrival[step * nodes + at];
                if *hop != WAIT {
                    at = self.place[network.from[*hop as usize] as usize] as usize - 1;
                }
            }
            debug_assert_eq!(at, 0, "a path begins at its origin");
        }
        for &rank in &self.nodes {
            self.place[rank as usize] = 0;
        }
        (cost < below).then_some(cost)
    }

    pub fn work(&self) -> u64 {
        self.work
    }

    /// Lists the ranks on paths of at most `limit` hops, the origin first, and the links among them.
    fn look_around(&mut self, network: &Network, message: Message, limit: u32) {
        let from_origin = network.distances_from(message.origin);
        let distance_to_dest = network.distance_to(message.dest);
        self.nodes.clear();
        self.hops.clear();
        self.to_go.clear();
        self.arcs.clear();
        self.first_arc.clear();
        self.nodes.push(message.origin);
        self.to_go.push(distance_to_dest(message.origin));
        self.place[message.origin as usize] = 1;
        let mut next = 0;
        while let Some(&rank) = self.nodes.get(next) {
            let hops = u32::from(from_origin[rank as usize]);
            self.hops.push(hops);
            self.first_arc.push(self.arcs.len() as u32);
            let links = if rank == message.dest { &[] } else { network.out(rank) };
            for &link in links {
                let neighbor = network.to[link as usize];
                let to_go = distance_to_dest(neighbor);
                if hops + 1 + to_go > limit || neighbor == message.origin {
                    continue;
                }
                if self.place[neighbor as usize] == 0 {
                    self.nodes.push(neighbor);
                    self.to_go.push(to_go);
                    self.place[neighbor as usize] = self.nodes.len() as u32;
                }
                self.arcs.push((self.place[neighbor as usize] - 1, link));
            }
            next += 1;
        }
        self.first_arc.push(self.arcs.len() as u32);
    }

    fn relax(&mut self, links: usize, steps: usize, price: &[u32], below: u32) {
        let nodes = self.nodes.len();
        let distance = self.to_go[0];
        self.before.clear();
        self.before.resize(nodes, FAR);
        self.before[0] = 0;
        self.after.clone_from(&self.before);
        self.arrival.clear();
        self.arrival.resize(nodes * steps, WAIT);
        self.work += (steps * self.arcs.len()) as u64;
        let (mut first, mut end) = (0, 0);
        for step in 0..steps {
            let left = (steps - step - 1) as u32;
            // What is nearer the origin is too far from the destination; what is farther was not yet reached.
            while self.hops[first] + left + 1 < distance {
                first += 1;
            }
            while end < nodes && self.hops[end] <= step as u32 {
                end += 1;
            }
            self.after[first..].copy_from_slice(&self.before[first..]);
            let price = &price[step * links..][..links];
            let arrival = &mut self.arrival[step * nodes..][..nodes];
            for from in first..end {
                let so_far = self.before[from];
                // Every hop still to go costs 1 at least, so what is left out leads to no path cheaper than `below`.
                if so_far.saturating_add(self.to_go[from]) >= below || self.to_go[from] > left + 1 {
                    continue;
                }
                for &(to, link) in &self.arcs[self.first_arc[from] as usize..self.first_arc[from + 1] as usize] {
                    let cost = so_far.saturating_add(price[link as usize]).min(FAR - 1);
                    if cost < self.after[to as usize] && self.to_go[to as usize] <= left {
                        self.after[to as usize] = cost;
                        arrival[to as usize] = link;
                    }
                }
            }
            std::mem::swap(&mut self.before, &mut self.after);
        }
    }
}
