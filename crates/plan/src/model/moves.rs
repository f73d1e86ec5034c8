//! Moves of chunks over links, and the schedule they form.
//!
//! Paths, trees, flows and pipelines are all sets of moves: in this step, this link carries these chunks. Planners add
//! them in any order; writing sorts them by step, link and chunk, so equal sets give equal schedules.

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{LinkId, Topology};

/// The moves of every step.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// By operation.
    steps: Vec<[Vec<(LinkId, ChunkId)>; 2]>,
}

impl Moves {
    /// An empty set of moves in this number of steps.
    pub fn new(steps: usize) -> Self {
        Self { steps: vec![Default::default(); steps] }
    }

    /// Moves chunks over a link in a step, counted from 0; appends steps as needed.
    pub fn add(&mut self, step: usize, link: LinkId, op: Op, chunks: impl IntoIterator<Item = ChunkId>) {
        if step >= self.steps.len() {
            self.steps.resize_with(step + 1, Default::default);
        }
        self.steps[step][op as usize].extend(chunks.into_iter().map(|chunk| (link, chunk)));
    }

    pub fn reverse(&mut self) {
        self.steps.reverse();
    }

    /// The schedule. `width(step, needed)` gives the width of a step, where `needed` is the least that its fullest link
    /// allows; a step without a width is omitted.
    ///
    /// A link either copies or reduces in a step. If some link does both, the step is written twice: first the
    /// reductions, then the copies.
    ///
    /// O(moves + steps * links), and sorting the chunks of each link in each step.
    pub fn write(self, topology: &Topology, mut width: impl FnMut(usize, u32) -> Option<u32>) -> Schedule {
        let mut carried: Vec<[Vec<ChunkId>; 2]> = vec![Default::default(); topology.links().len()];
        let mut builder = Schedule::builder();
        for (step, moves) in self.steps.into_iter().enumerate() {
            for (op, moves) in moves.into_iter().enumerate() {
                moves.into_iter().for_each(|(link, chunk)| carried[link.index()][op].push(chunk));
            }
            let used = carried
                .iter()
                .zip(topology.links())
                .flat_map(|(chunks, link)| chunks.iter().map(|chunks| (chunks.len() as u32).div_ceil(link.capacity)));
            let Some(width) = width(step, used.max().unwrap_or(0)) else {
                carried.iter_mut().flatten().for_each(Vec::clear);
                continue;
            };
            let mixed = carried.iter().any(|chunks| chunks.iter().all(|chunks| !chunks.is_empty()));
            let turns: &[&[Op]] = if mixed { &[&[Op::Reduce], &[Op::Copy]] } else { &[&[Op::Reduce, Op::Copy]] };
            for ops in turns {
                builder.step(width);
                for (link, carried) in (0..).map(LinkId).zip(&mut carried) {
                    for &op in *ops {
                        let chunks = &mut carried[op as usize];
                        if !chunks.is_empty() {
                            chunks.sort_unstable();
                            builder.transfer_over(topology, link, op, chunks.drain(..));
                        }
                    }
                }
            }
        }
        builder.finish()
    }
}
