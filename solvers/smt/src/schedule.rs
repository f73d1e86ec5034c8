//! The solution: the moves of every step.

use crate::instance::Arc;

/// A chunk that an arc carries in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Move {
    /// The arc.
    pub arc: u32,
    /// The chunk.
    pub chunk: u32,
    /// Is it added to the receiver's value, instead of replacing it?
    pub reduce: bool,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleStep {
    /// The most chunks over an arc of capacity 1.
    pub width: u32,
    /// Its moves, by arc and chunk.
    pub moves: Vec<Move>,
}

/// Steps in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The steps.
    pub steps: Vec<ScheduleStep>,
}

impl ScheduleStep {
    /// A step as wide as its moves need, and at least 1 wide.
    pub(crate) fn new(mut moves: Vec<Move>, arcs: &[Arc]) -> Self {
        moves.sort_unstable();
        let fullest = moves.chunk_by(|a, b| a.arc == b.arc).map(|of_arc| {
            u32::try_from(of_arc.len()).unwrap_or(u32::MAX).div_ceil(arcs[of_arc[0].arc as usize].capacity)
        });
        Self { width: fullest.max().unwrap_or(1), moves }
    }
}

impl Schedule {
    /// The sum of the widths.
    pub fn width(&self) -> u32 {
        self.steps.iter().map(|step| step.width).sum()
    }
}
