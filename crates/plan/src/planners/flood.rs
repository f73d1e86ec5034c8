//! Flooding: a barrier in as many steps as the diameter.
//!
//! # Idea
//!
//! In every step, every rank tells each neighbor of all arrivals it knows of, if the neighbor may not know them yet.
//! After as many steps as the two farthest ranks are hops apart, every rank knows of every arrival.
//!
//! ```text
//!   step 1:  0 <-> 1 <-> 2 <-> 3      rank 1 knows {0,1,2}
//!   step 2:  0 <-> 1 <-> 2 <-> 3      rank 1 knows {0,1,2,3}
//! ```
//!
//! Hearing of an arrival twice does no harm, so nothing has to be arranged.
//!
//! # Applies
//!
//! Barrier on any connected topology; in groups, each floods among its members and the ranks on shortest paths between
//! them.
//!
//! # Steps and volume
//!
//! The largest distance between live ranks, which is the bound; every step has width 1. The two waves of a ring barrier
//! ([`RingOfRanks::TWO_WAVE`](crate::RingOfRanks::TWO_WAVE)) take twice as many steps as the ring has ranks.
//!
//! # Complexity
//!
//! O(steps * links * N / 64) for the sets of arrivals.
//!
//! # Reference
//!
//! Segall, "Distributed network protocols", IEEE Transactions on Information Theory 1983, for propagation of
//! information by flooding.

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::Network;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use collsynth_bound::pace::Pace;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{RankId, Topology};

/// The flooding planner.
///
/// ```
/// use collsynth_plan::{Control, Goal, synthesize};
/// use collsynth_core::{collective::Kind, topology::Topology};
///
/// let plan = synthesize(&Topology::torus(&[4, 4])?, &Kind::Barrier, &Goal::default(), &Control::unlimited())?;
/// assert_eq!((plan.planner, plan.schedule.step_count(), plan.schedule.total_width()), ("flood", 4, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Flood;

impl Planner for Flood {
    fn name(&self) -> &'static str {
        "flood"
    }

    fn summary(&self) -> &'static str {
        "barrier on any network with any failures: as many steps as the farthest ranks are apart"
    }

    fn scope(&self) -> Scope {
        Scope::of(&["barrier"]).in_groups(&["barrier"])
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let topology = task.problem.topology();
        task.problem.check_connected()?;
        task.steps_or(0)?;
        let least = task.bounds.least_steps();
        let network = Network::new(task.problem);
        let mut moves = Moves::new(least as usize);
        for chunk in (0..task.problem.chunk_count()).map(ChunkId) {
            if !flood(task.problem, chunk, least as usize, &network, &mut moves, control) {
                return Err(PlanError::Stopped { stopped: control.stop().unwrap_or(StopReason::TimeLimit) });
            }
        }
        let schedule = moves.write(topology, |_, needed| Some(needed.max(1)));
        Ok(Outcome::new(task.in_stated_steps(schedule), StopReason::Finished))
    }
}

/// Adds the moves that tell all members of a group of all others; on the way, only ranks on shortest paths. False if it
/// is stopped.
fn flood(
    problem: &Problem,
    chunk: ChunkId,
    steps: usize,
    network: &Network,
    moves: &mut Moves,
    control: &Control,
) -> bool {
    let topology = problem.topology();
    let members: Vec<RankId> = problem.holders(problem.rule(chunk).before).collect();
    let everyone = members.len() == topology.live_rank_count();
    let between = |rank: RankId| {
        let hops = |from: RankId, to: RankId| network.distance(from.0, to.0);
        let on_path = |&from: &RankId| members.iter().any(|&to| hops(from, rank) + hops(rank, to) == hops(from, to));
        everyone || members.iter().any(on_path)
    };
    let ranks = (0..topology.rank_count() as u32).map(RankId);
    let takes_part: Vec<bool> = ranks.map(|rank| topology.is_alive(rank) && between(rank)).collect();
    let mut known = vec![Arrivals::none(topology); topology.rank_count()];
    members.iter().for_each(|rank| known[rank.index()].add(rank.index()));
    let stop = || control.stop().is_some();
    let pace = Pace::new(&stop);
    for step in 0..steps {
        let before = known.clone();
        if pace.is_over((topology.links().len() * topology.rank_count() / 64) as u64) {
            return false;
        }
        for id in topology.live_links() {
            let (from, to) = (topology.link(id).from.index(), topology.link(id).to.index());
            // Only arrivals that the receiver has not heard of, in this step or before, are worth a transfer.
            if takes_part[from] && takes_part[to] && known[to].learn(&before[from]) {
                moves.add(step, id, Op::Reduce, [chunk]);
            }
        }
    }
    true
}

/// A set of ranks that have arrived, as bits.
#[derive(Clone, Debug)]
struct Arrivals(Vec<u64>);

impl Arrivals {
    fn none(topology: &Topology) -> Self {
        Self(vec![0; topology.rank_count().div_ceil(64)])
    }

    fn add(&mut self, rank: usize) {
        self.0[rank / 64] |= 1 << (rank % 64);
    }

    /// Adds what another knows; true if any of it is new.
    fn learn(&mut self, other: &Self) -> bool {
        let mut new = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        new
    }
}
