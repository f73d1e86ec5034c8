//! Executes schedules on real buffers.
//!
//! A [`Communicator`] joins a [`Transport`], which carries packets, to a [`Runnable`]: a verified schedule or an
//! audited rank program. Nothing else is run. It has one call for each kind of collective, on slices of [`Element`]s.
//!
//! If all ranks are in one process, a [`Group`] makes the calls of all at once, without a thread for each.
//!
//! * **Buffers** are rows of blocks, one for each rank where a rank has data for, or from, every rank. Part `i` of a
//!   block of `n` elements in `p` parts is the elements `i*n/p .. (i+1)*n/p`. Any number of elements is allowed; an
//!   empty part is not sent.
//! * **Steps** are those of the schedule: a rank sends what it held when the step began, then receives. Ranks do not
//!   wait for each other otherwise. The operations of a rank program are grouped into rounds, which are its steps.
//! * **Reductions** follow the order of the schedule: arrivals in a step are combined in the order of its transfers,
//!   each as `own op arrived`. The same schedule, buffers and operation therefore give the same bits, regardless of
//!   transport, timing and packet length. A rank program follows the order of its packets and operations: a receive is
//!   `own op arrived`, a reduction `dst op src`.
//! * **Long packets** are cut into pieces, and the schedule runs once for each, so that data in flight stays in the
//!   caches and memory stays small. Results do not change.
//! * **Failures** end in an error on every rank: no wait exceeds the transport's limit, and a rank that fails closes
//!   its connections.
//!
//! ```
//! use std::time::Duration;
//!
//! use collsynth_core::collective::Kind;
//! use collsynth_plan::{Control, Goal, synthesize};
//! use collsynth_runtime::{ReduceOp, threads};
//! use collsynth_core::schedule::Solution;
//! use collsynth_core::topology::Topology;
//! use collsynth_verify::verify::{Options, Verified};
//!
//! let plan = synthesize(&Topology::torus(&[2, 3])?, &Kind::AllReduce, &Goal::default(), &Control::unlimited())?;
//! let verified = Verified::<Solution>::new(plan.into(), &Options::default())?;
//! let sums = threads::run(&verified, Duration::from_secs(10), |mut communicator| {
//!     let mut buffer = [1, communicator.rank().0 as i32];
//!     communicator.all_reduce(&mut buffer, ReduceOp::Sum).map(|()| buffer)
//! })?;
//! assert!(sums.into_iter().all(|sum| sum.is_ok_and(|sum| sum == [6, 15])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod compression;
pub mod lower;
mod playing;
mod transports;
mod trial;

pub use calls::communicator::Communicator;
pub use calls::error::RunError;
pub use calls::gathered::Order;
pub use calls::group::{Group, RankBuffers};
pub use calls::runnable::Runnable;
pub use compression::compressed::Gathering;
pub use compression::compressor::{Compressor, Quantized, TopK, Uncompressed};
pub use playing::element::{Dtype, Element, ReduceOp, UnknownName};
#[cfg(feature = "mpi")]
pub use transports::mpi;
pub use transports::packet::{Packet, Pool};
pub use transports::transport::{Incoming, Outgoing, PACKETS_A_STEP, Transport, TransportError};
pub use trial::{Buffers, Mismatch, Sample, Trial};

/// Ranks that are threads of one process, joined by bounded channels.
pub mod threads {
    pub use crate::calls::connect::run;
    pub use crate::transports::threads::{ThreadTransport, network};
}

/// Ranks that are processes, on one host or several, joined by TCP.
pub mod tcp {
    pub use crate::calls::connect::run_on_loopback;
    pub use crate::transports::tcp::{
        EmptySecret, RankTable, RankTableError, Refusal, Secret, TcpOptions, TcpTransport,
    };
}
