//! Files that want more memory than their size: `hostile/cases.txt` has small ones and what is said of them; others are
//! made here. All are read under a limit on memory, in proportion to their size.

use std::process::{Command, Output};

use crate::support::bench::{Bench, built, text};

/// Runs a command on a file of this size: with 64 MiB and 40 bytes for each of its bytes, beside what the program takes
/// to be loaded.
fn limited(bench: &Bench, program: &std::path::Path, words: &str, size: usize) -> Output {
    const LOADED: usize = 64 << 20;
    let most = (LOADED + (64 << 20) + 40 * size) >> 10;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit -v {most}; exec \"$0\" {words}")).arg(program);
    shell.current_dir(bench.folder.path()).output().expect("the command runs")
}

fn synth(bench: &Bench, words: &str, size: usize) -> Output {
    limited(bench, env!("CARGO_BIN_EXE_synth").as_ref(), words, size)
}

#[test]
fn small_files_take_little_memory() {
    let bench = Bench::new();
    bench.write("ring4.json", r#"{"torus": [4]}"#);
    let mut count = 0;
    for case in include_str!("hostile/cases.txt").lines().filter(|line| !line.starts_with('#')) {
        let [code, words, said, file] = case.splitn(4, " | ").collect::<Vec<_>>()[..] else { panic!("{case}") };
        bench.write("file", file);
        let output = synth(&bench, words, file.len());
        let seen = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), code.trim().parse().ok(), "{case}\n{seen}");
        assert!(seen.contains(said), "{case}\n{seen}");
        if words == "verify file" {
            let judge = limited(&bench, &built().join("synth-verify"), "file", file.len());
            assert_eq!((judge.status.code(), text(&judge.stdout)), (output.status.code(), text(&output.stdout)));
        }
        count += 1;
    }
    assert!(count >= 20, "{count}");
}

/// A pattern of many directions is not written out for all ranks, to see that it makes the moves that are left out.
#[test]
fn moves_that_are_left_out_take_little_memory() {
    let bench = Bench::new();
    let pattern: Vec<String> = (1..400).map(|to| format!("{{\"from\": 0, \"to\": {to}, \"chunks\": [0]}}")).collect();
    let left_out = |rank: u32| format!("{{\"from\": {rank}, \"to\": {}, \"chunks\": [{rank}]}}", rank + 1);
    let without: Vec<String> = (0..25).map(|number| left_out(390 * number)).collect();
    let file = format!(
        "{{\"format\": \"collective-schedule/1\", \"topology\": {{\"torus\": [10000]}}, \"collective\": \
         {{\"kind\": \"all_gather\"}}, \"exceptions\": [], \"steps\": [{{\"pattern\": [{}], \"without\": [{}], \
         \"transfers\": []}}]}}",
        pattern.join(","),
        without.join(",")
    );
    bench.write("file", &file);
    let output = synth(&bench, "verify file", file.len());
    let seen = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.code() == Some(2) && seen.contains("SYNTH_MAX_MEMORY allows more"), "{seen}");
}

/// Trees of many chunks at once are not written out beyond what a file of their size may take.
#[test]
fn trees_of_many_chunks_take_little_memory() {
    let bench = Bench::new();
    let chunks: Vec<String> = (0..20_000).map(|chunk: u32| chunk.to_string()).collect();
    let (parents, steps) = ("x".repeat(1000), vec!["1"; 1000].join(","));
    let file = format!(
        "{{\"format\": \"collective-schedule/1\", \"topology\": {{\"torus\": [1000]}}, \"collective\": \
         {{\"kind\": \"all_reduce\", \"parts\": 20000}}, \"trees\": [{{\"chunks\": [{}], \"op\": \"reduce\", \
         \"parents\": \"{parents}\", \"steps\": [{steps}]}}], \"mirrored\": true, \"steps\": [{{\"transfers\": []}}]}}",
        chunks.join(",")
    );
    bench.write("file", &file);
    let output = synth(&bench, "verify file", file.len());
    let seen = text(&output.stdout) + &text(&output.stderr);
    let said = "these trees take 382 MiB, more than 49 MiB: SYNTH_MAX_MEMORY allows more";
    assert!(output.status.code() == Some(2) && seen.contains(said), "{seen}");
}

#[test]
fn deep_nesting_is_refused() {
    let bench = Bench::new();
    bench.write("ring4.json", r#"{"torus": [4]}"#);
    for (file, words, said) in [
        ("<a>".repeat(150_000) + &"</a>".repeat(150_000), "convert file --from msccl", "F004: the file is a <a>"),
        (
            "<algo><gpu><tb>".to_owned()
                + &"<step>".repeat(150_000)
                + &"</step>".repeat(150_000)
                + "</tb></gpu></algo>",
            "convert file --from msccl",
            "F002: <step> in <step>, where nothing is allowed",
        ),
        ("<Algo>".repeat(150_000), "convert file --from forestcoll --topology ring4.json", "<Algo> in <Algo>"),
        ("[".repeat(300_000), "verify file", "F003"),
        ("{\"format\": \"rank-program/1\", \"channels\": ".to_owned() + &"[".repeat(300_000), "verify file", "F00"),
        ("{\"msccl_type\": ".to_owned() + &"[".repeat(300_000), "convert file --from sccl", "F003"),
        (
            "{\"Flows\": ".to_owned() + &"[".repeat(300_000),
            "convert file --from teccl --topology ring4.json --collective all_gather",
            "F001",
        ),
        ("[".repeat(300_000), "bound --torus 4 --collective all_to_allv --demand file", "not a JSON list of lists"),
    ] {
        bench.write("file", &file);
        let output = synth(&bench, words, file.len());
        let seen = text(&output.stdout) + &text(&output.stderr);
        assert!(output.status.code() == Some(2) && seen.contains(said), "{words}: {seen}");
    }
}

#[test]
fn long_lines_and_long_keys_stay_small() {
    let bench = Bench::new();
    let transfers = vec![r#"{"from": 0, "to": 2, "chunks": [0]}"#; 25_000].join(", ");
    let schedule = schedule(r#"{"torus": [4]}"#, "all_to_all", &format!(r#"{{"transfers": [{transfers}]}}"#));
    bench.write("file", &schedule);
    for form in ["text", "json", "sarif", "github"] {
        let output = synth(&bench, &format!("verify file --max-errors 200 --format {form}"), schedule.len());
        let longest = text(&output.stdout).lines().map(str::len).max();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(longest < Some(400), "{form}: {longest:?}");
    }
    let key = format!("{{\"{}\": 1}}", "k".repeat(900_000));
    bench.write("file", &key);
    let output = synth(&bench, "show file", key.len());
    assert!(output.status.code() == Some(2) && output.stderr.len() < 2000, "{}", output.stderr.len());
}

/// Every sum of a chunk holds a bit for every rank, and a chain of 180 000 ranks has many sums.
#[test]
fn many_sums_of_many_ranks_are_not_judged() {
    let bench = Bench::new();
    let each = |what: &dyn Fn(u32) -> String| (0..2000).map(what).collect::<Vec<_>>().join(", ");
    let links = each(&|rank| format!(r#"{{"from": {rank}, "to": {}}}"#, rank + 1));
    let steps = each(&|rank| {
        let to = rank + 1;
        format!(r#"{{"transfers": [{{"from": {rank}, "to": {to}, "op": "reduce", "chunks": [0]}}]}}"#)
    });
    let file = schedule(&format!(r#"{{"ranks": 180000, "links": [{links}]}}"#), "all_reduce", &steps);
    bench.write("file", &file);
    for words in ["verify file", "lower file", "convert file --to csv", "run file"] {
        let output = synth(&bench, words, file.len());
        let seen = text(&output.stdout) + &text(&output.stderr);
        assert!(output.status.code() == Some(2) && seen.contains("not judged: that would take"), "{words}: {seen}");
    }
    let judge = limited(&bench, &built().join("synth-verify"), "file", file.len());
    assert_eq!(judge.status.code(), Some(2));
}

#[test]
fn the_limits_can_be_moved() {
    let bench = Bench::new();
    let program = r#"{"format": "rank-program/1", "ranks": 1, "collective": {"kind": "all_reduce", "parts": 2000000},
        "channels": [], "programs": [{"workers": [[
            {"op": "copy", "src": ["i", 0], "dst": ["o", 0], "count": 2000000}]]}]}"#;
    bench.write("file", program);
    let with = |name: &str, value: &str, words: &str| {
        let output = bench.command(words).env(name, value).output().expect("the command runs");
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (code, said) = with("SYNTH_UNRELATED", "1", "verify file");
    assert!(code == Some(2) && said.contains("SYNTH_MAX_MEMORY allows more"), "{said}");
    let (code, said) = with("SYNTH_MAX_MEMORY", "512MiB", "verify file");
    assert!(code == Some(0) && said.contains("holds in every interleaving"), "{said}");
    let (code, said) = with("SYNTH_MAX_FILE", "100", "verify file");
    assert!(code == Some(2) && said.contains("larger than 100 bytes"), "{said}");
    for words in ["verify file", "show file", "lower file", "bound --topology file", "run file"] {
        let (code, said) = with("SYNTH_MAX_FILE", "much", words);
        assert!(code == Some(2) && said.contains("SYNTH_MAX_FILE is \"much\": write a size"), "{words}: {said}");
    }
}

/// Strings in files that would clear the screen, write a line of their own or turn the text around.
#[test]
fn what_files_say_does_not_steer_the_terminal() {
    let bench = Bench::new();
    let evil = "\u{1b}[2J\u{9b}31m\u{202e}\u{7}\r";
    let escaped: String = evil.chars().map(|letter| format!("\\u{:04x}", letter as u32)).collect();
    bench.write("ring4.json", r#"{"torus": [4]}"#);
    let schedule = |topology: &str, more: &str| {
        let collective = r#"{"kind": "all_to_all"}"#;
        format!(r#"{{"format": "collective-schedule/1", "topology": {topology}, "collective": {collective}{more}}}"#)
    };
    let origin = format!(r#", "steps": [], "origin": {{"tool": "{escaped}\nholds", "planner": "{escaped}"}}"#);
    let transfer = |key: &str, value: &str| {
        let transfer = format!(r#"{{"from": 0, "to": 1, "chunks": [1], "{key}": "{value}"}}"#);
        schedule(r#"{"torus": [4]}"#, &format!(r#", "steps": [{{"transfers": [{transfer}]}}]"#))
    };
    for (words, file) in [
        ("verify file", format!(r#"{{"{escaped}\nfile: holds": 1}}"#)),
        ("verify file", format!(r#"{{"format": "{escaped}"}}"#)),
        ("verify file", format!("{{\"format\": {evil}")),
        ("verify file", schedule(r#"{"torus": [4]}"#, &origin)),
        ("verify file", transfer("op", &escaped)),
        ("verify file", transfer("via", &escaped)),
        ("verify file", transfer(&escaped, "")),
        (
            "verify file",
            schedule(
                r#"{"torus": [4]}"#,
                &format!(r#", "steps": [{{"transfers": [{{"from": 0, "to": 1, "chunks": ["{escaped}"]}}]}}]"#),
            ),
        ),
        ("verify file", format!(r#"{{"format": "rank-program/{escaped}"}}"#)),
        ("show file", format!(r#"{{"{escaped}": 1}}"#)),
        ("topology --topology file", format!(r#"{{"{escaped}": 1}}"#)),
        ("convert file --from msccl", format!("<algo name=\"x\" {evil}=\"1\"/>")),
        ("convert file --from msccl", format!("<{evil}/>")),
        ("convert file --from msccl", format!("<algo name=\"x\" proto=\"{evil}\" inplace=\"0\" nchannels=\"1\"/>")),
        ("convert file --from sccl", format!(r#"{{"msccl_type": "{escaped}"}}"#)),
        ("convert file --from teccl --topology ring4.json --collective all_gather", format!(r#"{{"{escaped}": 1}}"#)),
        (
            "convert file --from teccl --topology ring4.json --collective all_gather",
            format!(r#"{{"Flows": ["{escaped}"]}}"#),
        ),
        ("convert file --from csv --torus 4 --collective all_gather", format!("step,from,to,{evil}\n")),
        ("convert file --from csv --torus 4 --collective all_gather", format!("step,from,to,chunk\n1,0,1,{evil}\n")),
        ("convert file --from csv --torus 4 --collective all_gather", format!("step,from,to,chunk\n{evil},0,1,0\n")),
        ("bound --torus 4 --collective all_to_allv --demand file", format!("0,{evil}\n")),
        ("verify no\u{1b}[2Jsuch", String::new()),
    ] {
        bench.write("file", &file);
        let output = bench.run(words);
        let seen = text(&output.stdout) + &text(&output.stderr);
        let raw = seen.chars().find(|&letter| letter != '\n' && (letter.is_control() || letter == '\u{202e}'));
        assert!(raw.is_none() && matches!(output.status.code(), Some(1 | 2)), "{words} {file:?}: {seen:?}");
        assert!(!seen.lines().any(|line| line.starts_with("file: holds")), "{seen}");
    }
}

/// The text of a schedule in these steps.
fn schedule(topology: &str, kind: &str, steps: &str) -> String {
    let head = format!(r#""format": "collective-schedule/1", "topology": {topology}"#);
    format!(r#"{{{head}, "collective": {{"kind": "{kind}"}}, "steps": [{steps}]}}"#)
}
