//! Refuses what is too large, before it fills the memory.

use collsynth::collective::{Groups, Kind, Pattern};
use collsynth::topology::Topology;

use crate::cli::ending::Failure;

/// The most ranks of a machine: all distances take 2 bytes for each pair, so 512 MB.
const MOST_RANKS: usize = 1 << 14;
/// The most chunks to deliver in a plan: each takes about 100 bytes of route on a large torus, so some 3 GB.
const MOST_CHUNKS: u64 = 1 << 25;

/// Refuses machines with too many ranks.
pub fn check_ranks(topology: &Topology) -> Result<(), Failure> {
    match topology.rank_count() {
        0..=MOST_RANKS => Ok(()),
        ranks => Err(Failure::usage(format!("the machine has {ranks} ranks; at most {MOST_RANKS} can be handled"))),
    }
}

/// Refuses plans with too many chunks.
pub fn check_chunks(topology: &Topology, kind: &Kind, parts: u32) -> Result<(), Failure> {
    let ranks = topology.rank_count() as u64;
    let sizes = |groups: &Groups| groups.members().iter().map(|members| members.len() as u64).collect();
    let groups: Vec<u64> = kind.groups().map_or(vec![ranks], sizes);
    let chunks: u64 = groups.iter().map(|&ranks| chunks_among(ranks, kind, parts)).sum();
    if chunks <= MOST_CHUNKS {
        return Ok(());
    }
    let name = kind.name();
    let message =
        format!("{name} among {ranks} ranks has {chunks} chunks to deliver; a plan has at most {MOST_CHUNKS}");
    Err(Failure::usage(message).hint(match kind.demand() {
        Some(_) => "state the demand in larger chunks, or plan a smaller machine",
        None if !kind.has_volume() => "plan a smaller machine",
        None if parts == 1 => "plan a smaller machine",
        None => "choose fewer --parts, or plan a smaller machine",
    }))
}

/// The chunks to deliver among this number of ranks.
fn chunks_among(ranks: u64, kind: &Kind, parts: u32) -> u64 {
    match kind.demand() {
        Some(demand) => demand.counts().map(u64::from).sum(),
        None if !kind.has_volume() => ranks * ranks,
        None if kind.stated_root().is_some() => ranks * u64::from(parts),
        // Up and down again.
        None if kind.pattern() == Pattern::EveryToEvery => 2 * ranks * u64::from(parts),
        None => (ranks * ranks).saturating_mul(u64::from(parts)),
    }
}
