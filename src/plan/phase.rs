//! Phases: the stretches of a schedule that its algorithm counts as one.
//!
//! Papers about phased algorithms charge a start-up for each phase, and for its volume the load of the fullest link; a
//! schedule of store-and-forward steps pays a start-up for each step, and the filling of pipelines on top. Both can be
//! told from a schedule and its phases.

use std::ops::Range;

use crate::certificate::Rational;
use crate::problem::Problem;
use crate::schedule::{LinkLoads, Schedule};

/// A stretch of a schedule that its algorithm counts as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What happens in it: `rotation 1`, `acceleration 2`.
    pub name: String,
    /// Its steps, counted from 0: the first, and the one after the last.
    pub steps: Range<usize>,
    /// What its fullest link carries, for each unit of its capacity, in messages.
    pub load: Rational,
}

impl Phase {
    /// The sum of the loads of phases: the volume that papers state.
    pub fn total_load(phases: &[Self]) -> Rational {
        phases.iter().map(|phase| phase.load).sum()
    }

    /// Measures consecutive phases of a schedule, given their names and how many steps each has; those without a step
    /// are left out. O(moves + steps * links).
    pub(super) fn measure(
        problem: &Problem,
        schedule: &Schedule,
        lengths: impl IntoIterator<Item = (String, usize)>,
    ) -> Vec<Self> {
        let loads = LinkLoads::new(problem, schedule);
        let topology = problem.topology();
        let mut begin = 0;
        let measured = lengths.into_iter().map(|(name, length)| {
            let steps = begin..begin + length;
            begin = steps.end;
            let load = topology.live_links().map(|id| {
                let carried: u64 = steps.clone().map(|step| loads.get(step as u32 + 1, id)).sum();
                Rational::new(carried.into(), topology.link(id).capacity.into())
            });
            let load = load.max().unwrap_or_default() / i128::from(problem.parts());
            Self { name, steps, load }
        });
        measured.filter(|phase| !phase.steps.is_empty()).collect()
    }
}
