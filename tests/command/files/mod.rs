//! Files of one form from another, and for other tools.

mod convert;
mod forms;
mod kept;
mod lower;
mod written;
