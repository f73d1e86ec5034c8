//! All-to-all along the rings of an intact torus: the classical phased algorithms.
//!
//! # Idea
//!
//! In a phase, each chunk moves along one dimension, a hop per step, to its destination's position there. Every planner
//! is a row of [`Rings`]: the part of a message that goes up the ring, and the order of the dimensions.
//!
//! *Ring* sends half of every message in each direction. *HalfRing* sends every message in the shorter one: up for an
//! offset `d < k/2` on a ring of `k` ranks, down for `d > k/2`, half each way for `d = k/2`.
//!
//! ```text
//!   Ring     0 ---> 1 ---> 2 ---> 3 --->    upper halves of 0>1, 0>2, 0>3: 1, 2, 3 hops
//!       <--- 0 <--- 1 <--- 2 <--- 3         lower halves of 0>1, 0>2, 0>3: 3, 2, 1 hops
//!
//!   HalfRing 0 ---> 1 ---> 2 ... 3          to +1 and half of +2: step 1 [+1][+2], step 2 [+2]
//!            0 <--- 3 <--- 2 ... 1          to -1 and half of -2
//! ```
//!
//! `ring` and `half_ring` take the dimensions in turn, so all but one idle. In `dim_rotation` (HalfRing with
//! DimRotation) each of `D` classes of data begins with another dimension. In `ring_pipeline` (Ring with Pipeline) the
//! `C` parts of every message follow each other through the dimensions:
//!
//! ```text
//!   rotation   phase 0  phase 1  phase 2        pipeline  slot 1  slot 2  slot 3  slot 4
//!   class 0       x        y        z           part 0       x       y       z
//!   class 1       y        z        x           part 1               x       y       z
//!   class 2       z        x        y
//! ```
//!
//! A part belongs to class `(its number in the message + the sum of its offsets) mod D`: with `D` parts every message
//! has one part of each class, and with fewer the classes are still about equal.
//!
//! # Applies
//!
//! All_to_all and all_to_allv on an intact torus whose dimensions of 3 and more all wrap. An extent of 2 with a single
//! cable is crossed in one step; an extent of 1 is no dimension.
//!
//! # Steps and volume
//!
//! For `N` ranks and extents `k`; the last two rows for equal extents, otherwise the busiest dimension sets a phase.
//! `M` is the bisection bound of a dimension: `N k / 8` for even `k`, `N (k^2-1) / (8k)` for odd `k`.
//!
//! | planner | steps | volume | exact where whole |
//! |---|---|---|---|
//! | `ring` | sum of `k-1` | sum of `N (k-1) / 4` | `parts * N / k` is even |
//! | `half_ring` | sum of `floor(k/2)`, the diameter | sum of `M` | `parts * N / k` is even for even `k` |
//! | `dim_rotation` | `D floor(k/2)` | `M` | `D` divides `parts`, and `parts * N / (k D)` is even for even `k` |
//! | `ring_pipeline` | `(C+D-1) (k-1)` | `(C+D-1)/C * N (k-1) / 4` | `N / k` is even |
//!
//! An extent of 2 with a single cable costs `N / 2`. Uneven halves are rounded: the larger half of Ring goes up for odd
//! offsets, that of HalfRing always.
//!
//! # Complexity
//!
//! O(h log h) time and O(h) memory in the number of hops `h`, at most about `N^2 * parts * D * k / 2`.
//!
//! # Reference
//!
//! Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks", MICRO 2025, doi
//! 10.1145/3725843.3756057. Its fault-free baseline is Ring with Pipeline, of 6 parts.

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::phase::{Phase, StatedPhase};
use crate::model::planner::scope::{Machines, Scope};
use crate::model::planner::{AutoUse, Outcome, Planner};
use crate::model::task::Task;
use crate::search::phased::{
    Block, ROUTED, Traveler, active_dims, check_torus, half_ring_split, rotation_class, travelers,
};
use collsynth_bound::link_table::LinkTable;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{Torus, dim_name};

/// A phased planner on intact rings.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Goal, Parts, Rings, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let figures = |planner: Rings, extents: &[u32], parts: u32| {
///     let goal = Goal { planner: Some(&planner), parts: Parts::Fixed(parts), ..Goal::default() };
///     let plan = synthesize(&Topology::torus(extents)?, &Kind::AllToAll, &goal, &Control::unlimited())?;
///     Ok::<_, Box<dyn std::error::Error>>((plan.schedule.step_count(), plan.schedule.total_width()))
/// };
/// // 3 steps of 3, 2 and 1 halves: V = 4 * 3 / 4 = 3 messages.
/// assert_eq!(figures(Rings::RING, &[4], 2)?, (3, 6));
/// // 2 steps of 3 and 1 halves: V = 4 * 4 / 8 = 2 messages.
/// assert_eq!(figures(Rings::HALF_RING, &[4], 2)?, (2, 4));
/// // V = 64 * 4 / 8 = 32 messages.
/// assert_eq!(figures(Rings::DIM_ROTATION, &[4, 4, 4], 6)?, (6, 6 * 32));
/// // V = 8/6 * 64 * 3 / 4 = 64 messages, in 8 slots of 3 steps.
/// assert_eq!(figures(Rings::RING_PIPELINE, &[4, 4, 4], 6)?, (24, 6 * 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rings {
    name: &'static str,
    summary: &'static str,
    auto_use: AutoUse,
    order: Order,
    /// The number of chunks of a block that go up; the others go down.
    split: fn(Block) -> usize,
}

/// The order in which chunks take the dimensions.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// All on one dimension after the other.
    InTurn,
    /// Classes of chunks, each beginning with another dimension.
    Rotated,
    /// The parts of a message one dimension behind each other.
    Pipelined,
}

/// The number of parts that the paper pipelines.
const PIPELINED_PARTS: u32 = 6;

impl Rings {
    /// `ring`: half of every message in each direction, dimension after dimension.
    pub const RING: Self = Self {
        name: "ring",
        summary: "half of every message in each direction, one dimension after another; intact tori",
        auto_use: AutoUse::Always,
        order: Order::InTurn,
        split: ring_split,
    };
    /// `half_ring`: every message in the shorter direction, dimension after dimension.
    pub const HALF_RING: Self = Self {
        name: "half_ring",
        summary: "every message in the shorter direction, one dimension after another; intact tori",
        auto_use: AutoUse::Always,
        order: Order::InTurn,
        split: half_ring_split,
    };
    /// `dim_rotation`: HalfRing in all dimensions at once, each on its share of the data, then rotated.
    pub const DIM_ROTATION: Self = Self {
        name: "dim_rotation",
        summary: "half_ring in all dimensions at once, the data in rotation; intact tori",
        auto_use: AutoUse::Always,
        order: Order::Rotated,
        split: half_ring_split,
    };
    /// `ring_pipeline`: Ring, the parts of a message following each other through the dimensions.
    pub const RING_PIPELINE: Self = Self {
        name: "ring_pipeline",
        summary: "ring, the parts of each message in a pipeline through the dimensions; intact tori",
        auto_use: AutoUse::Never,
        order: Order::Pipelined,
        split: ring_split,
    };
}

impl Planner for Rings {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn is_baseline(&self) -> bool {
        true
    }

    fn auto_use(&self) -> AutoUse {
        self.auto_use
    }

    fn scope(&self) -> Scope {
        ROUTED.on(Machines::IntactTori)
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        check_torus(self.name, self.scope(), problem).map(|_| ())
    }

    fn natural_parts(&self, problem: &Problem) -> Option<u32> {
        Some(match self.order {
            Order::InTurn => 2,
            Order::Rotated => 2 * active_dims(problem).len().max(1) as u32,
            Order::Pipelined => PIPELINED_PARTS,
        })
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        let torus = check_torus(self.name, self.scope(), task.problem)?;
        let dims = active_dims(task.problem);
        // With a demand matrix, a message is all the chunks from one rank to another.
        let pieces = task.problem.parts().max(1);
        let names: Vec<String> = match self.order {
            Order::InTurn => dims.iter().map(|&dim| format!("dimension {}", dim_name(dim as u8))).collect(),
            Order::Rotated => (1..=dims.len()).map(|number| format!("rotation {number}")).collect(),
            Order::Pipelined if dims.is_empty() => Vec::new(),
            Order::Pipelined => (1..pieces as usize + dims.len()).map(|slot| format!("slot {slot}")).collect(),
        };
        let dim_of = |phase: usize, traveler: &Traveler| match self.order {
            Order::InTurn => Some(dims[phase]),
            Order::Rotated => Some(dims[(rotation_class(torus, &dims, traveler) + phase) % dims.len()]),
            Order::Pipelined => dims.get(phase.checked_sub((traveler.part % pieces) as usize)?).copied(),
        };
        run(self.name, task, control, torus, names, dim_of, self.split)
    }
}

/// Ring: half of the block; of an odd block, the larger half at odd offsets.
fn ring_split(block: Block) -> usize {
    (block.chunks + (block.offset % 2) as usize) / 2
}

/// Runs phases of these names. In phase `p`, a chunk moves along dimension `dim_of(p, chunk)`, if any; `split(block)`
/// of a block's chunks go up, the others down. If an extent of 2 has a single cable, all take it. Time and memory are
/// linear in the number of hops.
///
/// # Errors
///
/// [`PlanError::Stopped`] between two phases, or [`PlanError::NotFound`] if other steps are stated.
fn run(
    planner: &'static str,
    task: &Task<'_>,
    control: &Control,
    torus: &Torus,
    phases: Vec<String>,
    dim_of: impl Fn(usize, &Traveler) -> Option<usize>,
    split: fn(Block) -> usize,
) -> Result<Outcome, PlanError> {
    let topology = task.problem.topology();
    let links = LinkTable::live(topology);
    let mut travelers = travelers(task.problem);
    let (mut moves, mut begin) = (Moves::default(), 0);
    let mut lengths = Vec::with_capacity(phases.len());
    for phase in 0..phases.len() {
        if let Some(stopped) = control.stop() {
            return Err(PlanError::Stopped { stopped });
        }
        let place = |traveler: &Traveler| {
            let dim = dim_of(phase, traveler);
            (traveler.at, dim, dim.map_or(0, |dim| traveler.offset(torus, dim)))
        };
        // Stable: within a block the chunks stay in ascending order.
        travelers.sort_by_cached_key(place);
        let mut end = begin;
        for block in travelers.chunk_by_mut(|a, b| place(a) == place(b)) {
            let (at, Some(dim), offset) = place(&block[0]) else { continue };
            if offset == 0 {
                continue;
            }
            let extent = torus.extents[dim];
            let up = match extent == 2 && !torus.wrap[dim] {
                true if torus.position(at, dim) == 0 => block.len(),
                true => 0,
                false => split(Block { extent, offset, chunks: block.len() }),
            };
            for (index, traveler) in block.iter_mut().enumerate() {
                let (positive, hops) = if index < up { (true, offset) } else { (false, extent - offset) };
                end = end.max(begin + hops as usize);
                for step in begin..begin + hops as usize {
                    let link = links.get(traveler.at, dim, positive).expect("rings were checked to be intact");
                    moves.add(step, link, Op::Copy, [traveler.id]);
                    traveler.at = topology.link(link).to;
                }
            }
        }
        lengths.push(end - begin);
        begin = end;
    }
    let schedule = moves.write(topology, |_, needed| Some(needed.max(1)));
    task.check_steps(planner, schedule.step_count())?;
    let stated = phases.into_iter().map(|name| StatedPhase { name, startups: 1 });
    let phases = Phase::measure(task.problem, &schedule, stated.zip(lengths));
    Ok(Outcome::new(schedule, StopReason::Finished).with_phases(phases))
}
