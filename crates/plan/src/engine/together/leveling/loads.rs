//! Loads of links, and what chunks pay for them.

use std::cmp::Reverse;

use collsynth_core::schedule::Op;
use collsynth_core::topology::{Link, LinkId, RankId, Topology};

use crate::engine::together::hops::Hop;

/// Links that are busier than the bound by this share of it are leveled: one in so many.
const NEAR: u64 = 200;
/// Links are busy from this share of the most on, in percent: those that are left room give some to others.
const BUSY: u64 = 90;
/// The price of a link grows with this power of its load.
const STEEP: i32 = 32;
/// What a link costs besides, as a share of one that carries the most it should: of idle links, few are the best.
pub(super) const HOP: f64 = 0.02;

/// How many chunks each link carries, and the most that one is to carry.
pub(super) struct Loads<'a> {
    pub machine: &'a Topology,
    /// By link.
    pub load: Vec<u64>,
    /// The most that a link of capacity 1 is to carry.
    most: u64,
}

impl<'a> Loads<'a> {
    pub fn new(machine: &'a Topology, routes: &[Vec<Hop>], least: u64) -> Self {
        let mut load = vec![0; machine.links().len()];
        routes.iter().flatten().for_each(|hop| load[hop.link.index()] += 1);
        Self { machine, load, most: least + least / NEAR }
    }

    /// The links that are too busy, the busiest first.
    pub fn busy(&self) -> Vec<LinkId> {
        let mut busy: Vec<LinkId> = self.machine.live_links().filter(|&link| self.is_busy(link)).collect();
        let time = |link: LinkId| self.load[link.index()].div_ceil(self.machine.link(link).capacity.into());
        busy.sort_by_key(|&link| Reverse(time(link)));
        busy
    }

    pub fn is_busy(&self, link: LinkId) -> bool {
        self.load[link.index()] * 100 > BUSY * self.most * u64::from(self.machine.link(link).capacity)
    }

    /// Does any link carry more than it should?
    pub fn is_over(&self) -> bool {
        let is_over = |(load, link): (&u64, &Link)| *load > self.most * u64::from(link.capacity);
        self.load.iter().zip(self.machine.links()).any(is_over)
    }

    /// The sum of what all chunks pay on all links for their load.
    pub fn total(&self) -> f64 {
        self.machine.live_links().map(|link| self.load[link.index()] as f64 * (self.price(link) - HOP)).sum()
    }

    /// What the last chunk pays on a link.
    pub fn price(&self, link: LinkId) -> f64 {
        self.price_with(link, self.load[link.index()])
    }

    /// The same if the link carries so many.
    pub fn price_with(&self, link: LinkId, load: u64) -> f64 {
        let room = self.most * u64::from(self.machine.link(link).capacity);
        HOP + (load as f64 / room.max(1) as f64).powi(STEEP)
    }

    /// The rank nearer to the root, and the other.
    pub fn ends_of(&self, link: LinkId, op: Op) -> (RankId, RankId) {
        let link = self.machine.link(link);
        if op == Op::Copy { (link.from, link.to) } else { (link.to, link.from) }
    }
}
