//! The machine of a scheme: its broken rings and their routings, and the chunks that each phase moves.

use std::collections::BTreeMap;

use super::routings::{self, BrokenRing, Rings};
use super::scheme::{Acceleration, Scheme};
use collsynth_bound::link_table::LinkTable;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Topology, Torus};
use collsynth_plan::PlanError;
use collsynth_plan::phased::{
    Block, ROUTED, Traveler, Walks, active_dims, check_torus, half_ring_split, rotation_class,
};

pub(super) struct Machine<'a> {
    pub topology: &'a Topology,
    torus: &'a Torus,
    links: LinkTable,
    /// The dimensions of more than one position.
    pub dims: Vec<usize>,
    pub broken: Vec<BrokenRing>,
    /// By broken ring: its acceleration phase; empty if there are none.
    pub groups: Vec<usize>,
    /// The broken rings by dimension and first rank.
    number_of: BTreeMap<(usize, RankId), usize>,
    /// Whether broken rings work in the normal phases.
    pub normal: bool,
}

/// Chunks that a broken ring must move from one position to another.
pub(super) struct Errand {
    pub from: u32,
    pub to: u32,
    pub chunks: Vec<ChunkId>,
}

impl<'a> Machine<'a> {
    /// The machine of a problem, with the routings of its broken rings.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] if the scheme does not apply.
    pub fn new(planner: &'static str, problem: &'a Problem, scheme: Scheme) -> Result<Self, PlanError> {
        let refuse = |reason: String| Err(PlanError::NotApplicable { planner, reason });
        let torus = check_torus(planner, ROUTED, problem)?;
        let topology = problem.topology();
        let accelerated = scheme.acceleration != Acceleration::None;
        let dims = active_dims(problem);
        if topology.live_links().count() == topology.links().len() {
            return refuse("no cable failed: it would be dim_rotation".to_owned());
        }
        if accelerated && dims.len() == 1 {
            return refuse("there is only one dimension, and none to accelerate it: try folded_ring".to_owned());
        }
        let links = LinkTable::live(topology);
        let rings = Rings { topology, torus, dims: &dims, links: &links };
        let mut broken = Vec::new();
        for mut ring in rings.broken(scheme.remains) {
            let (dead, label) = (ring.dead.len(), rings.label(&ring));
            let mut missing = Vec::new();
            if accelerated {
                missing = rings.add_virtual(&mut ring);
            }
            if ring.own.is_none() && ring.virtual_rings.is_empty() {
                let cables = if dead == 1 { "a dead cable".to_owned() } else { format!("{dead} dead cables") };
                let rest = if dead == 1 { "no cable is left" } else { "it is in pieces" };
                return refuse(format!("{label} has {cables}, so {rest}{}", missing.join("")));
            }
            broken.push(ring);
        }
        if accelerated && scheme.normal && broken.iter().all(|ring| ring.own.is_none()) {
            let label = rings.label(&broken[0]);
            return refuse(format!("{label} cannot work in the normal phases: it is in pieces; try mate"));
        }
        let groups = match scheme.acceleration {
            Acceleration::None => Vec::new(),
            Acceleration::Shared => vec![0; broken.len()],
            Acceleration::Each => routings::groups(&broken),
        };
        let number_of = broken.iter().zip(0..).map(|(ring, number)| ((ring.dim, ring.ranks[0]), number)).collect();
        Ok(Self { topology, torus, links, dims, broken, groups, number_of, normal: scheme.normal })
    }

    /// The walks over intact rings in a phase, and the errands of each broken ring. Moves the travelers.
    pub fn normal_phase(&self, phase: usize, travelers: &mut [Traveler]) -> (Walks, Vec<Vec<Errand>>) {
        let mut intact = Walks::default();
        let mut errands: Vec<Vec<Errand>> = self.broken.iter().map(|_| Vec::new()).collect();
        let place = |traveler: &Traveler| {
            let dim = self.dims[(rotation_class(self.torus, &self.dims, traveler) + phase) % self.dims.len()];
            (traveler.at, dim, traveler.offset(self.torus, dim))
        };
        // Stable: within a block the chunks stay in ascending order.
        travelers.sort_by_cached_key(place);
        for block in travelers.chunk_by_mut(|a, b| place(a) == place(b)) {
            let (at, dim, offset) = place(&block[0]);
            if offset == 0 {
                continue;
            }
            let (extent, stride) = (self.torus.extents[dim], self.torus.stride(dim));
            let from = self.torus.position(at, dim);
            let to = (from + offset) % extent;
            let first = RankId(at.0 - from * stride);
            let chunks: Vec<ChunkId> = block.iter().map(|traveler| traveler.id).collect();
            match self.number_of.get(&(dim, first)) {
                Some(&ring) => errands[ring].push(Errand { from, to, chunks }),
                None => {
                    let all = chunks.len();
                    let split = |offset: u32| half_ring_split(Block { extent, offset, chunks: all });
                    // Of a block that goes half way around, even positions send the larger half up, odd ones down.
                    let up = match (extent == 2 && !self.torus.wrap[dim], from.is_multiple_of(2)) {
                        (true, at_first) => {
                            if at_first {
                                all
                            } else {
                                0
                            }
                        }
                        (false, true) => split(offset),
                        (false, false) => all - split(extent - offset),
                    };
                    let (up, down) = chunks.split_at(up);
                    for (chunks, up, hops) in [(up, true, offset), (down, false, extent - offset)] {
                        if !chunks.is_empty() {
                            intact.send(&self.along(at, dim, up, hops), chunks.iter().copied());
                        }
                    }
                }
            }
            let dest = RankId(first.0 + to * stride);
            block.iter_mut().for_each(|traveler| traveler.at = dest);
        }
        (intact, errands)
    }

    fn along(&self, from: RankId, dim: usize, up: bool, hops: u32) -> Vec<LinkId> {
        let mut at = from;
        let next = |_| {
            let link = self.links.get(at, dim, up).expect("the ring was found to be intact");
            at = self.topology.link(link).to;
            link
        };
        (0..hops).map(next).collect()
    }
}
