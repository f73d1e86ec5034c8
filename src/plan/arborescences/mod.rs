//! Pipelined edge-disjoint arborescences: broadcast and reduce at the rate of the least cut.
//!
//! # Idea
//!
//! As many arborescences (directed spanning trees) as the least cut from the root allows lead from the root to all ranks,
//! no link in two of them. The parts of the message are dealt out to them, and follow each other through every one like
//! cars of a train: a link carries a new part in every step.
//!
//! ```text
//!   root -> a -> b      parts 0, 2, 4, ...        step    1    2    3    4
//!   root -> b -> a      parts 1, 3, 5, ...        root->a 0    2    4
//!                                                 a->b         0    2    4
//! ```
//!
//! For a reduce, all of it is read backwards in time over links turned round.
//!
//! # When it applies
//!
//! Broadcast and reduce on any topology, with any failures. Capacities are counted in their greatest common divisor, or in
//! coarser units where more than 64 arborescences would come of it.
//!
//! # Volume and steps
//!
//! Through `k` arborescences of depth `d`, `n` parts take `S = ceil(n / k) + d - 1` steps of width 1: `V = S / n`, which
//! tends to the bound `1 / k` as the parts grow. `w` times wider steps are about `w` times fewer, and cost
//! `(w - 1) (d - 1)` more width; the price of time decides. On a 4x4x4 torus, `k = 6` and `d = 7`: the last rank on the
//! tree that begins with `x+` is a neighbour of the antipode, seven hops away that way.
//!
//! # Complexity
//!
//! Growing them takes O(k * links) searches for up to `k` paths; most are short. Making them shallow takes a fixed number
//! of moves of O(N) each at most.
//!
//! # References
//!
//! Edmonds, "Edge-disjoint branchings", 1973; Lovasz, "On two minimax theorems in graph", JCTB 1976, whose proof is the
//! construction; Johnsson and Ho, "Optimum broadcasting and personalized communication in hypercubes", IEEE ToC 1989,
//! for the pipeline through several trees.

mod packing;
mod pipeline;
mod shallow;

use fastrand::Rng;

use crate::collective::{ChunkId, Kind};
use crate::plan::negotiation::Network;
use crate::plan::{Control, Outcome, PlanError, Planner, StopReason, Task};
use crate::problem::Problem;
use crate::schedule::{Op, Schedule};
use packing::{MOST, NO_LINK, Packing, Parents};
use pipeline::Pipeline;
use shallow::Shallow;

/// The planner of pipelined arborescences.
///
/// ```
/// use synth::plan::{Control, Parts, Wish, synthesise};
/// use synth::{collective::Kind, topology::{RankId, Topology}};
///
/// let wish = Wish { planner: Some("arborescences".to_owned()), parts: Parts::Fixed(40), ..Wish::default() };
/// let kind = Kind::Broadcast(RankId(0));
/// let schedule = synthesise(&Topology::torus(&[4, 4])?, &kind, &wish, &Control::unlimited())?.schedule;
/// // Four arborescences of depth 5 and 10 parts for each.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (14, 14));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Arborescences;

impl Planner for Arborescences {
    fn name(&self) -> &'static str {
        "arborescences"
    }

    fn summary(&self) -> &'static str {
        "broadcast, reduce on any network with any failures: pipelined edge-disjoint trees"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        match problem.collective().kind {
            Kind::Broadcast(_) | Kind::Reduce(_) => Ok(()),
            _ => Err(PlanError::NotApplicable {
                planner: self.name(),
                reason: "it plans broadcast and reduce only".to_owned(),
            }),
        }
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.step_count(task.bounds.least_steps())?;
        let Some(root) = problem.collective().kind.root().filter(|_| !problem.is_trivial()) else {
            return Ok(Outcome { schedule: Schedule::default(), stopped: StopReason::Finished });
        };
        let collected = matches!(problem.collective().kind, Kind::Reduce(_));
        let network = Network::new(problem);
        problem.check_connected(&network.distances)?;
        let network = if collected { Network::reversed(problem) } else { network };
        let (unit, trees) = arborescences(task, &network, root.0, control);
        let pipeline = Pipeline { unit, depths: trees.iter().map(Arborescence::depth).collect() };
        let Some(widths) = pipeline.widths(task) else {
            let (least, wished) = (pipeline.depths.iter().min(), task.steps.or(task.max_steps));
            let limit = format!("{} steps: it takes {}", wished.unwrap_or(0), least.unwrap_or(&0));
            return Err(PlanError::NotFound { planner: self.name(), limit });
        };
        let stopped = control.stop().unwrap_or(StopReason::Finished);
        Ok(Outcome { schedule: write_down(task, &network, &pipeline, &trees, &widths, collected), stopped })
    }
}

/// An arborescence and the depth of every rank in it.
pub(super) struct Arborescence {
    parents: Parents,
    depths: Vec<u32>,
}

impl Arborescence {
    fn depth(&self) -> u32 {
        self.depths.iter().copied().max().unwrap_or(0)
    }
}

/// As many as parts can use, as shallow as can be found, with the unit in which capacities are counted.
fn arborescences(task: &Task<'_>, network: &Network, root: u32, control: &Control) -> (u32, Vec<Arborescence>) {
    let divisor = network.capacity.iter().copied().fold(0, greatest_common_divisor).max(1);
    let in_units = |unit: u32| -> Vec<u32> { network.capacity.iter().map(|capacity| capacity / unit).collect() };
    let packing = |unit| Packing::new(network, root, &in_units(unit), task.problem.parts().min(MOST));
    let (mut unit, mut best) = (divisor, packing(divisor));
    // Where there are as many as there may be, there may be more to be had in coarser units.
    while best.count() == MOST
        && let Some(coarser) = unit.checked_mul(2)
    {
        let found = packing(coarser);
        if u64::from(found.count()) * 2 <= u64::from(best.count()) {
            break;
        }
        (unit, best) = (coarser, found);
    }
    let mut rng = Rng::with_seed(task.seed);
    let trees = best.grow(&mut rng);
    let mut shallow = Shallow::new(network, root, in_units(unit), trees, rng);
    shallow.improve(control);
    (unit, shallow.into_arborescences())
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The schedule of parts in these widths.
fn write_down(
    task: &Task<'_>,
    network: &Network,
    pipeline: &Pipeline,
    trees: &[Arborescence],
    widths: &[u32],
    collected: bool,
) -> Schedule {
    let (links, steps) = (network.link_count(), widths.len());
    let mut carried: Vec<Vec<ChunkId>> = vec![Vec::new(); links * steps];
    let mut first = 0;
    for (index, (tree, share)) in trees.iter().zip(pipeline.shares(widths, task.problem.parts())).enumerate() {
        let progress = pipeline.progress(index, widths, share);
        let reached = tree.parents.iter().zip(&tree.depths).filter(|(link, _)| **link != NO_LINK);
        for (&link, &depth) in reached {
            let mut sent = 0;
            for (step, &passed) in progress[depth as usize - 1].iter().enumerate() {
                carried[step * links + link as usize].extend((first + sent..first + passed).map(ChunkId));
                sent = passed;
            }
        }
        first += share;
    }
    let used = |carried: &[Vec<ChunkId>]| {
        let needed = carried.iter().zip(&network.capacity).map(|(chunks, &c)| (chunks.len() as u32).div_ceil(c));
        needed.max().unwrap_or(0)
    };
    let mut in_order: Vec<&mut [Vec<ChunkId>]> = carried.chunks_mut(links).collect();
    if collected {
        in_order.reverse();
    }
    let op = if collected { Op::Reduce } else { Op::Copy };
    let mut builder = Schedule::builder();
    for carried in in_order {
        let width = used(carried);
        if width == 0 && task.steps.is_none() {
            continue;
        }
        builder.step(width.max(1));
        for (link, chunks) in carried.iter_mut().enumerate().filter(|(_, chunks)| !chunks.is_empty()) {
            builder.transfer_over(task.problem.topology(), network.ids[link], op, std::mem::take(chunks));
        }
    }
    builder.finish()
}
