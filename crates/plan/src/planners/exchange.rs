//! Exchange all-reduce: neighbors swap sums, dimension after dimension, in few steps.
//!
//! # Idea
//!
//! Along a dimension, the sums of blocks of ranks double in size. The sum of a block is at the two ranks in its middle:
//! a line of two takes one step. To join two blocks, their sums walk toward each other, over ranks whose own sums are
//! needed no more, until they are at neighbors, which swap and add. All blocks that begin at a multiple of the half
//! do so at once, and so every partial sum serves two blocks. At the end the whole is at two opposite pairs of the
//! ring, and spreads. All ranks get bitwise the same sums, since `a + b` is `b + a`.
//!
//! ```text
//!   ring of eight   step 1   0-1  2-3  4-5  6-7          swap: sums of two
//!                   step 2   1-2  3-4  5-6  7-0          swap: 1 and 2 have 0..3, 5 and 6 have 4..7, 3 and 4 have 2..5
//!                   step 3   2>3  5>4  6>7  1>0          walk, in place of what 3, 4, 7 and 0 have
//!                   step 4   3-4  7-0                    swap: all
//!                   step 5   3>2  4>5  0>1  7>6          spread
//! ```
//!
//! Only a few links are busy in a step, so the vector is cut in classes, each with another order of dimensions and
//! another place on the rings: class `c` begins with dimension `c mod D`, and its rings are turned by `c / D`. (On
//! unequal extents beyond 4, all begin with the first.)
//!
//! # Applies
//!
//! All_reduce on intact tori whose extents are 1, 2 and, wrapped, powers of two.
//!
//! # Steps and volume
//!
//! `S` = the sum over the dimensions of `3 k / 4 - 1`, 1 where the extent `k` is 2. On extents up to 4, that is the
//! diameter, fewer than which no all-reduce takes. Where all `D` extents are 4, `V` = 1 in `2 D` parts: every step
//! sends every part once, over `2 D` links; where they are 8, `V` = 7/4 in `4 D` parts.
//! [`SpanningTrees`](crate::SpanningTrees) take more steps and less volume, so this planner is for small vectors.
//!
//! # Complexity
//!
//! O(N * D * S * (D * longest extent + parts)).
//!
//! # Reference
//!
//! Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 2005, section
//! 4.5, on recursive doubling; the blocks are those of Swing (De Sensi et al., NSDI 2024, section 3.1), whose exchanges
//! span several hops. Walking over sums that are needed no more is our own.

use itertools::Itertools;

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::planner::scope::{Machines, Scope};
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
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
        "all_reduce of small vectors in few steps: neighbors swap sums; intact tori whose extents are powers of two"
    }

    fn scope(&self) -> Scope {
        Scope::of(&["all_reduce"]).on(Machines::IntactTori)
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        self.torus(problem).map(|_| ())
    }

    /// One for each dimension and each turn of its ring.
    fn natural_parts(&self, problem: &Problem) -> Option<u32> {
        let torus = self.torus(problem).ok()?;
        let longest = torus.extents.iter().copied().max().unwrap_or(1);
        let dims = torus.extents.iter().filter(|&&extent| extent > 1).count() as u32;
        Some((dims * (longest / 2)).max(1))
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        let torus = self.torus(task.problem)?;
        let rounds = rounds(torus);
        task.check_steps(self.name(), rounds)?;
        let (topology, parts) = (task.problem.topology(), task.problem.parts());
        let order = Order::of(torus);
        let mut moves = Moves::new(rounds);
        for step in 0..rounds {
            if let Some(stopped) = control.stop() {
                return Err(PlanError::Stopped { stopped });
            }
            for link in (0..topology.links().len() as u32).map(LinkId) {
                // All chunks of a class and a turn go the same ways.
                for first in 0..order.alike().min(parts) {
                    if let Some(op) = order.op_over(topology, torus, link, first, step) {
                        let alike = (first..parts).step_by(order.alike() as usize);
                        moves.add(step, link, op, alike.map(ChunkId));
                    }
                }
            }
        }
        let schedule = moves.write(topology, |_, needed| Some(needed.max(1)));
        Ok(Outcome::new(schedule, StopReason::Finished))
    }
}

impl Exchange {
    fn torus<'a>(&self, problem: &'a Problem) -> Result<&'a Torus, PlanError> {
        let refuse = |reason: &str| Err(PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() });
        let torus = self.scope().torus(self.name(), problem)?;
        let closed = |dim: usize| torus.extents[dim] <= 2 || (torus.extents[dim].is_power_of_two() && torus.wrap[dim]);
        if torus.is_twisted() {
            return refuse("the torus is twisted");
        }
        if (0..torus.extents.len()).all(closed) {
            Ok(torus)
        } else {
            refuse("it needs extents of 1, 2 and, closed, powers of two")
        }
    }
}

/// The steps along a dimension of this extent.
fn steps_along(extent: u32) -> usize {
    match extent {
        1 => 0,
        2 => 1,
        _ => (3 * extent / 4 - 1) as usize,
    }
}

fn rounds(torus: &Torus) -> usize {
    torus.extents.iter().map(|&extent| steps_along(extent)).sum()
}

/// The orders in which classes of chunks go along the dimensions.
struct Order {
    /// Those that have more than one position.
    dims: Vec<usize>,
    classes: u32,
    /// Turns of the longest ring, which is a multiple of the others.
    turns: u32,
}

impl Order {
    fn of(torus: &Torus) -> Self {
        let dims: Vec<usize> = (0..torus.extents.len()).filter(|&dim| torus.extents[dim] > 1).collect();
        // In a step of a dimension, all its links copy or all add. Dimensions of unequal length would fall out of step.
        let extents = || dims.iter().map(|&dim| torus.extents[dim]);
        let rotates = extents().all_equal() || extents().all(|extent| extent <= 4);
        let classes = if rotates { (dims.len() as u32).max(1) } else { 1 };
        Self { classes, turns: extents().max().unwrap_or(1), dims }
    }

    /// Chunks whose numbers differ by this go the same ways.
    fn alike(&self) -> u32 {
        self.classes * self.turns
    }

    /// What a link does with a chunk in a step, if it carries it.
    fn op_over(&self, topology: &Topology, torus: &Torus, id: LinkId, chunk: u32, step: usize) -> Option<Op> {
        let link = topology.link(id);
        let Direction { dim, positive } = link.direction?;
        let (first, turn) = ((chunk % self.classes) as usize, chunk / self.classes);
        // The dimension of this step, and the number of earlier steps on it.
        let mut before = step;
        let current = self.dims.iter().cycle().skip(first).find(|&&dim| {
            let length = steps_along(torus.extents[dim]);
            let mine = before < length;
            before -= if mine { 0 } else { length };
            mine
        });
        let (extent, position) = (torus.extents[usize::from(dim)], torus.position(link.from, usize::from(dim)));
        if current != Some(&usize::from(dim)) {
            return None;
        }
        if extent == 2 {
            // If two cables join two ranks, each has half of the classes.
            let both_cables = torus.wrap[usize::from(dim)];
            return (!both_cables || positive == (position == turn % 2)).then_some(Op::Reduce);
        }
        along_ring(extent, before as u32, (position + extent - turn % extent) % extent, positive)
    }
}

/// What the link up or down from a position of a ring of 4, 8, 16, .. does in a step.
fn along_ring(extent: u32, step: u32, position: u32, up: bool) -> Option<Op> {
    // Seen from below, moving up: a move down is its mirror image.
    let position = if up { position } else { extent - 1 - position };
    let mut before = step;
    let mut half = 1;
    while half < extent {
        // Walking toward the middle of two blocks, then a swap there.
        let length = (half / 2).max(1);
        if before < length {
            let from = if half == 1 { 0 } else { half / 2 + before };
            let op = if before + 1 == length { Op::Reduce } else { Op::Copy };
            return (position % half.max(2) == from % half.max(2)).then_some(op);
        }
        before -= length;
        half *= 2;
    }
    // Upward from the upper rank of either pair that has the whole.
    (position % (extent / 2) == before).then_some(Op::Copy)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use collsynth_core::collective::{Collective, Kind};

    use super::*;

    #[test]
    fn it_stops_when_told() {
        let torus = Topology::torus(&[4, 4]).expect("a torus");
        let problem = Problem::new(torus, Collective { kind: Kind::AllReduce, parts: 4 }).expect("it fits");
        let bounds = collsynth_bound::find(&problem).expect("connected");
        let control = Control::unlimited().with_interrupt(Arc::new(AtomicBool::new(true)));
        let stopped = Exchange.plan(&Task::new(&problem, &bounds), &control).unwrap_err();
        assert_eq!(stopped, PlanError::Stopped { stopped: StopReason::Interrupted });
    }

    #[test]
    fn a_ring_of_eight_as_pictured() {
        let moves = |step: u32| {
            let links = (0..8).cartesian_product([true, false]);
            let carried = links.filter_map(|(from, up)| Some((from, up, along_ring(8, step, from, up)?)));
            carried
                .map(|(from, up, op)| (from, if up { (from + 1) % 8 } else { (from + 7) % 8 }, op))
                .collect::<Vec<_>>()
        };
        let both = |pairs: [(u32, u32); 4]| {
            pairs.iter().flat_map(|&(a, b)| [(a, b, Op::Reduce), (b, a, Op::Reduce)]).sorted().collect::<Vec<_>>()
        };
        assert_eq!(moves(0), both([(0, 1), (2, 3), (4, 5), (6, 7)]));
        assert_eq!(moves(1), both([(1, 2), (3, 4), (5, 6), (7, 0)]));
        let copies = |pairs: [(u32, u32); 4]| pairs.map(|(from, to)| (from, to, Op::Copy)).to_vec();
        assert_eq!(moves(2), copies([(1, 0), (2, 3), (5, 4), (6, 7)]));
        assert_eq!(moves(3), [(0, 7), (3, 4), (4, 3), (7, 0)].map(|(from, to)| (from, to, Op::Reduce)));
        assert_eq!(moves(4), copies([(0, 1), (3, 2), (4, 5), (7, 6)]));
        assert_eq!(steps_along(8), 5);
    }
}
