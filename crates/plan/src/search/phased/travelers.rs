//! Chunks traveling along the dimensions of a torus, one dimension per phase.
//!
//! In a phase, every chunk moves to its destination's position along one dimension. Chunks that a rank sends to the
//! same position form a *block*; an algorithm decides how much of a block goes up and which chunk takes which
//! dimension.

use std::cmp::Ordering;

use crate::model::error::PlanError;
use crate::model::planner::scope::{Machines, Scope};
use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, Torus, dim_name};

/// Chunks with the same hops ahead in a phase: from one rank, `offset` positions up a ring of `extent` positions.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The extent of the dimension.
    pub extent: u32,
    /// The distance up to the destination, `1..extent`.
    pub offset: u32,
    /// The number of chunks.
    pub chunks: usize,
}

/// A chunk under way.
#[derive(Clone, Copy, Debug)]
pub struct Traveler {
    /// The chunk.
    pub id: ChunkId,
    /// Its part number in its message, from 0.
    pub part: u32,
    /// The rank it comes from.
    pub origin: RankId,
    /// The rank it goes to.
    pub dest: RankId,
    /// The rank it has reached.
    pub at: RankId,
}

impl Traveler {
    /// The remaining distance up a dimension, from 0 to the extent less 1.
    pub fn offset(&self, torus: &Torus, dim: usize) -> u32 {
        let extent = torus.extents[dim];
        (torus.position(self.dest, dim) + extent - torus.position(self.at, dim)) % extent
    }
}

/// What planners plan that route along the rings of a torus.
pub const ROUTED: Scope = Scope::of(&["all_to_all", "all_to_allv"]).on(Machines::Tori);

/// Checks that a problem is of this scope, and on a torus without failed ranks and twists whose dimensions all wrap; an
/// extent of 2 may have a single cable.
///
/// # Errors
///
/// [`PlanError::NotApplicable`] with the reason.
pub fn check_torus<'a>(planner: &'static str, scope: Scope, problem: &'a Problem) -> Result<&'a Torus, PlanError> {
    let refuse = |reason: String| Err(PlanError::NotApplicable { planner, reason });
    let topology = problem.topology();
    let torus = scope.torus(planner, problem)?;
    if let Some(dim) = (0..torus.extents.len()).find(|&dim| torus.extents[dim] > 2 && !torus.wrap[dim]) {
        return refuse(format!("dimension {} does not wrap, and it needs closed rings", dim_name(dim as u8)));
    }
    if torus.is_twisted() {
        return refuse("the torus is twisted, and it needs rings along single dimensions".to_owned());
    }
    let intact = topology.live_rank_count() == topology.rank_count();
    if intact { Ok(torus) } else { refuse("a rank failed".to_owned()) }
}

/// The dimensions of more than one position, ascending; none of an explicit graph.
pub fn active_dims(problem: &Problem) -> Vec<usize> {
    let extents = problem.topology().as_torus().map_or(&[][..], |torus| &torus.extents);
    (0..extents.len()).filter(|&dim| extents[dim] > 1).collect()
}

/// The class of a part under DimRotation, `0..dims.len()`: spreads the parts of a message, and the messages of a rank,
/// over the dimensions. In phase `p`, class `c` works on dimension `dims[(c + p) mod D]`.
pub fn rotation_class(torus: &Torus, dims: &[usize], traveler: &Traveler) -> usize {
    let all_hops = Traveler { at: traveler.origin, ..*traveler };
    let offsets = dims.iter().map(|&dim| all_hops.offset(torus, dim) as usize);
    (traveler.part as usize + offsets.sum::<usize>()) % dims.len()
}

/// HalfRing: the chunks of a block whose shorter direction is up: all, none, or, half way around, half of them.
pub fn half_ring_split(block: Block) -> usize {
    match (2 * block.offset).cmp(&block.extent) {
        Ordering::Less => block.chunks,
        Ordering::Equal => block.chunks.div_ceil(2),
        Ordering::Greater => 0,
    }
}

/// All chunks that must move between ranks, ascending.
pub fn travelers(problem: &Problem) -> Vec<Traveler> {
    let mut travelers: Vec<Traveler> = Vec::new();
    for id in (0..problem.chunk_count()).map(ChunkId) {
        let rule = problem.rule(id);
        if let (Holders::One(origin), Holders::One(dest)) = (rule.before, rule.after)
            && origin != dest
        {
            let same_message = |last: &&Traveler| (last.origin, last.dest) == (origin, dest);
            let part = travelers.last().filter(same_message).map_or(0, |last| last.part + 1);
            travelers.push(Traveler { id, part, origin, dest, at: origin });
        }
    }
    travelers
}
