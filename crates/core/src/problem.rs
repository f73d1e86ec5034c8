//! A topology and a collective to be carried out on it: what planners, bounds and the verifier all receive.

use thiserror::Error;

use crate::collective::{ChunkId, ChunkRule, Collective, Holders, Pattern};
use crate::topology::{Distances, RankId, Topology, UNREACHABLE};

/// The largest number of chunks a problem may have.
pub const MAX_CHUNKS: u32 = 1 << 27;
/// The largest number of pairs of a chunk and a rank that holds it before, or must hold it after.
pub const MAX_HOLDINGS: u64 = 1 << 28;

/// A collective on a topology, known to fit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    topology: Topology,
    collective: Collective,
    chunk_count: u32,
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
    #[error("the demand is a {rows}x{rows} matrix, but the topology has {ranks} ranks")]
    DemandSize { rows: u32, ranks: usize },
    #[error("more than {MAX_CHUNKS} chunks: use fewer parts or a smaller topology")]
    TooManyChunks,
    #[error("more than {MAX_HOLDINGS} chunks to be held, counted at every rank that holds them: use fewer parts")]
    TooManyHoldings,
}

/// A pair of ranks one of which must reach the other but cannot, and the parts the live network falls into.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("rank {from} cannot reach rank {to}: the live network is not connected")]
pub struct Disconnected {
    /// The rank whose data is needed.
    pub from: RankId,
    /// The rank that needs it.
    pub to: RankId,
    /// Groups of live ranks that can reach each other, see [`Topology::components`].
    pub components: Vec<Vec<RankId>>,
}

impl Problem {
    /// Puts a collective on a topology.
    ///
    /// # Errors
    ///
    /// A [`ProblemError`] if the root, the demand matrix or the number of parts does not fit. A network that is not
    /// connected is no error here: see [`Problem::check_connected`].
    pub fn new(topology: Topology, collective: Collective) -> Result<Self, ProblemError> {
        let ranks = topology.rank_count();
        if collective.parts == 0 {
            return Err(ProblemError::NoParts);
        }
        if let Some(root) = collective.kind.root() {
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
        let chunk_count = collective.chunk_count(ranks as u32).filter(|&chunks| chunks <= MAX_CHUNKS);
        let chunk_count = chunk_count.ok_or(ProblemError::TooManyChunks)?;
        if collective.kind.pattern() != Pattern::OneToOne && u64::from(chunk_count) * ranks as u64 > MAX_HOLDINGS {
            return Err(ProblemError::TooManyHoldings);
        }
        Ok(Self { topology, collective, chunk_count })
    }

    /// The same topology and kind of collective, with messages cut in another number of parts.
    ///
    /// # Errors
    ///
    /// As [`Problem::new`].
    pub fn with_parts(&self, parts: u32) -> Result<Self, ProblemError> {
        Self::new(self.topology.clone(), Collective { parts, ..self.collective.clone() })
    }

    /// The problem as those who make the call see it, see [`Kind::called`](crate::collective::Kind::called).
    pub fn called(&self) -> Self {
        let collective = Collective { kind: self.collective.kind.called().clone(), parts: self.parts() };
        let chunk_count = collective.chunk_count(self.topology.rank_count() as u32).unwrap_or(self.chunk_count);
        Self { topology: self.topology.clone(), collective, chunk_count }
    }

    /// The machine.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// What is to be done on it.
    pub fn collective(&self) -> &Collective {
        &self.collective
    }

    /// Parts per message.
    pub fn parts(&self) -> u32 {
        self.collective.parts
    }

    /// The number of chunk ids, of failed ranks too.
    pub fn chunk_count(&self) -> u32 {
        self.chunk_count
    }

    /// What must be true of a chunk before and after; see [`Collective::rule`].
    pub fn rule(&self, chunk: ChunkId) -> ChunkRule {
        self.collective.rule(self.topology.rank_count() as u32, chunk)
    }

    /// The chunk as a label, see [`Collective::chunk_label`].
    pub fn chunk_label(&self, chunk: ChunkId) -> String {
        self.collective.chunk_label(self.topology.rank_count() as u32, chunk)
    }

    /// Is this rank alive and among the holders?
    pub fn is_holder(&self, holders: Holders, rank: RankId) -> bool {
        self.topology.is_alive(rank)
            && match holders {
                Holders::One(holder) => holder == rank,
                Holders::Every => true,
            }
    }

    /// The live ranks among the holders, ascending.
    pub fn holders(&self, holders: Holders) -> impl Iterator<Item = RankId> + '_ {
        let range = match holders {
            Holders::One(rank) => rank.0..rank.0 + 1,
            Holders::Every => 0..self.topology.rank_count() as u32,
        };
        range.map(RankId).filter(|&rank| self.topology.is_alive(rank))
    }

    /// True if some chunk must travel from one rank to the other, both alive.
    pub fn needs(&self, from: RankId, to: RankId) -> bool {
        let kind = &self.collective.kind;
        from != to
            && self.topology.is_alive(from)
            && self.topology.is_alive(to)
            && kind.before().includes(from)
            && kind.after().includes(to)
            && kind.demand().is_none_or(|demand| !demand.chunks(from, to).is_empty())
    }

    /// How many chunks must travel from one rank to the other: of a demand its own, of other kinds the parts of a
    /// message.
    pub fn owed(&self, from: RankId, to: RankId) -> u32 {
        match self.collective.kind.demand() {
            _ if !self.needs(from, to) => 0,
            Some(demand) => demand.chunks(from, to).len() as u32,
            None => self.parts(),
        }
    }

    /// True if nothing must move: one live rank, or a demand without entries off the diagonal.
    pub fn is_trivial(&self) -> bool {
        !self.topology.live_ranks().any(|from| self.topology.live_ranks().any(|to| self.needs(from, to)))
    }

    /// Checks that every rank can reach the ranks that need its data.
    ///
    /// # Errors
    ///
    /// The first pair that cannot, and the parts of the network.
    pub fn check_connected(&self, distances: &Distances) -> Result<(), Disconnected> {
        for from in self.topology.live_ranks() {
            for to in self.topology.live_ranks() {
                if distances.get(from, to) == UNREACHABLE && self.needs(from, to) {
                    return Err(Disconnected { from, to, components: self.topology.components() });
                }
            }
        }
        Ok(())
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
