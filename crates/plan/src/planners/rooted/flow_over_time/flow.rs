//! A maximum flow through the time-expanded network, and the cut that limits it.
//!
//! Nodes are ranks at times `0 ..= S`. In a step, links lead from every rank to its neighbors one time later, with room
//! for `width * capacity` chunks; waiting at a rank takes no room. After the last step each rank delivers its chunks.
//! The flow is found along shortest augmenting paths, one level graph at a time (Dinitz 1970); widening a step keeps
//! it.

use crate::model::network::Network;

/// Effectively unlimited.
const AMPLE: u32 = 1 << 30;

/// A flow from one rank to all others.
pub(super) struct Flow<'a> {
    network: &'a Network,
    root: u32,
    widths: Vec<u32>,
    /// The head of each arc; arc `2i + 1` is arc `2i` reversed.
    to: Vec<u32>,
    /// The residual capacity of each arc.
    room: Vec<u32>,
    /// The arcs that leave a node: `arcs[first[node]..first[node + 1]]`.
    first: Vec<u32>,
    arcs: Vec<u32>,
    level: Vec<u32>,
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
    /// No flow yet, of `demand[rank]` to every rank.
    pub fn new(network: &'a Network, root: u32, demand: &[u32], widths: Vec<u32>) -> Self {
        let (ranks, links, steps) = (network.rank_count(), network.link_count(), widths.len());
        let node = |rank: u32, time: usize| (time * ranks) as u32 + rank;
        let mut joined = Vec::with_capacity(steps * (links + ranks) + ranks);
        let mut room = Vec::with_capacity(2 * joined.capacity());
        for (time, &width) in widths.iter().enumerate() {
            for link in 0..links {
                joined.push((node(network.from[link], time), node(network.to[link], time + 1)));
                room.extend([width.saturating_mul(network.capacity[link]).min(AMPLE), 0]);
            }
        }
        for time in 0..steps {
            for rank in 0..ranks as u32 {
                joined.push((node(rank, time), node(rank, time + 1)));
                room.extend([AMPLE, 0]);
            }
        }
        let sink = node(0, steps + 1);
        for rank in 0..ranks as u32 {
            joined.push((node(rank, steps), sink));
            room.extend([demand[rank as usize], 0]);
        }
        let mut first = vec![0; sink as usize + 2];
        for &(from, to) in &joined {
            first[from as usize + 1] += 1;
            first[to as usize + 1] += 1;
        }
        for node in 0..=sink as usize {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let (mut to, mut arcs) = (Vec::with_capacity(room.len()), vec![0; room.len()]);
        for (arc, &(from, end)) in joined.iter().enumerate() {
            to.extend([end, from]);
            for (node, arc) in [(from, 2 * arc), (end, 2 * arc + 1)] {
                arcs[next[node as usize] as usize] = arc as u32;
                next[node as usize] += 1;
            }
        }
        let missing = demand.iter().map(|&demand| u64::from(demand)).sum();
        Self { network, root, widths, to, room, first, arcs, level: Vec::new(), missing }
    }

    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    fn sink(&self) -> u32 {
        self.first.len() as u32 - 2
    }

    fn out(&self, node: u32) -> std::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    pub fn widen(&mut self, step: usize, by: u32) {
        self.widths[step] += by;
        for link in 0..self.network.link_count() {
            let room = &mut self.room[2 * (step * self.network.link_count() + link)];
            *room = room.saturating_add(by.saturating_mul(self.network.capacity[link])).min(AMPLE);
        }
    }

    /// Maximizes the flow. True if nothing is missing.
    pub fn fill(&mut self) -> bool {
        let mut tried = Vec::new();
        while self.missing > 0 && self.measure() {
            tried.clear();
            tried.extend_from_slice(&self.first);
            while self.send_on_one_path(&mut tried) {}
        }
        self.missing == 0
    }

    /// Measures the distance of every node from the root. True if the sink can be reached.
    fn measure(&mut self) -> bool {
        self.level.clear();
        self.level.resize(self.first.len() - 1, u32::MAX);
        self.level[self.root as usize] = 0;
        let mut queue = vec![self.root];
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            for place in self.out(node) {
                let arc = self.arcs[place] as usize;
                let to = self.to[arc] as usize;
                if self.room[arc] > 0 && self.level[to] == u32::MAX {
                    self.level[to] = self.level[node as usize] + 1;
                    queue.push(to as u32);
                }
            }
        }
        self.level[self.sink() as usize] != u32::MAX
    }

    /// Fills one path of the level graph; `tried[node]` is the next arc to try.
    fn send_on_one_path(&mut self, tried: &mut [u32]) -> bool {
        let sink = self.sink();
        let mut path: Vec<u32> = Vec::new();
        let mut node = self.root;
        while node != sink {
            let range = self.out(node);
            let onward = (tried[node as usize] as usize..range.end).find(|&place| {
                let arc = self.arcs[place] as usize;
                self.room[arc] > 0 && self.level[self.to[arc] as usize] == self.level[node as usize] + 1
            });
            tried[node as usize] = onward.unwrap_or(range.end) as u32;
            match onward {
                Some(place) => {
                    path.push(self.arcs[place]);
                    node = self.to[self.arcs[place] as usize];
                }
                None => {
                    let Some(back) = path.pop() else { return false };
                    node = self.to[back as usize ^ 1];
                    tried[node as usize] += 1;
                }
            }
        }
        let amount = path.iter().map(|&arc| self.room[arc as usize]).min().unwrap_or(0);
        for arc in path {
            self.room[arc as usize] -= amount;
            self.room[arc as usize ^ 1] += amount;
        }
        self.missing -= u64::from(amount);
        true
    }

    /// The minimum cuts nearest to the root and farthest from it, if the maximum flow misses something.
    pub fn cuts(&mut self) -> [Cut; 2] {
        self.measure();
        let near: Vec<bool> = self.level.iter().map(|&level| level != u32::MAX).collect();
        let mut far = vec![true; near.len()];
        far[self.sink() as usize] = false;
        let mut queue = vec![self.sink()];
        while let Some(node) = queue.pop() {
            for place in self.out(node) {
                let arc = self.arcs[place] as usize;
                let from = self.to[arc] as usize;
                if self.room[arc ^ 1] > 0 && far[from] {
                    far[from] = false;
                    queue.push(from as u32);
                }
            }
        }
        [self.cut(&near), self.cut(&far)]
    }

    fn cut(&self, inside: &[bool]) -> Cut {
        let (links, steps) = (self.network.link_count(), self.widths.len());
        let crosses = |arc: usize| inside[self.to[arc ^ 1] as usize] && !inside[self.to[arc] as usize];
        let weight = |step: usize| -> u64 {
            let crossing = (0..links).filter(|link| crosses(2 * (step * links + link)));
            crossing.map(|link| u64::from(self.network.capacity[link])).sum()
        };
        let delivered = 2 * steps * (links + self.network.rank_count())..self.to.len();
        let outside = delivered.step_by(2).filter(|&arc| !crosses(arc));
        let need = outside.map(|arc| u64::from(self.room[arc]) + u64::from(self.room[arc ^ 1])).sum();
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
                let flowing = |place: &usize| {
                    self.arcs[*place].is_multiple_of(2) && self.room[self.arcs[*place] as usize ^ 1] > 0
                };
                let Some(place) = self.out(node).find(flowing) else { return paths };
                path.push(self.arcs[place] as usize);
                node = self.to[self.arcs[place] as usize];
            }
            let amount = path.iter().map(|&arc| self.room[arc ^ 1]).min().unwrap_or(0);
            for &arc in &path {
                self.room[arc ^ 1] -= amount;
            }
            let visited: Vec<u32> = path.iter().map(|&arc| self.to[arc ^ 1] % ranks as u32).collect();
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
