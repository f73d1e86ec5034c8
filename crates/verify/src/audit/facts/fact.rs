//! What the audit records about a violation: data for the sentence made later. Operations, workers and channels are
//! numbered through the whole program.

use super::values::FaultKind;
use collsynth_core::collective::ChunkId;
use collsynth_core::program::{Buffer, Slot};
use collsynth_core::topology::RankId;

/// What is wrong.
#[derive(Debug)]
pub(in crate::audit) enum Fact {
    /// T001: a rank that failed has operations.
    FailedRankWorks(RankId),
    /// T001: the rank is on a failed rank of the given machine, or on none.
    NoPlace { rank: RankId, place: Option<RankId> },
    /// T001: an end of the channel is not on the machine.
    NotOnMachine { channel: usize },
    /// T001 to T003: between these ranks of the machine there is no live link for the channel.
    NoLink { channel: usize, from: RankId, to: RankId, why: NoLink },
    /// P006: more slots of scratch than can be judged.
    TooMuchScratch { slots: u64, most: u64 },
    /// P006: the channel has no slots, an end that does not exist, or both ends at one rank.
    BadChannel { channel: usize },
    /// P006: what the operation names does not exist, or overlaps.
    BadOperation(BadOperation),
    /// P005: two workers use this end of a channel.
    SharedEnd { channel: u32, end: End, workers: [u32; 2] },
    /// P002: the packet received has another length.
    OtherLength { sender: usize, sent: u32, count: u32 },
    /// P001: what the operation waits for never comes.
    WaitsForever(Option<Obstacle>),
    /// P001: leftover packets, the first sent by the operation.
    NeverReceived { channel: usize, packets: usize },
    /// P003: each waits for the next, and the last for the first.
    Deadlock(Vec<Waiting>),
    /// P004: two accesses of a place of a rank that nothing orders.
    Race { rank: RankId, place: usize, earlier: (usize, Access), later: (usize, Access) },
    /// D002, R001 to R003, P007: a slot of the output holds the wrong value.
    Output { output: Output, wrong: Wrong },
    /// P008: the channel's packets differ in number from those of its transfers.
    PacketCount { channel: usize, packets: usize, stated: u64 },
    /// P008: the send does not come after the receive.
    SharedLink { channel: u32, send: usize, receive: usize },
}

/// Why a channel lies on no live link.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) enum NoLink {
    Failed(RankId),
    Missing,
    Dead,
}

/// Why an operation is malformed.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) enum BadOperation {
    /// Its rank has no such worker.
    NoWorker,
    /// The worker waited for has no such operation.
    NoOperation { worker: u32, target: usize },
    /// There is no such channel.
    NoChannel,
    /// This end of the channel is at another rank.
    OtherRank { channel: u32, rank: RankId, end: End },
    /// The buffer is shorter.
    Beyond { buffer: Buffer, len: u32 },
    /// The slots it writes partly overlap those it reads.
    Overlap,
}

/// An end of a channel.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) enum End {
    Sender,
    Receiver,
}

/// What a worker waits for.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) enum Obstacle {
    /// A packet of this channel.
    Packet(u32),
    /// Room in this channel.
    Room(u32),
    /// An operation of this worker.
    Operation(usize),
}

/// A blocked operation, its obstacle, and the worker it waits for.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) struct Waiting {
    pub(in crate::audit) operation: usize,
    pub(in crate::audit) obstacle: Option<Obstacle>,
    pub(in crate::audit) worker: usize,
}

/// What an operation does to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::audit) enum Access {
    Read,
    Write,
}

/// A slot of the output: the chunk it must hold, and the operation that wrote it last.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) struct Output {
    pub(in crate::audit) chunk: ChunkId,
    pub(in crate::audit) rank: RankId,
    pub(in crate::audit) slot: Slot,
    pub(in crate::audit) writer: Option<usize>,
}

/// What a slot of the output holds instead.
#[derive(Debug)]
pub(in crate::audit) enum Wrong {
    /// D002: a value that was never written.
    Unset,
    /// D002, P007, R003: the invalid result of this operation.
    Fault(usize, FaultKind),
    /// P007
    OtherChunk(ChunkId),
    /// R001: the first operation to count contributions repeatedly, and those contributions with their counts,
    /// ascending.
    Repeated(usize, Vec<(RankId, u64)>),
    /// R002: a sum without these ranks' contributions.
    Lacks(Vec<RankId>),
}
