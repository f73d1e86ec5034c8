//! The registry of planners.

use super::{
    Arborescences, BinaryTree, Composed, Exchange, Flood, FlowOverTime, Lp, Negotiated, PackedTrees, Planner,
    RingOfRanks, Rings, Smt, SpanningTrees, Template, Trees,
};

/// The SMT planner with its default options.
const SMT: &dyn Planner = &Smt::new();

/// The planners of this crate, in the order that planning tries them.
pub fn planners() -> &'static [&'static dyn Planner] {
    &[
        &Template,
        &FlowOverTime,
        &Negotiated,
        &Arborescences,
        &Trees,
        &PackedTrees,
        &SpanningTrees,
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
    fn the_searchers_are_those_always_used() {
        let always = planners().iter().filter(|planner| planner.auto_use() == AutoUse::Always);
        let names: Vec<&str> = always.map(|planner| planner.name()).collect();
        assert_eq!(names, SEARCHERS.map(|planner| planner.name()));
    }
}
