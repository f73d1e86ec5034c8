//! Repairing the pattern of an all-to-all around failures.
//!
//! A slot is a link in a step. What the pattern puts there is the same for all links of a direction, so it is a number;
//! the chunks behind it are found when one has to leave:
//!
//! ```text
//!   in step s, rank 0's chunks c1, c2, ... are sent over x+ from the ranks f1, f2, ...
//!   over x+ of rank u, then, go c1 translated by u - f1, c2 translated by u - f2, ...
//! ```
//!
//! Round by round, each overfull slot gives up as many chunks as are too many there, chosen at random; each takes the
//! cheapest path at the current prices (see `negotiation`). The exceptions are those that ever moved.
//!
//! The first try widens steps where conflicts do not settle, so that there is a schedule. If it is above the bound,
//! more tries from other seeds look for one on it, with more patience and without widening: most last units of width
//! fall to them. What they may cost is work, not time, and little enough that on whole pods none is made.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use rayon::prelude::*;

use collsynth_core::certificate::Bounds;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Op, Schedule};
use collsynth_core::topology::RankId;

use super::MANY_RANKS;
use super::hops::Hops;
use super::pattern::intact;
use crate::model::account::StopReason;
use crate::model::control::{Control, Progress};
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{LiveLink, Message, Network, WAIT};
use crate::model::widths::even_widths;
use crate::planners::template::TemplateSchedule;
use crate::search::altered::with_exceptions;
use crate::search::negotiation::Slots;
use crate::search::path_routing::Router;

/// The pressure at first and at last. Nearly all slots of a pattern are full: what is to leave them must not enter
/// others that are.
const PRESSURE: RangeInclusive<f64> = 4.0..=20.0;
/// A step is widened after this many rounds in which the number of chunks too many did not fall; more if few are.
const PATIENCE: u64 = 30;
const PATIENCE_WITH_ONE: u64 = 200;
/// If the first try is above the bound and took less than this work (links and slots examined, some 2e8 of them a
/// second), machines of [`MANY_RANKS`] get this many in all, of at most as much work and more patience, by this factor.
const TRY_WORK: u64 = 200_000_000;
const TRIES: u64 = 8;
const MORE_PATIENCE: u64 = 16;
/// Half of this work must leave no more chunks too many than this.
const FEW: u64 = 40;
/// Hops beyond the distance that a chunk may take if its shortest paths are full, once a round leaves more than this
/// share of the chunks too many.
const DETOUR: u32 = 2;
const SLOW: f64 = 0.97;
/// Draws of a chunk of a slot before all are listed.
const DRAWS: usize = 16;
/// Exceptions between two looks at the clock.
const POLLED: usize = 256;

/// A schedule in exactly these steps, and why the search stopped; `None` if there is no template.
pub(super) fn in_steps(
    problem: &Problem,
    bounds: &Bounds,
    steps: u32,
    seed: u64,
    control: &Control,
) -> Result<Option<(CompactSchedule, StopReason)>, PlanError> {
    let torus = problem.machine().as_torus().expect("it has translations");
    let Some(template) = TemplateSchedule::new(torus, problem.parts(), steps) else { return Ok(None) };
    let pattern = template.pattern(&intact(problem.machine()), problem.parts());
    let network = Network::new(problem);
    problem.check_connected()?;
    let hops = Hops::new(problem, &network, &pattern);
    let full = (pattern.total_width() as u32).max(steps);
    let least = bounds.least_width(problem.parts()).max(full);
    let is_full = least == full && !hops.is_whole();
    let begin = |number: u64| {
        let seed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Repair::new(&network, &hops, even_widths(least, steps), seed)
    };
    let mut repair = begin(0);
    repair.run(Impatience::Widen { at_once: is_full }, control);
    let has_more_tries = problem.machine().rank_count() >= MANY_RANKS && repair.work() < TRY_WORK;
    if repair.width() > least && has_more_tries && control.stop().is_none() {
        let first = AtomicU64::new(u64::MAX);
        let settled = (1..TRIES).into_par_iter().find_map_first(|number| {
            let mut repair = begin(number);
            let is_settled = repair.run(Impatience::GiveUp { number, first: &first }, control);
            is_settled.then(|| {
                first.fetch_min(number, Ordering::Relaxed);
                repair
            })
        });
        repair = settled.unwrap_or(repair);
    }
    repair.slots.fit_widths();
    let stopped = control.stop().unwrap_or(StopReason::Finished);
    Ok(repair.finish(problem, &pattern).map(|schedule| (schedule, stopped)))
}

/// What a try does once patience ends.
#[derive(Clone, Copy)]
enum Impatience<'a> {
    /// It widens the step with the most chunks too many; after the first round already if all slots of some direction
    /// are full, so that what has to leave one finds no other.
    Widen { at_once: bool },
    /// It ends, and also after too much work, or once an earlier try has succeeded, `first`.
    GiveUp { number: u64, first: &'a AtomicU64 },
}

/// A try at some widths.
struct Repair<'a> {
    network: &'a Network,
    hops: &'a Hops<'a>,
    slots: Slots,
    router: Router,
    rng: Rng,
    /// The chunks that left the pattern, those without a path included.
    exceptions: Vec<Message>,
    number: HashMap<ChunkId, u32>,
    /// Their paths, `[exception * steps + step]`: a live link or [`WAIT`].
    paths: Vec<LiveLink>,
    /// The exceptions in each slot.
    held: Vec<Vec<u32>>,
    /// Slots examined in all rounds.
    scanned: u64,
}

impl<'a> Repair<'a> {
    fn new(network: &'a Network, hops: &'a Hops<'a>, widths: Vec<u32>, seed: u64) -> Self {
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
            router: Router::new(network),
            rng: Rng::with_seed(seed),
            exceptions: Vec::new(),
            number: HashMap::new(),
            paths: Vec::new(),
            held,
            scanned: 0,
        };
        for chunk in hops.broken() {
            if !this.number.contains_key(&chunk) {
                this.except(chunk);
            }
        }
        this
    }

    /// Takes a chunk out of the pattern; it has no path then.
    fn except(&mut self, chunk: ChunkId) -> u32 {
        let rule = self.hops.problem.rule(chunk);
        let (collsynth_core::collective::Holders::One(origin), collsynth_core::collective::Holders::One(dest)) =
            (rule.before, rule.after)
        else {
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

    /// Routes and reroutes until no slot is overfull, or time is up. Is no slot overfull?
    fn run(&mut self, impatience: Impatience<'_>, control: &Control) -> bool {
        let problem = self.hops.problem;
        let is_needed = |message: &Message| {
            let alive = |rank| problem.topology().is_alive(RankId(rank));
            alive(message.origin) && alive(message.dest)
        };
        let mut order: Vec<u32> = (0..).zip(&self.exceptions).filter(|(_, m)| is_needed(m)).map(|(e, _)| e).collect();
        self.rng.shuffle(&mut order);
        order.sort_by_key(|&exception| {
            let Message { origin, dest, .. } = self.exceptions[exception as usize];
            std::cmp::Reverse(self.network.distance(origin, dest))
        });
        for &exception in &order {
            self.route(exception, 0);
        }
        let (mut least, mut stale) = (u64::MAX, 0);
        let mut last = u64::MAX;
        let mut round = 0;
        loop {
            let remaining = self.slots.overfull();
            let label = format!("{} steps, width {}", self.hops.steps, self.width());
            control.report(Progress { planner: super::CompactPlan::PLANNER, attempt: &label, round, remaining });
            if remaining == 0 || control.stop().is_some() {
                return remaining == 0;
            }
            (least, stale) = if remaining < least { (remaining, 0) } else { (least, stale + 1) };
            let patience = PATIENCE + PATIENCE_WITH_ONE / remaining;
            match impatience {
                Impatience::Widen { at_once } if stale > patience || (at_once && round == 0) => {
                    self.slots.widen();
                    (least, stale) = (u64::MAX, 0);
                }
                Impatience::GiveUp { number, first }
                    if stale > MORE_PATIENCE * patience
                        || self.work() > TRY_WORK
                        || (self.work() > TRY_WORK / 2 && least > FEW)
                        || first.load(Ordering::Relaxed) < number =>
                {
                    return false;
                }
                _ => {}
            }
            let is_slow = remaining as f64 > last as f64 * SLOW;
            last = remaining;
            self.round(if is_slow { DETOUR } else { 0 }, control);
            self.slots.raise();
            round += 1;
        }
    }

    fn width(&self) -> u32 {
        self.slots.widths().iter().sum()
    }

    /// Links and slots examined.
    fn work(&self) -> u64 {
        self.router.work() + self.scanned
    }

    fn round(&mut self, detour: u32, control: &Control) {
        let mut overfull: Vec<usize> = (0..self.held.len()).filter(|&slot| self.slots.is_overfull(slot)).collect();
        self.scanned += self.held.len() as u64;
        self.rng.shuffle(&mut overfull);
        for (index, slot) in overfull.into_iter().enumerate() {
            if index % POLLED == 0 && control.stop().is_some() {
                return;
            }
            for _ in 0..self.slots.excess(slot) {
                if !self.slots.is_overfull(slot) {
                    break;
                }
                let Some(exception) = self.draw(slot) else { break };
                self.unroute(exception);
                self.route(exception, detour);
            }
        }
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

    /// Gives an exception without a path the cheapest one: among the shortest if they have room, else with a detour.
    fn route(&mut self, exception: u32, detour: u32) {
        let links = self.network.link_count();
        let message = self.exceptions[exception as usize];
        let path = &mut self.paths[exception as usize * self.hops.steps..][..self.hops.steps];
        let price = self.router.route(self.network, message, 0, self.slots.prices(), path);
        let mut slots = path.iter().enumerate().filter(|(_, link)| **link != WAIT);
        if detour > 0 && slots.any(|(step, &link)| self.slots.is_full(step * links + link as usize)) {
            self.router.route_below(self.network, message, detour, self.slots.prices(), price, path);
        }
        for (step, &link) in path.iter().enumerate().filter(|(_, link)| **link != WAIT) {
            let slot = step * links + link as usize;
            self.slots.add(slot);
            self.held[slot].push(exception);
        }
    }

    /// The schedule, with the widths that it needs.
    fn finish(self, problem: &Problem, pattern: &Schedule) -> Option<CompactSchedule> {
        let widths = self.slots.widths().to_vec();
        let mut exceptions: Vec<ChunkId> = self.exceptions.iter().map(|message| message.chunk).collect();
        exceptions.sort_unstable();
        let mut moves = Moves::new(widths.len());
        for (message, path) in self.exceptions.iter().zip(self.paths.chunks(self.hops.steps)) {
            for (step, &link) in path.iter().enumerate().filter(|(_, link)| **link != WAIT) {
                moves.add(step, self.network.ids[link as usize], Op::Copy, [message.chunk]);
            }
        }
        let own = moves.write(problem.topology(), |step, _| Some(widths[step]));
        let mut builder = Schedule::builder();
        for (step, &width) in pattern.steps().zip(&widths) {
            builder.step(width);
            for transfer in step.transfers {
                let chunks = pattern.chunks(transfer).iter().copied();
                builder.transfer(transfer.from, transfer.to, transfer.via, transfer.op, chunks);
            }
        }
        with_exceptions(problem, builder.finish(), exceptions, own).ok()
    }
}
