//! The command that carries schedules and programs out.

pub mod run;
pub mod run_calls;
#[cfg(feature = "mpi")]
pub mod run_mpi;
pub mod secret;
