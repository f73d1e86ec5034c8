//! Planning: `collsynth-plan`, the published schemes of `collsynth-baselines`, and all planners by name.

use std::sync::LazyLock;

pub use collsynth_baselines::{Butterfly, Charge, Phased, Routed};
pub use collsynth_plan::*;

/// All planners: those that planning tries, in that order, with the published schemes before the last ones.
pub fn planners() -> &'static [&'static dyn Planner] {
    static ALL: LazyLock<Vec<&'static dyn Planner>> = LazyLock::new(|| {
        let own = collsynth_plan::planners();
        let (before, after) =
            own.split_at(own.iter().position(|own| own.name() == Exchange.name()).unwrap_or(own.len()));
        [before, collsynth_baselines::planners(), after].concat()
    });
    &ALL
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
