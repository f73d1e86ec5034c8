//! From a cut found to the evidence that certifies it.

use super::best::Cut;
use super::region::Side;
use collsynth_core::certificate::Evidence;
use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// The evidence for a cut, in the form that the kind of collective requires; `None` without volume.
pub fn of_cut(problem: &Problem, cut: &Cut) -> Option<Evidence> {
    let topology = problem.topology();
    let mut inside = vec![false; topology.rank_count()];
    cut.ranks.iter().for_each(|rank| inside[rank.index()] = true);
    let set = |within: bool| topology.live_ranks().filter(|rank| inside[rank.index()] == within).collect();
    let kind = &problem.collective().kind;
    Some(match kind.pattern() {
        _ if !kind.has_volume() => return None,
        Pattern::OneToOne => {
            let crosses = |from: RankId, to: RankId| match cut.crossing.side {
                Side::Out => inside[from.index()] && !inside[to.index()],
                Side::Into => !inside[from.index()] && inside[to.index()],
            };
            Evidence::metric(unit_weights(problem, crosses))
        }
        Pattern::OneToEvery | Pattern::EveryToEvery => Evidence::Cut { ranks: set(cut.crossing.side == Side::Into) },
        Pattern::EveryToOne => Evidence::Cut { ranks: set(cut.crossing.side == Side::Out) },
    })
}

/// Weight 1 on the live links between the selected pairs of ranks.
pub fn unit_weights(problem: &Problem, wanted: impl Fn(RankId, RankId) -> bool) -> Vec<(RankId, RankId, u32)> {
    let topology = problem.topology();
    let ends = topology.live_links().map(|id| topology.link(id)).map(|link| (link.from, link.to, 1));
    let mut weights: Vec<_> = ends.filter(|&(from, to, _)| wanted(from, to)).collect();
    weights.dedup();
    weights
}
