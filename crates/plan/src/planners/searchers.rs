//! The planners that search, apart from the registry so that a planner can run the others.

use crate::model::planner::Planner;
use crate::planners::exchange::Exchange;
use crate::planners::flood::Flood;
use crate::planners::matching::Matching;
use crate::planners::negotiated::Negotiated;
use crate::planners::rooted::arborescences::Arborescences;
use crate::planners::rooted::flow_over_time::FlowOverTime;
use crate::planners::template::Template;
use crate::planners::trees::negotiated::Trees;
use crate::planners::trees::spanning_trees::SpanningTrees;

/// In the order of the registry.
pub(crate) const SEARCHERS: [&dyn Planner; 9] =
    [&Template, &FlowOverTime, &Negotiated, &Arborescences, &Matching, &Trees, &SpanningTrees, &Flood, &Exchange];
