//! A maximum flow through the time-expanded network, and the cut that limits it.
//!
//! Nodes are ranks at times `0 ..= S`. In a step, links lead from every rank to its neighbors one time later, with room
//! for `width * capacity` chunks; waiting at a rank takes no room. After the last step each rank delivers its chunks.
//! The flow starts with what waits nowhere on its way (see `departures`), which on tori is nearly all; widening a step
//! keeps it.

use super::departures::departures;
use super::residual::Residual;
use crate::model::network::Network;

/// Effectively unlimited.
const AMPLE: u32 = 1 << 30;

/// A flow from one rank to all others.
pub(super) struct Flow<'a> {
    network: &'a Network,
    root: u32,
    widths: Vec<u32>,
    arcs: Residual,
    missing: u64,
}

/// A cut: whatever the widths, `sum of weights[t] * widths[t]` must be at least `need`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Per step, the capacity of its links that cross.
    pub weights: Vec<u64>,
    pub need: u64,
}

impl Cut {
    pub fn violation(&self, widths: &[u32]) -> u64 {
        let crossing: u64 = self.weights.iter().zip(widths).map(|(&weight, &width)| weight * u64::from(width)).sum();
        self.need.saturating_sub(crossing)
    }
}

impl<'a> Flow<'a> {
    /// The flow of at most `demand[rank]` to every rank that waits nowhere on its way.
    pub fn new(network: &'a Network, root: u32, demand: &[u32], widths: Vec<u32>) -> Self {
        let (ranks, links, steps) = (network.rank_count(), network.link_count(), widths.len());
        let node = |rank: u32, time: usize| (time * ranks) as u32 + rank;
        let sink = node(0, steps + 1);
        let times_and = |count: usize| (0..steps).flat_map(move |time| (0..count).map(move |item| (time, item)));
        let crossed =
            times_and(links).map(|(time, link)| (node(network.from[link], time), node(network.to[link], time + 1)));
        let waited = times_and(ranks).map(|(time, rank)| (node(rank as u32, time), node(rank as u32, time + 1)));
        let delivered = (0..ranks as u32).map(|rank| (node(rank, steps), sink));
        let joined: Vec<(u32, u32)> = crossed.chain(waited).chain(delivered).collect();
        let widths_and_links = times_and(links).map(|(time, link)| (widths[time], network.capacity[link]));
        let rooms = widths_and_links.map(|(width, capacity)| width.saturating_mul(capacity).min(AMPLE));
        let rooms = rooms.chain(std::iter::repeat_n(AMPLE, steps * ranks)).chain(demand.iter().copied());
        let arcs = Residual::new(sink as usize + 1, &joined, rooms);
        let missing = demand.iter().map(|&demand| u64::from(demand)).sum();
        let mut flow = Self { network, root, widths, arcs, missing };
        flow.send_without_waits(demand);
        flow
    }

    fn send_without_waits(&mut self, demand: &[u32]) {
        let (ranks, links, steps) = (self.network.rank_count(), self.network.link_count(), self.widths.len());
        let waiting = |rank: u32, time: usize| 2 * (steps * links + time * ranks + rank as usize);
        for (start, leaving) in departures(self.network, self.root, demand, &self.widths).into_iter().enumerate() {
            for (link, step, amount) in leaving.crossings {
                self.arcs.send(2 * (step * links + link), amount);
            }
            for (rank, time, amount) in leaving.arrivals {
                (0..start).for_each(|time| self.arcs.send(waiting(self.root, time), amount));
                // At the end it is delivered: those arcs follow the last ones of waiting.
                (time..=steps).for_each(|time| self.arcs.send(waiting(rank, time), amount));
                self.missing -= u64::from(amount);
            }
        }
    }

    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    fn sink(&self) -> u32 {
        ((self.widths.len() + 1) * self.network.rank_count()) as u32
    }

    pub fn widen(&mut self, step: usize, by: u32) {
        self.widths[step] += by;
        for link in 0..self.network.link_count() {
            let room = &mut self.arcs.room[2 * (step * self.network.link_count() + link)];
            *room = room.saturating_add(by.saturating_mul(self.network.capacity[link])).min(AMPLE);
        }
    }

    /// Maximizes the flow. True if nothing is missing.
    pub fn fill(&mut self) -> bool {
        if self.missing > 0 {
            self.missing -= self.arcs.fill(self.root, self.sink());
        }
        self.missing == 0
    }

    /// The minimum cuts nearest to the root and farthest from it, if the maximum flow misses something.
    pub fn cuts(&mut self) -> [Cut; 2] {
        let near: Vec<bool> = self.arcs.measure(self.root).iter().map(|&level| level != u32::MAX).collect();
        let mut far = vec![true; near.len()];
        far[self.sink() as usize] = false;
        let mut queue = vec![self.sink()];
        while let Some(node) = queue.pop() {
            for &arc in self.arcs.out(node) {
                let from = self.arcs.head(arc as usize);
                if self.arcs.room[arc as usize ^ 1] > 0 && far[from as usize] {
                    far[from as usize] = false;
                    queue.push(from);
                }
            }
        }
        [self.cut(&near), self.cut(&far)]
    }

    fn cut(&self, inside: &[bool]) -> Cut {
        let (links, steps) = (self.network.link_count(), self.widths.len());
        let crosses = |arc: usize| inside[self.arcs.tail(arc) as usize] && !inside[self.arcs.head(arc) as usize];
        let weight = |step: usize| -> u64 {
            let crossing = (0..links).filter(|link| crosses(2 * (step * links + link)));
            crossing.map(|link| u64::from(self.network.capacity[link])).sum()
        };
        let delivered = 2 * steps * (links + self.network.rank_count())..self.arcs.room.len();
        let outside = delivered.step_by(2).filter(|&arc| !crosses(arc));
        let need = outside.map(|arc| u64::from(self.arcs.room[arc]) + u64::from(self.arcs.room[arc ^ 1])).sum();
        Cut { weights: (0..steps).map(weight).collect(), need }
    }

    /// Decomposes the flow into paths: the last rank, the number of chunks, and the link taken in each step, if any. No
    /// path visits a rank twice.
    pub fn into_paths(mut self) -> Vec<(u32, u32, Vec<Option<u32>>)> {
        let (ranks, links, steps) = (self.network.rank_count(), self.network.link_count(), self.widths.len());
        let mut paths = Vec::new();
        loop {
            let (mut node, mut path) = (self.root, Vec::with_capacity(steps));
            while node != self.sink() {
                let flowing = |arc: &usize| arc.is_multiple_of(2) && self.arcs.room[arc ^ 1] > 0;
                let out = self.arcs.out(node).iter().map(|&arc| arc as usize);
                let Some(arc) = out.into_iter().find(flowing) else { return paths };
                path.push(arc);
                node = self.arcs.head(arc);
            }
            let amount = path.iter().map(|&arc| self.arcs.room[arc ^ 1]).min().unwrap_or(0);
            for &arc in &path {
                self.arcs.room[arc ^ 1] -= amount;
            }
            let visited: Vec<u32> = path.iter().map(|&arc| self.arcs.tail(arc) % ranks as u32).collect();
            let mut hops: Vec<Option<u32>> = path[..steps]
                .iter()
                .map(|&arc| (arc / 2 < steps * links).then_some((arc / 2 % links) as u32))
                .collect();
            let mut time = 0;
            while time < steps {
                // Waits instead of leaving and coming back.
                let back = visited.iter().rposition(|&rank| rank == visited[time]).unwrap_or(time);
                hops[time..back].fill(None);
                time = back + 1;
            }
            paths.push((visited[steps], amount, hops));
        }
    }
}
