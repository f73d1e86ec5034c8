//! Plans that the judge refuses: who made them is left out, and what the others plan is judged.

use collsynth_core::schedule::{AnySolution, Origin};
use collsynth_plan::{Account, Planner, StopReason, planners};
use collsynth_verify::verify::{Report, Verified};

use super::{PlannedSchedule, Request};
use crate::form::{Form, FormError};

/// A schedule that holds, and what its planner said of it.
#[derive(Debug)]
pub struct Judged {
    /// The schedule.
    pub solution: Verified<AnySolution>,
    /// Who planned it.
    pub planner: &'static str,
    /// Why planning ended.
    pub stopped: StopReason,
    /// What the planner says besides.
    pub account: Account,
}

impl<'a> Request<'a> {
    /// Chooses among these planners, where none is stated by name; anyone may implement [`Planner`].
    pub fn among(mut self, planners: &'a [&'a dyn Planner]) -> Self {
        self.goal.among = Some(planners);
        self
    }

    /// Has a plan of this request judged, as [`PlannedSchedule::verify_as`] does. If it does not hold, its planner has
    /// a bug: unless it was stated by name, it is left out, and what the others plan is judged instead. `wrong` hears
    /// of each.
    ///
    /// # Errors
    ///
    /// As [`PlannedSchedule::verify_as`], of the plan given.
    pub fn judged(
        &self,
        plan: PlannedSchedule,
        form: Option<Form>,
        origin: impl Fn(&'static str) -> Origin,
        mut wrong: impl FnMut(&'static str, &Report),
    ) -> Result<Judged, FormError> {
        let mut left: Vec<&dyn Planner> = self.goal.among.unwrap_or(planners()).to_vec();
        let (mut plan, mut first) = (plan, None);
        loop {
            let (planner, stopped, account) = (plan.planner, plan.stopped, plan.account.clone());
            let error = match plan.verify_as(form, origin(planner)) {
                Ok(solution) => return Ok(Judged { solution, planner, stopped, account }),
                Err(error) => error,
            };
            let FormError::Rejected(rejected) = &error else { return Err(error) };
            let count = left.len();
            left.retain(|other| other.name() != planner);
            if self.goal.planner.is_some() || left.len() == count {
                return Err(first.unwrap_or(error));
            }
            wrong(planner, &rejected.report);
            let first = &*first.get_or_insert(error);
            match self.clone().among(&left).run() {
                Ok(next) => plan = next,
                Err(_) => return Err(first.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::Kind;
    use collsynth_core::schedule::Schedule;
    use collsynth_core::topology::Topology;
    use collsynth_plan::{Control, Negotiated, Outcome, PlanError, Scope, Task};

    use super::*;

    /// Has the best of all schedules: nothing moves.
    struct Idle;

    impl Planner for Idle {
        fn name(&self) -> &'static str {
            "idle"
        }

        fn summary(&self) -> &'static str {
            "nothing"
        }

        fn scope(&self) -> Scope {
            Scope::of(&["all_to_all"])
        }

        fn plan(&self, _: &Task<'_>, _: &Control) -> Result<Outcome, PlanError> {
            Ok(Outcome::new(Schedule::of_widths([1]), StopReason::Finished))
        }
    }

    fn judged(request: &Request<'_>) -> (Result<Judged, FormError>, Vec<&'static str>) {
        let mut wrong = Vec::new();
        let plan = request.run().unwrap();
        let judged = request.judged(
            plan,
            None,
            |_| Origin::default(),
            |planner, report| {
                assert!(!report.violations.is_empty());
                wrong.push(planner);
            },
        );
        (judged, wrong)
    }

    #[test]
    fn a_planner_that_is_wrong_is_left_out() {
        let torus = Topology::torus(&[3, 3]).unwrap();
        let request = || Request::new(&torus, Kind::AllToAll);
        let both: [&dyn Planner; 2] = [&Idle, &Negotiated];
        let (found, wrong) = judged(&request().among(&both));
        assert_eq!((found.unwrap().planner, wrong), ("negotiated", vec!["idle"]));
        // Nobody is right, or nobody else was asked for.
        let alone: [&dyn Planner; 1] = [&Idle];
        let (found, wrong) = judged(&request().among(&alone));
        assert!(matches!(found, Err(FormError::Rejected(_))) && wrong == ["idle"]);
        let (found, wrong) = judged(&request().planner(&Idle));
        assert!(matches!(found, Err(FormError::Rejected(_))) && wrong.is_empty());
        // Who is right is judged once.
        let (found, wrong) = judged(&request());
        assert!(found.is_ok() && wrong.is_empty());
    }
}
