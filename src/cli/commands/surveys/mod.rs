//! Commands about many sets of failures.

pub mod draws;
pub mod failing;
pub mod fallbacks;
pub mod merge;
pub mod sets;
pub mod subject;
pub mod survey;
#[cfg(feature = "mpi")]
pub mod survey_mpi;
pub mod survey_store;
