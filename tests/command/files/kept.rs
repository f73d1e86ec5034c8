//! Nothing is lost on the way from one file to another.

use crate::support::bench::{Bench, text};

/// An all_gather on a ring of 3, in whose first step rank 0 sends to rank 1 in two transfers (L001).
const TWICE: &str = r#"{"format": "collective-schedule/1", "topology": {"torus": [3]},
    "collective": {"kind": "all_gather", "parts": 2}, "steps": [{"width": 2, "transfers": [
        {"from": 0, "to": 1, "chunks": [0]}, {"from": 0, "to": 1, "chunks": [1]},
        {"from": 0, "to": 2, "chunks": [0, 1]},
        {"from": 1, "to": 0, "chunks": [2, 3]}, {"from": 1, "to": 2, "chunks": [2, 3]},
        {"from": 2, "to": 0, "chunks": [4, 5]}, {"from": 2, "to": 1, "chunks": [4, 5]}]}]}"#;

#[test]
fn the_compact_form_says_the_same_or_is_refused() {
    let bench = Bench::new();
    bench.write("twice.json", TWICE);
    bench.ended(1, "verify twice.json");
    let said = text(&bench.ended(2, "convert twice.json --to compact -o c.json").stderr);
    assert!(said.contains("step 1 would not be the same: two of its transfers share a link"), "{said}");
    bench.write("empty.json", &TWICE.replace(r#""chunks": [0]}"#, r#""chunks": [0, 1]}"#).replace("[1]", "[]"));
    bench.ended(2, "convert empty.json --to compact -o c.json");
    // Rank 0 of a line adds what its neighbors send: in another order, the sum has other bits.
    bench.ended(0, "--torus 5 --collective reduce_scatter -q -o rs.json");
    bench.ended(0, "convert rs.json --to compact -o c.json");
    bench.ended(0, "convert c.json --to explicit -o again.json");
    assert!(bench.read("again.json") == bench.read("rs.json"));
    let plan: serde_json::Value = serde_json::from_slice(&bench.read("rs.json")).unwrap();
    let mut turned = plan.clone();
    turned["steps"].as_array_mut().unwrap().last_mut().unwrap()["transfers"].as_array_mut().unwrap().reverse();
    bench.write("turned.json", &turned.to_string());
    bench.ended(0, "verify turned.json");
    let said = text(&bench.ended(2, "convert turned.json --to compact -o c.json").stderr);
    assert!(said.contains("a rank would add what it receives in another order"), "{said}");
}

#[test]
fn a_program_of_another_tool_keeps_its_machine() {
    let bench = Bench::new();
    bench.ended(0, "--torus 2x3 --collective all_gather -q -o s.json");
    bench.ended(0, "convert s.json --to msccl -o m.xml");
    bench.write("names.txt", "a\nb\nc\nd\ne\nf\n");
    bench.ended(0, "convert m.xml --from msccl --torus 2x3 --names names.txt -o p.json");
    let program: serde_json::Value = serde_json::from_slice(&bench.read("p.json")).unwrap();
    assert_eq!(program["topology"]["torus"].to_string(), "[2,3]");
    assert_eq!(program["topology"]["names"][5], "f");
    bench.ended(0, "verify p.json");
    // What is refuted on the machine is written, and stays refuted.
    bench.ended(1, "convert m.xml --from msccl --torus 2x3 --fail 0,2 -o q.json");
    let said = text(&bench.ended(1, "verify q.json").stdout);
    assert!(said.contains("T003"), "{said}");
    let said = text(&bench.ended(2, "convert m.xml --from msccl --torus 3x3 -o r.json").stderr);
    assert!(said.contains("the file has 6 ranks, and the machine 9"), "{said}");
    bench.ended(0, "convert m.xml --from msccl -o r.json");
}

#[test]
fn sizes_that_formats_cannot_hold_are_refused() {
    let bench = Bench::new();
    // All parts of a broadcast to one rank in one packet.
    bench.ended(0, "--torus 2 --collective broadcast --parts 1 -q -o plan.json");
    let program = bench.stdout("lower plan.json -q").replace("\"parts\": 1", "\"parts\": 2048");
    bench.write("s.json", &program.replace("\"op\":", "\"count\": 2048, \"op\":"));
    bench.ended(0, "verify s.json");
    for (words, said) in [
        ("convert s.json --to goal --chunk-bytes 9007199254740992 -o a", "has more than 2^63 bytes"),
        ("convert s.json --to chakra --chunk-bytes 9007199254740992 -o a", "has more than 2^63 bytes"),
        ("convert s.json --to goal --chunk-bytes 9007199254740993 -o a", "at most 8 PiB"),
    ] {
        let refused = text(&bench.ended(2, words).stderr);
        assert!(refused.contains(said), "{words}: {refused}");
        assert_eq!(bench.names(), ["plan.json", "s.json"]);
    }
    bench.ended(0, "convert s.json --to goal --chunk-bytes 1TiB -o a");
}
