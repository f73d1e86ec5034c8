//! Who exchanges with whom.

use collsynth_core::topology::{RankId, Torus};
use itertools::Itertools;

/// How far away the peers of a rank are, round by round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// `2^s`: positions that differ in bit `s`.
    Binary,
    /// `1 - 2 + 4 - ... = (1 - (-2)^(s+1)) / 3`: up from even positions, down from odd ones.
    Negabinary,
    /// `3^s`, up and down at once.
    Ternary,
}

/// One of the collectives that share the vector: its dimension and distance in every round.
#[derive(Clone, Debug)]
pub(super) struct Stripe {
    pattern: Pattern,
    /// The dimension, and how many rounds along it came before.
    pub(super) rounds: Vec<(usize, u32)>,
    /// Up and down swapped.
    mirrored: bool,
}

impl Pattern {
    /// How many ranks know of each other after a round, over those before.
    pub(super) fn base(self) -> u32 {
        if self == Self::Ternary { 3 } else { 2 }
    }

    /// The rounds along a dimension of this extent: its logarithm, if that is whole.
    fn rounds(self, extent: u32) -> Option<u32> {
        let rounds = extent.checked_ilog(self.base())?;
        (self.base().pow(rounds) == extent).then_some(rounds)
    }

    /// How far up the peers of a position are.
    fn offsets(self, position: u32, round: u32, mirrored: bool) -> Vec<i64> {
        let distance = i64::from(self.base()).pow(round);
        let up = |yes: bool| if yes != mirrored { 1 } else { -1 };
        match self {
            Self::Binary => vec![up((position >> round).is_multiple_of(2)) * distance],
            Self::Negabinary => vec![up(position.is_multiple_of(2)) * (1 - (-2_i64).pow(round + 1)) / 3],
            Self::Ternary => vec![distance, -distance],
        }
    }
}

impl Stripe {
    /// The stripes of a pattern, or the first dimension with an extent that is no power of its base. Round by round, a
    /// stripe takes its dimensions in turn, each with the least distance first; with `all_ports`, one stripe begins
    /// with each dimension, and mirrored ones join them where a rank sends to one peer at a time.
    pub(super) fn all(pattern: Pattern, all_ports: bool, extents: &[u32]) -> Result<Vec<Self>, usize> {
        let dims: Vec<usize> = (0..extents.len()).filter(|&dim| extents[dim] > 1).collect();
        let lengths: Vec<u32> =
            dims.iter().map(|&dim| pattern.rounds(extents[dim]).ok_or(dim)).collect::<Result<_, _>>()?;
        let most = lengths.iter().copied().max().unwrap_or(0);
        let firsts = if all_ports { dims.len().max(1) } else { 1 };
        let mirrors: &[bool] = if all_ports && pattern != Pattern::Ternary { &[false, true] } else { &[false] };
        let mut stripes = Vec::new();
        for (&mirrored, first) in mirrors.iter().cartesian_product(0..firsts) {
            let turns =
                (0..most).cartesian_product(0..dims.len()).map(|(round, turn)| (round, (first + turn) % dims.len()));
            let rounds = turns.filter(|&(round, at)| round < lengths[at]).map(|(round, at)| (dims[at], round));
            stripes.push(Self { pattern, rounds: rounds.collect(), mirrored });
        }
        Ok(stripes)
    }

    /// The peers of a rank in a round. It is a peer of each of them.
    pub(super) fn peers(&self, torus: &Torus, rank: RankId, round: usize) -> impl Iterator<Item = RankId> {
        let (dim, round) = self.rounds[round];
        let (position, stride, extent) = (torus.position(rank, dim), torus.stride(dim), torus.extents[dim]);
        let offsets = self.pattern.offsets(position, round, self.mirrored).into_iter();
        offsets.map(move |offset| {
            let to = (i64::from(position) + offset).rem_euclid(extent.into()) as u32;
            RankId(rank.0 - position * stride + to * stride)
        })
    }

    /// Who sends to whom, round by round, so that the contributions of all ranks meet at `root`; backward, what is
    /// there reaches all. Every rank but the root sends once.
    pub(super) fn tree(&self, torus: &Torus, root: RankId) -> Vec<Vec<(RankId, RankId)>> {
        let mut tree = vec![Vec::new(); self.rounds.len()];
        let mut joined = vec![root];
        for round in (0..self.rounds.len()).rev() {
            let sends = joined.iter().flat_map(|&to| self.peers(torus, to, round).map(move |from| (from, to)));
            tree[round] = sends.collect();
            joined.extend(tree[round].iter().map(|&(from, _)| from));
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_joins_every_tree_once() {
        let cases: [(Pattern, &[&[u32]]); 3] = [
            (Pattern::Binary, &[&[2], &[8], &[4, 8], &[2, 4, 2]]),
            (Pattern::Negabinary, &[&[2], &[4], &[16], &[64], &[8, 4], &[4, 1, 8]]),
            (Pattern::Ternary, &[&[3], &[27], &[9, 3]]),
        ];
        for (pattern, tori) in cases {
            for extents in tori {
                let torus = Torus::new(extents);
                let ranks: u32 = extents.iter().product();
                for stripe in Stripe::all(pattern, true, extents).unwrap() {
                    for root in (0..ranks).map(RankId) {
                        let tree = stripe.tree(&torus, root);
                        let mut senders: Vec<u32> = tree.iter().flatten().map(|(from, _)| from.0).collect();
                        senders.sort_unstable();
                        let others: Vec<u32> = (0..ranks).filter(|&rank| rank != root.0).collect();
                        assert_eq!(senders, others, "{pattern:?} on {extents:?} to {root:?}");
                    }
                }
            }
        }
    }

    /// De Sensi et al., NSDI 2024, section 3.1: distances 1, 1, 3, 5, 11, 21.
    #[test]
    fn the_distances_of_swing() {
        let offsets = |position, mirrored| {
            (0..6).flat_map(|round| Pattern::Negabinary.offsets(position, round, mirrored)).collect::<Vec<i64>>()
        };
        assert_eq!(offsets(0, false), [1, -1, 3, -5, 11, -21]);
        assert_eq!(offsets(1, false), [-1, 1, -3, 5, -11, 21]);
        assert_eq!(offsets(0, true), offsets(1, false));
    }

    /// The broadcast of a Bine tree of 8 ranks, largest distance first: 0 to 3, then 0 to 7 and 3 to 4.
    #[test]
    fn a_bine_tree() {
        let stripe = &Stripe::all(Pattern::Negabinary, false, &[8]).unwrap()[0];
        let tree = stripe.tree(&Torus::new(&[8]), RankId(0));
        let edges = |round: usize| tree[round].iter().map(|(from, to)| (to.0, from.0)).collect::<Vec<_>>();
        assert_eq!([edges(2), edges(1)], [vec![(0, 3)], vec![(0, 7), (3, 4)]]);
        assert_eq!(edges(0), [(0, 1), (3, 2), (7, 6), (4, 5)]);
    }

    #[test]
    fn extents_must_be_powers() {
        assert_eq!(Stripe::all(Pattern::Negabinary, true, &[8, 6]).unwrap_err(), 1);
        assert_eq!(Stripe::all(Pattern::Ternary, true, &[4]).unwrap_err(), 0);
        let count = |pattern, all_ports| Stripe::all(pattern, all_ports, &[9, 9, 1]).map(|stripes| stripes.len());
        assert_eq!((count(Pattern::Ternary, true), count(Pattern::Ternary, false)), (Ok(2), Ok(1)));
        assert_eq!(Stripe::all(Pattern::Negabinary, true, &[8, 8]).unwrap().len(), 4);
    }
}
