//! What a command writes is read back: every command with `--output`, on every form of file. A command that is added
//! must be added here.

use crate::support::bench::{Bench, stdout, text};

/// Schedules of every form.
const FORMS: [(&str, &str); 9] = [
    ("plain", "--torus 3x3 --fail 0,1 --collective all_gather --parts 2"),
    ("compact", "--torus 4x4 --fail 0,1 --form compact"),
    ("twisted", "--torus 4x8 --twist --collective broadcast --parts 3"),
    ("groups", "--torus 4x4 --groups x --collective all_reduce --parts 4"),
    ("groups without relays", "--torus 4x4 --groups x --relays no --collective all_gather"),
    ("blocks without relays", "--torus 4x4 --blocks 2x2 --relays no --collective reduce_scatter"),
    ("demand", "--torus 2x2 --collective all_to_allv --demand demand.csv"),
    ("failed rank", "--torus 3x3 --fail-rank 4 --collective reduce --root 1"),
    ("barrier", "--torus 2x3 --collective barrier"),
];

/// What commands write from IN: the command, whether it takes every form, and what reads OUT, if a command does. (The
/// program of one rank is for runtimes.)
const WRITERS: [(&str, bool, &str); 13] = [
    ("lower IN -o OUT", true, "verify OUT"),
    ("lower IN --barriers global -o OUT", false, "verify --contention-free OUT"),
    ("lower IN --rank 0 -o OUT", true, ""),
    ("convert IN --to explicit -o OUT", true, "verify OUT"),
    ("convert IN --to explicit -o OUT.gz", true, "verify OUT.gz"),
    ("convert IN --to compact -o OUT", false, "verify OUT"),
    ("convert IN -o OUT", true, "verify OUT"),
    ("polish IN --time-limit 1s -q -o OUT", false, "verify OUT"),
    ("convert IN --to msccl -o OUT", false, "convert OUT --from msccl -o OUT2"),
    ("convert IN --to csv -o OUT", true, ""),
    ("convert IN --to trace -o OUT", true, ""),
    ("convert IN --to goal -o OUT", true, ""),
    ("view IN -o OUT", false, ""),
];

/// Commands whose files the tests of those commands read back: reports, folders, and what takes no schedule.
const ELSEWHERE: [&str; 11] =
    ["plan", "pareto", "compare", "bound", "survey", "show", "topology", "verify", "run", "planners", "explain"];

#[test]
fn every_command_that_writes_is_here() {
    let all = collsynth::cli::command();
    let mut count = 0;
    for name in all.get_subcommands().map(|command| command.get_name()) {
        if stdout(&format!("{name} --help")).contains("--output") {
            let known = WRITERS.iter().any(|(words, ..)| words.split(' ').next() == Some(name));
            assert!(
                known || ELSEWHERE.contains(&name),
                "`synth {name}` writes files: say in this table what reads them"
            );
            count += 1;
        }
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn what_is_written_is_read_back() {
    for (form, plan) in FORMS {
        let bench = Bench::new();
        bench.write("demand.csv", "0,2,1,0\n1,0,0,3\n0,0,0,1\n2,1,1,0\n");
        bench.ended(0, &format!("{plan} -q -o in.json"));
        bench.ended(0, "verify in.json");
        for (number, (words, takes_all, reader)) in WRITERS.into_iter().enumerate() {
            let out = format!("out{number}");
            let of = |words: &str| words.replace("IN", "in.json").replace("OUT", &out);
            let output = bench.run(&of(words));
            let wrote = bench.names().iter().any(|name| name.starts_with(&out));
            match output.status.code() {
                // Polishing that was stopped writes the best so far.
                Some(0 | 4) if reader.is_empty() => assert!(wrote, "{form}: {words}"),
                Some(0 | 4) => drop(bench.ended(0, &of(reader))),
                Some(2) if !takes_all => assert!(!wrote, "{form}: {words} is refused, and writes"),
                code => panic!("{form}: {words}: {code:?}\n{}", text(&output.stderr)),
            }
        }
    }
}

#[test]
fn a_file_holds_what_would_be_printed() {
    let bench = Bench::new();
    bench.ended(0, "--torus 2x2 -q -o s.json");
    bench.write("wrong.json", &text(&bench.read("s.json")).replacen("\"to\": 1", "\"to\": 2", 1));
    for (code, words, file, form) in [
        (0, "verify s.json", "v.txt", ""),
        (1, "verify s.json wrong.json", "v.json", "--format json"),
        (1, "verify s.json wrong.json", "v.sarif", "--format sarif"),
        (1, "verify wrong.json --format github", "v", ""),
        (2, "verify s.json none.json", "missing.json.gz", "--format json"),
        (0, "bound s.json", "b.json", "--format json"),
        (0, "planners", "p.txt", ""),
        (0, "explain T003", "e", ""),
        (0, "util schema job", "schema.json", ""),
        (0, "util completions bash", "synth.bash", ""),
    ] {
        let printed = bench.ended(code, &format!("{words} {form}")).stdout;
        let silent = bench.ended(code, &format!("{words} -o {file}")).stdout;
        assert_eq!(text(&silent), "", "{words}");
        let written = collsynth::format::file::read_text(&bench.folder.path().join(file), 1 << 20).expect("a text");
        assert_eq!(written, text(&printed), "{words}");
        assert_eq!(text(&bench.ended(code, &format!("{words} {form} -o -")).stdout), written, "{words}");
    }
    // Times differ: the figures of runs have the same keys and rows.
    bench.ended(0, "run s.json --bytes 4KiB -n 1 -o r.json");
    let run: serde_json::Value = serde_json::from_slice(&bench.read("r.json")).expect("JSON");
    assert_eq!(run["dtype"], "f32");
    bench.ended(0, "run s.json -b 1KiB -e 4KiB -n 1 -o sizes.txt");
    assert_eq!(text(&bench.read("sizes.txt")).lines().filter(|line| line.contains("f32")).count(), 3);
    bench.ended(0, "run s.json -b 1KiB -e 4KiB -n 1 -o sizes.json");
    let sizes: serde_json::Value = serde_json::from_slice(&bench.read("sizes.json")).expect("JSON");
    assert_eq!(sizes.as_array().map(Vec::len), Some(3));
    // An ending that is not written, and a folder that is not there.
    for words in ["run s.json -o r.csv", "explain -o e.json", "util schema -o s.xml", "planners -o nowhere/p.txt"] {
        let said = bench.ended(2, words);
        assert!(text(&said.stderr).contains("is written here") || text(&said.stderr).contains("nowhere"), "{words}");
    }
}
