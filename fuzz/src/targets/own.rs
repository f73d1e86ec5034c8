//! The readers of the project's own formats. What was read is written, and read again.

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{AnySolution, Op, Solution, Stated, Step, Transfer};
use collsynth_core::topology::{Direction, RankId, Topology};
use collsynth_verify::json;
use collsynth_verify::limits::Limits;
use collsynth_verify::verdict::Verdict;
use collsynth_verify::verify::{Code, Report, verify};

use super::judging::{execute, judge, options, run};

pub fn schedule(text: &str) {
    judge(text);
    let Ok(stated) = json::parse_stated_within(text, &Limits::default()) else { return };
    // None if it is compact and too large to be expanded.
    let solution = json::parse_solution(text).ok();
    if let Some(solution) = &solution {
        explicit(solution, text);
    }
    if !stated.schedule.is_explicit() {
        compact(&stated, solution.as_ref(), text);
    }
}

/// What is written of a schedule is read as it was.
fn explicit(solution: &Solution, text: &str) {
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

/// The compact form gets one verdict, written again, and expanded if that can be done.
fn compact(stated: &AnySolution, expanded: Option<&Solution>, text: &str) {
    let as_it_is = totals(&verify(stated, &options(text)));
    let written = json::solution_to_string(stated);
    let again = json::parse_stated_within(&written, &Limits::default()).expect("what was written can be read");
    assert!(!again.schedule.is_explicit(), "what was written in the compact form is read so");
    assert_eq!(totals(&verify(&again, &options(text))), as_it_is);
    let expanded = expanded.map(|solution| totals(&verify(solution, &options(text))));
    if let (Some(Some(expanded)), Some(as_it_is)) = (expanded, as_it_is) {
        assert_eq!(as_it_is, expanded, "both forms of a schedule get one verdict");
    }
}

pub fn program(text: &str) {
    judge(text);
    if let Ok(program) = json::parse_program(text) {
        let written = json::program_to_string(&program);
        assert_eq!(json::parse_program(&written).expect("what was written can be read"), program);
        run(&program, text);
    }
}

pub fn topology(text: &str) {
    let Ok(topology) = json::parse_topology(text).map(Topology::new) else { return };
    if let Ok(topology) = topology {
        let written = json::topology_to_string(topology.spec());
        let again = json::parse_topology(&written).expect("what was written can be read");
        assert_eq!(Topology::new(again).expect("a topology").spec(), topology.spec());
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
