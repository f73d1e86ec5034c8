//! `synth compare`: shows what planning and verifying give, in every form, as documented.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};

use collsynth::cli;
use collsynth::plan::Progress;
use collsynth::report::comparison;
use serde_json::Value;

use crate::support::bench::{self, Bench, stdout, synth, text};

fn json(words: &str) -> Value {
    bench::json(&format!("{words} --format json"))
}

const CASE: &str = "compare --torus 4x4 --fail 0,1 --planners template,negotiated,half_ring --message-bytes 1KiB,1MiB \
                    --baseline half_ring --sound-baseline";

#[test]
fn tables() {
    let cases = [
        CASE,
        "compare --torus 5x5 --planners ring,half_ring,dim_rotation,template --transfer-setup 20ns \
         --bandwidth x=32GB/s,y=16GB/s --message-bytes 16B..4KiB",
        "compare --torus 4x4 --fail 0,1 --collective broadcast --message-bytes 64B,1MiB --parts 1,8 \
         --planners trees,arborescences,binary_tree,template",
        "compare --torus 4x4x4 --fail 2,3,x --planners negotiated,mate,mate_e,folded_ring,half_ring \
         --message-bytes 64KiB,1MiB --baseline mate_e --parts 1,21",
        "compare --torus 3x3 --collective barrier --planners flood,two_wave,ring",
        "compare --sweep dims=3x3,4x4 faults=0,2 --planners negotiated,half_ring --message-bytes 1KiB,1MiB",
    ];
    let answers = cases.map(|words| format!("$ synth {words}\n{}", stdout(words)));
    insta::assert_snapshot!("tables", answers.join("\n"));
    insta::assert_snapshot!("csv", stdout(&format!("{CASE} --format csv")));
    insta::assert_snapshot!("json", stdout(&format!("{CASE} --format json")));
}

/// Schedules in files are shown first, with the figures that the summary of their plan had.
#[test]
fn files_stand_beside_planners() {
    let bench = Bench::new();
    let plan = "--torus 4x4 --fail 0,1 --collective broadcast --root 5";
    let summary = bench.ended(0, &format!("{plan} --planner binary_tree --parts 3 --format json -o mine.json"));
    let summary: Value = serde_json::from_slice(&summary.stderr).expect("JSON");
    bench.ended(0, &format!("{plan} --planner trees --parts 2 -q -o other.json"));
    let words = "compare mine.json other.json --planners arborescences --parts 4 --message-bytes 1KiB,1MiB";
    let answer: Value = serde_json::from_str(&bench.stdout(&format!("{words} --format json"))).expect("JSON");
    let schedules = answer["machines"][0]["schedules"].as_array().expect("schedules");
    let names: Vec<&Value> = schedules.iter().map(|schedule| &schedule["planner"]).collect();
    assert_eq!(names[..3], ["mine.json", "other.json", "arborescences"], "{names:?}");
    let mine = &schedules[0];
    assert_eq!((&mine["steps"], &mine["volume"]), (&summary["steps"]["value"], &summary["volume"]["value"]));
    assert_eq!((&mine["parts"], &mine["command"]), (&3.into(), &"synth verify mine.json".into()));
    let again = schedules[2]["command"].as_str().expect("a command").strip_prefix("synth ").expect("of synth");
    assert!(
        again.starts_with("--torus 4x4 --fail 0,1,x --collective broadcast --root 5 --planner arborescences"),
        "{again}"
    );
    bench.ended(0, &format!("{again} -q -o again.json"));
    assert!(
        bench.stdout(words).contains("mine.json")
            && bench.stdout(&format!("{words} --format csv")).contains("mine.json")
    );
    assert!(bench.stdout(&format!("{words} --format svg")).contains("mine.json"));

    // What options do not say of a file is compared again.
    bench.ended(0, "--torus 4x4 --groups x --collective all_gather -q -o rows.json");
    let of = |answer: &str| -> Value {
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        answer["machines"][0]["schedules"][1].clone()
    };
    let row = of(&bench.stdout("compare rows.json --fail 0,4 --planners trees --parts 1,2 --format json"));
    let again = row["command"].as_str().expect("a command").strip_prefix("synth ").expect("of synth");
    assert!(again.starts_with("compare rows.json --fail 0,4 --planners trees --parts"), "{again}");
    let again = of(&bench.stdout(&format!("{again} --format json")));
    assert_eq!((&again["steps"], &again["volume"]), (&row["steps"], &row["volume"]));

    bench.ended(0, "--torus 4x4 --collective broadcast --root 5 -q -o intact.json");
    bench.ended(0, "lower mine.json -q -o program.json");
    for (words, code, said) in [
        ("compare mine.json intact.json", 2, "intact.json is for another machine than mine.json"),
        ("compare program.json", 2, "a rank program has no steps"),
        ("compare mine.json --torus 4x4", 2, "--torus is not for a FILE"),
        ("compare mine.json --sweep dims=4x4", 2, "--sweep is not for a FILE"),
        ("compare intact.json --fail 0,1 --fail 5,9", 1, "the schedule does not hold and is not compared"),
    ] {
        let refused = text(&bench.ended(code, words).stderr);
        assert!(refused.contains(said), "{words}: {refused}");
    }
}

#[test]
fn json_fits_its_schema() {
    let schema = comparison::schema();
    let published: Value =
        serde_json::from_str(include_str!("../../../docs/schemas/comparison.schema.json")).expect("JSON");
    assert_eq!(published, schema, "docs/schemas/comparison.schema.json is old: write `synth util schema comparison`");
    let valid = jsonschema::validator_for(&schema).expect("a schema");
    for words in [CASE, "compare --torus 3x3 --collective barrier", "compare --sweep dims=3,2x2 faults=0,1"] {
        let answer = json(words);
        let wrong: Vec<String> = valid.iter_errors(&answer).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{words}: {wrong:?}");
    }
}

/// Speed-ups are over a planner that the collective and the machine fix, whichever planners are asked.
#[test]
fn the_usual_baseline_is_fixed() {
    for (machine, planners, baseline) in [
        ("--torus 4x4", "half_ring", "ring"),
        ("--torus 4x4 --collective all_to_all --fail 0,1", "mate", "wfr"),
        ("--torus 3x2 --collective all_reduce", "composed", "ring_all_reduce"),
        ("--torus 3x2 --collective all_gather", "trees", "ring_gather"),
        ("--torus 3x2 --collective all_reduce_gathered", "template", "ring_gather"),
        ("--torus 3x2 --collective broadcast", "trees", "binary_tree"),
        ("--torus 3x2 --collective barrier", "flood", "two_wave"),
    ] {
        let answer = json(&format!("compare {machine} --planners {planners}"));
        let machine = &answer["machines"][0];
        assert_eq!(machine["baseline"], baseline, "{machine}");
        assert!(machine["schedules"].as_array().unwrap().iter().all(|one| one["planner"] == planners), "{machine}");
        assert_eq!(machine["averages"][0]["planner"], planners);
    }
    let none = "compare --torus 3x2 --collective scatter --planners flow_over_time";
    let machine = &json(none)["machines"][0];
    assert!(machine["baseline"].is_null() && machine["schedules"][0]["times"][0]["speedup"].is_null(), "{machine}");
    assert_eq!(machine["averages"], serde_json::json!([]));
    assert!(stdout(none).contains("speed-ups: none: no usual baseline does scatter on this machine (--baseline NAME"));
    let plot = Bench::new().ended(2, &format!("{none} --format svg --plot speedup"));
    assert!(text(&plot.stderr).contains("there are no speed-ups to draw: no usual baseline"));
    assert!(stdout(&format!("{none} --format svg")).contains("flow_over_time"));
}

/// So are those by the rule of the papers; averages are over the sizes, the fastest schedule for each.
#[test]
fn speed_ups_by_phases_and_averages_follow_from_the_times() {
    let words = "--torus 4x4 --fail 0,1 --planners folded_ring,mate_e --message-bytes 64B,4KiB,1MiB";
    let answer = json(&format!("compare {words} --baseline ring_pipeline --sound-baseline"));
    let base = json("compare --torus 4x4 --planners ring_pipeline --message-bytes 64B,4KiB,1MiB");
    let least = |answer: &Value, planner: &str, key: &str, size: usize| {
        let schedules = answer["machines"][0]["schedules"].as_array().unwrap();
        let of = schedules.iter().filter(|schedule| schedule["planner"] == planner);
        of.map(|schedule| schedule["times"][size][key].as_f64().unwrap()).fold(f64::INFINITY, f64::min)
    };
    for (key, averages) in [("seconds", "averages"), ("phase_seconds", "phase_averages")] {
        for (index, planner) in ["folded_ring", "mate_e"].into_iter().enumerate() {
            let speedup = |size| least(&base, "ring_pipeline", key, size) / least(&answer, planner, key, size);
            let average = [0, 1, 2].map(speedup).iter().sum::<f64>() / 3.0;
            let told = &answer["machines"][0][averages][index];
            assert_eq!(told["planner"], planner);
            assert!((told["speedup"].as_f64().unwrap() / average - 1.0).abs() < 1e-12, "{told}: {average}");
        }
    }
}

#[test]
fn every_schedule_can_be_planned_again_and_takes_the_time_told() {
    let answer =
        json("compare --torus 4x4 --fail 0,1 --collective broadcast --alpha 1us --bandwidth 1GB/s --time-limit 10m");
    let machine = &answer["machines"][0];
    let schedules = machine["schedules"].as_array().expect("schedules");
    assert!(schedules.len() > 2, "{schedules:?}");
    for schedule in schedules {
        let command = schedule["command"].as_str().expect("a command").strip_prefix("synth ").expect("of synth");
        let summary: Value = serde_json::from_slice(&synth(&format!("{command} --format json")).stderr).expect("JSON");
        assert_eq!(summary["steps"]["value"], schedule["steps"], "{command}");
        assert_eq!(summary["volume"]["value"], schedule["volume"], "{command}");
        assert_eq!(summary["held"]["chunks"], schedule["held"], "{command}");
        let (steps, volume) = (schedule["steps"].as_f64().unwrap(), schedule["volume_decimal"].as_f64().unwrap());
        for (time, bytes) in
            schedule["times"].as_array().unwrap().iter().zip(answer["message_bytes"].as_array().unwrap())
        {
            let expected = 1e-6 * steps + volume * bytes.as_f64().unwrap() / 1e9;
            assert!((time["seconds"].as_f64().unwrap() / expected - 1.0).abs() < 1e-12, "{command}");
        }
    }
    // From one crossover to the next, the schedule named is the fastest.
    let line = |index: u64, bytes: f64| {
        let schedule = &schedules[index as usize];
        schedule["seconds_fixed"].as_f64().unwrap() + schedule["seconds_per_byte"].as_f64().unwrap() * bytes
    };
    for stretch in machine["fastest"].as_array().expect("stretches") {
        let (from, fastest) = (stretch["from_bytes"].as_f64().unwrap(), stretch["schedule"].as_u64().unwrap());
        assert!((0..schedules.len() as u64).all(|other| line(fastest, from) <= line(other, from)), "{stretch}");
    }
}

#[test]
fn plots_are_xml_with_a_curve_for_each_planner() {
    for plot in ["time", "speedup"] {
        let svg = stdout(&format!("compare --torus 4x4 --planners ring,half_ring,template --format svg --plot {plot}"));
        let mut reader = quick_xml::Reader::from_str(&svg);
        let (mut curves, mut words) = (0, String::new());
        loop {
            match reader.read_event().expect("well-formed XML") {
                quick_xml::events::Event::Eof => break,
                quick_xml::events::Event::Empty(tag) if tag.name().as_ref() == "polyline" => curves += 1,
                quick_xml::events::Event::Text(text) => words += &text,
                _ => {}
            }
        }
        for name in ["ring", "half_ring", "template", "all_to_all on a 4x4 torus", "size of a message"] {
            assert!(words.contains(name), "{plot}: no `{name}` in {words}");
        }
        assert!(curves >= 3, "{plot}: {curves} curves");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{plot}");
        assert!(!svg.contains("#FFFFFF") && !svg.contains("#000000"), "{plot}: readable on any background");
    }
}

#[test]
fn wrong_wishes_are_refused_with_a_hint() {
    let cases = [
        "compare --torus 4x4 --fail 0,1 --baseline half_ring",
        "compare --torus 4x4 --bandwidth x=1GB/s",
        "compare --torus 4x4 --message-bytes 2KiB..1KiB",
        "compare --torus 4x4 --collective barrier --parts 2",
        "compare --sweep dims=4x4 --torus 4x4",
        "compare --sweep dims=4x4,3x3 --format svg",
        "compare --sweep faults=1",
        "compare --sweep dims=4 faults=2",
        "compare --torus 4x4 --planners HalfRing+DimRotation",
        "compare",
    ];
    let answers = cases.map(|words| {
        let output = synth(words);
        assert!(output.stdout.is_empty(), "{words}");
        format!("$ synth {words}\n{}exit code {}\n", text(&output.stderr), output.status.code().unwrap_or(-1))
    });
    insta::assert_snapshot!("errors", answers.join("\n"));
    assert_eq!(synth("compare --torus 4x4 --planners nobody").status.code(), Some(2));
    assert_eq!(synth("compare --torus 4 --fail 0,1 --fail 2,3").status.code(), Some(3));
    // No planner has a schedule: that is reported, and is not a success.
    let output = Bench::new().ended(2, "compare --torus 4x4 --fail 0,1 --planners half_ring");
    assert!(text(&output.stdout).contains("no schedule:\n  half_ring  it needs a torus without failures"));
}

/// On 5x5, the exact shares of MATEe take 156 parts, more than are planned for: fewer show what it can do.
#[test]
fn a_scheme_whose_parts_are_too_many_is_shown_in_fewer() {
    let answer = json("compare --torus 5x5 --fail 0,1 --planners mate,mate_e --message-bytes 4MiB");
    let volume = |text: &str| {
        let (over, under) = text.split_once('/').unwrap_or((text, "1"));
        over.parse::<f64>().expect("a number") / under.parse::<f64>().expect("a number")
    };
    let best = |planner: &str| {
        let all = answer["machines"][0]["schedules"].as_array().expect("schedules");
        let volumes = all.iter().filter(|one| one["planner"] == planner);
        volumes.map(|one| volume(one["volume"].as_str().expect("a volume"))).fold(f64::INFINITY, f64::min)
    };
    assert!(best("mate_e") < 23.2 && best("mate") > 26.0, "{} {}", best("mate_e"), best("mate"));
}

/// A table of several machines says over which planner each speed-up is: it is the time of that planner's row over that
/// of each other.
#[test]
fn speed_ups_name_their_baseline() {
    let words = "compare --sweep dims=4x4 faults=0,1 --planners ring,negotiated,wfr --message-bytes 64KiB --parts 1";
    let csv = stdout(&format!("{words} --format csv"));
    // Commas within quotes separate nothing.
    let pieces = csv.split('"').enumerate();
    let csv: String =
        pieces.map(|(at, piece)| if at % 2 == 1 { piece.replace(',', ";") } else { piece.into() }).collect();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heading = lines.next().expect("a heading");
    let at = |name: &str| heading.iter().position(|word| *word == name).expect("a column");
    let rows: Vec<Vec<&str>> = lines.filter(|row| !row[at("seconds")].is_empty()).collect();
    let number = |row: &[&str], name: &str| row[at(name)].parse::<f64>().expect("a number");
    for row in &rows {
        let same = |other: &&Vec<&str>| other[at("failures")] == row[at("failures")];
        let baseline = rows.iter().filter(same).find(|other| other[at("planner")] == row[at("baseline")]);
        let speedup = number(baseline.expect("the baseline"), "seconds") / number(row, "seconds");
        assert!((number(row, "speedup") - speedup).abs() < 1e-9, "{row:?}");
    }
    let baselines: BTreeSet<&str> = rows.iter().map(|row| row[at("baseline")]).collect();
    assert_eq!(baselines.len(), 2, "{csv}");
}

#[test]
fn what_failed_since_is_part_of_the_hint() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4 --collective all_gather -q -o ring.json");
    let answer = text(&bench.ended(1, "compare ring.json --fail 0,1").stderr);
    assert!(answer.contains("`synth verify ring.json --fail 0,1` says more"), "{answer}");
    bench.ended(1, "verify ring.json --fail 0,1");
}

#[test]
fn averages_that_time_cut_short_say_so() {
    let answer = text(&Bench::new().ended(4, "compare --paper averages --time-limit 1ms").stderr);
    assert!(answer.contains("stopped before everything was planned: what is missing is `-`"), "{answer}");
}

#[test]
fn a_time_limit_ends_it_with_what_there_is() {
    let output =
        Bench::new().ended(4, "compare --torus 8x8 --fail 0,1 --planners half_ring,negotiated,mate --time-limit 1ms");
    assert!(text(&output.stdout).contains("cut short by the time limit of 0.001s, so better schedules"));
    let answer: Value = serde_json::from_slice(
        &Bench::new()
            .ended(4, "compare --torus 8x8 --fail 0,1 --planners half_ring,negotiated --time-limit 1ms --format json")
            .stdout,
    )
    .expect("JSON");
    assert_eq!(answer["machines"][0]["cut"], serde_json::json!(["negotiated"]));
}

#[test]
fn threads_do_not_change_the_answer() {
    let words = "compare --torus 4x4 --fail 0,1 --seed 5 --format csv --planners negotiated,mate_e,mate,wfr";
    assert!(stdout(&format!("{words} --threads 1")) == stdout(&format!("{words} --threads 2")));
}

#[test]
fn progress_counts_the_planners_to_go() {
    for (words, expected) in [
        ("--planners ring_pipeline,negotiated --baseline ring", vec![3, 2, 1]),
        ("--planners ring_pipeline,negotiated --baseline negotiated", vec![2, 1]),
        ("--planners ring_pipeline,negotiated --baseline ring_pipeline --sound-baseline", vec![3, 2, 1]),
        ("--planners ring_pipeline --format svg --plot time --message-bytes 1KiB,1MiB", vec![1]),
    ] {
        let line = format!("synth compare --torus 5 --parts 1 {words}");
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        let listener = move |progress: Progress<'_>| {
            let left = progress.attempt.split_once(", ").and_then(|(_, rest)| rest.split_once(" planner"));
            heard.lock().expect("a list").extend(left.and_then(|(left, _)| left.parse::<u32>().ok()));
        };
        let answer = cli::call(line.split(' ').map(OsString::from), String::new(), Arc::default(), Arc::new(listener));
        assert_eq!((answer.exit_code, &*said.lock().expect("a list")), (0, &expected), "{words}: {}", answer.notes);
    }
}

#[test]
fn what_moves_nothing_takes_no_time_and_has_no_speed_up() {
    let bench = Bench::new();
    let words =
        "compare --torus 2 --fail-rank 0 --collective all_gather -q --message-bytes 1KiB --planners ring_gather,trees";
    for form in ["text", "csv", "json"] {
        let answer = text(&bench.ended(0, &format!("{words} --format {form}")).stdout);
        assert!(!answer.contains("NaN") && !answer.contains("inf"), "{answer}");
    }
    let started = std::time::Instant::now();
    for words in [words, "pareto --torus 2 --fail-rank 0 -q"] {
        let refused = text(&bench.ended(2, &format!("{words} --format svg")).stderr);
        assert!(refused.contains("there is nothing to draw: nothing has to move"), "{refused}");
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "it is said at once");
}

#[test]
fn a_barrier_has_a_time_but_no_bytes() {
    let bench = Bench::new();
    let words = "compare --torus 3 --collective barrier -q --planners flood,two_wave --format json";
    let answer: serde_json::Value = serde_json::from_slice(&bench.ended(0, words).stdout).unwrap();
    assert_eq!(answer["message_bytes"].to_string(), "[1]", "{answer}");
    bench.ended(0, "--torus 3 --collective barrier -q -o b.json");
    for words in [
        "compare --torus 3 --collective barrier --message-bytes 1KiB",
        "compare b.json --message-bytes 1KiB",
        "convert b.json --to trace --message-bytes 1KiB",
    ] {
        let refused = text(&bench.ended(2, words).stderr);
        assert!(refused.contains("barrier has no bytes"), "{words}: {refused}");
    }
}
