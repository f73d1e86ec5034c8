//! How failures are stated: lists, ranges, boxes, and alarms from both ends of a cable.

use serde_json::Value;

use crate::support::bench::{Bench, json, synth, text};

/// What failed, by the topology file that these options give.
fn failed(words: &str) -> (Value, Value) {
    let machine = json(&format!("topology --format json {words}"));
    (machine["failed_ranks"].clone(), machine["failed_links"].clone())
}

#[test]
fn ranks_are_stated_as_lists_ranges_and_boxes() {
    let cases: [(&str, &[u32]); 10] = [
        ("--torus 4x4 --fail-rank 4-7,12", &[4, 5, 6, 7, 12]),
        ("--torus 4x4 --fail-rank 12 --fail-rank 4-5", &[4, 5, 12]),
        ("--torus 4x4x8 --fail-rank 2.2.4,3.2.4", &[74, 75]),
        ("--torus 4x4x8 --fail-box 2.2.4..3.3.4", &[74, 75, 78, 79]),
        ("--torus 4x4 --fail-box 1.1..1.1 --fail-rank 0", &[0, 5]),
        // Around the ring: columns 3 and 0.
        ("--torus 4x4 --fail-box 3.1..0.2", &[4, 7, 8, 11]),
        ("--torus 8 --fail-box 7..1", &[0, 1, 7]),
        ("--torus 4x4 --fail-rank 3 --fail-rank 3", &[3]),
        ("--torus 4x4 --fail-rank 3-5 --fail-box 0.1..1.1", &[3, 4, 5]),
        ("--torus 4x4 --wrap no --fail-box 0.1..2.1", &[4, 5, 6]),
    ];
    for (words, expected) in cases {
        assert_eq!(failed(words).0, Value::from(expected), "{words}");
    }
}

#[test]
fn a_failure_stated_twice_counts_once() {
    let cases = [
        ("--torus 4x4 --fail 0,1 --fail 1,0", "--torus 4x4 --fail 0,1", "--fail 1,0"),
        ("--torus 4x4 --fail 0,1 --fail 1.0,0.0,x", "--torus 4x4 --fail 0,1", "--fail 1.0,0.0,x"),
        ("--torus 4x4 --fail-link 1,0 --fail 0,1", "--torus 4x4 --fail 0,1", "--fail-link 1,0"),
        ("--torus 4x4 --fail-link 0,1 --fail-link 0,1", "--torus 4x4 --fail-link 0,1", "--fail-link 0,1"),
        ("--torus 4x4 --fail-rank 3 --fail-rank 2-4", "--torus 4x4 --fail-rank 2-4", "--fail-rank 2-4"),
    ];
    for (twice, once, repeated) in cases {
        assert_eq!(failed(twice), failed(once), "{twice}");
        let noted = text(&synth(&format!("topology {twice}")).stderr);
        assert!(noted.starts_with(&format!("note: {repeated}: stated before, and counted once")), "{twice}: {noted}");
        assert_eq!(noted.lines().count(), 1, "{twice}: {noted}");
        assert_eq!(text(&synth(&format!("topology {once}")).stderr), "", "{once}");
    }
    // What a file states counts too; two links are two failures.
    let bench = Bench::new();
    bench.write("m.json", &bench.stdout("topology --torus 4x4 --fail-link 0,1 --fail 4,5 --format json"));
    let machine = |words: &str| text(&bench.ended(0, words).stdout);
    let whole = machine("topology --torus 4x4 --fail 0,1 --fail 4,5");
    assert_eq!(machine("topology --topology m.json --fail 1,0 --fail 5,4"), whole);
    assert!(machine("topology --topology m.json --fail-link 1,0").contains("1 failed cable, 2 failed links"));
}

#[test]
fn a_cable_is_stated_in_the_words_of_alarms() {
    // On every machine, the same failure in other words.
    let cases = [
        ("--torus 4x4 --fail 2,x+", "--torus 4x4 --fail 2,3,x+"),
        ("--torus 4x4 --fail 3,X+", "--torus 4x4 --fail 3,0,x+"),
        ("--torus 4x4 --fail 1.0,y-", "--torus 4x4 --fail 1,13,y-"),
        ("--torus 4x4 --fail-link 3,x+", "--torus 4x4 --fail-link 3,0,x+"),
        ("--torus 4x4 --fail 2-3", "--torus 4x4 --fail 2,3"),
        ("--torus 4x4 --fail 2.0-3.0", "--torus 4x4 --fail 2,3"),
        ("--torus 4x4 --fail 2,3,X", "--torus 4x4 --fail 2,3,x"),
        // Two cables join the ranks.
        ("--torus 2x3 --wrap yes --fail 0,x-", "--torus 2x3 --wrap yes --fail 0,1,x-"),
        // The wrap of x leads to another row.
        ("--torus 4x8 --twist --fail 3,x+", "--torus 4x8 --twist --fail 3,16,x+"),
    ];
    for (words, plain) in cases {
        assert_eq!(failed(words), failed(plain), "{words}");
    }
    // Names come first: one may be what a direction is called, or have a dash.
    let bench = Bench::new();
    bench.write("names.txt", "a-1\nx-\nb-2\n");
    let named = |words: &str| bench.stdout(&format!("topology --format json --torus 3 --names names.txt {words}"));
    assert_eq!(named("--fail a-1,x-"), named("--fail 0,1"));
    assert_eq!(named("--fail a-1-b-2"), named("--fail 0,2"));
    for (words, wrong) in [
        ("--torus 4x4 --fail 2,x", "a rank has two cables in x: write 2,x+ or 2,x-"),
        ("--torus 4x4 --wrap no --fail 3,x+", "no cable leaves rank 3 (3,0) in x+"),
        ("--torus 4x4 --fail 3,z+", "no cable leaves rank 3 (3,0) in z+"),
        ("--torus 4x4 --fail 2", "write two ranks and the dimension"),
        ("--torus 4x4 --fail 0:1", "`0:1`: did you mean --fail 0,1?"),
        ("--torus 4x4 --fail 1->2", "`1->2`: did you mean --fail 1,2?"),
        ("--torus 4x4 --fail 5,+x", "did you mean --fail 5,x+?"),
        ("--torus 4x4 --fail 0,1;2,3", "did you mean --fail 0,1 --fail 2,3?"),
        ("--torus 4x4 --fail-link [0,1]", "did you mean --fail-link 0,1?"),
        ("--torus 4x4 --fail (0,0)-(1,0)", "did you mean --fail 0.0,1.0?"),
        ("--torus 4x4 --fail (0,0):x", "a rank has two cables in x: write 0.0,x+ or 0.0,x-"),
        ("--torus 4x4 --fail 2-q", "is not a rank"),
        ("--torus 4x4 --fail 1,1,2,1", "did you mean --fail 1.1,2.1?"),
        ("--torus 4x4x4 --fail 2,0,0,3,0,0", "did you mean --fail 2.0.0,3.0.0?"),
        ("--torus 4x4 --fail 2,", "write two ranks and the dimension"),
    ] {
        let output = synth(&format!("topology {words}"));
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(wrong), "{words}: {said}");
    }
}

#[test]
fn names_in_another_case_are_not_taken_for_numbers() {
    let bench = Bench::new();
    bench.write("hosts", &(1..17).map(|host| format!("node{host}\n")).collect::<String>());
    for words in ["Node5,NODE6", "node5:node6", "node5/node6"] {
        let output = bench.run(&format!("topology --torus 4x4 --names hosts --fail {words}"));
        assert!(text(&output.stderr).contains("did you mean --fail node5,node6?"), "{}", text(&output.stderr));
    }
    let output = bench.run("topology --torus 4x4 --names hosts --fail node7,node99");
    assert!(!text(&output.stderr).contains("did you mean"), "{}", text(&output.stderr));
}

#[test]
fn ranks_that_may_be_coordinates_are_noted() {
    let said = text(&synth("topology --torus 4x4x4 --fail-rank 2,0,1").stderr);
    assert!(said.contains("note: --fail-rank 2,0,1: 3 ranks; the rank at these coordinates is 2.0.1"), "{said}");
    assert!(!text(&synth("topology --torus 4x4x4 --fail-rank 2,1").stderr).contains("coordinates"));
}

#[test]
fn a_note_does_not_disturb_programs_that_read_json() {
    let words = "--torus 4x4 --fail 0,1 --fail 1,0";
    let said = text(&synth(words).stderr);
    assert!(said.starts_with("note: --fail 1,0: stated before"), "{said}");
    let summary: Value = serde_json::from_slice(&synth(&format!("{words} --format json")).stderr).expect("JSON");
    assert_eq!(summary["machine"], "4x4 torus with 1 failed cable");
    assert!(synth(&format!("{words} -q")).stderr.is_empty());
}

#[test]
fn a_dead_switch_is_its_cables() {
    // On every machine, the same failures in other words.
    let cables = "--fail 11,12 --fail 15,8 --fail 43,44 --fail 47,40";
    for words in ["--fail-switch x:1", "--fail-switch X:1 --period 4x4", "--fail-switch x:1 --fail-switch x:1"] {
        assert_eq!(failed(&format!("--torus 8x8 {words}")), failed(&format!("--torus 8x8 {cables}")), "{words}");
    }
    let noted = |words: &str| text(&synth(&format!("topology {words}")).stderr);
    assert_eq!(noted("--torus 8x8 --fail-switch x:1"), "note: switch x:1: 4 cables\n");
    let again = noted("--torus 8x8 --fail-switch y:2 --fail-switch x:1 --fail 11,12 --fail-switch x:1");
    assert!(again.ends_with("counted once\n"), "{again}");
    assert_eq!(again.lines().count(), 5, "{again}");
    let described = text(&synth(&format!("topology --torus 8x8 {cables} --fail 0,1")).stdout);
    assert!(described.starts_with("8x8 torus with 5 failed cables (4 of switch x:1)\n"), "{described}");
    assert!(described.contains("\n  switch x:1: 4 cables\n  cable 0 (0,0) - 1 (1,0) in x\n"), "{described}");
}

#[test]
fn files_state_switches() {
    let bench = Bench::new();
    let machine = |text: &str| {
        bench.write("m.json", text);
        let answer = bench.stdout("topology --topology m.json --format json");
        serde_json::from_str::<Value>(&answer).expect("JSON")["failed_links"].clone()
    };
    let stated = machine(r#"{"torus": [8, 8], "failed_switches": ["x:1"]}"#);
    assert_eq!(stated, failed("--torus 8x8 --fail-switch x:1").1);
    let stated = machine(r#"{"torus": [8, 8], "failed_switches": ["x:1", "y:0"], "period": [2, 8]}"#);
    assert_eq!(stated, failed("--torus 8x8 --fail-switch x:1 --fail-switch y:0 --period 2x8").1);
    for (file, place, words) in [
        (r#"{"torus": [8, 8], "failed_switches": ["x:1", "x:4"]}"#, "1:46", "in y the positions are 0 to 3"),
        (r#"{"torus": [8, 8], "failed_switches": ["x:1", "x:1"]}"#, "1:46", "switch x:1 is stated as failed twice"),
        (r#"{"torus": [8, 6], "failed_switches": ["x:1"]}"#, "1:", "along y it is one of 1, 2, 3, 6"),
        (r#"{"torus": [8, 8], "failed_switches": ["x:1"], "period": [3, 2]}"#, "1:", "along x it is one of 1, 2, 4, 8"),
        (r#"{"torus": [8, 8], "period": [2, 2]}"#, "1:", "`period` belongs to `failed_switches`"),
        (r#"{"links": [{"from": 0, "to": 1}], "failed_switches": ["x:1"]}"#, "1:", "an explicit graph has no switches"),
        (r#"{"torus": [8, 8], "failed_links": [{"from": 11, "to": 12}], "failed_switches": ["x:1"]}"#, "1:", "twice"),
        (r#"{"torus": [8, 8], "failed_switches": ["x1"]}"#, "1:", "as in x:1,2"),
    ] {
        bench.write("m.json", file);
        let refused = text(&bench.ended(2, "topology --topology m.json").stderr);
        assert!(refused.contains(&format!("m.json:{place}")) && refused.contains(words), "{file}: {refused}");
    }
}
