//! The command that carries schedules and programs out.

pub mod run;
pub mod run_calls;
pub mod run_job;
#[cfg(feature = "mpi")]
pub mod run_mpi;
pub mod secret;
