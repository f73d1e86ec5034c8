//! A collective: its chunks, and what must be true of each.

use super::kind::Data;
use super::{ChunkId, Combining, Groups, Kind, Who};
use crate::exact::narrow;
use crate::topology::RankId;

/// A kind of collective and the number of parts per message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What to do.
    pub kind: Kind,
    /// Parts per message (shard, vector); at least 1. For [`Kind::AllToAllV`], the number of chunks that count as one
    /// message in the volume.
    pub parts: u32,
}

/// A set of ranks at which a chunk is, or must be. Failed ranks are never among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holders {
    /// One rank.
    One(RankId),
    /// Every rank that did not fail.
    Every,
    /// The members of a group.
    Group(u32),
}

/// What holds for a chunk before the first step, and what must hold after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRule {
    /// Who holds it before: each of these ranks its own contribution.
    pub before: Holders,
    /// Who must hold it after: the contributions of all ranks in `before`, each once.
    pub after: Holders,
    /// What `reduce` does.
    pub combining: Combining,
}

impl Collective {
    /// A collective of whole messages: one part.
    pub fn new(kind: Kind) -> Self {
        Self { kind, parts: 1 }
    }

    /// The number of chunk ids among `ranks` ranks, failed ones included; `None` if more than `u32::MAX`.
    pub fn chunk_count(&self, ranks: u32) -> Option<u32> {
        match self.kind.demand() {
            Some(demand) => Some(demand.total()),
            None if let Some(groups) = self.kind.groups() => {
                u32::try_from(groups.blocks(self.kind.owners()).checked_mul(self.parts_of_block().into())?).ok()
            }
            None if self.kind.has_volume() => ranks.checked_pow(self.kind.owners())?.checked_mul(self.parts),
            None => Some(1),
        }
    }

    /// The rule of a chunk among `ranks` ranks. If a holder it names has failed, no rank holds, or needs, the chunk.
    /// O(1); O(log N) for `all_to_allv`.
    pub fn rule(&self, ranks: u32, chunk: ChunkId) -> ChunkRule {
        if let Some(groups) = self.kind.groups() {
            return self.rule_in_groups(groups, chunk);
        }
        let Data { before, after, combining, .. } = self.kind.data();
        let number = chunk.0 / self.parts;
        let (origin, dest) = match (self.kind.demand(), before, after) {
            (Some(demand), ..) => demand.pair(chunk),
            (None, Who::Owner, Who::Owner) => (RankId(number / ranks), RankId(number % ranks)),
            (None, ..) => (RankId(number), RankId(number)),
        };
        let holders = |who, owner| match who {
            Who::Owner => Holders::One(owner),
            Who::Root(root) => Holders::One(root),
            Who::Every => Holders::Every,
        };
        ChunkRule { before: holders(before, origin), after: holders(after, dest), combining }
    }

    fn rule_in_groups(&self, groups: &Groups, chunk: ChunkId) -> ChunkRule {
        let (group, block) = groups.locate(self.kind.owners(), chunk.0 / self.parts_of_block());
        let members = &groups.members()[group as usize];
        let size = narrow(members.len());
        let (origin, dest) = if self.kind.owners() == 2 { (block / size, block % size) } else { (block, block) };
        let holders = |who, owner: u32| match who {
            Who::Owner => Holders::One(members[owner as usize]),
            Who::Root(place) => Holders::One(members[place.index()]),
            Who::Every => Holders::Group(group),
        };
        ChunkRule {
            before: holders(self.kind.before(), origin),
            after: holders(self.kind.after(), dest),
            combining: self.kind.combining(),
        }
    }

    /// The group that a chunk belongs to; `None` where all ranks take part together. O(log groups).
    pub fn group_of(&self, chunk: ChunkId) -> Option<u32> {
        let locate = |groups: &Groups| groups.locate(self.kind.owners(), chunk.0 / self.parts_of_block()).0;
        self.kind.groups().map(locate)
    }

    /// The chunks of a message, shard or vector: a barrier has one.
    pub(super) fn parts_of_block(&self) -> u32 {
        if self.kind.has_volume() { self.parts } else { 1 }
    }

    /// The first part of what goes from one rank to another: a message, the shard of either, or the vector; `None` if
    /// they are in no group together, or nothing goes.
    pub fn first_chunk(&self, ranks: u32, origin: RankId, dest: RankId) -> Option<ChunkId> {
        if let Some(demand) = self.kind.demand() {
            let chunks = demand.chunks(origin, dest);
            return (!chunks.is_empty()).then_some(ChunkId(chunks.start));
        }
        let owners = self.kind.owners();
        let number = |size: u32, origin: u32, dest: u32| match owners {
            2 => origin * size + dest,
            1 if self.kind.before() == Who::Owner => origin,
            1 => dest,
            _ => 0,
        };
        let block = match self.kind.groups() {
            None => number(ranks, origin.0, dest.0),
            Some(groups) => {
                let ((group, origin), (of_dest, dest)) = (groups.place(origin)?, groups.place(dest)?);
                let size = narrow(groups.members()[group as usize].len());
                let within = (group == of_dest).then(|| number(size, origin, dest))?;
                narrow(groups.first_block(owners, group)) + within
            }
        };
        Some(ChunkId(block * self.parts_of_block()))
    }
}
