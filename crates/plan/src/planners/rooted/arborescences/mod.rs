//! Pipelined edge-disjoint arborescences: broadcast and reduce at the rate of the least cut.
//!
//! # Idea
//!
//! As many arborescences (directed spanning trees) as the least cut from the root allows lead from the root to all
//! ranks, no link in two of them. The parts of the message are dealt out to them and follow each other through each
//! tree: a link carries a new part in every step.
//!
//! ```text
//!   root -> a -> b      parts 0, 2, 4, ...        step    1    2    3    4
//!   root -> b -> a      parts 1, 3, 5, ...        root->a 0    2    4
//!                                                 a->b         0    2    4
//! ```
//!
//! A reduce is read backward in time over reversed links.
//!
//! # Applies
//!
//! Broadcast and reduce on any topology, with any failures. Capacities are counted in units of their greatest common
//! divisor, or in coarser units where that would give more than 64 arborescences.
//!
//! # Steps and volume
//!
//! Through `k` arborescences of depth `d`, `n` parts take `S = ceil(n / k) + d - 1` steps of width 1: `V = S / n`,
//! which tends to the bound `1 / k` as the parts grow. Steps `w` times as wide are about `w` times fewer, and cost
//! `(w - 1) (d - 1)` more width; the price of time decides. On a 4x4x4 torus, `k = 6` and `d = 7`: the last rank on the
//! tree that begins with `x+` is a neighbor of the antipode, seven hops away along that tree.
//!
//! # Complexity
//!
//! Growing the trees takes O(k * links) searches for up to `k` paths; most are short. Making them shallow takes a fixed
//! number of moves of O(N) each at most.
//!
//! # Reference
//!
//! Edmonds, "Edge-disjoint branchings", 1973; Lovasz, "On two minimax theorems in graph", JCTB 1976, whose proof is the
//! construction; Johnsson and Ho, "Optimum broadcasting and personalized communication in hypercubes", IEEE ToC 1989,
//! for the pipeline through several trees.

mod packing;
mod shallow;

use fastrand::Rng;

use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::network::Network;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use crate::search::pipeline::{Arborescence, pipelined};
use collsynth_bound::pace::Pace;
use packing::{MOST, Packing};
use shallow::Shallow;

/// The planner of pipelined arborescences.
///
/// ```
/// use collsynth_plan::{Arborescences, Control, Goal, Parts, synthesize};
/// use collsynth_core::{collective::Kind, topology::{RankId, Topology}};
///
/// let goal = Goal { planner: Some(&Arborescences), parts: Parts::Fixed(40), ..Goal::default() };
/// let kind = Kind::Broadcast(RankId(0));
/// let schedule = synthesize(&Topology::torus(&[4, 4])?, &kind, &goal, &Control::unlimited())?.schedule;
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

    fn scope(&self) -> Scope {
        Scope::of(&["broadcast", "reduce"])
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        pipelined(self.name(), task, control, |network, root| arborescences(task, network, root, control))
    }
}

/// As many arborescences as the parts can use, as shallow as the search makes them, with the unit of their capacities;
/// `None` if it is stopped before there are any.
fn arborescences(task: &Task<'_>, network: &Network, root: u32, control: &Control) -> Option<(u32, Vec<Arborescence>)> {
    let stop = || control.stop().is_some();
    let pace = Pace::new(&stop);
    let divisor = network.capacity.iter().copied().fold(0, num_integer::gcd).max(1);
    let in_units = |unit: u32| -> Vec<u32> { network.capacity.iter().map(|capacity| capacity / unit).collect() };
    let packing = |unit| Packing::new(network, root, &in_units(unit), task.problem.parts().min(MOST), &pace);
    let (mut unit, mut best) = (divisor, packing(divisor)?);
    // At the limit, coarser units may carry more.
    while best.count() == MOST
        && let Some(coarser) = unit.checked_mul(2)
    {
        let found = packing(coarser)?;
        if u64::from(found.count()) * 2 <= u64::from(best.count()) {
            break;
        }
        (unit, best) = (coarser, found);
    }
    let mut rng = Rng::with_seed(task.seed);
    let trees = best.grow(&mut rng, &pace)?;
    let mut shallow = Shallow::new(network, root, in_units(unit), trees, rng);
    shallow.improve(control);
    Some((unit, shallow.into_arborescences()))
}
