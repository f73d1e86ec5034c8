//! A rank program, read.

use serde_json::Value;

use super::slots::Slot;
use crate::naive::problem::machine::{Machine, dimension};
use crate::naive::problem::task::Task;
use crate::naive::reader::Faults;

/// A rank program.
#[derive(Clone, Debug)]
pub struct ProgramFile {
    /// The machine.
    pub machine: Machine,
    /// The links of the machine are known.
    pub links_known: bool,
    /// The collective.
    pub task: Task,
    /// Input and output share their room.
    pub in_place: bool,
    /// It claims to be free of contention.
    pub contention_free: bool,
    /// The channels.
    pub channels: Vec<Channel>,
    /// For each rank, the slots of its scratch.
    pub scratch: Vec<usize>,
    /// For each rank and each of its workers, the operations.
    pub workers: Vec<Vec<Vec<Operation>>>,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The sender; may be out of range.
    pub from: usize,
    /// The receiver; may be out of range.
    pub to: usize,
    /// Packets in flight.
    pub slots: usize,
    /// The direction of its link.
    pub via: Option<(usize, bool)>,
    /// The packets of each transfer.
    pub transfers: Option<Vec<usize>>,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name.
    pub op: String,
    /// The channel it sends to (`send`, or `forward` of a receive).
    pub sends: Option<usize>,
    /// The channel it receives from.
    pub receives: Option<usize>,
    /// The first slot it reads.
    pub src: Option<Slot>,
    /// The first slot it writes.
    pub dst: Option<Slot>,
    /// The number of slots.
    pub count: usize,
    /// Of a wait: worker and operation.
    pub wait: Option<(usize, usize)>,
}

impl ProgramFile {
    /// Reads a file.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        match Self::find(value, &mut faults) {
            Some(file) if faults.codes.is_empty() => Ok(file),
            Some(_) => Err(faults),
            None => {
                // The rest was not looked at.
                faults.more |= !faults.codes.contains("F004");
                Err(faults)
            }
        }
    }

    fn find(value: &Value, faults: &mut Faults) -> Option<Self> {
        if value.get("format").is_none_or(|format| format != "rank-program/1") {
            return faults.note("F004");
        }
        let optional = ["topology", "ranks", "barriers", "contention_free", "in_place", "groups", "origin"];
        let keys = faults.object(value, &["format", "collective", "channels", "programs"], &optional)?;
        if keys.contains_key("topology") == keys.contains_key("ranks") {
            faults.note::<()>("F002");
        }
        if let Some(origin) = keys.get("origin") {
            faults.origin(origin);
        }
        if keys.get("barriers").is_some_and(|b| !["none", "neighbour", "global"].iter().any(|word| b == word)) {
            faults.note::<()>("F003");
        }
        let contention_free = faults.flag_or(keys.get("contention_free"), false);
        let in_place = faults.flag_or(keys.get("in_place"), false);
        let links_known = keys.contains_key("topology");
        let machine = match (keys.get("topology"), keys.get("ranks")) {
            (Some(topology), _) => Machine::read(topology, faults),
            (None, Some(ranks)) => match faults.integer(ranks, 1, "F003") {
                Some(ranks) if ranks <= 1 << 20 => Some(Machine::of_ranks(ranks as usize)),
                Some(_) => faults.note("F008"),
                None => None,
            },
            (None, None) => None,
        };
        let task = keys
            .get("collective")
            .and_then(|value| Task::read(value, (keys.get("groups"), None), machine.as_ref(), faults));
        let mut channels = Vec::new();
        for value in keys.get("channels").and_then(|value| faults.list(value)).unwrap_or_default() {
            channels.extend(Channel::read(value, faults));
        }
        let (mut scratch, mut workers) = (Vec::new(), Vec::new());
        for value in keys.get("programs").and_then(|value| faults.list(value)).unwrap_or_default() {
            let keys = faults.object(value, &["workers"], &["scratch"])?;
            scratch.push(faults.integer_or(keys.get("scratch"), 0, 0)? as usize);
            let mut rank = Vec::new();
            for worker in keys.get("workers").and_then(|value| faults.list(value)).unwrap_or_default() {
                let mut operations = Vec::new();
                for operation in faults.list(worker)? {
                    operations.extend(Operation::read(operation, faults));
                }
                rank.push(operations);
            }
            workers.push(rank);
        }
        let (Some(machine), Some(task)) = (machine, task) else {
            faults.more = true;
            return None;
        };
        if workers.len() != machine.ranks() {
            return faults.note("F003");
        }
        let (in_place, contention_free) = (in_place?, contention_free?);
        if in_place && task.kind == "all_to_allv" {
            return faults.note("F009");
        }
        Some(Self { machine, links_known, task, in_place, contention_free, channels, scratch, workers })
    }
}

impl Channel {
    fn read(value: &Value, faults: &mut Faults) -> Option<Self> {
        let keys = faults.object(value, &["from", "to", "slots"], &["via", "transfers"])?;
        let mut integer = |key, least| faults.integer(keys.get(key)?, least, "F003").map(|number| number as usize);
        let (from, to, slots) = (integer("from", 0), integer("to", 0), integer("slots", 1));
        let via = match keys.get("via").map(|via| via.as_str().and_then(dimension)) {
            None => None,
            Some(Some((dim, Some(grows)))) => Some((dim, grows)),
            Some(_) => return faults.note("F003"),
        };
        let transfers = match keys.get("transfers") {
            None => None,
            Some(list) => {
                let list = faults.list(list)?;
                if list.is_empty() {
                    return faults.note("F003");
                }
                let packets = list.iter().map(|value| faults.integer(value, 1, "F003").map(|number| number as usize));
                Some(packets.collect::<Option<Vec<_>>>()?)
            }
        };
        Some(Self { from: from?, to: to?, slots: slots?, via, transfers })
    }
}

impl Operation {
    fn read(value: &Value, faults: &mut Faults) -> Option<Self> {
        let Some(op) = value.as_object().and_then(|keys| keys.get("op")) else {
            return faults.note(if value.is_object() { "F002" } else { "F003" });
        };
        let (required, optional): (&[&str], &[&str]) = match op.as_str() {
            Some("send") => (&["op", "channel"], &["src", "count"]),
            Some("recv") => (&["op", "channel"], &["dst", "count", "forward"]),
            Some("recv_reduce") => (&["op", "channel", "src"], &["dst", "count", "forward"]),
            Some("copy" | "reduce") => (&["op", "src", "dst"], &["count"]),
            Some("wait") => (&["op", "worker", "operation"], &[]),
            _ => return faults.note("F003"),
        };
        let keys = faults.object(value, required, optional)?;
        let mut integer = |key| match keys.get(key) {
            Some(value) => faults.integer(value, 0, "F003").map(|number| Some(number as usize)),
            None => Some(None),
        };
        let (channel, forward, count) = (integer("channel")?, integer("forward")?, integer("count")?.unwrap_or(1));
        let wait = integer("worker")?.zip(integer("operation")?);
        let mut slot = |key| match keys.get(key) {
            Some(value) => slot(value, faults).map(Some),
            None => Some(None),
        };
        let (src, dst) = (slot("src")?, slot("dst")?);
        let op = op.as_str().unwrap_or_default().to_string();
        let (sends, receives) = if op == "send" { (channel, None) } else { (forward, channel) };
        // What carries data says from where, or to where.
        if count > 0 && (op == "send" && src.is_none() || receives.is_some() && dst.is_none() && sends.is_none()) {
            return faults.note("F002");
        }
        Some(Self { op, sends, receives, src, dst, count, wait })
    }
}

fn slot(value: &Value, faults: &mut Faults) -> Option<Slot> {
    match faults.list(value)? {
        [buffer, number] => {
            let number = faults.integer(number, 0, "F003")?;
            match buffer.as_str() {
                Some(name @ ("i" | "o" | "s")) => Some((name.chars().next()?, number as usize)),
                _ => faults.note("F003"),
            }
        }
        _ => faults.note("F003"),
    }
}
