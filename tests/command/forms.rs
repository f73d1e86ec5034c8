//! The two forms of schedule files from outside.

use crate::support::bench::{Bench, text};

#[test]
fn large_machines_are_written_in_the_compact_form_and_back() {
    let bench = Bench::new();
    let planned = bench.ended(0, "--torus 8x8x8 --fail 0,1 -o pod.json");
    let said = text(&planned.stderr);
    assert!(said.contains("steps    12") && said.contains("planned by mended"), "{said}");
    let file = text(&bench.read("pod.json"));
    assert!(file.contains("\"pattern\"") && file.len() < 1_200_000, "{} bytes", file.len());
    assert!(bench.stdout("verify pod.json").contains("certified optimal for whole messages"));
    bench.ended(0, "expand pod.json -o all.json");
    assert!(!text(&bench.read("all.json")).contains("\"pattern\""));
    assert!(bench.stdout("verify all.json").contains("holds"));
    bench.ended(0, "compact all.json -o again.json");
    bench.ended(0, "expand again.json -o all-again.json");
    assert_eq!(bench.read("all.json"), bench.read("all-again.json"));
    // Whoever reads schedules reads both forms.
    assert_eq!(
        bench.stdout("show pod.json --step 1 --format json"),
        bench.stdout("show all.json --step 1 --format json")
    );
    // A wrong pattern is refuted, with places in the expanded schedule.
    bench
        .write("wrong.json", &file.replacen("\"failed_links\": [", "\"failed_links\": [{\"from\": 9, \"to\": 10},", 1));
    let refuted = text(&bench.ended(1, "verify wrong.json").stdout);
    assert!(refuted.contains("T003: link 9 (1,1,0) -> 10 (2,1,0) x+ has failed"), "{refuted}");
}

#[test]
fn the_form_may_be_stated() {
    let bench = Bench::new();
    for (options, is_compact) in [("", false), ("--form explicit", false), ("--form compact", true)] {
        let written = bench.stdout(&format!("--torus 4x4 --collective all_gather -q {options} -o -"));
        assert_eq!(written.contains("\"pattern\""), is_compact, "{options}");
        bench.write("s.json", &written);
        assert!(bench.stdout("verify s.json").contains("holds"), "{options}");
    }
    let refused = bench.ended(2, "--torus 4x4 --collective broadcast --root 0 --form compact -q -o b.json");
    assert!(text(&refused.stderr).contains("has no compact form"), "{}", text(&refused.stderr));
    bench.ended(0, "--torus 4x4 --collective broadcast --root 0 -q -o b.json");
    assert!(text(&bench.ended(2, "compact b.json").stderr).contains("has no compact form"));
}

#[test]
fn a_short_limit_leaves_a_schedule_of_a_large_machine() {
    let bench = Bench::new();
    let limited = bench.run("--torus 16x8x8 --fail 0,1 --fail 9,10 --time-limit 1s -o pod.json");
    assert!(matches!(limited.status.code(), Some(0 | 4)), "{}", text(&limited.stderr));
    assert!(bench.stdout("verify pod.json").contains("holds"));
}
