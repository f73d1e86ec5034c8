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
const ELSEWHERE: [&str; 8] = ["plan", "pareto", "compare", "bound", "survey", "show", "topology", "verify"];

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
