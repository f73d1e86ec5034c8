//! The registry of planners.

use super::{
    Arborescences, BinaryTree, Composed, Dor, Exchange, Flood, FlowOverTime, FoldedRing, Lp, Mate, MateE, Negotiated,
    OpenRing, PlanError, Planner, RingOfRanks, Rings, Smt, SpanningTrees, Template, Trees, Wfr,
};

/// The SMT planner with its default options.
const SMT: &dyn Planner = &Smt::new();

/// All planners, in the order in which planning tries them.
pub fn planners() -> &'static [&'static dyn Planner] {
    &[
        &Template,
        &FlowOverTime,
        &Negotiated,
        &Arborescences,
        &Trees,
        &SpanningTrees,
        &Flood,
        &Lp,
        SMT,
        &Rings::DIM_ROTATION,
        &Rings::HALF_RING,
        &Rings::RING,
        &Rings::RING_PIPELINE,
        &FoldedRing,
        &OpenRing,
        &Mate::FOLDED,
        &Mate::OPEN,
        &MateE::SHARED,
        &MateE::EACH,
        &MateE::OPEN,
        &Dor,
        &Wfr,
        &Exchange,
        &RingOfRanks::ALL_REDUCE,
        &RingOfRanks::GATHER,
        &BinaryTree,
        &RingOfRanks::TWO_WAVE,
        &Composed,
    ]
}

/// The planner of this name.
///
/// # Errors
///
/// [`PlanError::UnknownPlanner`] with the names there are.
pub fn planner_named(name: &str) -> Result<&'static dyn Planner, PlanError> {
    let unknown = || PlanError::UnknownPlanner {
        name: name.to_owned(),
        known: planners().iter().map(|planner| planner.name()).collect(),
    };
    planners().iter().copied().find(|planner| planner.name() == name).ok_or_else(unknown)
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
