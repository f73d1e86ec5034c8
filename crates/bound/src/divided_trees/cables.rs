//! Cables: pairs of live links that lead both ways between two ranks.

use collsynth_core::topology::{LinkId, Topology};

/// The undirected network of cables.
pub struct Cables {
    /// The ranks that each cable joins.
    pub ends: Vec<[u32; 2]>,
    /// The link from the first end to the second, and the one back.
    links: Vec<[LinkId; 2]>,
    /// What either direction carries in a unit of time.
    pub capacity: Vec<u32>,
    /// The cables of each rank.
    of: Vec<Vec<u32>>,
}

impl Cables {
    /// A link without a live opposite is left out, and of unequal ones the wider counts as much as the narrower.
    pub fn new(topology: &Topology) -> Self {
        let mut cables = Self {
            ends: Vec::new(),
            links: Vec::new(),
            capacity: Vec::new(),
            of: vec![Vec::new(); topology.rank_count()],
        };
        for id in topology.live_links() {
            let link = topology.link(id);
            let back = topology.opposite(id).filter(|&back| back > id && topology.link(back).alive);
            let Some(back) = back else { continue };
            let cable = cables.ends.len() as u32;
            cables.ends.push([link.from.0, link.to.0]);
            cables.links.push([id, back]);
            cables.capacity.push(link.capacity.min(topology.link(back).capacity));
            cables.of[link.from.index()].push(cable);
            cables.of[link.to.index()].push(cable);
        }
        cables
    }

    /// Do all live links form cables whose directions carry as much?
    pub fn are_all_links(&self, topology: &Topology) -> bool {
        let capacity = |links: &mut dyn Iterator<Item = LinkId>| -> u64 {
            links.map(|id| u64::from(topology.link(id).capacity)).sum()
        };
        2 * self.capacity.iter().map(|&capacity| u64::from(capacity)).sum::<u64>()
            == capacity(&mut topology.live_links())
    }

    /// The number of cables.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The number of ranks, failed ones too.
    pub fn rank_count(&self) -> usize {
        self.of.len()
    }

    /// The cables of a rank, ascending.
    pub fn of(&self, rank: u32) -> &[u32] {
        &self.of[rank as usize]
    }

    /// The rank at the other end.
    pub fn across(&self, cable: u32, rank: u32) -> u32 {
        let [first, second] = self.ends[cable as usize];
        if rank == first { second } else { first }
    }

    /// The number of a cable's direction away from a rank: two for each cable.
    pub fn directed(&self, cable: u32, from: u32) -> u32 {
        2 * cable + u32::from(self.ends[cable as usize][0] != from)
    }

    /// The link of a cable that leaves a rank.
    pub fn link_from(&self, cable: u32, rank: u32) -> LinkId {
        let [there, back] = self.links[cable as usize];
        if self.ends[cable as usize][0] == rank { there } else { back }
    }

    /// Do they join all these ranks?
    pub fn connect(&self, live: &[u32]) -> bool {
        let mut seen = vec![false; self.rank_count()];
        let mut stack = vec![live[0]];
        seen[live[0] as usize] = true;
        while let Some(rank) = stack.pop() {
            for &cable in self.of(rank) {
                let next = self.across(cable, rank);
                if !seen[next as usize] {
                    seen[next as usize] = true;
                    stack.push(next);
                }
            }
        }
        live.iter().all(|&rank| seen[rank as usize])
    }
}
