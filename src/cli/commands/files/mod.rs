//! Commands that write a file in another form.

pub mod convert;
mod export;
mod import;
pub mod lower;
