//! The unit in which a bound counts traffic.

use collsynth_core::problem::Problem;

/// Whole messages; for a demand, chunks.
pub struct Count {
    /// The word for one.
    pub word: &'static str,
    /// Chunks per unit.
    pub chunks: u32,
    /// Units per message.
    pub a_message: i128,
}

impl Count {
    pub fn of(problem: &Problem) -> Self {
        match problem.collective().kind.demand() {
            Some(_) => Self { word: "chunk", chunks: 1, a_message: problem.parts().into() },
            None => Self { word: "message", chunks: problem.parts(), a_message: 1 },
        }
    }
}
