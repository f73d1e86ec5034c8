//! The trees to be planted: where their roots are, which of them share the time, and the steps and widths worth trying.
//!
//! All trees are planned as they go down. A tree goes down in the second half of the steps, and its mirror image goes
//! up in the first, so the total width is even. If the number of steps is odd, there is one in the middle, 1 wide, in
//! which some trees already go down and others still go up: of two trees with the same root, one may leave early if the
//! other, whose mirror image goes up for it, leaves late enough. Then the total is odd.
//!
//! ```text
//!   widths    3 3 2 1 1 1 2 3 3       four steps each way, and one for both
//!                     ^
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::shape::Shaping;
use super::shares::shares;
use super::site::Site;
use crate::negotiation::{Aim, Start, Strategy};
use crate::trees::{Forest, Plant};

/// Parts of what is to spare that idle links may use up, try by try.
const THRIFT: [f64; 4] = [0.5, 0.25, 0.75, 0.0];
/// Steps beyond the first number at which trees might fit that are tried, for any schedule and for a narrower one.
const MORE_FOR_ANY: [u32; 2] = [6, 24];
const MORE_FOR_NARROWER: [u32; 4] = [2, 12, 32, 64];
/// Odd totals are looked for if there are no more trees, counted at every rank: they are hard to find, and save 1.
const MOST_FOR_ODD: u64 = 4096;
/// How far the pressure rises: trees settle best when it is high.
const PRESSURE_CAP: f64 = 20.0;

/// Where the roots are.
#[derive(Clone)]
pub(super) enum Rooting {
    /// Where they are needed: at ranks from which there is time to get everywhere.
    Free,
    /// At one rank, whose trees are translated to all others, each the root of so many.
    Translated { root: u32, each: u32 },
}

/// Trees to be planted.
pub(super) struct Planting<'a> {
    site: &'a Site<'a>,
    trees: u32,
    rooting: Rooting,
    /// The least and the most steps.
    steps: (u32, Option<u32>),
    /// What is known of the steps and total widths looked at.
    plots: Mutex<BTreeMap<(u32, u32), Arc<Plot>>>,
}

/// Roots for a total width.
struct Plot {
    /// How many trees each rank is the root of, after translation.
    shares: Vec<u32>,
    /// Do trees from these roots fit in the width, however many steps there are?
    fits: bool,
}

impl<'a> Planting<'a> {
    /// So many trees, in these steps at least and at most.
    pub fn new(site: &'a Site<'a>, trees: u32, rooting: Rooting, steps: (u32, Option<u32>)) -> Self {
        let least = steps.0.max(2 * site.least_hops());
        Self { site, trees, rooting, steps: (least, steps.1), plots: Mutex::default() }
    }

    /// The plants, tree by tree, where there are so many steps of this total width.
    pub fn plants(&self, steps: u32, width: u32) -> Vec<Plant> {
        let plot = self.plot(steps, width);
        let counted = plot.shares.iter().enumerate().map(|(rank, &share)| (rank as u32, share));
        let roots: Vec<(u32, u32)> = match self.rooting {
            Rooting::Translated { root, each } => vec![(root, each)],
            Rooting::Free => counted.collect(),
        };
        let mut plants = Vec::new();
        for (root, share) in roots {
            for number in 0..share {
                let tree = plants.len();
                if self.site.is_folded() {
                    // Without a step in the middle there is nothing to share.
                    let alone = steps.is_multiple_of(2) || (number.is_multiple_of(2) && number + 1 == share);
                    let partner = match number % 2 {
                        _ if alone => tree,
                        0 => tree + 1,
                        _ => tree - 1,
                    };
                    plants.push(Plant { root, ground: 0, partner: Some(partner) });
                } else {
                    plants.push(Plant { root, ground: 0, partner: Some(tree + 1) });
                    plants.push(Plant { root, ground: 1, partner: Some(tree) });
                }
            }
        }
        plants
    }

    /// The least total width: that of the bound, and of what a rank's links cannot be used for. Every chunk has to come
    /// in over them when it can have been everywhere else, and to go out while it can still get everywhere.
    pub fn least_width(&self, bound: u32) -> u32 {
        let ways = |ground: usize| {
            let network = &self.site.grounds[ground].network;
            let of = move |&rank: &u32| {
                let farthest = u32::from(self.site.grounds[ground].farthest(rank));
                self.trees.div_ceil(network.capacity_out_of(rank).max(1)) + farthest.saturating_sub(1)
            };
            self.site.live.iter().map(of).max()
        };
        let all = (0..self.site.grounds.len()).filter_map(ways);
        all.fold(bound.max(self.steps.0), u32::max)
    }

    /// May a rank be a root, if there are so many steps?
    fn may_be_root(&self, rank: u32, steps: u32) -> bool {
        2 * self.site.hops(rank) <= steps
    }

    fn plot(&self, steps: u32, width: u32) -> Arc<Plot> {
        let mut plots = self.plots.lock().unwrap_or_else(PoisonError::into_inner);
        // The more steps, the more ranks may be roots: their number says which.
        let near = self.site.live.iter().filter(|&&rank| self.may_be_root(rank, steps)).count() as u32;
        Arc::clone(plots.entry((near, width)).or_insert_with(|| Arc::new(self.new_plot(steps, width))))
    }

    fn new_plot(&self, steps: u32, width: u32) -> Plot {
        let networks = || self.site.grounds.iter().map(|ground| &ground.network);
        let mut counts = vec![0; self.site.grounds[0].network.rank_count()];
        if let Rooting::Translated { each, .. } = self.rooting {
            counts.fill(each);
            return Plot { shares: counts, fits: true };
        }
        let near: Vec<u32> = self.site.live.iter().copied().filter(|&rank| self.may_be_root(rank, steps)).collect();
        let mut may = vec![false; counts.len()];
        near.iter().for_each(|&rank| may[rank as usize] = true);
        match shares(&networks().collect::<Vec<_>>(), &may, self.trees, width.div_ceil(2)) {
            Some(shares) => Plot { shares, fits: true },
            None => {
                near.iter().cycle().take(self.trees as usize).for_each(|&rank| counts[rank as usize] += 1);
                Plot { shares: counts, fits: false }
            }
        }
    }

    /// Widths of steps, the same from both ends, and whether trees may fit in them.
    fn shape(&self, steps: u32, width: u32, thrift: f64) -> (Vec<u32>, bool) {
        let plot = self.plot(steps, width);
        let shaping = Shaping::new(&self.site.grounds[0].network, self.site.live, &plot.shares);
        let mut half = shaping.shape(steps.div_ceil(2), width.div_ceil(2), thrift);
        let odd = !steps.is_multiple_of(2);
        if let (true, [middle, next, ..]) = (odd, &mut half.widths[..]) {
            *next += *middle - 1;
            *middle = 1;
        }
        let before = half.widths[usize::from(odd)..].iter().rev();
        (before.chain(&half.widths).copied().collect(), half.hopeful && plot.fits)
    }

    /// Half of the total width goes each way, and half of the steps.
    fn is_whole(steps: u32, width: u32) -> bool {
        steps % 2 == width % 2
    }

    /// Is an odd total worth trying, or the only one for the steps asked for?
    fn may_be_odd(&self) -> bool {
        let (least, most) = self.steps;
        self.tree_count() * self.site.live.len() as u64 <= MOST_FOR_ODD || (most == Some(least) && least % 2 == 1)
    }

    fn tree_count(&self) -> u64 {
        u64::from(match self.rooting {
            Rooting::Translated { each, .. } => each,
            Rooting::Free => self.trees * self.site.grounds.len() as u32,
        })
    }

    /// The first number of steps in which trees of this total width might fit; the most allowed if there is none.
    fn first_hopeful(&self, most: u32, width: u32) -> u32 {
        (self.steps.0..most).find(|&steps| self.hopeful(steps, width)).unwrap_or(most)
    }
}

impl<'a> Strategy for Planting<'a> {
    type Negotiation = Forest<'a>;

    fn begin(&self, start: Start) -> Forest<'a> {
        let plants = self.plants(start.widths.len() as u32, start.widths.iter().sum());
        Forest::new(&self.site.grounds, plants, Start { pressure_cap: PRESSURE_CAP, ..start })
    }

    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32> {
        self.shape(steps, width, THRIFT[number as usize % THRIFT.len()]).0
    }

    fn step_choices(&self, width: u32, aim: Aim) -> Vec<u32> {
        let (least, most) = (self.steps.0, self.steps.1.unwrap_or(width).min(width));
        let first = self.first_hopeful(most, width);
        let beyond = |more: &[u32]| {
            let whole = |steps: u32| if Self::is_whole(steps, width) { steps } else { steps - 1 };
            more.iter().map(|more| whole((first + more).min(most))).collect()
        };
        if width % 2 == 1 && !self.may_be_odd() {
            return Vec::new();
        }
        let mut choices: Vec<u32> = match aim {
            Aim::Any => beyond(&MORE_FOR_ANY),
            Aim::Narrower => beyond(&MORE_FOR_NARROWER),
            Aim::Shorter => (least..=most).filter(|&steps| Self::is_whole(steps, width)).collect(),
        };
        choices.dedup();
        choices.retain(|&steps| steps >= least);
        choices
    }

    /// Odd totals come last.
    fn narrower(&self, width: u32) -> Vec<u32> {
        if width.is_multiple_of(2) { vec![width - 2, width - 1] } else { vec![width - 1] }
    }

    /// A stride each way; only one of the two where odd totals are worth it.
    fn wider(&self, width: u32, strides: u32) -> u32 {
        if self.may_be_odd() {
            width.saturating_add(strides)
        } else {
            (width / 2).saturating_add(strides).saturating_mul(2)
        }
    }

    fn hopeful(&self, steps: u32, width: u32) -> bool {
        Self::is_whole(steps, width) && self.shape(steps, width, 1.0).1
    }

    fn routing_work(&self, steps: u32) -> u64 {
        /// Slots looked at for an arrival in a step, about, in half of the steps.
        const SLOTS: u64 = 3;
        self.tree_count() * self.site.live.len() as u64 * u64::from(steps.div_ceil(2)) * SLOTS
    }
}
