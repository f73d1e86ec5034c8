//! Transfers one at a time, whatever the form of their schedule.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::{Op, Schedule, Transfer};
use crate::collective::ChunkId;
use crate::topology::{Direction, RankId};

/// One transfer, by where its chunks come from; [`Timetable::chunks_of`](super::Timetable::chunks_of) names them.
#[derive(Clone, Debug)]
pub struct Slot<'a> {
    /// The step, from 1.
    pub step: u32,
    /// The sender.
    pub from: RankId,
    /// The receiver.
    pub to: RankId,
    /// The direction, where stated.
    pub via: Option<Direction>,
    /// What happens on arrival.
    pub op: Op,
    /// What a pattern sends here, with chunks that depart from it.
    pub(super) sources: Arc<[Source<'a>]>,
    /// What is sent alike in every cell.
    pub(super) repeated: Arc<[Source<'a>]>,
    /// How many chunks these two send that are meant, exceptions included.
    pub(super) translated: usize,
    /// Those of them that are not sent; ascending.
    pub(super) without: Cow<'a, [ChunkId]>,
    /// What is stated to be sent from here to there.
    pub own: Cow<'a, [ChunkId]>,
}

/// Chunks that are sent in a direction: of rank 0, by a pattern; of a cell, by one of its ranks.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Their sender.
    pub from: RankId,
    /// The chunks.
    pub chunks: &'a [ChunkId],
}

/// Receiver, direction and operation; of a pattern's transfers, the receiver as seen from the sender.
pub(super) type Way = (RankId, Option<Direction>, Op);

/// The sender, and where to.
pub(super) type Key = (RankId, Way);

/// Which transfers are wanted: those that meet every stated condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// From or to one of these ranks, which are ascending.
    pub ranks: Option<Vec<RankId>>,
    /// From the first rank to the second.
    pub link: Option<(RankId, RankId)>,
    /// With a chunk of this range of numbers.
    pub chunks: Option<Range<u32>>,
}

impl<'a> Slot<'a> {
    /// A transfer whose chunks are all stated.
    pub(super) fn stating(schedule: &'a Schedule, step: u32, transfer: &Transfer, none: &Arc<[Source<'a>]>) -> Self {
        let Transfer { from, to, via, op, .. } = *transfer;
        let own = Cow::Borrowed(schedule.chunks(transfer));
        Self { own, ..Self::empty(step, from, (to, via, op), none) }
    }

    /// Chunks that are not sent, though a pattern does.
    pub(super) fn lacking(schedule: &'a Schedule, step: u32, transfer: &Transfer, none: &Arc<[Source<'a>]>) -> Self {
        let mut slot = Self::stating(schedule, step, transfer, none);
        std::mem::swap(&mut slot.own, &mut slot.without);
        slot
    }

    /// A transfer without chunks.
    pub(super) fn empty(step: u32, from: RankId, (to, via, op): Way, none: &Arc<[Source<'a>]>) -> Self {
        let (sources, repeated) = (Arc::clone(none), Arc::clone(none));
        let no_chunks = Cow::Borrowed(&[][..]);
        Self { step, from, to, via, op, sources, repeated, translated: 0, without: no_chunks.clone(), own: no_chunks }
    }

    /// The link and the operation: transfers of a step are told apart by them.
    pub(super) fn key(&self) -> Key {
        (self.from, (self.to, self.via, self.op))
    }

    /// The number of its chunks, with exceptions that would be sent here if they were none.
    pub fn stated(&self) -> usize {
        self.own.len() + self.translated - self.without.len()
    }

    /// Is anything sent here that is stated elsewhere?
    pub fn is_translated(&self) -> bool {
        self.translated > 0
    }
}

impl Choice {
    /// Are transfers from one rank to another wanted, as far as ranks decide?
    pub fn joins(&self, from: RankId, to: RankId) -> bool {
        let is_one = |ranks: &Vec<RankId>| [from, to].iter().any(|rank| ranks.binary_search(rank).is_ok());
        self.ranks.as_ref().is_none_or(is_one) && self.link.is_none_or(|link| link == (from, to))
    }

    /// Is the chunk wanted?
    pub fn has_chunk(&self, chunk: ChunkId) -> bool {
        self.chunks.as_ref().is_none_or(|chunks| chunks.contains(&chunk.0))
    }

    /// Is any condition stated?
    pub fn is_stated(&self) -> bool {
        self.ranks.is_some() || self.link.is_some() || self.chunks.is_some()
    }
}
