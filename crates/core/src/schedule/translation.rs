//! Translation over a torus: what the chunks of rank 0 do, every other rank's do from where it stands.

use crate::collective::{ChunkId, Kind};
use crate::exact::narrow;
use crate::problem::Problem;
use crate::topology::{RankId, Torus};

/// The translations of a torus that looks the same from every rank, and what they do to the chunks of a collective.
///
/// Each chunk belongs to a rank: of `all_to_all`, `all_gather` and `all_reduce_gathered`, to its origin; of
/// `reduce_scatter`, to its destination; of `all_reduce` in `q * N` parts, the parts `r * q` to `r * q + q - 1` belong
/// to rank `r`. To translate by a rank `t` is to shift all ranks so that rank 0 comes to lie on `t`, and each chunk
/// with the ranks that it is named by.
#[derive(Clone, Debug)]
pub struct Translation {
    ranks: u32,
    extents: Vec<u32>,
    strides: Vec<u32>,
    /// The coordinates of each rank, `[rank * dimensions + dimension]`.
    positions: Vec<u32>,
    /// A twisted torus carries from dimension to dimension.
    twisted: Option<Torus>,
    /// Chunks that share the ranks they are named by.
    unit: u32,
    /// Is a chunk named by an origin and a destination?
    paired: bool,
}

impl Translation {
    /// The translations of a problem's torus, failures apart. `None` if the machine is no torus that looks the same
    /// from every rank, or if the collective does not: it has a root, a demand or groups, no volume, or is an
    /// `all_reduce` whose parts are no multiple of the ranks.
    pub fn new(problem: &Problem) -> Option<Self> {
        let torus = problem.machine().as_torus().filter(|torus| torus.is_symmetric())?;
        let ranks = narrow(problem.machine().rank_count());
        let parts = problem.parts();
        let (unit, paired) = match problem.collective().kind {
            Kind::AllToAll => (parts, true),
            Kind::AllGather | Kind::AllReduceGathered | Kind::ReduceScatter => (parts, false),
            Kind::AllReduce if parts.is_multiple_of(ranks) => (parts / ranks, false),
            _ => return None,
        };
        let dims = 0..torus.extents.len();
        Some(Self {
            ranks,
            extents: torus.extents.clone(),
            strides: dims.clone().map(|dim| torus.stride(dim)).collect(),
            positions: (0..ranks)
                .flat_map(|rank| dims.clone().map(move |dim| torus.position(RankId(rank), dim)))
                .collect(),
            twisted: torus.is_twisted().then(|| torus.clone()),
            unit,
            paired,
        })
    }

    /// The number of ranks, failed ones included.
    pub fn rank_count(&self) -> u32 {
        self.ranks
    }

    /// The number of chunks that belong to each rank; those of rank 0 have the lowest numbers.
    pub fn chunks_of_rank(&self) -> u32 {
        if self.paired { self.ranks * self.unit } else { self.unit }
    }

    /// The rank that a chunk belongs to.
    pub fn owner(&self, chunk: ChunkId) -> RankId {
        RankId(chunk.0 / self.chunks_of_rank())
    }

    /// The chunk of rank 0 that a chunk is a translation of, and the rank that it belongs to.
    pub fn seen_from_rank_0(&self, chunk: ChunkId) -> (ChunkId, RankId) {
        let owner = self.owner(chunk);
        (self.chunk(chunk, self.between(owner, RankId(0))), owner)
    }

    /// Where a translation by `by` takes a rank.
    ///
    /// # Panics
    ///
    /// If either rank is out of range.
    pub fn rank(&self, rank: RankId, by: RankId) -> RankId {
        if let Some(torus) = &self.twisted {
            return torus.translated(rank, by);
        }
        let dims = self.extents.len();
        let (here, there) =
            (&self.positions[rank.index() * dims..][..dims], &self.positions[by.index() * dims..][..dims]);
        let mut moved = 0;
        for dim in 0..dims {
            let sum = here[dim] + there[dim];
            let extent = self.extents[dim];
            moved += (if sum >= extent { sum - extent } else { sum }) * self.strides[dim];
        }
        RankId(moved)
    }

    /// The translation that takes one rank to another.
    ///
    /// # Panics
    ///
    /// If either rank is out of range.
    pub fn between(&self, from: RankId, to: RankId) -> RankId {
        if let Some(torus) = &self.twisted {
            return torus.offset(from, to);
        }
        let dims = self.extents.len();
        let (from, to) = (&self.positions[from.index() * dims..][..dims], &self.positions[to.index() * dims..][..dims]);
        let mut offset = 0;
        for dim in 0..dims {
            let apart = to[dim] + self.extents[dim] - from[dim];
            let extent = self.extents[dim];
            offset += (if apart >= extent { apart - extent } else { apart }) * self.strides[dim];
        }
        RankId(offset)
    }

    /// The chunk that a translation by `by` makes of another.
    ///
    /// # Panics
    ///
    /// If the chunk or the rank is out of range.
    pub fn chunk(&self, chunk: ChunkId, by: RankId) -> ChunkId {
        self.renamed(chunk, |rank| self.rank(rank, by))
    }

    /// The chunk that is named by the images of the ranks that a chunk is named by.
    pub fn renamed(&self, chunk: ChunkId, image: impl Fn(RankId) -> RankId) -> ChunkId {
        let (names, part) = (chunk.0 / self.unit, chunk.0 % self.unit);
        let names = match self.paired {
            true => image(RankId(names / self.ranks)).0 * self.ranks + image(RankId(names % self.ranks)).0,
            false => image(RankId(names)).0,
        };
        ChunkId(names * self.unit + part)
    }
}

#[cfg(test)]
mod tests {
    use super::Translation;
    use crate::collective::{ChunkId, Collective, Kind};
    use crate::problem::Problem;
    use crate::topology::{RankId, Shape, Topology, TopologySpec, Torus};

    fn translation(torus: Torus, kind: Kind, parts: u32) -> Option<Translation> {
        let machine = Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap();
        Translation::new(&Problem::new(machine, Collective { kind, parts }).unwrap())
    }

    #[test]
    fn ranks_and_chunks_move_together() {
        let plain = Torus::new(&[3, 4, 2]);
        let twisted = Torus::twisted(&[2, 4]).unwrap();
        for torus in [plain, twisted] {
            let ranks: u32 = torus.extents.iter().product();
            let all = translation(torus.clone(), Kind::AllToAll, 3).unwrap();
            let torus = Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap().as_torus().unwrap().clone();
            for (rank, by) in (0..ranks).flat_map(|rank| (0..ranks).map(move |by| (RankId(rank), RankId(by)))) {
                let moved = all.rank(rank, by);
                assert_eq!(moved, torus.translated(rank, by));
                assert_eq!(all.between(rank, moved), by);
                // From rank 2 to the rank, part 1.
                let chunk = all.chunk(ChunkId((2 * ranks + rank.0) * 3 + 1), by);
                assert_eq!(chunk, ChunkId((all.rank(RankId(2), by).0 * ranks + moved.0) * 3 + 1));
                assert_eq!(all.owner(chunk), all.rank(RankId(2), by));
            }
        }
    }

    #[test]
    fn not_every_problem_looks_the_same_from_every_rank() {
        let line = Torus { wrap: vec![false], ..Torus::new(&[4]) };
        assert!(translation(line, Kind::AllToAll, 1).is_none());
        assert!(translation(Torus::new(&[4]), Kind::Broadcast(RankId(0)), 1).is_none());
        assert!(translation(Torus::new(&[4]), Kind::AllReduce, 6).is_none());
        assert_eq!(translation(Torus::new(&[4]), Kind::AllReduce, 8).unwrap().chunks_of_rank(), 2);
        assert_eq!(translation(Torus::new(&[2]), Kind::AllToAll, 1).unwrap().chunks_of_rank(), 2);
    }
}
