//! The planners that search, apart from the registry so that a planner can run the others.

use super::{Arborescences, Exchange, Flood, FlowOverTime, Negotiated, Planner, SpanningTrees, Template, Trees};

/// In the order of the registry.
pub(crate) const SEARCHERS: [&dyn Planner; 8] =
    [&Template, &FlowOverTime, &Negotiated, &Arborescences, &Trees, &SpanningTrees, &Flood, &Exchange];
