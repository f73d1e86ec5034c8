//! Writes Chakra execution traces, a file for each rank, for ASTRA-sim's custom collectives (mlcommons/chakra:
//! schema/protobuf/et_def.proto; astra-sim: system/collective/ChakraImpl.cc).
//!
//! A file is a sequence of protobuf messages, each preceded by its length as a varint: first `GlobalMetadata`, then the
//! rank's `Node`s in an order that respects dependencies.
//!
//! | node | of | attributes |
//! |---|---|---|
//! | `COMM_SEND_NODE` (5) | a packet sent | `comm_type`, `comm_size` (int64, bytes), `comm_src`, `comm_dst`, `comm_tag` (int32) |
//! | `COMM_RECV_NODE` (6) | a packet received | the same |
//! | `COMP_NODE` (4) | a copy, an addition, a wait that is itself awaited | none; it takes no time |
//!
//! Packets of a channel carry its number as tag and match in order. `data_deps` are the same worker's previous node and
//! the nodes waited for. A packet without slots has one byte. The format cannot express that a full channel blocks its
//! sender.

use std::collections::HashSet;

use prost::{Message, Oneof};
use thiserror::Error;

use crate::waits::awaited;
use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::RankId;

const SCHEMA: &str = "1.0.2-chakra.0.0.4";

/// A program has no trace: workers of a rank wait for each other forever, so its nodes have no order.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("worker {worker} of rank {rank} waits forever: its nodes have no order")]
pub struct NoOrder {
    /// The rank.
    pub rank: RankId,
    /// The worker that never finishes.
    pub worker: usize,
}

/// The file of a rank for programs that run side by side, with slots of `slot_bytes` bytes: one, or those of a job.
/// Tags, nodes and workers of the second go on where those of the first end. An idle rank has a file without nodes.
/// O(operations of the rank).
///
/// # Errors
///
/// [`NoOrder`] if workers of the rank wait for each other in a cycle; a program that passed the audit has none.
///
/// # Panics
///
/// If the rank is out of range.
pub fn to_bytes(programs: &[Program], rank: RankId, slot_bytes: u64) -> Result<Vec<u8>, NoOrder> {
    let kinds: Vec<&str> = programs.iter().map(|program| program.problem.collective().kind.name()).collect();
    let mut bytes = GlobalMetadata {
        version: String::new(),
        attr: vec![
            Attribute::of("schema", Value::Text(SCHEMA.to_owned())),
            Attribute::of("collective", Value::Text(kinds.join(","))),
        ],
    }
    .encode_length_delimited_to_vec();
    let mut from = Counted::default();
    for program in programs {
        let nodes = Nodes::new(program, rank, slot_bytes, from).all()?;
        from.node += nodes.len();
        from.worker += program.workers(rank).len();
        from.tag += program.channels.len();
        for node in nodes {
            bytes.extend(node.encode_length_delimited_to_vec());
        }
    }
    Ok(bytes)
}

/// What the nodes, workers and channels of a program are counted from.
#[derive(Clone, Copy, Default)]
struct Counted {
    node: usize,
    worker: usize,
    tag: usize,
}

struct Nodes<'a> {
    program: &'a Program,
    rank: RankId,
    slot_bytes: u64,
    from: Counted,
    nodes: Vec<Node>,
    /// For each worker, the last node of each operation so far; for a wait that nobody awaits, the node before it.
    last: Vec<Vec<Option<u64>>>,
    /// For each worker, what its next node depends on besides the previous one.
    pending: Vec<Vec<u64>>,
    awaited: HashSet<(u32, u32)>,
}

impl<'a> Nodes<'a> {
    fn new(program: &'a Program, rank: RankId, slot_bytes: u64, from: Counted) -> Self {
        let count = program.workers(rank).len();
        Self {
            program,
            rank,
            slot_bytes,
            from,
            nodes: Vec::new(),
            last: vec![Vec::new(); count],
            pending: vec![Vec::new(); count],
            awaited: awaited(program, rank),
        }
    }

    /// Advances every worker as far as its waits allow, until all have finished.
    fn all(mut self) -> Result<Vec<Node>, NoOrder> {
        let workers = self.program.workers(self.rank);
        loop {
            let before: usize = self.last.iter().map(Vec::len).sum();
            (0..workers.len()).for_each(|worker| self.advance(worker));
            let behind = (0..workers.len())
                .find(|&worker| self.last[worker].len() < self.program.range(workers.start + worker).len());
            match behind {
                None => return Ok(self.nodes),
                Some(worker) if self.last.iter().map(Vec::len).sum::<usize>() == before => {
                    return Err(NoOrder { rank: self.rank, worker: self.from.worker + worker });
                }
                Some(_) => {}
            }
        }
    }

    fn advance(&mut self, worker: usize) {
        let operations = &self.program.operations()[self.program.range(self.program.workers(self.rank).start + worker)];
        while let Some(operation) = operations.get(self.last[worker].len()) {
            if let Operation::Wait { worker: other, operation } = *operation {
                let done = self.last.get(other as usize).and_then(|last| last.get(operation as usize));
                let Some(&node) = done else { return };
                self.pending[worker].extend(node);
            }
            self.add(worker, operation);
        }
    }

    fn add(&mut self, worker: usize, operation: &Operation) {
        let index = self.last[worker].len();
        let before = self.last[worker].last().copied().flatten();
        self.pending[worker].extend(before);
        let push = |nodes: &mut Self, what: &str, kind: NodeType, attr: Vec<Attribute>| {
            let mut data_deps = std::mem::take(&mut nodes.pending[worker]);
            data_deps.sort_unstable();
            data_deps.dedup();
            let id = (nodes.from.node + nodes.nodes.len()) as u64;
            let name = format!("{what} worker {} operation {index}", nodes.from.worker + worker);
            nodes.nodes.push(Node { id, name, kind: kind as i32, data_deps, attr });
            // The operation's next node depends on this one.
            nodes.pending[worker].push(id);
            id
        };
        let node = match *operation {
            Operation::Send { channel, count, .. } => {
                let attr = self.packet(channel, count, NodeType::CommSend);
                Some(push(self, "send", NodeType::CommSend, attr))
            }
            Operation::Receive { channel, add, forward, count, .. } => {
                let attr = self.packet(channel, count, NodeType::CommRecv);
                let mut node = push(self, "receive", NodeType::CommRecv, attr);
                if add.is_some() {
                    node = push(self, "add", NodeType::Comp, Vec::new());
                }
                if let Some(forward) = forward {
                    let attr = self.packet(forward, count, NodeType::CommSend);
                    node = push(self, "send on", NodeType::CommSend, attr);
                }
                Some(node)
            }
            Operation::Copy { .. } => Some(push(self, "copy", NodeType::Comp, Vec::new())),
            Operation::Reduce { .. } => Some(push(self, "add", NodeType::Comp, Vec::new())),
            Operation::Wait { .. } if self.awaited.contains(&(worker as u32, index as u32)) => {
                Some(push(self, "wait", NodeType::Comp, Vec::new()))
            }
            Operation::Wait { .. } => None,
        };
        if node.is_some() {
            self.pending[worker].clear();
        }
        self.last[worker].push(node.or(before));
    }

    fn packet(&self, channel: u32, count: u32, kind: NodeType) -> Vec<Attribute> {
        let ends = self.program.channels[channel as usize];
        let bytes = (u64::from(count) * self.slot_bytes).max(1);
        vec![
            Attribute::of("comm_type", Value::Int64(kind as i64)),
            Attribute::of("comm_size", Value::Int64(bytes as i64)),
            Attribute::of("comm_src", Value::Int32(ends.from.0 as i32)),
            Attribute::of("comm_dst", Value::Int32(ends.to.0 as i32)),
            Attribute::of("comm_tag", Value::Int32((self.from.tag + channel as usize) as i32)),
        ]
    }
}

/// As the schema numbers them.
#[derive(Clone, Copy)]
enum NodeType {
    Comp = 4,
    CommSend = 5,
    CommRecv = 6,
}

#[derive(Clone, PartialEq, Message)]
struct GlobalMetadata {
    #[prost(string, tag = "1")]
    version: String,
    #[prost(message, repeated, tag = "2")]
    attr: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(uint64, repeated, tag = "5")]
    data_deps: Vec<u64>,
    #[prost(message, repeated, tag = "10")]
    attr: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(oneof = "Value", tags = "7, 9, 29")]
    value: Option<Value>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Value {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(string, tag = "29")]
    Text(String),
}

impl Attribute {
    fn of(name: &str, value: Value) -> Self {
        Self { name: name.to_owned(), value: Some(value) }
    }
}
