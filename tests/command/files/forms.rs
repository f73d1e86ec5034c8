//! The two forms of schedule files from outside.

use serde_json::{Value, json};

use crate::support::bench::{Bench, text};

/// Small machines, as `c.json` in the compact form and as `x.json` with every move.
fn benches() -> impl Iterator<Item = (&'static str, Bench)> {
    let plans = [
        "ring",
        "--torus 4x4 --fail 0,1",
        "--torus 4x4 --collective all_gather",
        "--torus 3x3 --collective all_reduce --parts 9",
        "--torus 3x4 --collective reduce_scatter --parts 2",
        "--torus 4x8 --twist --fail 0,1",
    ];
    plans.into_iter().map(|plan| {
        let bench = Bench::new();
        match plan {
            "ring" => bench.write("c.json", include_str!("../../../schedules/compact-ring.json")),
            _ => drop(bench.ended(0, &format!("{plan} --form compact -q -o c.json"))),
        }
        assert!(text(&bench.read("c.json")).contains("\"pattern\""), "{plan}");
        bench.ended(0, "convert c.json --to explicit -o x.json");
        (plan, bench)
    })
}

#[test]
fn both_forms_give_the_same_answers() {
    let all = [
        "show FILE --all",
        "show FILE --format json",
        "show FILE --links",
        "show FILE --links --step 1 --rank 1 --format csv",
        "show FILE --step 2",
        "show FILE --link 0,1",
        "show FILE --rank 2 --step 1 --format json",
        "show FILE --rank 9999",
        "show FILE --step 99",
        "show FILE --chunk 1-9999",
        "show FILE --chunk 1-2",
        "show FILE --chunk 1",
        "show FILE --chunk 0/1 --rank 1 --format json",
        "show FILE --format map",
        "show FILE --format svg",
        "lower FILE",
        "lower FILE --rank 0",
        "lower FILE --rank 2 --barriers neighbor",
        "lower FILE --rank 1 --barriers global --in-place",
        "lower FILE --rank 9999",
        "convert FILE --to csv",
        "convert FILE --to csv --rank 1",
        "convert FILE --to goal --rank 2",
        "convert FILE --to goal --rank nine",
    ];
    for (plan, bench) in benches() {
        for words in all {
            let [compact, explicit] = ["c.json", "x.json"].map(|file| bench.run(&words.replace("FILE", file)));
            assert_eq!(compact.status.code(), explicit.status.code(), "{plan}: {words}: {}", text(&compact.stderr));
            assert_eq!(text(&compact.stderr), text(&explicit.stderr), "{plan}: {words}");
            assert!(compact.stdout == explicit.stdout, "{plan}: {words}:\n{}", text(&compact.stdout));
        }
    }
}

#[test]
fn the_programs_of_all_ranks_make_the_whole() {
    for (plan, bench) in benches() {
        for barriers in ["none", "neighbour"] {
            let read = |words: &str| serde_json::from_str::<Value>(&bench.stdout(words)).expect("JSON");
            let whole = read(&format!("lower x.json --barriers {barriers} -q"));
            let mut joined = whole.clone();
            let programs = whole["programs"].as_array().expect("programs");
            for (rank, program) in programs.iter().enumerate() {
                let one = read(&format!("lower c.json --rank {rank} --barriers {barriers} -q"));
                assert_eq!((&one["rank"], &one["topology"]), (&json!(rank), &whole["topology"]), "{plan}");
                let numbers: Vec<&Value> = one["channels"].as_array().expect("channels").iter().collect();
                for channel in &numbers {
                    let mut channel = (*channel).clone();
                    let number = channel.as_object_mut().and_then(|keys| keys.remove("number")).expect("a number");
                    assert_eq!(channel, whole["channels"][number.as_u64().unwrap() as usize], "{plan}: rank {rank}");
                }
                // What it does, with the numbers of the whole.
                let mut does = one["programs"][0].clone();
                for operation in does["workers"]
                    .as_array_mut()
                    .expect("workers")
                    .iter_mut()
                    .flat_map(|worker| worker.as_array_mut().expect("operations").iter_mut())
                {
                    if let Some(channel) = operation.get_mut("channel") {
                        *channel = numbers[channel.as_u64().unwrap() as usize]["number"].clone();
                    }
                }
                assert_eq!(&does, program, "{plan}: rank {rank}");
                joined["programs"][rank] = does;
            }
            bench.write("joined.json", &joined.to_string());
            assert!(bench.stdout("verify joined.json").contains("holds in every interleaving"), "{plan}");
        }
        let goal = bench.stdout("convert x.json --to goal");
        let ranks = goal.lines().next().and_then(|line| line.strip_prefix("num_ranks ")?.parse().ok()).unwrap_or(0);
        let blocks: String =
            (0..ranks).map(|rank| bench.stdout(&format!("convert c.json --to goal --rank {rank}"))).collect();
        assert_eq!(format!("num_ranks {ranks}\n{blocks}"), goal, "{plan}");
        bench.ended(0, "convert x.json --to chakra -o all");
        bench.ended(0, "convert c.json --to chakra --rank 1 -o one");
        assert_eq!(bench.read("one.1.et"), bench.read("all.1.et"), "{plan}");
    }
}

#[test]
fn what_cannot_be_expanded_is_read_a_rank_at_a_time() {
    let bench = Bench::new();
    bench.ended(0, "--torus 8x8x8 -q -o pod.json");
    let run = |words: &str| bench.command(words).env("SYNTH_MAX_MEMORY", "24MiB").output().expect("the command runs");
    for words in ["lower", "run", "convert --to trace", "view", "convert --to goal"] {
        let output = run(&format!("{words} pod.json -o out").replace("run pod.json -o out", "run pod.json"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains("more than the 24 MiB allowed: SYNTH_MAX_MEMORY allows more"), "{words}: {said}");
        assert!(said.contains("`synth lower pod.json --rank 0`"), "{words}: {said}");
    }
    for words in [
        "lower pod.json --rank 1.2.3",
        "convert pod.json --to csv --rank 5",
        "convert pod.json --to goal --rank 5",
        "show pod.json --step 1",
        "show pod.json --links",
        "show pod.json --chunk 3-400",
        "convert pod.json --to explicit",
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", text(&output.stderr));
        assert!(!output.stdout.is_empty(), "{words}");
    }
}

#[test]
fn the_program_of_one_rank_is_not_whole() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4 --form compact -q -o c.json");
    bench.ended(0, "lower c.json --rank 3 -q -o one.json");
    for words in ["show one.json", "run one.json", "convert one.json --to goal", "verify one.json"] {
        let output = bench.ended(2, words);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains("F003: this is the program of rank 3 alone"), "{words}: {said}");
    }
    for (words, why) in [
        ("lower c.json --rank 1 --slots 1", "whether a program gets stuck shows only in all of it"),
        ("lower c.json --rank 1 --renumber map.csv", "it numbers all ranks anew"),
        ("convert c.json --to msccl --rank 1", "--rank is for --to csv, goal or chakra"),
        ("convert c.json --to trace --rank 1", "`synth lower FILE --rank RANK`"),
        ("lower c.json --rank 4", "rank 4"),
    ] {
        let said = text(&bench.ended(2, words).stderr);
        assert!(said.contains(why), "{words}: {said}");
    }
}

#[test]
fn large_machines_are_written_in_the_compact_form_and_back() {
    let bench = Bench::new();
    let planned = bench.ended(0, "--torus 8x8x8 --fail 0,1 -o pod.json");
    let said = text(&planned.stderr);
    assert!(said.contains("steps    12") && said.contains("planned by mended"), "{said}");
    let file = text(&bench.read("pod.json"));
    assert!(file.contains("\"pattern\"") && file.len() < 1_200_000, "{} bytes", file.len());
    assert!(bench.stdout("verify pod.json").contains("certified optimal for whole messages"));
    bench.ended(0, "convert pod.json --to explicit -o all.json");
    assert!(!text(&bench.read("all.json")).contains("\"pattern\""));
    assert!(bench.stdout("verify all.json").contains("holds"));
    bench.ended(0, "convert all.json --to compact -o again.json");
    bench.ended(0, "convert again.json --to explicit -o all-again.json");
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
fn what_repeats_with_a_period_is_found_again() {
    let bench = Bench::new();
    bench.ended(0, "--torus 8x8x8 --fail-switch x:1,2 -o pod.json");
    bench.ended(0, "convert pod.json --to explicit -o all.json");
    bench.ended(0, "convert all.json --to compact -o again.json");
    assert!(bench.stdout("verify again.json").contains("certified optimal for whole messages"));
    let [pod, again] = ["pod.json", "again.json"].map(|name| text(&bench.read(name)));
    assert!(again.contains("\"cell\"") && again.len() <= pod.len(), "{} and {} bytes", again.len(), pod.len());
    bench.ended(0, "convert again.json --to explicit -o all-again.json");
    assert_eq!(bench.read("all.json"), bench.read("all-again.json"));
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
    assert!(text(&bench.ended(2, "convert b.json --to compact").stderr).contains("has no compact form"));
}

#[test]
fn a_short_limit_leaves_a_schedule_of_a_large_machine() {
    let bench = Bench::new();
    let limited = bench.run("--torus 16x8x8 --fail 0,1 --fail 9,10 --time-limit 1s -o pod.json");
    assert!(matches!(limited.status.code(), Some(0 | 4)), "{}", text(&limited.stderr));
    assert!(bench.stdout("verify pod.json").contains("holds"));
}

/// A polished schedule is a pattern if it was one and still is; what a solver finds need not be.
#[test]
fn polishing_keeps_the_form() {
    let bench = Bench::new();
    bench.ended(0, "--torus 3x3 --planner ring_pipeline --form compact -q -o ring.json");
    bench.ended(0, "--torus 2x2 --collective all_gather --form compact -q -o best.json");
    bench.ended(0, "convert best.json --to explicit -o every.json");
    let is_compact = |name: &str| {
        let file: Value = serde_json::from_slice(&bench.read(name)).expect("JSON");
        file["steps"].as_array().expect("steps").iter().any(|step| step["pattern"].is_array())
    };
    for (name, stays) in [("best", Some(true)), ("every", Some(false)), ("ring", None)] {
        bench.ended(0, &format!("polish {name}.json -q -o {name}-polished.json"));
        bench.ended(0, &format!("verify {name}-polished.json"));
        let is = is_compact(&format!("{name}-polished.json"));
        assert!(stays.is_none_or(|stays| stays == is), "{name}");
        // What has a pattern is written as one.
        let found = bench.run(&format!("convert {name}-polished.json --to compact -o {name}-found.json"));
        assert!(name == "every" || is == found.status.success(), "{name}: {}", text(&found.stderr));
    }
}
