//! The best of what is found in several ways.

use crate::model::error::PlanError;
use crate::model::planner::Outcome;
use crate::model::task::Task;

/// Schedules for one task, found in several ways, one after another: the best is kept, and the next has to beat it.
pub(crate) struct Best<'a> {
    task: Task<'a>,
    found: Option<Outcome>,
    failures: Vec<PlanError>,
}

impl<'a> Best<'a> {
    pub fn new(task: &Task<'a>) -> Self {
        Self { task: task.clone(), found: None, failures: Vec::new() }
    }

    /// The task of the next way: its incumbent is the best schedule so far, by whomever.
    pub fn task(&self) -> &Task<'a> {
        &self.task
    }

    /// Keeps a schedule that is better than those before it; among equals, the first stays.
    pub fn add(&mut self, found: Result<Outcome, PlanError>) {
        let outcome = match found {
            Ok(outcome) => outcome,
            Err(error) => return self.failures.push(error),
        };
        if self.found.as_ref().is_some_and(|best| !self.task.prefers(&outcome.schedule, &best.schedule)) {
            return;
        }
        let figures = (outcome.schedule.step_count(), outcome.schedule.total_width());
        if self.task.incumbent.is_none_or(|known| self.task.order(figures, known).is_lt()) {
            self.task.incumbent = Some(figures);
        }
        self.found = Some(outcome);
    }

    /// Does one of the schedules meet both bounds?
    pub fn is_optimal(&self) -> bool {
        self.found.as_ref().is_some_and(|best| self.task.is_optimal(&best.schedule))
    }

    /// # Errors
    ///
    /// Why no way led to a schedule.
    pub fn into_outcome(self) -> Result<Outcome, PlanError> {
        self.found.ok_or_else(|| PlanError::of_all(self.failures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::account::StopReason;
    use collsynth_core::certificate::Bounds;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::schedule::Schedule;
    use collsynth_core::topology::Topology;

    #[test]
    fn the_best_is_kept_and_is_what_the_next_has_to_beat() {
        let problem = Problem::new(Topology::torus(&[4]).unwrap(), Collective::new(Kind::AllGather)).unwrap();
        let bounds = Bounds::default();
        let of = |widths: &[u32]| Schedule::of_widths(widths.iter().copied());
        let found = |widths: &[u32]| Ok(Outcome::new(of(widths), StopReason::Finished));
        let task = Task { incumbent: Some((2, 7)), ..Task::new(&problem, &bounds) };
        let mut best = Best::new(&task);
        best.add(found(&[4, 4]));
        assert_eq!(best.task().incumbent, Some((2, 7)), "another planner's is narrower");
        for (widths, incumbent) in [(&[2, 2, 2][..], (3, 6)), (&[3, 3], (2, 6)), (&[1; 9], (2, 6))] {
            best.add(found(widths));
            assert_eq!(best.task().incumbent, Some(incumbent));
        }
        best.add(Err(PlanError::takes_too_long("another")));
        assert_eq!(best.into_outcome().unwrap().schedule, of(&[3, 3]));
        let mut none = Best::new(&task);
        none.add(Err(PlanError::takes_too_long("some")));
        assert_eq!(none.into_outcome().unwrap_err(), PlanError::takes_too_long("some"));
    }
}
