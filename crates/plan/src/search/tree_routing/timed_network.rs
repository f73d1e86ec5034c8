//! A network over time: the slot of each link in each step.
//!
//! Slots form rows (time) and columns (links, or classes of links with equal loads). Time runs forward; backward, for
//! trees that collect; or *folded* in the middle, for trees whose mirror images (backward in time, over the opposite
//! links) are used as well. Then a link in a step and its opposite in the step equally far from the last carry the same
//! load, and share a slot:
//!
//! ```text
//!   steps    0 1 2 3 4          rows   0 1 2      row 0 is steps 0 and 4, row 1 steps 1 and 3, row 2 step 2,
//!                                      4 3        in which opposite links share a slot too
//! ```

use std::ops::Range;

use crate::model::network::{LiveLink, Network};

/// A network, and the slot of each link in each step.
#[derive(Debug)]
pub(crate) struct TimedNetwork {
    pub network: Network,
    pub(crate) capacity: Vec<u32>,
    column: Vec<u32>,
    time: Time,
    /// Sets of ranks that trees are for; see [`TreeSpec::targets`](super::forest::TreeSpec).
    targets: Vec<Vec<bool>>,
}

#[derive(Debug)]
enum Time {
    Forward,
    Backward,
    /// With the column of the opposite of each live link, and the column that both share in the middle.
    Folded {
        opposite: Vec<u32>,
        middle: Vec<u32>,
    },
}

impl TimedNetwork {
    pub fn new(network: Network) -> Self {
        let column = (0..network.link_count() as u32).collect();
        let capacity = network.capacity.clone();
        Self::with_columns(network, column, capacity)
    }

    /// The column of each live link, and the capacity of each column.
    pub fn with_columns(network: Network, column: Vec<u32>, capacity: Vec<u32>) -> Self {
        Self { network, capacity, column, time: Time::Forward, targets: Vec::new() }
    }

    /// The same with sets of ranks that trees may be for, by rank.
    pub fn with_targets(self, targets: Vec<Vec<bool>>) -> Self {
        Self { targets, ..self }
    }

    /// Must a tree for this set reach a rank? Without a set, it must reach all it can.
    pub(crate) fn is_target(&self, set: Option<u32>, rank: u32) -> bool {
        set.is_none_or(|set| self.targets[set as usize][rank as usize])
    }

    /// Does time run forward, over a column for each live link?
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.time, Time::Forward)
            && self.column.len() == self.capacity.len()
            && self.column.iter().enumerate().all(|(link, &column)| link == column as usize)
    }

    pub fn backward(self) -> Self {
        Self { time: Time::Backward, ..self }
    }

    /// The same, folded; `opposite` is the opposite of each live link.
    pub fn folded(self, opposite: &[LiveLink]) -> Self {
        let opposite: Vec<u32> = opposite.iter().map(|&link| self.column[link as usize]).collect();
        let middle = self.column.iter().zip(&opposite).map(|(&here, &there)| here.min(there)).collect();
        Self { time: Time::Folded { opposite, middle }, ..self }
    }

    /// The hops from a rank to the farthest rank it can reach.
    pub fn farthest(&self, rank: u32) -> u16 {
        self.farthest_target(None, rank)
    }

    /// The hops from a rank to the farthest rank that a tree for this set must reach.
    pub(crate) fn farthest_target(&self, set: Option<u32>, rank: u32) -> u16 {
        let ranks = 0..self.network.rank_count() as u32;
        let reached = ranks.filter(|&to| self.is_target(set, to) && !self.network.entering(to).is_empty());
        reached.map(|to| self.network.distance(rank, to) as u16).max().unwrap_or(0)
    }

    /// The total width that trees from and to a rank need at its links, in steps of any widths. Every chunk has to come
    /// in over them once it can have been everywhere else, and to leave while it can still get everywhere.
    pub fn least_width(&self, trees: u32, rank: u32) -> u32 {
        let rounds = trees.div_ceil(self.network.capacity_out_of(rank).max(1));
        rounds + u32::from(self.farthest(rank)).saturating_sub(1)
    }

    /// The slot of a link in one of `steps` steps.
    pub fn slot(&self, link: LiveLink, step: u16, steps: u16) -> usize {
        let (first, columns) = self.row(step, steps);
        first + columns[link as usize] as usize
    }

    /// The slots of one of `steps` steps: where they begin, and the column of each live link.
    pub fn row(&self, step: u16, steps: u16) -> (usize, &[u32]) {
        let left = steps - 1 - step;
        let (row, columns) = match &self.time {
            Time::Forward => (step, &self.column),
            Time::Backward => (left, &self.column),
            Time::Folded { .. } if step > left => (left, &self.column),
            Time::Folded { opposite, .. } if step < left => (step, opposite),
            Time::Folded { middle, .. } => (step, middle),
        };
        (usize::from(row) * self.capacity.len(), columns)
    }

    /// The widths of the rows, given the widths of the steps.
    pub fn rows(&self, mut widths: Vec<u32>) -> Vec<u32> {
        if let Time::Folded { .. } = self.time {
            widths.truncate(widths.len().div_ceil(2));
        }
        widths
    }

    /// The rows that stand for equally many steps.
    pub fn rows_of_equal_weight(&self, steps: u16) -> Range<usize> {
        match self.time {
            Time::Folded { .. } => 0..usize::from(steps / 2),
            _ => 0..usize::from(steps),
        }
    }

    /// The widths of the steps, given the widths of the rows.
    pub fn widths(&self, rows: &[u32], steps: u16) -> Vec<u32> {
        match self.time {
            Time::Folded { .. } => rows.iter().chain(rows[..usize::from(steps / 2)].iter().rev()).copied().collect(),
            _ => rows.to_vec(),
        }
    }
}
