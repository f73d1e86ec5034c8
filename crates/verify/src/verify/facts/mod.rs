//! What is recorded: codes, facts, their order and number, and the report made of them.

pub mod code;
pub mod fact;
pub mod finding;
pub mod ledger;
pub mod report;
