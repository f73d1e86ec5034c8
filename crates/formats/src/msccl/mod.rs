//! MSCCL XML, in both dialects: the algorithms that MSCCL (NVIDIA) and RCCL (AMD) run.
//!
//! Semantics are those of the runtimes (microsoft/msccl: src/graph/topo.cc,
//! src/collectives/device/msccl_interpreter.h; ROCm/rccl: src/misc/msccl/msccl_parser.cc). A thread block is a worker,
//! a connection (source, destination, channel) a channel. Elements and attributes read:
//!
//! | element | attributes |
//! |---|---|
//! | `algo` | `name`, `proto`, `nchannels`, `nchunksperloop`, `ngpus`, `coll`, `inplace`, `minBytes`, `maxBytes`, `nthreads`, `redop`; RCCL: `outofplace`, `maxcount`, `nthreadblocks` |
//! | `gpu` | `id`, `i_chunks`, `o_chunks`, `s_chunks` |
//! | `tb` | `id`, `send`, `recv`, `chan` |
//! | `step` | `s`, `type`, `srcbuf`, `srcoff`, `dstbuf`, `dstoff`, `cnt`, `depid`, `deps`, `hasdep` |
//!
//! A file with `outofplace` is in RCCL's dialect. Runtimes choose an algorithm by the form of the call, so each form
//! that a file claims becomes a program of its own.
//!
//! Step types `s r rcs rrs rrc rrcs cpy re nop`; collectives `allgather`, `reduce_scatter` (RCCL: `reducescatter`),
//! `allreduce`, `alltoall`, `broadcast`, `reduce`, `gather`, `scatter`, and `custom` if the caller names its meaning.
//! Not read: `ra` (no runtime executes it), `copy` under `gpu`, `alltoallv`, `send`, `recv`. The writer emits the same
//! subset, with `rcs`, `rrs` and `rrcs` only where the program has such operations.

mod algo;
mod read;
mod split;
mod steps;
mod write;

use thiserror::Error;

pub use read::{Algorithm, parse};
pub use write::to_string;

/// Which runtime a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// NVIDIA GPUs: microsoft/msccl.
    Msccl,
    /// AMD GPUs: ROCm/rccl, and Azure's fork.
    Rccl,
}

impl Dialect {
    /// Whose it is.
    pub fn name(self) -> &'static str {
        match self {
            Self::Msccl => "MSCCL",
            Self::Rccl => "RCCL",
        }
    }
}

/// How a call passes its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Input and output share memory.
    InPlace,
    /// They do not.
    OutOfPlace,
}

impl Form {
    /// The words for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::InPlace => "in place",
            Self::OutOfPlace => "out of place",
        }
    }
}

/// What a file leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsaid {
    /// The root of a broadcast, reduce, gather or scatter; without one, the only rank that can be it (nothing comes to
    /// the root of a broadcast, nothing leaves that of a reduce), or 0.
    pub root: Option<u32>,
    /// The packets a connection holds: two in the protocol `Simple`.
    pub slots: u32,
    /// The meaning of `custom`: one of the other names of `coll`.
    pub custom: Option<&'static str>,
}

impl Default for Unsaid {
    fn default() -> Self {
        Self { root: None, slots: 2, custom: None }
    }
}

/// Why a program cannot be written as MSCCL XML.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
pub enum ExportError {
    #[error("MSCCL has no collective like {kind}: {why}")]
    Kind { kind: &'static str, why: &'static str },
    #[error("MSCCL numbers ranks without gaps, but rank {rank} failed")]
    FailedRank { rank: u32 },
    #[error("worker {worker} of rank {rank} {what}")]
    Worker { rank: u32, worker: usize, what: String },
    #[error("rank {rank} would need {count} thread blocks; MSCCL has at most {MAX_BLOCKS}")]
    Blocks { rank: u32, count: usize },
    #[error("two channels from rank {from} to rank {to} would need the same number, because workers use them together")]
    Tangled { from: u32, to: u32 },
    #[error(
        "{count} workers of rank {rank} would need one channel, because workers use channels together; MSCCL allows \
         {MAX_BLOCKS_PER_CHANNEL}"
    )]
    Together { rank: usize, count: u32 },
    #[error(
        "{count} channels would be needed; MSCCL has at most {MAX_CHANNELS}, of at most {MAX_BLOCKS_PER_CHANNEL} \
         thread blocks each at a rank"
    )]
    Channels { count: u32 },
}

/// Steps per thread block.
const MAX_STEPS: usize = 256;
/// Thread blocks per rank.
const MAX_BLOCKS: usize = 216;
/// Thread blocks per channel and rank.
const MAX_BLOCKS_PER_CHANNEL: u32 = 32;
/// Letters of a name.
const MAX_NAME: usize = 63;
const MAX_CHANNELS: u32 = 32;
/// Threads of a block.
const MAX_THREADS: u32 = 1024;
/// Threads that run together; a block has a multiple of them.
const WARP: u32 = 32;
/// Slots per packet.
const MAX_COUNT: u32 = 71;
