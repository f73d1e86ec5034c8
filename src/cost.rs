//! What a schedule costs in time: the alpha-beta model.

use crate::problem::Problem;
use crate::schedule::Schedule;

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
    /// Seconds that `steps` steps of a volume (in messages) take: `alpha * S + V * message_bytes / bandwidth`.
    pub fn seconds_for(&self, steps: usize, volume: f64) -> f64 {
        self.alpha * steps as f64 + volume * self.message_bytes as f64 / self.bandwidth
    }

    /// Seconds a schedule takes.
    pub fn seconds(&self, problem: &Problem, schedule: &Schedule) -> f64 {
        self.seconds_for(schedule.step_count(), schedule.total_width() as f64 / f64::from(problem.parts()))
    }
}
