//! Hand-written files in other tools' formats, right and wrong: `foreign/cases.txt` has the verdict on each.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::bench::{Bench, text};

/// The machines that the cases name.
const MACHINES: [(&str, &str); 4] = [
    ("ring3.json", r#"{"torus": [3]}"#),
    ("line3.json", r#"{"torus": [3], "wrap": [false]}"#),
    ("line4.json", r#"{"torus": [4], "wrap": [false]}"#),
    ("mesh2x2.json", r#"{"torus": [2, 2]}"#),
];

#[test]
fn every_file_is_judged_as_listed() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/formats/foreign");
    let bench = Bench::new();
    for (name, machine) in MACHINES {
        bench.write(name, machine);
    }
    let (mut listed, mut verdicts) = (BTreeSet::from(["cases.txt".to_owned()]), BTreeSet::new());
    for case in include_str!("foreign/cases.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = case.split_whitespace();
        let (name, verdict) = (words.next().unwrap(), words.next().unwrap());
        let output = bench.command("convert -o out.json").arg(files.join(name)).args(words).output().unwrap();
        let said = text(&output.stderr);
        let expected = match verdict {
            "holds" => 0,
            code if code.starts_with('F') => 2,
            _ => 1,
        };
        let words = if expected == 0 { "holds" } else { verdict };
        assert!(output.status.code() == Some(expected) && said.contains(words), "{case}\n{said}");
        // A violation about part of an XML file shows that part.
        if expected == 2 || (name.ends_with(".xml") && (verdict.starts_with('P') || verdict.starts_with('R'))) {
            assert!(said.contains(&format!("{name}:")) && said.contains(" | "), "{case}\n{said}");
        }
        // The file written after the import gets the same verdict.
        if expected < 2 && !case.contains("--topology line4.json") {
            let output = bench.run("verify out.json");
            let said = text(&output.stdout);
            assert!(output.status.code() == Some(expected) && said.contains(words), "{case}\n{said}");
        }
        listed.insert(name.to_owned());
        verdicts.insert(verdict);
    }
    let there: BTreeSet<String> =
        fs::read_dir(&files).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(listed, there, "every file is listed, and no other");
    assert!(verdicts.len() >= 13, "{verdicts:?}");
}

#[test]
fn both_forms_are_judged_and_one_is_written() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/formats/foreign");
    let bench = Bench::new();
    let import = |file: &str, options: &str| {
        let mut command = bench.command("convert --from msccl -o out.json");
        let output = command.arg(files.join(file)).args(options.split_whitespace()).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let (ending, said) = import("rccl-right-in-place-only.xml", "");
    let verdicts: Vec<&str> =
        said.lines().filter(|line| line.contains("rccl-") && line.ends_with(['g', 'd'])).collect();
    assert!(ending == Some(1) && verdicts.len() == 2, "{said}");
    assert!(verdicts[0].ends_with("holds in every interleaving") && verdicts[1].ends_with("refuted"), "{said}");
    assert!(said.find("rank program, in place") < said.find("rank program, out of place"), "{said}");
    // Unless asked for the other, the form in place is written, and that one holds.
    assert_eq!(bench.run("verify out.json").status.code(), Some(0));
    let (ending, said) = import("rccl-race.xml", "--form in-place");
    assert!(ending == Some(2) && said.contains("another form than the file claims: out of place"), "{said}");
}

#[test]
fn options_without_a_meaning_are_refused() {
    let bench = Bench::new();
    bench.write("ring3.json", MACHINES[0].1);
    let synth = |words: &str| {
        let output = bench.run(words);
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(synth("--torus 3 --collective all_gather -q -o s.json").0, Some(0));
    assert_eq!(synth("lower s.json -q -o p.json").0, Some(0));
    for (words, said) in [
        (
            "convert x.json --from sccl --topology ring3.json",
            "--topology is for --from msccl, teccl, forestcoll or csv, and this is `sccl`",
        ),
        ("convert x.xml --from forestcoll --parts 2", "is for --from teccl or csv, and this is `forestcoll`"),
        ("convert x.xml --from teccl --slots 2", "--slots is for --from msccl, and this is `teccl`"),
        ("convert s.json --to csv --barriers none", "csv and trace show the schedule itself"),
        ("convert p.json --to msccl --in-place", "--in-place is for schedules and jobs: a program is lowered already"),
        ("convert s.json --to msccl --chunk-bytes 8", "--chunk-bytes is for --to goal or chakra"),
    ] {
        let (ending, seen) = synth(words);
        assert!(ending == Some(2) && seen.contains(said), "{words}: {seen}");
    }
}
