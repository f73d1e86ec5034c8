//! A maximum flow from one node to another, along shortest augmenting paths, one level graph at a time (Dinitz 1970).

/// A network, and what room a flow leaves in it.
pub(super) struct Residual {
    /// The head of each arc; arc `2i + 1` is arc `2i` reversed.
    to: Vec<u32>,
    /// The room of each arc.
    pub room: Vec<u32>,
    /// The arcs that leave a node: `arcs[first[node]..first[node + 1]]`.
    first: Vec<u32>,
    arcs: Vec<u32>,
    /// The distance of each node from the source, where it was measured.
    level: Vec<u32>,
}

impl Residual {
    /// No flow, through the arcs that join these nodes, with this room. Arc `i` here is arc `2i` there.
    pub fn new(nodes: usize, joined: &[(u32, u32)], rooms: impl Iterator<Item = u32>) -> Self {
        let mut first = vec![0; nodes + 1];
        for &(from, to) in joined {
            first[from as usize + 1] += 1;
            first[to as usize + 1] += 1;
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let (mut to, mut arcs) = (Vec::with_capacity(2 * joined.len()), vec![0; 2 * joined.len()]);
        for (arc, &(from, end)) in joined.iter().enumerate() {
            to.extend([end, from]);
            for (node, arc) in [(from, 2 * arc), (end, 2 * arc + 1)] {
                arcs[next[node as usize] as usize] = arc as u32;
                next[node as usize] += 1;
            }
        }
        Self { to, room: rooms.flat_map(|room| [room, 0]).collect(), first, arcs, level: Vec::new() }
    }

    /// The node at which an arc ends.
    pub fn head(&self, arc: usize) -> u32 {
        self.to[arc]
    }

    /// The node at which an arc starts.
    pub fn tail(&self, arc: usize) -> u32 {
        self.to[arc ^ 1]
    }

    /// The arcs that leave a node, reversed ones among them.
    pub fn out(&self, node: u32) -> &[u32] {
        &self.arcs[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// Sends an amount along an arc.
    pub fn send(&mut self, arc: usize, amount: u32) {
        self.room[arc] -= amount;
        self.room[arc ^ 1] += amount;
    }

    /// Sends as much more as there is room for. The amount.
    pub fn fill(&mut self, source: u32, sink: u32) -> u64 {
        let (mut sent, mut tried) = (0, Vec::new());
        while self.measure(source)[sink as usize] != u32::MAX {
            tried.clear();
            tried.extend_from_slice(&self.first);
            while let Some(amount) = self.send_on_one_path(source, sink, &mut tried) {
                sent += u64::from(amount);
            }
        }
        sent
    }

    /// The distance of every node from the source over arcs with room, `u32::MAX` where none leads.
    pub fn measure(&mut self, source: u32) -> &[u32] {
        self.level.clear();
        self.level.resize(self.first.len() - 1, u32::MAX);
        self.level[source as usize] = 0;
        let mut queue = vec![source];
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            for place in self.first[node as usize]..self.first[node as usize + 1] {
                let arc = self.arcs[place as usize] as usize;
                let to = self.to[arc] as usize;
                if self.room[arc] > 0 && self.level[to] == u32::MAX {
                    self.level[to] = self.level[node as usize] + 1;
                    queue.push(to as u32);
                }
            }
        }
        &self.level
    }

    /// Fills one path of the level graph; `tried[node]` is the next arc to try.
    fn send_on_one_path(&mut self, source: u32, sink: u32, tried: &mut [u32]) -> Option<u32> {
        let mut path: Vec<u32> = Vec::new();
        let mut node = source;
        while node != sink {
            let end = self.first[node as usize + 1];
            let onward = (tried[node as usize]..end).find(|&place| {
                let arc = self.arcs[place as usize] as usize;
                self.room[arc] > 0 && self.level[self.to[arc] as usize] == self.level[node as usize] + 1
            });
            tried[node as usize] = onward.unwrap_or(end);
            match onward {
                Some(place) => {
                    path.push(self.arcs[place as usize]);
                    node = self.to[self.arcs[place as usize] as usize];
                }
                None => {
                    node = self.tail(path.pop()? as usize);
                    tried[node as usize] += 1;
                }
            }
        }
        let amount = path.iter().map(|&arc| self.room[arc as usize]).min()?;
        path.into_iter().for_each(|arc| self.send(arc as usize, amount));
        Some(amount)
    }
}
