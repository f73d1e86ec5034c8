//! Chakra execution traces, out: a file for each rank, as ASTRA-sim's custom collectives read them
//! (mlcommons/chakra: schema/protobuf/et_def.proto; astra-sim: system/collective/ChakraImpl.cc).
//!
//! A file is a row of protobuf messages, each after its length as a varint: first `GlobalMetadata`, then a `Node` for
//! each thing the rank does, none before those it depends on.
//!
//! | node | of | attributes |
//! |---|---|---|
//! | `COMM_SEND_NODE` (5) | a packet that is sent | `comm_type`, `comm_size` (int64, bytes), `comm_src`, `comm_dst`, `comm_tag` (int32) |
//! | `COMM_RECV_NODE` (6) | a packet that is received | the same |
//! | `COMP_NODE` (4) | a copy, an addition, a wait that is itself waited for | none; it takes no time |
//!
//! Packets of a channel carry its number as tag and match in order. `data_deps` are the node before of the same worker
//! and those that are waited for. A packet without slots has one byte. That a full channel holds its sender back has no
//! counterpart.

use std::collections::HashSet;

use prost::{Message, Oneof};
use thiserror::Error;

use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::RankId;

/// The schema that is written.
const SCHEMA: &str = "1.0.2-chakra.0.0.4";

/// Why a program has no trace: workers of a rank wait for each other for ever, so its nodes have no order.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("worker {worker} of rank {rank} waits for ever: a trace has no such node")]
pub struct NoOrder {
    /// The rank.
    pub rank: RankId,
    /// The worker that never comes to its end.
    pub worker: usize,
}

/// The file of a rank, a slot being so many bytes. A rank that does nothing has a file without nodes. Takes time in the
/// number of the rank's operations.
///
/// # Errors
///
/// [`NoOrder`] if workers of the rank wait for each other in a circle; a program that holds has none.
///
/// # Panics
///
/// If the rank is out of range.
pub fn to_bytes(program: &Program, rank: RankId, slot_bytes: u64) -> Result<Vec<u8>, NoOrder> {
    let mut bytes = GlobalMetadata {
        version: String::new(),
        attr: vec![
            Attribute::of("schema", Value::Text(SCHEMA.to_owned())),
            Attribute::of("collective", Value::Text(program.problem.collective().kind.name().to_owned())),
        ],
    }
    .encode_length_delimited_to_vec();
    for node in Nodes::new(program, rank, slot_bytes).all()? {
        bytes.extend(node.encode_length_delimited_to_vec());
    }
    Ok(bytes)
}

/// The nodes of a rank, as its workers are gone through.
struct Nodes<'a> {
    program: &'a Program,
    rank: RankId,
    slot_bytes: u64,
    nodes: Vec<Node>,
    /// For each worker of the rank, the last node of each operation so far; a wait that nobody waits for has the node
    /// before it, if there is one.
    last: Vec<Vec<Option<u64>>>,
    /// For each worker, what its next node depends on besides the one before.
    pending: Vec<Vec<u64>>,
    /// Waits that are waited for.
    awaited: HashSet<(u32, u32)>,
}

impl<'a> Nodes<'a> {
    fn new(program: &'a Program, rank: RankId, slot_bytes: u64) -> Self {
        let workers = program.workers(rank);
        let awaited = workers
            .clone()
            .flat_map(|worker| &program.operations()[program.range(worker)])
            .filter_map(|operation| match *operation {
                Operation::Wait { worker, operation } => Some((worker, operation)),
                _ => None,
            })
            .collect();
        let count = workers.len();
        Self {
            program,
            rank,
            slot_bytes,
            nodes: Vec::new(),
            last: vec![Vec::new(); count],
            pending: vec![Vec::new(); count],
            awaited,
        }
    }

    /// Lets every worker go as far as its waits allow, until all are at their end.
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
                    return Err(NoOrder { rank: self.rank, worker });
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

    /// Adds the nodes of an operation.
    fn add(&mut self, worker: usize, operation: &Operation) {
        let index = self.last[worker].len();
        let before = self.last[worker].last().copied().flatten();
        self.pending[worker].extend(before);
        let name = |nodes: &mut Self, what: &str, kind: NodeType, attr: Vec<Attribute>| {
            let mut data_deps = std::mem::take(&mut nodes.pending[worker]);
            data_deps.sort_unstable();
            data_deps.dedup();
            let id = nodes.nodes.len() as u64;
            let name = format!("{what} worker {worker} operation {index}");
            nodes.nodes.push(Node { id, name, kind: kind as i32, data_deps, attr });
            // What follows in the same operation depends on this.
            nodes.pending[worker].push(id);
            id
        };
        let node = match *operation {
            Operation::Send { channel, count, .. } => {
                let attr = self.packet(channel, count, NodeType::CommSend);
                Some(name(self, "send", NodeType::CommSend, attr))
            }
            Operation::Receive { channel, add, forward, count, .. } => {
                let attr = self.packet(channel, count, NodeType::CommRecv);
                let mut node = name(self, "receive", NodeType::CommRecv, attr);
                if add.is_some() {
                    node = name(self, "add", NodeType::Comp, Vec::new());
                }
                if let Some(forward) = forward {
                    let attr = self.packet(forward, count, NodeType::CommSend);
                    node = name(self, "send on", NodeType::CommSend, attr);
                }
                Some(node)
            }
            Operation::Copy { .. } => Some(name(self, "copy", NodeType::Comp, Vec::new())),
            Operation::Reduce { .. } => Some(name(self, "add", NodeType::Comp, Vec::new())),
            Operation::Wait { .. } if self.awaited.contains(&(worker as u32, index as u32)) => {
                Some(name(self, "wait", NodeType::Comp, Vec::new()))
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
            Attribute::of("comm_tag", Value::Int32(channel as i32)),
        ]
    }
}

/// The types of nodes that are written, as the schema numbers them.
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
