//! One half of the plan: trees from free roots, in so many steps of so much width.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Site;
use super::shape::{Shape, Shaping};
use super::shares::shares;
use crate::plan::negotiation::{Aim, Network, Start, Strategy};
use crate::plan::trees::Forest;

/// Parts of what is to spare that idle links may use up, try by try.
const THRIFT: [f64; 4] = [0.5, 0.25, 0.75, 0.0];
/// Steps beyond the first number at which trees might fit that are tried, for any schedule and for a narrower one.
const MORE_FOR_ANY: [u32; 2] = [3, 12];
const MORE_FOR_NARROWER: [u32; 4] = [1, 6, 16, 32];
/// How far the pressure rises: trees settle best when it is high.
const PRESSURE_CAP: f64 = 20.0;

/// Where the roots are.
#[derive(Clone)]
pub(super) enum Rooting {
    /// Where they are needed: at ranks from which there is time to get everywhere, in the other half too.
    Free { other_steps: Option<u32> },
    /// At one rank, whose trees are translated to all others, each the root of so many.
    Translated { root: u32, each: u32 },
    /// Here, tree by tree.
    Given(Vec<u32>),
}

/// Trees to be planted in one half.
pub(super) struct Half<'a> {
    site: &'a Site<'a>,
    /// 0: downwards, 1: upwards.
    half: usize,
    trees: u32,
    rooting: Rooting,
    /// The least and the most steps.
    steps: (u32, Option<u32>),
    /// What is known of the steps and total widths looked at.
    plots: Mutex<BTreeMap<(u32, u32), Arc<Plot>>>,
}

/// Roots for a total width.
struct Plot {
    /// The root of each tree.
    roots: Vec<u32>,
    /// How many trees each rank is the root of, after translation.
    shares: Vec<u32>,
    /// Do trees from these roots fit in the width, however many steps there are?
    fits: bool,
}

impl<'a> Half<'a> {
    /// `steps`: the least and the most.
    pub fn new(site: &'a Site<'a>, half: usize, trees: u32, rooting: Rooting, steps: (u32, Option<u32>)) -> Self {
        let mut this = Self { site, half, trees, rooting, steps, plots: Mutex::default() };
        let roots: Vec<u32> = match &this.rooting {
            Rooting::Given(roots) => roots.clone(),
            _ => site.live.iter().copied().filter(|&rank| this.may_be_root(rank, u32::MAX)).collect(),
        };
        let hops = roots.iter().map(|&root| farthest(this.network(), site.live, root));
        let least = if matches!(this.rooting, Rooting::Free { .. }) { hops.min() } else { hops.max() };
        this.steps.0 = steps.0.max(least.unwrap_or(0));
        this
    }

    /// The least number of steps.
    pub fn least_steps(&self) -> u32 {
        self.steps.0
    }

    fn network(&self) -> &'a Network {
        &self.site.grounds[self.half].network
    }

    /// The networks in which trees must spread from the same roots, that of this half first.
    fn networks(&self) -> Vec<&'a Network> {
        let other = &self.site.grounds[1 - self.half].network;
        if self.site.has_mirror_image { vec![self.network()] } else { vec![self.network(), other] }
    }

    /// May a rank be a root, if this half has so many steps?
    fn may_be_root(&self, rank: u32, steps: u32) -> bool {
        let near = |half: usize, limit| farthest(&self.site.grounds[half].network, self.site.live, rank) <= limit;
        let other = match self.rooting {
            Rooting::Free { other_steps } => other_steps,
            _ => None,
        };
        near(self.half, steps) && other.is_none_or(|limit| near(1 - self.half, limit))
    }

    fn plot(&self, steps: u32, width: u32) -> Arc<Plot> {
        let mut plots = self.plots.lock().unwrap_or_else(PoisonError::into_inner);
        // The more steps, the more ranks may be roots: their number says which.
        let near = self.site.live.iter().filter(|&&rank| self.may_be_root(rank, steps)).count() as u32;
        Arc::clone(plots.entry((near, width)).or_insert_with(|| Arc::new(self.new_plot(steps, width))))
    }

    fn new_plot(&self, steps: u32, width: u32) -> Plot {
        let ranks = self.network().rank_count();
        let mut counts = vec![0; ranks];
        match &self.rooting {
            Rooting::Translated { root, each } => {
                self.site.live.iter().for_each(|&rank| counts[rank as usize] = *each);
                Plot { roots: vec![*root; *each as usize], shares: counts, fits: true }
            }
            Rooting::Given(roots) => {
                roots.iter().for_each(|&root| counts[root as usize] += 1);
                Plot { roots: roots.clone(), shares: counts, fits: true }
            }
            Rooting::Free { .. } => {
                let near: Vec<u32> =
                    self.site.live.iter().copied().filter(|&rank| self.may_be_root(rank, steps)).collect();
                let mut may = vec![false; ranks];
                near.iter().for_each(|&rank| may[rank as usize] = true);
                let found = shares(&self.networks(), &may, self.trees, width);
                let fits = found.is_some();
                let shares = found.unwrap_or_else(|| {
                    near.iter().cycle().take(self.trees as usize).for_each(|&rank| counts[rank as usize] += 1);
                    counts
                });
                let repeated = |(rank, &share): (usize, &u32)| std::iter::repeat_n(rank as u32, share as usize);
                Plot { roots: shares.iter().enumerate().flat_map(repeated).collect(), shares, fits }
            }
        }
    }

    fn shape(&self, steps: u32, width: u32, thrift: f64) -> Shape {
        let plot = self.plot(steps, width);
        let mut shape = Shaping::new(self.network(), self.site.live, &plot.shares).shape(steps, width, thrift);
        shape.hopeful &= plot.fits;
        shape
    }

    /// The first number of steps in which trees of this total width might fit; the most allowed if there is none.
    fn first_hopeful(&self, most: u32, width: u32) -> u32 {
        (self.steps.0..most).find(|&steps| self.hopeful(steps, width)).unwrap_or(most)
    }
}

/// The hops from a rank to the live rank that is farthest from it.
pub(super) fn farthest(network: &Network, live: &[u32], rank: u32) -> u32 {
    live.iter().map(|&to| network.distance(rank, to)).max().unwrap_or(0)
}

impl<'a> Strategy for Half<'a> {
    type Negotiation = Forest<'a>;

    fn begin(&self, start: Start) -> Forest<'a> {
        let plot = self.plot(start.widths.len() as u32, start.widths.iter().sum());
        Forest::new(
            &self.site.grounds[self.half],
            Cow::Owned(plot.roots.clone()),
            Start { pressure_cap: PRESSURE_CAP, ..start },
        )
    }

    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32> {
        self.shape(steps, width, THRIFT[number as usize % THRIFT.len()]).widths
    }

    fn step_choices(&self, width: u32, aim: Aim) -> Vec<u32> {
        let (least, most) = (self.steps.0, self.steps.1.unwrap_or(width).min(width));
        let first = self.first_hopeful(most, width);
        let beyond = |more: &[u32]| more.iter().map(|more| (first + more).min(most)).collect();
        let mut choices: Vec<u32> = match aim {
            Aim::Any => beyond(&MORE_FOR_ANY),
            Aim::Narrower => beyond(&MORE_FOR_NARROWER),
            Aim::Shorter => (least..=most).collect(),
        };
        choices.dedup();
        choices
    }

    fn hopeful(&self, steps: u32, width: u32) -> bool {
        self.shape(steps, width, 1.0).hopeful
    }

    fn routing_work(&self, steps: u32) -> u64 {
        /// Slots looked at for an arrival in a step, about.
        const SLOTS: u64 = 3;
        let trees = match self.rooting {
            Rooting::Translated { each, .. } => each,
            _ => self.trees,
        };
        u64::from(trees) * self.site.live.len() as u64 * u64::from(steps) * SLOTS
    }
}
