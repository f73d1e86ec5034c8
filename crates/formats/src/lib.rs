//! Demand matrices ([`demand`]) and the formats of other tools: read and written ([`msccl`]), read ([`sccl`],
//! [`teccl`], [`forestcoll`]), written ([`chakra`], [`mod@csv`], [`goal`], [`trace`]).
//!
//! `docs/formats/other-tools.md` lists what is supported of each. The project's own formats are in
//! [`collsynth_verify::json`].

pub mod chakra;
pub mod csv;
pub mod demand;
pub mod forestcoll;
pub mod goal;
pub mod msccl;
mod names;
pub mod sccl;
pub mod teccl;
pub mod trace;
mod xml;

use std::collections::HashSet;

use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::RankId;

/// The operations of a rank that a wait names, each as worker and number.
fn awaited(program: &Program, rank: RankId) -> HashSet<(u32, u32)> {
    let operations = program.workers(rank).flat_map(|worker| &program.operations()[program.range(worker)]);
    let target = |operation: &Operation| match *operation {
        Operation::Wait { worker, operation } => Some((worker, operation)),
        _ => None,
    };
    operations.filter_map(target).collect()
}
