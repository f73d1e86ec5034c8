//! Where each option of each command applies: a row for each, and nowhere else.

use collsynth::collective::Kind;

use super::What::{Job, Program, Schedule};
use super::endings::{Form, JSON};
use super::when::When::{self, For, If, Of, OnlyWith, Where, With, WithAll, Without, WithoutFile, Written};

/// Options of these commands, and the conditions on each of them; without any, they always apply.
pub struct Row {
    pub commands: &'static [&'static str],
    pub options: &'static [&'static str],
    pub when: &'static [When],
}

const fn row(commands: &'static [&'static str], options: &'static [&'static str], when: &'static [When]) -> Row {
    Row { commands, options, when }
}

/// Commands that take a machine, failures, a collective, and classes of failures.
const MACHINE: &[&str] = &["plan", "pareto", "compare", "bound", "survey", "fallbacks build", "topology"];
const FAILING: &[&str] =
    &["plan", "pareto", "compare", "bound", "survey", "fallbacks build", "topology", "fallbacks get", "verify", "view"];
/// Those of them that take one set of failures.
const NIGHTS: &[&str] = &["plan", "pareto", "compare", "bound", "topology", "fallbacks get", "verify", "view"];
const COLLECTIVE: &[&str] = &["plan", "pareto", "compare", "bound"];
const CLASSES: &[&str] = &["survey", "fallbacks build"];

/// What a file of a torus states itself.
const OF_TORUS: When = With(&["torus"], "a machine file states it itself");

const ROOT: When = Of("has no root", |kind| kind.stated_root().is_some());
const DEMAND: When = Of("has no demand matrix", |kind| kind.demand().is_some());
const GROUPS: When =
    Of("takes no groups: state a demand of 0 between ranks of different groups", |kind| kind.demand().is_none());
const PARTS: When = Of("is not cut in parts", Kind::can_be_cut);
const BYTES: When = Of("has no bytes", Kind::has_volume);
const SUMS: When = Of("adds nothing", Kind::adds);

/// Only what is lowered: neither a table of steps, nor a program.
const LOWERED: When =
    If("to", &["msccl", "rccl", "goal", "chakra"], "csv and trace show the schedule itself, which is not lowered");
const LOWER: When = For(&[Schedule, Job], "a program is lowered already");

/// Files that do not name their machine.
const UNNAMED: When = If("from", &["msccl", "teccl", "forestcoll", "csv"], "");
const MOVES: When = If("from", &["csv"], "");

/// Of jobs that are run.
const HERE: &str = "the collectives of a job run at once, all ranks in one process";
/// What a job does not state.
const BESIDE_JOB: &[&str] = &[
    "torus",
    "topology",
    "names",
    "fail",
    "fail-link",
    "fail-rank",
    "fail-box",
    "fail-switch",
    "period",
    "wrap",
    "twist",
    "slice",
    "capacity",
    "parts",
    "steps",
    "max-steps",
    "time-limit",
    "seed",
    "threads",
    "output",
    "format",
    "quiet",
];
const BESIDE_PAPER: &[&str] = &["time-limit", "seed", "threads", "format", "output", "quiet"];

const CSV: &[Form] = &[("csv", &[])];
const TABLES: &[Form] = &[("json", &["json"])];
const PICTURES: &[Form] = &[("csv", &["csv"]), ("json", &["json"]), ("svg", &["svg", "map"])];
const VERDICTS: &[Form] = &[("json", &["json", "sarif"]), ("sarif", &["sarif"])];
const TEXT: &[Form] = &[("txt", &[])];
/// Scripts, by the endings that shells know.
const SCRIPTS: &[Form] = &[("bash", &[]), ("zsh", &[]), ("fish", &[]), ("elv", &[]), ("ps1", &[])];
/// Forms of answers, by --format.
const FIGURES: &[Form] = &[("csv", &["csv"]), ("json", &["json"]), ("svg", &["svg"])];
/// Forms and other tools' formats, by --to.
pub const CONVERTED: &[Form] = &[
    ("csv", &["csv"]),
    ("json", &["json", "compact", "explicit", "trace"]),
    ("xml", &["msccl", "rccl"]),
    ("goal", &["goal"]),
    ("et", &["chakra"]),
];

pub static ROWS: &[Row] = &[
    // Machines.
    row(MACHINE, &["torus"], &[WithoutFile, Without(&["topology"], "")]),
    row(MACHINE, &["topology", "names"], &[WithoutFile]),
    row(FAILING, &["fail", "fail-link", "fail-rank", "fail-box", "fail-switch"], &[]),
    row(NIGHTS, &["period"], &[WithAll(&["fail-switch"])]),
    row(CLASSES, &["period"], &[With(&["fail-switch", "switches"], "it is about switches")]),
    row(MACHINE, &["wrap"], &[WithoutFile, OF_TORUS, Without(&["twist"], "")]),
    row(MACHINE, &["twist"], &[WithoutFile, OF_TORUS, Without(&["slice"], "")]),
    row(MACHINE, &["slice", "capacity"], &[WithoutFile, OF_TORUS]),
    row(
        &["compare"],
        &["sweep"],
        &[
            WithoutFile,
            Without(
                &[
                    "torus",
                    "topology",
                    "names",
                    "fail",
                    "fail-link",
                    "fail-rank",
                    "fail-box",
                    "fail-switch",
                    "period",
                    "wrap",
                    "twist",
                    "slice",
                    "capacity",
                ],
                "a sweep draws its machines",
            ),
        ],
    ),
    row(
        &["compare"],
        &["paper"],
        &[WithoutFile, OnlyWith(BESIDE_PAPER, "its machines, collective and planners are the paper's")],
    ),
    // Collectives.
    row(COLLECTIVE, &["collective"], &[WithoutFile]),
    row(COLLECTIVE, &["root"], &[WithoutFile, ROOT]),
    row(COLLECTIVE, &["demand"], &[WithoutFile, DEMAND]),
    row(COLLECTIVE, &["groups"], &[WithoutFile, GROUPS, Without(&["group", "blocks"], "")]),
    row(COLLECTIVE, &["group"], &[WithoutFile, GROUPS, Without(&["blocks"], "")]),
    row(COLLECTIVE, &["blocks"], &[WithoutFile, GROUPS]),
    row(COLLECTIVE, &["relays"], &[WithoutFile, With(&["groups", "group", "blocks"], "it is about groups")]),
    row(CLASSES, &["collective"], &[]),
    row(&["survey"], &["job"], &[Without(&["collective"], "a job states its collectives")]),
    row(&["plan"], &["job"], &[OnlyWith(BESIDE_JOB, "a job states its collectives, and is planned as a whole")]),
    // What fails.
    row(CLASSES, &["cables", "links", "ranks", "switches"], &[]),
    row(&["survey"], &["unit", "sample", "shard"], &[]),
    row(&["survey"], &["units"], &[With(&["unit"], "")]),
    #[cfg(feature = "mpi")]
    row(&["survey"], &["mpi"], &[Without(&["shard"], "")]),
    // Plans.
    row(&["plan", "pareto"], &["planner"], &[]),
    row(
        &["plan"],
        &["parts"],
        &[PARTS, Where("parts", &["auto"], &Without(&["proof"], "a proof is about a number of parts"))],
    ),
    row(&["pareto", "compare", "survey", "fallbacks build"], &["parts"], &[PARTS]),
    row(&["bound"], &["parts"], &[WithoutFile, PARTS]),
    row(&["plan"], &["steps"], &[Without(&["max-steps", "minimize"], "")]),
    row(&["plan", "pareto"], &["max-steps"], &[]),
    row(&["plan", "pareto"], &["message-bytes"], &[BYTES]),
    row(&["plan", "pareto"], &["alpha", "bandwidth"], &[WithAll(&["message-bytes"]), BYTES]),
    row(&["plan", "pareto", "compare", "polish"], &["time-limit"], &[]),
    row(&["plan", "pareto", "compare", "survey", "fallbacks build"], &["seed", "threads"], &[]),
    row(&["plan"], &["width", "minimize"], &[If("planner", &["smt"], "")]),
    row(&["plan", "pareto"], &["smt-backend"], &[If("planner", &["smt"], "")]),
    row(
        &["plan"],
        &["proof"],
        &[If("planner", &["smt"], ""), WithAll(&["steps", "width"]), Written(None, &[("lrat", &[]), ("drat", &[])])],
    ),
    row(&["polish"], &["smt-backend"], &[]),
    row(&["plan"], &["form"], &[]),
    row(&["plan", "polish"], &["format"], &[Without(&["quiet"], "it is the form of the summary")]),
    row(&["plan", "pareto", "compare", "polish", "survey", "fallbacks build", "lower"], &["quiet"], &[]),
    row(&["plan", "polish", "fallbacks get", "lower"], &["output"], &[Written(None, JSON)]),
    // Comparisons and curves.
    row(&["compare"], &["planners"], &[]),
    row(
        &["compare"],
        &["baseline"],
        &[Where("format", &["svg"], &If("plot", &["speedup"], "a plot of times has no baseline"))],
    ),
    row(&["compare"], &["sound-baseline"], &[With(&["baseline"], "")]),
    row(&["compare"], &["message-bytes"], &[BYTES]),
    row(&["compare"], &["alpha", "transfer-setup", "bandwidth"], &[]),
    row(&["compare"], &["format"], &[Where("format", &["svg"], &Without(&["paper"], "it is a table"))]),
    row(&["compare"], &["plot"], &[If("format", &["svg"], "")]),
    row(
        &["pareto"],
        &["format"],
        &[Where("format", &["svg"], &Without(&["message-bytes"], "its axes are steps and volume"))],
    ),
    row(&["pareto", "compare"], &["output"], &[Written(Some("format"), FIGURES)]),
    // Bounds and machines.
    row(&["bound"], &["lp"], &[Without(&["frontier"], "")]),
    row(&["bound"], &["frontier"], &[]),
    row(&["bound"], &["time-limit"], &[With(&["lp", "frontier"], "")]),
    row(&["bound", "topology", "planners"], &["format"], &[]),
    row(&["bound", "topology", "planners", "run"], &["output"], &[Written(Some("format"), TABLES)]),
    // Verdicts.
    row(&["verify"], &["max-errors", "format"], &[Without(&["shrink"], "")]),
    row(&["verify"], &["bounds"], &[Without(&["shrink"], ""), For(&[Schedule], "")]),
    row(&["verify", "view", "fallbacks get"], &["topology"], &[]),
    row(&["verify"], &["rank-map"], &[With(&["topology"], ""), For(&[Program], "")]),
    row(&["verify"], &["contention-free", "shrink"], &[]),
    row(&["verify"], &["time-limit"], &[With(&["shrink"], "")]),
    row(
        &["verify"],
        &["output"],
        &[
            Where("shrink", &["true"], &Written(None, JSON)),
            Where("shrink", &["false"], &Written(Some("format"), VERDICTS)),
        ],
    ),
    // What is in a file.
    row(&["show"], &["links"], &[For(&[Schedule], ""), Without(&["chunk", "all", "bound"], "")]),
    row(&["show"], &["step"], &[For(&[Schedule], ""), Without(&["bound"], "")]),
    row(&["show"], &["rank", "link"], &[If("format", &["text", "json", "csv"], "pictures show the whole machine")]),
    row(
        &["show"],
        &["chunk"],
        &[For(&[Schedule], ""), If("format", &["text", "json", "svg"], ""), Without(&["bound"], "")],
    ),
    row(&["show"], &["all"], &[If("format", &["text"], "")]),
    row(&["show"], &["bound"], &[For(&[Schedule], ""), If("format", &["svg"], "")]),
    row(
        &["show"],
        &["format"],
        &[
            Where("format", &["json", "csv", "svg", "map"], &For(&[Schedule], "")),
            Where(
                "format",
                &["csv"],
                &With(&["links"], "`synth convert FILE --to csv` writes a table of all transfers"),
            ),
            Where("format", &["svg", "map"], &Without(&["links"], "")),
        ],
    ),
    row(&["show"], &["output"], &[Written(Some("format"), PICTURES)]),
    row(&["view"], &["output"], &[Written(None, &[("html", &[]), ("htm", &[])])]),
    row(&["explain"], &["output"], &[Written(None, TEXT)]),
    row(&["util schema"], &["output"], &[Written(None, JSON)]),
    row(&["util completions"], &["output"], &[Written(None, SCRIPTS)]),
    // Folders.
    row(&["survey", "survey merge", "fallbacks build"], &["output"], &[Written(None, &[])]),
    // Runs.
    row(
        &["run"],
        &["min-bytes"],
        &[
            WithAll(&["max-bytes"]),
            Without(&["bytes", "rank"], ""),
            BYTES,
            For(&[Schedule, Program], "a job runs one size, of --bytes"),
        ],
    ),
    row(
        &["run"],
        &["max-bytes", "factor"],
        &[WithAll(&["min-bytes"]), For(&[Schedule, Program], "a job runs one size, of --bytes")],
    ),
    row(&["run"], &["op"], &[SUMS]),
    row(
        &["run"],
        &["transport"],
        &[
            Where("transport", &["mpi"], &Without(&["min-bytes"], "an MPI job runs one size")),
            Where("transport", &["mpi"], &For(&[Schedule, Program], HERE)),
        ],
    ),
    row(&["run"], &["repeat", "seed", "format"], &[]),
    row(&["run"], &["bytes", "dtype"], &[BYTES]),
    row(
        &["run"],
        &["timeout"],
        &[If("transport", &["threads", "tcp", "mpi"], "in a group, no rank waits for another")],
    ),
    row(
        &["run"],
        &["rank"],
        &[WithAll(&["rank-table"]), If("transport", &["tcp"], ""), For(&[Schedule, Program], HERE)],
    ),
    row(&["run"], &["rank-table", "secret-file"], &[WithAll(&["rank"])]),
    // Programs.
    row(&["fallbacks get"], &["lower"], &[]),
    row(&["lower"], &["rank"], &[]),
    row(&["lower"], &["barriers", "in-place"], &[]),
    row(&["lower"], &["slots"], &[Without(&["rank"], "whether a program gets stuck shows only in all of it")]),
    row(&["lower"], &["renumber"], &[Without(&["rank"], "it numbers all ranks anew"), Written(None, CSV)]),
    row(&["fallbacks get"], &["barriers", "in-place", "slots"], &[With(&["lower"], "it is for rank programs")]),
    row(&["fallbacks get"], &["renumber"], &[With(&["lower"], "it is for rank programs"), Written(None, CSV)]),
    // Forms, and other tools' formats.
    row(&["convert"], &["to"], &[]),
    row(&["convert"], &["from"], &[If("to", &["json"], "what another tool made becomes a file of ours first")]),
    row(&["convert"], &["schedule"], &[Without(&["from"], ""), For(&[Job], "a schedule is taken out of a job")]),
    row(
        &["convert"],
        &["rank"],
        &[If(
            "to",
            &["csv", "goal", "chakra"],
            "the other formats take all ranks together; `synth lower FILE --rank RANK` writes the program of one",
        )],
    ),
    row(&["convert"], &["barriers", "in-place"], &[LOWERED, LOWER]),
    row(
        &["convert"],
        &["renumber"],
        &[LOWERED, LOWER, Without(&["rank"], "it numbers all ranks anew"), Written(None, CSV)],
    ),
    row(&["convert"], &["chunk-bytes"], &[If("to", &["goal", "chakra"], "the other formats count chunks")]),
    row(&["convert"], &["message-bytes"], &[If("to", &["trace"], ""), BYTES]),
    row(&["convert"], &["alpha", "bandwidth"], &[If("to", &["trace"], ""), WithAll(&["message-bytes"])]),
    row(&["convert"], &["output"], &[Written(Some("to"), CONVERTED)]),
    row(&["convert"], &["torus"], &[UNNAMED, Without(&["topology"], "")]),
    row(&["convert"], &["topology", "names", "fail", "fail-link", "fail-rank", "fail-box", "fail-switch"], &[UNNAMED]),
    row(&["convert"], &["period"], &[UNNAMED, WithAll(&["fail-switch"])]),
    row(&["convert"], &["wrap"], &[UNNAMED, OF_TORUS, Without(&["twist"], "")]),
    row(&["convert"], &["twist"], &[UNNAMED, OF_TORUS, Without(&["slice"], "")]),
    row(&["convert"], &["slice", "capacity"], &[UNNAMED, OF_TORUS]),
    row(&["convert"], &["collective"], &[If("from", &["msccl", "teccl", "csv"], "")]),
    row(&["convert"], &["root"], &[If("from", &["msccl", "csv"], ""), ROOT]),
    row(&["convert"], &["demand"], &[MOVES, DEMAND]),
    row(&["convert"], &["groups"], &[MOVES, GROUPS, Without(&["group", "blocks"], "")]),
    row(&["convert"], &["group"], &[MOVES, GROUPS, Without(&["blocks"], "")]),
    row(&["convert"], &["blocks"], &[MOVES, GROUPS]),
    row(&["convert"], &["relays"], &[MOVES, With(&["groups", "group", "blocks"], "it is about groups")]),
    row(&["convert"], &["parts"], &[If("from", &["teccl", "csv"], ""), PARTS]),
    row(&["convert"], &["slots", "form"], &[If("from", &["msccl"], "")]),
];
