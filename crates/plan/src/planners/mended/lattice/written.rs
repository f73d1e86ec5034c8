//! A plan on the quotient as a schedule in the compact form.

use std::collections::BTreeMap;

use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Exceptions, Op, Repeated, Schedule, Translation};
use collsynth_core::topology::{RankId, Torus};

use super::negotiation::Negotiation;
use super::quotient::WAIT;

/// What departs from the pattern: chunks of the first cell, and their moves, each where its sender is in that cell.
pub(super) struct Departures<'a> {
    torus: &'a Torus,
    translation: &'a Translation,
    period: &'a [u32],
    op: Op,
    chunks: Vec<ChunkId>,
    /// By step.
    moves: Vec<BTreeMap<(RankId, RankId), Vec<ChunkId>>>,
}

impl<'a> Departures<'a> {
    /// No departures yet, in a schedule of this many steps.
    pub fn new(torus: &'a Torus, translation: &'a Translation, period: &'a [u32], op: Op, steps: usize) -> Self {
        Self { torus, translation, period, op, chunks: Vec::new(), moves: vec![BTreeMap::new(); steps] }
    }

    /// A chunk that departs, with its moves: step from 0, sender, receiver.
    pub fn add(&mut self, chunk: ChunkId, moves: impl IntoIterator<Item = (usize, RankId, RankId)>) {
        self.chunks.push(chunk);
        for (step, from, to) in moves {
            let part = |dim: usize| self.torus.position(from, dim) % self.period[dim] * self.torus.stride(dim);
            let home = RankId((0..self.period.len()).map(part).sum());
            let by = self.translation.between(from, home);
            let chunks = self.moves[step].entry((home, self.translation.rank(to, by))).or_default();
            chunks.push(self.translation.chunk(chunk, by));
        }
    }

    /// The schedule, with the pattern, at these widths.
    pub fn finish(mut self, problem: &Problem, pattern: &Schedule, widths: &[u32]) -> Option<CompactSchedule> {
        self.chunks.sort_unstable();
        let [mut template, mut cell] = [(); 2].map(|()| Schedule::builder());
        for ((step, of_step), &width) in pattern.steps().zip(self.moves).zip(widths) {
            template.step(width);
            for transfer in step.transfers {
                let chunks = pattern.chunks(transfer).iter().copied();
                template.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
            }
            cell.step(width);
            for ((from, to), chunks) in of_step {
                cell.transfer(from, to, None, self.op, chunks);
            }
        }
        let repeated = Repeated { period: self.period.to_vec(), chunks: self.chunks, moves: cell.finish() };
        let none = Exceptions::replacing(Vec::new(), Schedule::of_widths(widths.iter().copied()));
        CompactSchedule::new(problem, template.finish(), Some(repeated), none).ok()
    }
}

impl Negotiation<'_> {
    /// Adds the messages whose paths are not those of the template.
    pub fn depart(&self, departures: &mut Departures<'_>) {
        let steps = self.quotient.steps;
        let chunks = self.template.len() / steps;
        let rank = |at: &[i64]| departures.torus.rank_at(at);
        let mut departed = Vec::new();
        for (number, origin) in self.origins.iter().enumerate() {
            let origin: Vec<i64> = origin.iter().map(|&at| at as i64).collect();
            for chunk in 0..chunks {
                let path = self.path(number * chunks + chunk);
                if path == &self.template[chunk * steps..][..steps] {
                    continue;
                }
                let (mut at, mut moves) = (origin.clone(), Vec::new());
                for (step, &direction) in path.iter().enumerate().filter(|(_, direction)| **direction != WAIT) {
                    let from = rank(&at);
                    at[usize::from(direction) / 2] += if direction.is_multiple_of(2) { 1 } else { -1 };
                    moves.push((step, from, rank(&at)));
                }
                departed.push((departures.translation.chunk(ChunkId(chunk as u32), rank(&origin)), moves));
            }
        }
        departed.into_iter().for_each(|(chunk, moves)| departures.add(chunk, moves));
    }
}
