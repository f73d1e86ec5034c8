//! `synth lower`, and `synth verify` of rank programs, from outside.

use serde_json::Value;

use crate::support::bench::{Bench, text};

#[test]
fn live_ranks_are_numbered_without_gaps() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4x4 --fail-rank 5,9 --fail 0,1 --collective all_gather -q -o s.json");
    let refused = text(&bench.ended(2, "convert s.json --to msccl -o a.xml").stderr);
    assert!(refused.contains("numbers ranks without gaps") && refused.contains("--renumber MAP"), "{refused}");
    bench.ended(0, "convert s.json --to msccl --renumber map.csv -o a.xml");
    let map = text(&bench.read("map.csv"));
    let lines: Vec<&str> = map.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[5], lines[6], lines[14]), (15, "rank,was", "4,4", "5,6", "13,15"));
    bench.ended(0, "convert a.xml --from msccl -o b.json");
    bench.ended(0, "lower s.json --renumber again.csv --barriers neighbor -q -o p.json");
    assert_eq!(bench.read("again.csv"), bench.read("map.csv"));
    let verdict = text(&bench.ended(0, "verify b.json p.json").stdout);
    assert!(verdict.contains("all_gather among 14 ranks"), "{verdict}");
    bench.ended(0, "run p.json --bytes 4KiB --repeat 1");
    // The map means nothing where nothing is lowered.
    bench.ended(2, "convert p.json --to msccl --renumber map.csv");
    bench.ended(2, "convert s.json --to csv --renumber map.csv");
}

#[test]
fn a_schedule_is_lowered_and_judged() {
    let bench = Bench::new();
    assert!(bench.run("--torus 3x3 --fail 0,1 --collective all_reduce -q -o s.json").status.success());
    let output = bench.ended(0, "lower s.json --barriers neighbour -o p.json.gz");
    assert!(text(&output.stderr).contains("barriers    neighbour"), "{}", text(&output.stderr));
    let output = bench.ended(0, "verify p.json.gz s.json");
    assert!(text(&output.stdout).starts_with("p.json.gz: holds in every interleaving\n"), "{}", text(&output.stdout));
    let first = bench.run("lower s.json -q").stdout;
    assert_eq!(first, bench.run("lower s.json -q").stdout, "the same bytes");
}

#[test]
fn a_wrong_program_is_refuted_with_its_place() {
    let bench = Bench::new();
    bench.run("--torus 4 --collective all_gather -q -o s.json");
    bench.run("lower s.json -q -o p.json");
    let good = text(&bench.read("p.json"));
    let bad = good.replacen("\"dst\": [\"o\", 3]", "\"dst\": [\"o\", 2]", 1);
    assert_ne!(good, bad);
    bench.write("bad.json", &bad);
    let output = bench.ended(1, "verify bad.json --format json");
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    let violations = verdict["files"][0]["violations"].as_array().unwrap();
    let first = violations.iter().find(|one| one["line"].is_u64()).expect("one is about an operation");
    assert!(first["excerpt"].as_str().unwrap().contains("\"op\""));
    let line = bad.lines().nth(first["line"].as_u64().unwrap() as usize - 1).unwrap();
    assert!(line.contains("\"op\""), "{line}");
    bench.write("old.json", &good.replace("rank-program/1", "rank-program/0"));
    assert_eq!(bench.run("verify old.json").status.code(), Some(2));
    bench.write("mesh.json", r#"{"torus": [4], "wrap": [false]}"#);
    let output = bench.run("verify p.json --topology mesh.json");
    assert!(output.status.code() == Some(1) && text(&output.stdout).contains("T002"), "{}", text(&output.stdout));
    assert_eq!(bench.run("verify p.json --topology mesh.json --rank-map 0,1,2").status.code(), Some(2));
    assert_eq!(bench.run("explain p003").status.code(), Some(0));
}

#[test]
fn what_cannot_be_lowered_is_said() {
    let bench = Bench::new();
    bench.run("--torus 4 -q -o s.json");
    let output = bench.ended(2, "lower s.json --in-place");
    assert!(text(&output.stderr).contains("all_to_all cannot be lowered in place"), "{}", text(&output.stderr));
    bench.write("bad.json", &text(&bench.read("s.json")).replace("\"to\": 1", "\"to\": 2"));
    assert_eq!(bench.run("lower bad.json").status.code(), Some(1));
}

#[test]
fn findings_for_code_hosts() {
    let bench = Bench::new();
    bench.run("--torus 4 --collective all_gather -q -o s.json");
    bench.run("lower s.json -q -o p.json");
    let spoilt = |name: &str, new: &str| {
        let good = text(&bench.read(name));
        let place = good.rfind("\"to\": 3").unwrap();
        let bad = format!("{}\"to\": 0{}", &good[..place], &good[place + 7..]);
        bench.write(new, &bad);
    };
    spoilt("s.json", "bad,s.json");
    spoilt("p.json", "bad-p.json");
    bench.write("no.json", "{");
    let words = "verify bad,s.json bad-p.json no.json s.json --format";
    let output = bench.ended(2, &format!("{words} json"));
    let verdicts: Value = serde_json::from_slice(&output.stdout).unwrap();
    let count = |key: &str| -> usize {
        verdicts["files"].as_array().unwrap().iter().filter_map(|file| file[key].as_array()).map(Vec::len).sum()
    };
    let sarif: Value = serde_json::from_slice(&bench.run(&format!("{words} sarif")).stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    // A path is a URI: what has a meaning there is in percents.
    bench.shell("cp s.json 'a,b:c%d e.json' && sed -i 's/\"to\": 1/\"to\": 2/' 'a,b:c%d e.json'");
    let odd = text(&bench.shell("synth verify 'a,b:c%d e.json' --format sarif").stdout);
    assert!(odd.contains(r#""uri": "a%2Cb%3Ac%25d%20e.json""#), "{odd}");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), count("violations") + count("warnings") + 1);
    let first = &verdicts["files"][0]["violations"][0];
    assert_eq!(results[0]["ruleId"], first["code"]);
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&first["line"], &first["column"]));
    let ids: Vec<&Value> =
        sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().iter().map(|rule| &rule["id"]).collect();
    assert!(results.iter().all(|result| ids.contains(&&result["ruleId"])), "every rule is described");
    let github = text(&bench.run(&format!("{words} github")).stdout);
    assert_eq!(github.lines().count(), results.len());
    let line = first["line"].as_u64().unwrap();
    assert!(github.starts_with(&format!("::error file=bad%2Cs.json,line={line},col=")), "{github}");
    assert!(github.lines().all(|line| line.contains(",title=")), "{github}");
}

#[test]
fn what_is_refuted_is_shrunk() {
    let bench = Bench::new();
    bench.run("--torus 4x4 --collective broadcast --parts 1 -q -o s.json");
    let good = text(&bench.read("s.json"));
    // The first step comes last: no sender has what it sends.
    let mut wrong: Value = serde_json::from_str(&good).unwrap();
    wrong["steps"].as_array_mut().unwrap().rotate_left(1);
    wrong["bounds"] = serde_json::json!({});
    bench.write("wrong.json", &wrong.to_string());
    let output = bench.ended(1, "verify --shrink wrong.json -o small.json");
    let said = text(&output.stderr);
    assert!(said.contains("2 of 15 chunk moves are left; none can be left out\n  D001: "), "{said}");
    assert!(said.contains("was to send it in step 1, but receives it only in step 2; it left rank 0"), "{said}");
    let output = bench.run("verify small.json");
    assert!(output.status.code() == Some(1) && text(&output.stdout).contains(": D001: "), "{}", text(&output.stdout));
    let small = bench.run("verify --shrink wrong.json").stdout;
    assert_eq!(text(&small), text(&bench.read("small.json")));
    // Nothing to shrink, no time, and what does not go together.
    let output = bench.run("verify --shrink s.json -o none.json");
    assert!(
        output.status.code() == Some(0) && !bench.folder.path().join("none.json").exists(),
        "{}",
        text(&output.stderr)
    );
    let output = bench.run("verify --shrink wrong.json --time-limit 0s -o all.json");
    assert!(output.status.code() == Some(4) && text(&output.stderr).contains("15 of 15"), "{}", text(&output.stderr));
    assert_eq!(bench.run("verify --shrink wrong.json s.json").status.code(), Some(2));
    assert_eq!(bench.run("verify --shrink wrong.json -o small.sarif").status.code(), Some(2));
    wrong["bounds"] = serde_json::json!({"steps": {"at_least": 99, "from": 0, "to": 1}});
    wrong["steps"].as_array_mut().unwrap().rotate_right(1);
    bench.write("bound.json", &wrong.to_string());
    let output = bench.run("verify --shrink bound.json");
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("no transfer causes this"));

    bench.run("lower s.json -q -o p.json");
    let good = text(&bench.read("p.json"));
    let op = "{\"op\": \"send\", \"channel\": 0, \"src\": [\"i\", 0]}";
    assert!(good.contains(op), "{good}");
    bench.write("q.json", &good.replacen(op, &format!("{op}, {op}"), 1));
    let output = bench.run("verify --shrink q.json -o r.json");
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains(" operations are left") && said.contains("P00"), "{said}");
    assert_eq!(bench.run("verify r.json").status.code(), Some(1));
}

#[test]
fn a_program_and_its_map_are_written_both_or_neither() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4 --fail-rank 1 -q -o s.json");
    bench.write("jobs.json", r#"[{"collective": "all_gather"}, {"collective": "all_to_all"}]"#);
    bench.ended(0, "--torus 4 --fail-rank 1 --job jobs.json -q -o job.json");
    bench.ended(0, "fallbacks build --torus 4 --ranks 1 -q -o set");
    // The last file that each would write has the name of a directory.
    bench.shell("mkdir taken q.1.json a.2.et");
    let before = bench.names();
    for words in [
        "lower s.json --renumber map.csv -o taken",
        "lower s.json --renumber map.csv -o none/p.json",
        "lower job.json --renumber map.csv -o q.json",
        "lower job.json -o q.json",
        "convert s.json --to goal --renumber map.csv -o taken",
        "convert s.json --to chakra --renumber map.csv -o a",
        "convert job.json --to chakra --renumber map.csv -o a",
        "fallbacks get set --fail-rank 1 --lower --renumber map.csv -o taken",
    ] {
        bench.ended(2, words);
        assert_eq!(bench.names(), before, "{words}");
    }
    bench.ended(0, "lower job.json --renumber map.csv -o p.json -q");
    assert_eq!(text(&bench.read("map.csv")), "rank,was\n0,0\n1,2\n2,3\n");
    bench.ended(0, "verify p.0.json p.1.json");
    bench.ended(0, "lower job.json -o p.json.gz -q");
    assert!(bench.read("p.1.json.gz").starts_with(&[0x1f, 0x8b]), "packed");
    bench.ended(0, "verify p.0.json.gz p.1.json.gz");
}

#[test]
fn two_options_never_write_to_one_place() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4 --fail-rank 1 -q -o s.json");
    bench.write("plan", &text(&bench.read("s.json")));
    let before = bench.names();
    for (words, said) in [
        ("lower s.json --renumber a -o a", "--output and --renumber both write to a"),
        ("lower s.json --renumber ./a -o a", "--output and --renumber both write to ./a"),
        ("lower plan --renumber ./plan -o a", "--renumber would replace ./plan, which is read"),
        ("lower s.json --renumber -", "--output and --renumber both write to standard output"),
        ("convert s.json --to goal --renumber a -o a", "--output and --renumber both write to a"),
        ("--torus 4 --planner smt --steps 2 --width 2 --proof a -o a", "--output and --proof both write to a"),
        ("--torus 4 --planner smt --steps 2 --width 2 --proof -", "--output and --proof both write to standard output"),
    ] {
        let refused = text(&bench.ended(2, words).stderr);
        assert!(refused.contains(said), "{words}: {refused}");
        assert_eq!(bench.names(), before, "{words}");
    }
}
