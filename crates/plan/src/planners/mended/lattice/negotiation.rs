//! Overfull slots give up messages until none is overfull.

use std::collections::VecDeque;

use fastrand::Rng;

use super::quotient::{FULL, Quotient, UNIT_OF_CLASS, WAIT};
use super::search::{NONE, Search};
use super::ways::Ways;
use crate::model::control::{Control, Progress};
use crate::model::widths::even_widths;

/// The most widths tried.
const ATTEMPTS: u32 = 12;
/// Messages tried in an overfull slot before excess is passed on.
const TRIED: usize = 6;
/// One in this many may take a detour.
const DETOURS: usize = 4;
/// Draws of a message that may go either way around.
const DRAWS: usize = 24;
/// Messages tried before the widths grow, for each message of a cell; and those after which excess has to be less.
const MOST_TRIED: u64 = 4;
const PATIENCE: f64 = 0.5;
/// What the excess has to fall to within [`PATIENCE`], in percent.
const PROGRESS: u64 = 95;
/// Passes over all messages that make loads even, and what a message has to gain there to leave its path: the fewer do,
/// the smaller the file.
const PASSES: u64 = 2;
const WORTH_LEAVING: u32 = 4 * UNIT_OF_CLASS;
/// Slots, or messages, between two looks at the clock.
const POLLED: u64 = 1024;

/// Ways that a message may take beside its shortest.
#[derive(Clone, Copy, PartialEq)]
enum Others {
    None,
    /// Any one of its detours: there are many, and all together take twenty times as long as its shortest ways.
    OneDetour,
    AllDetours,
    /// The longer ways around a dimension.
    Around(usize),
}

/// Paths of the messages of all representatives.
pub(super) struct Negotiation<'a> {
    pub quotient: Quotient,
    ways: &'a Ways,
    /// The paths of a rank's messages by the template, `[chunk * steps + step]`.
    pub template: Vec<u8>,
    /// `[(representative * chunks + chunk) * steps + step]`
    pub paths: Vec<u8>,
    /// The positions of the representatives.
    pub origins: Vec<Vec<usize>>,
    /// Messages that cross each slot, and some that left it.
    users: Vec<Vec<u32>>,
    search: Search,
    rng: Rng,
}

impl<'a> Negotiation<'a> {
    /// All messages follow the template, but for those that cross dead links: they take their cheapest path.
    /// `None` if one of these can only go farther around than by two hops more.
    pub fn new(quotient: Quotient, ways: &'a Ways, template: Vec<u8>, seed: u64) -> Option<Self> {
        let origins: Vec<Vec<usize>> = (0..quotient.cell()).map(|number| quotient.position(number)).collect();
        let mut this = Self {
            paths: template.repeat(origins.len()),
            users: vec![Vec::new(); quotient.load.len()],
            quotient,
            ways,
            template,
            origins,
            search: Search::default(),
            rng: Rng::with_seed(seed),
        };
        let mut broken = Vec::new();
        for message in 0..this.origins.len() * ways.chunks() {
            let slots = this.slots(message);
            if slots.iter().any(|&slot| this.quotient.dead[slot / this.quotient.steps]) {
                broken.push(message);
            } else {
                slots.into_iter().for_each(|slot| this.enter(message, slot));
            }
        }
        this.quotient.reprice_all();
        this.rng.shuffle(&mut broken);
        for message in broken {
            let mut path = vec![WAIT; this.quotient.steps];
            let mut is_near = |others| this.cheapest(message, others, NONE, &mut path) < NONE;
            if !is_near(Others::None) && !is_near(Others::AllDetours) {
                return None;
            }
            this.put(message, &path);
        }
        Some(this)
    }

    /// Makes loads even: messages that gain enough take the shortest ways that are least loaded.
    pub fn level(&mut self, control: &Control) {
        self.quotient.level(true);
        let mut messages: Vec<usize> = (0..self.origins.len() * self.ways.chunks()).collect();
        let mut path = vec![WAIT; self.quotient.steps];
        for pass in 0..PASSES {
            self.report(control, pass, self.quotient.excess());
            self.rng.shuffle(&mut messages);
            for (count, &message) in messages.iter().enumerate() {
                if (count as u64).is_multiple_of(POLLED) && control.stop().is_some() {
                    break;
                }
                let slots = self.slots(message);
                let worth = self.leave(&slots).saturating_sub(WORTH_LEAVING);
                if self.cheapest(message, Others::None, worth, &mut path) < NONE {
                    self.put(message, &path);
                } else {
                    slots.iter().for_each(|&slot| self.quotient.add(slot));
                }
            }
        }
        self.quotient.level(false);
    }

    /// Moves messages until they fit in steps as narrow as this finds, of this total width or more; returns the widths.
    ///
    /// Wider by 1, 2, 4, .. until all fit; then halfway back to what was too narrow.
    pub fn narrowest(&mut self, least: u32, control: &Control) -> Vec<u32> {
        let total = |widths: &[u32]| widths.iter().sum::<u32>();
        let mut best = (self.quotient.fitting_widths(), self.paths.clone());
        let (mut too_narrow, mut width) = (least - 1, least);
        for attempt in 0..ATTEMPTS {
            self.quotient.resize(even_widths(width, self.quotient.steps as u32));
            if !self.run(control) {
                too_narrow = width;
            }
            let widths = self.quotient.fitting_widths();
            if total(&widths) < total(&best.0) {
                best = (widths, self.paths.clone());
            }
            let halfway = too_narrow.midpoint(total(&best.0));
            width = halfway.min(too_narrow + (1 << attempt));
            if width <= too_narrow || control.stop().is_some() {
                break;
            }
        }
        self.paths = best.1;
        best.0
    }

    /// The steps of a message.
    pub fn path(&self, message: usize) -> &[u8] {
        &self.paths[message * self.quotient.steps..][..self.quotient.steps]
    }

    /// Moves messages until no slot is overfull, too many were tried, or time is up. Is no slot overfull?
    fn run(&mut self, control: &Control) -> bool {
        let mut queue: VecDeque<usize> =
            (0..self.quotient.load.len()).filter(|&slot| self.quotient.is_overfull(slot)).collect();
        let messages = (self.origins.len() * self.ways.chunks()) as u64;
        let (mut tried, mut round) = (0, 0);
        let (mut least, mut since) = (u64::MAX / 100, 0);
        while let Some(slot) = queue.pop_front() {
            if !self.quotient.is_overfull(slot) {
                continue;
            }
            if round % POLLED == 0 {
                let excess = self.quotient.excess();
                self.report(control, round / POLLED, excess);
                if excess * 100 <= least * PROGRESS {
                    (least, since) = (excess, tried);
                }
                let is_stale = tried - since > (messages as f64 * PATIENCE) as u64;
                if is_stale || tried >= MOST_TRIED * messages || control.stop().is_some() {
                    return false;
                }
            }
            round += 1;
            tried += self.relieve(slot, &mut queue);
            if self.quotient.is_overfull(slot) {
                queue.push_back(slot);
            }
        }
        self.quotient.excess() == 0
    }

    /// One message leaves a slot: the first of some that finds room, or the one whose move costs least. Returns how
    /// many were tried.
    fn relieve(&mut self, slot: usize, queue: &mut VecDeque<usize>) -> u64 {
        let (steps, chunks) = (self.quotient.steps, self.ways.chunks());
        let dim = slot / steps % self.quotient.directions / 2;
        let is_odd = !(self.ways.extents[dim] / self.quotient.period[dim]).is_multiple_of(2);
        let mut path = vec![WAIT; steps];
        let mut best: Option<(i64, usize, Vec<u8>)> = None;
        let (mut tried, mut is_free) = (0, false);
        while tried < TRIED && !is_free && !self.users[slot].is_empty() {
            let mut at = self.rng.usize(..self.users[slot].len());
            // Around an odd number of cells, one way meets fewer faces than the other.
            let turns = is_odd && tried % 2 == 1;
            for _ in 0..DRAWS {
                if !turns || self.ways.is_either(self.users[slot][at] as usize % chunks, dim) {
                    break;
                }
                at = self.rng.usize(..self.users[slot].len());
            }
            let message = self.users[slot][at] as usize;
            let slots = self.slots(message);
            if !slots.contains(&slot) {
                self.users[slot].swap_remove(at);
                continue;
            }
            tried += 1;
            let before = i64::from(self.leave(&slots));
            let others = match tried.is_multiple_of(DETOURS) {
                _ if turns => Others::Around(dim),
                true => Others::OneDetour,
                false => Others::None,
            };
            // Only a better move than the best so far counts.
            let limit = best.as_ref().map_or(NONE, |best| (best.0 + before).clamp(0, i64::from(NONE)) as u32);
            let price = self.cheapest(message, others, limit, &mut path);
            slots.iter().for_each(|&slot| self.quotient.add(slot));
            if price < NONE {
                let more = i64::from(price) - before;
                is_free = more <= -i64::from(FULL / 2);
                best = Some((more, message, path.clone()));
            }
        }
        self.quotient.remember(slot);
        if let Some((_, message, path)) = best {
            self.slots(message).into_iter().for_each(|slot| self.quotient.take(slot));
            for entered in self.put(message, &path) {
                if entered != slot && self.quotient.is_overfull(entered) {
                    queue.push_back(entered);
                }
            }
        }
        tried as u64
    }

    /// The cheapest path of a message that is in no slot, along its shortest ways or these others; its price if that is
    /// below a limit, or [`NONE`].
    fn cheapest(&mut self, message: usize, others: Others, limit: u32, path: &mut [u8]) -> u32 {
        let (origin, chunk) = (&self.origins[message / self.ways.chunks()], message % self.ways.chunks());
        let (q, rng) = (&self.quotient, &mut self.rng);
        let shortest = self.search.cheapest(q, origin, self.ways.shortest(chunk), limit, rng, path);
        let mut ways = match others {
            Others::None => return shortest,
            Others::OneDetour | Others::AllDetours => self.ways.detours(chunk),
            Others::Around(dim) => self.ways.around(chunk, dim),
        };
        if others == Others::OneDetour && !ways.is_empty() {
            ways = vec![ways.swap_remove(rng.usize(..ways.len()))];
        }
        self.search.cheapest(q, origin, &ways, limit.min(shortest), rng, path).min(shortest)
    }

    /// Takes a message out of its slots, without forgetting it there; returns what they cost then.
    fn leave(&mut self, slots: &[usize]) -> u32 {
        slots.iter().for_each(|&slot| self.quotient.take(slot));
        slots.iter().map(|&slot| self.quotient.price[slot]).sum()
    }

    /// Gives a path to a message that has none; returns its slots.
    fn put(&mut self, message: usize, path: &[u8]) -> Vec<usize> {
        let steps = self.quotient.steps;
        self.paths[message * steps..][..steps].copy_from_slice(path);
        let slots = self.slots(message);
        for &slot in &slots {
            self.quotient.add(slot);
            self.users[slot].push(message as u32);
        }
        slots
    }

    /// Counts a message of the template; prices come later.
    fn enter(&mut self, message: usize, slot: usize) {
        self.quotient.load[slot] += 1;
        self.users[slot].push(message as u32);
    }

    fn slots(&self, message: usize) -> Vec<usize> {
        let mut slots = Vec::new();
        self.quotient.walk(&self.origins[message / self.ways.chunks()], self.path(message), |slot| slots.push(slot));
        slots
    }

    fn report(&self, control: &Control, round: u64, remaining: u64) {
        let q = &self.quotient;
        let attempt = format!("{} steps, width {}", q.steps, q.widths.iter().sum::<u32>());
        let planner = crate::planners::mended::CompactPlan::PLANNER;
        control.report(Progress { planner, attempt: &attempt, round, remaining });
    }
}
