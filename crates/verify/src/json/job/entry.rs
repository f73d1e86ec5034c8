//! What job files state, key by key.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

use crate::json::object::{Object, stated};
use crate::json::scalar::{RankEntry, RationalEntry};
use crate::json::schedule::entry::{BoundsEntry, CollectiveEntry, OriginEntry, StepEntry, TopologyFile};

/// Schedules of several collectives on one machine that run together, step by step.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct JobFile {
    /// The format and its version.
    #[serde(rename = "format")]
    #[cfg_attr(feature = "schema", schemars(extend("const" = "collective-job/1")))]
    pub format: String,
    /// The machine and what failed.
    pub topology: Object<TopologyFile>,
    /// The schedules: equally many steps of the same widths, in which they share the links.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub schedules: Vec<Object<ScheduleEntry>>,
    /// A lower bound on the sum of the widths, with its evidence. Never trusted: a verifier recomputes what it claims.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "BoundEntry"))]
    pub bound: Option<Object<BoundEntry>>,
    /// Where the job came from. For people; nothing depends on it.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "OriginEntry"))]
    pub origin: Option<Object<OriginEntry>>,
}

/// The schedule of one of the collectives.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Schedule"))]
pub(super) struct ScheduleEntry {
    /// What is to be done.
    pub collective: Object<CollectiveEntry>,
    /// The groups of ranks that carry it out, each for itself: disjoint lists of members. Left out: all ranks together.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<RankEntry>>"))]
    pub groups: Option<Vec<Vec<RankEntry>>>,
    /// With `groups`: may ranks outside a group carry its chunks? Left out: they may.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub relays: Option<bool>,
    /// The steps of the job, each with the transfers of this collective.
    pub steps: Vec<Object<StepEntry>>,
    /// Lower bounds for this collective alone.
    #[serde(default)]
    pub bounds: Object<BoundsEntry>,
}

/// At least this total width, in chunks: weights of links, for which all collectives compete.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "JobBound"))]
pub(super) struct BoundEntry {
    pub at_least: RationalEntry,
    /// `[from, to, weight]`: the weight of a link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<(RankEntry, RankEntry, u32)>,
    /// Weights of the links that enter a set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<Object<CutEntry>>,
    /// Weights of the links between blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Object<PartitionEntry>>,
}

/// A set of live ranks, and the weight of each link that enters it.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "WeightedCut"))]
pub(super) struct CutEntry {
    pub ranks: Vec<RankEntry>,
    pub weight: u32,
}

/// Disjoint blocks that hold every live rank, and the weight of each link from one to another.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "WeightedPartition"))]
pub(super) struct PartitionEntry {
    pub blocks: Vec<Vec<RankEntry>>,
    pub weight: u32,
}
