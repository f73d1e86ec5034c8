//! Negotiation: who moves out of an overfull slot?
//!
//! A *slot* is a link in a step; its *room* is width times capacity. Every message always has a path; slots may be
//! overfull. In each round, every message that crosses an overfull slot is routed anew on its cheapest path. The price
//! of a slot is
//!
//! ```text
//!   hop price + history + (pressure * what it would be over its room)
//! ```
//!
//! History grows a little in every round in which the slot ends overfull, and stays: slots that many messages want
//! become dear for good, and the messages that have a choice leave (McMurchie and Ebeling, "PathFinder", FPGA 1995).

use fastrand::Rng;

use super::network::{Message, Network};
use super::router::{Router, WAIT};
use crate::plan::Control;

/// What a hop costs in an empty slot without history.
const HOP_PRICE: u32 = 1;
/// What a chunk too many adds to the history of a slot, each round.
const HISTORY: u32 = 1;
/// Pressure begins at 1 and rises by this factor a round, up to a cap that differs from try to try.
const PRESSURE_GROWTH: f64 = 1.1;
/// How many hops more than the shortest path a message may take when there is no room on the shortest ones.
const DETOUR: u32 = 2;

/// Paths of all messages through the slots of an attempt.
pub(super) struct Negotiation<'a> {
    network: &'a Network,
    messages: &'a [Message],
    steps: usize,
    widths: Vec<u32>,
    router: Router,
    rng: Rng,
    /// The order in which messages are looked at; shuffled every round.
    order: Vec<u32>,
    /// `paths[message * steps + step]` is a live link or [`WAIT`].
    paths: Vec<u16>,
    slots: Slots,
    scanned: u64,
}

/// Per slot, `[step * links + link]`.
struct Slots {
    room: Vec<u32>,
    used: Vec<u32>,
    history: Vec<u32>,
    price: Vec<u32>,
    pressure: f64,
    pressure_cap: f64,
}

impl<'a> Negotiation<'a> {
    /// Begins with the given paths; a message without any hop is routed at once. A high cap of the pressure settles
    /// conflicts fast; a low one lets messages cross overfull slots for longer, which frees jams.
    pub fn new(
        network: &'a Network,
        messages: &'a [Message],
        widths: Vec<u32>,
        paths: Vec<u16>,
        pressure_cap: f64,
        seed: u64,
    ) -> Self {
        let steps = widths.len();
        let room: Vec<u32> =
            widths.iter().flat_map(|&width| network.capacity.iter().map(move |&c| width.saturating_mul(c))).collect();
        let mut rng = Rng::with_seed(seed);
        let mut order: Vec<u32> = (0..messages.len() as u32).collect();
        rng.shuffle(&mut order);
        order.sort_by_key(|&m| {
            let message = messages[m as usize];
            std::cmp::Reverse(network.distance(message.origin, message.dest))
        });
        let slots = Slots {
            used: vec![0; room.len()],
            history: vec![HOP_PRICE; room.len()],
            price: vec![0; room.len()],
            room,
            pressure: 1.0,
            pressure_cap,
        };
        let mut negotiation = Self {
            network,
            messages,
            steps,
            widths,
            router: Router::new(network),
            rng,
            order,
            paths,
            slots,
            scanned: 0,
        };
        negotiation.place_all();
        negotiation
    }

    /// Chunks too many, summed over all slots; 0: done.
    pub fn overfull(&self) -> u64 {
        self.slots.used.iter().zip(&self.slots.room).map(|(&used, &room)| u64::from(used.saturating_sub(room))).sum()
    }

    /// Effort so far: links looked at by the router, and hops looked at by the rounds.
    pub fn work(&self) -> u64 {
        self.router.work() + self.scanned
    }

    /// One round: routes anew what crosses an overfull slot, then raises prices. Ends early when told to stop.
    pub fn round(&mut self, control: &Control) {
        let mut order = std::mem::take(&mut self.order);
        self.rng.shuffle(&mut order);
        for (index, &m) in order.iter().enumerate() {
            if index % 4096 == 0 && control.stop().is_some() {
                break;
            }
            let range = m as usize * self.steps..(m as usize + 1) * self.steps;
            if self.slots.crosses_overfull(&self.paths[range.clone()], self.network.link_count()) {
                self.remove(m);
                self.route(m);
            }
        }
        self.order = order;
        self.scanned += self.paths.len() as u64;
        self.slots.raise();
    }

    /// Takes one unit of width from the step that is contended least and gives it to the one contended most; not from a
    /// step of width 1. Contention is history: chunks too many, summed over the links of the step and over all rounds.
    pub fn shift_width(&mut self) {
        let links = self.network.link_count();
        let contention =
            |step: usize| self.slots.history[step * links..][..links].iter().map(|&h| u64::from(h)).sum::<u64>();
        let most = (0..self.steps).max_by_key(|&step| contention(step));
        let least = (0..self.steps).filter(|&step| self.widths[step] > 1).min_by_key(|&step| contention(step));
        let (Some(most), Some(least)) = (most, least) else { return };
        if most == least {
            return;
        }
        self.widths[most] += 1;
        self.widths[least] -= 1;
        for step in [most, least] {
            for (link, &capacity) in self.network.capacity.iter().enumerate() {
                let slot = step * links + link;
                self.slots.room[slot] = self.widths[step].saturating_mul(capacity);
                self.slots.reprice(slot);
            }
        }
    }

    /// Makes every step wide enough for what crosses it.
    pub fn widen(&mut self) {
        let links = self.network.link_count();
        for (step, width) in self.widths.iter_mut().enumerate() {
            let used = &self.slots.used[step * links..][..links];
            let needed = used.iter().zip(&self.network.capacity).map(|(used, &capacity)| used.div_ceil(capacity)).max();
            *width = needed.unwrap_or(0).max(1);
        }
    }

    /// The widths, and the paths, `paths[message * steps + step]`.
    pub fn into_parts(self) -> (Vec<u32>, Vec<u16>) {
        (self.widths, self.paths)
    }

    /// Counts the paths there are, then routes the messages that have none.
    fn place_all(&mut self) {
        let links = self.network.link_count();
        self.slots.reprice_all();
        let mut homeless = Vec::new();
        for &m in &self.order {
            let path = &self.paths[m as usize * self.steps..][..self.steps];
            if path.iter().all(|&link| link == WAIT) {
                homeless.push(m);
            }
            for (step, &link) in path.iter().enumerate().filter(|&(_, &link)| link != WAIT) {
                self.slots.add(step * links + usize::from(link));
            }
        }
        for m in homeless {
            self.route(m);
        }
    }

    fn remove(&mut self, message: u32) {
        let links = self.network.link_count();
        let path = &self.paths[message as usize * self.steps..][..self.steps];
        for (step, &link) in path.iter().enumerate().filter(|&(_, &link)| link != WAIT) {
            self.slots.take(step * links + usize::from(link));
        }
    }

    /// Gives a message that has no path the cheapest one: among the shortest if there is room, else with a detour.
    fn route(&mut self, message: u32) {
        let links = self.network.link_count();
        let path = &mut self.paths[message as usize * self.steps..][..self.steps];
        let what = self.messages[message as usize];
        self.router.route(self.network, what, 0, &self.slots.price, path);
        if self.slots.would_overfill(path, links) {
            self.router.route(self.network, what, DETOUR, &self.slots.price, path);
        }
        for (step, &link) in path.iter().enumerate().filter(|&(_, &link)| link != WAIT) {
            self.slots.add(step * links + usize::from(link));
        }
    }
}

impl Slots {
    fn add(&mut self, slot: usize) {
        self.used[slot] += 1;
        self.reprice(slot);
    }

    fn take(&mut self, slot: usize) {
        self.used[slot] -= 1;
        self.reprice(slot);
    }

    fn reprice(&mut self, slot: usize) {
        let over = (self.used[slot] + 1).saturating_sub(self.room[slot]);
        self.price[slot] = self.history[slot].saturating_add(over.saturating_mul(self.pressure as u32));
    }

    fn reprice_all(&mut self) {
        for slot in 0..self.price.len() {
            self.reprice(slot);
        }
    }

    /// The end of a round: what is overfull becomes dearer for good, and overfilling dearer altogether.
    fn raise(&mut self) {
        for slot in 0..self.price.len() {
            let over = self.used[slot].saturating_sub(self.room[slot]);
            self.history[slot] = self.history[slot].saturating_add(over * HISTORY);
        }
        self.pressure = (self.pressure * PRESSURE_GROWTH).min(self.pressure_cap);
        self.reprice_all();
    }

    fn crosses_overfull(&self, path: &[u16], links: usize) -> bool {
        self.any(path, links, |slot| self.used[slot] > self.room[slot])
    }

    fn would_overfill(&self, path: &[u16], links: usize) -> bool {
        self.any(path, links, |slot| self.used[slot] >= self.room[slot])
    }

    fn any(&self, path: &[u16], links: usize, holds: impl Fn(usize) -> bool) -> bool {
        path.iter().enumerate().any(|(step, &link)| link != WAIT && holds(step * links + usize::from(link)))
    }
}
