//! The planners that search, apart from the registry so that a planner can run the others.

use super::{
    Arborescences, Exchange, Flood, FlowOverTime, Matching, Negotiated, Planner, SpanningTrees, Template, Trees,
};

/// In the order of the registry.
pub(crate) const SEARCHERS: [&dyn Planner; 9] =
    [&Template, &FlowOverTime, &Negotiated, &Arborescences, &Matching, &Trees, &SpanningTrees, &Flood, &Exchange];
