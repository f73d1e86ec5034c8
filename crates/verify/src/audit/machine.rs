//! The machine a program is to run on, if not its own: where each of its ranks is.

use collsynth_core::program::Program;
use collsynth_core::topology::{RankId, Topology};
use thiserror::Error;

/// A machine with a rank of it for each rank of a program, no two the same.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    topology: &'a Topology,
    rank_map: Vec<RankId>,
}

/// Why a rank map does not put a program on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum RankMapError {
    #[error("the rank map names {named} ranks for the {ranks} of the program: name one for each, as in 3,1,2,0")]
    Length { named: usize, ranks: usize },
    #[error("the rank map puts rank {rank} of the program on rank {place}, but the machine has {places} ranks")]
    OutOfRange { rank: RankId, place: RankId, places: usize },
    #[error("the rank map puts ranks {one} and {other} of the program on rank {place}: each needs a rank of its own")]
    Twice { one: RankId, other: RankId, place: RankId },
    #[error("the program has {ranks} ranks, the machine {places}")]
    TooSmall { ranks: usize, places: usize },
}

impl<'a> Machine<'a> {
    /// Puts rank `r` of a program on rank `rank_map[r]` of a machine. An empty map: on the rank of the same number.
    /// O(ranks).
    ///
    /// # Errors
    ///
    /// If the map does not name one rank of the machine for each rank of the program, all different.
    pub fn new(program: &Program, topology: &'a Topology, rank_map: &[RankId]) -> Result<Self, RankMapError> {
        let (ranks, places) = (program.rank_count(), topology.rank_count());
        let all = (0..).map(RankId);
        let rank_map: Vec<RankId> = match rank_map {
            [] if ranks > places => return Err(RankMapError::TooSmall { ranks, places }),
            [] => all.clone().take(ranks).collect(),
            named if named.len() != ranks => return Err(RankMapError::Length { named: named.len(), ranks }),
            named => named.to_vec(),
        };
        let mut taken = vec![None; places];
        for (rank, &place) in all.zip(&rank_map) {
            let taken = taken.get_mut(place.index()).ok_or(RankMapError::OutOfRange { rank, place, places })?;
            if let Some(one) = taken.replace(rank) {
                return Err(RankMapError::Twice { one, other: rank, place });
            }
        }
        Ok(Self { topology, rank_map })
    }

    /// The machine.
    pub fn topology(&self) -> &'a Topology {
        self.topology
    }

    /// Where a rank of the program is; `None` if the map is for another program.
    pub(super) fn place(&self, rank: RankId) -> Option<RankId> {
        self.rank_map.get(rank.index()).copied()
    }
}
