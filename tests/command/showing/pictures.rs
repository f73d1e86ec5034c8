//! Pictures: `synth show --format svg` and `--format map`, and those that the documents show.

use std::fs;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::support::bench::{Bench, text};

/// The figures in docs/ and the commands that make them, after `synth --torus 4x4x4 --fail 2,3,x -o schedule.json`.
const FIGURES: &[(&str, &str)] =
    &[("chunk.svg", "show schedule.json --chunk 2>3 --format svg"), ("page.html", "view schedule.json")];

/// A schedule with a failed cable.
fn bench(torus: &str) -> Bench {
    let bench = Bench::new();
    bench.ended(0, &format!("--torus {torus} --fail 0,1 -q -o s.json"));
    bench
}

/// How many elements of each of these classes a picture has; fails if it is no XML.
fn classes(picture: &str, wanted: &[&str]) -> Vec<usize> {
    let mut counts = vec![0; wanted.len()];
    let mut reader = Reader::from_str(picture);
    loop {
        match reader.read_event().expect("XML") {
            Event::Eof => return counts,
            Event::Start(tag) | Event::Empty(tag) => {
                let class = tag.try_get_attribute("class").expect("attributes").map(|class| class.value.to_string());
                let found = wanted.iter().position(|wanted| class.as_deref() == Some(wanted));
                found.into_iter().for_each(|index| counts[index] += 1);
            }
            _ => {}
        }
    }
}

#[test]
fn a_picture_shows_what_was_asked_for() {
    let bench = bench("4x4");
    // A dead cable is two dashed lines and one cross, with its halo.
    let heat = bench.stdout("show s.json --format svg");
    assert_eq!(classes(&heat, &["dead", "cross", "halo", "chunk", "mark"]), [2, 1, 1, 0, 0]);
    assert_eq!(heat, bench.stdout("show s.json --format svg"));
    let step = bench.stdout("show s.json --step 1 --format svg");
    assert!(step.contains("step 1 of 4") && step != heat);
    // The chunk goes around: three hops, each a line with an arrowhead, and the four ranks on its way.
    let chunk = bench.stdout("show s.json --chunk 0>1 --format svg");
    assert_eq!(classes(&chunk, &["plate"]), [3]);
    assert!(chunk.contains("chunk 0&gt;1: 3 hops"));
    // Seven links leave one half of the machine, sixteen ranks are on the two sides.
    let volume = bench.stdout("show s.json --bound volume --format svg");
    assert!(volume.contains("all that 8 ranks send to the others crosses these 7 links"), "{volume}");
    assert_eq!(classes(&volume, &["s1", "s2"]), [8, 8]);
    let steps = bench.stdout("show s.json --bound steps --format svg");
    assert!(steps.contains("4 hops away"));
}

#[test]
fn every_collective_and_machine_is_drawn() {
    let bench = Bench::new();
    for (index, words) in [
        "--torus 5 --collective all_reduce --parts 2",
        "--torus 2x3x4 --fail-rank 5 --collective all_gather",
        "--torus 3x3x2x2 --collective broadcast --fail-link 0,1",
    ]
    .iter()
    .enumerate()
    {
        bench.ended(0, &format!("{words} -q -o {index}.json"));
        for subject in ["", "--step 1", "--bound steps", "--bound volume"] {
            classes(&bench.stdout(&format!("show {index}.json {subject} --format svg")), &[]);
        }
    }
}

#[test]
fn a_map_has_the_load_of_every_link() {
    let bench = bench("3x2");
    let map = bench.stdout("show s.json --format map");
    let loads = |text: &str| -> u64 {
        text.split_whitespace().filter_map(|word| word.strip_prefix(['+', '-'])?.parse::<u64>().ok()).sum()
    };
    assert_eq!(map.matches("##").count(), 2, "{map}");
    let each: u64 = (1..=3).map(|step| loads(&bench.stdout(&format!("show s.json --step {step} --format map")))).sum();
    let moves = bench.stdout("show s.json --links --format csv");
    let moved: u64 = moves.lines().skip(1).map(|line| line.split(',').nth(5).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!((loads(&map), each), (moved, moved), "{map}");
}

#[test]
fn what_a_picture_cannot_show_is_said() {
    let bench = bench("2x2x2");
    for (words, said) in [
        ("show s.json --format map", "--format svg draws any machine"),
        ("show s.json --rank 3 --format svg", "pictures show the whole machine"),
        ("show s.json --bound volume", "--bound is for --format svg"),
        ("show s.json --step 1 --step 2 --format svg", "one step, one chunk or all steps"),
        ("show s.json --chunk 0>99 --format svg", "99"),
    ] {
        let output = bench.ended(2, words);
        assert!(text(&output.stderr).contains(said), "{words}: {}", text(&output.stderr));
    }
    let without = text(&bench.read("s.json")).replace("\"steps\": {\"at_least\": 3", "\"steps\": {\"at_least\": 9");
    bench.write("boast.json", &without);
    bench.ended(2, "show boast.json --bound steps --format svg");
}

#[test]
fn the_documents_show_what_the_command_draws() {
    let bench = Bench::new();
    bench.ended(0, "--torus 4x4x4 --fail 2,3,x -q -o schedule.json");
    for (name, words) in FIGURES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures").join(name);
        let drawn = bench.stdout(words);
        if std::env::var_os("SYNTH_UPDATE_README").is_some() {
            fs::write(&path, &drawn).expect("the figure is written");
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == drawn, "docs/pictures/{name} is old: SYNTH_UPDATE_README=1 cargo test --test command");
    }
}
