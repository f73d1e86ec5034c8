//! The hop count: every live link weighs 1, so the volume is at least all hops of all messages over all capacity.

use super::count::Count;
use super::evidence::unit_weights;
use super::reach::Reach;
use collsynth_core::certificate::{Evidence, Rational};
use collsynth_core::problem::Problem;

pub struct HopCount {
    /// Hops of all messages (chunks, for `all_to_allv`) on their shortest paths.
    pub hops: u64,
    pub links: u64,
    pub capacity: u64,
}

impl HopCount {
    /// `None` for kinds whose chunks do not each go from one rank to one rank, or if nothing must move.
    pub fn new(problem: &Problem, reach: &Reach) -> Option<Self> {
        let (topology, hops) = (problem.topology(), reach.hops);
        let links = topology.live_links().count() as u64;
        let capacity = topology.live_links().map(|id| u64::from(topology.link(id).capacity)).sum();
        (hops > 0).then_some(Self { hops, links, capacity })
    }

    /// The least volume that the hops fit in, in messages.
    pub fn volume(&self, problem: &Problem) -> Rational {
        Rational::new(self.hops.into(), i128::from(self.capacity) * Count::of(problem).a_message)
    }

    pub fn evidence(&self, problem: &Problem) -> Evidence {
        Evidence::metric(unit_weights(problem, |_, _| true))
    }
}
