//! Parts in a pipeline through arborescences: the tree of each part, and the steps and widths.
//!
//! Shared by the planners [`Arborescences`](crate::Arborescences) and [`BinaryTree`](crate::BinaryTree). What the root
//! sends in one step is forwarded by all ranks of depth 1 in the next, and so on. Of steps with widths `w_1 .. w_S`, an
//! arborescence of depth `d` cannot use `d - 1`: the last ranks wait while the first parts are under way, and the root
//! rests while the last ones are. Where the widths differ, a narrow step delays everything behind it, and the loss is
//! that of the widest `d - 1` steps:
//!
//! ```text
//!   parts that pass = w_1 + ... + w_S - (the d - 1 largest of them)
//! ```
//!
//! So even widths are best: with all of them 1, `n` parts take `n + d - 1` steps; wider steps are fewer, and cost
//! volume.

mod arborescence;

pub(crate) use arborescence::{Arborescence, Parents};

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::network::Network;
use crate::model::planner::Outcome;
use crate::model::task::Task;
use crate::model::widths::even_widths;
use crate::search::rooted::Rooted;

/// Plans a broadcast or reduce through the arborescences that `find` returns for a network and its root, together with
/// the parts that each of them carries in a step of width 1. The network of a reduce has all links reversed.
///
/// # Errors
///
/// If the steps asked for are too few, or time ran out before there was an arborescence.
pub(crate) fn pipelined(
    planner: &'static str,
    task: &Task<'_>,
    rooted: &Rooted,
    control: &Control,
    find: impl FnOnce(&Network, u32) -> Option<(u32, Vec<Arborescence>)>,
) -> Result<Outcome, PlanError> {
    let stopped = || PlanError::Stopped { stopped: control.stop().unwrap_or(StopReason::TimeLimit) };
    let (unit, trees) = find(&rooted.network, rooted.root).ok_or_else(stopped)?;
    let pipeline = Pipeline { unit, depths: trees.iter().map(Arborescence::depth).collect() };
    let Some(widths) = pipeline.widths(task) else {
        let (least, stated) = (pipeline.depths.iter().min(), task.steps.or(task.max_steps));
        let limit = format!("{} steps: it takes {}", stated.unwrap_or(0), least.unwrap_or(&0));
        return Err(PlanError::NotFound { planner, limit });
    };
    let schedule = rooted.write(task, widths.len(), |hop| {
        let mut first = 0;
        for (index, (tree, share)) in trees.iter().zip(pipeline.shares(&widths, task.problem.parts())).enumerate() {
            let progress = pipeline.progress(index, &widths, share);
            for (link, depth) in tree.reached() {
                let mut sent = 0;
                for (step, &passed) in progress[depth as usize - 1].iter().enumerate() {
                    hop(step, link, first + sent..first + passed);
                    sent = passed;
                }
            }
            first += share;
        }
    });
    Ok(Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished)))
}

/// A pipeline through arborescences of given depths, `unit` parts side by side in a step of width 1.
#[derive(Clone, Debug)]
struct Pipeline {
    unit: u32,
    depths: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    steps: u32,
    width: u32,
}

impl Pipeline {
    /// The best widths for the task; `None` if its steps allow none.
    fn widths(&self, task: &Task<'_>) -> Option<Vec<u32>> {
        let parts = task.problem.parts();
        let least = self.depths.iter().copied().min()?;
        // With steps of width 1, more steps gain nothing.
        let most = least.saturating_add(parts);
        let (first, last) = match (task.steps, task.max_steps) {
            (Some(steps), _) => (steps, steps),
            (None, most_steps) => (least, most_steps.unwrap_or(most).min(most)),
        };
        let shapes = (first.max(least)..=last).filter_map(|steps| self.narrowest(steps, parts));
        let cost = |shape: &Shape| match task.price {
            Some(price) => price.seconds_for(shape.steps as usize, f64::from(shape.width) / f64::from(parts)),
            None => f64::from(shape.width),
        };
        let best = shapes.min_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.steps.cmp(&b.steps)))?;
        Some(even_widths(best.width, best.steps))
    }

    /// The least total width of this number of even steps in which all parts pass.
    fn narrowest(&self, steps: u32, parts: u32) -> Option<Shape> {
        let passes = |width: u32| self.passing_even(Shape { steps, width }) >= u64::from(parts);
        let (mut least, mut most) = (steps, steps);
        while !passes(most) {
            (least, most) = (most + 1, most.checked_mul(2)?);
        }
        while least < most {
            let middle = least + (most - least) / 2;
            (least, most) = if passes(middle) { (least, middle) } else { (middle + 1, most) };
        }
        Some(Shape { steps, width: most })
    }

    /// The parts that pass in even steps.
    fn passing_even(&self, Shape { steps, width }: Shape) -> u64 {
        let (even, wider) = (width / steps, width % steps);
        let lost = |depth: u32| even * (depth - 1) + wider.min(depth - 1);
        let of = |&depth: &u32| if depth > steps { 0 } else { u64::from(width - lost(depth)) * u64::from(self.unit) };
        self.depths.iter().map(of).sum()
    }

    /// The parts of each arborescence, `parts` in all, for widths in which all pass: in proportion to its capacity.
    fn shares(&self, widths: &[u32], parts: u32) -> Vec<u32> {
        let shape = Shape { steps: widths.len() as u32, width: widths.iter().sum() };
        let (mut parts, mut room) = (u64::from(parts), self.passing_even(shape));
        let mut shares = Vec::with_capacity(self.depths.len());
        for &depth in &self.depths {
            let most = Self { unit: self.unit, depths: vec![depth] }.passing_even(shape);
            let share = (parts * most).div_ceil(room.max(1)).min(most);
            (parts, room) = (parts - share, room - most);
            shares.push(share as u32);
        }
        shares
    }

    /// `progress[depth - 1][step]`: the number of these parts at the ranks of a depth by the end of a step.
    fn progress(&self, tree: usize, widths: &[u32], parts: u32) -> Vec<Vec<u32>> {
        let mut before = vec![parts; widths.len() + 1];
        let mut progress = Vec::with_capacity(self.depths[tree] as usize);
        for _ in 0..self.depths[tree] {
            let mut passed = vec![0; widths.len() + 1];
            for (step, &width) in widths.iter().enumerate() {
                // Parts that arrived in an earlier step can move on in this one.
                passed[step + 1] = before[step].min(passed[step] + width * self.unit);
            }
            before.clone_from(&passed);
            progress.push(passed.split_off(1));
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Pipeline, Shape};
    use crate::model::widths::even_widths;

    proptest! {
        #[test]
        fn as_many_parts_pass_as_the_formula_says(
            unit in 1_u32..4,
            depth in 1_u32..8,
            more in 0_u32..8,
            wider in 0_u32..40,
        ) {
            let steps = depth + more;
            let pipeline = Pipeline { unit, depths: vec![depth] };
            let shape = Shape { steps, width: steps + wider };
            let widths = even_widths(shape.width, steps);
            let passing = pipeline.passing_even(shape) as u32;
            let last = |parts| *pipeline.progress(0, &widths, parts).last().unwrap().last().unwrap();
            prop_assert_eq!(last(passing), passing);
            prop_assert_eq!(last(passing + 1), passing);
        }

        #[test]
        fn shares_add_up_to_the_parts(depths in prop::collection::vec(1_u32..9, 1..7), unit in 1_u32..4, parts in 1_u32..500) {
            let pipeline = Pipeline { unit, depths };
            for steps in pipeline.depths.iter().copied().min().unwrap()..12 {
                let shape = pipeline.narrowest(steps, parts).unwrap();
                let widths = even_widths(shape.width, steps);
                let shares = pipeline.shares(&widths, parts);
                prop_assert_eq!(shares.iter().sum::<u32>(), parts);
                for (tree, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0) {
                    let progress = pipeline.progress(tree, &widths, share);
                    prop_assert_eq!(progress.last().unwrap().last(), Some(&share));
                }
            }
        }
    }
}
