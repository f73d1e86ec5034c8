//! The lightest trees that the messages of a collective must cover, in weights of links.
//!
//! A message that goes to several ranks crosses links that hold a path from its origin to each of them, and so a
//! directed tree; where contributions of several ranks are added up, the same with all links turned around. A chunk
//! therefore crosses links that weigh at least as much as the lightest tree, which may fork and pass anywhere. Finding
//! that tree is the Steiner problem in directed graphs: hard for many terminals, exact and quick for few.
//!
//! # How the lightest tree is found
//!
//! `best[set][rank]` is the weight of the lightest tree from a rank to a set of terminals. Either the rank is where the
//! tree forks, and each of the two parts of the set has a tree from it; or the tree begins with a link to another rank:
//!
//! ```text
//!   best[set][rank] = least of  best[part][rank] + best[set - part][rank]     over all parts of the set
//!                               weight of a link to next + best[set][next]    over all links from the rank
//! ```
//!
//! The first line needs smaller sets alone, the second is a search by Dijkstra that starts at all ranks. One table
//! serves all origins of a group: each takes the set of the others.
//!
//! # References
//!
//! Dreyfus and Wagner, "The Steiner problem in graphs", Networks 1, 1971. Erickson, Monma and Veinott, "Send-and-split
//! method for minimum-concave-cost network flows", Mathematics of Operations Research 12, 1987: searches for all ranks
//! at once, in directed networks.

use super::search::{INFINITE, Orientation, Search};
use super::{CertificateError, Work};
use crate::collective::Pattern;
use crate::exact::narrow;
use crate::problem::Problem;
use crate::topology::{RankId, Topology};

/// The most entries of a table, 8 bytes each: what judging a small file may take.
const MOST_ENTRIES: u64 = 1 << 20;
/// The most steps for all groups together, see [`Group::steps`]: at most about a second.
const MOST_STEPS: u64 = 1 << 29;

/// The weight of the lightest tree, summed over all chunks of a collective whose chunks each go from one rank to
/// several, or from several to one.
///
/// # Errors
///
/// If groups are too large for this, or a rank cannot reach another that needs its data.
#[expect(clippy::arithmetic_side_effects, reason = "places in such a table; what is claimed is checked")]
pub(super) fn owed_trees(problem: &Problem, weight: &[u32], work: &mut Work) -> Result<i128, CertificateError> {
    let topology = problem.topology();
    let groups = Group::all(problem);
    work.take(check_size(topology, &groups)?)?;
    // Trees are put together from their leaves: where they lead to the leaves, against the links.
    let to_root = problem.collective().kind.pattern() == Pattern::EveryToOne;
    let mut search = Search::new(topology, weight, if to_root { Orientation::Out } else { Orientation::In });
    let mut total = 0_i128;
    for group in &groups {
        let best = group.table(&mut search, topology.rank_count());
        let of = |set: usize, rank: RankId| best[set * topology.rank_count() + rank.index()];
        for (root, set) in group.messages() {
            match of(set, root) {
                INFINITE => {
                    let single = |place: &usize| set >> place & 1 == 1 && of(1 << place, root) == INFINITE;
                    let far = (0..group.terminals.len()).find(single).map_or(root, |place| group.terminals[place]);
                    let (from, to) = if to_root { (far, root) } else { (root, far) };
                    let (from, to) = (topology.rank_label(from), topology.rank_label(to));
                    return Err(CertificateError::Unreachable { from, to });
                }
                tree => total = total.checked_add(tree.into()).ok_or(CertificateError::TooLarge)?,
            }
        }
    }
    total.checked_mul(problem.parts().into()).ok_or(CertificateError::TooLarge)
}

/// Live ranks that exchange data.
struct Group {
    /// The ranks to be joined.
    terminals: Vec<RankId>,
    /// What they are joined with; `None`: each with the others.
    root: Option<RankId>,
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "places in tables of at most MOST_ENTRIES entries, which `check_size` allows"
)]
impl Group {
    /// The groups with two live members or more.
    fn all(problem: &Problem) -> Vec<Self> {
        let topology = problem.topology();
        let members: Vec<Vec<RankId>> = match problem.groups() {
            None => vec![topology.live_ranks().collect()],
            Some(groups) => groups.members().to_vec(),
        };
        let roots = problem.collective().kind.roots();
        let group = |(index, members): (usize, Vec<RankId>)| {
            let root = roots.get(index).copied();
            let is_terminal = |rank: &RankId| topology.is_alive(*rank) && Some(*rank) != root;
            Self { terminals: members.into_iter().filter(is_terminal).collect(), root }
        };
        let groups = members.into_iter().enumerate().map(group);
        groups.filter(|group| group.terminals.len() + usize::from(group.root.is_some()) > 1).collect()
    }

    /// Of every message: the rank its tree begins at (or ends at), and the set of terminals.
    fn messages(&self) -> impl Iterator<Item = (RankId, usize)> + '_ {
        let all = (1 << self.terminals.len()) - 1;
        let of_each = self.terminals.iter().enumerate().map(move |(place, &rank)| (rank, all ^ 1 << place));
        self.root.map(|root| (root, all)).into_iter().chain(of_each.filter(|_| self.root.is_none()))
    }

    /// The entries of its table, if it is not too large for one.
    fn entries(&self, topology: &Topology) -> Option<u64> {
        let sets = 1_u64.checked_shl(narrow(self.terminals.len()))?;
        sets.checked_mul(topology.rank_count() as u64).filter(|&entries| entries <= MOST_ENTRIES)
    }

    /// What its table costs, given that it is not too large: a set has two parts in `3^terminals` ways, and for every
    /// set there is a search, where ranks and links cost more.
    fn steps(&self, topology: &Topology) -> u64 {
        let (ranks, links) = (topology.rank_count() as u64, topology.links().len() as u64);
        let terminals = narrow(self.terminals.len());
        3_u64.saturating_pow(terminals).saturating_mul(ranks).saturating_add((ranks + links) << (terminals + 3))
    }

    /// `best[set * ranks + rank]`, see above; [`INFINITE`] where there is no tree.
    ///
    /// Nothing overflows: a lightest tree has fewer links than there are ranks, at most [`MOST_ENTRIES`], and each
    /// weighs less than 2^32. Only what is infinite saturates.
    fn table(&self, search: &mut Search, ranks: usize) -> Vec<u64> {
        let mut table = vec![INFINITE; ranks << self.terminals.len()];
        for set in 1..1_usize << self.terminals.len() {
            let (smaller, rest) = table.split_at_mut(set * ranks);
            let best = &mut rest[..ranks];
            let first = set & set.wrapping_neg();
            if set == first {
                best[self.terminals[set.trailing_zeros() as usize].index()] = 0;
            }
            // Every pair of parts once: the first terminal is not in this one.
            let mut part = set ^ first;
            while part > 0 {
                let (one, other) = (&smaller[part * ranks..][..ranks], &smaller[(set ^ part) * ranks..][..ranks]);
                for (best, (one, other)) in best.iter_mut().zip(one.iter().zip(other)) {
                    *best = (*best).min(one.saturating_add(*other));
                }
                part = (part - 1) & (set ^ first);
            }
            search.spread(best);
        }
        table
    }
}

/// The steps of all groups; refuses those for which tables would take too much memory or time.
fn check_size(topology: &Topology, groups: &[Group]) -> Result<u64, CertificateError> {
    let mut steps = 0_u64;
    for group in groups {
        if group.entries(topology).is_none() {
            let (terminals, ranks) = (group.terminals.len(), topology.rank_count());
            return Err(CertificateError::TooManyTerminals { terminals, ranks, most: MOST_ENTRIES });
        }
        steps = steps.saturating_add(group.steps(topology));
    }
    match steps > MOST_STEPS {
        true => Err(CertificateError::TooManyTrees { groups: groups.len(), steps, most: MOST_STEPS }),
        false => Ok(steps),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::arithmetic_side_effects, reason = "a panic is a failed test")]

    use proptest::prelude::*;

    use super::{Group, INFINITE, Orientation, Search};
    use crate::certificate::{CertificateError, Evidence, Rational, value};
    use crate::collective::{Collective, Groups, Kind};
    use crate::problem::Problem;
    use crate::topology::{GraphLink, RankId, Shape, Topology, TopologySpec};

    fn graph(ranks: u32, links: &[(u32, u32)]) -> Topology {
        let link = |&(from, to): &_| GraphLink { from: RankId(from), to: RankId(to), capacity: 1 };
        Topology::new(TopologySpec::new(Shape::Graph { ranks, links: links.iter().map(link).collect() })).unwrap()
    }

    fn ranks(list: &[u32]) -> Vec<RankId> {
        list.iter().copied().map(RankId).collect()
    }

    /// The weight of the lightest of all sets of links that lead from a rank to each of these.
    fn lightest_by_trying(topology: &Topology, weight: &[u32], root: RankId, to: &[RankId]) -> u64 {
        let sets = 0..1_u32 << weight.len();
        let weigh = |set: u32| {
            let chosen = (0..weight.len()).filter(|link| set >> link & 1 == 1);
            let (mut seen, mut sum) = (1_u32 << root.0, 0);
            for _ in 0..topology.rank_count() {
                sum = 0;
                for link in chosen.clone() {
                    let ends = &topology.links()[link];
                    seen |= (seen >> ends.from.0 & 1) << ends.to.0;
                    sum += u64::from(weight[link]);
                }
            }
            to.iter().all(|rank| seen >> rank.0 & 1 == 1).then_some(sum)
        };
        sets.filter_map(weigh).min().unwrap_or(INFINITE)
    }

    proptest! {
        #[test]
        fn tables_hold_what_trying_every_set_of_links_gives(
            count in 4_u32..=6,
            ends in proptest::collection::btree_set((0_u32..6, 0_u32..6), 4..=11),
            weights in proptest::collection::vec(0_u32..6, 11),
            heavy in any::<bool>(),
        ) {
            let ends: Vec<_> = ends.into_iter().filter(|(from, to)| from != to && *from.max(to) < count).collect();
            let topology = graph(count, &ends);
            let heavier = |&weight: &u32| if heavy { u32::MAX - weight } else { weight };
            let weight: Vec<u32> = topology.links().iter().zip(&weights).map(|(_, weight)| heavier(weight)).collect();
            let terminals = ranks(&[3, 0, 2]);
            let group = Group { terminals: terminals.clone(), root: Some(RankId(1)) };
            let table = group.table(&mut Search::new(&topology, &weight, Orientation::In), count as usize);
            for set in 1..8 {
                let to: Vec<RankId> = (0..3).filter(|place| set >> place & 1 == 1).map(|place| terminals[place]).collect();
                for root in 0..count {
                    let tried = lightest_by_trying(&topology, &weight, RankId(root), &to);
                    prop_assert_eq!(table[set * count as usize + root as usize], tried, "{:?} from {}", to, root);
                }
            }
        }
    }

    /// What weights prove where ranks exchange data in these groups.
    fn proven(
        topology: &Topology,
        kind: Kind,
        groups: &[&[u32]],
        weights: &[(u32, u32, u32)],
    ) -> Result<Rational, CertificateError> {
        let groups = Groups::new(groups.iter().map(|members| ranks(members)).collect()).unwrap();
        proven_by(Problem::new(topology.clone(), Collective::new(kind.in_groups(groups))).unwrap(), weights)
    }

    fn proven_by(problem: Problem, weights: &[(u32, u32, u32)]) -> Result<Rational, CertificateError> {
        let weights = weights.iter().map(|&(from, to, weight)| (RankId(from), RankId(to), weight)).collect();
        value(&problem, &Evidence::metric(weights))
    }

    const BLOCKS: [&[u32]; 4] = [&[0, 1, 4, 5], &[2, 3, 6, 7], &[8, 9, 12, 13], &[10, 11, 14, 15]];

    /// What the linear program of fractional trees proves for four broadcasts in blocks; cuts prove 3/8.
    #[test]
    fn trees_prove_more_than_cuts() {
        let torus = Topology::torus(&[4, 4]).unwrap();
        let chosen = [(0, 1), (2, 1), (2, 3), (2, 6), (2, 14), (5, 1), (9, 13), (10, 14), (12, 13), (15, 14)];
        let weights = chosen.map(|(from, to)| (from, to, 1));
        let root = RankId(0);
        assert_eq!(proven(&torus, Kind::Broadcast(root), &BLOCKS, &weights), Ok(Rational::new(2, 5)));
        let back = chosen.map(|(from, to)| (to, from, 1));
        assert_eq!(proven(&torus, Kind::Reduce(root), &BLOCKS, &back), Ok(Rational::new(2, 5)));
        // A message in parts is as long; every member has one, and each tree of a block has three links.
        let all: Vec<_> = torus.links().iter().map(|link| (link.from.0, link.to.0, 7)).collect();
        for kind in [Kind::AllGather, Kind::AllReduceGathered, Kind::ReduceScatter] {
            assert_eq!(proven(&torus, kind.clone(), &BLOCKS, &all), Ok(Rational::new(16 * 3, 64)));
            let groups = Groups::new(BLOCKS.iter().map(|members| ranks(members)).collect()).unwrap();
            let in_parts = Problem::new(torus.clone(), Collective { kind: kind.in_groups(groups), parts: 9 }).unwrap();
            assert_eq!(proven_by(in_parts, &all), Ok(Rational::new(16 * 3, 64)));
        }
        let refused = proven(&torus, Kind::AllReduce, &BLOCKS, &all);
        assert!(matches!(refused, Err(CertificateError::WrongEvidence { .. })), "{refused:?}");
    }

    /// Over a hub that is in no group, a tree joins three ranks by three links; without it, by way of the others.
    #[test]
    fn trees_pass_through_relays_that_may_hold_data() {
        let star = [(0, 3), (3, 0), (1, 3), (3, 1), (2, 3), (3, 2)];
        let round = [(0, 1), (1, 2), (2, 0)];
        let topology = graph(4, &[&star[..], &round].concat());
        let weights: Vec<_> =
            star.iter().map(|&(from, to)| (from, to, 1)).chain(round.map(|(a, b)| (a, b, 4))).collect();
        let of = |relays: bool| {
            let groups = Groups::new(vec![ranks(&[0, 1, 2])]).unwrap().with_relays(relays);
            let problem = Problem::new(topology.clone(), Collective::new(Kind::AllGather.in_groups(groups)));
            proven_by(problem.unwrap(), &weights)
        };
        assert_eq!((of(true), of(false)), (Ok(Rational::new(9, 18)), Ok(Rational::new(24, 12))));
        // A failed member neither sends nor needs anything, and a failed hub relays nothing.
        let without = |rank| topology.clone().fail_rank(rank).unwrap();
        let shorter: Vec<_> = weights.iter().copied().filter(|&(from, to, _)| from != 2 && to != 2).collect();
        assert_eq!(proven(&without(2), Kind::AllGather, &[&[0, 1, 2]], &shorter), Ok(Rational::new(4, 8)));
        assert_eq!(proven(&without(3), Kind::Broadcast(RankId(0)), &[&[0, 1, 2]], &weights), Ok(Rational::new(8, 12)));
    }

    #[test]
    fn ranks_that_cannot_be_reached_are_named() {
        let line = graph(3, &[(0, 1), (1, 2), (2, 1)]);
        let weights = [(0, 1, 1)];
        let of = |kind| proven_by(Problem::new(line.clone(), Collective::new(kind)).unwrap(), &weights);
        let unreachable =
            |from: &str, to: &str| Err(CertificateError::Unreachable { from: from.to_owned(), to: to.to_owned() });
        assert_eq!(of(Kind::Broadcast(RankId(0))), Ok(Rational::new(1, 1)));
        assert_eq!(of(Kind::Reduce(RankId(2))), Ok(Rational::new(1, 1)));
        assert_eq!(of(Kind::Broadcast(RankId(2))), unreachable("2", "0"));
        assert_eq!(of(Kind::Reduce(RankId(0))), unreachable("1", "0"));
        assert_eq!(of(Kind::AllGather), unreachable("1", "0"));
        assert_eq!(of(Kind::ReduceScatter), unreachable("1", "0"));
    }

    #[test]
    fn groups_too_large_are_refused_at_once() {
        let of = |extents: &[u32], kind: Kind, groups: Option<Groups>| {
            let kind = match groups {
                Some(groups) => kind.in_groups(groups),
                None => kind,
            };
            proven_by(
                Problem::new(Topology::torus(extents).unwrap(), Collective::new(kind)).unwrap(),
                &[(0, 1, 1), (2, 1, 1)],
            )
        };
        let refused = of(&[4, 4, 4], Kind::AllGather, None).unwrap_err().to_string();
        assert_eq!(
            refused,
            "to weigh the trees that join 64 ranks of a machine of 64 takes 2^64 * 64 numbers, more than 1048576: \
             use a cut, or smaller groups"
        );
        let pairs =
            |ranks: u32| Groups::new((0..ranks / 2).map(|pair| vec![RankId(2 * pair), RankId(2 * pair + 1)]).collect());
        let many = of(&[64, 64], Kind::AllGather, Some(pairs(4096).unwrap())).unwrap_err().to_string();
        assert!(many.starts_with("to weigh the trees of 2048 groups takes 1"), "{many}");
        assert!(of(&[16, 16], Kind::ReduceScatter, Some(pairs(256).unwrap())).is_ok());
        let long = of(&[1 << 17], Kind::Broadcast(RankId(5)), None);
        assert!(matches!(long, Err(CertificateError::TooManyTerminals { terminals: 131_071, .. })), "{long:?}");
        // The largest there are: 13 terminals among 64 ranks, 15 among 16.
        assert!(matches!(of(&[16], Kind::AllGather, None), Err(CertificateError::TooManyTrees { groups: 1, .. })));
        assert_eq!(of(&[15], Kind::AllGather, None), Ok(Rational::new(14, 2)));
    }
}
