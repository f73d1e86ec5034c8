//! What the files state, key by key: types without meaning, from which the JSON Schemas are generated too. The comments
//! on types and keys are the descriptions in the schema.

use std::num::NonZeroU32;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

use crate::json::object::{Object, stated};
use crate::json::scalar::{
    ChunkList, DimEntry, DirectionEntry, FormatEntry, OpEntry, RankEntry, RationalEntry, SwitchEntry,
};

/// A schedule for a collective operation on a machine with failed links.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(transform = keys_that_belong))]
pub(in crate::json) struct ScheduleFile {
    /// The format and its version.
    #[serde(rename = "format")]
    pub _format: FormatEntry,
    /// The machine and what failed.
    pub topology: Object<TopologyFile>,
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
    /// With this, the schedule is in the compact form: the chunks that do not follow the `pattern` of the steps,
    /// ascending. Only they, and chunks of a `without`, have moves in `transfers`. May be empty.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ChunkList"))]
    pub exceptions: Option<ChunkList>,
    /// In the compact form, the extents of cells of a torus that are alike but for `exceptions`; they divide those of
    /// the torus. Left out: every rank is like every other.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u32>", length(min = 1, max = 255), inner(range(min = 1))))]
    pub period: Option<Vec<u32>>,
    /// With `period`: the chunks of ranks of the first cell that do not follow the `pattern`, ascending. They and their
    /// translations by multiples of the period have moves in the `cell` of the steps.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ChunkList"))]
    pub cell: Option<ChunkList>,
    /// All moves of an explicit schedule on a torus, chunk by chunk; the `transfers` of the steps are then empty.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<TreeEntry>"))]
    pub trees: Option<Vec<Object<TreeEntry>>>,
    /// True: the steps, which only reduce, are followed by the same in reverse order, in which every transfer goes back
    /// and copies.
    #[serde(default)]
    pub mirrored: bool,
    /// The steps, in the order in which they run.
    pub steps: Vec<Object<StepEntry>>,
    /// Lower bounds with their evidence. Never trusted: a verifier recomputes what they claim.
    #[serde(default)]
    pub bounds: Object<BoundsEntry>,
    /// Where the schedule came from. For people; nothing depends on it.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "OriginEntry"))]
    pub origin: Option<Object<OriginEntry>>,
}

/// Says in the schema that `relays` belongs to `groups`, a `pattern` and `without` to `exceptions`, a `cell` to
/// `period`, and that `trees` and `exceptions` exclude each other.
#[cfg(feature = "schema")]
fn keys_that_belong(schema: &mut schemars::Schema) {
    let rules = [("exceptions", "pattern"), ("exceptions", "without"), ("period", "cell")].map(|(of, key)| {
        let has_some = serde_json::json!({"required": [key], "properties": {key: {"minItems": 1}}});
        let has_none = serde_json::json!({"properties": {"steps": {"items": {"not": has_some}}}});
        serde_json::json!({"anyOf": [serde_json::json!({"required": [of]}), has_none]})
    });
    schema.insert("allOf".to_owned(), serde_json::json!(rules));
    let belongs = serde_json::json!({"relays": ["groups"], "period": ["exceptions"], "cell": ["period"]});
    schema.insert("dependentRequired".to_owned(), belongs);
    schema.insert("not".to_owned(), serde_json::json!({"required": ["trees", "exceptions"]}));
}

/// A machine: a torus (`torus`) or any directed graph (`links`), and what failed.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Topology", transform = either_torus_or_links))]
pub(in crate::json) struct TopologyFile {
    /// Extents of a torus, mesh, ring or line; the dimension that runs fastest in the rank numbers first.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u32>", length(min = 1, max = 255), inner(range(min = 1))))]
    pub torus: Option<Vec<u32>>,
    /// Per dimension of `torus`: does the last position join the first? Left out: extents of 3 or more do.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<bool>"))]
    pub wrap: Option<Vec<bool>>,
    /// Per dimension of `torus`: chunks a link carries in a step of width 1. Left out: 1 each.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u32>", inner(range(min = 1))))]
    pub capacity: Option<Vec<u32>>,
    /// Per dimension of `torus`: how far up each dimension its wrap leads, from the last position to the first. Left
    /// out: nowhere else.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<u32>>"))]
    pub twist: Option<Vec<Vec<u32>>>,
    /// The number of ranks of an explicit graph. Left out: the highest rank in `links`, plus 1.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "NonZeroU32"))]
    pub ranks: Option<NonZeroU32>,
    /// The directed links of an explicit graph; at most one from a rank to another.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<GraphLinkEntry>"))]
    pub links: Option<Vec<Object<GraphLinkEntry>>>,
    /// Cables and single links that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_links: Vec<Object<FailedLinkEntry>>,
    /// Dead switches between the cells of a torus: the dimension of their cables, and the position of these in the
    /// other dimensions within a cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<SwitchEntry>"))]
    pub failed_switches: Vec<SwitchEntry>,
    /// With `failed_switches`: the extents of the cells, which divide those of `torus`. Left out: 4 along every
    /// dimension.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<u32>", length(min = 1, max = 255), inner(range(min = 1))))]
    pub period: Option<Vec<u32>>,
    /// Ranks that failed; they leave the collective, the others keep their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_ranks: Vec<RankEntry>,
    /// A name for every rank, failed ones included, each once: host names.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>", inner(length(min = 1, max = 253))))]
    pub names: Option<Vec<Box<str>>>,
}

/// Says in the schema that a machine is a torus or an explicit graph, and which keys belong to which.
#[cfg(feature = "schema")]
fn either_torus_or_links(schema: &mut schemars::Schema) {
    schema.insert("oneOf".to_owned(), serde_json::json!([{"required": ["torus"]}, {"required": ["links"]}]));
    let belongs = serde_json::json!({"wrap": ["torus"], "capacity": ["torus"], "twist": ["torus"], "ranks": ["links"],
        "failed_switches": ["torus"], "period": ["torus", "failed_switches"]});
    schema.insert("dependentRequired".to_owned(), belongs);
}

/// One directed link of an explicit graph.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "GraphLink"))]
pub(in crate::json) struct GraphLinkEntry {
    /// The sender.
    pub from: RankEntry,
    /// The receiver.
    pub to: RankEntry,
    /// Chunks it carries in a step of width 1.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub capacity: u32,
}

/// A failed cable, or a single failed link.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "FailedLink"))]
pub(in crate::json) struct FailedLinkEntry {
    /// One end; the sender, if a single link failed.
    pub from: RankEntry,
    /// The other end.
    pub to: RankEntry,
    /// The dimension (`x`), as a check; a direction (`x+`, of the link from `from` to `to`) says which cable where two
    /// join the same ranks.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "DimEntry"))]
    pub dim: Option<DimEntry>,
    /// True: both links of the cable failed. False: only the one from `from` to `to`.
    #[serde(default = "yes")]
    pub both: bool,
}

/// What is to be done. `parts`: a message (shard, vector) is cut in this many parts of equal size.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Collective"))]
pub(in crate::json) enum CollectiveEntry {
    /// Every rank has a message for every rank.
    AllToAll {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
    },
    /// As all_to_all, with a number of chunks of its own for each pair. `parts`: the unit of the volume.
    #[serde(rename = "all_to_allv")]
    AllToAllV {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
        /// Chunk counts: `demand[origin][dest]`.
        demand: Vec<Vec<u32>>,
    },
    /// Every rank's shard reaches every rank.
    AllGather {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
    },
    /// The sum over all ranks of shard `d` reaches rank `d`.
    ReduceScatter {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
    },
    /// The sum over all ranks of the vector reaches every rank.
    AllReduce {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
    },
    /// The root's message reaches every rank.
    Broadcast {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
        root: RankEntry,
    },
    /// The sum over all ranks of the vector reaches the root.
    Reduce {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
        root: RankEntry,
    },
    /// The root's message for each rank reaches it.
    Scatter {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
        root: RankEntry,
    },
    /// Every rank's message reaches the root.
    Gather {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
        root: RankEntry,
    },
    /// Every rank learns that every rank has arrived.
    Barrier {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
    },
    /// As all_gather, of values that cannot be added in flight.
    AllReduceGathered {
        #[serde(default = "one_part")]
        parts: NonZeroU32,
    },
}

/// A step. Its transfers all read the state at its beginning; what arrives is there when it ends.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Step"))]
pub(in crate::json) struct StepEntry {
    /// Chunks a link of capacity 1 may carry in this step.
    #[serde(default = "one_part")]
    pub width: NonZeroU32,
    /// The op of transfers of this step that state none.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "copy")))]
    pub op: OpEntry,
    /// In the compact form, transfers of rank 0's chunks on the intact torus: translated, those of every other rank.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<TransferEntry>"))]
    pub pattern: Option<Vec<Object<TransferEntry>>>,
    /// In the compact form with a `period`, transfers from ranks of the first cell: translated by its multiples, those
    /// of every other cell.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<TransferEntry>"))]
    pub cell: Option<Vec<Object<TransferEntry>>>,
    /// In the compact form, moves that are left out, though the `pattern` or the `cell` has them. Their chunks may have
    /// moves in `transfers` instead.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<TransferEntry>"))]
    pub without: Option<Vec<Object<TransferEntry>>>,
    /// At most one for each directed link.
    pub transfers: Vec<Object<TransferEntry>>,
}

/// Chunks sent over one link in one step.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Transfer"))]
pub(in crate::json) struct TransferEntry {
    /// The sender.
    pub from: RankEntry,
    /// The receiver.
    pub to: RankEntry,
    /// The direction; needed only where two links join the same ranks.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "DirectionEntry"))]
    pub via: Option<DirectionEntry>,
    /// What happens on arrival: the chunk takes the place of what the receiver held of it, or is combined with it. Left
    /// out: as the step says.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "OpEntry"))]
    pub op: Option<OpEntry>,
    /// The chunks, each once.
    pub chunks: ChunkList,
}

/// The moves of chunks along a tree: between each rank with a parent and that parent, one.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Tree"))]
pub(in crate::json) struct TreeEntry {
    /// The chunks.
    pub chunks: ChunkList,
    /// `copy`: the parent sends to the rank. `reduce`: the rank sends to its parent.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "copy")))]
    pub op: OpEntry,
    /// A letter for each rank: the direction of its parent, `x` for `x+` and `X` for `x-`; `.`: it has none.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[xyzwvuXYZWVU.]*$")))]
    pub parents: String,
    /// The step of the move of each rank with a parent, from 1.
    pub steps: Vec<u32>,
}

/// Lower bounds for every schedule of this collective on this machine.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Bounds"))]
pub(in crate::json) struct BoundsEntry {
    /// No schedule has fewer steps.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "StepsBoundEntry"))]
    pub steps: Option<Object<StepsBoundEntry>>,
    /// No schedule has less volume (sum of widths over parts).
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "VolumeBoundEntry"))]
    pub volume: Option<Object<VolumeBoundEntry>>,
    /// No schedule of so many steps, or fewer, has less volume.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joint: Vec<Object<JointBoundEntry>>,
}

/// At least as many steps as one rank is away from another that must reach it.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "StepsBound"))]
pub(in crate::json) struct StepsBoundEntry {
    /// The number of steps.
    pub at_least: u32,
    /// A rank that has data.
    pub from: RankEntry,
    /// A rank that needs it.
    pub to: RankEntry,
}

/// At least this volume in so few steps, in messages: weights of links in some of the steps.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "JointBound"))]
pub(in crate::json) struct JointBoundEntry {
    /// The number of steps.
    pub steps: u32,
    pub at_least: RationalEntry,
    /// Where chunks are copied or added up: the rank to which (reduce_scatter, reduce: from which) they go.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "RankEntry"))]
    pub rank: Option<RankEntry>,
    /// `[from, to, first, last, weight]`: in the steps `first` to `last`, from 1; weights add up.
    pub weights: Vec<WindowEntry>,
}

/// `[from, to, first, last, weight]`
pub(in crate::json) type WindowEntry = (RankEntry, RankEntry, u32, u32, u32);

/// At least this volume, in messages (shards, vectors).
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "VolumeBound"))]
pub(in crate::json) enum VolumeBoundEntry {
    /// Integer weights of links: the sum over all messages of the weighted distance from origin to destination, over
    /// the sum of weight times capacity of all live links. Where a message goes to several ranks, or is added up from
    /// several, the weight of the lightest tree that joins them takes the place of the distance.
    Metric {
        at_least: RationalEntry,
        /// With a period, the weights are of links from ranks of the first cell, and of their translations by multiples
        /// of the period.
        #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<u32>"))]
        period: Option<Vec<u32>>,
        /// `[from, to, weight]`; 0 for links not listed.
        weights: Vec<(RankEntry, RankEntry, u32)>,
    },
    /// A set of ranks: what must enter it over the capacity into it (reduce_scatter, reduce: what must leave it over
    /// the capacity out of it).
    Cut { at_least: RationalEntry, ranks: Vec<RankEntry> },
    /// Integer weights of links in some units of time, a unit being a step of width 1: what must be moved does not fit
    /// in `width` units, so the total width is larger.
    MetricOverTime {
        at_least: RationalEntry,
        /// The total width that is not enough.
        width: u32,
        /// Where chunks are copied or added up: the rank to which (reduce_scatter, reduce: from which) they go.
        #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "RankEntry"))]
        rank: Option<RankEntry>,
        /// `[from, to, first, last, weight]`: in the units `first` to `last`, from 1; weights add up.
        weights: Vec<WindowEntry>,
    },
    /// Disjoint blocks of ranks that hold every live rank: `2 * (blocks - 1)` vectors cross between them.
    Partition { at_least: RationalEntry, blocks: Vec<Vec<RankEntry>> },
}

/// Where a schedule came from.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Origin"))]
pub(in crate::json) struct OriginEntry {
    /// The program and its version.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub tool: Option<String>,
    /// The planner's name.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub planner: Option<String>,
    /// The command line.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub command: Option<String>,
    /// The seed.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub seed: Option<u64>,
}

fn one() -> u32 {
    1
}

fn one_part() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn yes() -> bool {
    true
}
