//! The readers of other tools' formats, of tables and of lists.

use std::sync::LazyLock;

use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::topology::Topology;
use collsynth_formats::demand::parse_demand;
use collsynth_formats::{csv, forestcoll, msccl, sccl, teccl};
use collsynth_runtime::tcp::RankTable;

use super::judging::{execute, run};

pub fn msccl(text: &str) {
    for custom in [None, Some("alltoall")] {
        let unsaid = msccl::Unsaid { custom, ..msccl::Unsaid::default() };
        if let Ok(algorithm) = msccl::parse(text, &unsaid) {
            algorithm.programs.iter().for_each(|(_, program)| run(program, text));
        }
    }
}

pub fn sccl(text: &str) {
    if let Ok(solution) = sccl::parse(text) {
        execute(&solution, text);
    }
}

pub fn teccl(text: &str) {
    static PROBLEMS: LazyLock<[Problem; 2]> = LazyLock::new(|| {
        [Kind::AllGather, Kind::AllToAll].map(|kind| Problem::new(ring(), Collective::new(kind)).expect("a problem"))
    });
    for problem in PROBLEMS.iter() {
        if let Ok(solution) = teccl::parse(text, problem.clone()) {
            execute(&solution, text);
        }
    }
}

pub fn forestcoll(text: &str) {
    if let Ok(solution) = forestcoll::parse(text, ring()) {
        execute(&solution, text);
    }
}

pub fn moves(text: &str) {
    static PROBLEMS: LazyLock<[Problem; 3]> = LazyLock::new(|| {
        let kinds = [(Kind::AllGather, 1), (Kind::AllToAll, 2), (Kind::AllReduce, 3)];
        kinds.map(|(kind, parts)| Problem::new(ring(), Collective { kind, parts }).expect("a problem"))
    });
    for problem in PROBLEMS.iter() {
        if let Ok(solution) = csv::parse(text, problem.clone()) {
            execute(&solution, text);
        }
    }
}

pub fn demand(text: &str) {
    let _refused = parse_demand(text, 4);
}

pub fn table(text: &str) {
    let _refused = RankTable::parse(text, 4);
}

fn ring() -> Topology {
    Topology::torus(&[4]).expect("a ring")
}
