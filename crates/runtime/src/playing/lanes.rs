//! Lanes of a group's call: each takes its share of the pieces, on its share of the buffers.
//!
//! Pieces are independent: a lane plays the roles of all ranks on a range of every part, from the first step to the
//! last, without waiting for another lane. With a lane for each thread of the pool, packets stay with one thread, in
//! the caches of its core.
//!
//! ```text
//!  a block of 2 parts, 4 pieces, 2 lanes    part 0 [ lane 0 | lane 1 ]  part 1 [ lane 0 | lane 1 ]
//! ```

use std::ops::Range;

use super::ends::Ends;
use super::execute::part_range;
use collsynth_core::program::Block;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Elements of a block.
    pub(crate) block: usize,
    pub(crate) parts: usize,
    pub(crate) pieces: usize,
    /// No more than pieces.
    pub(crate) lanes: usize,
}

/// A lane's view of a rank's buffers: all of the input, and its range of every part of the output.
#[derive(Debug)]
pub(crate) struct Share<'a, E> {
    input: &'a [E],
    block: usize,
    /// The first element of the lane's range of each part, in a block.
    starts: Vec<usize>,
    /// The ranges, by block and part.
    output: Vec<&'a mut [E]>,
}

impl Cut {
    pub(crate) fn pieces(self, lane: usize) -> Range<usize> {
        part_range(self.pieces, self.lanes, lane)
    }

    /// The lane's elements of a part, in their block.
    fn range(self, part: usize, lane: usize) -> Range<usize> {
        let (whole, pieces) = (part_range(self.block, self.parts, part), self.pieces(lane));
        let start = |piece: usize| match piece {
            piece if piece == self.pieces => whole.end,
            piece => whole.start + part_range(whole.len(), self.pieces, piece).start,
        };
        start(pieces.start)..start(pieces.end)
    }

    /// Cuts a rank's buffers; the output has whole blocks. O(blocks * parts * lanes).
    pub(crate) fn shares<'a, E>(self, input: &'a [E], mut output: &'a mut [E]) -> Vec<Share<'a, E>> {
        let starts = |lane| (0..self.parts).map(|part| self.range(part, lane).start).collect();
        let blocks = output.len().checked_div(self.block).unwrap_or(0);
        let room = || Vec::with_capacity(blocks * self.parts);
        let share = |lane| Share { input, block: self.block, starts: starts(lane), output: room() };
        let mut shares: Vec<Share<'a, E>> = (0..self.lanes).map(share).collect();
        for _ in 0..blocks {
            for part in 0..self.parts {
                for (lane, share) in shares.iter_mut().enumerate() {
                    let (own, rest) = output.split_at_mut(self.range(part, lane).len());
                    share.output.push(own);
                    output = rest;
                }
            }
        }
        shares
    }
}

impl<E> Share<'_, E> {
    /// The place of a non-empty range in the output.
    fn place(&self, block: u32, range: &Range<usize>) -> (usize, Range<usize>) {
        let part = self.starts.partition_point(|&start| start <= range.start) - 1;
        let start = self.starts[part];
        (block as usize * self.starts.len() + part, range.start - start..range.end - start)
    }
}

impl<E: Copy> Ends<E> for Share<'_, E> {
    fn own(&self, block: Block, range: Range<usize>) -> &[E] {
        match block {
            _ if range.is_empty() => &[],
            Block::Input(block) => &self.input[block as usize * self.block..][range],
            Block::Output(block) => {
                let (at, range) = self.place(block, &range);
                &self.output[at][range]
            }
        }
    }

    fn deliver(&mut self, block: u32, range: Range<usize>, value: &[E]) {
        if !range.is_empty() {
            let (at, range) = self.place(block, &range);
            self.output[at][range].copy_from_slice(value);
        }
    }

    fn deliver_own(&mut self, from: Block, block: u32, range: Range<usize>) {
        if from != Block::Output(block) {
            let value = self.own(from, range.clone()).to_vec();
            self.deliver(block, range, &value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_share_every_element_once() {
        for (block, parts, pieces, lanes) in [(0, 1, 1, 1), (7, 3, 2, 2), (100, 7, 5, 3), (64, 4, 8, 8), (5, 9, 1, 1)] {
            let cut = Cut { block, parts, pieces, lanes };
            let mut output: Vec<usize> = (0..2 * block).collect();
            let mut seen = vec![0; 2 * block];
            for (lane, share) in cut.shares(&[], &mut output).iter().enumerate() {
                for (in_block, number) in (0..2).flat_map(|of| (0..parts).map(move |part| (of, part))) {
                    for piece in cut.pieces(lane) {
                        let whole = part_range(block, parts, number);
                        let inside = part_range(whole.len(), pieces, piece);
                        let range = whole.start + inside.start..whole.start + inside.end;
                        let own = share.own(Block::Output(in_block), range.clone());
                        assert!(own.iter().copied().eq(range.map(|at| in_block as usize * block + at)));
                        own.iter().for_each(|&at| seen[at] += 1);
                    }
                }
            }
            assert!(seen.iter().all(|&times| times == 1), "{cut:?}");
        }
    }
}
