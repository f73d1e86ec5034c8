//! `synth show`: loads of links, single links, rank programs, and the same for programs to read.

use serde_json::Value;

use crate::support::bench::{Bench, text};

/// A schedule, and the program that it is lowered to.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.ended(0, "--torus 4x4 --fail 0,1 -q -o s.json");
    bench.ended(0, "lower s.json -q -o p.json");
    bench
}

fn json(bench: &Bench, words: &str) -> Value {
    serde_json::from_str(&bench.stdout(words)).expect("JSON")
}

/// A shell reads `>` as its own, so a chunk has other spellings.
#[test]
fn a_chunk_has_three_spellings() {
    let bench = Bench::new();
    bench.run("--torus 4 -q -o s.json");
    let shown = bench.stdout("show s.json --chunk 2>3");
    assert!(shown.contains("2>3"), "{shown}");
    assert_eq!(bench.stdout("show s.json --chunk 2-3"), shown);
    assert_eq!(bench.stdout("show s.json --chunk 2:3"), shown);
    bench.ended(2, "show s.json --chunk 2-9");
}

#[test]
fn links_are_listed_the_hottest_first() {
    let bench = bench();
    let answer = json(&bench, "show s.json --links --format json");
    let links = answer["links"].as_array().expect("links");
    assert_eq!(links.len(), 62, "the live links");
    let busy: Vec<f64> = links.iter().map(|link| link["busy"].as_f64().expect("a share")).collect();
    assert!(busy.is_sorted_by(|a, b| a >= b) && busy[0] <= 1.0 && busy[0] > busy[61], "{busy:?}");
    // Every chunk of every transfer is on some link.
    let steps = json(&bench, "show s.json --format json");
    let steps = steps["steps"].as_array().expect("steps");
    let transfers = || steps.iter().flat_map(|step| step["transfers"].as_array().expect("transfers"));
    let moved: usize = transfers().map(|transfer| transfer["chunks"].as_array().expect("chunks").len()).sum();
    assert_eq!(links.iter().map(|link| link["chunks"].as_u64().unwrap()).sum::<u64>(), moved as u64);
    for link in links {
        let on = |transfer: &&Value| transfer["from"] == link["from"] && transfer["to"] == link["to"];
        let most = transfers().filter(on).map(|transfer| transfer["load"].as_u64().unwrap()).max();
        assert_eq!(link["peak_chunks"].as_u64(), most, "{link}");
    }
    let table = bench.stdout("show s.json --links");
    assert!(table.contains("  link  chunks  busy "), "{table}");
    let csv = bench.stdout("show s.json --links --format csv");
    assert!(csv.starts_with("from,to,link,capacity,alive,chunks,room,busy,peak_step,peak_chunks\n"), "{csv}");
    assert_eq!(csv.lines().count(), 63);
}

#[test]
fn a_dead_link_that_is_asked_for_is_said_to_be_dead() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4 --fail 0,1 -q -o s.json");
    let said = |link: &str| text(&bench.ended(0, &format!("show s.json --link {link}")).stderr);
    assert_eq!(said("0,1"), "note: the link from rank 0 to rank 1 failed\n");
    assert_eq!(said("1,2"), "");
}

#[test]
fn what_is_never_sent_is_said_to_be_nowhere() {
    let bench = Bench::new();
    bench.ended(0, "--torus 3 -q -o s.json");
    for chosen in ["--chunk 0-0", "--rank 0 --link 1,2"] {
        assert!(bench.stdout(&format!("show s.json {chosen}")).ends_with("\n\nno transfers match\n"), "{chosen}");
    }
    for chosen in ["", "--chunk 0-1", "--rank 0"] {
        assert!(!bench.stdout(&format!("show s.json {chosen}")).contains("match"), "{chosen}");
    }
}

#[test]
fn links_ranks_and_steps_are_chosen() {
    let bench = bench();
    let links = json(&bench, "show s.json --links --rank 5 --format json");
    assert_eq!(links["links"].as_array().map(Vec::len), Some(8), "four out, four in");
    let step = json(&bench, "show s.json --links --step 1 --link 5,6 --format json");
    assert_eq!((&step["links"][0]["peak_step"], step["links"].as_array().map(Vec::len)), (&1.into(), Some(1)));
    let one = json(&bench, "show s.json --link 1.1,2.1 --format json");
    let steps = one["steps"].as_array().expect("steps");
    let rows: Vec<&Value> = steps.iter().flat_map(|step| step["transfers"].as_array().unwrap()).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["from"] == 5 && row["to"] == 6), "{one}");
    let said = |words: &str| text(&bench.ended(2, words).stderr);
    assert!(said("show s.json --link 5,7").contains("there is no link from rank 5 (1,1) to rank 7 (3,1)"));
    assert!(said("show s.json --link 5-6").contains("as in 2,3"));
    assert!(said("show s.json --format csv").contains("`synth convert FILE --to csv`"));
    // The failed cable carries nothing, and is listed only where a wrong schedule uses it.
    let dead = json(&bench, "show s.json --links --link 0,1 --format json");
    assert_eq!(dead["links"], Value::Array(Vec::new()));
    bench.write("bad.json", crate::support::bench::REFUTED);
    assert!(bench.stdout("show bad.json --links --link 0,1").contains("x+ failed  1/1"));
}

#[test]
fn rank_programs_are_shown_worker_by_worker() {
    let bench = bench();
    let whole = bench.stdout("show p.json");
    assert!(
        whole.starts_with("all_to_all among 16 ranks, whole messages, as a rank program, out of place\n"),
        "{whole}"
    );
    assert!(whole.contains("\nrank 0 (0,0), ") && whole.contains("\nrank 15 (3,3), "), "{whole}");
    let one = bench.stdout("show p.json --rank 1.1 --all");
    assert!(one.contains("\nrank 5 (1,1), ") && !one.contains("\nrank 6 "), "{one}");
    assert!(one.contains("  worker 0: ") && one.contains(" to 6 (2,1) (channel ") && one.contains("  wait  "), "{one}");
    let link = bench.stdout("show p.json --link 5,6");
    let ranks: Vec<&str> = link.lines().filter(|line| line.starts_with("rank ")).collect();
    assert!(ranks.len() == 2 && ranks[0].starts_with("rank 5 ") && ranks[1].starts_with("rank 6 "), "{link}");
    let said = text(&bench.ended(2, "show p.json --links").stderr);
    assert!(said.contains("--links is for schedules: this is a rank program"), "{said}");
}
