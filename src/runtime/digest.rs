//! Short numbers that differ where data differs: FNV-1a with 64 bits (Fowler, Noll, Vo; RFC 9923). They tell mistakes
//! apart, not attacks.

use crate::collective::Kind;
use crate::schedule::{Op, Solution};

/// A digest in the making.
pub(super) struct Digest(u64);

impl Digest {
    pub(super) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes numbers in.
    pub(super) fn add(mut self, numbers: impl IntoIterator<Item = u64>) -> Self {
        for byte in numbers.into_iter().flat_map(u64::to_le_bytes) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }

    pub(super) fn finish(self) -> u64 {
        self.0
    }

    /// Both halves in one.
    pub(super) fn finish_short(self) -> u32 {
        (self.0 >> 32) as u32 ^ self.0 as u32
    }
}

/// The digest of all that decides what is sent when: two ranks with the same one play the same schedule.
pub(super) fn of_solution(solution: &Solution) -> u64 {
    let (topology, collective) = (solution.problem.topology(), solution.problem.collective());
    let kind = collective.kind.name().bytes().map(u64::from);
    let mut digest = Digest::new().add(kind).add([topology.rank_count() as u64, u64::from(collective.parts)]);
    digest = digest.add(collective.kind.root().map(|root| u64::from(root.0)));
    digest = digest.add(topology.live_ranks().map(|rank| u64::from(rank.0)));
    if let Kind::AllToAllV(demand) = &collective.kind {
        digest = digest.add(demand.counts().map(u64::from));
    }
    for step in solution.schedule.steps() {
        digest = digest.add([u64::from(step.number)]);
        for transfer in step.transfers {
            let chunks = solution.schedule.chunks(transfer);
            let reduce = u64::from(transfer.op == Op::Reduce);
            digest = digest.add([u64::from(transfer.from.0), u64::from(transfer.to.0), reduce, chunks.len() as u64]);
            digest = digest.add(chunks.iter().map(|chunk| u64::from(chunk.0)));
        }
    }
    digest.finish()
}
