//! One target for every reader, each followed by all that is done with what was read, and six that hold the judge
//! against the naive one, on files that the bytes choose.

use std::cell::Cell;
use std::sync::LazyLock;

use crate::compare::{
    Disagreement, Seen, compare_certificate, compare_compact, compare_job, compare_placed, compare_program,
    compare_schedule,
};
use crate::dice::Dice;
use collsynth_core::collective::{ChunkId, Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::program::Program;
use collsynth_core::schedule::{Op, Solution, Stated, Step, Transfer};
use collsynth_core::topology::{Direction, RankId, Topology};
use collsynth_formats::demand::parse_demand;
use collsynth_formats::{csv, forestcoll, msccl, sccl, teccl};
use collsynth_runtime::tcp::RankTable;
use collsynth_verify::audit::{AuditOptions, audit};
use collsynth_verify::json;
use collsynth_verify::judge::{FileOptions, Form};
use collsynth_verify::limits::Limits;
use collsynth_verify::shrink::{shrink_program, shrink_solution};
use collsynth_verify::verdict::Verdict;
use collsynth_verify::verify::{Code, Options, Report, verify};

/// Survives any input.
pub type Target = fn(&[u8]);

/// The targets by name; the inputs of each are in `corpus/NAME/`.
pub const TARGETS: [(&str, Target); 16] = [
    ("schedule", schedule),
    ("program", program),
    ("topology", topology),
    ("msccl", msccl),
    ("sccl", sccl),
    ("teccl", teccl),
    ("forestcoll", forestcoll),
    ("moves", table_of_moves),
    ("demand", demand),
    ("table", table),
    ("two_judges_of_schedules", |input| agree(compare_schedule, input)),
    ("two_judges_of_programs", |input| agree(compare_program, input)),
    ("two_judges_of_certificates", |input| agree(compare_certificate, input)),
    ("two_judges_of_jobs", |input| agree(compare_job, input)),
    ("two_judges_of_compact_forms", |input| agree(compare_compact, input)),
    ("two_judges_of_programs_on_machines", |input| agree(compare_placed, input)),
];

/// Violations listed; few, as an input may have any number.
const LISTED: usize = 8;

/// Questions whether to stop that shrinking is answered with no.
const PATIENCE: u32 = 200;

fn schedule(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    judge(text);
    let Ok(stated) = json::parse_stated_within(text, &Limits::default()) else { return };
    // None if it is compact and too large to be expanded.
    let solution = json::parse_solution(text).ok();
    if let Some(solution) = &solution {
        let again = json::parse_solution(&json::solution_to_string(solution)).expect("what was written can be read");
        // What names no link has no place in the order of links.
        if execute(solution, text) {
            assert_eq!((&again.problem, &again.bounds), (&solution.problem, &solution.bounds));
            assert_eq!(moves(&again), moves(solution), "what holds is read as it was written");
            let runs = [&again, solution].map(|solution| verify(solution, &options(text)));
            assert_eq!(totals(&runs[0]), totals(&runs[1]), "one verdict on what was written and read");
            assert_eq!(runs[0].observed, runs[1].observed, "one run of what was written and read");
        }
    }
    if !stated.schedule.is_explicit() {
        let as_it_is = totals(&verify(&stated, &options(text)));
        let written = json::solution_to_string(&stated);
        let again = json::parse_stated_within(&written, &Limits::default()).expect("what was written can be read");
        assert!(!again.schedule.is_explicit(), "what was written in the compact form is read so");
        assert_eq!(totals(&verify(&again, &options(text))), as_it_is);
        let expanded = solution.map(|solution| totals(&verify(&solution, &options(text))));
        if let (Some(Some(expanded)), Some(as_it_is)) = (expanded, as_it_is) {
            assert_eq!(as_it_is, expanded, "both forms of a schedule get one verdict");
        }
    }
}

/// Who sends which chunk over what link.
type Move = (RankId, RankId, Option<Direction>, Op, ChunkId);

/// Of each step, its width and its moves, sorted.
fn moves(solution: &Solution) -> Vec<(u32, Vec<Move>)> {
    let schedule = &solution.schedule;
    let of_step = |step: Step<'_>| {
        let of_transfer = |transfer: &Transfer| {
            let (from, to, via, op) = (transfer.from, transfer.to, transfer.via, transfer.op);
            schedule.chunks(transfer).iter().map(move |&chunk| (from, to, via, op, chunk)).collect::<Vec<_>>()
        };
        let mut moves: Vec<_> = step.transfers.iter().flat_map(of_transfer).collect();
        moves.sort_unstable();
        (step.width, moves)
    };
    schedule.steps().map(of_step).collect()
}

/// The findings of each code, but for `W003`, which is looked for in no translation of a pattern; none if there was
/// not the memory to judge.
fn totals(report: &Report) -> Option<Vec<(Code, u64)>> {
    (report.verdict() != Verdict::NotJudged).then(|| report.totals().filter(|(code, _)| *code != Code::W003).collect())
}

fn program(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    judge(text);
    if let Ok(program) = json::parse_program(text) {
        let written = json::program_to_string(&program);
        assert_eq!(json::parse_program(&written).expect("what was written can be read"), program);
        run(&program, text);
    }
}

fn topology(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let Ok(topology) = json::parse_topology(text).map(Topology::new) else { return };
    if let Ok(topology) = topology {
        let written = json::topology_to_string(topology.spec());
        let again = json::parse_topology(&written).expect("what was written can be read");
        assert_eq!(Topology::new(again).expect("a topology").spec(), topology.spec());
    }
}

fn msccl(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    for custom in [None, Some("alltoall")] {
        let unsaid = msccl::Unsaid { custom, ..msccl::Unsaid::default() };
        if let Ok(algorithm) = msccl::parse(text, &unsaid) {
            algorithm.programs.iter().for_each(|(_, program)| run(program, text));
        }
    }
}

fn sccl(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    if let Ok(solution) = sccl::parse(text) {
        execute(&solution, text);
    }
}

fn teccl(input: &[u8]) {
    static PROBLEMS: LazyLock<[Problem; 2]> = LazyLock::new(|| {
        [Kind::AllGather, Kind::AllToAll].map(|kind| Problem::new(ring(), Collective::new(kind)).expect("a problem"))
    });
    let Ok(text) = str::from_utf8(input) else { return };
    for problem in PROBLEMS.iter() {
        if let Ok(solution) = teccl::parse(text, problem.clone()) {
            execute(&solution, text);
        }
    }
}

fn forestcoll(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    if let Ok(solution) = forestcoll::parse(text, ring()) {
        execute(&solution, text);
    }
}

fn table_of_moves(input: &[u8]) {
    static PROBLEMS: LazyLock<[Problem; 3]> = LazyLock::new(|| {
        let kinds = [(Kind::AllGather, 1), (Kind::AllToAll, 2), (Kind::AllReduce, 3)];
        kinds.map(|(kind, parts)| Problem::new(ring(), Collective { kind, parts }).expect("a problem"))
    });
    let Ok(text) = str::from_utf8(input) else { return };
    for problem in PROBLEMS.iter() {
        if let Ok(solution) = csv::parse(text, problem.clone()) {
            execute(&solution, text);
        }
    }
}

fn demand(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let _refused = parse_demand(text, 4);
}

fn table(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let _refused = RankTable::parse(text, 4);
}

/// Both judges say the same of the file that these bytes choose.
fn agree(compare: fn(&mut Dice) -> Result<Seen, Box<Disagreement>>, input: &[u8]) {
    if let Err(disagreement) = compare(&mut Dice::from_bytes(input)) {
        panic!("{disagreement}");
    }
}

/// The verdict in both forms is the same one.
fn judge(text: &str) {
    let options = FileOptions { max_errors: LISTED, ..FileOptions::default() };
    let verdicts = [Form::Text, Form::Json].map(|form| {
        let verdict = FileOptions { form, ..options }.judge_text("input", text);
        let raw = verdict.text.chars().find(|letter| letter.is_control() && *letter != '\n');
        assert_eq!(raw, None, "a control character reaches the terminal");
        verdict.verdict
    });
    assert_eq!(verdicts[0], verdicts[1], "both forms give one verdict");
}

/// Does it hold?
fn execute(solution: &Solution, text: &str) -> bool {
    let report = verify(solution, &options(text));
    if report.verdict() == Verdict::NotJudged {
        return false;
    }
    let shrunk = shrink_solution(solution, &impatient());
    assert!(report.verdict() != Verdict::Holds || shrunk.is_err(), "what holds has no wrong part");
    report.verdict() == Verdict::Holds
}

fn options(text: &str) -> Options {
    Options { max_errors: LISTED, memory: Limits::default().room(text) }
}

fn run(program: &Program, text: &str) {
    let memory = Limits::default().room(text);
    let options = AuditOptions { max_errors: LISTED, machine: None, contention_free: true, memory };
    let strict = audit(program, &options);
    let report = audit(program, &AuditOptions { contention_free: false, ..options });
    if [&strict, &report].iter().any(|report| report.verdict() == Verdict::NotJudged) {
        return;
    }
    assert!(
        report.verdict() == Verdict::Holds || strict.verdict() != Verdict::Holds,
        "a stricter audit does not accept more"
    );
    let shrunk = shrink_program(program, &options, &impatient());
    assert!(strict.verdict() != Verdict::Holds || shrunk.is_err(), "what holds has no wrong part");
}

fn impatient() -> impl Fn() -> bool {
    let asked = Cell::new(0);
    move || {
        asked.set(asked.get() + 1);
        asked.get() > PATIENCE
    }
}

fn ring() -> Topology {
    Topology::torus(&[4]).expect("a ring")
}
