//! What rank program files state, key by key.

use std::num::NonZeroU32;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

use crate::json::object::{Object, stated};
use crate::json::scalar::{DirectionEntry, RankEntry as RankNumber};
use crate::json::schedule::entry::{CollectiveEntry, OriginEntry, TopologyFile};
use collsynth_core::program::{Barriers, Buffer};

/// What each rank does to carry out a collective when no clock counts steps.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramFile {
    /// The format and its version.
    #[serde(rename = "format")]
    #[cfg_attr(feature = "schema", schemars(extend("const" = "rank-program/1")))]
    pub format: String,
    /// The machine, if it is known: channels lie on its links. Else `ranks`.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "TopologyFile"))]
    pub topology: Option<Object<TopologyFile>>,
    /// The number of ranks, where no machine is stated.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "NonZeroU32"))]
    pub ranks: Option<NonZeroU32>,
    /// With it, the file is the program of this rank alone: its channels, and one entry in `programs`.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub rank: Option<u32>,
    /// What is to be done.
    pub collective: Object<CollectiveEntry>,
    /// The groups of ranks that carry it out, each for itself: disjoint lists of members. Left out: all ranks together.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<RankNumber>>"))]
    pub groups: Option<Vec<Vec<RankNumber>>>,
    /// Input and output share their room.
    #[serde(default)]
    pub in_place: bool,
    /// What keeps apart the steps of the schedule that the program was made from. For people; nothing depends on it.
    #[serde(default)]
    pub barriers: BarriersEntry,
    /// No two transfers are on one link at a time, in any interleaving. A program that claims it is held to it.
    #[serde(default)]
    pub contention_free: bool,
    /// The channels, numbered from 0 in this order.
    pub channels: Vec<Object<ChannelEntry>>,
    /// One entry for each rank, in their order; with `rank`, its entry alone.
    pub programs: Vec<Object<RankEntry>>,
    /// Where the program came from. For people; nothing depends on it.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "OriginEntry"))]
    pub origin: Option<Object<OriginEntry>>,
}

/// What keeps steps apart.
#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "Barriers"))]
pub(super) enum BarriersEntry {
    #[default]
    None,
    Neighbour,
    Global,
}

/// A one-way connection, first in, first out.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Channel"))]
pub(super) struct ChannelEntry {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The direction of its link; needed only where two links join the ranks.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "DirectionEntry"))]
    pub via: Option<DirectionEntry>,
    /// The most packets on their way at a time.
    pub slots: NonZeroU32,
    /// How many of its packets with slots are one transfer, in order. Left out: each is one alone.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<NonZeroU32>"))]
    pub transfers: Option<Vec<NonZeroU32>>,
    /// With `rank`: its number in the whole program, which both of its ends know it by.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub number: Option<u32>,
}

/// What one rank does.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "RankProgram"))]
pub(super) struct RankEntry {
    /// The slots of its scratch.
    #[serde(default)]
    pub scratch: u32,
    /// Its workers, each with its operations in the order in which it carries them out.
    pub workers: Vec<Vec<Object<OperationEntry>>>,
}

/// An operation. Which keys it has depends on `op`.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "Operation", transform = keys_by_op))]
pub(super) struct OperationEntry {
    /// What it does.
    pub op: OpName,
    /// The channel (`send`, `recv`, `recv_reduce`).
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub channel: Option<u32>,
    /// The first slot that is read (`send`, `copy`, `reduce`; `recv_reduce`: what is added to the packet).
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "(BufferEntry, u32)"))]
    pub src: Option<(BufferEntry, u32)>,
    /// The first slot that is written (`recv`, `recv_reduce`, `copy`, `reduce`).
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "(BufferEntry, u32)"))]
    pub dst: Option<(BufferEntry, u32)>,
    /// How many slots, from the first on.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub count: Option<u32>,
    /// The channel on which what was received is sent on (`recv`, `recv_reduce`).
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub forward: Option<u32>,
    /// The worker of the same rank that is waited for (`wait`).
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub worker: Option<u32>,
    /// The operation of that worker, from 0 (`wait`).
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u32"))]
    pub operation: Option<u32>,
}

/// Says in the schema which keys belong to which operation.
#[cfg(feature = "schema")]
fn keys_by_op(schema: &mut schemars::Schema) {
    use OpName::{Copy, Recv, RecvReduce, Reduce, Send, Wait};
    use serde_json::{Value, json};
    let one = |op: OpName| {
        let (must, may) = op.keys();
        let mut keys: Vec<&str> = vec!["op"];
        keys.extend(must.iter().chain(may));
        let mut required = vec!["op"];
        required.extend(must);
        let mut properties: serde_json::Map<String, Value> =
            keys.iter().map(|&key| (key.to_owned(), json!(true))).collect();
        properties.insert("op".to_owned(), json!({"const": op.name()}));
        json!({"properties": properties, "required": required, "additionalProperties": false})
    };
    schema.insert("oneOf".to_owned(), [Send, Recv, RecvReduce, Copy, Reduce, Wait].map(one).to_vec().into());
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum OpName {
    Send,
    Recv,
    RecvReduce,
    Copy,
    Reduce,
    Wait,
}

/// A buffer: input, output, scratch.
#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Buffer"))]
pub(super) enum BufferEntry {
    #[serde(rename = "i")]
    Input,
    #[serde(rename = "o")]
    Output,
    #[serde(rename = "s")]
    Scratch,
}

impl OpName {
    /// The name in files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Recv => "recv",
            Self::RecvReduce => "recv_reduce",
            Self::Copy => "copy",
            Self::Reduce => "reduce",
            Self::Wait => "wait",
        }
    }

    /// The keys it must have, and those it may have, besides `op`.
    pub(super) fn keys(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Send => (&["channel"], &["src", "count"]),
            Self::Recv => (&["channel"], &["dst", "count", "forward"]),
            Self::RecvReduce => (&["channel", "src"], &["dst", "count", "forward"]),
            Self::Copy | Self::Reduce => (&["src", "dst"], &["count"]),
            Self::Wait => (&["worker", "operation"], &[]),
        }
    }
}

impl From<BufferEntry> for Buffer {
    fn from(entry: BufferEntry) -> Self {
        match entry {
            BufferEntry::Input => Self::Input,
            BufferEntry::Output => Self::Output,
            BufferEntry::Scratch => Self::Scratch,
        }
    }
}

impl From<BarriersEntry> for Barriers {
    fn from(entry: BarriersEntry) -> Self {
        match entry {
            BarriersEntry::None => Self::None,
            BarriersEntry::Neighbour => Self::Neighbor,
            BarriersEntry::Global => Self::Global,
        }
    }
}
