//! The registry of planners.

use crate::arborescences::Arborescences;
use crate::binary_tree::BinaryTree;
use crate::composed::Composed;
use crate::exchange::Exchange;
use crate::flood::Flood;
use crate::flow_over_time::FlowOverTime;
use crate::lp::Lp;
use crate::matching::Matching;
use crate::mended::Mended;
use crate::negotiated::Negotiated;
use crate::overlapping_trees::OverlappingTrees;
use crate::packed_trees::PackedTrees;
use crate::planner::Planner;
use crate::ring_of_ranks::RingOfRanks;
use crate::rings::Rings;
use crate::smt::Smt;
use crate::spanning_trees::SpanningTrees;
use crate::template::Template;
use crate::timed_trees::TimedTrees;
use crate::trees::Trees;

/// The SMT planner with its default options.
const SMT: &dyn Planner = &Smt::new();

/// The planners of this crate, in the order that planning tries them.
pub fn planners() -> &'static [&'static dyn Planner] {
    &[
        &Template,
        &FlowOverTime,
        &Mended,
        &Negotiated,
        &Arborescences,
        &TimedTrees,
        &PackedTrees,
        &Matching,
        &Trees,
        &SpanningTrees,
        &OverlappingTrees,
        &Flood,
        &Lp,
        SMT,
        &Rings::DIM_ROTATION,
        &Rings::HALF_RING,
        &Rings::RING,
        &Rings::RING_PIPELINE,
        &Exchange,
        &RingOfRanks::ALL_REDUCE,
        &RingOfRanks::GATHER,
        &BinaryTree,
        &RingOfRanks::TWO_WAVE,
        &Composed,
    ]
}

#[cfg(test)]
mod tests {
    use super::planners;
    use crate::planner::AutoUse;
    use crate::searchers::SEARCHERS;

    #[test]
    fn what_searches_is_always_used() {
        let always = |name: &str| {
            planners().iter().any(|planner| planner.name() == name && planner.auto_use() == AutoUse::Always)
        };
        assert!(SEARCHERS.iter().all(|planner| always(planner.name())));
    }
}
