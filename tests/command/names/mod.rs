//! Host names of ranks: stated in options, carried in files, printed wherever a rank is.

mod spellings;

use serde_json::Value;

use crate::support::bench::{Bench, text};

/// A folder with names for a 3x3 torus, in both forms.
fn bench() -> Bench {
    let bench = Bench::new();
    let names: Vec<String> = (0..9).map(|rank| format!("node{}", 10 + rank)).collect();
    bench.write("names.txt", &format!("# row by row\n{}\n\n", names.join("\n")));
    bench.write("names.json", &serde_json::to_string(&names).expect("JSON"));
    bench
}

#[test]
fn options_take_names() {
    let bench = bench();
    let failed = |words: &str| {
        let machine: Value = serde_json::from_str(&bench.stdout(words)).expect("JSON");
        (machine["failed_links"].clone(), machine["failed_ranks"].clone(), machine["names"].clone())
    };
    let machine = "topology --format json --torus 3x3 --names";
    let by_number = failed(&format!("{machine} names.txt --fail 0,1 --fail-link 4,7 --fail-rank 2,5-6"));
    for words in [
        "names.txt --fail node10,node11 --fail-link node14,node17 --fail-rank node12,node15-node16",
        "names.json --fail node11,0.0,x --fail-link node14,7 --fail-rank node12 --fail-rank node15,6",
    ] {
        assert_eq!(failed(&format!("{machine} {words}")), by_number, "{words}");
    }
    assert_eq!(by_number.2[3], "node13");
    // A topology file carries them, and a box may begin at one.
    bench.write("m.json", &bench.stdout(&format!("{machine} names.txt")));
    assert_eq!(
        failed("topology --format json --topology m.json --fail-box node10..node14").1,
        Value::from([0, 1, 3, 4].to_vec())
    );
    assert!(bench.stdout("bound --topology m.json --collective broadcast --root node14").contains("node14"));
}

/// A schedule, a job and a rank program state a machine, with its names and failures: it is taken from them.
#[test]
fn a_machine_is_taken_from_what_was_planned_for_it() {
    let bench = bench();
    let machine = "--torus 3x3 --names names.txt --capacity 1,2 --fail node10,node11";
    let stated = bench.stdout(&format!("topology {machine} --format json"));
    bench.write(
        "job.list",
        r#"[{"collective": "all_gather", "groups": "x"}, {"collective": "all_gather", "groups": "y"}]"#,
    );
    bench.ended(0, &format!("{machine} -q -o s.json"));
    bench.ended(0, &format!("{machine} --job job.list -q -o job.json"));
    bench.ended(0, "lower s.json -q -o prog.json");
    for file in ["s.json", "job.json", "prog.json"] {
        assert_eq!(bench.stdout(&format!("topology --topology {file} --format json")), stated, "{file}");
    }
    let refuted = bench.ended(1, "verify s.json --fail node12,node15");
    let hint = "`synth --topology s.json --fail node12,node15 --collective all_to_all` plans it anew";
    assert!(text(&refuted.stderr).contains(hint), "{}", text(&refuted.stderr));
    bench.ended(0, "--topology s.json --fail node12,node15 --collective all_to_all -q -o tonight.json");
    let piped = bench.run_with("verify - --fail node12,node15", &bench.read("s.json"));
    assert_eq!(piped.status.code(), Some(1));
    assert!(!text(&piped.stderr).contains("anew"), "standard input is read already: {}", text(&piped.stderr));
    let program = text(&bench.read("prog.json")).replace("\"topology\"", "\"origin\"");
    bench.write("nowhere.json", &program);
    assert!(text(&bench.ended(2, "topology --topology nowhere.json").stderr).contains("states no machine"));
}

#[test]
fn whatever_prints_a_rank_prints_its_name() {
    let bench = bench();
    let planned = bench.ended(0, "--torus 3x3 --names names.txt --fail node10,node11 -o s.json");
    let summary = text(&planned.stderr);
    assert!(summary.contains(" node1"), "{summary}");
    assert!(text(&bench.read("s.json")).contains("\"names\": [\"node10\", \"node11\""));
    let said = |words: &str| text(&bench.ended(0, words).stdout);
    assert!(
        said("topology --torus 3x3 --names names.txt --fail 0,1")
            .contains("cable 0 (0,0) node10 - 1 (1,0) node11 in x")
    );
    assert!(said("verify s.json").contains(" node1"));
    assert!(said("show s.json --rank node14").contains("4 (1,1) node14"));
    assert!(said("show s.json --links --link node10,node12").contains("0 (0,0) node10  2 (2,0) node12"));
    assert!(said("show s.json --links --format csv").lines().all(|line| line.matches(',').count() == 11));
    assert!(said("convert s.json --to trace").contains("rank 4 (1,1) node14"));
    assert!(said("compare --torus 3x3 --names names.txt --planners template,ring").contains("all_to_all"));
    bench.ended(0, "survey --torus 3x3 --names names.txt --collective all_gather --cables 1 -q -o survey");
    assert!(text(&bench.read("survey/table.csv")).contains("0-1 (node10-node11)"));
    bench.ended(0, "lower s.json -o p.json -q");
    assert!(said("show p.json --rank node14").contains("rank 4 (1,1) node14"));
    // Names stay where ranks are numbered anew.
    bench.ended(0, "--torus 3x3 --names names.txt --fail-rank node13 -o t.json -q");
    bench.ended(0, "lower t.json --renumber map.csv -o q.json -q");
    assert!(text(&bench.read("map.csv")).starts_with("rank,was,name\n0,0,node10\n"));
    assert!(text(&bench.read("map.csv")).contains("\n3,4,node14\n"));
    assert!(said("show q.json --rank node14").contains("rank 3 node14"));
    let refused = text(&bench.ended(2, "convert t.json --to msccl").stderr);
    assert!(refused.contains("rank 3 node13 failed"), "{refused}");
}

#[test]
fn violations_name_ranks() {
    let bench = bench();
    bench.ended(0, "--torus 3x3 --names names.txt -o s.json -q");
    let whole = text(&bench.read("s.json"));
    bench.write("broken.json", &whole.replace("\"names\"", "\"failed_ranks\": [4], \"names\""));
    let found = text(&bench.ended(1, "verify broken.json").stdout);
    assert!(found.contains("4 (1,1) node14"), "{found}");
    bench.ended(0, "lower s.json -o p.json -q");
    let program = text(&bench.read("p.json"));
    // An output that a copy was to write keeps its old value.
    let cut = program.replacen("{\"op\": \"copy\", \"src\": [\"i\", 0]", "{\"op\": \"copy\", \"src\": [\"i\", 1]", 1);
    assert!(cut != program);
    bench.write("wrong.json", &cut);
    let found = text(&bench.ended(1, "verify wrong.json").stdout);
    assert!(found.contains(" node1"), "{found}");
}

#[test]
fn what_is_no_name_is_refused() {
    let bench = bench();
    for (names, why) in [
        ("a\nb\n", "2 names for 3 ranks"),
        ("a\nb\nc\nd\n", "4 names for 3 ranks"),
        ("a\nb\na\n", "ranks 0 and 2 are both named a"),
        ("a\nb\n1.0\n", "\"1.0\" is no name for rank 2"),
        ("a\nb\nc\u{1b}[2J\n", "\"c\\u{1b}[2J\" is no name for rank 2"),
        ("a\n\nc\n", "\"\" is no name for rank 1"),
        ("[\"a\", 7, \"c\"]", "invalid type: integer `7`"),
    ] {
        bench.write("wrong", names);
        let said = text(&bench.ended(2, "topology --torus 3 --names wrong").stderr);
        assert!(said.starts_with("error: wrong: ") && said.contains(why), "{names}: {said}");
        assert!(!said.contains('\u{1b}'), "{said}");
    }
    let said = text(&bench.ended(2, "topology --torus 3x3 --names names.txt --fail node10,node9").stderr);
    assert!(said.contains("`node9` is not a rank"), "{said}");
}
