//! `synth convert` from outside: other tools' formats.

use std::fs;

use crate::support::bench::{Bench, text};

fn code(bench: &Bench, words: &str) -> (Option<i32>, String) {
    let output = bench.run(words);
    (output.status.code(), text(&output.stderr))
}

#[test]
fn out_and_in_again() {
    let bench = Bench::new();
    assert!(bench.run("--torus 4x4 --fail 0,1 --collective all_gather -q -o s.json").status.success());
    assert!(bench.run("lower s.json -q -o p.json").status.success());
    for words in ["s.json --to msccl --barriers global", "s.json --to rccl --in-place", "p.json --to msccl"] {
        assert_eq!(code(&bench, &format!("convert {words} -o a.xml")), (Some(0), String::new()), "{words}");
        let (ending, said) = code(&bench, "convert a.xml --from msccl -o b.json");
        assert!(ending == Some(0) && said.contains("holds in every interleaving"), "{words}: {said}");
        assert_eq!(code(&bench, "verify b.json").0, Some(0));
    }
    for format in ["csv", "trace", "goal"] {
        let output = bench.run(&format!("convert s.json --to {format}"));
        assert!(output.status.success() && !output.stdout.is_empty(), "{format}");
    }
    let priced = "convert s.json --to trace --message-bytes 64KiB --alpha 1us --bandwidth 50GB/s";
    assert!(bench.stdout(priced).contains("\"ts\":1,"), "transfers begin after a start-up");
    for words in
        ["s.json --to trace --alpha 1us", "s.json --to goal --message-bytes 1KiB --alpha 1us --bandwidth 1GB/s"]
    {
        assert_eq!(code(&bench, &format!("convert {words}")).0, Some(2), "{words}");
    }
    let (ending, said) = code(&bench, "convert p.json --to csv");
    assert!(ending == Some(2) && said.contains("no steps to show"), "{said}");
}

/// The root, which no file of MSCCL names.
#[test]
fn the_root_is_found_where_only_one_rank_can_be_it() {
    let bench = Bench::new();
    for kind in ["broadcast", "reduce", "scatter", "gather"] {
        bench.ended(0, &format!("--torus 2x3 --collective {kind} --root 4 --parts 2 -q -o s.json"));
        bench.ended(0, "convert s.json --to rccl -o s.xml");
        let (ending, said) = code(&bench, "convert s.xml --from rccl -o p.json");
        assert!(ending == Some(0) && (said.contains(" from 4 ") || said.contains(" to 4 ")), "{kind}: {said}");
        let (ending, said) = code(&bench, "convert s.xml --from rccl --root 1 -o p.json");
        assert!(ending == Some(1) && !said.contains("hint: the file does not name the root"), "{kind}: {said}");
        // The tokens of barriers come from every rank and go to every rank; a table of moves has no root either.
        bench.ended(0, "convert s.json --to rccl --barriers global -o s.xml");
        bench.ended(0, "convert s.json -o s.csv");
        let table = format!("s.csv --from csv --torus 2x3 --collective {kind} --parts 2");
        for words in ["s.xml --from rccl", &table] {
            let (ending, said) = code(&bench, &format!("convert {words} -o p.json"));
            let hint = "hint: the file does not name the root, and 0 was taken: if it is another, add --root RANK\n";
            assert!(ending == Some(1) && said.ends_with(hint), "{kind}, {words}: {said}");
            assert_eq!(code(&bench, &format!("convert {words} --root 4 -o p.json")).0, Some(0), "{kind}, {words}");
        }
    }
}

/// Tables of moves: what is written comes back, of every machine and collective that options describe.
#[test]
fn tables_of_moves_come_back() {
    let bench = Bench::new();
    bench.write("demand.csv", "0,1,2\n1,0,0\n0,3,0\n");
    for words in [
        "--torus 4x3 --fail 0,1 --collective all_reduce --parts 6",
        "--torus 2x4 --twist --collective all_to_all --parts 2",
        "--torus 3x3 --fail-rank 4 --collective broadcast --root 2.2 --parts 4",
        "--torus 3x2 --wrap yes --capacity 2,1 --collective reduce_scatter --parts 2",
        "--torus 4x2 --collective all_gather --groups x --parts 3",
        "--torus 4x4 --collective all_to_all --blocks 2x2 --relays no",
        "--torus 3 --collective all_to_allv --demand demand.csv",
        "--torus 3x2 --collective barrier",
        "--torus 3x2 --collective all_reduce_gathered",
    ] {
        bench.ended(0, &format!("{words} -q -o s.json"));
        bench.ended(0, "convert s.json -o s.csv");
        let read = bench.ended(0, &format!("convert s.csv --from csv {words} -o t.json"));
        assert!(text(&read.stderr).contains("s.csv: holds"), "{words}");
        bench.ended(0, "convert t.json -o t.csv");
        let (written, again) = (bench.read("s.csv"), bench.read("t.csv"));
        assert_eq!(written, again, "{words}");
    }
    bench.ended(0, "--torus 3 --collective all_gather -q -o s.json");
    bench.ended(0, "convert s.json -o s.csv");
    for (words, said) in [
        ("show s.csv", "`synth convert --from csv --torus EXTENTS --collective NAME FILE` judges it"),
        ("compare s.csv", "`synth convert --from csv --torus EXTENTS --collective NAME FILE` judges it"),
        ("convert s.csv --from sccl", "`synth convert --from csv --torus EXTENTS --collective NAME FILE` judges it"),
        ("convert s.csv --from csv", "do not name the collective"),
        ("convert s.csv --from csv --collective all_gather", "give --torus EXTENTS or --topology FILE"),
        ("convert s.csv --from csv --collective barrier --torus 3", "s.csv:4:17: F003"),
        ("convert s.csv --from csv --collective all_gather --torus 2", "s.csv:3:5: F003"),
    ] {
        let output = bench.run(words);
        let heard = text(&output.stderr) + &text(&output.stdout);
        assert!(output.status.code() == Some(2) && heard.contains(said), "{words}: {heard}");
        // No hint is the command that was typed.
        assert!(!words.contains("--from csv") || !heard.contains("--from csv --torus"), "{words}: {heard}");
    }
}

#[test]
fn what_does_not_hold_is_told_and_kept() {
    let bench = Bench::new();
    bench.write("line.json", r#"{"torus": [3], "wrap": [false]}"#);
    let flows = r#"{"7-Flows": ["Chunk 0 from 2 traveled over 2->0 in epoch 0"]}"#;
    bench.write("flows.json", flows);
    let (ending, said) = code(&bench, "convert flows.json --from teccl");
    assert!(ending == Some(2) && said.contains("--collective all_gather or all_to_all"), "{said}");
    let (ending, said) = code(&bench, "convert flows.json --from teccl --collective all_gather");
    assert!(ending == Some(2) && said.contains("give --torus EXTENTS or --topology FILE"), "{said}");
    let words = "convert flows.json --from teccl --topology line.json --collective all_gather -o s.json";
    let (ending, said) = code(&bench, words);
    assert!(ending == Some(1) && said.contains("T002: there is no link from rank 2"), "{said}");
    assert_eq!(code(&bench, "verify s.json").0, Some(1));
    assert_eq!(code(&bench, "convert s.json --to csv").0, Some(1));
    let (ending, said) = code(&bench, "convert flows.json --from msccl");
    assert!(ending == Some(2) && said.contains("flows.json:1:1: F001"), "{said}");
}

#[test]
fn a_trace_for_each_rank() {
    let bench = Bench::new();
    assert!(bench.run("--torus 3 --collective all_gather -q -o s.json").status.success());
    let (ending, said) = code(&bench, "convert s.json --to chakra");
    assert!(ending == Some(2) && said.contains("give -o NAME"), "{said}");
    assert_eq!(code(&bench, "convert s.json --to chakra -o trace").0, Some(0));
    fs::create_dir(bench.folder.path().join("all")).unwrap();
    assert_eq!(code(&bench, "convert s.json --to chakra -o all").0, Some(0));
    for rank in 0..3 {
        let bytes = |name: String| fs::read(bench.folder.path().join(name)).unwrap();
        assert_eq!(bytes(format!("trace.{rank}.et")), bytes(format!("all/all_gather.{rank}.et")));
    }
    // One name is a folder: nothing is written, and nothing left over.
    fs::create_dir_all(bench.folder.path().join("half/x.2.et")).unwrap();
    let (ending, said) = code(&bench, "convert s.json --to chakra -o half/x");
    assert!(ending == Some(2) && said.contains("cannot write half/x.2.et: Is a directory"), "{said}");
    assert_eq!(fs::read_dir(bench.folder.path().join("half")).unwrap().count(), 1);
    // A file in the place of the folder is named, and not the first of what was to be in it.
    for place in ["s.json/x", "s.json/deep/x"] {
        let (ending, said) = code(&bench, &format!("convert s.json --to chakra -o {place}"));
        assert!(ending == Some(2) && said.contains("cannot write in s.json: it is a file, not a folder"), "{said}");
    }
}
