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

#[test]
fn what_is_wrong_is_said_and_nothing_is_written() {
    let bench = bench();
    let refused = |code: u8, job: &str, options: &str, words: &str| {
        bench.write("wrong.json", job);
        let ended = bench.ended(code.into(), &format!("--torus 4x4 --job wrong.json {options} -o out.json"));
        assert!(text(&ended.stderr).contains(words), "{job}: {}", text(&ended.stderr));
    };
    refused(2, "[]", "", "at least one collective");
    refused(2, "{}", "", "wrong.json:1:");
    refused(2, r#"[{"collective": "all_gatherr"}]"#, "", "collective 0: there is no collective `all_gatherr`");
    refused(2, r#"[{"collective": "all_gather", "size": 3}]"#, "", "unknown field `size`");
    refused(2, r#"[{"collective": "all_to_allv"}]"#, "", "all_to_allv is not planned in jobs");
    refused(2, r#"[{"collective": "barrier", "bytes": 3}]"#, "", "barrier has no bytes");
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
        "",
        "too large",
    );
    refused(2, r#"[{"collective": "all_gather"}]"#, "--collective all_reduce", "--job takes no --collective");
    refused(2, r#"[{"collective": "all_gather"}]"#, "--planner trees", "--job takes no --planner");
    refused(4, r#"[{"collective": "all_reduce"}]"#, "--steps 7", "it takes 8");
    assert!(!bench.names().contains(&"out.json".to_owned()));
}

#[test]
fn a_job_is_no_schedule() {
    let bench = bench();
    bench.ended(0, "--torus 2x4x2 --job job.json -q -o done.json");
    for command in
        ["show done.json", "lower done.json", "run done.json", "convert done.json --to csv", "polish done.json"]
    {
        let ended = bench.ended(2, command);
        assert!(text(&ended.stderr).contains("synth convert"), "{command}: {}", text(&ended.stderr));
    }
    assert!(text(&bench.ended(2, "convert done.json --schedule 4").stderr).contains("it has 4, counted from 0"));
    let changed = text(&bench.read("done.json")).replacen("\"width\": ", "\"width\": 1", 1);
    bench.write("changed.json", &changed);
    assert!(text(&bench.ended(1, "convert changed.json --schedule 0").stderr).contains("J001"));
    assert!(text(&bench.ended(1, "verify changed.json").stdout).contains("synth explain J001"));
}
