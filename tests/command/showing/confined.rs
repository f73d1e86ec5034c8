//! Links that a group without relays may not use have not failed: no figure, picture or barrier takes them for dead.

use serde_json::Value;

use crate::support::bench::{Bench, text};

/// Rows of two in which nobody relays for another, beside the same with relays.
fn bench() -> Bench {
    let bench = Bench::new();
    for (relays, name) in [("no", "own"), ("yes", "relayed")] {
        let words = format!("--torus 2x3 --collective broadcast --groups x --relays {relays} -q -o {name}.json");
        bench.ended(0, &words);
    }
    bench
}

#[test]
fn links_out_of_a_group_are_alive() {
    let bench = bench();
    assert_eq!(text(&bench.ended(0, "show own.json --link 0,2").stderr), "");
    for words in ["--format map", "--links --format csv", "--links --format json", "--format svg", "--format json"] {
        let [own, relayed] = ["own", "relayed"].map(|name| bench.stdout(&format!("show {name}.json {words}")));
        assert_eq!(own.replace(" without relays", ""), relayed, "{words}");
    }
    assert!(!bench.stdout("show own.json --format map").contains("##"));
    let links = bench.stdout("show own.json --links --format csv");
    assert_eq!((links.lines().count(), links.matches(",true,").count()), (19, 18), "{links}");
    // A cable that failed is dead nevertheless.
    let words = "--torus 2x3 --fail 0,2 --collective broadcast --groups x --relays no -q -o dead.json";
    bench.ended(0, words);
    assert!(bench.stdout("show dead.json --format map").contains("##"));
    let said = text(&bench.ended(0, "show dead.json --link 0,2").stderr);
    assert_eq!(said, "note: the link from rank 0 (0,0) to rank 2 (0,1) failed\n");
}

#[test]
fn live_links_that_carry_nothing_are_idle() {
    let bench = bench();
    let busy = |name: &str| {
        let judged: Value =
            serde_json::from_str(&bench.stdout(&format!("verify {name}.json --format json"))).expect("JSON");
        judged["files"][0]["figures"]["busy"].clone()
    };
    assert_eq!(busy("own"), busy("relayed"));
    assert_eq!((&busy("own")["y-"], &busy("own")["y+"]), (&0.0.into(), &0.0.into()));
    // People read that no chunk may be there.
    assert!(bench.stdout("verify own.json").contains("y links  not used"));
    let failed = "--torus 2 --wrap no --fail-link 0,1 --collective broadcast --root 1 -q -o half.json";
    bench.ended(0, failed);
    assert_eq!(busy("half")["x+"], Value::Null, "no link of this direction is alive");
}

#[test]
fn tokens_cross_links_that_no_chunk_may() {
    let bench = bench();
    let job = r#"[{"collective": "all_gather", "groups": "x", "relays": false}, {"collective": "all_reduce"}]"#;
    bench.write("asked.json", job);
    bench.ended(0, "--torus 2x3 --job asked.json -q -o job.json");
    for words in ["own.json", "job.json"] {
        bench.ended(0, &format!("convert {words} --to goal --barriers global -o {words}.goal"));
    }
    bench.ended(0, "lower own.json --barriers global -q -o program.json");
    bench.ended(0, "verify program.json");
    bench.ended(0, "lower job.json --barriers global -q -o programs.json");
    // Where no path of live links is there for tokens, it is said.
    let words =
        "--torus 4 --wrap no --fail 1,2 --collective all_gather --group 0,1 --group 2,3 --relays no -q -o apart.json";
    bench.ended(0, words);
    let said = text(&bench.ended(2, "lower apart.json --barriers global").stderr);
    assert!(said.contains("a global barrier needs every rank to reach every other"), "{said}");
}
