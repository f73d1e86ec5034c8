//! Bounds that count the steps before and after a transfer: not every link can work from the first step to the last.

pub mod over_time;
mod repeated;
pub mod stepped;
