//! `synth survey`: what failures cost, whole, resumed and in parts.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::bench::{Bench, text};

const WORDS: &str = "survey --torus 4x3 --cables 1,2 --ranks 1 --collective all_to_all,all_gather -q";

fn files(bench: &Bench, folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(bench.folder.path().join(folder))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).expect("a file")))
        .collect();
    files.sort();
    files
}

#[test]
fn every_class_is_planned_and_stands_for_its_sets() {
    let bench = Bench::new();
    let said = bench.stdout(&format!("{WORDS} -o s"));
    assert_eq!(said.lines().count(), 6, "{said}");
    assert!(said.starts_with("all_to_all, any single cable: "), "{said}");
    let survey: Value = serde_json::from_slice(&bench.read("s/survey.json")).expect("JSON");
    let groups = survey["head"]["groups"].as_array().expect("groups");
    let sets: Vec<u64> = groups.iter().map(|group| group["sets"].as_u64().unwrap()).collect();
    assert_eq!(sets, [1, 24, 276, 12, 1, 24, 276, 12]);
    // The figures are those of planning by hand.
    let table = text(&bench.read("s/table.csv"));
    let row = table.lines().find(|row| row.starts_with("all_to_all,cable,1,\"0-1\",")).expect("a row");
    let by_hand: Value = {
        bench.ended(0, "--torus 4x3 --fail 0,1 -q -o by-hand.json");
        serde_json::from_str(&bench.stdout("verify by-hand.json --format json")).expect("JSON")
    };
    let figures = &by_hand["files"][0]["figures"];
    let cells: Vec<&str> = row.split(',').collect();
    assert_eq!(cells[7], figures["volume"]["value"].as_str().unwrap(), "{row}");
    assert_eq!(cells[6], figures["steps"]["value"].to_string(), "{row}");
    let page = text(&bench.read("s/index.html"));
    assert!(page.contains("<title>What failures cost on a 4x3 torus</title>") && page.contains("class=\"cross\""));
}

/// What fails cannot help: vectors are cut so finely that numbers of parts do not hide the cost.
/// All switches, and all pairs of them, are in classes; the one class of singles has the figures of planning by hand.
#[test]
fn dead_switches_are_surveyed() {
    let bench = Bench::new();
    let said = bench.stdout("survey --torus 8x8 --switches 1,2 -q -o s");
    assert!(said.contains("any single switch: ") && said.contains("any 2 switches: "), "{said}");
    let survey: Value = serde_json::from_slice(&bench.read("s/survey.json")).expect("JSON");
    assert_eq!(survey["head"]["period"], serde_json::json!([4, 4]));
    let sets: Vec<u64> =
        survey["head"]["groups"].as_array().unwrap().iter().map(|group| group["sets"].as_u64().unwrap()).collect();
    assert_eq!(sets, [1, 8, 28]);
    let table = text(&bench.read("s/table.csv"));
    let row = table.lines().find(|row| row.starts_with("all_to_all,switch,1,\"x:0\",8,")).expect("a row");
    bench.ended(0, "--torus 8x8 --fail-switch x:0 -q -o by-hand.json");
    let by_hand: Value = serde_json::from_str(&bench.stdout("verify by-hand.json --format json")).expect("JSON");
    let volume = by_hand["files"][0]["figures"]["volume"]["value"].as_str().unwrap();
    assert!(row.contains(&format!(",{volume},")), "{row}: {volume}");
    // The worst set is drawn, its cables dead.
    assert!(text(&bench.read("s/index.html")).contains("<svg"));
}

#[test]
fn no_failure_makes_an_all_reduce_faster() {
    let bench = Bench::new();
    let said = bench.stdout("survey --torus 3x3 --cables 1,2 --collective all_reduce -q -o s");
    assert!(!said.contains("less volume"), "{said}");
    let table = text(&bench.read("s/table.csv"));
    let slower: Vec<f64> = table.lines().skip(1).map(|row| row.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert!(slower.len() > 3 && slower.iter().all(|&slower| slower >= 0.0), "{table}");
}

#[test]
fn parts_put_together_and_runs_cut_short_give_the_same_bytes() {
    let bench = Bench::new();
    bench.ended(0, &format!("{WORDS} -o whole --threads 1"));
    let whole = files(&bench, "whole");
    assert_eq!(
        whole.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["index.html", "survey.json", "table.csv"]
    );
    for part in 1..=3 {
        bench.ended(0, &format!("{WORDS} --shard {part}/3 -o part{part}"));
    }
    bench.ended(0, "survey merge part3 part1 part2 -o merged");
    assert_eq!(files(&bench, "merged"), whole);
    let missing = bench.ended(2, "survey merge part1 part2 -o half");
    assert!(text(&missing.stderr).contains("are in none of these parts"));

    // As if it had been killed while it wrote the fourth record.
    let survey: Value = serde_json::from_slice(&bench.read("whole/survey.json")).expect("JSON");
    let mut progress = format!("{}\n", survey["head"]);
    for record in survey["records"].as_array().unwrap().iter().rev().take(3) {
        progress += &format!("{record}\n");
    }
    progress += "{\"number\":2,\"se";
    fs::create_dir(bench.folder.path().join("killed")).expect("a folder");
    bench.write("killed/progress.jsonl", &progress);
    bench.ended(0, &format!("{WORDS} -o killed"));
    assert_eq!(files(&bench, "killed"), whole);
    // What is done is not done again, and another survey does not mix with it.
    bench.ended(0, &format!("{WORDS} -o whole"));
    assert_eq!(files(&bench, "whole"), whole);
    let other = bench.ended(2, "survey --torus 4x3 --cables 1 -o whole");
    assert!(text(&other.stderr).contains("whole holds another survey"));
}

#[test]
fn sets_that_disconnect_are_counted() {
    let bench = Bench::new();
    let said = bench.stdout("survey --torus 5 --cables 1,2 --links 2 -o s -q");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[1].contains("no schedule; 10 of 10 sets disconnect"), "{said}");
    // Two directions of a ring leave it connected only if they are of one cable, or go the same way round.
    assert!(lines[2].contains("20 of 45 sets disconnect"), "{said}");
    assert!(text(&bench.read("s/index.html")).contains("10 sets disconnect the machine"));
}

#[test]
fn what_is_asked_for_twice_is_answered_once() {
    let bench = Bench::new();
    bench.ended(0, "survey --torus 3 --cables 1,1 --collective all_gather,all_gather -q -o twice");
    bench.ended(0, "survey --torus 3 --cables 1 --collective all_gather -q -o once");
    assert_eq!(files(&bench, "twice"), files(&bench, "once"));
    // Where every set disconnects, no volume is certified.
    let said = text(&bench.ended(0, "survey --torus 2x2 --cables 2 -q -o none").stdout);
    assert!(said.contains("none planned") && !said.contains("certified"), "{said}");
}

#[test]
fn draws_and_groups_from_a_file() {
    let bench = Bench::new();
    let draw = "survey --torus 4x4 --cables 3 --sample 40 --seed 5 -q -o";
    let said = bench.stdout(&format!("{draw} one"));
    assert!(said.contains("40 drawn: with 95 % confidence, at most 7.50 % of all sets are worse"), "{said}");
    bench.ended(0, &format!("{draw} two"));
    assert_eq!(files(&bench, "one"), files(&bench, "two"));

    let hosts: Vec<Value> = (0..8)
        .map(|host| serde_json::json!({ "name": format!("host {host}"), "ranks": [2 * host, 2 * host + 1] }))
        .collect();
    bench.write("hosts.json", &serde_json::json!({ "units": hosts }).to_string());
    let said = bench.stdout("survey --torus 4x4 --unit hosts.json --units 1,2 -o hosts -q");
    assert!(said.starts_with("all_to_all, any single unit: ") && said.contains("of 8 sets"), "{said}");
    assert!(said.contains("of 28 sets"), "{said}");
    bench.write("wrong.json", "{\"units\": [{\"name\": \"a\", \"ranks\": [99]}]}");
    let wrong = bench.ended(2, "survey --torus 4x4 --unit wrong.json -o x");
    assert!(text(&wrong.stderr).contains("a: there is no rank 99"));
}

#[test]
fn what_cannot_be_surveyed_is_said() {
    let bench = Bench::new();
    for (words, said) in [
        ("survey --torus 4x4 --cables 1", "add -o FOLDER"),
        ("survey --torus 4x4 -o s", "nothing fails"),
        ("survey --torus 4x4 --cables 1 --collective broadcast -o s", "cannot be surveyed by itself"),
        ("survey --torus 4x4 --cables 33 -o s", "sets of 33"),
        ("survey --torus 4x4 --cables all -o s", "`all` is no number: 1 takes single ones, 1,2 pairs too"),
        ("survey --torus 8x8x8 --cables 9 -o s", "--sample 1000 draws some"),
        ("survey --torus 4 --cables 1 --shard 4/3 -o s", "as in 3/64"),
        ("survey merge nowhere -o s", "holds no survey.json"),
        ("survey --torus 3x3 --ranks 8,9 -o s", "sets of 9 ranks leave no rank alive"),
    ] {
        let output = bench.ended(2, words);
        assert!(text(&output.stderr).contains(said), "{words}: {}", text(&output.stderr));
    }
    assert!(!Path::new("s").exists());
}

/// More draws than there are sets list them all, and are no sample.
#[test]
fn no_more_sets_are_drawn_than_there_are() {
    let bench = Bench::new();
    let drawn = bench.ended(0, "survey --torus 4x4 --cables 1 --sample 5000 -q -o drawn");
    let listed = bench.ended(0, "survey --torus 4x4 --cables 1 -q -o listed");
    assert_eq!(text(&drawn.stdout), text(&listed.stdout));
    let said = text(&drawn.stderr);
    assert!(
        said.contains("note: 32 sets of 1 cable are all there are: all are surveyed, none of 5000 is drawn"),
        "{said}"
    );
    assert!(text(&bench.ended(0, "survey --torus 4x4 --cables 2 --sample 5 -q -o few").stdout).contains("5 drawn"));
    // All but one of 84 sets, 7 of which disconnect: none is drawn twice.
    bench.ended(0, "survey --torus 3x2 --cables 3 -q -o all");
    bench.ended(0, "survey --torus 3x2 --cables 3 --sample 83 -q -o most");
    let classes = |folder: &str| -> Vec<(Value, u64)> {
        let survey: Value = serde_json::from_slice(&bench.read(&format!("{folder}/survey.json"))).expect("JSON");
        let records = survey["records"].as_array().expect("records").iter().skip(1);
        records.map(|record| (record["set"].clone(), record["sets"].as_u64().expect("a number"))).collect()
    };
    let sets: u64 = classes("most").iter().map(|(_, sets)| sets).sum();
    assert_eq!(sets, 83);
    for (set, drawn) in classes("most") {
        let there_are = classes("all").into_iter().find(|(other, _)| *other == set).expect("a class").1;
        assert!(drawn <= there_are, "{set}: {drawn} of {there_are}");
    }
    let said = text(&bench.ended(0, "survey --torus 3x2 --cables 3 --sample 2 -q -o two").stdout);
    assert!(said.contains("at most 100.00 % of all sets are worse"), "{said}");
}

#[test]
fn a_cable_with_one_direction_left_may_fail_too() {
    let bench = Bench::new();
    let said = bench.stdout("survey --torus 4 --fail-link 0,1 --cables 1 -q -o s");
    assert!(said.contains("3 of 4 sets disconnect"), "{said}");
    assert!(text(&bench.read("s/table.csv")).contains("all_to_all,cable,1,\"0-1\",1,planned,3"));
    bench.ended(0, "fallbacks build --torus 4 --fail-link 0,1 --cables 1 -q -o set");
    bench.ended(0, "fallbacks get set --fail 0,1 -o got.json");
    bench.ended(0, "verify got.json");
    bench.ended(0, "fallbacks get set --fail-link 1,0 -o link.json");
}

#[test]
fn parts_that_were_changed_are_refused_or_planned_again() {
    let bench = Bench::new();
    let words = "survey --torus 3x3 --cables 1,2 -q";
    bench.ended(0, &format!("{words} -o whole"));
    let whole = files(&bench, "whole");
    bench.ended(0, &format!("{words} --shard 1/2 -o one"));
    bench.ended(0, &format!("{words} --shard 2/2 -o two"));
    let kept: Value = serde_json::from_slice(&bench.read("one/survey.json")).expect("JSON");
    let last = kept["records"].as_array().expect("records").len() - 1;
    let change = |key: &str, value: Value| {
        let mut changed = kept.clone();
        changed["records"][last][key] = value;
        bench.write("one/survey.json", &changed.to_string());
    };
    for (key, value, said) in [
        ("sets", Value::from(7), "sets, and there are"),
        ("number", 99.into(), "a class has the number 99"),
        ("set", serde_json::json!(["0-1"]), "has 1 failure, not 2"),
    ] {
        change(key, value);
        let output = bench.ended(2, "survey merge one two two -o merged");
        assert!(text(&output.stderr).contains(said), "{output:?}");
    }
    change("sets", Value::from(7));
    bench.ended(0, &format!("{words} --shard 1/2 -o one"));
    bench.ended(0, "survey merge one two -o merged");
    assert_eq!(files(&bench, "merged"), whole);
    // Two accounts of the machine as it is.
    let mut other = kept.clone();
    other["records"][0]["outcome"]["planned"]["steps"] = 99.into();
    fs::create_dir(bench.folder.path().join("other")).expect("a folder");
    bench.write("other/survey.json", &other.to_string());
    let output = bench.ended(2, "survey merge one other two -o merged");
    assert!(text(&output.stderr).contains("two parts disagree on the machine as it is"), "{output:?}");
}

#[test]
fn bars_have_counts_and_an_axis() {
    let bench = Bench::new();
    bench.ended(0, "survey --torus 5x5 --cables 1,2 -q -o s");
    let page = text(&bench.read("s/index.html"));
    let plots: Vec<&str> = page.split("<svg class=\"hist\"").skip(1).collect();
    let words = |plot: &str| -> Vec<String> {
        let plot = plot.split("</svg>").next().expect("its end");
        plot.split("</text>").filter_map(|before| before.rsplit_once('>')).map(|(_, word)| word.to_owned()).collect()
    };
    let (one, two) = (words(plots[0]), words(plots[1]));
    assert_eq!(one[..7], ["50", "11 %", "12 %", "13 %", "14 %", "15 %", "16 %"], "{one:?}");
    assert_eq!(two[..7], ["875", "350", "10 %", "15 %", "20 %", "25 %", "30 %"], "{two:?}");
}
