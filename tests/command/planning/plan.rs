//! What planning and the commands around it print and write.

use assert_cmd::assert::OutputAssertExt;
use serde_json::Value;

use crate::support::bench::{Bench, synth, text};

#[test]
fn the_main_command_prints_a_schedule_that_holds() {
    let bench = Bench::new();
    for machine in ["--torus 4x4x4 --fail 2,3,x", "--torus 4x4", "--torus 5 --fail 0,1", "--torus 2x3 --fail-rank 4"] {
        let output = bench.ended(0, machine);
        assert!(text(&output.stderr).contains("verified in"), "{machine}: {}", text(&output.stderr));
        bench.run_with("verify -", &output.stdout).assert().code(0);
    }
}

#[test]
fn the_example_is_optimal_for_whole_messages() {
    let bench = Bench::new();
    let output = bench.run("--torus 4x4x4 --fail 2,3,x --format json");
    let summary: Value = serde_json::from_slice(&output.stderr).expect("a JSON summary");
    assert_eq!(summary["steps"]["value"], 6);
    assert_eq!(summary["steps"]["standing"], "optimal");
    assert_eq!(summary["volume"]["value"], "34");
    assert_eq!(summary["volume"]["bound"], "1024/31");
    assert_eq!(summary["volume"]["standing"], "optimal for parts");
    assert_eq!(summary["verified"], true);
}

#[test]
fn a_stated_price_predicts_the_time() {
    let bench = Bench::new();
    let words = "--torus 4 --message-bytes 64KiB --alpha 1us --bandwidth 50GB/s";
    let output = bench.run(words);
    // 2 steps of 1 us, and a volume of 2 messages of 65536 bytes at 50 GB/s.
    assert!(text(&output.stderr).contains("  time     4.62 us "), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("--message-bytes 65536 --alpha 1000ns --bandwidth 50000000000B/s"));
}

#[test]
fn a_price_that_is_not_stated_is_said() {
    let bench = Bench::new();
    let words = "--torus 4 --message-bytes 64KiB";
    // 2 steps of 100 ns, and the same volume at 32 GB/s.
    let output = bench.run(words);
    let said = text(&output.stderr);
    assert!(said.contains("  time     4.30 us ") && said.contains("0.10 us a step, 32 GB/s over a link"), "{said}");
    assert!(text(&output.stdout).contains("--message-bytes 65536 --alpha 100ns --bandwidth 32000000000B/s"));
    let summary = bench.run(&format!("{words} --format json")).stderr;
    let summary: Value = serde_json::from_slice(&summary).expect("a JSON summary");
    assert_eq!(summary["price"], serde_json::json!({ "message_bytes": 65536, "alpha": 1e-7, "bandwidth": 32e9 }));
}

#[test]
fn a_plan_in_many_steps_says_what_fewer_take() {
    let bench = Bench::new();
    let said = |words: &str| text(&bench.run(words).stderr);
    let many = said("--torus 4x4 --collective broadcast");
    assert!(many.contains("hint: 132 steps pay off") && many.contains("in about 20 steps"), "{many}");
    assert!(many.contains("`synth pareto --torus 4x4 --collective broadcast`"), "{many}");
    for few in ["--torus 4x4 --collective broadcast --max-steps 8", "--torus 4x4 --collective all_reduce"] {
        assert!(!said(few).contains("pay off"), "{few}");
    }
}

#[test]
fn the_same_wish_gives_the_same_bytes() {
    let bench = Bench::new();
    let first = bench.stdout("--torus 4x4 --fail 0,1,x --parts 3");
    for words in ["", "--threads 1", "--threads 2", "-q", "--format json"] {
        assert!(
            bench.stdout(&format!("--torus 4x4 --fail 0,1,x --parts 3 {words}")) == first,
            "differs with `{words}`"
        );
    }
}

#[test]
fn a_machine_can_be_written_and_read_again() {
    let bench = Bench::new();
    let words = "--torus 4x3 --wrap yes,no --capacity 2,1 --fail 1.0,2.0,x --fail-link 4,5 --fail-rank 11";
    bench.write("machine.json", &bench.stdout(&format!("topology {words} --format json")));
    let again = bench.stdout("topology --topology machine.json --format json");
    assert_eq!(bench.read("machine.json"), again.as_bytes());
    assert_eq!(bench.stdout(&format!("topology {words}")), bench.stdout("topology --topology machine.json"));
    // Failures on the command line add to those of the file.
    let more = bench.stdout("topology --topology machine.json --fail 0,1");
    assert!(more.starts_with("4x3 torus (y open) with 2 failed cables, 1 failed link, 1 failed rank\n"), "{more}");
    bench.run("--topology machine.json").assert().success();
}

#[test]
fn explicit_graphs_are_planned_too() {
    let bench = Bench::new();
    let links = [(0, 1), (1, 2), (2, 0), (1, 0)].map(|(from, to)| format!(r#"{{"from":{from},"to":{to}}}"#));
    bench.write("graph.json", &format!(r#"{{"links": [{}]}}"#, links.join(",")));
    bench.run("--topology graph.json").assert().success();
    let text = bench.stdout("topology --topology graph.json");
    assert!(text.starts_with("graph of 3 ranks\n"), "{text}");
}

#[test]
fn every_collective_that_has_a_planner_is_planned() {
    let bench = Bench::new();
    bench.write("demand.csv", &"0,1,0,2,0,0,0,0,3\n".repeat(9));
    let cases = [
        ("all_to_all", "all_to_all on"),
        ("all_to_allv --demand demand.csv", "all_to_allv on"),
        ("all_gather", "all_gather on"),
        ("reduce_scatter", "reduce_scatter on"),
        ("broadcast --root 1.1", "broadcast from 4 (1,1) on"),
        ("reduce --root 5", "reduce to 5 (2,1) on"),
        ("scatter", "scatter from 0 (0,0) on"),
        ("gather --root 8", "gather to 8 (2,2) on"),
        ("barrier", "barrier on"),
        ("all_reduce", "all_reduce on"),
        ("all_reduce_gathered", "all_reduce_gathered on"),
    ];
    for (words, headline) in cases {
        let words = format!("--torus 3x3 --fail 0,1 --collective {words}");
        let output = bench.ended(0, &words);
        assert!(text(&output.stderr).starts_with(headline), "{words}: {}", text(&output.stderr));
        let typed = words.replace(" --collective all_to_all", "");
        let typed = if words.ends_with(" all_to_all") { &typed } else { &words };
        assert!(text(&output.stdout).contains(&format!("\"command\": \"synth {typed}\"")), "{words}");
        bench.run_with("verify -", &output.stdout).assert().code(0);
        assert!(bench.stdout(&format!("bound {words}")).starts_with(headline), "{words}");
    }
}

#[test]
fn a_demand_comes_from_standard_input_too() {
    let bench = Bench::new();
    let output = bench.run_with("--torus 2 --collective all_to_allv --demand -", b"[[0, 3], [1, 0]]");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    bench.run_with("verify -", &output.stdout).assert().code(0);
}

#[test]
fn bound_speaks_json() {
    let answer = Bench::new().stdout("bound --torus 4x4x4 --fail 2,3,x --format json");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!((&answer["steps"], &answer["volume"]), (&6.into(), &"1024/31".into()));
    assert_eq!(answer["total_width"], 34);
}

/// The bounds of a file are those of its machine and collective as typed, in either form, also after a failure.
#[test]
fn bounds_take_machine_and_collective_from_a_file() {
    let bench = Bench::new();
    for words in [
        "--torus 4x4 --fail 0,1 --collective all_gather --parts 3",
        "--torus 2x4 --collective broadcast --root 5 --parts 1",
        "--torus 4x4 --groups x --collective all_to_all --parts 1",
    ] {
        bench.ended(0, &format!("{words} -q -o s.json"));
        bench.ended(0, "lower s.json -q -o p.json");
        assert_eq!(bench.stdout("bound s.json"), bench.stdout(&format!("bound {words}")), "{words}");
        assert_eq!(bench.stdout("bound p.json"), bench.stdout("bound s.json"), "{words}");
        let since = bench.stdout(&format!("bound {words} --fail 4,5 --format json"));
        assert_eq!(bench.stdout("bound s.json --fail 4,5 --format json"), since, "{words}");
    }
    bench.ended(0, "--torus 4x4 --form compact -q -o c.json");
    assert_eq!(bench.stdout("bound c.json"), bench.stdout("bound --torus 4x4"));
    for option in ["--torus 4x4", "--collective all_gather", "--parts 2", "--wrap no", "--relays no"] {
        let refused = text(&bench.ended(2, &format!("bound c.json {option}")).stderr);
        assert!(refused.contains("is not for a FILE, which states it"), "{refused}");
    }
    assert!(text(&bench.ended(2, "bound nowhere.json").stderr).contains("nowhere.json"));
}

#[test]
fn all_planners_are_listed() {
    let list = Bench::new().stdout("planners");
    for planner in collsynth::plan::planners() {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(planner.name())), "{list}");
    }
}

#[test]
fn nothing_moves_in_as_many_steps_as_are_asked_for() {
    let bench = Bench::new();
    for words in
        ["--torus 1", "--torus 5 --fail-rank 0 --group 0,1", "--torus 5 --fail-rank 0 --group 0,1 --planner smt"]
    {
        bench.ended(0, &format!("{words} --steps 3 -q -o three.json"));
        let file: serde_json::Value = serde_json::from_slice(&bench.read("three.json")).expect("JSON");
        assert_eq!(file["steps"].as_array().map(Vec::len), Some(3), "{words}");
        bench.ended(0, "verify three.json");
    }
    bench.write("job.json", r#"[{"collective": "all_gather"}, {"collective": "broadcast"}]"#);
    bench.ended(0, "--torus 1 --job job.json --steps 3 -q -o job.out.json");
    let job: serde_json::Value = serde_json::from_slice(&bench.read("job.out.json")).expect("JSON");
    assert_eq!(job["schedules"][0]["steps"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_command_of_a_plan_writes_its_file() {
    let bench = Bench::new();
    bench.write("machine.json", r#"{"torus": [4, 4]}"#);
    std::fs::rename(bench.folder.path().join("machine.json"), bench.folder.path().join("my machine.json"))
        .expect("moved");
    let first = bench.shell("synth --topology 'my machine.json' -q -o one.json");
    assert_eq!(first.status.code(), Some(0));
    let file: serde_json::Value = serde_json::from_slice(&bench.read("one.json")).expect("JSON");
    let again = bench.shell(&format!("{} -q", file["origin"]["command"].as_str().expect("a command")));
    assert_eq!(again.stdout, bench.read("one.json"));
}

#[test]
fn refutations_leave_proofs_and_better_schedules() {
    let bench = Bench::new();
    let narrow = "--torus 4 --collective all_reduce --parts 3 --planner smt --steps 2 --width 3";
    for name in ["no.drat", "no.lrat"] {
        let said = bench.run(&format!("{narrow} --proof {name}")).assert().code(3).get_output().stderr.clone();
        let said = String::from_utf8(said).expect("text");
        assert!(
            said.contains("proof written to") && said.contains("cadical refutes 2 steps of total width 3"),
            "{said}"
        );
    }
    let mut files = bench.names();
    files.sort();
    assert_eq!(files, ["no.drat", "no.drat.cnf", "no.lrat", "no.lrat.cnf"]);
    // Both files or none, and the form by the name before `.gz`.
    std::fs::create_dir(bench.folder.path().join("folder")).expect("a folder");
    bench.ended(2, &format!("{narrow} --proof folder"));
    assert!(!bench.folder.path().join("folder.cnf").exists());
    let packed = bench.ended(3, &format!("{narrow} --proof packed.lrat.gz"));
    assert!(String::from_utf8_lossy(&packed.stderr).contains("LRAT proof written to packed.lrat.gz"));
    bench.run("--torus 4 --planner smt --steps 4 --width 6 -o s.json").assert().code(0);
    bench.run("polish s.json -o p.json").assert().code(0);
    bench.run("verify p.json").assert().code(0);
    let shown = bench.stdout("show p.json");
    assert!(shown.contains("steps    2") && shown.contains("volume   2"), "{shown}");
}

/// Neither figure meets its bound, but no schedule is better in one without being worse in the other.
#[test]
fn a_schedule_carries_the_proof_that_it_is_the_best_of_its_steps() {
    let bench = Bench::new();
    let machine = "--torus 4x4 --fail 0,1 --fail 1,2 --fail 1,5 --fail 12,13 --fail 12,15";
    let planned = bench.ended(0, &format!("{machine} --steps 6 -o s.json"));
    let verified = bench.ended(0, "verify s.json");
    for said in [text(&planned.stderr), text(&verified.stdout)] {
        assert!(said.contains("certified the fewest at this volume (1 above the bound)"), "{said}");
        assert!(
            said.contains("certified the least in this many steps for whole messages (6.7 % above the bound)"),
            "{said}"
        );
    }
    // A file that claims a little more is refuted.
    let file = std::fs::read_to_string(bench.folder.path().join("s.json")).expect("a schedule");
    let claim = |volume: u32| format!("\"joint\": [\n      {{\"steps\": 5, \"at_least\": {volume},");
    let more = file.replace(&claim(19), &claim(20));
    assert_ne!(file, more);
    std::fs::write(bench.folder.path().join("more.json"), more).expect("a file");
    let refuted = bench.ended(1, "verify more.json");
    assert!(text(&refuted.stdout).contains("the bound on the volume in 5 steps: a volume of 20 is claimed"));
}

#[test]
fn the_summary_says_what_the_failure_costs() {
    let summary = |words: &str| -> Value {
        serde_json::from_slice(&synth(&format!("{words} --format json")).stderr).expect("JSON")
    };
    let row = |words: &str| {
        let said = text(&synth(words).stderr);
        said.lines().find_map(|line| line.strip_prefix("  failure  ")).map(str::to_owned)
    };
    let cable = "--torus 4x4x4 --fail 2,3,x";
    let expected = "bound 33.032, intact 32: 3.2 % more; this schedule has 6.2 % more than the intact bound";
    assert_eq!(row(cable).as_deref(), Some(expected));
    let cost = summary(cable)["failure_cost"].clone();
    assert_eq!(cost["steps"], serde_json::json!({ "bound": 6, "intact_bound": 6 }));
    assert_eq!((&cost["volume"]["bound"], &cost["volume"]["intact_bound"]), (&"1024/31".into(), &"32".into()));
    assert_eq!(cost["volume"]["schedule_gap"], 0.0625);
    // Nothing failed, nothing costs; a lost rank takes its data with it.
    assert_eq!(row("--torus 4x4x4"), None);
    assert_eq!(summary("--torus 4x4x4")["failure_cost"], Value::Null);
    assert_eq!(row("--torus 4x4 --fail-rank 3").as_deref(), Some("bound 8, with or without the failure"));
}

#[test]
fn links_left_alone_are_told_from_failed_ones() {
    let bench = Bench::new();
    let said = |words: &str| text(&bench.ended(0, words).stderr);
    let in_rows = said("--torus 4x4 --groups x --relays no -o s.json");
    assert!(in_rows.contains("  y links  not used\n"), "{in_rows}");
    let one_way = said("--torus 3 --fail-link 0,1 --fail-link 1,2 --fail-link 2,0 -o s.json");
    assert!(one_way.contains("  x links  x- 100 % busy, x+ all failed\n"), "{one_way}");
}

/// The SMT planner takes credit for what it changed only.
#[test]
fn polishing_says_whether_it_improved_anything() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4 --planner ring -q -o ring.json");
    bench.ended(0, "--torus 4 --planner negotiated -q -o best.json");
    let said = |words: &str| text(&bench.ended(0, words).stderr);
    assert!(said("polish ring.json -o better.json").contains("\nimproved by smt in "));
    assert!(said("polish best.json -o same.json").contains("\nnot improved by smt in "));
    assert!(said("polish best.json -o same.json --format json").contains("\"improved\":false"));
    let origin = |name: &str| {
        let file: Value = serde_json::from_slice(&bench.read(name)).expect("JSON");
        file["origin"]["planner"].as_str().map(str::to_owned)
    };
    assert_eq!(origin("same.json").as_deref(), Some("negotiated"));
    assert_eq!(origin("better.json").as_deref(), Some("smt"));
}
