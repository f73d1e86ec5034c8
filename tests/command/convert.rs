//! `synth export` and `synth import` from outside.

use std::fs;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

fn synth(folder: &TempDir, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
    command.args(words.split_whitespace()).current_dir(folder.path()).output().expect("the command runs")
}

fn code(folder: &TempDir, words: &str) -> (Option<i32>, String) {
    let output = synth(folder, words);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn out_and_in_again() {
    let folder = TempDir::new().unwrap();
    assert!(synth(&folder, "--torus 4x4 --fail 0,1 --collective all_gather -q -o s.json").status.success());
    assert!(synth(&folder, "lower s.json -q -o p.json").status.success());
    for words in ["s.json --to msccl --barriers global", "s.json --to rccl --in-place", "p.json --to msccl"] {
        assert_eq!(code(&folder, &format!("export {words} -o a.xml")), (Some(0), String::new()), "{words}");
        let (ending, said) = code(&folder, "import a.xml --from msccl -o b.json");
        assert!(ending == Some(0) && said.contains("holds in every interleaving"), "{words}: {said}");
        assert_eq!(code(&folder, "verify b.json").0, Some(0));
    }
    for format in ["csv", "trace", "goal"] {
        let output = synth(&folder, &format!("export s.json --to {format}"));
        assert!(output.status.success() && !output.stdout.is_empty(), "{format}");
    }
    let (ending, said) = code(&folder, "export p.json --to csv");
    assert!(ending == Some(2) && said.contains("no steps to show"), "{said}");
}

#[test]
fn what_does_not_hold_is_told_and_kept() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("line.json"), r#"{"torus": [3], "wrap": [false]}"#).unwrap();
    let flows = r#"{"7-Flows": ["Chunk 0 from 2 traveled over 2->0 in epoch 0"]}"#;
    fs::write(folder.path().join("flows.json"), flows).unwrap();
    let (ending, said) = code(&folder, "import flows.json --from teccl");
    assert!(ending == Some(2) && said.contains("--collective all_gather or all_to_all"), "{said}");
    let (ending, said) = code(&folder, "import flows.json --from teccl --collective all_gather");
    assert!(ending == Some(2) && said.contains("give --topology FILE"), "{said}");
    let words = "import flows.json --from teccl --topology line.json --collective all_gather -o s.json";
    let (ending, said) = code(&folder, words);
    assert!(ending == Some(1) && said.contains("T002: there is no link from rank 2"), "{said}");
    assert_eq!(code(&folder, "verify s.json").0, Some(1));
    assert_eq!(code(&folder, "export s.json --to csv").0, Some(1));
    let (ending, said) = code(&folder, "import flows.json --from msccl");
    assert!(ending == Some(2) && said.contains("flows.json:1:1: F001"), "{said}");
}

#[test]
fn a_trace_for_each_rank() {
    let folder = TempDir::new().unwrap();
    assert!(synth(&folder, "--torus 3 --collective all_gather -q -o s.json").status.success());
    let (ending, said) = code(&folder, "export s.json --to chakra");
    assert!(ending == Some(2) && said.contains("give -o NAME"), "{said}");
    assert_eq!(code(&folder, "export s.json --to chakra -o trace").0, Some(0));
    fs::create_dir(folder.path().join("all")).unwrap();
    assert_eq!(code(&folder, "export s.json --to chakra -o all").0, Some(0));
    for rank in 0..3 {
        let bytes = |name: String| fs::read(folder.path().join(name)).unwrap();
        assert_eq!(bytes(format!("trace.{rank}.et")), bytes(format!("all/all_gather.{rank}.et")));
    }
    // One name is a folder: nothing is written, and nothing is left beside.
    fs::create_dir_all(folder.path().join("half/x.2.et")).unwrap();
    assert_eq!(code(&folder, "export s.json --to chakra -o half/x").0, Some(2));
    assert_eq!(fs::read_dir(folder.path().join("half")).unwrap().count(), 1);
}
