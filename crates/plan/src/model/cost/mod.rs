//! The time a schedule takes: the alpha-beta model.
//!
//! ```text
//!   seconds = alpha * steps + transfer_setup * set-ups + bytes * (seconds a byte needs)
//! ```
//!
//! * *alpha*: seconds every step takes to start.
//! * *transfer set-up*: seconds a rank needs for each transfer it sends. Ranks set up theirs in parallel, so a step
//!   pays for the rank that sends most.
//! * *bandwidth*: bytes per second over a link of capacity 1. With one bandwidth for all links, the width of a step
//!   gives its time; with one per dimension, its slowest link does.
//!
//! For a given schedule this is linear in the bytes of a message: a [`Line`]. So the fastest of several schedules
//! changes at few sizes, the crossovers ([`fastest`]). [`Price`], which planning minimizes, is the same without set-ups
//! and with one bandwidth, for one message size. Papers on phased algorithms charge differently: [`Rates::phased`].
//!
//! The model without set-ups is Hockney's, as in Thakur, Rabenseifner and Gropp, "Optimization of Collective
//! Communication Operations in MPICH", IJHPCA 2005, section 3.

mod line;
mod rates;

pub use line::{Line, Stretch, fastest};
pub use rates::{Bandwidth, Rates};

use collsynth_core::problem::Problem;
use collsynth_core::schedule::Timetable;

/// Prices of start-ups and of bytes, and the size of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Bytes of one message (shard, vector).
    pub message_bytes: u64,
    /// Seconds a step takes to start.
    pub alpha: f64,
    /// Bytes per second over one link of capacity 1.
    pub bandwidth: f64,
}

impl Price {
    /// Seconds a step takes to start, unless stated.
    pub const ALPHA: f64 = 100e-9;
    /// Bytes per second over one link of capacity 1, unless stated.
    pub const BANDWIDTH: f64 = 32e9;

    /// Messages of this size, at the price that holds unless stated.
    pub fn of(message_bytes: u64) -> Self {
        Self { message_bytes, alpha: Self::ALPHA, bandwidth: Self::BANDWIDTH }
    }

    /// Seconds for `steps` steps of a volume in messages: `alpha * S + V * message_bytes / bandwidth`.
    pub fn seconds_for(&self, steps: usize, volume: f64) -> f64 {
        self.alpha * steps as f64 + volume * self.message_bytes as f64 / self.bandwidth
    }

    /// Seconds a schedule takes.
    pub fn seconds(&self, problem: &Problem, schedule: &impl Timetable) -> f64 {
        self.seconds_for(schedule.step_count(), schedule.total_width() as f64 / f64::from(problem.parts()))
    }
}
