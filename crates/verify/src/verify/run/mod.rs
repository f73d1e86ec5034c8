//! What records it: the transfers on their own, then their execution, chunk by chunk.

pub mod decide;
pub mod execute;
pub mod holdings;
pub mod moves;
pub mod orders;
pub mod routes;
pub mod scope;
pub mod values;
