//! Digests by 64-bit FNV-1a (Fowler, Noll, Vo; RFC 9923), against mistakes, not attacks.

use collsynth_core::collective::Demand;
use collsynth_core::problem::Problem;
use collsynth_core::program::{Operation, Program, Slot};
use collsynth_core::schedule::{Op, Solution};

pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(mut self, numbers: impl IntoIterator<Item = u64>) -> Self {
        for byte in numbers.into_iter().flat_map(u64::to_le_bytes) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }

    /// Both halves folded into one.
    pub(crate) fn finish_short(self) -> u32 {
        (self.0 >> 32) as u32 ^ self.0 as u32
    }
}

/// Covers everything that decides what is sent when: ranks with equal digests play the same schedule.
pub(crate) fn of_solution(solution: &Solution) -> u64 {
    let mut digest = of_problem(&solution.problem);
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

/// Covers everything that decides what a rank program does.
pub(crate) fn of_program(program: &Program) -> u64 {
    let mut digest = of_problem(&program.problem).add([u64::from(program.in_place)]);
    for channel in &program.channels {
        digest = digest.add([channel.from.0, channel.to.0, channel.slots].map(u64::from));
    }
    for worker in 0..program.worker_count() {
        digest = digest.add([u64::from(program.rank_of(worker).0), program.range(worker).len() as u64]);
        for operation in &program.operations()[program.range(worker)] {
            digest = digest.add(numbers(operation));
        }
    }
    digest.finish()
}

fn of_problem(problem: &Problem) -> Digest {
    let (topology, collective) = (problem.topology(), problem.collective());
    let kind = collective.kind.name().bytes().map(u64::from);
    let mut digest = Digest::new().add(kind).add([topology.rank_count() as u64, u64::from(collective.parts)]);
    digest = digest.add(collective.kind.root().map(|root| u64::from(root.0)));
    digest = digest.add(topology.live_ranks().map(|rank| u64::from(rank.0)));
    digest.add(collective.kind.demand().into_iter().flat_map(Demand::counts).map(u64::from))
}

fn numbers(operation: &Operation) -> [u64; 6] {
    let slot = |slot: Slot| (slot.buffer as u64) << 32 | u64::from(slot.offset);
    let some = |slot: Option<u64>| slot.unwrap_or(u64::MAX);
    match *operation {
        Operation::Send { channel, src, count } => [0, u64::from(channel), slot(src), u64::from(count), 0, 0],
        Operation::Receive { channel, add, dst, forward, count } => {
            let (add, dst, forward) = (some(add.map(slot)), some(dst.map(slot)), some(forward.map(u64::from)));
            [1, u64::from(channel), add, dst, forward, u64::from(count)]
        }
        Operation::Copy { src, dst, count } => [2, slot(src), slot(dst), u64::from(count), 0, 0],
        Operation::Reduce { src, dst, count } => [3, slot(src), slot(dst), u64::from(count), 0, 0],
        Operation::Wait { worker, operation } => [4, u64::from(worker), u64::from(operation), 0, 0, 0],
    }
}
