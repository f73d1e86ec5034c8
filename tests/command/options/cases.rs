//! What options are tried with: values, what they need beside them, command lines, and why an effect may not show.

/// Options whose effect never shows in what is compared.
pub const SILENT: &[(&str, &str, &str)] = &[
    ("*", "threads", "their number changes no byte, and a process can state it once: it is not even run"),
    ("*", "time-limit", "nothing here takes long"),
    ("*", "seed", "random choices may be the same"),
    ("pareto", "quiet", "progress is drawn on terminals only"),
    ("compare", "quiet", "likewise"),
    ("survey", "quiet", "likewise"),
    ("*", "smt-backend", "cadical is the default, and z3 is refused in builds without it"),
    ("plan", "minimize", "both may lead to the same schedule"),
    ("run", "timeout", "no rank keeps another waiting"),
    ("run", "rank", "a rank whose peers are missing fails; `ranks` runs them all"),
    ("run", "rank-table", "likewise"),
    ("run", "secret-file", "likewise"),
    ("verify", "contention-free", "all that is judged here is free of contention, or claims to be"),
];

/// Command lines in which the effect of an option cannot show: those that contain this. Elsewhere it must.
pub const HIDDEN: &[(&str, &str, &str, &str)] = &[
    ("*", "capacity", "barrier", "a barrier has no volume"),
    ("*", "wrap", "2x2", "dimensions of 2 are not closed anyway"),
    ("*", "format", "--format text", "the default"),
    ("*", "barriers", "--barriers none", "the default"),
    ("*", "barriers", "holds.json", "one step needs no barrier"),
    ("convert", "in-place", "all_reduce.json", "of a sum, both forms are copied alike"),
    ("pareto", "names", "", "the answer names no rank; options take names"),
    ("compare", "names", "", "likewise"),
    ("bound", "names", "--frontier", "likewise"),
    ("compare", "root", "", "a torus looks alike from every rank"),
    ("*", "wrap", "--slice", "dimensions that are cut do not close"),
    ("*", "format", "--output", "the ending says the same"),
    ("plan", "width", "", "a limit that is met anyway"),
    ("pareto", "parts", "", "the schedules that are not beaten may be the same"),
    ("compare", "parts", "", "likewise"),
    ("fallbacks build", "parts", "--slice", "two ranks"),
    ("pareto", "relays", "", "no relay may be of use"),
    ("compare", "relays", "", "likewise"),
    ("compare", "baseline", "", "it may be the default"),
    ("compare", "alpha", "speedup", "of as many steps, it cancels"),
    ("plan", "message-bytes", "--quiet", "the schedule may be the same"),
    ("plan", "message-bytes", "--format json", "likewise, and the summary has times, which are not compared"),
    ("plan", "alpha", "--quiet", "the schedule may be the same"),
    ("plan", "alpha", "--format json", "likewise, and the summary has times, which are not compared"),
    ("plan", "bandwidth", "--quiet", "the schedule may be the same"),
    ("plan", "bandwidth", "--format json", "likewise, and the summary has times, which are not compared"),
    ("pareto", "alpha", "--message-bytes 1MiB", "of long messages, bytes take the time"),
    ("compare", "bandwidth", "speedup", "of long messages, it cancels"),
    ("plan", "form", "--form explicit", "the default of small machines"),
    ("verify", "bounds", "", "for schedules that state none"),
    ("verify", "max-errors", "", "there are few"),
    ("show", "all", "", "lists may be short"),
    ("show", "step", "--step 1", "the schedule may have one"),
    ("convert", "topology", "", "a check that is passed says nothing"),
    ("convert", "torus", "--from msccl", "likewise"),
    ("convert", "twist", "--from msccl", "likewise"),
    ("convert", "form", "--form in-place", "the default"),
    ("convert", "form", "broadcast.xml", "the form that the file has"),
    ("convert", "form", "msccl-custom.xml", "the form that the file has"),
    ("convert", "to", "--to json", "the default"),
    ("convert", "to", "--to explicit", "the form that most files have"),
    ("convert", "to", "compact.json --to compact", "the form that the file has"),
    ("convert", "to", "compact.json --output {out}/x --to compact", "the form that the file has"),
];

/// Values, for options that do not list theirs: of a command, or of all. `{in}` and `{out}` are folders.
pub const EXAMPLES: &[(&str, &str, &[&str])] = &[
    ("*", "torus", &["3x2"]),
    ("*", "topology", &["{in}/machine.json"]),
    ("verify", "topology", &["{in}/ring8.json"]),
    ("view", "topology", &["{in}/ring8.json"]),
    ("convert", "topology", &["{in}/line3.json"]),
    ("fallbacks get", "topology", &["{in}/tonight.json"]),
    ("*", "names", &["{in}/names.txt"]),
    ("*", "fail", &["0,1"]),
    ("*", "fail-link", &["0,1"]),
    ("*", "fail-rank", &["3"]),
    ("*", "fail-box", &["0.0..0.0"]),
    ("*", "fail-switch", &["x:1"]),
    ("*", "period", &["1x2"]),
    ("fallbacks get", "period", &["3x2"]),
    ("*", "wrap", &["no"]),
    ("*", "slice", &["2x1"]),
    ("*", "capacity", &["2"]),
    ("*", "sweep", &["dims=3 faults=0"]),
    // The averages take minutes.
    ("compare", "paper", &["volumes"]),
    ("*", "root", &["1"]),
    ("*", "demand", &["{in}/demand.csv"]),
    ("*", "groups", &["x"]),
    ("*", "group", &["0-1"]),
    ("*", "blocks", &["2x2"]),
    ("*", "relays", &["no"]),
    ("*", "job", &["{in}/jobs.json"]),
    ("*", "planner", &["ring_pipeline", "negotiated"]),
    ("*", "planners", &["negotiated"]),
    ("*", "baseline", &["negotiated"]),
    ("*", "parts", &["3", "auto"]),
    ("compare", "parts", &["3"]),
    ("bound", "parts", &["3"]),
    ("fallbacks build", "parts", &["3"]),
    ("convert", "parts", &["2"]),
    ("convert", "schedule", &["1"]),
    ("*", "steps", &["9"]),
    ("*", "max-steps", &["1"]),
    ("*", "message-bytes", &["1KiB"]),
    ("compare", "message-bytes", &["1KiB,3KiB"]),
    ("*", "alpha", &["3us"]),
    ("*", "transfer-setup", &["3us"]),
    ("*", "bandwidth", &["3GB/s"]),
    ("*", "width", &["1"]),
    ("*", "smt-backend", &["cadical"]),
    ("*", "minimize", &["steps"]),
    ("*", "proof", &["{out}/proof.drat"]),
    ("*", "output", &["{out}/o.json"]),
    ("compare", "output", &["{out}/o.csv", "{out}/o.svg", "{out}/o.txt"]),
    ("pareto", "output", &["{out}/o.csv", "{out}/o.svg", "{out}/o.txt"]),
    ("convert", "output", &["{out}/o.csv", "{out}/o.xml", "{out}/o.json"]),
    ("view", "output", &["{out}/o.html"]),
    ("verify", "output", &["{out}/o.json", "{out}/o.sarif", "{out}/o.txt"]),
    ("run", "output", &["{out}/o.json", "{out}/o.txt"]),
    ("planners", "output", &["{out}/o.json", "{out}/o.txt"]),
    ("explain", "output", &["{out}/o.txt"]),
    ("util completions", "output", &["{out}/o.bash"]),
    ("survey", "output", &["{out}/folder"]),
    ("survey merge", "output", &["{out}/folder"]),
    ("fallbacks build", "output", &["{out}/folder"]),
    ("*", "time-limit", &["60s"]),
    ("*", "seed", &["5"]),
    ("*", "max-errors", &["0"]),
    ("*", "rank-map", &["0,1,3,2"]),
    ("*", "step", &["1"]),
    ("*", "rank", &["3"]),
    ("*", "link", &["0,1"]),
    ("*", "chunk", &["0-1", "2"]),
    ("*", "collective", &["all_gather", "barrier", "all_reduce_gathered"]),
    ("convert", "collective", &["all_gather", "all_to_all"]),
    ("survey", "collective", &["all_gather"]),
    ("fallbacks build", "collective", &["all_gather"]),
    ("*", "cables", &["1"]),
    ("*", "switches", &["1"]),
    ("*", "links", &["1"]),
    ("*", "ranks", &["1"]),
    ("*", "unit", &["{in}/units.json"]),
    ("*", "units", &["2"]),
    ("*", "sample", &["3"]),
    ("*", "shard", &["1/2"]),
    ("*", "bytes", &["3KiB"]),
    ("*", "min-bytes", &["1KiB"]),
    ("*", "max-bytes", &["9KiB"]),
    ("*", "factor", &["4"]),
    ("*", "dtype", &["i32"]),
    ("*", "op", &["max"]),
    ("*", "transport", &["group", "tcp"]),
    ("*", "repeat", &["2"]),
    ("*", "timeout", &["100ms"]),
    ("*", "rank-table", &["{in}/ranks.txt"]),
    ("*", "secret-file", &["{in}/secret"]),
    ("*", "slots", &["9"]),
    ("*", "renumber", &["{out}/map.csv"]),
    ("*", "chunk-bytes", &["3KiB"]),
];

/// What an option is tried beside, as well as alone.
pub const BESIDE: &[(&str, &str, &str)] = &[
    ("compare", "root", "--collective broadcast --planners trees"),
    ("*", "root", "--collective scatter"),
    ("*", "demand", "--torus 2x4 --collective all_to_allv"),
    ("*", "relays", "--groups x"),
    ("*", "names", "--torus 2x4 --fail a,b"),
    ("*", "fail-switch", "--period 1x2"),
    ("fallbacks get", "fail-switch", "--period 3x2"),
    ("*", "period", "--fail-switch x:1"),
    ("*", "switches", "--period 1x2"),
    ("*", "twist", "--torus 2x4"),
    ("*", "blocks", "--torus 2x4"),
    ("*", "alpha", "--message-bytes 1KiB"),
    ("*", "bandwidth", "--message-bytes 1MiB"),
    ("plan", "width", "--torus 3 --planner smt"),
    ("plan", "minimize", "--torus 3 --planner smt"),
    ("plan", "smt-backend", "--torus 3 --planner smt"),
    ("plan", "proof", "--torus 3 --planner smt --steps 1 --width 1"),
    ("pareto", "smt-backend", "--torus 3 --planner smt"),
    ("*", "units", "--unit {in}/units.json"),
    ("*", "sound-baseline", "--baseline negotiated --fail 0,1"),
    ("*", "plot", "--format svg"),
    ("bound", "time-limit", "--lp"),
    ("verify", "rank-map", "--topology {in}/ring8.json"),
    ("verify", "output", "--shrink"),
    ("verify", "time-limit", "--shrink"),
    ("show", "bound", "--format svg"),
    ("show", "format", "--links"),
    ("run", "min-bytes", "--max-bytes 4KiB"),
    ("run", "max-bytes", "--min-bytes 1KiB"),
    ("run", "factor", "--min-bytes 1KiB --max-bytes 64KiB"),
    ("run", "rank", "--transport tcp --rank-table {in}/ranks.txt --timeout 10ms"),
    ("run", "rank-table", "--transport tcp --rank 0 --timeout 10ms"),
    ("run", "secret-file", "--transport tcp --rank 0 --rank-table {in}/ranks.txt --timeout 10ms"),
    ("fallbacks get", "barriers", "--lower"),
    ("fallbacks get", "in-place", "--lower"),
    ("fallbacks get", "slots", "--lower"),
    ("fallbacks get", "renumber", "--lower"),
];

/// What an option takes the place of.
pub const INSTEAD: &[(&str, &str, &[&str])] = &[
    ("*", "torus", &["topology", "sweep"]),
    ("*", "topology", &["torus", "sweep"]),
    ("compare", "sweep", &["torus"]),
    ("compare", "paper", &["torus", "collective", "planners", "parts"]),
    ("*", "demand", &["parts"]),
    ("survey", "job", &["collective"]),
    ("run", "min-bytes", &["bytes"]),
    ("run", "max-bytes", &["bytes"]),
    ("run", "factor", &["bytes"]),
];

/// What is in the files that commands read. A command with FILE alone is tried on each.
pub const FILES: [&str; 11] = [
    "all_reduce",
    "all_to_all",
    "compact",
    "broadcast",
    "barrier",
    "groups",
    "failed",
    "job",
    "program",
    "holds",
    "refuted",
];

/// Where the options of a command are tried: what is typed without them.
pub fn scenes(command: &str) -> Vec<String> {
    let each = |words: &str, all: &[&str]| all.iter().map(|one| words.replace('@', one)).collect();
    let kinds = [
        "all_to_all",
        "all_reduce --parts 1",
        "barrier",
        "broadcast --parts 1",
        "all_to_allv --demand {in}/demand.csv",
    ];
    match command {
        "plan" => {
            let mut all: Vec<String> = each("--torus 2x4 --collective @", &kinds);
            all.extend(each(
                "@",
                &["", "--torus 2x4", "--topology {in}/machine.json", "--torus 2x4 --job {in}/jobs.json --parts 1"],
            ));
            all
        }
        "pareto" => each(
            "--torus 3x2 @",
            &["--parts 1,2", "--collective barrier", "--collective all_gather --planner negotiated --parts 2"],
        ),
        "compare" => each(
            "@",
            &[
                "--torus 2x4 --planners ring_pipeline,negotiated --parts 1",
                "--torus 2x2 --collective barrier --planners flood,two_wave",
                "{in}/all_to_all.json --planners ring,negotiated --parts 1",
                "--sweep dims=2x2 faults=0,1 --planners ring_pipeline,negotiated --parts 1",
            ],
        ),
        "bound" => {
            let mut all: Vec<String> = each("--torus 2x4 --collective @", &kinds);
            all.extend(each("{in}/@.json", &["all_to_all", "failed", "job", "program"]));
            all
        }
        "topology" => each("@", &["--torus 2x4", "--topology {in}/machine.json"]),
        "survey" => each(
            "--torus 3x2 @ --cables 1 -o {out}/survey",
            &["--collective all_to_all", "--collective all_gather", "--job {in}/jobs.json --parts 1"],
        ),
        "survey merge" => each("{in}/survey -o {out}/merged", &[""]),
        "fallbacks build" => each("--torus 3x2 --collective @ --cables 1 -o {out}/set", &["all_to_all", "barrier"]),
        "fallbacks get" => each("{in}/set @", &["", "--fail 0,1", "--fail 0,1 --lower"]),
        "convert" => {
            let files: Vec<String> = each("{in}/@.json", &FILES);
            let formats = ["compact", "msccl", "rccl", "csv", "trace", "goal", "chakra"];
            let ours = files.iter().flat_map(|file| formats.map(|to| format!("{file} --to {to} -o {{out}}/x")));
            let others = [
                "{foreign}/msccl-all-gather-ring.xml --from msccl",
                "{in}/broadcast.xml --from msccl",
                "{foreign}/msccl-custom.xml --from msccl --collective all_to_all",
                "{foreign}/rccl-both-forms.xml --from msccl",
                "{foreign}/sccl-all-gather-line.json --from sccl",
                "{foreign}/teccl-all-gather-ring.json --from teccl --topology {in}/ring3.json --collective all_gather",
                "{foreign}/forestcoll-ring.xml --from forestcoll --topology {in}/ring3.json",
                "{in}/moves.csv --from csv --torus 2x4 --collective all_gather",
                "{in}/pairs.csv --from csv --torus 2x4 --collective all_to_allv --demand {in}/demand.csv",
                "{in}/job.json --schedule 0",
                "{in}/compact.json --to explicit",
            ];
            ours.chain(others.map(str::to_owned)).collect()
        }
        "run" => {
            let size = |file: &str| if file == "barrier" { "" } else { "--bytes 1KiB" };
            FILES.map(|file| format!("{{in}}/{file}.json {} --repeat 1 --format json", size(file))).to_vec()
        }
        "polish" => each("{in}/@.json", &["all_to_all", "broadcast", "job", "program", "refuted"]),
        "verify" | "show" | "view" | "lower" => each("{in}/@.json", &FILES),
        "explain" => each("@", &["", "D001"]),
        "util schema" => each("@", &["", "topology"]),
        "util completions" => each("@", &["bash"]),
        "planners" => each("@", &[""]),
        "util" | "util manual" | "fallbacks" => Vec::new(),
        _ => panic!("say in `scenes` what `synth {command}` is tried on"),
    }
}
