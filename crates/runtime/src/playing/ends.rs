//! The buffers that a role is played on.

use std::ops::Range;
use std::sync::Arc;

use crate::transports::packet::Packet;
use collsynth_core::program::Block;

/// Where a rank's own values are, and where its results go. Ranges are of elements in a block.
pub(crate) trait Ends<E> {
    /// A value from before the first step.
    fn own(&self, block: Block, range: Range<usize>) -> &[E];

    /// The input as a packet, if it is one.
    fn input_packet(&self) -> Option<Arc<Packet>> {
        None
    }

    /// Takes a result for a block of the output.
    fn deliver(&mut self, block: u32, range: Range<usize>, value: &[E]);

    /// Takes a result that is one of the rank's own values.
    fn deliver_own(&mut self, from: Block, block: u32, range: Range<usize>);

    /// The input is not read any more.
    fn input_is_done(&mut self) {}
}

/// The caller's input and output.
pub(crate) struct Slices<'a, E> {
    pub(crate) input: &'a [E],
    pub(crate) output: &'a mut [E],
    /// Elements of a block.
    pub(crate) block: usize,
}

impl<E: Copy> Ends<E> for Slices<'_, E> {
    fn own(&self, block: Block, range: Range<usize>) -> &[E] {
        match block {
            Block::Input(block) => &self.input[within(self.block, block, &range)],
            Block::Output(block) => &self.output[within(self.block, block, &range)],
        }
    }

    fn deliver(&mut self, block: u32, range: Range<usize>, value: &[E]) {
        self.output[within(self.block, block, &range)].copy_from_slice(value);
    }

    fn deliver_own(&mut self, from: Block, block: u32, range: Range<usize>) {
        let to = within(self.block, block, &range);
        match from {
            Block::Input(from) => self.output[to].copy_from_slice(&self.input[within(self.block, from, &range)]),
            Block::Output(from) => self.output.copy_within(within(self.block, from, &range), to.start),
        }
    }
}

/// A range of a block, in a buffer of blocks of this length.
fn within(length: usize, block: u32, range: &Range<usize>) -> Range<usize> {
    let start = block as usize * length;
    start + range.start..start + range.end
}
