//! The binary tree: the classical broadcast, and reduce.
//!
//! # Idea
//!
//! Number the live ranks from the root on, wrapping around. Rank `r` in this order forwards what it receives to the
//! ranks `2r + 1` and `2r + 2`.
//!
//! ```text
//!          0             the tree ignores the machine: between ranks that are not neighbors,
//!        1   2           everything goes hop by hop along a shortest path of live links
//!       3 4 5 6
//! ```
//!
//! A rank on such a path keeps what passes. If the path to a child leads through ranks that have it anyway, it begins
//! at the last of them, so no link carries a part twice, and parts follow each other without contention. A reduce is
//! read backward in time over reversed links: each rank adds its contribution to what passes.
//!
//! # Applies
//!
//! Broadcast and reduce on any topology, with any failures.
//!
//! # Steps and volume
//!
//! `n` parts take `S = n + d - 1` steps of width 1, where `d` is the most hops from the root along the tree: with links
//! between all ranks `d = floor(log2 N)`, on a line from its end `d = N-1`. `V` tends to 1, whatever the number of
//! links; [`Arborescences`](crate::Arborescences) divide it by the least cut.
//!
//! # Complexity
//!
//! O(N * hops * degree).
//!
//! # Reference
//!
//! Pjesivac-Grbovic et al., "Performance analysis of MPI collective operations", Cluster Computing 2007, on pipelined
//! binary trees and their cost.

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::network::Network;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use crate::search::pipeline::{Arborescence, Parents, pipelined};
use crate::search::rooted::Rooted;
use collsynth_bound::pace::Pace;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::UNREACHABLE;

/// Broadcast and reduce along the binary tree of rank numbers.
///
/// ```
/// use collsynth_core::collective::Kind;
/// use collsynth_plan::{BinaryTree, Control, Goal, Parts, synthesize};
/// use collsynth_core::topology::{RankId, Topology};
///
/// let goal = Goal { planner: Some(&BinaryTree), parts: Parts::Fixed(4), ..Goal::default() };
/// let kind = Kind::Broadcast(RankId(0));
/// let schedule = synthesize(&Topology::torus(&[2, 2])?, &kind, &goal, &Control::unlimited())?.schedule;
/// // 0 to 1 and 2, 1 to 3: depth 2.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (5, 5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BinaryTree;

impl Planner for BinaryTree {
    fn name(&self) -> &'static str {
        "binary_tree"
    }

    fn summary(&self) -> &'static str {
        "broadcast, reduce along a binary tree of the rank numbers"
    }

    fn is_baseline(&self) -> bool {
        true
    }

    fn scope(&self) -> Scope {
        Scope::of(&["broadcast", "reduce"])
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        task.steps_or(task.bounds.least_steps())?;
        let Some(rooted) = Rooted::new(task.problem)? else {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        };
        pipelined(self.name(), task, &rooted, control, |network, root| {
            let parents = binary_tree(task.problem, network, root, control)?;
            // As many parts side by side as the weakest link of the tree carries.
            let tree = Arborescence::new(network, root, parents);
            let weakest = tree.reached().map(|(link, _)| network.capacity[link as usize]).min();
            Some((weakest.unwrap_or(1), vec![tree]))
        })
    }
}

/// `None` if it is stopped.
fn binary_tree(problem: &Problem, network: &Network, root: u32, control: &Control) -> Option<Parents> {
    let stop = || control.stop().is_some();
    let pace = Pace::new(&stop);
    let mut ranks: Vec<u32> = problem.topology().live_ranks().map(|rank| rank.0).collect();
    let first = ranks.iter().position(|&rank| rank == root).unwrap_or(0);
    ranks.rotate_left(first);
    let mut parents = Arborescence::nothing_reached(network);
    for (number, &child) in ranks.iter().enumerate().skip(1) {
        if pace.is_over(network.link_count() as u64) {
            return None;
        }
        let to_child = network.distance_to(child);
        // Over links of one direction, only the root is sure to reach all.
        let parent = ranks[(number - 1) / 2];
        let mut at = if to_child(parent) == u32::from(UNREACHABLE) { root } else { parent };
        let mut path = Vec::new();
        while at != child {
            let nearer = |&&link: &&u32| to_child(network.to[link as usize]) < to_child(at);
            let Some(&link) = network.out(at).iter().find(nearer) else { break };
            at = network.to[link as usize];
            path.push(link);
        }
        // Backward, from the child to the last rank that already receives everything.
        for link in path.into_iter().rev() {
            let to = network.to[link as usize];
            if to == root || Arborescence::is_reached(&parents, to) {
                break;
            }
            parents[to as usize] = link;
        }
    }
    Some(parents)
}
