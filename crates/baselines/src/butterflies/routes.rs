//! The routes of exchanges, and what the links carry.

use std::collections::{HashMap, VecDeque};

use collsynth_bound::link_table::LinkTable;
use collsynth_core::certificate::Rational;
use collsynth_core::topology::{LinkId, RankId, Topology, Torus};

/// Routes along one dimension, in the shorter direction; both, if they are equally long. If a link of all of these
/// failed, a shortest route in the network that is left: of equals, the one that breadth-first search finds first.
pub(super) struct Routes<'a> {
    topology: &'a Topology,
    torus: &'a Torus,
    links: LinkTable,
    known: HashMap<(RankId, RankId), Vec<Vec<LinkId>>>,
}

impl<'a> Routes<'a> {
    pub(super) fn new(topology: &'a Topology, torus: &'a Torus) -> Self {
        Self { topology, torus, links: LinkTable::live(topology), known: HashMap::new() }
    }

    /// One route or two, of equal length, between ranks that differ in one coordinate and are connected.
    pub(super) fn between(&mut self, from: RankId, to: RankId) -> &[Vec<LinkId>] {
        if !self.known.contains_key(&(from, to)) {
            let mut routes: Vec<Vec<LinkId>> =
                [true, false].iter().filter_map(|&up| self.along(from, to, up)).collect();
            if routes.is_empty() {
                routes.push(self.detour(from, to));
            }
            self.known.insert((from, to), routes);
        }
        &self.known[&(from, to)]
    }

    /// The walk up or down the dimension in which the ranks differ, if it is alive and the other is not shorter.
    fn along(&self, from: RankId, to: RankId, up: bool) -> Option<Vec<LinkId>> {
        let differ = |&dim: &usize| self.torus.position(from, dim) != self.torus.position(to, dim);
        let dim = (0..self.torus.extents.len()).find(differ)?;
        let extent = self.torus.extents[dim];
        let offset = (self.torus.position(to, dim) + extent - self.torus.position(from, dim)) % extent;
        let hops = if up { offset } else { extent - offset };
        let mut at = from;
        let walk = (0..hops).map(|_| {
            let link = self.links.get(at, dim, up)?;
            at = self.topology.link(link).to;
            Some(link)
        });
        if 2 * hops > extent { None } else { walk.collect() }
    }

    fn detour(&self, from: RankId, to: RankId) -> Vec<LinkId> {
        let mut entered: Vec<Option<LinkId>> = vec![None; self.topology.rank_count()];
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front().filter(|&at| at != to) {
            for id in self.topology.links_from(at).filter(|&id| self.topology.link(id).alive) {
                let next = self.topology.link(id).to;
                if next != from && entered[next.index()].is_none() && self.topology.is_alive(next) {
                    entered[next.index()] = Some(id);
                    queue.push_back(next);
                }
            }
        }
        let mut route: Vec<LinkId> = Vec::new();
        let mut at = to;
        while let Some(id) = entered[at.index()].filter(|_| at != from) {
            route.push(id);
            at = self.topology.link(id).from;
        }
        route.reverse();
        route
    }

    /// The load of the fullest link per unit of capacity when these amounts are sent at once, in the unit of the
    /// amounts, and the hops of the longest route. If there are two routes, each takes half.
    pub(super) fn fullest(&mut self, sends: impl IntoIterator<Item = ((RankId, RankId), u64)>) -> (Rational, usize) {
        let mut halves = vec![0_u64; self.topology.links().len()];
        let mut longest = 0;
        for ((from, to), amount) in sends {
            let routes = self.between(from, to);
            let share = 2 * amount / routes.len() as u64;
            longest = longest.max(routes[0].len());
            routes.iter().flatten().for_each(|link| halves[link.index()] += share);
        }
        let load = |(link, &halves): (usize, &u64)| {
            Rational::new(halves.into(), 2 * i128::from(self.topology.links()[link].capacity))
        };
        (halves.iter().enumerate().filter(|(_, halves)| **halves > 0).map(load).max().unwrap_or_default(), longest)
    }
}
