//! What is recorded: codes, facts, values, within a limit of memory, and the report made of them.

pub mod code;
pub mod fact;
pub mod ledger;
pub mod memory;
pub mod report;
pub mod values;
