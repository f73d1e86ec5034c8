//! The template: all-to-all on a torus without failures, in the fewest steps and the least volume at once.
//!
//! A torus looks the same from every rank, so every rank can treat the message to its own `+delta` alike, and one
//! schedule for the offsets of rank 0, the *template*, is translated to all N ranks. A hop in direction `x+` of the
//! template then loads every `x+` link of the torus equally: the template is contention-free if in each step no
//! direction occurs more often than the step is wide.
//!
//! ```text
//!   offset (2,1):  x+ x+ y+   in any order, one hop a step
//!   offset (0,3):  y-         the shorter way round      ->   an open shop: offsets are jobs,
//!   offset (2,2):  x+ x- ?    k/2 goes either way             directions are machines
//! ```
//!
//! * **Applies** to tori without failures whose dimensions all look the same from every position: wrapped, or of extent
//!   1 or 2.
//! * **Steps**: the diameter (or any larger number asked for).
//! * **Volume**: the largest load of a direction over its capacity, rounded up to whole chunks. With capacity 1 that is
//!   `N k / 8` for the largest even extent `k`, `N (k^2 - 1) / (8 k)` for an odd one: the bisection bound. Offsets of
//!   exactly `k / 2` go either way and are shared out evenly; where their number is odd, two parts are needed.
//! * **Complexity**: a maximum flow on `N * parts` jobs and `2 D` machines per step.
//!
//! Hop orders are found as in an open shop (Koenig 1916, de Werra 1971; see `open_shop`). That only shortest offsets are
//! needed and what volume they cost is known from the torus all-to-all literature (HalfRing in Qin et al., MICRO 2025,
//! doi 10.1145/3725843.3756057, needs D-fold splitting for the same volume).

mod open_shop;

use crate::collective::{ChunkId, Kind};
use crate::plan::{Control, Outcome, PlanError, Planner, StopReason, Task, even_widths};
use crate::problem::Problem;
use crate::schedule::{Op, Schedule};
use crate::topology::{Direction, LinkId, RankId, Topology, Torus};
use open_shop::{Shop, Visit};

/// The template planner.
///
/// ```
/// use synth::plan::{Parts, Wish, synthesise, Control};
/// use synth::{collective::Kind, topology::Topology};
///
/// let wish = Wish { planner: Some("template".to_owned()), ..Wish::default() };
/// let plan = synthesise(&Topology::torus(&[4, 4, 4])?, &Kind::AllToAll, &wish, &Control::unlimited())?;
/// assert_eq!((plan.schedule.step_count(), plan.schedule.total_width()), (6, 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Template;

impl Planner for Template {
    fn name(&self) -> &'static str {
        "template"
    }

    fn summary(&self) -> &'static str {
        "all-to-all on a torus without failures: fewest steps and least volume at once"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        let refuse = |reason: &str| PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() };
        let topology = problem.topology();
        let torus = topology.as_torus().ok_or_else(|| refuse("the topology is no torus"))?;
        if problem.collective().kind != Kind::AllToAll {
            return Err(refuse("it plans all_to_all only"));
        }
        if topology.links().iter().any(|link| !link.alive) || topology.live_rank_count() < topology.rank_count() {
            return Err(refuse("links or ranks failed"));
        }
        match is_symmetric(torus) {
            true => Ok(()),
            false => Err(refuse("a dimension of 3 or more positions does not wrap")),
        }
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let topology = task.problem.topology();
        let torus = topology.as_torus().expect("the template applies to tori only");
        let steps = task.step_count(diameter(torus))?;
        let not_found = || PlanError::NotFound { planner: self.name(), limit: format!("{steps} steps") };
        let template = TemplateSchedule::new(torus, task.problem.parts(), steps).ok_or_else(not_found)?;
        let stopped = control.stop().unwrap_or(StopReason::Finished);
        Ok(Outcome { schedule: template.translate(topology, task.problem.parts()), stopped })
    }
}

/// Does the torus look the same from every rank?
pub(super) fn is_symmetric(torus: &Torus) -> bool {
    torus.extents.iter().zip(&torus.wrap).all(|(&extent, &wrap)| wrap || extent <= 2)
}

/// Hops between the ranks farthest apart on a symmetric torus without failures.
pub(super) fn diameter(torus: &Torus) -> u32 {
    torus.extents.iter().map(|extent| extent / 2).sum()
}

/// A step for every hop of every message of rank 0.
pub(super) struct TemplateSchedule {
    /// The width of each step.
    pub widths: Vec<u32>,
    directions: Vec<Direction>,
    blocks: Vec<Block>,
}

/// Parts of every message that move alike: `copies` times the parts `0..parts`.
struct Block {
    parts: u32,
    copies: u32,
    /// `visits[step][job]` is the direction the job moves in; job = (offset - 1) * parts + part.
    visits: Vec<Vec<Visit>>,
}

/// Beyond this many jobs a template is put together from smaller ones.
const BLOCK_JOBS: u32 = 8192;

impl TemplateSchedule {
    /// Makes the template of `parts` parts per message in `steps` steps; `None` if the open shop has no solution with
    /// widths as equal as can be (no such torus is known when `steps` is at least the diameter).
    pub fn new(torus: &Torus, parts: u32, steps: u32) -> Option<Self> {
        let directions = directions(torus);
        let ranks: u32 = torus.extents.iter().product();
        let (block, copies) = block_parts(torus, parts, ranks);
        let mut template = Self { widths: vec![0; steps as usize], directions, blocks: Vec::new() };
        for (parts, copies) in [(block, copies), (parts - block * copies, 1)] {
            if parts > 0 {
                template.add_block(torus, ranks, parts, copies)?;
            }
        }
        Some(template)
    }

    fn add_block(&mut self, torus: &Torus, ranks: u32, parts: u32, copies: u32) -> Option<()> {
        let offsets: Vec<u32> = (1..ranks).flat_map(|offset| (0..parts).map(move |_| offset)).collect();
        let capacity = self.directions.iter().map(|direction| torus.capacity[usize::from(direction.dim)]).collect();
        let shop = Shop { visits: visits(torus, &self.directions, &offsets)?, capacity };
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
        let (block, part) = match part < repeated {
            true => (&self.blocks[0], part % self.blocks[0].parts),
            false => (&self.blocks[1], part - repeated),
        };
        let job = ((offset(torus, origin, dest) - 1) * block.parts + part) as usize;
        let mut at = origin;
        block.visits.iter().enumerate().filter_map(move |(step, visits)| {
            let direction = self.directions[usize::from(visits[job]?)];
            let link = link_towards(topology, at, direction);
            at = topology.link(link).to;
            Some((step, link))
        })
    }

    /// Writes the template out for every rank.
    fn translate(&self, topology: &Topology, parts: u32) -> Schedule {
        let ranks = topology.rank_count() as u32;
        let links = topology.links().len();
        let mut carried: Vec<Vec<ChunkId>> = vec![Vec::new(); links * self.widths.len()];
        for (origin, dest) in (0..ranks).flat_map(|origin| (0..ranks).map(move |dest| (origin, dest))) {
            for part in 0..if origin == dest { 0 } else { parts } {
                let chunk = ChunkId((origin * ranks + dest) * parts + part);
                for (step, link) in self.path(topology, RankId(origin), RankId(dest), part) {
                    carried[step * links + link.index()].push(chunk);
                }
            }
        }
        let mut builder = Schedule::builder();
        for (step, &width) in self.widths.iter().enumerate() {
            builder.step(width);
            for (link, chunks) in carried[step * links..][..links].iter_mut().enumerate() {
                if !chunks.is_empty() {
                    builder.transfer_over(topology, LinkId(link as u32), Op::Copy, std::mem::take(chunks));
                }
            }
        }
        builder.finish()
    }
}

/// How many parts to plan at once, and how often to repeat them: all of them, unless that makes too many jobs. Loads are
/// whole, and nothing is lost by repeating, for multiples of two parts per unit of capacity.
fn block_parts(torus: &Torus, parts: u32, ranks: u32) -> (u32, u32) {
    let most = (BLOCK_JOBS / ranks).max(1);
    if parts <= 2 * most {
        return (parts, 1);
    }
    let unit = torus.capacity.iter().try_fold(2_u32, |unit, &c| unit.checked_mul(if unit % c == 0 { 1 } else { c }));
    let block = match unit {
        Some(unit) if unit < most => most - most % unit,
        Some(unit) if unit <= parts => unit,
        _ => parts,
    };
    (block, parts / block)
}

/// The offset between two ranks, as the number of the rank at that offset from rank 0.
fn offset(torus: &Torus, origin: RankId, dest: RankId) -> u32 {
    let apart = |dim| torus.position(dest, dim) + torus.extents[dim] - torus.position(origin, dim);
    (0..torus.extents.len()).map(|dim| apart(dim) % torus.extents[dim] * torus.stride(dim)).sum()
}

/// The link that leaves a rank in a direction. The single cable of an extent of 2 serves both directions: `x+` leaves
/// the first position, `x-` the second.
pub(super) fn link_towards(topology: &Topology, rank: RankId, direction: Direction) -> LinkId {
    let leaves = |wanted: Direction| topology.links_from(rank).find(|&id| topology.link(id).direction == Some(wanted));
    leaves(direction).or_else(|| leaves(direction.opposite())).expect("a symmetric torus has a link in each dimension")
}

/// The machines of the open shop: both directions of a wrapped dimension, one for a single cable.
fn directions(torus: &Torus) -> Vec<Direction> {
    let mut directions = Vec::new();
    for (dim, (&extent, &wrap)) in (0..).zip(torus.extents.iter().zip(&torus.wrap)) {
        let both: &[bool] = if wrap { &[true, false] } else { &[true] };
        if extent > 1 {
            directions.extend(both.iter().map(|&positive| Direction { dim, positive }));
        }
    }
    directions
}

/// How often each job moves in each direction, `[job * directions + direction]`; ties are shared out evenly.
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
                // The tie of this job was already broken if its first direction has been seen.
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
