//! Phases: the stretches of a schedule that its algorithm counts as one.
//!
//! Papers on phased algorithms charge a start-up per phase, and the load of its fullest link as volume; a schedule of
//! store-and-forward steps pays a start-up per step, and fills pipelines. Both costs follow from a schedule and its
//! phases. If an edge of a logical ring is a walk over several links, the paper charges a start-up for each of them
//! (Qin et al., MICRO 2025, table 1: FoldedRing's `(N-1) alpha`).

use std::ops::Range;

use collsynth_core::certificate::Rational;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Schedule, Timetable};

/// A stretch of a schedule that its algorithm counts as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its name: `rotation 1`, `acceleration 2`.
    pub name: String,
    /// Its steps, counted from 0.
    pub steps: Range<usize>,
    /// The load of its fullest link per unit of capacity, in messages.
    pub load: Rational,
    /// The links of its longest logical edge, each charged a start-up: 1 if neighbors send to neighbors.
    pub startups: u32,
}

/// A phase as its algorithm states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedPhase {
    /// Its name.
    pub name: String,
    /// The start-ups it is charged.
    pub startups: u32,
}

impl Phase {
    /// The total load of phases: the volume that papers state.
    pub fn total_load(phases: &[Self]) -> Rational {
        phases.iter().map(|phase| phase.load).sum()
    }

    /// The total start-ups of phases.
    pub fn total_startups(phases: &[Self]) -> u32 {
        phases.iter().map(|phase| phase.startups).sum()
    }

    /// Measures consecutive phases of a schedule, given each stated phase and its number of steps; omits phases without
    /// a step. O(moves + phases * links).
    pub fn measure(
        problem: &Problem,
        schedule: &Schedule,
        lengths: impl IntoIterator<Item = (StatedPhase, usize)>,
    ) -> Vec<Self> {
        let topology = problem.topology();
        let mut begin = 0;
        let measured = lengths.into_iter().map(|(StatedPhase { name, startups }, length)| {
            let steps = begin..begin + length;
            begin = steps.end;
            let carried = schedule.carried(problem, &mut steps.clone().map(|step| step as u32 + 1));
            let load = topology
                .live_links()
                .map(|id| Rational::new(carried[id.index()].into(), topology.link(id).capacity.into()));
            let load = load.max().unwrap_or_default() / i128::from(problem.parts());
            Self { name, steps, load, startups }
        });
        measured.filter(|phase| !phase.steps.is_empty()).collect()
    }
}
