//! Commands that write a file in another form.

pub mod convert;
pub mod form;
pub mod lower;
