//! What the judge records about a violation or warning: code, place, and data for the sentence made later.

use crate::verify::facts::code::Code;
use collsynth_core::certificate::CertificateError;
use collsynth_core::collective::ChunkId;
use collsynth_core::topology::{LinkId, RankId};

#[derive(Debug)]
pub(in crate::verify) struct Fact {
    pub(in crate::verify) code: Code,
    pub(in crate::verify) place: Place,
    pub(in crate::verify) data: Data,
    /// See [`Finding::consequences`](super::finding::Finding::consequences).
    pub(in crate::verify) consequences: u64,
}

/// Where a fact belongs in the report. Places sort in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::verify) enum Place {
    /// A whole step, a whole transfer (counted through the schedule), or one chunk of it.
    InStep {
        step: u32,
        transfer: Option<usize>,
        chunk: Option<ChunkId>,
    },
    /// After the last step: a chunk at a rank.
    AtEnd {
        chunk: ChunkId,
        rank: RankId,
    },
    /// The whole schedule.
    Schedule,
    /// The bound on the steps, the one on the volume, or any joint one.
    StepsBound,
    VolumeBound,
    JointBounds,
}

/// What neither code nor place says. Transfers are counted through the schedule.
#[derive(Debug)]
pub(in crate::verify) enum Data {
    None,
    /// F005: the chunk's index in the transfer.
    Index(usize),
    /// F006: how often the chunk is listed.
    Times(usize),
    /// L001: the link, and the transfer that already uses it, counted within the step.
    Busy(LinkId, usize),
    /// L002: the link, the width of the step, and the numbers of chunks that fit and that there are.
    Full {
        link: LinkId,
        width: u32,
        room: u64,
        chunks: u64,
    },
    /// D002: the last transfer whose delivery is still at its receiver.
    LastArrival(Option<usize>),
    /// D003: the transfers that bring the chunk.
    Arrivals(Vec<usize>),
    /// R001: whose contributions count twice. R002: whose are missing.
    Ranks(Vec<RankId>),
    /// W003: a rank that adds in another order.
    Other(RankId),
    /// C001, C002: why the evidence fails, or is not checked; of a joint bound, also its number of steps.
    Unproven(Option<u32>, CertificateError),
}
