//! Packets, and what carries them between ranks: threads, TCP, MPI.

pub mod mail;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod packet;
pub mod tcp;
pub mod threads;
pub mod transport;
