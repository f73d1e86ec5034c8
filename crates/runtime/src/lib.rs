//! Carrying schedules out on real buffers.
//!
//! A [`Communicator`] joins a [`Transport`], which carries packets, to what is known to hold ([`Runnable`]): a schedule
//! that the verifier has passed, or a rank program that the audit has. Nothing else is run. It offers one call for each
//! kind of collective, on slices of [`Element`]s.
//!
//! Where all ranks are in one process, a [`Group`] makes the calls of all at once, without a thread for each.
//!
//! * **Buffers** are rows of blocks, one for each rank where a rank has something for, or from, every rank. Part `i` of
//!   a block of `n` elements in `p` parts is the elements `i*n/p .. (i+1)*n/p`: any number of elements will do, and a
//!   part without elements is not sent.
//! * **Steps** are those of the schedule: what a rank sends is what it held when the step began; then it receives.
//!   Ranks do not wait for each other in any other way. The operations of a rank program are put in rounds, which are
//!   its steps.
//! * **Reductions** happen in the order of the schedule: what arrives at a rank in a step is taken in in the order in
//!   which the transfers stand in the step, each time `own op arrived`. So the same schedule, buffers and operation
//!   give the same bits, whatever the transport, the timing and the length of packets. In a rank program, the order is
//!   that of its packets and operations: a receive is `own op arrived`, a reduction `dst op src`.
//! * **Long packets** are cut in pieces, and the schedule runs once for each, to keep what is on its way in the caches
//!   and the memory small. This changes no result.
//! * **Failures** end in an error on every rank: no wait is longer than the transport's limit, and a rank that fails
//!   ends its connections.
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

mod communicator;
mod compressed;
mod compressor;
mod digest;
mod element;
mod ends;
mod error;
mod execute;
mod gathered;
mod group;
mod lanes;
mod lengths;
pub mod lower;
mod mail;
#[cfg(feature = "mpi")]
pub mod mpi;
mod packet;
mod role;
mod runnable;
mod sixteen;
pub mod tcp;
pub mod threads;
mod transport;
mod trial;
mod vector;

pub use communicator::Communicator;
pub use compressed::Gathering;
pub use compressor::{Compressor, Quantised, TopK, Uncompressed};
pub use element::{Dtype, Element, ReduceOp, UnknownName};
pub use error::RunError;
pub use gathered::Order;
pub use group::{Group, RankBuffers};
pub use packet::{Packet, Pool};
pub use runnable::Runnable;
pub use transport::{Incoming, Outgoing, PACKETS_A_STEP, Transport, TransportError};
pub use trial::{Buffers, Mismatch, Sample, Trial};
