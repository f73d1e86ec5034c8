//! Chakra traces, decoded again from the definition of protobuf's wire format and of the schema alone.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::slice;

use collsynth::format::chakra::to_bytes;
use collsynth::lower::{Target, lower};
use collsynth::program::{Barriers, Operation, Program};
use collsynth::report::audit::figures;
use collsynth::topology::RankId;

use crate::support::machine;

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value;
        }
    }
}

fn take(bytes: &[u8], at: &mut usize) -> Vec<u8> {
    let length = varint(bytes, at) as usize;
    *at += length;
    bytes[*at - length..*at].to_vec()
}

/// The fields of a message: varints and length-delimited ones; exports have no others.
fn fields(bytes: &[u8]) -> Vec<(u64, Field)> {
    let (mut at, mut all) = (0, Vec::new());
    while at < bytes.len() {
        let key = varint(bytes, &mut at);
        all.push(match key & 7 {
            0 => (key >> 3, Field::Number(varint(bytes, &mut at))),
            2 => (key >> 3, Field::Bytes(take(bytes, &mut at))),
            other => panic!("wire type {other}"),
        });
    }
    all
}

#[derive(Debug, Default)]
struct Node {
    id: u64,
    name: String,
    kind: u64,
    deps: Vec<u64>,
    /// By name: the number of the field (7: int32, 9: int64) and the value.
    attr: BTreeMap<String, (u64, u64)>,
}

fn text(field: &Field) -> String {
    match field {
        Field::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        Field::Number(_) => panic!("no text"),
    }
}

fn node(bytes: &[u8]) -> Node {
    let mut node = Node::default();
    for (number, field) in fields(bytes) {
        match (number, &field) {
            (1, Field::Number(id)) => node.id = *id,
            (2, _) => node.name = text(&field),
            (3, Field::Number(kind)) => node.kind = *kind,
            (5, Field::Bytes(packed)) => {
                let mut at = 0;
                while at < packed.len() {
                    node.deps.push(varint(packed, &mut at));
                }
            }
            (10, Field::Bytes(attribute)) => {
                let attribute = fields(attribute);
                assert_eq!((attribute.len(), attribute[0].0), (2, 1));
                let Field::Number(value) = attribute[1].1 else { panic!("{attribute:?}") };
                node.attr.insert(text(&attribute[0].1), (attribute[1].0, value));
            }
            other => panic!("{other:?}"),
        }
    }
    node
}

/// The nodes of a file, after its metadata.
fn nodes(bytes: &[u8]) -> Vec<Node> {
    let mut at = 0;
    let metadata = fields(&take(bytes, &mut at));
    assert!(metadata.iter().all(|(number, _)| *number == 2), "a version that is empty, and attributes: {metadata:?}");
    let mut all = Vec::new();
    while at < bytes.len() {
        all.push(node(&take(bytes, &mut at)));
    }
    all
}

/// The traces have all of the programs: each packet once at each end, each order, and no cycle.
fn check(name: &str, programs: &[Program]) {
    let ranks = (0..programs[0].rank_count() as u32).map(RankId);
    let traces: Vec<Vec<Node>> = ranks.map(|rank| nodes(&to_bytes(programs, rank, 64).unwrap())).collect();
    let mut sent: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    let mut received = sent.clone();
    for (rank, trace) in traces.iter().enumerate() {
        for node in trace {
            let of = |key: &str, field: u64| {
                let (number, value) = node.attr[key];
                assert_eq!(number, field, "{name}: {key}");
                value
            };
            let ends = |node: &Node| (node.attr["comm_src"].1, node.attr["comm_dst"].1, node.attr["comm_tag"].1);
            match node.kind {
                4 => assert!(node.attr.is_empty()),
                5 | 6 => {
                    assert_eq!((of("comm_type", 9), of("comm_tag", 7)), (node.kind, node.attr["comm_tag"].1));
                    let own = if node.kind == 5 { of("comm_src", 7) } else { of("comm_dst", 7) };
                    assert_eq!(own, rank as u64, "{name}");
                    let all = if node.kind == 5 { &mut sent } else { &mut received };
                    all.entry(ends(node)).or_default().push(of("comm_size", 9));
                }
                other => panic!("{name}: a node of type {other}"),
            }
        }
    }
    assert_eq!(sent, received, "{name}: packets pair by source, destination and tag, in order and length");
    let packets = programs.iter().map(figures).map(|figures| figures.packets + figures.tokens);
    assert_eq!(sent.values().map(Vec::len).sum::<usize>(), packets.sum::<usize>(), "{name}");
    for (rank, trace) in traces.iter().enumerate() {
        check_orders(name, programs, RankId(rank as u32), trace);
    }
}

/// Nodes follow their dependencies, and the trace keeps every order of the programs.
fn check_orders(name: &str, programs: &[Program], rank: RankId, trace: &[Node]) {
    let mut before: Vec<HashSet<u64>> = Vec::new();
    // The first and the last node of each operation.
    let mut of: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    for (number, node) in trace.iter().enumerate() {
        assert_eq!(node.id, number as u64, "{name}");
        let mut all = BTreeSet::new();
        for &dep in &node.deps {
            assert!(dep < node.id, "{name}: a node before what it depends on");
            all.insert(dep);
            all.extend(&before[dep as usize]);
        }
        before.push(all.into_iter().collect());
        let words: Vec<&str> = node.name.split(' ').collect();
        let [.., "worker", worker, "operation", operation] = words[..] else { panic!("{}", node.name) };
        let key = (worker.parse().unwrap(), operation.parse().unwrap());
        of.entry(key).or_insert((node.id, node.id)).1 = node.id;
    }
    let mut first = 0;
    for program in programs {
        let workers = program.workers(rank);
        for worker in workers.clone() {
            let own = first + worker - workers.start;
            let mut earlier: Vec<u64> = Vec::new();
            for (number, operation) in program.operations()[program.range(worker)].iter().enumerate() {
                if let Operation::Wait { worker, operation } = *operation {
                    earlier.extend(of.get(&(first + worker as usize, operation as usize)).map(|ends| ends.1));
                }
                let Some(&(begin, end)) = of.get(&(own, number)) else {
                    assert!(matches!(operation, Operation::Wait { .. }), "{name}: an operation without a node");
                    continue;
                };
                for dep in earlier.drain(..) {
                    assert!(before[begin as usize].contains(&dep), "{name}: node {begin} does not follow node {dep}");
                }
                earlier.push(end);
            }
        }
        first += workers.len();
    }
}

#[test]
fn what_is_written_is_what_the_program_does() {
    let mut written = 0;
    for (index, (name, schedule)) in machine::small_schedules().into_iter().enumerate() {
        let goal = Target { barriers: Barriers::ALL[index % 3], ..Target::default() };
        let Ok(program) = lower(&schedule, &goal) else { continue };
        check(&name, slice::from_ref(&program));
        written += 1;
        if index % 7 == 0 {
            check(&format!("{name}, twice at once"), &[program.clone(), program]);
        }
    }
    assert!(written > 100, "{written}");
}

#[test]
fn forwards_waits_for_waits_and_failed_ranks() {
    let program = collsynth::format::json::parse_program(
        r#"{"format": "rank-program/1", "ranks": 3, "collective": {"kind": "all_reduce", "parts": 1},
        "channels": [{"from": 0, "to": 1, "slots": 1}, {"from": 1, "to": 2, "slots": 1}],
        "programs": [
          {"workers": [[{"op": "send", "channel": 0, "src": ["i", 0]}], [{"op": "wait", "worker": 0, "operation": 0},
             {"op": "wait", "worker": 2, "operation": 0}], [{"op": "wait", "worker": 0, "operation": 0}],
             [{"op": "wait", "worker": 2, "operation": 0}, {"op": "copy", "src": ["i", 0], "dst": ["o", 0]}]]},
          {"workers": [[{"op": "recv_reduce", "channel": 0, "src": ["i", 0], "dst": ["o", 0], "forward": 1}]]},
          {"workers": [[{"op": "recv", "channel": 1, "dst": ["o", 0]}]]}]}"#,
    )
    .unwrap();
    let program = slice::from_ref(&program);
    check("by hand", program);
    let middle = nodes(&to_bytes(program, RankId(1), 100).unwrap());
    assert_eq!(middle.iter().map(|node| node.kind).collect::<Vec<_>>(), [6, 4, 5]);
    assert_eq!(middle.iter().map(|node| node.deps.clone()).collect::<Vec<_>>(), [vec![], vec![0], vec![1]]);
    assert_eq!(middle[2].attr["comm_size"], (9, 100));
    let circle = collsynth::format::json::parse_program(
        r#"{"format": "rank-program/1", "ranks": 1, "collective": {"kind": "all_reduce", "parts": 1}, "channels": [],
        "programs": [{"workers": [[{"op": "wait", "worker": 0, "operation": 0}]]}]}"#,
    )
    .unwrap();
    let words = "worker 0 of rank 0 waits forever: its nodes have no order";
    assert_eq!(to_bytes(slice::from_ref(&circle), RankId(0), 1).unwrap_err().to_string(), words);
}
