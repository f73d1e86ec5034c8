//! The figures of the expanded schedule, without expanding it.

use super::CompactSchedule;
use crate::problem::Problem;
use crate::schedule::{Statistics, Timetable};
use crate::topology::{Direction, LinkId, RankId};

impl Timetable for CompactSchedule {
    fn step_count(&self) -> usize {
        self.pattern.step_count()
    }

    fn total_width(&self) -> u64 {
        self.pattern.total_width()
    }

    fn is_explicit(&self) -> bool {
        false
    }

    /// O(moves stated + transfers of the expanded schedule).
    fn statistics(&self, problem: &Problem) -> Statistics {
        let topology = problem.machine();
        let ranks = topology.rank_count();
        let mut carried = vec![0_i64; topology.links().len()];
        let link = |from: RankId, to: RankId, via: Option<Direction>| {
            let fits = |&id: &LinkId| via.is_none() || topology.link(id).direction == via;
            topology.links_between(from, to).find(fits)
        };
        let (mut transfers, mut moves) = (0, 0);
        self.for_each_slot(ranks, |slot| {
            let stated = slot.own.len() + slot.sources.iter().map(|source| source.chunks.len()).sum::<usize>();
            transfers += usize::from(self.chunks(slot).next().is_some());
            moves += stated;
            if let Some(link) = link(slot.from, slot.to, slot.via) {
                carried[link.index()] += stated as i64;
            }
        });
        // Less what exceptions would do if they followed the pattern.
        let mut hops = vec![Vec::new(); self.translation.chunks_of_rank() as usize];
        for transfer in self.pattern.transfers() {
            for chunk in self.pattern.chunks(transfer) {
                hops[chunk.index()].push((transfer.from, transfer.to, transfer.via));
            }
        }
        for &chunk in &self.exceptions {
            let owner = self.translation.owner(chunk);
            let of_rank_0 = self.translation.chunk(chunk, self.translation.between(owner, RankId(0)));
            for &(from, to, via) in &hops[of_rank_0.index()] {
                moves -= 1;
                let (from, to) = (self.translation.rank(from, owner), self.translation.rank(to, owner));
                if let Some(link) = link(from, to, via) {
                    carried[link.index()] -= 1;
                }
            }
        }
        let carried = |link: LinkId| carried[link.index()] as u64;
        Statistics::of(problem, self.step_count(), self.total_width(), (transfers, moves), carried)
    }
}
