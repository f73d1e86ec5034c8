//! The compact form under a symmetry: what stands for all translations is carried over once.
//!
//! A symmetry that carries translations onto translations is a linear map `L` and a shift: it takes the translation by
//! `t` of a move to the translation by `L(t)` of the move's image. So the image of a pattern under all translations is
//! `L(pattern)` under all translations, and what repeats by multiples of a period becomes its image, by multiples of
//! the period whose dimensions are swapped likewise.

use collsynth_bound::symmetry::Automorphism;
use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{CompactSchedule, Exceptions, Op, Repeated, Schedule, Solution, Translation};
use collsynth_core::topology::{Direction, LinkId, RankId, Topology, Torus};

use super::bounds::Images;
use super::{RelabelError, image_of, link};

/// A transfer without its chunks.
type Way = (RankId, RankId, Option<Direction>, Op);

/// What [`relabel`](super::relabel) makes of the expanded schedule, but for the order of transfers and the names of the
/// parts of an all_reduce, in the compact form. O(moves stated, ranks and links).
///
/// # Errors
///
/// As [`relabel`](super::relabel), and if the symmetry does not carry translations onto translations: rings of 4 have
/// such.
pub fn relabel_compact(
    solution: &Solution<CompactSchedule>,
    symmetry: &Automorphism,
    topology: Topology,
) -> Result<Solution<CompactSchedule>, RelabelError> {
    let (old, schedule) = (solution.problem.topology(), &solution.schedule);
    let problem = image_of(&solution.problem, symmetry, topology)?;
    let translation = schedule.translation();
    let torus = old.as_torus().ok_or(RelabelError::OtherMachine)?;
    let ranks = translation.rank_count();
    let linear: Vec<RankId> =
        symmetry.ranks.iter().map(|&image| translation.between(symmetry.ranks[0], image)).collect();
    let units = (0..torus.extents.len()).filter(|&dim| torus.extents[dim] > 1).map(|dim| RankId(torus.stride(dim)));
    let is_linear = |by: RankId| {
        let image = |rank: u32| linear[translation.rank(RankId(rank), by).index()];
        (0..ranks).all(|rank| image(rank) == translation.rank(linear[rank as usize], linear[by.index()]))
    };
    if !units.into_iter().all(is_linear) {
        return Err(RelabelError::NotAffine);
    }
    let map = Map { old, symmetry, translation };
    let pattern = map.schedule(schedule.pattern(), &linear, |_, _| RankId(0))?;
    let exceptions = schedule.exceptions();
    let image = |moves| map.schedule(moves, &symmetry.ranks, |_, _| RankId(0));
    let (without, moves) = (image(&exceptions.without)?, image(&exceptions.moves)?);
    let mut chunks: Vec<ChunkId> = exceptions.chunks.iter().map(|&chunk| map.chunk(chunk, &symmetry.ranks)).collect();
    chunks.sort_unstable();
    let repeated = schedule.repeated().map(|repeated| map.repeated(repeated, torus)).transpose()?;
    let schedule = CompactSchedule::new(&problem, pattern, repeated, Exceptions { chunks, without, moves })?;
    let (bounds, origin) = (Images { machine: old, symmetry }.bounds(&solution.bounds), solution.origin.clone());
    Ok(Solution { problem, schedule, bounds, origin })
}

struct Map<'a> {
    old: &'a Topology,
    symmetry: &'a Automorphism,
    translation: &'a Translation,
}

impl Map<'_> {
    fn chunk(&self, chunk: ChunkId, ranks: &[RankId]) -> ChunkId {
        self.translation.renamed(chunk, |rank| ranks[rank.index()])
    }

    /// Moves all ranks and chunks to their images, and then by the translation that `by` gives for the image of the
    /// sender.
    fn schedule(
        &self,
        schedule: &Schedule,
        ranks: &[RankId],
        by: impl Fn(&Self, RankId) -> RankId,
    ) -> Result<Schedule, RelabelError> {
        let mut builder = Schedule::builder();
        let mut moves: Vec<(Way, ChunkId)> = Vec::new();
        for step in schedule.steps() {
            builder.step(step.width);
            for transfer in step.transfers {
                let (from, to) = (transfer.from, transfer.to);
                let id = link(self.old, transfer).ok_or(RelabelError::NoLink { step: step.number, from, to })?;
                let via = self.direction(id).filter(|_| transfer.via.is_some());
                let [from, to] = [from, to].map(|rank| ranks[rank.index()]);
                let by = by(self, from);
                let [from, to] = [from, to].map(|rank| self.translation.rank(rank, by));
                let way = (from, to, via, transfer.op);
                let moved = |&chunk: &ChunkId| self.translation.chunk(self.chunk(chunk, ranks), by);
                moves.extend(schedule.chunks(transfer).iter().map(|chunk| (way, moved(chunk))));
            }
            moves.sort_unstable();
            for same in moves.chunk_by(|a, b| a.0 == b.0) {
                let (from, to, via, op) = same[0].0;
                builder.transfer(from, to, via, op, same.iter().map(|one| one.1));
            }
            moves.clear();
        }
        Ok(builder.finish())
    }

    /// The direction of a link's image.
    fn direction(&self, link: LinkId) -> Option<Direction> {
        self.old.link(self.symmetry.links[link.index()]).direction
    }

    /// What repeats, its dimensions swapped, its chunks and senders back in the first cell.
    fn repeated(&self, repeated: &Repeated, torus: &Torus) -> Result<Repeated, RelabelError> {
        let period = Images { machine: self.old, symmetry: self.symmetry }.period(&repeated.period);
        let home = |rank: RankId| {
            let within = |dim: usize| torus.position(rank, dim) % period[dim] * torus.stride(dim);
            RankId((0..period.len()).map(within).sum())
        };
        let into_first = |map: &Self, rank: RankId| map.translation.between(rank, home(rank));
        let ranks = &self.symmetry.ranks;
        let one = |&chunk: &ChunkId| {
            let image = self.chunk(chunk, ranks);
            self.translation.chunk(image, into_first(self, self.translation.owner(image)))
        };
        let mut chunks: Vec<ChunkId> = repeated.chunks.iter().map(one).collect();
        chunks.sort_unstable();
        let moves = self.schedule(&repeated.moves, ranks, into_first)?;
        Ok(Repeated { period, chunks, moves })
    }
}

#[cfg(test)]
mod tests {
    use collsynth_bound::symmetry::{self, Group};
    use collsynth_core::collective::Kind;
    use collsynth_core::schedule::AnySolution;
    use collsynth_core::topology::Shape;
    use collsynth_plan::Parts;
    use collsynth_verify::verify::{Options, Verified};

    use super::*;
    use crate::form::find_pattern;
    use crate::request::Request;
    use crate::topology::{Switch, TopologySpec};

    /// The schedule around dead switches, carried by every symmetry, holds around their images, and has the same moves
    /// as the image of the expanded schedule.
    fn check(torus: Torus, period: &[u32], dead: &[&str], kind: &Kind) -> usize {
        let machine = Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap();
        let switch = |name: &&str| symmetry::switch(&machine, &name.parse::<Switch>().unwrap(), period).unwrap();
        let failed: Vec<_> = dead.iter().map(switch).collect();
        let broken = symmetry::fail(&machine, &failed).unwrap();
        let parts = if *kind == Kind::AllReduce { broken.rank_count() as u32 } else { 1 };
        let request = Request::new(&broken, kind.clone()).parts(Parts::Fixed(parts));
        let plan = request.run().unwrap().verify().unwrap();
        let explicit = plan.expand().into_inner();
        let compact = find_pattern(&explicit.problem, &explicit.schedule).unwrap();
        let Solution { problem, bounds, origin, .. } = explicit.clone();
        let compact = Solution { problem, schedule: compact, bounds, origin };
        let group = Group::affine(&machine, |_| true);
        for number in 0..group.order() {
            let inverse = group.inverse(number);
            let image = |link: &LinkId| inverse.links[link.index()];
            let moved: Vec<_> = failed
                .iter()
                .map(|unit| symmetry::Unit { links: unit.links.iter().map(image).collect(), ranks: Vec::new() })
                .collect();
            let elsewhere = symmetry::fail(&machine, &moved).unwrap();
            let relabelled = relabel_compact(&compact, &inverse, elsewhere).unwrap();
            let any: AnySolution = relabelled.map(Into::into);
            let verified = Verified::new(any, &Options::default());
            let verified = verified.unwrap_or_else(|rejected| panic!("{kind:?}: {:?}", rejected.report.violations));
            assert_eq!(verified.expand().schedule.move_count(), explicit.schedule.move_count());
        }
        group.order() * usize::from(compact.schedule.repeated().is_some())
    }

    #[test]
    fn every_symmetry_of_translations_keeps_patterns_and_cells() {
        let twisted = || Torus::twisted(&[3, 6]).unwrap();
        let doubled = Torus { wrap: vec![true, true], ..Torus::new(&[2, 4]) };
        let mut with_cells = 0;
        for kind in [Kind::AllToAll, Kind::AllGather, Kind::ReduceScatter, Kind::AllReduce] {
            with_cells += check(Torus::new(&[6, 4]), &[3, 2], &["x:1"], &kind);
            with_cells += check(Torus::new(&[4, 4]), &[2, 2], &["x:1", "y:0"], &kind);
            with_cells += check(doubled.clone(), &[2, 2], &["y:1"], &kind);
            with_cells += check(twisted(), &[3, 3], &["y:2"], &kind);
        }
        assert!(with_cells >= 400, "{with_cells}");
    }

    #[test]
    fn a_symmetry_of_the_hypercube_keeps_no_pattern() {
        let machine = Topology::torus(&[4, 4]).unwrap();
        let plan = Request::new(&machine, Kind::AllGather).run().unwrap().verify().unwrap().expand().into_inner();
        let schedule = find_pattern(&plan.problem, &plan.schedule).unwrap();
        let compact = Solution { problem: plan.problem, schedule, bounds: plan.bounds, origin: None };
        let group = Group::new(&machine, |_| true);
        let not_affine = |&number: &usize| {
            let moved = relabel_compact(&compact, &group.inverse(number), machine.clone());
            matches!(moved, Err(RelabelError::NotAffine))
        };
        assert_eq!((0..group.order()).filter(not_affine).count(), 384 - 128);
    }
}
