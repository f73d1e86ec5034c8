//! Sets of ranks that are hard to leave or to enter.
//!
//! Every family below grows sets rank by rank, so updating the demand and the capacity over the border costs one rank's
//! links. Only the best set of a family is kept.
//!
//! Each direction across a border can be checked on its own: together, demand and capacity merely add up, and `(a + b)
//! / (c + d)` is never above both `a/c` and `b/d`.

use std::collections::VecDeque;

use super::region::{Crossing, Region};
use crate::pace::Pace;
use collsynth_core::topology::RankId;

/// How a set was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Every rank, or those of one group, whose position along a dimension lies in `first..=last`.
    Slab {
        dim: usize,
        first: u32,
        last: u32,
        group: Option<u32>,
    },
    Rank,
    Neighbors,
    /// The ranks nearest to one rank.
    Ball(RankId),
    /// Another set, improved by moving single ranks in and out.
    Improved,
}

impl Family {
    pub fn name(self) -> &'static str {
        match self {
            Self::Slab { .. } => "arc cut",
            Self::Rank => "rank cut",
            Self::Neighbors => "neighbor cut",
            Self::Ball(_) => "ball cut",
            Self::Improved => "improved cut",
        }
    }
}

/// A set of ranks and the traffic across its border.
#[derive(Clone, Debug)]
pub struct Cut {
    pub family: Family,
    /// The set, ascending.
    pub ranks: Vec<RankId>,
    /// The direction that is harder to cross.
    pub crossing: Crossing,
}

/// Ranks added to all balls together, times the cost of adding one: keeps 512 ranks in milliseconds.
const BALL_WORK: usize = 2_000_000;

/// The number of slabs of a dimension to improve.
const SLABS: usize = 4;

/// Ranks tried in all improvements together, times the cost of trying one.
const IMPROVEMENT_WORK: usize = 4_000_000;

/// The best slab of every dimension and the best rank; of the other families, the sets better than all those. Some of
/// these, once it is time to stop.
pub fn best_cuts(region: &mut Region<'_>, pace: &Pace<'_>) -> Vec<Cut> {
    let dims = region.topology().as_torus().map_or(0, |torus| torus.extents.len());
    let slabs: Vec<Vec<Cut>> = (0..dims).map(|dim| best_slabs(region, dim, pace)).collect();
    let mut found: Vec<Cut> = slabs.iter().filter_map(|slabs| slabs.first().cloned()).collect();
    found.extend(best_rank(region));
    let others = slabs.into_iter().flat_map(|slabs| slabs.into_iter().skip(1));
    let mut starts: Vec<Cut> = found.iter().cloned().chain(others).collect();
    for cut in best_neighbors(region).into_iter().chain(best_ball(region, pace)) {
        if found.iter().all(|simpler| cut.crossing.cmp(&simpler.crossing).is_gt()) {
            found.push(cut.clone());
        }
        starts.push(cut);
    }
    found.extend(best_improved(region, starts, pace));
    found
}

/// Positions `first..=last` of a dimension: every pair of boundaries. On a mesh the boundary behind the last position
/// has no links, so the pairs with it are the half-lines. The slabs with position 0 are the complements of the others.
/// Of groups that share no link, each has slabs of its own: those of all together cannot be harder to cross.
fn best_slabs(region: &mut Region<'_>, dim: usize, pace: &Pace<'_>) -> Vec<Cut> {
    let topology = region.topology();
    let Some(torus) = topology.as_torus() else { return Vec::new() };
    let sets: Vec<(Option<u32>, Vec<RankId>)> = match region.groups_apart() {
        Some(groups) => groups.members().iter().zip(0..).map(|(ranks, group)| (Some(group), ranks.clone())).collect(),
        None => vec![(None, topology.live_ranks().collect())],
    };
    let position = |rank: RankId| torus.position(rank, dim);
    let mut best: Vec<Cut> = Vec::new();
    region.clear();
    for (group, mut ranks) in sets {
        ranks.sort_by_key(|&rank| position(rank));
        let layers: Vec<&[RankId]> = ranks.chunk_by(|&one, &other| position(one) == position(other)).collect();
        for (from, first) in layers.iter().enumerate().filter(|(_, layer)| position(layer[0]) > 0) {
            if pace.is_over(topology.links().len() as u64) {
                return best;
            }
            for layer in &layers[from..] {
                layer.iter().for_each(|&rank| region.toggle(rank));
                let Some(crossing) = region.hardest_crossing() else { continue };
                let place = best.partition_point(|better| better.crossing.cmp(&crossing).is_ge());
                if place < SLABS {
                    let family = Family::Slab { dim, first: position(first[0]), last: position(layer[0]), group };
                    best.insert(place, Cut { family, ranks: region.ranks(), crossing });
                    best.truncate(SLABS);
                }
            }
            // Of many groups, each is little of the machine; where there are none, to clear is quicker.
            match group {
                Some(_) => layers[from..].iter().copied().flatten().for_each(|&rank| region.toggle(rank)),
                None => region.clear(),
            }
        }
    }
    best
}

fn best_rank(region: &mut Region<'_>) -> Option<Cut> {
    let mut best = None;
    region.clear();
    for rank in region.topology().live_ranks() {
        region.toggle(rank);
        keep_better(&mut best, region, Family::Rank);
        region.toggle(rank);
    }
    best
}

fn best_neighbors(region: &mut Region<'_>) -> Option<Cut> {
    let topology = region.topology();
    let mut best = None;
    region.clear();
    for link in topology.live_links().map(|id| topology.link(id)) {
        if link.from < link.to || topology.links_between(link.to, link.from).next().is_none() {
            region.toggle(link.from);
            region.toggle(link.to);
            keep_better(&mut best, region, Family::Neighbors);
            region.toggle(link.from);
            region.toggle(link.to);
        }
    }
    best
}

/// Sets grown around a rank by distance. Tries as many centers as are cheap, the ranks with the least capacity first:
/// around the others nothing has failed.
fn best_ball(region: &mut Region<'_>, pace: &Pace<'_>) -> Option<Cut> {
    let topology = region.topology();
    let capacity = |rank: RankId| -> u64 {
        let touching = topology.links_from(rank).chain(topology.links_into(rank));
        touching.map(|id| topology.link(id)).filter(|link| link.alive).map(|link| u64::from(link.capacity)).sum()
    };
    let mut centers: Vec<RankId> = topology.live_ranks().collect();
    centers.sort_by_cached_key(|&rank| capacity(rank));
    let mut work_each = 2 * topology.links().len() + 1;
    if region.has_demand() {
        work_each += topology.rank_count() * topology.rank_count();
    }
    centers.truncate((BALL_WORK / work_each).max(1));
    let mut best = None;
    for center in centers {
        if pace.is_over(work_each as u64) {
            break;
        }
        region.clear();
        let mut queue = VecDeque::from([center]);
        region.toggle(center);
        while let Some(rank) = queue.pop_front() {
            for link in topology.links_from(rank).map(|id| topology.link(id)) {
                if link.alive && !region.holds(link.to) {
                    region.toggle(link.to);
                    queue.push_back(link.to);
                    keep_better(&mut best, region, Family::Ball(center));
                }
            }
        }
    }
    best
}

/// Improves sets as Fiduccia and Mattheyses improve partitions: the border rank with the best move changes sides, even
/// at a loss, and stays there; the next pass starts from the best set of this one, until a pass gains nothing. Returns
/// the best set if it is better than all the starts.
fn best_improved(region: &mut Region<'_>, mut starts: Vec<Cut>, pace: &Pace<'_>) -> Option<Cut> {
    starts.sort_by(|a, b| b.crossing.cmp(&a.crossing));
    let topology = region.topology();
    let mut work_each = 2 * topology.links().len() / topology.rank_count() + 1;
    if region.has_demand() {
        work_each += topology.rank_count();
    }
    let mut trials_left = IMPROVEMENT_WORK / work_each;
    let mut best: Option<Cut> = None;
    for mut current in starts.iter().cloned() {
        while let Some(better) = pass(region, &current, &mut trials_left, pace) {
            current = better;
        }
        if best.as_ref().unwrap_or(&starts[0]).crossing.cmp(&current.crossing).is_lt() {
            best = Some(current);
        }
    }
    best
}

/// One pass: the best set visited, if it is better than the start.
fn pass(region: &mut Region<'_>, start: &Cut, trials_left: &mut usize, pace: &Pace<'_>) -> Option<Cut> {
    let topology = region.topology();
    region.become_set(&start.ranks);
    let mut settled = vec![false; topology.rank_count()];
    let mut best: Option<Cut> = None;
    while !pace.is_over(topology.links().len() as u64) {
        let mut change: Option<(Crossing, RankId)> = None;
        for rank in topology.live_ranks().filter(|rank| !settled[rank.index()]) {
            let mut touching = topology.links_from(rank).map(|id| topology.link(id));
            if *trials_left == 0 || !touching.any(|link| link.alive && region.holds(link.to) != region.holds(rank)) {
                continue;
            }
            *trials_left -= 1;
            region.toggle(rank);
            if let Some(crossing) = region.hardest_crossing()
                && change.is_none_or(|(so_far, _)| crossing.cmp(&so_far).is_gt())
            {
                change = Some((crossing, rank));
            }
            region.toggle(rank);
        }
        let Some((crossing, rank)) = change else { break };
        region.toggle(rank);
        settled[rank.index()] = true;
        if best.as_ref().unwrap_or(start).crossing.cmp(&crossing).is_lt() {
            best = Some(Cut { family: Family::Improved, ranks: region.ranks(), crossing });
        }
    }
    best
}

fn keep_better(best: &mut Option<Cut>, region: &Region<'_>, family: Family) {
    if let Some(crossing) = region.hardest_crossing()
        && best.as_ref().is_none_or(|best| crossing.cmp(&best.crossing).is_gt())
    {
        *best = Some(Cut { family, ranks: region.ranks(), crossing });
    }
}
