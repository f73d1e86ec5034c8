//! `synth fallbacks`: schedules kept ready, relabelled and verified again for any failure that the set covers.

use std::fs;

use serde_json::Value;

use crate::support::bench::{Bench, text};

/// The cables of a torus, as `U,V`, once each.
fn cables(bench: &Bench, torus: &str) -> Vec<String> {
    let machine: Value =
        serde_json::from_str(&bench.stdout(&format!("topology --torus {torus} --format json"))).unwrap();
    let extents: Vec<u64> =
        machine["torus"].as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).collect();
    let ranks: u64 = extents.iter().product();
    let mut cables = Vec::new();
    for rank in 0..ranks {
        let mut stride = 1;
        for &extent in &extents {
            let up = if rank / stride % extent == extent - 1 { rank - (extent - 1) * stride } else { rank + stride };
            cables.push(format!("{rank},{up}"));
            stride *= extent;
        }
    }
    cables
}

#[test]
fn every_single_cable_is_answered_and_verified() {
    let bench = Bench::new();
    let said = text(&bench.ended(0, "fallbacks build --torus 4x4x4 --cables 1 -o set").stderr);
    assert!(said.contains("1 schedule kept, for 192 sets of failures of a 4x4x4 torus"), "{said}");
    let all = cables(&bench, "4x4x4");
    assert_eq!(all.len(), 192);
    let mut names = Vec::new();
    for (index, cable) in all.iter().enumerate() {
        names.push(format!("{index}.json"));
        bench.ended(0, &format!("fallbacks get set --fail {cable} -o {index}.json"));
    }
    let verdicts: Value =
        serde_json::from_str(&bench.stdout(&format!("verify {} --format json", names.join(" ")))).expect("JSON");
    for (index, verdict) in verdicts["files"].as_array().unwrap().iter().enumerate() {
        assert_eq!(verdict["verdict"], "holds", "{}", all[index]);
        let figures = &verdict["figures"];
        assert_eq!((&figures["volume"]["value"], &figures["steps"]["value"]), (&"34".into(), &6.into()));
        assert_eq!(figures["volume"]["standing"], "optimal for parts", "the certificate came along");
        // It is around the failure that was asked for.
        let failed: Value = serde_json::from_slice(&bench.read(&names[index])).expect("JSON");
        let cable = &failed["topology"]["failed_links"][0];
        let mut ends: Vec<u64> = all[index].split(',').map(|end| end.parse().unwrap()).collect();
        ends.sort_unstable();
        assert_eq!([cable["from"].as_u64().unwrap(), cable["to"].as_u64().unwrap()][..], ends[..]);
    }
}

#[test]
fn pairs_directions_ranks_and_sums() {
    let bench = Bench::new();
    bench.ended(0, "fallbacks build --torus 3x4 --cables 1,2 --links 1 --ranks 1 --collective all_reduce -o set -q");
    for failure in ["--fail 0,1", "--fail 5,8 --fail 0,2", "--fail 0,1 --fail 3,6", "--fail-link 7,6", "--fail-rank 11"]
    {
        bench.ended(0, &format!("fallbacks get set {failure} -o s.json"));
        bench.ended(0, "verify s.json");
        // The machine in a file says the same as options.
        bench.ended(0, &format!("topology --torus 3x4 {failure} -o tonight.json"));
        bench.ended(0, "fallbacks get set --topology tonight.json -o t.json");
        let [stated, read] = ["s.json", "t.json"].map(|name| bench.stdout(&format!("convert {name} --to csv")));
        assert!(stated == read, "{failure}");
        let machine = bench.stdout("topology --topology tonight.json --format json");
        assert_eq!(bench.stdout("topology --topology t.json --format json"), machine, "{failure}");
        let piped = bench.ended(0, &format!("fallbacks get set {failure} --lower --barriers global"));
        bench.write("p.json", &text(&piped.stdout));
        bench.ended(0, "verify p.json");
    }
    bench.write("square.json", r#"{"torus": [2, 2]}"#);
    bench.write("wide.json", r#"{"torus": [3, 4], "capacity": [2, 1]}"#);
    for (failure, said) in [
        (
            "--fail 0,1 --fail 1,2 --fail 3,6",
            "the set covers any single cable, any 2 cables, any single link, any single rank",
        ),
        ("--fail 0,1 --fail 1,2 --fail 3,6", "--cables 1,2,3 "),
        ("--fail 0,1 --fail-rank 7", "are in no set"),
        ("", "nothing failed"),
        ("--topology square.json --fail 0,1", "square.json is a 2x2 torus, and set is for a 3x4 torus"),
        ("--topology wide.json --fail 0,1", "wide.json and set are for a 3x4 torus, but with other capacities"),
        ("--topology nowhere.json", "cannot read nowhere.json"),
        ("--fail 0,1 --barriers global", "add --lower"),
        ("--fail 0,7", "0"),
    ] {
        let output = bench.ended(2, &format!("fallbacks get set {failure} -o none.json"));
        assert!(text(&output.stderr).contains(said), "{failure}: {}", text(&output.stderr));
    }
    assert!(!bench.folder.path().join("none.json").exists());
}

/// One plan serves every dead switch of a square torus, a few all pairs; patterns are relabelled as patterns.
#[test]
fn every_switch_and_every_pair_is_answered() {
    let bench = Bench::new();
    let said = text(&bench.ended(0, "fallbacks build --torus 8x8 --switches 1,2 -o set").stderr);
    assert!(said.contains("6 schedules kept, for 36 sets of failures of an 8x8 torus"), "{said}");
    let all: Vec<String> = ["x", "y"].iter().flat_map(|dim| (0..4).map(move |at| format!("{dim}:{at}"))).collect();
    let mut names = Vec::new();
    for (index, one) in all.iter().enumerate() {
        for other in &all[..=index] {
            let failed = if one == other { String::new() } else { format!("--fail-switch {other}") };
            let name = format!("{one}-{other}.json").replace(':', "");
            bench.ended(0, &format!("fallbacks get set --fail-switch {one} {failed} -o {name}"));
            let answer: Value = serde_json::from_slice(&bench.read(&name)).expect("JSON");
            let machine = bench.stdout(&format!("topology --torus 8x8 --fail-switch {one} {failed} --format json"));
            let machine: Value = serde_json::from_str(&machine).unwrap();
            assert_eq!(answer["topology"]["failed_links"], machine["failed_links"], "{name}");
            names.push(name);
        }
    }
    let verdicts: Value =
        serde_json::from_str(&bench.stdout(&format!("verify {} --format json", names.join(" ")))).expect("JSON");
    for verdict in verdicts["files"].as_array().unwrap() {
        assert_eq!((&verdict["verdict"], &verdict["figures"]["steps"]["value"]), (&"holds".into(), &8.into()));
    }

    // A pattern is relabelled as one.
    bench.ended(0, "fallbacks build --torus 8x8x8 --switches 1 -o pod -q");
    bench.ended(0, "fallbacks get pod --fail-switch y:3,1 -o s.json");
    bench.ended(0, "verify s.json");
    let answer: Value = serde_json::from_slice(&bench.read("s.json")).expect("JSON");
    assert!(answer["cell"].is_array() && answer["exceptions"].as_array().is_some_and(Vec::is_empty));

    // A set knows its cells, and says what it lacks.
    bench.ended(0, "fallbacks build --torus 6x4 --switches 1 --period 3x2 --collective all_gather -o cells -q");
    bench.ended(0, "fallbacks get cells --fail-switch x:1 -o s.json");
    bench.ended(0, "verify s.json");
    for (failure, said) in [
        ("--fail-switch x:0 --fail-switch x:1", "any single switch, not 2 switches"),
        ("--fail-switch x:0 --fail-switch x:1", "--switches 1,2 "),
        ("--fail 0,1", "any single switch, not 1 cable"),
        ("--fail-switch x:3", "the positions are 0 to 1"),
    ] {
        let output = bench.ended(2, &format!("fallbacks get cells {failure} -o none.json"));
        assert!(text(&output.stderr).contains(said), "{failure}: {}", text(&output.stderr));
    }
    bench.ended(0, "fallbacks build --torus 4x4 --cables 1 -o wires -q");
    let output = bench.ended(2, "fallbacks get wires --fail-switch x:0 --period 2x2");
    assert!(text(&output.stderr).contains("any single cable, not 1 switch"), "{}", text(&output.stderr));
    // A switch of one cable is a cable.
    bench.ended(0, "fallbacks get wires --fail-switch x:0 -o s.json");
    bench.ended(0, "verify s.json");
}

#[test]
fn what_disconnects_has_no_schedule_and_what_was_changed_is_refused() {
    let bench = Bench::new();
    bench.ended(0, "fallbacks build --torus 5 --cables 1,2 -o set -q");
    let output = bench.ended(3, "fallbacks get set --fail 0,1 --fail 2,3");
    assert!(text(&output.stderr).contains("disconnects the machine"));
    // A schedule that someone changed is verified again, and not given away.
    let index = text(&bench.read("set/index.json"));
    bench.ended(0, "--torus 5 --fail 0,1 -q -o good.json");
    let good = text(&bench.read("good.json"));
    let width = good.find("\"width\": ").expect("a width") + 9;
    let wrong = format!("{}1{}", &good[..width], &good[width + good[width..].find(',').expect("its end")..]);
    bench.write("set/wrong.json", &wrong);
    bench.write("set/index.json", &index.replacen("0.json.gz", "wrong.json", 1));
    bench.ended(1, "fallbacks get set --fail 3,4 -o none.json");
    bench.ended(0, "--torus 6 --fail 0,1 -q -o set/other.json");
    bench.write("set/index.json", &index.replacen("0.json.gz", "other.json", 1));
    bench.ended(2, "fallbacks get set --fail 3,4 -o none.json");
    bench.ended(0, "--torus 5 --fail 0,1 --collective barrier -q -o set/barrier.json");
    bench.write("set/index.json", &index.replacen("0.json.gz", "barrier.json", 1));
    let output = bench.ended(2, "fallbacks get set --fail 3,4 -o none.json");
    assert!(text(&output.stderr).contains("barrier.json is of another collective than this set"), "{output:?}");
    assert!(!bench.folder.path().join("none.json").exists());
    bench.write("set/index.json", &index);
    // Another machine: what had failed when the set was built lives.
    bench.ended(0, "fallbacks build --torus 5 --fail-link 0,1 --cables 1 -o less -q");
    bench.ended(0, "topology --torus 5 --fail 2,3 --format json -o repaired.json");
    let output = bench.ended(2, "fallbacks get less --topology repaired.json -o none.json");
    let said = text(&output.stderr);
    assert!(said.contains("repaired.json is not the machine of less, where the link from 0 to 1 has failed"), "{said}");
    assert!(!bench.folder.path().join("none.json").exists());
    let output = bench.ended(2, "fallbacks build --torus 5 --cables 1 -o set");
    assert!(text(&output.stderr).contains("set holds a set already"));
}

/// What is printed to be typed again can be typed again: names of files are read by a shell as one word.
#[test]
fn command_lines_quote_names_with_blanks() {
    let bench = Bench::new();
    fs::create_dir(bench.folder.path().join("my files")).expect("a folder");
    bench.write("my files/ring.json", r#"{"torus": [5]}"#);
    bench.write("my files/units.json", r#"{"units": [{"name": "u", "ranks": [0]}]}"#);
    bench.write("my files/job.json", r#"[{"collective": "all_gather"}]"#);
    let topology = bench.folder.path().join("my files/ring.json").display().to_string();
    let run = |words: &[&str]| {
        let output = bench.command("").args(words).output().expect("the command runs");
        (output.status.code(), text(&output.stderr))
    };
    let machine = ["--topology", &topology];
    let survey = ["survey", "--job", "my files/job.json", "--unit", "my files/units.json", "-q", "-o", "my files/s"];
    assert_eq!(run(&[&survey[..], &machine].concat()).0, Some(0));
    let kept: Value = serde_json::from_slice(&bench.read("my files/s/survey.json")).expect("JSON");
    let line = kept["head"]["command"].as_str().expect("a command");
    assert!(line.contains("--job 'my files/job.json' --unit 'my files/units.json' --units 1"), "{line}");
    assert!(line.contains(&format!("--topology '{topology}'")), "{line}");

    let build = ["fallbacks", "build", "--cables", "1", "--collective", "all_gather", "-q", "-o", "my files/set"];
    assert_eq!(run(&[&build[..], &machine].concat()).0, Some(0));
    let get = ["fallbacks", "get", "my files/set", "--fail", "0,1", "-o", "got.json"];
    assert_eq!(run(&get).0, Some(0));
    let got: Value = serde_json::from_slice(&bench.read("got.json")).expect("JSON");
    assert_eq!(got["origin"]["command"], "synth fallbacks get 'my files/set' --fail 0,1");
    let (code, said) = run(&["fallbacks", "get", "my files/set", "--fail", "0,1", "--fail", "2,3"]);
    let hint = format!(
        "`synth fallbacks build --topology '{topology}' --collective all_gather --cables 1,2 \
         -o 'my files/set-2-cables'`"
    );
    assert!(code == Some(2) && said.contains(&hint), "{said}");
}
