//! Collectives as SCCL, MSCCL and RCCL name them.

use collsynth_core::collective::{Demand, Kind};
use collsynth_core::topology::RankId;

/// The names here, in MSCCL (and SCCL) and in RCCL; empty where there is none.
const NAMES: [[&str; 3]; 8] = [
    ["all_gather", "allgather", "allgather"],
    ["reduce_scatter", "reduce_scatter", "reducescatter"],
    ["all_to_all", "alltoall", "alltoall"],
    ["all_reduce", "allreduce", "allreduce"],
    ["broadcast", "broadcast", "broadcast"],
    ["reduce", "reduce", "reduce"],
    ["gather", "", "gather"],
    ["scatter", "", "scatter"],
];

/// The kind that any of these tools gives this name.
pub(super) fn kind(theirs: &str, root: RankId) -> Option<Kind> {
    let [ours, ..] = NAMES.iter().find(|names| names[1..].contains(&theirs) && !theirs.is_empty())?;
    Kind::named(ours, root, Demand::default())
}

/// The names of a kind in MSCCL and in RCCL.
pub(super) fn theirs(kind: &Kind) -> [&'static str; 2] {
    NAMES.iter().find(|names| names[0] == kind.name()).map_or([""; 2], |&[_, msccl, rccl]| [msccl, rccl])
}
