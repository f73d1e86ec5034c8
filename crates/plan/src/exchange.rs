//! Exchange all-reduce: neighbors swap sums, dimension after dimension, in as many steps as the diameter.
//!
//! # Idea
//!
//! In each step, every rank and one neighbor send each other all they have, and add: the sums then cover twice as many
//! ranks. A line of two takes one step; a ring of four takes two, with one neighbor, then with the other. All ranks get
//! bitwise the same sums, since `a + b` is `b + a`; in a ring of three each rank would add in its own order.
//!
//! ```text
//!   ring of four    step 1   0+1  0+1  2+3  2+3       0 and 1 swap, 2 and 3 swap
//!                   step 2   sum  sum  sum  sum       1 and 2 swap, 3 and 0 swap
//! ```
//!
//! Only a few links are busy in a step, so the vector is cut in classes, each with another order of dimensions and
//! neighbors: class `c` begins with dimension `c mod D`, and every other round of classes with the neighbor on the
//! other side.
//!
//! # Applies
//!
//! All_reduce on intact tori whose extents are 1, 2 and, wrapped, 4.
//!
//! # Steps and volume
//!
//! `S` = the sum of `floor(k / 2)`: the diameter, fewer than which no all-reduce takes. Where all `D` extents are 4,
//! `V` = 1 in `2 D` parts: every step sends every part once, over `2 D` links. [`SpanningTrees`](super::SpanningTrees)
//! take twice the steps and about `2 / (2 D)` of the volume, so this planner is for small vectors.
//!
//! # Complexity
//!
//! O(N * parts * S).
//!
//! # Reference
//!
//! Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 2005, section
//! 4.5, on recursive doubling; here between neighbors only.

use itertools::Itertools;

use super::error::check_kind;
use super::moves::Moves;
use super::{Control, Outcome, PlanError, Planner, StopReason, Task};
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{Direction, LinkId, Topology, Torus};

/// All-reduce by exchange between neighbors.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{Control, Exchange, Goal, Parts, synthesize};
/// use collsynth_core::topology::Topology;
///
/// let goal = Goal { planner: Some(&Exchange), parts: Parts::Fixed(6), ..Goal::default() };
/// let schedule = synthesize(&Topology::torus(&[4, 4, 4])?, &Kind::AllReduce, &goal, &Control::unlimited())?.schedule;
/// // The diameter, and every part once over one of six links in each step.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (6, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Exchange;

impl Planner for Exchange {
    fn name(&self) -> &'static str {
        "exchange"
    }

    fn summary(&self) -> &'static str {
        "all_reduce of small vectors in the fewest steps: neighbors swap sums; intact tori of extents 1, 2, 4"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        self.torus(problem).map(|_| ())
    }

    fn plan(&self, task: &Task<'_>, _control: &Control) -> Result<Outcome, PlanError> {
        let torus = self.torus(task.problem)?;
        let rounds = rounds(torus);
        task.check_steps(self.name(), rounds)?;
        let topology = task.problem.topology();
        let mut moves = Moves::new(rounds);
        for (step, link) in (0..rounds).cartesian_product((0..topology.links().len() as u32).map(LinkId)) {
            let swaps = |chunk: &ChunkId| swaps_over(topology, torus, link, chunk.0, step);
            moves.add(step, link, Op::Reduce, (0..task.problem.parts()).map(ChunkId).filter(swaps));
        }
        let schedule = moves.write(topology, |_, needed| Some(needed.max(1)));
        Ok(Outcome::new(schedule, StopReason::Finished))
    }
}

impl Exchange {
    fn torus<'a>(&self, problem: &'a Problem) -> Result<&'a Torus, PlanError> {
        let refuse = |reason: &str| Err(PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() });
        let topology = problem.topology();
        let Some(torus) = topology.as_torus() else { return refuse("it needs a torus") };
        let closed = |dim: usize| torus.extents[dim] <= 2 || (torus.extents[dim] == 4 && torus.wrap[dim]);
        check_kind(self.name(), problem, &["all_reduce"])?;
        if topology.links().iter().any(|link| !link.alive) || topology.live_rank_count() < topology.rank_count() {
            return refuse("something failed");
        }
        if torus.is_twisted() {
            return refuse("the torus is twisted");
        }
        if (0..torus.extents.len()).all(closed) { Ok(torus) } else { refuse("it needs extents of 1, 2 and, closed, 4") }
    }
}

fn swaps_along(torus: &Torus, dim: usize) -> usize {
    torus.extents[dim] as usize / 2
}

fn rounds(torus: &Torus) -> usize {
    (0..torus.extents.len()).map(|dim| swaps_along(torus, dim)).sum()
}

fn swaps_over(topology: &Topology, torus: &Torus, id: LinkId, chunk: u32, step: usize) -> bool {
    let link = topology.link(id);
    let Some(Direction { dim, positive }) = link.direction else { return false };
    let dims: Vec<usize> = (0..torus.extents.len()).filter(|&dim| torus.extents[dim] > 1).collect();
    let turn = chunk as usize % dims.len().max(1);
    let other_side = chunk as usize / dims.len().max(1) % 2;
    // The dimension of this step, and the number of earlier steps on it.
    let mut before = step;
    let current = dims.iter().cycle().skip(turn).find(|&&dim| {
        let mine = before < swaps_along(torus, dim);
        before -= if mine { 0 } else { swaps_along(torus, dim) };
        mine
    });
    let (extent, position) = (torus.extents[usize::from(dim)], torus.position(link.from, usize::from(dim)) as usize);
    let both_cables = extent == 2 && torus.wrap[usize::from(dim)];
    current == Some(&usize::from(dim))
        && match extent {
            // If two cables join two ranks, each has half of the classes.
            2 => !both_cables || (positive == (position == other_side)),
            // With the neighbor above or below, in turn.
            _ => positive == (position + before + other_side).is_multiple_of(2),
        }
}
