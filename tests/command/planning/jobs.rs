//! Jobs from outside: planned, judged, taken apart; and what is refused.

use serde_json::Value;

use crate::support::bench::{Bench, text};

const JOB: &str = r#"[
  {"collective": "all_gather", "groups": "x", "bytes": "8KiB"},
  {"collective": "all_to_all", "groups": "yz", "bytes": 4096, "relays": true},
  {"collective": "reduce", "blocks": [2, 2, 1], "root": 1, "bytes": "4KiB"},
  {"collective": "barrier"}
]"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("job.json", JOB);
    bench
}

/// 64 KiB are 3.2 times 20 KiB: four whole chunks would be a quarter more bytes than there are.
#[test]
fn messages_are_hardly_rounded_up_unless_parts_are_stated() {
    let bench = Bench::new();
    bench.write(
        "job.json",
        r#"[{"collective": "all_gather", "groups": "x", "bytes": "64KiB"},
            {"collective": "all_to_all", "groups": "y", "bytes": "20KiB"}]"#,
    );
    for words in ["", "--parts auto"] {
        bench.ended(0, &format!("--torus 3x3 --fail 0,1 --job job.json {words} -q -o job.out.json"));
        let job: Value = serde_json::from_slice(&bench.read("job.out.json")).unwrap();
        let parts = |at: usize| job["schedules"][at]["collective"]["parts"].as_u64().unwrap();
        assert_eq!(5 * parts(0), 16 * parts(1), "{words}");
    }
}

/// A byte beside a TiB is padded to a chunk, which changes nothing that can be seen.
#[test]
fn small_messages_are_padded_beside_large_ones() {
    let bench = Bench::new();
    let two = r#"[{"collective": "broadcast", "bytes": 1}, {"collective": "all_gather", "bytes": "1TiB"}]"#;
    bench.write("job.json", two);
    let said = text(&bench.ended(0, "--torus 2x2 --job job.json -o job.out.json").stderr);
    assert!(said.contains("note: collective 0: 1 bytes are rounded up to 1 chunk of "), "{said}");
    let verdict: Value = serde_json::from_str(&bench.stdout("verify job.out.json --format json")).unwrap();
    let width = &verdict["files"][0]["figures"]["total_width"];
    assert!(width["gap"].as_f64().is_some_and(|gap| gap < 0.02), "{width}");
}

/// Beside a vector of one byte, a broadcast in thousands of parts takes hardly longer than alone.
#[test]
fn messages_of_very_unlike_sizes_may_run_one_after_another() {
    let bench = Bench::new();
    bench.write(
        "job.json",
        r#"[{"collective": "all_reduce", "bytes": 1},
            {"collective": "broadcast", "bytes": 1024, "groups": [[2, 7, 6, 0, 5, 4, 1], [3]], "relays": false}]"#,
    );
    bench.ended(0, "--torus 4x2 --capacity 2,1 --job job.json --parts 3 -q -o job.out.json");
    let verdict = bench.ended(0, "verify job.out.json --format json");
    let verdict: Value = serde_json::from_slice(&verdict.stdout).unwrap();
    let width = &verdict["files"][0]["figures"]["total_width"];
    assert!(width["gap"].as_f64().is_some_and(|gap| gap < 0.02), "{width}");
}

#[test]
fn a_job_is_planned_judged_and_taken_apart() {
    let bench = bench();
    bench.ended(0, "--torus 2x4x2 --fail 0,1 --job job.json --seed 3 -o done.json");
    bench.ended(0, "--torus 2x4x2 --fail 0,1 --job job.json --seed 3 --threads 1 -q -o again.json.gz");
    let verdict = bench.ended(0, "verify done.json again.json.gz");
    assert!(text(&verdict.stdout).contains("a job of 4 collectives on a 2x4x2 torus with 1 failed cable"));
    let job: Value = serde_json::from_slice(&bench.read("done.json")).unwrap();
    assert_eq!(job["origin"]["planner"], "job");
    assert_eq!(
        job["schedules"][0]["collective"]["parts"],
        2 * job["schedules"][1]["collective"]["parts"].as_u64().unwrap()
    );
    for number in 0..4 {
        bench.ended(0, &format!("convert done.json --schedule {number} -o one.json"));
        bench.ended(0, "verify one.json");
        bench.ended(0, "lower one.json -o one.program.json");
        let one: Value = serde_json::from_slice(&bench.read("one.json")).unwrap();
        assert_eq!(one["collective"], job["schedules"][number]["collective"]);
    }
    // The summary as JSON is one object.
    let planned = bench.ended(0, "--torus 2x4x2 --fail 0,1 --job job.json --seed 3 --format json -o again.json");
    let summary: Value = serde_json::from_slice(&planned.stderr).unwrap();
    assert_eq!(summary["schedules"].as_array().unwrap().len(), 4);
    assert!(summary["total_width"]["value"].as_u64() >= summary["total_width"]["at_least"].as_u64());
}

/// A demand counts units, which are as large beside other messages as `bytes` says, and are cut like them.
#[test]
fn units_of_a_demand_are_cut_as_messages_are() {
    let bench = Bench::new();
    let rows: Vec<Vec<u32>> = (0..9).map(|from| (0..9).map(|to| (from * to) % 4).collect()).collect();
    let csv = |row: &Vec<u32>| row.iter().map(u32::to_string).collect::<Vec<_>>().join(",") + "\n";
    std::fs::create_dir(bench.folder.path().join("jobs")).expect("a folder");
    bench.write("jobs/demand.csv", &rows.iter().map(csv).collect::<String>());
    let job = |demand: &str| {
        format!(
            r#"[{{"collective": "all_to_allv", "demand": {demand}, "bytes": "8KiB"}},
                {{"collective": "all_gather", "blocks": "3x1", "bytes": "4KiB"}}]"#
        )
    };
    let options = "--torus 3x3 --fail 0,1 --parts 2 -q";
    bench.write("job.json", &job(&format!("{rows:?}")));
    bench.write("jobs/job.json", &job("\"demand.csv\""));
    bench.ended(0, &format!("{options} --job job.json -o done.json"));
    bench.ended(0, &format!("{options} --job jobs/job.json -o again.json"));
    let done = |name: &str| serde_json::from_slice::<Value>(&bench.read(name)).unwrap();
    let job = done("done.json");
    assert_eq!(job["schedules"], done("again.json")["schedules"], "a file is named from the folder of the job's");
    let exchange = &job["schedules"][0]["collective"];
    let counts: Vec<Vec<u32>> = serde_json::from_value(exchange["demand"].clone()).unwrap();
    assert_eq!(exchange["parts"], 4);
    assert!(counts.iter().flatten().eq(rows.iter().flatten().map(|count| 4 * count).collect::<Vec<_>>().iter()));
    let run = text(&bench.ended(0, "run done.json --bytes 64KiB -n 1").stdout);
    assert_eq!(run.matches("right on every rank").count(), 2, "{run}");
    bench.ended(0, "lower done.json --barriers global -q -o programs.json");
    bench.ended(0, "verify programs.0.json programs.1.json --contention-free");
}

#[test]
fn a_job_is_run_lowered_and_drawn_whole() {
    let bench = bench();
    bench.ended(0, "--torus 2x4x2 --fail 0,1 --job job.json -q -o done.json");
    let run = text(&bench.ended(0, "run done.json --bytes 64KiB -n 1").stdout);
    assert!(run.starts_with("a job of 4 collectives, run at once"), "{run}");
    assert_eq!(run.matches("right on every rank").count(), 4, "{run}");
    let runs: Value = serde_json::from_str(&bench.stdout("run done.json --bytes 1MiB -n 1 --format json")).unwrap();
    // Chunks of all collectives are equally large, and the largest buffer has the bytes stated.
    let chunk = |run: &Value| run["block"].as_u64().unwrap() / run["parts"].as_u64().unwrap();
    let runs = runs.as_array().unwrap();
    assert!(runs.iter().all(|run| run["correct"] == true && chunk(run) == chunk(&runs[0])));
    assert!(runs.iter().filter_map(|run| run["bytes"].as_u64()).max().is_some_and(|most| most <= 1 << 20));
    for refused in ["--transport mpi", "-b 1KiB -e 4KiB", "--transport tcp --rank 0 --rank-table ranks"] {
        let ended = bench.ended(2, &format!("run done.json {refused}"));
        assert!(text(&ended.stderr).contains("is for schedules and rank programs"), "{}", text(&ended.stderr));
    }

    assert!(text(&bench.ended(2, "lower done.json").stderr).contains("programs.0.json"));
    bench.ended(0, "lower done.json --barriers global -q -o programs.json.gz");
    bench.ended(0, "lower done.json --rank 3 -q -o rank.json");
    for number in 0..4 {
        bench.ended(0, &format!("verify programs.{number}.json.gz --contention-free"));
        assert!(bench.names().contains(&format!("rank.{number}.json")));
    }

    // In another tool's format too: the blocks of all ranks are the file, one program per rank for all collectives.
    let whole = bench.stdout("convert done.json --to goal --chunk-bytes 1KiB");
    let block = |rank| bench.stdout(&format!("convert done.json --to goal --chunk-bytes 1KiB --rank {rank}"));
    assert_eq!(whole, format!("num_ranks 16\n{}", (0..16).map(block).collect::<String>()));
    bench.ended(0, "convert done.json --to chakra -o job");
    assert_eq!(bench.names().iter().filter(|name| name.starts_with("job.") && name.ends_with(".et")).count(), 16);
    bench.ended(0, "convert done.json -o moves.csv");
    assert!(text(&bench.read("moves.csv")).starts_with("schedule,step,from,to,"));
    assert!(bench.stdout("convert done.json --to trace").contains("\"all_to_all, step 1: "));
    assert!(text(&bench.ended(2, "convert done.json --to msccl").stderr).contains("--schedule 0"));

    let page = bench.stdout("view done.json");
    assert!(page.contains("done.json, schedule 3") && page.contains("\"headline\":\"barrier on a 2x4x2"));
}

#[test]
fn a_job_that_holds_alone_and_not_together_is_drawn_and_not_run() {
    let bench = bench();
    bench.write("two.json", r#"[{"collective": "broadcast"}, {"collective": "broadcast", "root": 1}]"#);
    bench.ended(0, "--torus 2x2 --job two.json -q -o done.json");
    let mut job: Value = serde_json::from_slice(&bench.read("done.json")).unwrap();
    // Twice the same schedule: each link that it fills is too full for both.
    job["schedules"][1] = job["schedules"][0].clone();
    job.as_object_mut().unwrap().remove("bound");
    bench.write("crowded.json", &job.to_string());
    for command in ["run crowded.json", "lower crowded.json -o p.json", "convert crowded.json -o p.csv"] {
        let ended = bench.ended(1, command);
        assert!(text(&ended.stderr).contains("J002"), "{command}: {}", text(&ended.stderr));
    }
    assert!(text(&bench.ended(1, "view crowded.json").stdout).contains("the schedules together put"));
    assert!(!bench.names().iter().any(|name| name.starts_with("p.")));
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_written() {
    let bench = bench();
    let refused = |code: u8, job: &str, options: &str, words: &str| {
        bench.write("wrong.json", job);
        let ended = bench.ended(code.into(), &format!("--torus 4x4 --job wrong.json {options} -o out.json"));
        assert!(text(&ended.stderr).contains(words), "{job}: {}", text(&ended.stderr));
    };
    refused(2, "[]", "", "at least one collective");
    refused(2, "{}", "", "wrong.json:1:1: invalid type: map, expected a sequence\n");
    refused(2, r#"[{"collective": "all_gatherr"}]"#, "", "collective 0: there is no collective `all_gatherr`");
    refused(2, r#"[{"collective": "all_gather", "size": 3}]"#, "", "unknown field `size`");
    refused(2, r#"[{"collective": "all_to_allv"}]"#, "", "all_to_allv needs a `demand`, a row for each origin");
    refused(2, r#"[{"collective": "all_to_allv", "demand": [[1]]}]"#, "", "1x1 matrix, but the machine has 16 ranks");
    refused(2, r#"[{"collective": "all_to_allv", "demand": 3}]"#, "", "`demand` is a row for each origin");
    refused(2, r#"[{"collective": "all_to_allv", "demand": "no.csv"}]"#, "", "cannot read no.csv");
    refused(2, r#"[{"collective": "all_gather", "demand": "no.csv"}]"#, "", "all_gather has no demand");
    refused(2, r#"[{"collective": "all_gather", "blocks": "2,2"}]"#, "", "did you mean 2x2?");
    refused(2, r#"[{"collective": "all_gather", "blocks": [-2, 2]}]"#, "", "`blocks` are extents, as in");
    refused(2, r#"[{"collective": "barrier", "bytes": 3}]"#, "", "barrier has no bytes");
    refused(2, r#"[{"collective": "barrier", "parts": 3}]"#, "", "barrier is not cut in parts");
    refused(2, r#"[{"collective": "all_gather", "groups": "xx"}]"#, "", "dimension x is stated twice");
    refused(2, r#"[{"collective": "all_gather", "root": 3}]"#, "", "all_gather has no root");
    refused(2, r#"[{"collective": "reduce", "root": 16}]"#, "", "16");
    refused(2, r#"[{"collective": "reduce", "groups": "x", "root": 4}]"#, "", "no member 4");
    refused(2, r#"[{"collective": "all_gather", "groups": "q"}]"#, "", "`q` names no dimensions");
    refused(2, r#"[{"collective": "all_gather", "groups": [[0, 0]]}]"#, "", "rank 0 is in a group twice");
    refused(2, r#"[{"collective": "all_gather", "groups": "x", "blocks": [2, 2]}]"#, "", "not both");
    refused(2, r#"[{"collective": "all_gather", "relays": false}]"#, "", "`relays` is about groups");
    refused(2, r#"[{"collective": "all_gather", "bytes": 8, "parts": 2}]"#, "", "not both");
    refused(2, r#"[{"collective": "all_gather", "bytes": 0}]"#, "", "at least 1");
    refused(2, r#"[{"collective": "all_gather", "parts": 0}]"#, "", "at least 1 part");
    refused(2, r#"[{"collective": "all_gather", "bytes": 8}, {"collective": "all_gather"}]"#, "", "no `bytes`");
    refused(2, r#"[{"collective": "all_gather", "parts": 8}]"#, "--parts 3", "states parts itself");
    refused(
        2,
        r#"[{"collective": "all_gather", "bytes": 1}, {"collective": "all_gather", "bytes": "1TiB"}]"#,
        "--parts 1",
        "too large",
    );
    refused(2, r#"[{"collective": "all_gather"}]"#, "--collective all_reduce", "--job takes no --collective");
    refused(2, r#"[{"collective": "all_gather"}]"#, "--planner trees", "--job takes no --planner");
    refused(4, r#"[{"collective": "all_reduce"}]"#, "--steps 7", "take 8");
    refused(3, r#"[{"collective": "all_gather"}]"#, "--steps 3", "3 steps are impossible");
    refused(3, r#"[{"collective": "all_gather", "groups": [[0, 5]], "relays": false}]"#, "", "may not relay");
    assert!(!bench.names().contains(&"out.json".to_owned()));
}

#[test]
fn a_job_is_no_schedule() {
    let bench = bench();
    bench.ended(0, "--torus 2x4x2 --job job.json -q -o done.json");
    for command in ["show done.json", "convert done.json --to compact", "polish done.json"] {
        let ended = bench.ended(2, command);
        assert!(text(&ended.stderr).contains("synth convert"), "{command}: {}", text(&ended.stderr));
    }
    assert!(text(&bench.ended(2, "convert done.json --schedule 4").stderr).contains("it has 4, counted from 0"));
    let changed = text(&bench.read("done.json")).replacen("\"width\": ", "\"width\": 1", 1);
    bench.write("changed.json", &changed);
    assert!(text(&bench.ended(1, "convert changed.json --schedule 0").stderr).contains("J001"));
    assert!(text(&bench.ended(1, "verify changed.json").stdout).contains("synth explain J001"));
}
