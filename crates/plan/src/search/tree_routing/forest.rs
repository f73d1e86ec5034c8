//! The trees of all chunks, and the rounds that move arrivals out of overfull slots.
//!
//! The unit that moves is an *arrival*: the one link and step by which a rank gets a chunk. It may move to any link
//! from a rank that has the chunk by then, and to any step before the rank first forwards the chunk; so the tree stays
//! a tree. Now and then a whole congested tree is routed again.
//!
//! Trees may come in pairs that share the time: while one goes up (the mirror image in time), the other cannot go down
//! yet. If one leaves its root in step `a` and the other, by its own clock, in step `b`, of `S` steps, then `a + b >=
//! S`:
//!
//! ```text
//!   step      0  1  2  3  4  5  6
//!   first              | --------->     leaves its root in step 3 at the earliest ...
//!   second    <--------|                ... since the other, which runs backward, leaves it in its step 4
//! ```
//!
//! A link goes either up or down in a step. So in the first half of its time such a tree keeps to slots with room for
//! one chunk, which no other tree can share.

use fastrand::Rng;

use super::timed_network::TimedNetwork;
use super::tree_router::{Arrival, TreeRouter};
use crate::model::control::Control;
use crate::model::network::{LiveLink, Message, WAIT};
use crate::search::negotiation::{Negotiation, Slots, Start};
use crate::search::path_routing::Router;
use collsynth_core::collective::ChunkId;

/// One round in this number regrows the trees that still cross an overfull slot. On 14 all-reduces with failures 6, 12
/// and 24 give the same widths in about 252, 248 and 250 steps; hardly ever regrowing takes 15 % more width.
const REROUTE_ROUNDS: u32 = 12;
/// Trees that become congested only while others are regrown mostly do better if left to the next rounds; but one try
/// in this number, the one of this remainder, regrows them at once. Measured on the same 14, it changes no width: kept
/// for variety among tries.
const CASCADING: (u64, u64) = (4, 2);

/// Hops beyond the distance that a path may take when its shortest ones are full.
const DETOUR: u32 = 2;

/// A tree to route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeSpec {
    pub root: u32,
    /// The index of its network.
    pub network: usize,
    /// The tree with which it shares the time, perhaps itself.
    pub partner: Option<usize>,
    /// The step, by its own clock, in which it may first leave its root if both are routed at once; `None`: a random
    /// one near the middle.
    pub parts_in: Option<u16>,
    /// The set of ranks of its network that it must reach; none: all. It passes through others only on the way.
    pub targets: Option<u32>,
    /// Is there one target, whose number is that of its set? The path to it moves as a whole.
    pub is_path: bool,
}

impl TreeSpec {
    /// A tree in the first network, free to use all of the time.
    pub fn alone(root: u32) -> Self {
        Self { root, network: 0, partner: None, parts_in: None, targets: None, is_path: false }
    }
}

/// Trees and their routes.
pub(crate) struct RoutedTrees {
    pub specs: Vec<TreeSpec>,
    /// `arrivals[tree * ranks + rank]`.
    pub arrivals: Vec<Arrival>,
}

/// All trees of a try.
pub(crate) struct Forest<'a> {
    networks: &'a [TimedNetwork],
    specs: Vec<TreeSpec>,
    ranks: usize,
    steps: u16,
    /// The number of steps just before the middle that are 1 wide.
    narrow: u16,
    slots: Slots,
    /// `arrivals[tree * ranks + rank]`.
    arrivals: Vec<Arrival>,
    router: TreeRouter,
    /// Finds paths near the shortest; for networks in which they have slots of their own.
    path_router: Option<Router>,
    is_plain: Vec<bool>,
    path: Vec<LiveLink>,
    rng: Rng,
    /// Are all trees checked when trees are rerouted, or only those congested at the beginning of the round?
    cascading: bool,
    rounds: u32,
    work: u64,
}

impl<'a> Forest<'a> {
    /// These trees, routed one after another, each at the prices the others leave; `None` if `abandon` becomes true
    /// meanwhile. All networks have the same slots.
    pub fn new(
        networks: &'a [TimedNetwork],
        specs: Vec<TreeSpec>,
        start: Start,
        abandon: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let timed = &networks[0];
        let ranks = timed.network.rank_count();
        let steps = start.widths.len() as u16;
        let before = start.widths[..start.widths.len() / 2].iter().rev();
        let narrow = before.take_while(|&&width| width == 1).count() as u16;
        let mut this = Self {
            networks,
            ranks,
            steps,
            narrow,
            slots: Slots::new(timed.rows(start.widths), timed.capacity.clone(), 1.0..=start.pressure_cap),
            arrivals: vec![Arrival::NONE; specs.len() * ranks],
            specs,
            router: TreeRouter::default(),
            path_router: Some(Router::new(&timed.network)),
            is_plain: networks.iter().map(TimedNetwork::is_plain).collect(),
            path: Vec::new(),
            rng: Rng::with_seed(start.seed),
            cascading: start.number % CASCADING.0 == CASCADING.1,
            rounds: 0,
            work: 0,
        };
        let mut trees: Vec<usize> = (0..this.specs.len()).collect();
        this.rng.shuffle(&mut trees);
        for tree in trees {
            if abandon() {
                return None;
            }
            match this.specs[tree].partner {
                // Routed with the first of the two.
                Some(partner) if partner < tree => {}
                Some(partner) if partner > tree => this.route_pair(tree, partner),
                _ => this.route(tree, this.earliest(tree)),
            }
        }
        Some(this)
    }

    fn timed(&self, tree: usize) -> &'a TimedNetwork {
        &self.networks[self.specs[tree].network]
    }

    fn slot(&self, tree: usize, arrival: Arrival) -> usize {
        self.timed(tree).slot(arrival.link, arrival.step, self.steps)
    }

    /// The prices of a step's slots for a tree, by link; the maximum if the tree must not use them.
    fn prices(&self, tree: usize, step: u16) -> impl Fn(LiveLink) -> u32 {
        let shared = self.specs[tree].partner.is_some() && 2 * step < self.steps;
        let (first, columns) = self.timed(tree).row(step, self.steps);
        let prices = &self.slots.prices()[first..][..self.slots.columns()];
        move |link| {
            let column = columns[link as usize] as usize;
            if shared && self.slots.room(first + column) > 1 { u32::MAX } else { prices[column] }
        }
    }

    fn tree(&self, tree: usize) -> &[Arrival] {
        &self.arrivals[tree * self.ranks..][..self.ranks]
    }

    /// The steps in which a rank of a tree sends.
    fn sending(&self, tree: usize, rank: u32) -> impl Iterator<Item = u16> + '_ {
        let (network, arrivals) = (&self.timed(tree).network, self.tree(tree));
        let child = |&link: &u32| (link, arrivals[network.to[link as usize] as usize]);
        network.out(rank).iter().map(child).filter(|&(link, child)| child.link == link).map(|(_, child)| child.step)
    }

    /// The first step in which a tree may leave its root.
    fn earliest(&self, tree: usize) -> u16 {
        match self.specs[tree].partner {
            None => 0,
            Some(partner) if partner == tree => self.steps.div_ceil(2),
            Some(partner) => self.steps - self.sending(partner, self.specs[partner].root).min().unwrap_or(self.steps),
        }
    }

    /// Routes a tree that occupies no slot, from this step on.
    fn route(&mut self, tree: usize, first: u16) {
        if self.specs[tree].is_path && self.is_plain[self.specs[tree].network] && first == 0 {
            return self.route_path(tree);
        }
        let (timed, root, steps) = (self.timed(tree), self.specs[tree].root, self.steps);
        let mut router = std::mem::take(&mut self.router);
        let mut arrivals = vec![Arrival::NONE; self.ranks];
        let set = self.specs[tree].targets;
        let targets = |rank: u32| timed.is_target(set, rank);
        router.route(&timed.network, root, first..steps, |step| self.prices(tree, step), targets, &mut arrivals);
        self.router = router;
        self.arrivals[tree * self.ranks..][..self.ranks].copy_from_slice(&arrivals);
        for rank in 0..self.ranks {
            let arrival = self.tree(tree)[rank];
            if arrival.link != WAIT {
                self.slots.add(self.slot(tree, arrival));
            }
        }
        self.work += u64::from(steps - first) * timed.network.link_count() as u64;
    }

    /// Routes a path that occupies no slot: among the shortest if they have room, else with a detour.
    fn route_path(&mut self, tree: usize) {
        let (network, spec) = (&self.timed(tree).network, self.specs[tree]);
        let message = Message { origin: spec.root, dest: spec.targets.unwrap_or(spec.root), chunk: ChunkId(0) };
        let Some(mut router) = self.path_router.take() else { return };
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        path.resize(usize::from(self.steps), WAIT);
        let before = router.work();
        let links = network.link_count();
        let slots = |path: &[LiveLink]| -> Vec<usize> {
            let hops = path.iter().enumerate().filter(|&(_, &link)| link != WAIT);
            hops.map(|(step, &link)| step * links + link as usize).collect()
        };
        router.route(network, message, 0, self.slots.prices(), &mut path);
        if slots(&path).into_iter().any(|slot| self.slots.is_full(slot)) {
            router.route(network, message, DETOUR, self.slots.prices(), &mut path);
        }
        slots(&path).into_iter().for_each(|slot| self.slots.add(slot));
        let arrivals = &mut self.arrivals[tree * self.ranks..][..self.ranks];
        arrivals.fill(Arrival::NONE);
        for (step, &link) in path.iter().enumerate().filter(|(_, link)| **link != WAIT) {
            arrivals[network.to[link as usize] as usize] = Arrival { link, step: step as u16 };
        }
        self.work += router.work() - before;
        (self.path_router, self.path) = (Some(router), path);
    }

    /// Routes two trees that share the time; unless it is stated which step parts them, a random one does if they may
    /// meet in narrow steps in the middle.
    fn route_pair(&mut self, tree: usize, partner: usize) {
        let farthest = |tree: usize| self.timed(tree).farthest_target(self.specs[tree].targets, self.specs[tree].root);
        let earliest = farthest(partner).max(self.steps / 2 - self.narrow);
        let latest = self.steps.saturating_sub(farthest(tree)).min(self.steps.div_ceil(2) + self.narrow);
        let first = self.specs[tree].parts_in.unwrap_or_else(|| self.rng.u16(earliest.min(latest)..=latest));
        self.route(tree, first);
        self.route(partner, self.earliest(partner));
    }

    fn remove(&mut self, tree: usize) {
        for rank in 0..self.ranks {
            let arrival = self.tree(tree)[rank];
            if arrival.link != WAIT {
                self.slots.take(self.slot(tree, arrival));
            }
        }
    }

    fn is_congested(&self, tree: usize, arrival: Arrival) -> bool {
        arrival.link != WAIT && self.slots.is_overfull(self.slot(tree, arrival))
    }

    /// Removes and routes again a tree that still crosses an overfull slot; half of the time with its partner.
    fn reroute(&mut self, tree: usize) {
        if !self.tree(tree).iter().any(|&arrival| self.is_congested(tree, arrival)) {
            return;
        }
        match self.specs[tree].partner {
            Some(partner) if partner != tree && self.rng.bool() => {
                self.remove(tree);
                self.remove(partner);
                self.route_pair(tree, partner);
            }
            _ => {
                self.remove(tree);
                self.route(tree, self.earliest(tree));
            }
        }
    }

    /// Moves an arrival to its cheapest slot, if it crosses an overfull one.
    fn reattach(&mut self, tree: usize, rank: u32) {
        let now = self.tree(tree)[rank as usize];
        // A relay may have been pruned meanwhile.
        if !self.is_congested(tree, now) {
            return;
        }
        self.slots.take(self.slot(tree, now));
        let (timed, root) = (self.timed(tree), self.specs[tree].root);
        let links = timed.network.entering(rank);
        let turn = self.rng.usize(..links.len().max(1));
        let tree_arrivals = self.tree(tree);
        let (earliest, deadline) = (self.earliest(tree), self.sending(tree, rank).min().unwrap_or(self.steps));

        let (mut best, mut least) = (now, u32::MAX);
        for &link in links[turn..].iter().chain(&links[..turn]) {
            let sender = timed.network.from[link as usize];
            let had = tree_arrivals[sender as usize];
            let from = match (sender == root, had.link) {
                (true, _) => earliest,
                (false, WAIT) => continue,
                (false, _) => had.step + 1,
            };
            for step in from..deadline {
                let price = self.prices(tree, step)(link);
                if price < least {
                    (best, least) = (Arrival { link, step }, price);
                }
            }
        }
        self.work += links.len() as u64 * u64::from(deadline.saturating_sub(earliest));
        self.arrivals[tree * self.ranks + rank as usize] = best;
        self.slots.add(self.slot(tree, best));
        self.prune(tree, timed.network.from[now.link as usize]);
    }

    /// Removes the arrivals that bring a chunk to ranks that neither need it nor pass it on, from this rank up.
    fn prune(&mut self, tree: usize, from: u32) {
        let (timed, spec) = (self.timed(tree), self.specs[tree]);
        let mut rank = from;
        while rank != spec.root
            && !timed.is_target(spec.targets, rank)
            && self.tree(tree)[rank as usize].link != WAIT
            && self.sending(tree, rank).next().is_none()
        {
            let arrival = std::mem::replace(&mut self.arrivals[tree * self.ranks + rank as usize], Arrival::NONE);
            self.slots.take(self.slot(tree, arrival));
            rank = timed.network.from[arrival.link as usize];
        }
    }
}

impl Negotiation for Forest<'_> {
    type Routes = RoutedTrees;

    fn slots(&mut self) -> &mut Slots {
        &mut self.slots
    }

    fn round(&mut self, control: &Control) {
        self.rounds += 1;
        if self.rounds.is_multiple_of(REROUTE_ROUNDS) {
            let congested = |&tree: &usize| {
                self.cascading || self.tree(tree).iter().any(|&arrival| self.is_congested(tree, arrival))
            };
            let mut trees: Vec<usize> = (0..self.specs.len()).filter(congested).collect();
            self.rng.shuffle(&mut trees);
            for tree in trees {
                self.reroute(tree);
            }
            return;
        }
        let mut units: Vec<usize> = (0..self.arrivals.len())
            .filter(|&unit| self.is_congested(unit / self.ranks, self.arrivals[unit]))
            .collect();
        units.dedup_by_key(
            |unit| if self.specs[*unit / self.ranks].is_path { *unit - *unit % self.ranks } else { *unit },
        );
        self.rng.shuffle(&mut units);
        for (index, &unit) in units.iter().enumerate() {
            if index % 4096 == 0 && control.stop().is_some() {
                break;
            }
            match unit / self.ranks {
                tree if self.specs[tree].is_path => self.reroute(tree),
                tree => self.reattach(tree, (unit % self.ranks) as u32),
            }
        }
        self.work += self.arrivals.len() as u64;
    }

    fn shift_width(&mut self) {
        let rows = self.networks[0].rows_of_equal_weight(self.steps);
        // Pairs of trees rely on narrow steps staying narrow.
        let shares = |(tree, spec): (usize, &TreeSpec)| spec.partner.is_some_and(|partner| partner != tree);
        let paired = self.specs.iter().enumerate().any(shares);
        self.slots.shift_width(rows, if paired { 2 } else { 1 });
    }

    /// Slots and arrivals examined.
    fn work(&self) -> u64 {
        self.work
    }

    fn needed_widths(&mut self) -> Vec<u32> {
        self.slots.fit_widths();
        self.networks[0].widths(self.slots.widths(), self.steps)
    }

    fn into_routes(self) -> RoutedTrees {
        RoutedTrees { specs: self.specs, arrivals: self.arrivals }
    }
}
