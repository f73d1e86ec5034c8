//! The planners that search, apart from the registry so that a planner can run the others.

use crate::arborescences::Arborescences;
use crate::exchange::Exchange;
use crate::flood::Flood;
use crate::flow_over_time::FlowOverTime;
use crate::matching::Matching;
use crate::negotiated::Negotiated;
use crate::planner::Planner;
use crate::spanning_trees::SpanningTrees;
use crate::template::Template;
use crate::trees::Trees;

/// In the order of the registry.
pub(crate) const SEARCHERS: [&dyn Planner; 9] =
    [&Template, &FlowOverTime, &Negotiated, &Arborescences, &Matching, &Trees, &SpanningTrees, &Flood, &Exchange];
