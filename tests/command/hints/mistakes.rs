//! Mistakes that people made, and what to type instead: a row for each.

use crate::support::bench::{Bench, HOLDS, text};

/// What was typed, the exit code, and what the answer contains.
const MISTAKES: [(&str, i32, &[&str]); 82] = [
    // Machines.
    ("--torus 4x", 2, &["as in 4x4x4"]),
    ("--torus 0x4", 2, &["dimension x has extent 0; an extent is at least 1"]),
    ("--torus 4,4,4", 2, &["did you mean 4x4x4?"]),
    ("--torus 4x4 --fail 0,99", 2, &["rank 99 is out of range: ranks are 0 to 15", "synth topology --torus 4x4"]),
    ("--torus 4x4 --fail 0,2", 2, &["are not neighbors; neighbors of 0 (0,0) are 1 (1,0) over x+"]),
    ("--torus 4x4 --fail 0,1,y", 2, &["are not neighbors in y: they are in x"]),
    ("topology --torus 4x4 --fail 0,1 --fail 1,0", 0, &["stated before, and counted once"]),
    ("--torus 4x4 --twist", 2, &["4x4 has no twist", "as in 4x8"]),
    ("--torus 4x4x4 --slice 4x4x5", 2, &["4x4x5 does not fit into 4x4x4", "none larger"]),
    ("--torus 4x4x4 --slice 4x4", 2, &["4x4 does not fit into 4x4x4", "an extent for each dimension"]),
    ("--torus 3 --fail 0,1 --fail 0,2", 3, &["part 1: 1 rank: 0", "--fail-rank 0"]),
    ("--torus 4 --fail-rank 0,1,2,3", 2, &["no rank is left alive"]),
    // Files.
    ("verify missing.json", 2, &["cannot read missing.json: No such file"]),
    ("verify folder", 2, &["cannot read folder: Is a directory"]),
    ("verify ring.xml", 2, &["this is MSCCL XML: `synth convert --from msccl FILE` judges it"]),
    ("lower ring.xml", 2, &["this is MSCCL XML: `synth convert --from msccl FILE`"]),
    ("verify trees.xml", 2, &["ForestColl", "`synth convert --from forestcoll --topology MACHINE FILE`"]),
    ("verify machine.json", 2, &["this is a machine", "`synth topology --topology FILE` shows it"]),
    ("show machine.json", 2, &["this is a machine", "`synth --topology FILE` plans for it"]),
    ("verify demand.json", 2, &["demand matrix", "--demand FILE"]),
    ("verify empty.json", 2, &["the file is empty"]),
    (
        "compare moves.csv --torus 4x4",
        2,
        &["moves.csv is a table", "`synth convert moves.csv --torus 4x4 --collective NAME -o moves.json`"],
    ),
    ("convert s.json --from msccl", 2, &["this is a schedule", "`synth verify s.json` judges it"]),
    // Names.
    ("--torus 4x4 --planner negotiatd", 2, &["did you mean negotiated?", "`synth planners`"]),
    ("--torus 4x4 --planner best", 2, &["no planner is called `best`", "`synth planners`"]),
    ("--torus 4x4 --collective allreduced", 2, &["did you mean all_reduce?"]),
    ("--torus 4x4 --collective everything", 2, &["all_to_all, all_to_allv, all_gather"]),
    ("run s.json --dtype fp16", 2, &["did you mean f16?"]),
    ("run s.json --dtype float32", 2, &["did you mean f32?"]),
    ("run s.json --op avg", 2, &["sum, product, min, max"]),
    ("convert s.json --to xml", 2, &["msccl", "possible values"]),
    // Options.
    ("--torus 4x4 --root 3", 2, &["all_to_all has no root", "choose broadcast"]),
    ("--torus 4x4 --width 3", 2, &["--width is for --planner smt"]),
    ("--torus 4x4 --parts 0", 2, &["write a number, 1 or more, or `auto`"]),
    ("--torus 8x8x8 --parts 1000", 2, &["at most 33554432", "choose fewer --parts"]),
    ("--torus 100x100", 2, &["at most 33554432", "hint: plan a smaller machine"]),
    ("--torus 4x4 --max-steps 3", 3, &["3 steps are impossible", "4 hops away"]),
    ("--torus 4x4 --fail 0,1 --parts 5 --time-limit 0s -o p.json", 4, &["time limit"]),
    ("--torus 4x4 --fail-chip 3", 2, &["did you mean --fail-rank?"]),
    ("--torus 4x4 --job s.json", 2, &["s.json: this is a schedule", "a job is a list of collectives, as in"]),
    ("show s.json --chunk 1", 2, &["part 1 is out of range: parts are 0 to 0"]),
    ("--mesh 4x4", 2, &["did you mean --torus EXTENTS --wrap no?"]),
    ("--torus 4x4 --steps few", 2, &["invalid value 'few' for '--steps <N>': it is not a whole number"]),
    ("--torus 4x4 --steps 4 5", 2, &["--steps takes one value, and `5` is another: leave `5` out"]),
    ("--torus 4x4 --group 0-3 4-7", 2, &["`synth --torus 4x4 --group 0-3 --group 4-7`"]),
    ("--torus 4x4 --fail 0 1", 2, &["`synth --torus 4x4 --fail 0,1`"]),
    ("--torus 4x4 verify s.json", 2, &["`verify` comes before its options: did you mean `synth verify s.json`?"]),
    ("verify", 2, &["for standard input, write - as the FILE"]),
    ("-", 2, &["did you mean `synth verify -`?"]),
    ("bound 4x4", 2, &["a torus of these extents is --torus 4x4"]),
    ("fallbacks --torus 4x4", 2, &["--torus is an option of", "fallbacks build"]),
    ("run s.json --iters 3", 2, &["did you mean --repeat?"]),
    ("--topology s.json -q -o p.json", 0, &[]),
    ("--topology s.json -o p.json", 0, &["note: s.json: a schedule; only its machine is taken"]),
    ("survey --torus 4x4 --collective broadcast --cables 1 -o f", 2, &["these can: all_to_all", "hint: --job FILE"]),
    ("--torus 3x3 --collective broadcast --parts 100000 --planner smt", 2, &["literals or more; at most 134217728"]),
    ("--torus 4x4 --dead 0,1", 2, &["did you mean --fail?"]),
    ("--torus 4x4 -f 0,1", 2, &["did you mean --fail?"]),
    ("--torus 4x4 --fail-node 3", 2, &["did you mean --fail-rank?"]),
    ("verify s.json --torus 4x4", 2, &["did you mean --topology FILE?"]),
    ("run s.json --message-bytes 1MiB", 2, &["did you mean --bytes?"]),
    ("survey --torus 4x4 --failures 1 -o f", 2, &["did you mean --cables 1?"]),
    (
        "--torus 4x4x4 --collective all_reduce --max-steps 6 --fail 0,1 -o p.json",
        4,
        &["no planner found a schedule:", "`matching`"],
    ),
    ("--torus 4x4 -o p.json.zst", 2, &[".json is written here, not .zst"]),
    ("--torus 4x4 --no-wrap", 2, &["did you mean --wrap no?"]),
    ("bound --torus 4x4 --kind all_reduce", 2, &["did you mean --collective?"]),
    ("show s.json --json", 2, &["did you mean --format json?"]),
    ("--torus 4x4 --time-limit 5", 2, &["did you mean 5s?"]),
    ("--torus 4x4 --message-bytes 1KiB --alpha 1us --bandwidth 50", 2, &["did you mean 50GB/s?"]),
    ("--torus 4x4 --message-bytes 64kiB --alpha 1us --bandwidth 1GB/s", 2, &["did you mean 64KiB?"]),
    ("--torus 4x4 --message-bytes 64KiB --alpha 2 --bandwidth 1GB/s", 2, &["did you mean 2us?"]),
    ("--torus 4x4 --message-bytes 64parsec --alpha 1us --bandwidth 1GB/s", 2, &["`64parsec` is not a size"]),
    ("convert s.json --to goal --chunk-bytes lots", 2, &["`lots` is not a size", "as in 64KiB"]),
    ("--torus 3 --collective all_to_allv --demand demand.json", 2, &["demand.json:", "2"]),
    ("--torus 4x4 --collective broadcast --root 3 --fail-rank 3", 2, &["root 3 is a failed rank", "--root"]),
    ("--torus 4x4 -o missing/s.json", 2, &["cannot write missing/s.json", "`mkdir -p missing`"]),
    ("--torus 4x4 verify", 2, &["`verify` comes before its options: did you mean `synth verify`?"]),
    ("synthesize --torus 4x4", 2, &["did you mean `synth plan --torus 4x4`?"]),
    ("judge s.json", 2, &["did you mean `synth verify s.json`?"]),
    ("fallbacks build fb --torus 4x4 --cables 1", 2, &["did you mean -o fb?"]),
    (
        "fallbacks build --torus 4x4 --cables 1 --job j.json -o f",
        2,
        &["schedules of one collective", "survey takes --job"],
    ),
    ("topology --torus 4x4 m.json", 2, &["did you mean -o m.json?"]),
];

#[test]
fn every_mistake_is_answered_with_what_to_type() {
    let bench = Bench::new();
    bench.write("s.json", HOLDS);
    bench.write("ring.xml", "<algo name=\"ring\" coll=\"allgather\"></algo>\n");
    bench.write("trees.xml", "<Algo nchunkspernode=\"1\"></Algo>\n");
    bench.write("machine.json", "{\"torus\": [4, 4]}\n");
    bench.write("demand.json", "[[0, 1], [1, 0]]\n");
    bench.write("empty.json", "");
    std::fs::create_dir(bench.folder.path().join("folder")).expect("a folder");
    let mut wrong = Vec::new();
    for (words, code, parts) in MISTAKES {
        let output = bench.run(words);
        let said = text(&output.stdout) + &text(&output.stderr);
        // Terminals wrap; the words count.
        let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let missing: Vec<&&str> = parts.iter().filter(|part| !line.contains(**part)).collect();
        if output.status.code() != Some(code) || !missing.is_empty() {
            wrong.push(format!("$ synth {words}\n{said}exit code {:?}, without {missing:?}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
