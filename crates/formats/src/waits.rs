//! Which operations others wait for.

use std::collections::HashSet;

use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::RankId;

/// The operations of a rank that a wait names, each as worker and number.
pub fn awaited(program: &Program, rank: RankId) -> HashSet<(u32, u32)> {
    let operations = program.workers(rank).flat_map(|worker| &program.operations()[program.range(worker)]);
    let target = |operation: &Operation| match *operation {
        Operation::Wait { worker, operation } => Some((worker, operation)),
        _ => None,
    };
    operations.filter_map(target).collect()
}
