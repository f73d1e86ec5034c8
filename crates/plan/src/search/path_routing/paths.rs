//! Paths of messages, and the rounds that reroute those crossing overfull slots.

use fastrand::Rng;

use super::router::Router;
use crate::model::control::Control;
use crate::model::network::{LiveLink, Message, Network, WAIT};
use crate::search::negotiation::{Negotiation, Slots, Start};

/// Hops beyond the distance that a message may take when its shortest paths are full.
const DETOUR: u32 = 2;
/// The same in every other patient try.
const LONG_DETOUR: u32 = 4;

/// Messages between two looks at the clock.
const POLLED: usize = 4096;

/// Paths of all messages through the slots of a try; a column is a live link.
pub(crate) struct Paths<'a> {
    network: &'a Network,
    messages: &'a [Message],
    steps: usize,
    router: Router,
    rng: Rng,
    /// The order in which messages are examined; shuffled every round.
    order: Vec<u32>,
    /// `paths[message * steps + step]` is a live link or [`WAIT`].
    paths: Vec<LiveLink>,
    slots: Slots,
    /// Hops beyond the distance that a message may take.
    detour: u32,
    scanned: u64,
}

impl<'a> Paths<'a> {
    /// Begins with the given paths and routes the messages that have none; `None` if `abandon` becomes true meanwhile.
    pub fn new(
        network: &'a Network,
        messages: &'a [Message],
        start: Start,
        paths: Vec<LiveLink>,
        abandon: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let mut rng = Rng::with_seed(start.seed);
        if abandon() {
            return None;
        }
        let order = farthest_first(network, messages, &mut rng);
        let mut this = Self {
            network,
            messages,
            steps: start.widths.len(),
            router: Router::new(network),
            rng,
            order,
            paths,
            slots: Slots::new(start.widths, network.capacity.clone(), 1.0..=start.pressure_cap),
            detour: if start.patient && start.number % 2 == 1 { LONG_DETOUR } else { DETOUR },
            scanned: 0,
        };
        let mut has_path = Vec::with_capacity(messages.len());
        for (index, path) in this.paths.chunks(this.steps).enumerate() {
            if index % POLLED == 0 && abandon() {
                return None;
            }
            has_path.push(path.iter().any(|&link| link != WAIT));
            slots_of(path, network.link_count()).for_each(|slot| this.slots.add(slot));
        }
        let without_path: Vec<u32> = this.order.iter().copied().filter(|&m| !has_path[m as usize]).collect();
        for (index, message) in without_path.into_iter().enumerate() {
            if index % POLLED == 0 && abandon() {
                return None;
            }
            this.route(message);
        }
        Some(this)
    }

    /// Takes a message off its path if the path crosses an overfull slot.
    fn evict(&mut self, message: u32) -> bool {
        let path = &self.paths[message as usize * self.steps..][..self.steps];
        let slots = || slots_of(path, self.network.link_count());
        if !slots().any(|slot| self.slots.is_overfull(slot)) {
            return false;
        }
        slots().for_each(|slot| self.slots.take(slot));
        true
    }

    /// Gives a message without a path the cheapest one: among the shortest if they have room, else with a detour.
    fn route(&mut self, message: u32) {
        let links = self.network.link_count();
        let path = &mut self.paths[message as usize * self.steps..][..self.steps];
        let message = self.messages[message as usize];
        self.router.route(self.network, message, 0, self.slots.prices(), path);
        if slots_of(path, links).any(|slot| self.slots.is_full(slot)) {
            self.router.route(self.network, message, self.detour, self.slots.prices(), path);
        }
        slots_of(path, links).for_each(|slot| self.slots.add(slot));
    }
}

impl Negotiation for Paths<'_> {
    type Routes = Vec<LiveLink>;

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }

    fn round(&mut self, control: &Control) {
        let mut order = std::mem::take(&mut self.order);
        self.rng.shuffle(&mut order);
        for (index, &message) in order.iter().enumerate() {
            if index % POLLED == 0 && control.stop().is_some() {
                break;
            }
            if self.evict(message) {
                self.route(message);
            }
        }
        self.order = order;
        self.scanned += self.paths.len() as u64;
    }

    /// Links and hops examined.
    fn work(&self) -> u64 {
        self.router.work() + self.scanned
    }

    fn into_routes(self) -> Vec<LiveLink> {
        self.paths
    }
}

/// The messages in random order, those that go farthest first. Counted, not compared: whole pods have millions.
fn farthest_first(network: &Network, messages: &[Message], rng: &mut Rng) -> Vec<u32> {
    let mut shuffled: Vec<u32> = (0..messages.len() as u32).collect();
    rng.shuffle(&mut shuffled);
    let distance = |message: &Message| network.distance(message.origin, message.dest) as usize;
    let mut next = vec![0; messages.iter().map(distance).max().map_or(0, |most| most + 1)];
    messages.iter().for_each(|message| next[distance(message)] += 1);
    let mut first = 0;
    for place in next.iter_mut().rev() {
        first += std::mem::replace(place, first);
    }
    let mut order = vec![0; messages.len()];
    for m in shuffled {
        let place = &mut next[distance(&messages[m as usize])];
        order[*place] = m;
        *place += 1;
    }
    order
}

/// The slots a path crosses, in the order of the steps.
fn slots_of(path: &[LiveLink], links: usize) -> impl Iterator<Item = usize> {
    let hops = path.iter().enumerate().filter(|&(_, &link)| link != WAIT);
    hops.map(move |(step, &link)| step * links + link as usize)
}
