//! A pattern on a machine with failures: the loads of its links, and the chunks behind them.

use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Schedule, Transfer, Translation};
use collsynth_core::topology::RankId;

use crate::model::network::{LiveLink, Network, WAIT};

/// The pattern as loads and chunks by direction.
pub(super) struct Hops<'a> {
    pub problem: &'a Problem,
    pub translation: Translation,
    pub steps: usize,
    /// The live link from each rank in each direction, `[direction * ranks + rank]`; [`WAIT`]: it failed.
    pub links: Vec<LiveLink>,
    /// The direction of each live link.
    pub direction: Vec<u32>,
    /// Who sends which of rank 0's chunks, `[step * directions + direction]`.
    senders: Vec<Vec<(RankId, ChunkId)>>,
    /// The hops of rank 0's chunks, sorted: step, direction, sender.
    pub of_chunk: Vec<Vec<(u32, u32, RankId)>>,
    directions: usize,
    pub ranks: usize,
}

impl<'a> Hops<'a> {
    pub fn new(problem: &'a Problem, network: &Network, pattern: &Schedule) -> Self {
        let translation = Translation::new(problem).expect("asked before");
        let topology = problem.machine();
        let ranks = topology.rank_count();
        // A direction is an offset and, of doubled cables, a way to go.
        let mut ways = Vec::new();
        let way = |transfer: &Transfer| (translation.between(transfer.from, transfer.to), transfer.via);
        pattern.transfers().iter().for_each(|transfer| ways.push(way(transfer)));
        ways.sort_unstable();
        ways.dedup();
        let mut live = vec![WAIT; topology.links().len()];
        (0..).zip(&network.ids).for_each(|(index, id)| live[id.index()] = index);
        let mut links = vec![WAIT; ways.len() * ranks];
        let mut direction = vec![0; network.link_count()];
        for (index, &(towards, via)) in ways.iter().enumerate() {
            for rank in 0..ranks {
                let from = RankId(rank as u32);
                let to = translation.rank(towards, from);
                let fits = |id: &_| via.is_none() || topology.link(*id).direction == via;
                let link = topology.links_between(from, to).find(fits).map_or(WAIT, |id| live[id.index()]);
                links[index * ranks + rank] = link;
                if link != WAIT {
                    direction[link as usize] = index as u32;
                }
            }
        }
        let steps = pattern.step_count();
        let mut senders = vec![Vec::new(); steps * ways.len()];
        let mut of_chunk = vec![Vec::new(); translation.chunks_of_rank() as usize];
        for step in pattern.steps() {
            for transfer in step.transfers {
                let direction = ways.binary_search(&way(transfer)).expect("listed above");
                for &chunk in pattern.chunks(transfer) {
                    senders[(step.number as usize - 1) * ways.len() + direction].push((transfer.from, chunk));
                    of_chunk[chunk.index()].push((step.number - 1, direction as u32, transfer.from));
                }
            }
        }
        Self { problem, translation, steps, links, direction, senders, of_chunk, directions: ways.len(), ranks }
    }

    /// Does the pattern hold as it is?
    pub fn is_whole(&self) -> bool {
        !self.links.contains(&WAIT)
    }

    pub fn senders(&self, step: usize, direction: usize) -> &[(RankId, ChunkId)] {
        &self.senders[step * self.directions + direction]
    }

    /// The chunk that the pattern sends from a rank where it sends this one of rank 0.
    pub fn translated(&self, (sender, chunk): (RankId, ChunkId), from: RankId) -> ChunkId {
        self.translation.chunk(chunk, self.translation.between(sender, from))
    }

    /// The chunks that cross links that failed, some more than once.
    pub fn broken(&self) -> Vec<ChunkId> {
        let mut broken = Vec::new();
        for (index, _) in self.links.iter().enumerate().filter(|(_, link)| **link == WAIT) {
            let (direction, from) = (index / self.ranks, RankId((index % self.ranks) as u32));
            for step in 0..self.steps {
                broken.extend(self.senders(step, direction).iter().map(|&sent| self.translated(sent, from)));
            }
        }
        broken
    }

    /// The live slots that the pattern gives a chunk.
    pub fn slots(&self, chunk: ChunkId, columns: usize) -> impl Iterator<Item = usize> + '_ {
        let owner = self.translation.owner(chunk);
        let own = self.translation.chunk(chunk, self.translation.between(owner, RankId(0)));
        self.of_chunk[own.index()].iter().filter_map(move |&(step, direction, sender)| {
            let from = self.translation.rank(sender, owner);
            let link = self.links[direction as usize * self.ranks + from.index()];
            (link != WAIT).then(|| step as usize * columns + link as usize)
        })
    }
}
