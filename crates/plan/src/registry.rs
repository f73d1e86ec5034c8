//! The registry of planners.

use super::{
    Arborescences, BinaryTree, Composed, Exchange, Flood, FlowOverTime, Lp, Matching, Mended, Negotiated,
    OverlappingTrees, PackedTrees, Planner, RingOfRanks, Rings, Smt, SpanningTrees, Template, TimedTrees, Trees,
};

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
    use crate::AutoUse;
    use crate::searchers::SEARCHERS;

    #[test]
    fn what_searches_is_always_used() {
        let always = |name: &str| {
            planners().iter().any(|planner| planner.name() == name && planner.auto_use() == AutoUse::Always)
        };
        assert!(SEARCHERS.iter().all(|planner| always(planner.name())));
    }
}
