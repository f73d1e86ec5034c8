//! Words as people spell them: collectives, planners and formats, and what commands are called elsewhere.

use crate::support::bench::{Bench, synth, text};

#[test]
fn names_are_taken_in_any_spelling() {
    let bench = Bench::new();
    let plan = |words: &str| bench.stdout(&format!("--torus 3 {words} -o -"));
    let reduced = plan("--collective all_reduce");
    for spelling in ["allreduce", "AllReduce", "all-reduce", "ALL_REDUCE", "Allreduce"] {
        assert_eq!(plan(&format!("--collective {spelling}")), reduced, "{spelling}");
    }
    // The options that an option depends on know it by its name.
    assert_eq!(plan("--planner SMT --minimise steps"), plan("--planner smt --minimize steps"));
    assert_eq!(plan("--parts AUTO --groups X --relays No"), plan("--parts auto --groups x --relays no"));
    bench.write("s.json", &reduced);
    assert_eq!(bench.stdout("convert s.json --to perfetto"), bench.stdout("convert s.json --to trace"));
    assert_eq!(
        bench.stdout("lower s.json -q --barriers neighbour"),
        bench.stdout("lower s.json -q --barriers neighbor")
    );
    bench.ended(0, "convert s.json --to rccl -o s.xml");
    assert_eq!(bench.stdout("convert s.xml --from RCCL"), bench.stdout("convert s.xml --from msccl"));
    bench.write("job.json", r#"[{"collective": "AllGather", "groups": "x"}, {"collective": "all_to_all"}]"#);
    bench.ended(0, "--torus 3x3 --job job.json -q -o j.json");
    bench.ended(0, "survey --torus 3x3 --collective AllGather --cables 1 -q -o survey");
    let compared = |planners: &str| bench.ended(0, &format!("compare --torus 4x4 --planners {planners}"));
    assert!(text(&compared("FoldedRing,ring").stdout).contains("folded_ring"));
}

#[test]
fn other_words_are_answered_with_ours() {
    let bench = Bench::new();
    bench.write("s.json", &bench.stdout("--torus 3 -o -"));
    for (words, meant) in [
        ("--torus 3 --collective psum", "did you mean all_reduce?"),
        ("--torus 3 --collective a2a", "did you mean all_to_all?"),
        ("4x4x8", "did you mean `synth --torus 4x4x8`?"),
        ("4X4,8 --collective allreduce", "did you mean `synth --torus 4x4x8 --collective allreduce`?"),
        ("4x4 all-to-all", "did you mean `synth --torus 4x4 --collective all_to_all`?"),
        ("AllReduce --fail 0,x+ 4x4", "did you mean `synth --collective all_reduce --fail 0,x+ --torus 4x4`?"),
        ("plan 4x4", "did you mean `synth plan --torus 4x4`?"),
        ("bound 4x4 all_gather", "did you mean `synth bound --torus 4x4 --collective all_gather`?"),
        ("s.json", "did you mean `synth verify s.json`?"),
        ("info s.json --links", "did you mean `synth show s.json --links`?"),
        ("export s.json", "did you mean `synth convert s.json --to FORMAT`?"),
        ("export s.json -o s.csv", "did you mean `synth convert s.json -o s.csv`?"),
        ("export s.json -o s.xml", "did you mean `synth convert s.json -o s.xml --to FORMAT`?"),
        ("export s.json --to csv", "did you mean `synth convert s.json --to csv`?"),
        ("compact s.json -o c.json", "did you mean `synth convert s.json -o c.json --to compact`?"),
        ("manual pages", "did you mean `synth util manual pages`?"),
        ("util shema", "did you mean schema?"),
        ("convert s.json --to nccl", "did you mean --to msccl?"),
        ("show s.json --format jsn", "did you mean --format json?"),
        ("polish s.json --planner smt", "--planner is an option of plan and pareto"),
        ("info", "did you mean `synth show`?"),
        ("diff", "did you mean `synth compare`?"),
        ("bench", "did you mean `synth run`?"),
    ] {
        let said = text(&bench.ended(2, words).stderr);
        assert!(said.contains(meant), "{words}: {said}");
    }
    // A table for people is no machine, and says how to get one.
    bench.write("t.json", &bench.stdout("topology --torus 3"));
    let said = text(&bench.ended(2, "--topology t.json").stderr);
    assert!(said.contains("`-o FILE.json` writes the machine"), "{said}");
}

#[test]
fn files_have_one_spelling_and_errors_say_it() {
    let bench = Bench::new();
    let schedule = |kind: &str, op: &str| {
        format!(
            r#"{{"format": "collective-schedule/1", "topology": {{"torus": [3]}}, "collective": {{"kind": "{kind}"}},
                "steps": [{{"transfers": [{{"from": 0, "to": 1, "op": "{op}", "chunks": [0]}}]}}]}}"#
        )
    };
    let program = r#"{"format": "rank-program/1", "ranks": 1, "collective": {"kind": "ALL-GATHER"}, "programs": []}"#;
    bench.write("kind.json", &schedule("AllReduce", "reduce"));
    bench.write("op.json", &schedule("all_reduce", "Reduce"));
    bench.write("program.json", program);
    for (file, right) in [
        ("kind.json", "unknown name `AllReduce`; did you mean `all_reduce`?"),
        ("op.json", "unknown op `Reduce`, expected `copy` or `reduce`"),
        ("program.json", "unknown name `ALL-GATHER`; did you mean `all_gather`?"),
    ] {
        let said = text(&bench.ended(2, &format!("verify {file}")).stdout);
        assert!(said.contains(right), "{said}");
        // What the message says to write is read.
        let words: Vec<&str> = right.split('`').collect();
        bench.write(file, &text(&bench.read(file)).replace(words[1], words[words.len() - 2]));
        let said = text(&bench.run(&format!("verify {file}")).stdout);
        assert!(!said.contains(right) && !said.contains("unknown"), "{said}");
    }
    // What is read once and written anew takes any spelling.
    bench.write(
        "jobs.json",
        r#"[{"collective": "AllGather", "groups": "x"}, {"collective": "all-reduce", "groups": "y"}]"#,
    );
    bench.ended(0, "--torus 2x2 --job jobs.json -q -o job.json");
    bench.write("moves.csv", "Step,From,To,Chunk,Op\n1,0,1,0,Reduce\n2,1,0,0,COPY\n");
    bench.ended(0, "convert moves.csv --from csv --torus 2 --collective AllReduce -o moves.json");
    bench.ended(0, "convert moves.csv --torus 2 --collective AllReduce -o again.json");
    assert!(bench.read("again.json") == bench.read("moves.json"));
    let convert = "`synth convert moves.csv --torus 2 --collective all_reduce -o moves.json`";
    for words in
        ["compare moves.csv --torus 2 --collective all_reduce", "verify moves.csv --torus 2 --collective all_reduce"]
    {
        let said = text(&bench.ended(2, words).stderr);
        assert!(said.contains(convert), "{said}");
    }
}

#[test]
fn answers_are_written_to_files() {
    let bench = Bench::new();
    bench.ended(0, "--torus 3 -o s.json");
    for (words, file, as_printed) in [
        ("topology --torus 3", "m.json", "topology --torus 3 --format json"),
        ("topology --torus 3", "m.txt", "topology --torus 3"),
        ("bound --torus 3", "b.json", "bound --torus 3 --format json"),
        ("show s.json", "shown.txt", "show s.json"),
        ("show s.json", "shown.json", "show s.json --format json"),
        ("show s.json --links", "links.csv", "show s.json --links --format csv"),
        ("show s.json", "shown.svg", "show s.json --format svg"),
    ] {
        bench.ended(0, &format!("{words} -o {file}"));
        assert_eq!(text(&bench.read(file)), bench.stdout(as_printed), "{words} -o {file}");
    }
    bench.ended(0, "--topology m.json -o again.json");
    let said = text(&synth("topology --torus 3 -o m.csv").stderr);
    assert!(said.contains("m.csv: .json is written here, not .csv"), "{said}");
}
