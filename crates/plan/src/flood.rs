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
//! Barrier on any connected topology.
//!
//! # Steps and volume
//!
//! The largest distance between live ranks, which is the bound; every step has width 1. The two waves of a ring barrier
//! ([`RingOfRanks::TWO_WAVE`](super::RingOfRanks::TWO_WAVE)) take twice as many steps as the ring has ranks.
//!
//! # Complexity
//!
//! O(steps * links * N / 64) for the sets of arrivals.
//!
//! # Reference
//!
//! Segall, "Distributed network protocols", IEEE Transactions on Information Theory 1983, for propagation of
//! information by flooding.

use crate::error::check_kind;
use crate::moves::Moves;
use crate::{Control, Outcome, PlanError, Planner, StopReason, Task};
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{Distances, Topology};

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

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        check_kind(self.name(), problem, &["barrier"])
    }

    fn plan(&self, task: &Task<'_>, _control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let topology = task.problem.topology();
        task.problem.check_connected(&Distances::new(topology))?;
        let least = task.steps_or(task.bounds.least_steps())?;
        if least > task.bounds.least_steps() {
            let limit = format!("{least} steps: it takes {}", task.bounds.least_steps());
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let mut known: Vec<Arrivals> = (0..topology.rank_count()).map(|rank| Arrivals::of(rank, topology)).collect();
        let mut moves = Moves::new(least as usize);
        for step in 0..least as usize {
            let before = known.clone();
            for id in topology.live_links() {
                let (from, to) = (topology.link(id).from.index(), topology.link(id).to.index());
                // Only arrivals that the receiver has not heard of, in this step or before, are worth a transfer.
                if known[to].learn(&before[from]) {
                    moves.add(step, id, Op::Reduce, [ChunkId(0)]);
                }
            }
        }
        Ok(Outcome::new(moves.write(topology, |_, _| Some(1)), StopReason::Finished))
    }
}

/// A set of ranks that have arrived, as bits.
#[derive(Clone, Debug)]
struct Arrivals(Vec<u64>);

impl Arrivals {
    fn of(rank: usize, topology: &Topology) -> Self {
        let mut bits = vec![0; topology.rank_count().div_ceil(64)];
        bits[rank / 64] = 1 << (rank % 64);
        Self(bits)
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
