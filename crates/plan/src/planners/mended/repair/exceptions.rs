//! Exceptions from the pattern, their paths, and the slots that these share with it.

use std::collections::HashMap;
use std::time::Duration;

use fastrand::Rng;
use rayon::prelude::*;

use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::schedule::{CompactSchedule, Op, Schedule};
use collsynth_core::topology::RankId;

use super::PRESSURE;
use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::moves::Moves;
use crate::model::network::{LiveLink, Message, Network, WAIT};
use crate::planners::mended::hops::Hops;
use crate::planners::mended::pattern::without;
use crate::search::negotiation::Slots;
use crate::search::path_routing::Router;

/// Draws of a chunk of a slot before all are listed.
const DRAWS: usize = 16;
/// Exceptions routed side by side, at the same prices: one per 256 links, and at most 64.
const LINKS_FOR_EACH: usize = 256;
const MOST_SIDE_BY_SIDE: usize = 64;
/// About how long it takes to state, judge and write an exception.
const STATING: Duration = Duration::from_micros(25);

/// A try at some widths.
pub(super) struct Repair<'a> {
    network: &'a Network,
    hops: &'a Hops<'a>,
    pub slots: Slots,
    rng: Rng,
    /// The chunks that left the pattern, those without a path included.
    exceptions: Vec<Message>,
    number: HashMap<ChunkId, u32>,
    /// Their paths, `[exception * steps + step]`: a live link or [`WAIT`].
    paths: Vec<LiveLink>,
    /// The exceptions in each slot.
    held: Vec<Vec<u32>>,
    /// Have those that the failures make been routed?
    is_routed: bool,
    /// What settled last: the widths, and the paths of the exceptions at that time.
    kept: Option<(Vec<u32>, Vec<LiveLink>)>,
    work: u64,
    /// Was a step widened because many chunks were too many for long?
    pub was_far: bool,
}

impl<'a> Repair<'a> {
    pub fn new(network: &'a Network, hops: &'a Hops<'a>, widths: Vec<u32>, seed: u64) -> Self {
        let mut slots = Slots::new(widths, network.capacity.clone(), PRESSURE);
        for step in 0..hops.steps {
            for (link, &direction) in hops.direction.iter().enumerate() {
                let chunks = hops.senders(step, direction as usize).len() as u32;
                slots.add_all(step * network.link_count() + link, chunks);
            }
        }
        let held = vec![Vec::new(); hops.steps * network.link_count()];
        let mut this = Self {
            network,
            hops,
            slots,
            rng: Rng::with_seed(seed),
            exceptions: Vec::new(),
            number: HashMap::new(),
            paths: Vec::new(),
            held,
            is_routed: false,
            kept: None,
            work: 0,
            was_far: false,
        };
        for chunk in hops.broken() {
            if !this.number.contains_key(&chunk) {
                this.except(chunk);
            }
        }
        this
    }

    pub fn steps(&self) -> usize {
        self.hops.steps
    }

    pub fn width(&self) -> u32 {
        self.slots.widths().iter().sum()
    }

    /// The width of what settled last, if anything was kept.
    pub fn found_width(&self) -> u32 {
        self.kept.as_ref().map_or_else(|| self.width(), |(widths, _)| widths.iter().sum())
    }

    /// Links and slots examined.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// The reason to stop now, if any: what is done with the exceptions afterward takes time, too.
    pub fn stop(&self, control: &Control) -> Option<StopReason> {
        let kept = self.kept.as_ref().map_or(self.exceptions.len(), |(_, paths)| paths.len() / self.hops.steps);
        control.stop_before(STATING * kept as u32)
    }

    /// The chunks that have to leave the pattern and are needed, and their hops on the shortest paths.
    pub fn needed(&self) -> (u64, u64) {
        let needed = || self.exceptions.iter().filter(|message| self.is_needed(message));
        let hops = |message: &Message| u64::from(self.network.distance(message.origin, message.dest));
        (needed().count() as u64, needed().map(hops).sum())
    }

    fn is_needed(&self, message: &Message) -> bool {
        let is_alive = |rank| self.hops.problem.topology().is_alive(RankId(rank));
        is_alive(message.origin) && is_alive(message.dest)
    }

    /// Routes the exceptions that the failures make, the farthest first, unless that is done.
    pub fn route_first(&mut self) {
        if std::mem::replace(&mut self.is_routed, true) {
            return;
        }
        let all = (0..).zip(&self.exceptions);
        let mut order: Vec<u32> = all.filter(|(_, message)| self.is_needed(message)).map(|(e, _)| e).collect();
        self.rng.shuffle(&mut order);
        order.sort_by_key(|&exception| {
            let Message { origin, dest, .. } = self.exceptions[exception as usize];
            std::cmp::Reverse(self.network.distance(origin, dest))
        });
        order.chunks(self.side_by_side()).for_each(|exceptions| self.route(exceptions, 0));
    }

    /// Has each overfull slot give up as many chunks as are too many there, if that many still are.
    pub fn round(&mut self, detour: u32, control: &Control) {
        let overfull = (0..self.held.len()).filter(|&slot| self.slots.is_overfull(slot));
        let mut overfull: Vec<(usize, u32)> = overfull.map(|slot| (slot, self.slots.excess(slot))).collect();
        self.work += self.held.len() as u64;
        self.rng.shuffle(&mut overfull);
        while !overfull.is_empty() {
            for some in overfull.chunks(self.side_by_side()) {
                if self.stop(control).is_some() {
                    return;
                }
                let mut drawn = Vec::with_capacity(some.len());
                for &(slot, _) in some {
                    if self.slots.is_overfull(slot)
                        && let Some(exception) = self.draw(slot)
                    {
                        self.unroute(exception);
                        drawn.push(exception);
                    }
                }
                self.route(&drawn, detour);
            }
            overfull.iter_mut().for_each(|(_, left)| *left -= 1);
            overfull.retain(|&(slot, left)| left > 0 && self.slots.is_overfull(slot));
        }
    }

    /// Keeps what has settled.
    pub fn keep(&mut self) {
        self.slots.fit_widths();
        self.kept = Some((self.slots.widths().to_vec(), self.paths.clone()));
    }

    /// Takes a chunk out of the pattern; it has no path then.
    fn except(&mut self, chunk: ChunkId) -> u32 {
        let rule = self.hops.problem.rule(chunk);
        let (Holders::One(origin), Holders::One(dest)) = (rule.before, rule.after) else {
            unreachable!("an all-to-all has one origin and one destination for each chunk");
        };
        for slot in self.hops.slots(chunk, self.network.link_count()) {
            self.slots.take(slot);
        }
        let exception = self.exceptions.len() as u32;
        self.exceptions.push(Message { origin: origin.0, dest: dest.0, chunk });
        self.number.insert(chunk, exception);
        self.paths.resize(self.paths.len() + self.hops.steps, WAIT);
        exception
    }

    /// A chunk in a slot, at random, as an exception.
    fn draw(&mut self, slot: usize) -> Option<u32> {
        let links = self.network.link_count();
        let (step, link) = (slot / links, slot % links);
        let senders = self.hops.senders(step, self.hops.direction[link] as usize);
        let from = RankId(self.network.from[link]);
        for _ in 0..DRAWS {
            let drawn = self.rng.usize(..senders.len() + self.held[slot].len());
            match senders.get(drawn) {
                None => return Some(self.held[slot][drawn - senders.len()]),
                Some(&sent) => {
                    let chunk = self.hops.translated(sent, from);
                    if !self.number.contains_key(&chunk) {
                        return Some(self.except(chunk));
                    }
                }
            }
        }
        let mut all = senders.iter().map(|&sent| self.hops.translated(sent, from));
        let chunk = all.find(|chunk| !self.number.contains_key(chunk));
        self.held[slot].first().copied().or_else(|| Some(self.except(chunk?)))
    }

    fn unroute(&mut self, exception: u32) {
        let links = self.network.link_count();
        let path = &mut self.paths[exception as usize * self.hops.steps..][..self.hops.steps];
        for (step, link) in path.iter_mut().enumerate().filter(|(_, link)| **link != WAIT) {
            let slot = step * links + *link as usize;
            self.slots.take(slot);
            self.held[slot].retain(|&other| other != exception);
            *link = WAIT;
        }
    }

    fn side_by_side(&self) -> usize {
        (self.network.link_count() / LINKS_FOR_EACH).clamp(1, MOST_SIDE_BY_SIDE)
    }

    /// Gives exceptions without a path the cheapest ones: among the shortest if they have room, else with a detour.
    fn route(&mut self, exceptions: &[u32], detour: u32) {
        let (links, steps) = (self.network.link_count(), self.hops.steps);
        let (network, slots, messages) = (self.network, &self.slots, &self.exceptions);
        let route = |router: &mut Router, &exception: &u32| {
            let before = router.work();
            let mut path = vec![WAIT; steps];
            let message = messages[exception as usize];
            let price = router.route(network, message, 0, slots.prices(), &mut path);
            let mut crossed = path.iter().enumerate().filter(|(_, link)| **link != WAIT);
            if detour > 0 && crossed.any(|(step, &link)| slots.is_full(step * links + link as usize)) {
                router.route_below(network, message, detour, slots.prices(), price, &mut path);
            }
            (path, router.work() - before)
        };
        let found: Vec<_> = exceptions.par_iter().map_init(|| Router::new(network), route).collect();
        for (&exception, (path, work)) in exceptions.iter().zip(found) {
            self.work += work;
            for (step, &link) in path.iter().enumerate().filter(|(_, link)| **link != WAIT) {
                let slot = step * links + link as usize;
                self.slots.add(slot);
                self.held[slot].push(exception);
            }
            self.paths[exception as usize * steps..][..steps].copy_from_slice(&path);
        }
    }

    /// The schedule: of what was kept, or else in the widths that it needs.
    pub fn finish(mut self, pattern: &Schedule) -> Option<CompactSchedule> {
        if self.kept.is_none() {
            self.keep();
        }
        let (widths, paths) = self.kept?;
        self.exceptions.truncate(paths.len() / self.hops.steps);
        let problem = self.hops.problem;
        let mut exceptions: Vec<ChunkId> = self.exceptions.iter().map(|message| message.chunk).collect();
        exceptions.sort_unstable();
        let mut moves = Moves::new(widths.len());
        for (message, path) in self.exceptions.iter().zip(paths.chunks(self.hops.steps)) {
            for (step, &link) in path.iter().enumerate().filter(|(_, link)| **link != WAIT) {
                moves.add(step, self.network.ids[link as usize], Op::Copy, [message.chunk]);
            }
        }
        let own = moves.write(problem.topology(), |step, _| Some(widths[step]));
        without(problem, pattern, &widths, exceptions, own)
    }
}
