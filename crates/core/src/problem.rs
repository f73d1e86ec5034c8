//! A topology and a collective to carry out on it: the input of planners, bounds and the verifier.

use crate::exact::narrow;
use thiserror::Error;

use crate::collective::{ChunkId, ChunkRule, Collective, Groups, Holders, Kind, Pattern};
use crate::topology::{RankId, Topology, UNREACHABLE};

/// The largest number of chunks a problem may have.
pub const MAX_CHUNKS: u32 = 1 << 27;
/// The largest number of pairs of a chunk and a rank that holds it before or must hold it after.
pub const MAX_HOLDINGS: u64 = 1 << 28;

/// A collective on a topology, known to fit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    topology: Topology,
    collective: Collective,
    chunk_count: u32,
    /// The machine without the links that no chunk may cross; `None` if there are none.
    confined: Option<Box<Topology>>,
}

/// Why a collective does not fit a topology.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum ProblemError {
    #[error("a message is cut in at least 1 part")]
    NoParts,
    #[error("root {root} is out of range: ranks are 0 to {}", ranks - 1)]
    RootOutOfRange { root: RankId, ranks: usize },
    #[error("root {root} is a failed rank: choose one that works")]
    RootFailed { root: RankId },
    #[error("all_to_allv takes no groups: state a demand of 0 between ranks of different groups")]
    DemandInGroups,
    #[error("rank {rank} of a group is out of range: ranks are 0 to {}", ranks - 1)]
    MemberOutOfRange { rank: RankId, ranks: usize },
    #[error("group {group} has no member {place}: its {members} are counted from 0")]
    NoSuchMember { group: usize, place: RankId, members: usize },
    #[error("it is for {ranks} ranks, and the machine has {machine}")]
    OtherRanks { ranks: usize, machine: usize },
    #[error(
        "the compact form translates moves over its own torus, and this machine has another shape: `synth convert --to \
         explicit` states every move"
    )]
    OtherShape,
    #[error("the demand is a {rows}x{rows} matrix, but the topology has {ranks} ranks")]
    DemandSize { rows: u32, ranks: usize },
    #[error("more than {MAX_CHUNKS} chunks: use fewer parts or a smaller topology")]
    TooManyChunks,
    #[error("more than {MAX_HOLDINGS} chunks to hold, counted at every rank that holds them: use fewer parts")]
    TooManyHoldings,
}

/// A rank that must reach another but cannot, and the components the live network falls into.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("rank {from} cannot reach rank {to}: the live network is not connected")]
pub struct Disconnected {
    /// The rank whose data is needed.
    pub from: RankId,
    /// The rank that needs it.
    pub to: RankId,
    /// Groups of live ranks that can reach each other; see [`Topology::components`].
    pub components: Vec<Vec<RankId>>,
}

impl Problem {
    /// Puts a collective on a topology.
    ///
    /// # Errors
    ///
    /// A [`ProblemError`] if the root, the demand matrix or the number of parts does not fit. A disconnected network is
    /// not an error here; see [`Problem::check_connected`].
    pub fn new(topology: Topology, collective: Collective) -> Result<Self, ProblemError> {
        let ranks = topology.rank_count();
        if collective.parts == 0 {
            return Err(ProblemError::NoParts);
        }
        let kind = &collective.kind;
        if let Some(groups) = kind.groups() {
            check_groups(&topology, kind, groups)?;
        }
        for root in kind.roots() {
            if root.index() >= ranks {
                return Err(ProblemError::RootOutOfRange { root, ranks });
            }
            if !topology.is_alive(root) {
                return Err(ProblemError::RootFailed { root });
            }
        }
        if let Some(demand) = collective.kind.demand()
            && demand.ranks() as usize != ranks
        {
            return Err(ProblemError::DemandSize { rows: demand.ranks(), ranks });
        }
        let chunk_count = collective.chunk_count(narrow(ranks)).filter(|&chunks| chunks <= MAX_CHUNKS);
        let chunk_count = chunk_count.ok_or(ProblemError::TooManyChunks)?;
        let largest = |groups: &Groups| groups.members().iter().map(Vec::len).max();
        let holders = kind.groups().map_or(Some(ranks), largest).unwrap_or(ranks);
        if kind.pattern() != Pattern::OneToOne && u64::from(chunk_count) * holders as u64 > MAX_HOLDINGS {
            return Err(ProblemError::TooManyHoldings);
        }
        let confined = kind.groups().filter(|groups| !groups.may_relay());
        let confined = confined.map(|groups| Box::new(topology.confined(|from, to| groups.join(from, to))));
        Ok(Self { topology, collective, chunk_count, confined })
    }

    /// The same topology and kind of collective, with messages cut into another number of parts.
    ///
    /// # Errors
    ///
    /// As [`Problem::new`].
    pub fn with_parts(&self, parts: u32) -> Result<Self, ProblemError> {
        Self::new(self.topology.clone(), Collective { parts, ..self.collective.clone() })
    }

    /// The same collective on another machine of as many ranks.
    ///
    /// # Errors
    ///
    /// As [`Problem::new`], and if there are fewer or more ranks.
    pub fn on(&self, machine: Topology) -> Result<Self, ProblemError> {
        let (ranks, others) = (self.topology.rank_count(), machine.rank_count());
        if ranks != others {
            return Err(ProblemError::OtherRanks { ranks, machine: others });
        }
        Self::new(machine, self.collective.clone())
    }

    /// The same problem in which any rank may relay.
    pub fn with_relays(mut self) -> Self {
        if let Some(groups) = self.groups().filter(|groups| !groups.may_relay()) {
            let groups = groups.clone().with_relays(true);
            self.collective.kind = self.collective.kind.in_groups(groups);
            self.confined = None;
        }
        self
    }

    /// The problem as callers see it; see [`Kind::called`](crate::collective::Kind::called).
    pub fn called(&self) -> Self {
        let collective = Collective { kind: self.collective.kind.called(), parts: self.parts() };
        let chunk_count = collective.chunk_count(narrow(self.topology.rank_count())).unwrap_or(self.chunk_count);
        Self { collective, chunk_count, ..self.clone() }
    }

    /// The machine as far as chunks may use it: if ranks outside a group may not relay, the links that join no two
    /// members of one group count as failed.
    pub fn topology(&self) -> &Topology {
        self.confined.as_deref().unwrap_or(&self.topology)
    }

    /// The machine as stated.
    pub fn machine(&self) -> &Topology {
        &self.topology
    }

    /// The groups, if not all ranks take part together.
    pub fn groups(&self) -> Option<&Groups> {
        self.collective.kind.groups()
    }

    /// May a rank hold a chunk? Only a member of its group, if others may not relay.
    pub fn may_hold(&self, chunk: ChunkId, rank: RankId) -> bool {
        let confined = self.groups().filter(|groups| !groups.may_relay());
        confined.is_none_or(|groups| groups.place(rank).map(|(group, _)| group) == self.collective.group_of(chunk))
    }

    /// What to do on it.
    pub fn collective(&self) -> &Collective {
        &self.collective
    }

    /// Parts per message.
    pub fn parts(&self) -> u32 {
        self.collective.parts
    }

    /// Chunks of a block, of which the buffers of a call are made: the parts of a message, shard or vector. A block of
    /// an all_to_allv, whose demand counts its chunks itself, is one chunk, and so is that of a barrier.
    pub fn chunks_per_block(&self) -> u32 {
        if self.collective.kind.can_be_cut() { self.parts() } else { 1 }
    }

    /// The number of chunk ids, those of failed ranks included.
    pub fn chunk_count(&self) -> u32 {
        self.chunk_count
    }

    /// What must be true of a chunk before and after; see [`Collective::rule`].
    pub fn rule(&self, chunk: ChunkId) -> ChunkRule {
        self.collective.rule(narrow(self.topology.rank_count()), chunk)
    }

    /// The chunk as a label; see [`Collective::chunk_label`].
    pub fn chunk_label(&self, chunk: ChunkId) -> String {
        self.collective.chunk_label(narrow(self.topology.rank_count()), chunk)
    }

    /// Is this rank alive and among the holders?
    pub fn is_holder(&self, holders: Holders, rank: RankId) -> bool {
        self.topology.is_alive(rank)
            && match holders {
                Holders::One(holder) => holder == rank,
                Holders::Every => true,
                Holders::Group(group) => {
                    self.groups().and_then(|groups| groups.place(rank)).is_some_and(|(of, _)| of == group)
                }
            }
    }

    /// The live ranks among the holders, ascending.
    pub fn holders(&self, holders: Holders) -> impl Iterator<Item = RankId> + '_ {
        let (range, members) = match holders {
            Holders::One(rank) => (rank.0..rank.0 + 1, &[][..]),
            Holders::Every => (0..narrow(self.topology.rank_count()), &[][..]),
            Holders::Group(group) => (0..0, self.groups().map_or(&[][..], |groups| groups.ascending(group))),
        };
        range.map(RankId).chain(members.iter().copied()).filter(|&rank| self.topology.is_alive(rank))
    }

    /// The number of live ranks among the holders.
    pub fn holder_count(&self, holders: Holders) -> usize {
        match holders {
            Holders::Every => self.topology.live_rank_count(),
            _ => self.holders(holders).count(),
        }
    }

    /// The live ranks that take part: those in groups, or all.
    pub fn members(&self) -> impl Iterator<Item = RankId> + '_ {
        let takes_part = |rank: &RankId| self.groups().is_none_or(|groups| groups.place(*rank).is_some());
        self.topology.live_ranks().filter(takes_part)
    }

    /// True if some chunk must travel from one rank to the other, both alive.
    pub fn needs(&self, from: RankId, to: RankId) -> bool {
        let kind = &self.collective.kind;
        from != to
            && self.topology.is_alive(from)
            && self.topology.is_alive(to)
            && kind.includes(kind.before(), from)
            && kind.includes(kind.after(), to)
            && kind.groups().is_none_or(|groups| groups.join(from, to))
            && kind.demand().is_none_or(|demand| !demand.chunks(from, to).is_empty())
    }

    /// How many chunks must travel from one rank to the other: its demand, or else the parts of a message.
    pub fn owed(&self, from: RankId, to: RankId) -> u32 {
        match self.collective.kind.demand() {
            _ if !self.needs(from, to) => 0,
            Some(demand) => narrow(demand.chunks(from, to).len()),
            None => self.parts(),
        }
    }

    /// True if nothing must move: no group has two live members, or the demand between live ranks is 0.
    ///
    /// O(ranks), and O(ranks^2) where there is a demand, which states as many numbers.
    pub fn is_trivial(&self) -> bool {
        let is_alone =
            |members: &Vec<RankId>| members.iter().filter(|&&rank| self.topology.is_alive(rank)).nth(1).is_none();
        match self.groups() {
            Some(groups) => groups.members().iter().all(is_alone),
            None if self.collective.kind.demand().is_some() => {
                let mut live = self.topology.live_ranks();
                !live.any(|from| self.topology.live_ranks().any(|to| self.needs(from, to)))
            }
            None => self.topology.live_rank_count() < 2,
        }
    }

    /// Checks that every rank can reach the ranks that need its data. O(ranks + links) if all reach each other.
    ///
    /// # Errors
    ///
    /// The first pair that cannot, and the components of the network.
    pub fn check_connected(&self) -> Result<(), Disconnected> {
        let components = self.topology().components();
        if components.len() <= 1 {
            return Ok(());
        }
        let mut component_of = vec![0; self.topology.rank_count()];
        for (number, ranks) in components.iter().enumerate() {
            ranks.iter().for_each(|rank| component_of[rank.index()] = number);
        }
        for from in self.topology.live_ranks() {
            let mut hops = None;
            for to in self.topology.live_ranks() {
                if component_of[from.index()] != component_of[to.index()] && self.needs(from, to) {
                    let hops = hops.get_or_insert_with(|| self.topology().hops_from(from));
                    if hops[to.index()] == UNREACHABLE {
                        return Err(Disconnected { from, to, components: self.topology.components() });
                    }
                }
            }
        }
        Ok(())
    }
}

fn check_groups(topology: &Topology, kind: &Kind, groups: &Groups) -> Result<(), ProblemError> {
    let ranks = topology.rank_count();
    if kind.demand().is_some() {
        return Err(ProblemError::DemandInGroups);
    }
    if groups.highest().index() >= ranks {
        return Err(ProblemError::MemberOutOfRange { rank: groups.highest(), ranks });
    }
    let Some(place) = kind.stated_root() else { return Ok(()) };
    match groups.members().iter().position(|members| members.len() <= place.index()) {
        Some(group) => Err(ProblemError::NoSuchMember { group, place, members: groups.members()[group].len() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Problem, ProblemError};
    use crate::collective::{Collective, Kind};
    use crate::topology::Topology;

    #[test]
    fn problems_too_large_to_be_judged_are_refused() {
        let problem = |extents: &[u32], kind, parts| {
            Problem::new(Topology::torus(extents).unwrap(), Collective { kind, parts })
                .map(|problem| problem.chunk_count())
        };
        assert_eq!(problem(&[8, 8, 8], Kind::AllToAll, 128), Ok(1 << 25));
        assert_eq!(problem(&[4], Kind::AllReduce, 4_000_000_000), Err(ProblemError::TooManyChunks));
        assert_eq!(problem(&[60_000], Kind::AllToAll, 1), Err(ProblemError::TooManyChunks));
        assert_eq!(problem(&[4096], Kind::AllReduce, 1 << 20), Err(ProblemError::TooManyHoldings));
        assert_eq!(problem(&[4096], Kind::ReduceScatter, 1 << 14), Err(ProblemError::TooManyHoldings));
        assert_eq!(problem(&[4096], Kind::AllGather, 16), Ok(1 << 16));
    }
}
