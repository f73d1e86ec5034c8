//! What messages that must cross links are counted in.

use collsynth_core::problem::Problem;

/// Whole messages; of a demand, chunks.
pub(super) struct Count {
    /// The word for one.
    pub word: &'static str,
    /// How many chunks one is.
    pub chunks: u32,
    /// How many of them are a message.
    pub a_message: i128,
}

impl Count {
    /// What a problem's messages are counted in.
    pub fn of(problem: &Problem) -> Self {
        match problem.collective().kind.demand() {
            Some(_) => Self { word: "chunk", chunks: 1, a_message: problem.parts().into() },
            None => Self { word: "message", chunks: problem.parts(), a_message: 1 },
        }
    }
}
