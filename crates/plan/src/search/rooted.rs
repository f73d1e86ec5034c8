//! Broadcast and reduce alike: chunks spread from the root, and a reduce is read backward in time over reversed links.
//!
//! Shared by `pipeline` and the trees in time of [`Arborescences`](crate::Arborescences).

use std::ops::Range;

use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{LiveLink, Network};
use crate::model::task::Task;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};

/// The network as seen from the root.
pub(crate) struct Rooted {
    /// With all links reversed for a reduce.
    pub network: Network,
    pub root: u32,
    is_reversed: bool,
}

impl Rooted {
    /// `None` if nothing has to move.
    ///
    /// # Errors
    ///
    /// If ranks cannot be reached.
    pub fn new(problem: &Problem) -> Result<Option<Self>, PlanError> {
        let kind = &problem.collective().kind;
        let Some(root) = kind.root().filter(|_| !problem.is_trivial()) else { return Ok(None) };
        let network = Network::new(problem);
        problem.check_connected()?;
        let is_reversed = kind.is_to_root();
        let network = if is_reversed { Network::reversed(problem) } else { network };
        Ok(Some(Self { network, root: root.0, is_reversed }))
    }

    /// The schedule of hops away from the root: `hops` states that, in a step counted from 0, a link carries parts.
    /// Idle steps are kept only if the task states the number of steps.
    pub fn write(
        &self,
        task: &Task<'_>,
        steps: usize,
        hops: impl FnOnce(&mut dyn FnMut(usize, LiveLink, Range<u32>)),
    ) -> Schedule {
        let op = if self.is_reversed { Op::Reduce } else { Op::Copy };
        let mut moves = Moves::new(steps);
        hops(&mut |step, link, parts| moves.add(step, self.network.ids[link as usize], op, parts.map(ChunkId)));
        if self.is_reversed {
            moves.reverse();
        }
        let keeps_idle = task.steps.is_some();
        let width = |_, needed: u32| (needed > 0 || keeps_idle).then_some(needed.max(1));
        moves.write(task.problem.topology(), width)
    }
}
