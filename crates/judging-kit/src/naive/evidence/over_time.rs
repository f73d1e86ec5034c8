//! Evidence whose weights change with time.

use num_bigint::BigUint;

use super::certificate::{Evidence, Proof, proof};
use super::distance::{Stretch, Weight, shortest, stretches};

impl Evidence<'_> {
    /// Weights over time up to `end`; `None` within: they do not fit.
    fn weights_over_time(&mut self, end: u64) -> Option<Option<Vec<Stretch>>> {
        let entries = self.entries(3)?;
        let mut sum = 0u128;
        for (from, to, rest) in &entries {
            let &[first, last, length] = &rest[..] else { unreachable!("three integers") };
            if !self.joined(*from, *to) || first < 1 || first > last || last > end {
                return Some(None);
            }
            sum += u128::from(length) * u128::from(last - first + 1);
        }
        if sum >= 1 << 63 {
            return Some(None);
        }
        let weight = |&(from, to, ref rest): &(_, _, Vec<u64>)| Weight {
            from,
            to,
            first: rest[0],
            last: rest[1],
            length: rest[2],
        };
        let weights: Vec<_> = entries.iter().map(weight).collect();
        Some(Some(stretches(&self.machine(), &weights, end)))
    }

    /// The one rank whose chunks count, if the claim names any; `None` outside: it cannot be read.
    fn named_rank(&mut self) -> Option<Option<usize>> {
        match self.keys.get("rank") {
            Some(value) => Some(Some(self.rank(value)?)),
            None => Some(None),
        }
    }

    /// The length that all chunks cover which count if the claim names this rank. `None` within: a path does not end.
    /// `None` outside: the evidence does not fit.
    fn covered(&self, rank: Option<usize>, stretches: &[Stretch]) -> Option<Option<u128>> {
        let (machine, task) = (&self.file.machine, &self.file.task);
        let with = |rank: usize, other: usize| other != rank && task.joined(rank, other);
        let others = |rank: usize| machine.live_ranks().into_iter().filter(move |&other| with(rank, other));
        let root = |rank: usize| task.roots().into_iter().filter(move |&root| with(rank, root));
        // Who must reach whom; in an all-reduce the furthest alone counts.
        let pairs: Vec<(usize, usize)> = match (&task.kind[..], rank) {
            ("barrier", _) => return None,
            ("all_to_all" | "all_to_allv" | "scatter" | "gather", None) => return Some(self.owed(stretches)),
            ("all_to_all" | "all_to_allv" | "scatter" | "gather", Some(_)) | (_, None) => return None,
            (_, Some(rank)) if !self.live(rank) => return None,
            ("broadcast", Some(rank)) => root(rank).map(|root| (root, rank)).collect(),
            ("reduce", Some(rank)) => root(rank).map(|root| (rank, root)).collect(),
            ("reduce_scatter", Some(rank)) => others(rank).map(|other| (rank, other)).collect(),
            (_, Some(rank)) => others(rank).map(|other| (other, rank)).collect(),
        };
        let lengths = pairs.iter().map(|&(from, to)| shortest(&self.machine(), stretches, from)[to]);
        let length: Option<u128> = match &task.kind[..] {
            "all_reduce" => lengths.collect::<Option<Vec<_>>>().map(|all| all.into_iter().max().unwrap_or(0)),
            _ => lengths.sum(),
        };
        Some(length.map(|length| length * u128::from(task.parts)))
    }

    pub(super) fn metric_over_time(&mut self) -> Proof {
        let width = self.integer("width");
        let rank = self.named_rank()?;
        let width = width?;
        let Some(stretches) = self.weights_over_time(width)? else { return Some(None) };
        let Some(covered) = self.covered(rank, &stretches) else { return Some(None) };
        let offered: u128 = stretches.iter().map(|s| self.offered(s) * u128::from(s.units)).sum();
        match covered {
            Some(covered) if covered <= offered => proof(0u8, 1u8),
            _ => proof(width + 1, self.file.task.parts),
        }
    }

    pub(super) fn joint(&mut self) -> Proof {
        let steps = self.integer("steps");
        let rank = self.named_rank()?;
        let Some(stretches) = self.weights_over_time(steps?)? else { return Some(None) };
        let Some(covered) = self.covered(rank, &stretches) else { return Some(None) };
        let offered = stretches.iter().map(|stretch| self.offered(stretch)).max().unwrap_or(0);
        match covered {
            Some(covered) => proof(covered, BigUint::from(offered) * self.file.task.parts),
            None => Some(None),
        }
    }
}
