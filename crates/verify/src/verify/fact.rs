//! What the judge records of a violation or warning: code, place, and data for the sentence that is made afterwards.

use super::Code;
use collsynth_core::certificate::CertificateError;
use collsynth_core::collective::ChunkId;
use collsynth_core::topology::{LinkId, RankId};

/// A violation or warning.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) code: Code,
    pub(super) place: Place,
    pub(super) data: Data,
    /// See [`Finding::consequences`](super::Finding::consequences).
    pub(super) consequences: u64,
}

/// Where a fact stands in the report. Places sort in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A step as a whole, a transfer as a whole (counted through the whole schedule), or one chunk of it.
    InStep {
        step: u32,
        transfer: Option<usize>,
        chunk: Option<ChunkId>,
    },
    /// After the last step: a chunk, at a rank.
    AtEnd {
        chunk: ChunkId,
        rank: RankId,
    },
    /// The schedule as a whole.
    Schedule,
    /// The bound on the steps, that on the volume, or any of the joint ones.
    StepsBound,
    VolumeBound,
    JointBounds,
}

/// What neither the code nor the place says. Transfers are counted through the whole schedule.
#[derive(Debug)]
pub(super) enum Data {
    None,
    /// F005: the chunk's place in the transfer.
    Index(usize),
    /// F006: how often the chunk is listed.
    Times(usize),
    /// L001: the link, and the transfer that has it already, counted within the step.
    Busy(LinkId, usize),
    /// L002: the link, the width of the step, and how many chunks fit.
    Full {
        link: LinkId,
        width: u32,
        room: u64,
    },
    /// D002: the last transfer whose delivery is still where it went.
    LastArrival(Option<usize>),
    /// D003: the transfers that bring the chunk.
    Arrivals(Vec<usize>),
    /// R001: whose contributions count twice. R002: whose are missing.
    Ranks(Vec<RankId>),
    /// W003: a rank that adds in another order.
    Other(RankId),
    /// C001: why it proves nothing; of a joint bound also for how many steps it is claimed.
    Unproven(CertificateError),
    UnprovenIn(u32, CertificateError),
}
