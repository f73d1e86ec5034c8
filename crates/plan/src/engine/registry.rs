//! The registry of planners.

use crate::model::planner::Planner;
use crate::planners::exchange::Exchange;
use crate::planners::flood::Flood;
use crate::planners::matching::Matching;
use crate::planners::mended::Mended;
use crate::planners::negotiated::Negotiated;
use crate::planners::published::binary_tree::BinaryTree;
use crate::planners::published::composed::Composed;
use crate::planners::published::ring_of_ranks::RingOfRanks;
use crate::planners::published::rings::Rings;
use crate::planners::rooted::arborescences::Arborescences;
use crate::planners::rooted::flow_over_time::FlowOverTime;
#[cfg(feature = "smt")]
use crate::planners::smt::Smt;
use crate::planners::template::Template;
use crate::planners::trees::negotiated::Trees;
use crate::planners::trees::packed_trees::PackedTrees;
use crate::planners::trees::spanning_trees::SpanningTrees;

/// The SMT planner with its default options.
#[cfg(feature = "smt")]
const SMT: &dyn Planner = &Smt::new();

/// The planners of this crate, in the order that planning tries them.
pub fn planners() -> &'static [&'static dyn Planner] {
    &[
        &Template,
        &FlowOverTime,
        &Mended,
        &Negotiated,
        &Arborescences,
        &PackedTrees,
        &Matching,
        &Trees,
        &SpanningTrees,
        &Flood,
        #[cfg(feature = "smt")]
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
    use crate::model::planner::AutoUse;
    use crate::planners::searchers::SEARCHERS;

    #[test]
    fn what_searches_is_always_used() {
        let always = |name: &str| {
            planners().iter().any(|planner| planner.name() == name && planner.auto_use() == AutoUse::Always)
        };
        assert!(SEARCHERS.iter().all(|planner| always(planner.name())));
    }
}
