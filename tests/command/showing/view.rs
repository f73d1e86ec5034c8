//! `synth view`: pages for browsers. What a page does is tested in one (`.ci/browser`); here is what the command does.

use serde_json::Value;

use crate::support::bench::{Bench, text};

/// The data of a page beside its columns.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("data");
    serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON")
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.ended(0, "--torus 4x4 --fail 0,1 -q -o s.json");
    bench
}

#[test]
fn a_page_holds_everything_and_always_the_same() {
    let bench = bench();
    bench.ended(0, "view s.json -o page.html");
    let page = text(&bench.read("page.html"));
    assert_eq!(page, bench.stdout("view s.json"), "a pipe gets the same bytes");
    for outside in ["src=", "@import", "url(", "fetch(\"", "https:"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.starts_with("<!DOCTYPE html>") && !page.contains("\nimport ") && !page.contains("\nexport "));
    let file = &data(&page)["files"][0];
    assert_eq!((&file["name"], &file["verdict"]["verdict"]), (&"s.json".into(), &"holds".into()));
    assert_eq!(file["headline"], "all_to_all on a 4x4 torus with 1 failed cable");
    assert_eq!(file["bounds"][0]["evidence"]["kind"], "distance");
    assert_eq!(file["bounds"][1]["claim"], "volume at least 64/7 = 9.143");
}

#[test]
fn a_page_of_4x4x4_is_small() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4x4x4 --fail 2,3,x -q -o s.json");
    assert!(bench.stdout("view s.json").len() < 200_000);
}

#[test]
fn refuted_files_are_drawn_too_and_end_as_in_verify() {
    let bench = bench();
    let wrong = text(&bench.read("s.json")).replacen("{\"from\": 0, \"to\": 4", "{\"from\": 0, \"to\": 1", 1);
    bench.write("wrong.json", &wrong);
    let output = bench.ended(1, "view wrong.json s.json");
    let page = data(&text(&output.stdout));
    let verdict = &page["files"][0]["verdict"];
    assert_eq!((&verdict["verdict"], &verdict["violations"][0]["code"]), (&"refuted".into(), &"T003".into()));
    assert_eq!(page["files"][0]["bounds"], Value::Array(Vec::new()), "bounds of what is refuted are not vouched for");
    assert_eq!(page["files"][1]["verdict"]["verdict"], "holds");
    // What cannot be read makes no page.
    bench.write("half.json", &wrong[..wrong.len() / 2]);
    let output = bench.ended(2, "view s.json half.json -o none.html");
    assert!(text(&output.stderr).contains("half.json:") && !bench.folder.path().join("none.html").exists());
}

#[test]
fn rank_programs_are_drawn_with_their_verdict() {
    let bench = bench();
    bench.ended(0, "lower s.json -q -o p.json");
    let page = data(&bench.stdout("view p.json"));
    assert_eq!(
        (&page["files"][0]["type"], &page["files"][0]["verdict"]["verdict"]),
        (&"program".into(), &"holds".into())
    );
}

#[test]
fn files_are_drawn_on_another_machine_as_verify_judges_them() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4x4 -q -o s.json");
    bench.ended(0, "lower s.json -q -o p.json");
    bench.ended(0, "--torus 8x8 --form compact -q -o c.json");
    bench.ended(0, "topology --torus 4x4 --fail 2,x+ -o tonight.json");
    for words in ["s.json --topology tonight.json", "p.json --topology tonight.json", "c.json --fail 0,1 --fail-rank 9"]
    {
        let output = bench.ended(1, &format!("view {words}"));
        let judged = bench.ended(1, &format!("verify {words} --format json"));
        let judged: Value = serde_json::from_slice(&judged.stdout).expect("JSON");
        let file = &data(&text(&output.stdout))["files"][0];
        assert_eq!(file["verdict"]["totals"], judged["files"][0]["totals"], "{words}");
        // The hint is that of `synth verify`, and stands in the page too.
        let (name, anew) = (words.split(' ').next().unwrap(), file["elsewhere"]["anew"].as_str().expect("words"));
        let said = format!("{name}: refuted; the page shows where\nhint: `{anew}` plans it anew for this machine\n");
        assert_eq!(text(&output.stderr), said, "{words}");
        assert!(
            file["elsewhere"]["machine"].as_str().is_some_and(|name| name.contains("torus with 1 failed")),
            "{file}"
        );
    }
    // What holds there says so, and states no bound of its own machine; without the options, nothing is said of one.
    bench.ended(0, "--torus 3 --wrap no --collective broadcast -q -o line.json");
    let page = data(&bench.stdout("view line.json"));
    assert!(page["files"][0]["elsewhere"].is_null() && page["files"][0]["bounds"] != Value::Array(Vec::new()));
    bench.ended(0, "topology --torus 3 --fail 0,2 -o ring.json");
    let page = data(&bench.stdout("view line.json --topology ring.json"));
    assert_eq!(
        (&page["files"][0]["verdict"]["verdict"], &page["files"][0]["elsewhere"]["anew"]),
        (&"holds".into(), &Value::Null)
    );
    assert_eq!(page["files"][0]["bounds"], Value::Array(Vec::new()));
    let wrong = bench.ended(2, "view s.json --topology ring.json");
    assert!(text(&wrong.stderr).contains("s.json: "), "{}", text(&wrong.stderr));
}

#[test]
fn names_cannot_break_out_of_a_page() {
    let bench = bench();
    let name = "<img src=x onerror=alert(1)>.json";
    bench.write(name, &text(&bench.read("s.json")));
    let output = bench.command("view").arg(name).output().expect("runs");
    let page = text(&output.stdout);
    assert!(!page.contains("<img") && data(&page)["files"][0]["name"] == name, "{:?}", output.status);
}

/// Letters that move the cursor or turn the direction of writing are named, and seeds above 2^53 keep every digit.
#[test]
fn origins_are_shown_as_text() {
    let bench = bench();
    let mut file: Value = serde_json::from_slice(&bench.read("s.json")).expect("JSON");
    file["origin"] = serde_json::json!({
        "tool": "\u{202e}gnp\u{7}",
        "planner": "a\u{1b}[31m",
        "command": "synth \u{2066}x",
        "seed": 9_007_199_254_740_993_u64,
    });
    bench.write("s.json", &file.to_string());
    bench.ended(0, "lower s.json -q -o p.json");
    for name in ["s.json", "p.json"] {
        let page = bench.stdout(&format!("view {name}"));
        let origin = &data(&page)["files"][0]["origin"];
        assert_eq!(origin["seed"], "9007199254740993", "{name}");
        assert_eq!([&origin["tool"], &origin["planner"]], ["\\u{202e}gnp\\u{7}", "a\\u{1b}[31m"], "{name}");
        assert_eq!(origin["command"], "synth \\u{2066}x", "{name}");
        assert!(!page.contains(['\u{202e}', '\u{2066}', '\u{7}', '\u{1b}']), "{name}");
    }
}

/// A schedule of a job is refuted for what is found in it, or in the job as a whole.
#[test]
fn schedules_of_a_job_have_verdicts_of_their_own() {
    let bench = Bench::new();
    for (name, verdicts) in [("D002-incomplete", ["holds", "refuted"]), ("J001-width", ["refuted", "refuted"])] {
        let path = format!("{}/schedules/jobs/rejected/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let page = data(&text(&bench.ended(1, &format!("view {path}")).stdout));
        let told = [0, 1].map(|index| page["files"][index]["verdict"]["verdict"].clone());
        assert_eq!(told, verdicts, "{name}");
    }
}
