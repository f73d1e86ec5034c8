//! The template of an all-to-all: a step for every hop of every message of rank 0.
//!
//! An offset is covered in the shorter direction of every dimension, in any order of the hops, so offsets and
//! directions are the jobs and machines of an open shop (see `open_shop`).

use itertools::Itertools;

use super::offsets::{block_parts, directions, link_towards};
use super::open_shop::{Shop, Visit};
use super::twisted;
use crate::model::moves::Moves;
use crate::model::widths::even_widths;
use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{Direction, LinkId, RankId, Topology, Torus};

/// A step for every hop of every message of rank 0.
pub(crate) struct TemplateSchedule {
    pub widths: Vec<u32>,
    directions: Vec<Direction>,
    blocks: Vec<Block>,
}

/// Parts of every message that move the same way: `copies` times the parts `0..parts`.
struct Block {
    parts: u32,
    copies: u32,
    /// `visits[step][job]` is the direction the job moves in; job = (offset - 1) * parts + part.
    visits: Vec<Vec<Visit>>,
}

impl TemplateSchedule {
    /// Makes the template of `parts` parts per message in `steps` steps; `None` if the open shop has no solution with
    /// even widths (no such torus is known if `steps` is at least the diameter).
    pub fn new(torus: &Torus, parts: u32, steps: u32) -> Option<Self> {
        let directions = directions(torus);
        let ranks: u32 = torus.extents.iter().product();
        // Loads are integers for multiples of two parts per unit of capacity; of twisted tori, which spread the hops of
        // an offset over all directions, of a part for each.
        let least = if torus.is_twisted() { directions.len() as u32 } else { 2 };
        let unit =
            torus.capacity.iter().try_fold(least, |unit, &c| unit.checked_mul(if unit % c == 0 { 1 } else { c }));
        let (block, copies) = block_parts(unit, parts, ranks);
        let mut template = Self { widths: vec![0; steps as usize], directions, blocks: Vec::new() };
        for (parts, copies) in [(block, copies), (parts - block * copies, 1)] {
            if parts > 0 {
                template.add_block(torus, ranks, parts, copies)?;
            }
        }
        Some(template)
    }

    fn add_block(&mut self, torus: &Torus, ranks: u32, parts: u32, copies: u32) -> Option<()> {
        let offsets: Vec<u32> = (1..ranks).flat_map(|offset| std::iter::repeat_n(offset, parts as usize)).collect();
        let capacity: Vec<u32> =
            self.directions.iter().map(|direction| torus.capacity[usize::from(direction.dim)]).collect();
        let visits = match torus.is_twisted() {
            true => twisted::visits(torus, &self.directions, &capacity, &offsets)?,
            false => visits(torus, &self.directions, &offsets)?,
        };
        let shop = Shop { visits, capacity };
        let busiest = (0..self.directions.len()).map(|m| shop.load(m).div_ceil(u64::from(shop.capacity[m]))).max();
        let widths = even_widths(u32::try_from(busiest.unwrap_or(0)).ok()?, self.widths.len() as u32);
        for (total, &width) in self.widths.iter_mut().zip(&widths) {
            *total = width.checked_mul(copies)?.checked_add(*total)?;
        }
        let visits = if self.directions.is_empty() { Vec::new() } else { shop.schedule(&widths)? };
        self.blocks.push(Block { parts, copies, visits });
        Some(())
    }

    /// The links that a part of the message from `origin` to `dest` takes, with the step of each, from 0.
    ///
    /// # Panics
    ///
    /// If the topology is not the intact torus the template was made for.
    pub fn path(
        &self,
        topology: &Topology,
        origin: RankId,
        dest: RankId,
        part: u32,
    ) -> impl Iterator<Item = (usize, LinkId)> {
        let torus = topology.as_torus().expect("templates are of tori");
        let repeated = self.blocks[0].parts * self.blocks[0].copies;
        let block = &self.blocks[usize::from(part >= repeated)];
        let part = if part < repeated { part % block.parts } else { part - repeated };
        let job = ((torus.offset(origin, dest).0 - 1) * block.parts + part) as usize;
        let mut at = origin;
        block.visits.iter().enumerate().filter_map(move |(step, visits)| {
            let direction = self.directions[usize::from(visits[job]?)];
            let link = link_towards(topology, at, direction);
            at = topology.link(link).to;
            Some((step, link))
        })
    }

    pub fn translate(&self, topology: &Topology, parts: u32) -> Schedule {
        self.of_ranks(topology, parts, topology.rank_count() as u32)
    }

    /// The messages of rank 0 alone.
    pub fn pattern(&self, topology: &Topology, parts: u32) -> Schedule {
        self.of_ranks(topology, parts, 1)
    }

    fn of_ranks(&self, topology: &Topology, parts: u32, origins: u32) -> Schedule {
        let ranks = topology.rank_count() as u32;
        let mut moves = Moves::new(self.widths.len());
        for (origin, dest) in (0..origins).cartesian_product(0..ranks).filter(|(origin, dest)| origin != dest) {
            for part in 0..parts {
                let chunk = ChunkId((origin * ranks + dest) * parts + part);
                for (step, link) in self.path(topology, RankId(origin), RankId(dest), part) {
                    moves.add(step, link, Op::Copy, [chunk]);
                }
            }
        }
        moves.write(topology, |step, _| Some(self.widths[step]))
    }
}

/// How often each job moves in each direction, `[job * directions + direction]`; ties are split evenly.
fn visits(torus: &Torus, directions: &[Direction], offsets: &[u32]) -> Option<Vec<u8>> {
    let mut visits = vec![0_u8; offsets.len() * directions.len()];
    let mut ties = vec![0_u32; torus.extents.len()];
    for (job, &offset) in offsets.iter().enumerate() {
        for (machine, direction) in directions.iter().enumerate() {
            let dim = usize::from(direction.dim);
            let (extent, position) = (torus.extents[dim], torus.position(RankId(offset), dim));
            let hops = if !torus.wrap[dim] {
                position
            } else if 2 * position == extent {
                // The job's first direction breaks the tie, and the second respects it.
                let taken = ties[dim] % 2 == u32::from(direction.positive);
                ties[dim] += u32::from(!direction.positive);
                if taken { 0 } else { position }
            } else if direction.positive == (2 * position < extent) {
                position.min(extent - position)
            } else {
                0
            };
            visits[job * directions.len() + machine] = u8::try_from(hops).ok()?;
        }
    }
    Some(visits)
}
