//! Flooding: a barrier in as many steps as the machine is wide.
//!
//! Every rank tells its neighbours of all arrivals it knows of, in every step in which they may not know them yet.
//! After as many steps as the farthest two ranks are hops apart, every rank knows of every arrival.
//!
//! ```text
//!   step 1:  0 <-> 1 <-> 2 <-> 3      rank 1 knows {0,1,2}
//!   step 2:  0 <-> 1 <-> 2 <-> 3      rank 1 knows {0,1,2,3}
//! ```
//!
//! * **Applies** to barrier on any connected topology.
//! * **Steps**: the largest distance, which is the bound. Every step has width 1.
//! * **Complexity**: O(steps * links * N / 64) for the sets of arrivals.
//!
//! An arrival that is told twice is no harm, so nothing has to be arranged; compare the two waves of a ring barrier,
//! which take twice as many steps as the ring has ranks.

use crate::error::check_kind;
use crate::{Control, Outcome, PlanError, Planner, StopReason, Task};
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
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
        let mut builder = Schedule::builder();
        for _ in 0..least {
            let before = known.clone();
            builder.step(1);
            for id in topology.live_links() {
                let (from, to) = (topology.link(id).from.index(), topology.link(id).to.index());
                // Two neighbours may tell the same in one step; only what is new since the last step, and not yet told
                // in this one, is worth a transfer.
                if known[to].learn(&before[from]) {
                    builder.transfer_over(topology, id, Op::Reduce, [ChunkId(0)]);
                }
            }
        }
        Ok(Outcome::new(builder.finish(), StopReason::Finished))
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
