//! All-reduce of compressed values, which cannot be added on the way: every rank gathers all contributions and adds
//! them itself.
//!
//! The buffer is processed in pieces. A rank compresses its own elements of a piece; from then on the buffer
//! accumulates the sum: compressed pieces circulate by the schedule, and each is added on arrival and kept only until
//! it has been sent on for the last time. No rank ever holds another's dense buffer.
//!
//! ```text
//!  a ring, rank 3:  step 1   its own piece leaves, rank 2's arrives and is added
//!                   step 2   rank 2's leaves, rank 1's arrives and is added      two compressed pieces at a time
//!                   ...
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::compressor::Compressor;
use crate::calls::communicator::Communicator;
use crate::calls::error::RunError;
use crate::calls::gathered::Order;
use crate::playing::element::{Element, ReduceOp};
use crate::playing::ends::Ends;
use crate::playing::execute::part_range;
use crate::transports::packet::Packet;
use crate::transports::transport::Transport;
use collsynth_core::program::Block;
use collsynth_core::topology::RankId;

/// How compressed pieces are gathered and added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Gathering {
    /// The order of additions.
    pub order: Order,
    /// The most bytes of compressed data that this rank may hold at a time, excluding data in the transport; `None`: as
    /// many as packets of the transport's size take.
    pub memory_limit: Option<u64>,
}

impl<T: Transport> Communicator<T> {
    /// Replaces each rank's buffer by the combination of all ranks' compressed buffers.
    ///
    /// # Errors
    ///
    /// As every call; and [`RunError::Memory`] if even one group of elements at a time exceeds the limit.
    pub fn all_reduce_gathered<E: Element, C: Compressor<E>>(
        &mut self,
        buffer: &mut [E],
        compressor: &mut C,
        gathering: Gathering,
    ) -> Result<(), RunError> {
        self.check_kind("all_reduce_gathered")?;
        let (parts, group, most) = (self.parts(), compressor.group().max(1), self.packet_bytes() as u64);
        let chunks = self.gathered_chunks[gathering.order as usize];
        let largest = self.role.largest_packet as u64;
        // Upper bound on the bytes of a chunk, by the elements of a piece.
        let chunk = |elements: usize| {
            let groups = elements.div_ceil(group).div_ceil(parts);
            compressor.bytes(groups.saturating_mul(group).min(elements)) as u64
        };
        let memory = |elements: usize| chunk(elements).saturating_mul(chunks as u64);
        if let Some(limit) = gathering.memory_limit {
            let needed = memory(group.min(buffer.len()));
            if needed > limit {
                return Err(RunError::Memory { chunks, needed, limit });
            }
        }
        let limit = gathering.memory_limit.unwrap_or(u64::MAX);
        let too_much = |elements: usize| chunk(elements).saturating_mul(largest) > most || memory(elements) > limit;
        let mut length = buffer.len().next_multiple_of(group);
        while length > group && too_much(length) {
            length = (length / 2).next_multiple_of(group);
        }
        let live: Vec<RankId> = self.problem().topology().live_ranks().collect();
        let pool = self.transport.pool();
        for (number, piece) in buffer.chunks_mut(length.max(1)).enumerate() {
            let bytes = compressor.bytes(piece.len());
            let mut own = pool.packet(bytes);
            compressor.compress(number * length, piece, own.elements_mut());
            let unit = compressor.bytes(group.min(piece.len())).max(1);
            let mut sums = Sums {
                own: Some(Arc::new(own)),
                dense: piece,
                compressor: &*compressor,
                live: &live,
                parts: (0..parts).map(|part| part_range(bytes.div_ceil(unit), parts, part).start * unit).collect(),
                unit,
                turns: vec![0; parts],
                early: vec![None; if gathering.order == Order::ByRank { live.len() * parts } else { 0 }],
                order: gathering.order,
            };
            self.carry_out(&mut sums, bytes, unit, ReduceOp::Sum)?;
            if let Some(own) = sums.own {
                pool.recycle(own);
            }
        }
        Ok(())
    }
}

/// Accumulates a piece of the sum. To the schedule, it is an all-gather of bytes.
struct Sums<'a, E, C> {
    /// This rank's compressed elements, until they have been sent for the last time.
    own: Option<Arc<Packet>>,
    dense: &'a mut [E],
    compressor: &'a C,
    live: &'a [RankId],
    /// The first compressed byte of each part.
    parts: Vec<usize>,
    /// Bytes of a compressed group.
    unit: usize,
    /// For each part, the number of contributions added.
    turns: Vec<usize>,
    /// By part and rank, contributions that arrived before their turn.
    early: Vec<Option<Vec<u8>>>,
    order: Order,
}

impl<E: Element, C: Compressor<E>> Sums<'_, E, C> {
    /// Adds a rank's contribution to a range of compressed bytes, or keeps it until its turn.
    fn take(&mut self, from: u32, range: &Range<usize>, bytes: &[u8]) {
        if range.is_empty() {
            return;
        }
        let part = self.parts.partition_point(|&start| start <= range.start) - 1;
        if self.order == Order::AsTheyCome {
            return self.add(part, range, bytes);
        }
        let live = self.live.len();
        let Some(turn) = self.live.iter().position(|rank| rank.0 == from) else { return };
        if turn != self.turns[part] {
            self.early[part * live + turn] = Some(bytes.to_vec());
            return;
        }
        self.add(part, range, bytes);
        while self.turns[part] < live {
            let Some(kept) = self.early[part * live + self.turns[part]].take() else { return };
            self.add(part, range, &kept);
        }
    }

    fn add(&mut self, part: usize, range: &Range<usize>, bytes: &[u8]) {
        let group = self.compressor.group().max(1);
        let start = range.start / self.unit * group;
        let end = (range.end.div_ceil(self.unit) * group).min(self.dense.len());
        let elements = &mut self.dense[start..end];
        match self.turns[part] {
            0 => self.compressor.decompress(bytes, elements),
            _ => self.compressor.add(bytes, elements),
        }
        self.turns[part] += 1;
    }
}

impl<E: Element, C: Compressor<E>> Ends<u8> for Sums<'_, E, C> {
    fn own(&self, _: Block, range: Range<usize>) -> &[u8] {
        self.own.as_ref().map_or(&[], |own| &own.elements()[range])
    }

    fn input_packet(&self) -> Option<Arc<Packet>> {
        self.own.clone()
    }

    fn deliver(&mut self, block: u32, range: Range<usize>, value: &[u8]) {
        self.take(block, &range, value);
    }

    fn deliver_own(&mut self, _: Block, block: u32, range: Range<usize>) {
        if let Some(own) = self.own.clone() {
            self.take(block, &range, &own.elements()[range.clone()]);
        }
    }

    fn input_is_done(&mut self) {
        self.own = None;
    }
}
