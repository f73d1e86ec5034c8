//! Packing trees: their roots, which of them share the time, and the steps and widths worth trying.
//!
//! All trees are planned as they go down. A tree goes down in the second half of the steps, and its mirror image goes
//! up in the first, so the total width is even. If the number of steps is odd, the one in the middle is 1 wide, and in
//! it some trees already go down while others still go up: of two trees with the same root, one may leave early if the
//! other, whose mirror image goes up for it, leaves late enough. Then the total is odd.
//!
//! ```text
//!   widths    3 3 2 1 1 1 2 3 3       four steps up, four down, and one for both
//!                     ^
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use itertools::Itertools;

use super::networks::Networks;
use super::root_counts::root_counts;
use super::widths::Limits;
use crate::model::control::Control;
use crate::model::network::Network;
use crate::search::negotiation::{Aim, Start, Strategy};
use crate::search::tree_routing::{Forest, TreeSpec};

/// Fractions of the slack that idle links may use up, try by try.
const IDLE_FRACTIONS: [f64; 4] = [0.5, 0.25, 0.75, 0.0];
/// Steps to try beyond the first number at which trees might fit, for any schedule and for a narrower one.
const MORE_FOR_ANY: [u32; 2] = [6, 24];
const MORE_FOR_NARROWER: [u32; 4] = [2, 12, 32, 64];
/// The most trees, counted at every rank, for which odd totals are tried: they are hard to find, and save 1.
const MOST_FOR_ODD: u64 = 4096;
/// How far the pressure rises: trees settle best when it is high.
const PRESSURE_CAP: f64 = 20.0;

/// How the roots are chosen.
#[derive(Clone)]
pub(super) enum Rooting {
    /// As needed, among the ranks that can reach all others in time.
    Free,
    /// At one rank, whose trees are translated to all others: each is the root of `each` trees.
    Translated { root: u32, each: u32 },
}

pub(super) struct TreePacking<'a> {
    networks: &'a Networks<'a>,
    trees: u32,
    rooting: Rooting,
    /// The least and the most steps.
    steps: (u32, Option<u32>),
    control: &'a Control,
    /// The roots found so far, by the number of ranks that may be roots and the total width.
    roots: Mutex<BTreeMap<(u32, u32), Arc<Roots>>>,
}

/// Roots for a total width.
struct Roots {
    /// The number of trees rooted at each rank, after translation.
    counts: Vec<u32>,
    /// False if trees from these roots do not fit in the width, whatever the number of steps.
    may_fit: bool,
}

impl<'a> TreePacking<'a> {
    pub fn new(
        networks: &'a Networks<'a>,
        trees: u32,
        rooting: Rooting,
        steps: (u32, Option<u32>),
        control: &'a Control,
    ) -> Self {
        let least = steps.0.max(2 * networks.least_hops());
        Self { networks, trees, rooting, steps: (least, steps.1), control, roots: Mutex::default() }
    }

    fn specs(&self, steps: u32, width: u32) -> Vec<TreeSpec> {
        let roots = self.roots(steps, width);
        let planned = |rank: u32| !matches!(self.rooting, Rooting::Translated { root, .. } if root != rank);
        let mut specs = Vec::new();
        for (root, &count) in (0..).zip(&roots.counts).filter(|&(rank, _)| planned(rank)) {
            for number in 0..count {
                let tree = specs.len();
                if self.networks.is_folded() {
                    // Without a step in the middle there is nothing to share.
                    let alone = steps.is_multiple_of(2) || (number.is_multiple_of(2) && number + 1 == count);
                    let partner = match number % 2 {
                        _ if alone => tree,
                        0 => tree + 1,
                        _ => tree - 1,
                    };
                    specs.push(TreeSpec { partner: Some(partner), ..TreeSpec::alone(root) });
                } else {
                    specs.push(TreeSpec { partner: Some(tree + 1), ..TreeSpec::alone(root) });
                    specs.push(TreeSpec { network: 1, partner: Some(tree), ..TreeSpec::alone(root) });
                }
            }
        }
        specs
    }

    /// The least total width: that of the bound, and that needed by the links of a single rank.
    pub fn least_width(&self, bound: u32) -> u32 {
        let needed = self.networks.timed.iter().cartesian_product(self.networks.live);
        let needed = needed.map(|(timed, &rank)| timed.least_width(self.trees, rank));
        needed.fold(bound.max(self.steps.0), u32::max)
    }

    fn may_be_root(&self, rank: u32, steps: u32) -> bool {
        2 * self.networks.hops(rank) <= steps
    }

    fn roots(&self, steps: u32, width: u32) -> Arc<Roots> {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        // More steps allow more roots, so their number identifies them.
        let near = self.networks.live.iter().filter(|&&rank| self.may_be_root(rank, steps)).count() as u32;
        Arc::clone(roots.entry((near, width)).or_insert_with(|| Arc::new(self.find_roots(steps, width))))
    }

    fn find_roots(&self, steps: u32, width: u32) -> Roots {
        let networks: Vec<&Network> = self.networks.timed.iter().map(|timed| &timed.network).collect();
        let mut counts = vec![0; networks[0].rank_count()];
        if let Rooting::Translated { each, .. } = self.rooting {
            counts.fill(each);
            return Roots { counts, may_fit: true };
        }
        let near: Vec<u32> = self.networks.live.iter().copied().filter(|&rank| self.may_be_root(rank, steps)).collect();
        let mut may = vec![false; counts.len()];
        near.iter().for_each(|&rank| may[rank as usize] = true);
        match root_counts(&networks, &may, self.trees, width.div_ceil(2), self.control) {
            Some(counts) => Roots { counts, may_fit: true },
            None => {
                near.iter().cycle().take(self.trees as usize).for_each(|&rank| counts[rank as usize] += 1);
                Roots { counts, may_fit: false }
            }
        }
    }

    /// Widths of steps, symmetric in time, and whether trees may fit in them.
    fn symmetric_widths(&self, steps: u32, width: u32, idle_fraction: f64) -> (Vec<u32>, bool) {
        let roots = self.roots(steps, width);
        let limits = Limits::new(&self.networks.timed[0].network, self.networks.live, &roots.counts);
        let mut half = limits.widths(steps.div_ceil(2), width.div_ceil(2), idle_fraction, self.control);
        let odd = !steps.is_multiple_of(2);
        if let (true, [middle, next, ..]) = (odd, &mut half.widths[..]) {
            *next += *middle - 1;
            *middle = 1;
        }
        let before = half.widths[usize::from(odd)..].iter().rev();
        (before.chain(&half.widths).copied().collect(), half.may_fit && roots.may_fit)
    }

    /// Can the total width and the steps be split evenly into up and down?
    fn is_whole(steps: u32, width: u32) -> bool {
        steps % 2 == width % 2
    }

    /// Is an odd total worth trying, or the only one for the steps stated?
    fn may_be_odd(&self) -> bool {
        let (least, most) = self.steps;
        self.tree_count() * self.networks.live.len() as u64 <= MOST_FOR_ODD || (most == Some(least) && least % 2 == 1)
    }

    fn tree_count(&self) -> u64 {
        u64::from(match self.rooting {
            Rooting::Translated { each, .. } => each,
            Rooting::Free => self.trees * self.networks.timed.len() as u32,
        })
    }

    /// The first number of steps in which trees of this total width may fit; the most allowed if there is none.
    fn first_fit(&self, most: u32, width: u32) -> u32 {
        (self.steps.0..most).find(|&steps| self.may_fit(steps, width)).unwrap_or(most)
    }
}

impl<'a> Strategy for TreePacking<'a> {
    type Negotiation = Forest<'a>;

    fn begin(&self, start: Start, abandon: &(dyn Fn() -> bool + Sync)) -> Option<Forest<'a>> {
        let specs = self.specs(start.widths.len() as u32, start.widths.iter().sum());
        Forest::new(&self.networks.timed, specs, Start { pressure_cap: PRESSURE_CAP, ..start }, abandon)
    }

    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32> {
        self.symmetric_widths(steps, width, IDLE_FRACTIONS[number as usize % IDLE_FRACTIONS.len()]).0
    }

    fn step_choices(&self, width: u32, aim: Aim) -> Vec<u32> {
        let (least, most) = (self.steps.0, self.steps.1.unwrap_or(width).min(width));
        let first = self.first_fit(most, width);
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

    fn narrower(&self, width: u32) -> Vec<u32> {
        if width.is_multiple_of(2) { vec![width - 2, width - 1] } else { vec![width - 1] }
    }

    /// One stride both up and down; where odd totals are worth trying, one stride in all.
    fn wider(&self, width: u32, strides: u32) -> u32 {
        if self.may_be_odd() {
            width.saturating_add(strides)
        } else {
            (width / 2).saturating_add(strides).saturating_mul(2)
        }
    }

    fn may_fit(&self, steps: u32, width: u32) -> bool {
        Self::is_whole(steps, width) && self.symmetric_widths(steps, width, 1.0).1
    }

    fn routing_work(&self, steps: u32) -> u64 {
        /// Slots examined for an arrival in a step, roughly, in half of the steps.
        const SLOTS: u64 = 3;
        self.tree_count() * self.networks.live.len() as u64 * u64::from(steps.div_ceil(2)) * SLOTS
    }
}
