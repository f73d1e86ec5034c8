//! How wide the steps are.
//!
//! In the first steps a rank can only have received what is rooted near it. Links that are given more room than that
//! stay idle, and never catch up; what is lost so must not be more than there is to spare. So the first steps are kept
//! narrow and the others are even.
//!
//! Complexity: O(roots * ranks) for every step and width tried.

use crate::even_widths;
use crate::negotiation::Network;

/// The widths of steps.
pub(super) struct Shape {
    pub widths: Vec<u32>,
    /// False: trees cannot fit in them.
    pub hopeful: bool,
}

/// Steps of a total width, for trees rooted `shares[rank]` times at each rank.
pub(super) struct Shaping<'a> {
    network: &'a Network,
    live: &'a [u32],
    /// Ranks that are roots, how often, and what can leave them in a step of width 1.
    roots: Vec<(u32, u64, u64)>,
    /// What can enter each live rank in a step of width 1.
    entering: Vec<u64>,
}

impl<'a> Shaping<'a> {
    pub fn new(network: &'a Network, live: &'a [u32], shares: &[u32]) -> Self {
        let root = |&rank: &u32| (rank, u64::from(shares[rank as usize]), u64::from(network.capacity_out_of(rank)));
        Self {
            network,
            live,
            roots: live.iter().map(root).filter(|&(_, share, _)| share > 0).collect(),
            entering: live.iter().map(|&rank| u64::from(network.capacity_into(rank))).collect(),
        }
    }

    /// `steps` steps, `width` in all, which is at least as much. Of what a rank has to spare, its links may be idle for
    /// this part.
    pub fn shape(&self, steps: u32, width: u32, thrift: f64) -> Shape {
        let trees: u64 = self.roots.iter().map(|&(_, share, _)| share).sum();
        let own = |rank| self.roots.iter().find(|&&(root, ..)| root == rank).map_or(0, |&(_, share, _)| share);
        let spare = |(&rank, &entering): (&u32, &u64)| (entering * u64::from(width)).checked_sub(trees - own(rank));
        let Some(spare) = self.live.iter().zip(&self.entering).map(spare).collect::<Option<Vec<u64>>>() else {
            return Shape { widths: even_widths(width, steps), hopeful: false };
        };
        let allowed: Vec<u64> = spare.iter().map(|&spare| (spare as f64 * thrift) as u64).collect();
        // Sums of widths before each step.
        let mut sums = vec![0_u64];
        let mut hopeful = true;
        for after in (0..steps).rev() {
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
            hopeful = hopeful && self.idles_at_most(&sums, &spare);
        }
        hopeful = hopeful && self.leave_in_time(&sums);
        Shape { widths: sums.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect(), hopeful }
    }

    /// Have the links into each rank missed no more than this by now?
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
