//! The room on links, step by step: all of it, or, where halves overlap, what the other half leaves.

use itertools::Itertools;

use super::overlap::Overlap;
use crate::model::network::{LiveLink, Network};

pub(super) struct Room<'a> {
    network: &'a Network,
    overlap: Option<&'a Overlap>,
    /// By link: its capacity in this step, 0 if it is closed.
    open: Vec<u32>,
    /// By rank: what its links can still bring in the total width aimed at, and before the middle, from there on.
    future: Vec<i64>,
    /// The links used in each step before the middle.
    used: Vec<Vec<LiveLink>>,
}

impl<'a> Room<'a> {
    /// Of steps of this total width, without those before the middle.
    pub fn new(network: &'a Network, overlap: Option<&'a Overlap>, target: u32) -> Self {
        let future = |rank| i64::from(network.capacity_into(rank)) * i64::from(target);
        Self {
            network,
            overlap,
            open: network.capacity.clone(),
            future: (0..network.rank_count() as u32).map(future).collect(),
            used: Vec::new(),
        }
    }

    /// By rank: the chunks it lacks beyond what its links can bring; below 0, what they can bring besides.
    pub fn short(&self, lacks: &[u32]) -> Vec<i64> {
        lacks.iter().zip(&self.future).map(|(&lacks, future)| i64::from(lacks) - future).collect()
    }

    /// The capacity of a link in this step; 0 if it is closed.
    pub fn on(&self, link: LiveLink) -> u32 {
        self.open[link as usize]
    }

    /// The capacities of the links into a rank in this step; 0 if they are closed.
    pub fn entering(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        self.network.entering(rank).iter().map(|&link| self.on(link))
    }

    /// Opens the links of a step, from 0; `lacks` are the chunks that each rank lacks when it begins.
    pub fn begin(&mut self, step: usize, lacks: &[u32]) {
        let Some(overlap) = self.overlap else { return };
        match overlap.width(step) {
            Some(width) if step < overlap.steps() => self.open = overlap.open(self.network, width, self.short(lacks)),
            _ => self.open.copy_from_slice(&self.network.capacity),
        }
        let mirror = overlap.mirror(step).filter(|&mirror| mirror < step);
        for &link in mirror.into_iter().flat_map(|mirror| &self.used[mirror]) {
            self.open[overlap.opposite(link) as usize] = 0;
        }
    }

    pub fn close(&mut self, link: LiveLink) {
        self.open[link as usize] = 0;
    }

    /// Takes away what a step used.
    pub fn end(&mut self, step: usize, width: u32, arrivals: &[(LiveLink, u32)]) {
        let Some(overlap) = self.overlap else { return };
        if step < overlap.steps() {
            let used: Vec<LiveLink> = arrivals.iter().map(|&(link, _)| link).sorted_unstable().dedup().collect();
            for back in used.iter().map(|&link| overlap.opposite(link) as usize) {
                self.future[self.network.to[back] as usize] -=
                    i64::from(width) * i64::from(self.network.capacity[back]);
            }
            self.used.push(used);
        } else {
            for rank in 0..self.future.len() {
                self.future[rank] -= i64::from(width) * self.entering(rank as u32).map(i64::from).sum::<i64>();
            }
        }
    }
}
