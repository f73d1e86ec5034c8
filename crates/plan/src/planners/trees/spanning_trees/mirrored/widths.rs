//! Widths of steps that trees with given roots may fit in.
//!
//! In the first steps a rank can only have received chunks rooted near it. Room beyond that is idle and lost, and the
//! loss must not exceed the slack: what the links into the rank can carry beyond the trees they must. So the first
//! steps are narrow and the others even.
//!
//! Complexity: O(roots * ranks) for every step and width tried.

use itertools::Itertools;

use crate::model::control::Control;
use crate::model::network::Network;
use crate::model::widths::even_widths;

pub(super) struct Widths {
    pub widths: Vec<u32>,
    /// False if trees provably do not fit in them.
    pub may_fit: bool,
}

/// The limits on widths for trees rooted `roots[rank]` times at each rank.
pub(super) struct Limits<'a> {
    network: &'a Network,
    live: &'a [u32],
    /// Roots, with their number of trees and the capacity out of them.
    roots: Vec<(u32, u64, u64)>,
    /// The capacity into each live rank.
    entering: Vec<u64>,
}

impl<'a> Limits<'a> {
    pub fn new(network: &'a Network, live: &'a [u32], roots: &[u32]) -> Self {
        let root = |&rank: &u32| (rank, u64::from(roots[rank as usize]), u64::from(network.capacity_out_of(rank)));
        Self {
            network,
            live,
            roots: live.iter().map(root).filter(|&(_, share, _)| share > 0).collect(),
            entering: live.iter().map(|&rank| u64::from(network.capacity_into(rank))).collect(),
        }
    }

    /// Widths of `steps` steps that sum to `width`, at least `steps`. Early steps may idle away this fraction of the
    /// slack of a rank. To stop, even widths, which do not fit.
    pub fn widths(&self, steps: u32, width: u32, idle_fraction: f64, control: &Control) -> Widths {
        let trees: u64 = self.roots.iter().map(|&(_, share, _)| share).sum();
        let own = |rank| self.roots.iter().find(|&&(root, ..)| root == rank).map_or(0, |&(_, share, _)| share);
        let slack = |(&rank, &entering): (&u32, &u64)| (entering * u64::from(width)).checked_sub(trees - own(rank));
        let Some(slack) = self.live.iter().zip(&self.entering).map(slack).collect::<Option<Vec<u64>>>() else {
            return Widths { widths: even_widths(width, steps), may_fit: false };
        };
        let allowed: Vec<u64> = slack.iter().map(|&slack| (slack as f64 * idle_fraction) as u64).collect();
        // Sums of widths before each step.
        let mut sums = vec![0_u64];
        let mut may_fit = true;
        for after in (0..steps).rev() {
            if control.stop().is_some() {
                return Widths { widths: even_widths(width, steps), may_fit: false };
            }
            let left = width - sums[sums.len() - 1] as u32;
            let mut width = left.div_ceil(after + 1).min(left - after);
            loop {
                sums.push(sums[sums.len() - 1] + u64::from(width));
                if after == 0 || width == 1 || self.idles_at_most(&sums, &allowed) {
                    break;
                }
                sums.pop();
                width -= 1;
            }
            may_fit = may_fit && self.idles_at_most(&sums, &slack);
        }
        may_fit = may_fit && self.leave_in_time(&sums);
        Widths { widths: sums.iter().tuple_windows().map(|(before, sum)| (sum - before) as u32).collect(), may_fit }
    }

    /// Have the links into each rank idled away no more than this by now?
    fn idles_at_most(&self, sums: &[u64], allowed: &[u64]) -> bool {
        let now = sums[sums.len() - 1];
        self.live.iter().zip(&self.entering).zip(allowed).all(|((&rank, &entering), &allowed)| {
            let come = |&(root, share, leaving): &(u32, u64, u64)| {
                let left_by = sums.len().saturating_sub(self.network.distance(root, rank) as usize);
                if root == rank { 0 } else { share.min(leaving * sums[left_by]) }
            };
            entering * now <= allowed + self.roots.iter().map(come).sum::<u64>()
        })
    }

    /// Can all trees leave their roots early enough to get everywhere?
    fn leave_in_time(&self, sums: &[u64]) -> bool {
        self.roots.iter().all(|&(root, share, leaving)| {
            let farthest = self.live.iter().map(|&rank| self.network.distance(root, rank)).max().unwrap_or(0);
            let left_by = sums.len().saturating_sub(farthest as usize);
            share <= leaving * sums[left_by]
        })
    }
}
