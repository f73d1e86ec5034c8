//! Time limits, interruption and progress of a running planner.

pub mod budget;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use collsynth_core::certificate::{Bounds, Rational, VolumeBound};
use collsynth_core::collective::Kind;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::Topology;
use collsynth_lp::Limit;

use crate::model::account::StopReason;
use crate::model::error::PlanError;
use collsynth_bound as bound;
use collsynth_bound::{Claim, FlowLimit};

/// A planner's progress report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The planner.
    pub planner: &'a str,
    /// What it is trying: "6 steps, width 34".
    pub attempt: &'a str,
    /// Rounds done in this attempt.
    pub round: u64,
    /// Conflicts left in this attempt (overfull slots, say); 0 means done.
    pub remaining: u64,
}

/// The best schedule so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incumbent<'a> {
    /// Who found it.
    pub planner: &'a str,
    /// Parts of a message.
    pub parts: u32,
    /// Its steps.
    pub steps: usize,
    /// Its volume.
    pub volume: Rational,
    /// The bound on the volume of any schedule, if one is known.
    pub bound: Option<Rational>,
}

type Listener = dyn Fn(Progress<'_>) + Send + Sync;
type IncumbentListener = dyn Fn(Incumbent<'_>) + Send + Sync;

/// The bounds of so many problems are kept.
const MOST_KNOWN: usize = 8;

/// A problem whose bounds have been found.
struct Known {
    machine: Topology,
    kind: Kind,
    parts: u32,
    bounds: Bounds,
    /// What [`Control::sharper`] has found.
    sharper: Option<Option<VolumeBound>>,
}

impl Known {
    fn is_of(&self, problem: &Problem) -> bool {
        let kind = &problem.collective().kind;
        // The messages of a demand are counted in parts.
        let same_parts = kind.demand().is_none() || self.parts == problem.parts();
        self.kind == *kind && same_parts && self.machine == *problem.machine()
    }
}

/// What is done with a plan within the same limit, which began then.
#[derive(Clone, Copy)]
struct Afterward {
    began: Instant,
    takes: fn(&Problem) -> Duration,
    /// What is kept for a plan that there is already.
    kept: Duration,
}

/// Tells a planner when to stop and where to report progress.
#[derive(Clone, Default)]
pub struct Control {
    deadline: Option<Instant>,
    afterward: Option<Afterward>,
    interrupted: Arc<AtomicBool>,
    /// The latest first.
    known: Arc<Mutex<VecDeque<Known>>>,
    listener: Option<Arc<Listener>>,
    incumbents: Option<Arc<IncumbentListener>>,
}

impl Control {
    /// No limit and no listener.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Stops at this time.
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Leaves time before the deadline for what is done with a plan of a problem afterward, such as judging it: what
    /// `takes` says, but at most half of the time since the limit began.
    pub fn leaving(self, began: Instant, takes: fn(&Problem) -> Duration) -> Self {
        Self { afterward: Some(Afterward { began, takes, kept: Duration::ZERO }), ..self }
    }

    /// The same, but no less than this, whatever is left: what is done with a plan that there is already.
    pub fn keeping(self, kept: Duration) -> Self {
        Self { afterward: self.afterward.map(|afterward| Afterward { kept, ..afterward }), ..self }
    }

    /// The same where what is done afterward takes another time.
    pub fn leaving_instead(self, takes: fn(&Problem) -> Duration) -> Self {
        Self { afterward: self.afterward.map(|afterward| Afterward { takes, ..afterward }), ..self }
    }

    /// The same for planning this problem: the deadline is earlier by the time that is left.
    pub fn planning(&self, problem: &Problem) -> Self {
        self.planning_all(std::slice::from_ref(problem))
    }

    /// The same for planning these problems together.
    pub fn planning_all(&self, problems: &[Problem]) -> Self {
        let (Some(deadline), Some(Afterward { began, takes, kept })) = (self.deadline, self.afterward) else {
            return self.clone();
        };
        let most = deadline.saturating_duration_since(began) / 2;
        let time = problems.iter().map(takes).fold(Duration::ZERO, Duration::saturating_add);
        let deadline = deadline.checked_sub(time.min(most).max(kept)).unwrap_or(began);
        Self { deadline: Some(deadline), afterward: None, ..self.clone() }
    }

    /// The same with half of the remaining time, for what may find nothing.
    pub fn halfway(&self) -> Self {
        self.one_share_of(2)
    }

    /// The same with one of this many equal shares of the remaining time.
    pub fn one_share_of(&self, shares: u32) -> Self {
        let now = Instant::now();
        let earlier = |deadline: Instant| now + deadline.saturating_duration_since(now) / shares;
        Self { deadline: self.deadline.map(earlier), ..self.clone() }
    }

    /// Does a plan of this problem leave half of the time for planning it?
    pub fn has_time_for(&self, problem: &Problem) -> bool {
        self.afterward.is_none_or(|afterward| self.leaves_half((afterward.takes)(problem)))
    }

    /// Does this leave half of the time for planning?
    pub fn leaves_half(&self, afterward: Duration) -> bool {
        let half = |Afterward { began, .. }| self.deadline.map(|at| at.saturating_duration_since(began) / 2);
        self.afterward.and_then(half).is_none_or(|half| afterward <= half)
    }

    /// Is it too late for what is done with a plan of this problem afterward? Two thirds of what it is said to take may
    /// do.
    pub fn is_too_late_for(&self, problem: &Problem) -> bool {
        self.afterward.is_some_and(|afterward| self.is_too_late((afterward.takes)(problem) * 2 / 3))
    }

    /// Is it too late for what is done with a plan afterward, if that takes so long?
    pub fn is_too_late(&self, afterward: Duration) -> bool {
        self.afterward.is_some() && self.deadline.is_some_and(|deadline| Instant::now() + afterward > deadline)
    }

    /// Is there a deadline?
    pub fn is_limited(&self) -> bool {
        self.deadline.is_some()
    }

    /// Stops when this becomes true (a Ctrl-C handler sets it).
    pub fn with_interrupt(self, interrupted: Arc<AtomicBool>) -> Self {
        Self { interrupted, ..self }
    }

    /// Reports progress to this function, from any thread.
    pub fn with_listener(self, listener: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Reports every schedule that is better than those before it to this function, from any thread.
    pub fn with_incumbents(self, listener: impl Fn(Incumbent<'_>) + Send + Sync + 'static) -> Self {
        Self { incumbents: Some(Arc::new(listener)), ..self }
    }

    /// The same without listeners, for plans of parts of a problem.
    pub fn without_listeners(&self) -> Self {
        Self { listener: None, incumbents: None, ..self.clone() }
    }

    /// The reason to stop now, if any. Cheap; polled between pieces of work.
    pub fn stop(&self) -> Option<StopReason> {
        if self.interrupted.load(Ordering::Relaxed) {
            Some(StopReason::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(StopReason::TimeLimit)
        } else {
            None
        }
    }

    /// The same where this much time must be left.
    pub fn stop_before(&self, left: Duration) -> Option<StopReason> {
        let is_late = || self.deadline.is_some_and(|deadline| Instant::now() + left >= deadline);
        self.stop().or_else(|| is_late().then_some(StopReason::TimeLimit))
    }

    /// The same as a limit for solvers of linear programs.
    pub fn limit(&self) -> Limit {
        let flag = Arc::clone(&self.interrupted);
        let limit = Limit::NONE.unless(move || flag.load(Ordering::Relaxed));
        match self.deadline {
            Some(deadline) => limit.until(deadline),
            None => limit,
        }
    }

    /// The [bounds](bound::find) of a problem, found before the deadline, and once for all its parts and all clones of
    /// this control.
    ///
    /// # Errors
    ///
    /// [`PlanError::Disconnected`] or [`PlanError::Stopped`].
    pub fn bounds(&self, problem: &Problem) -> Result<Bounds, PlanError> {
        let kind = &problem.collective().kind;
        if let Some(known) = self.known().iter().find(|known| known.is_of(problem)) {
            return Ok(known.bounds.clone());
        }
        let found = bound::find_within(problem, &self.limit())?;
        let stopped = || PlanError::Stopped { stopped: self.stop().unwrap_or(StopReason::TimeLimit) };
        let bounds = found.ok_or_else(stopped)?;
        let (machine, kind, parts) = (problem.machine().clone(), kind.clone(), problem.parts());
        let mut known = self.known();
        known.truncate(MOST_KNOWN - 1);
        known.push_front(Known { machine, kind, parts, bounds: bounds.clone(), sharper: None });
        Ok(bounds)
    }

    /// A bound on the volume that takes up to a second to find, once for all parts of a problem: that of the flow LP,
    /// if it has at most [`FlowLimit::UNASKED`] variables after symmetries, or for trees in groups of the tree LP.
    pub(crate) fn sharper(&self, problem: &Problem) -> Option<VolumeBound> {
        if let Some(found) =
            self.known().iter().find(|known| known.is_of(problem)).and_then(|known| known.sharper.clone())
        {
            return found;
        }
        let limit = FlowLimit { variables: FlowLimit::UNASKED, solver: self.limit() };
        let flow = bound::flow_bound(problem, &limit).ok().and_then(|flow| flow.finding);
        let finding = flow.or_else(|| bound::tree_bound(problem, &limit.solver));
        let found = finding.and_then(|finding| match finding.claim {
            Claim::Volume(found) => Some(found),
            Claim::Steps(_) => None,
        });
        // Whoever has more time may find more.
        if self.stop().is_none()
            && let Some(known) = self.known().iter_mut().find(|known| known.is_of(problem))
        {
            known.sharper = Some(found.clone());
        }
        found
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies the listener, if there is one.
    pub fn report(&self, progress: Progress<'_>) {
        if let Some(listener) = &self.listener {
            listener(progress);
        }
    }

    /// Notifies the listener of incumbents, if there is one, that a planner's schedule is the best so far.
    pub fn found(&self, planner: &str, problem: &Problem, bounds: &Bounds, schedule: &Schedule) {
        if let Some(listener) = &self.incumbents {
            let (parts, bound) = (problem.parts(), bounds.volume.as_ref().map(|bound| bound.at_least));
            let volume = Rational::new(schedule.total_width().into(), parts.into());
            listener(Incumbent { planner, parts, steps: schedule.step_count(), volume, bound });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::collective::{Collective, Demand};
    use collsynth_core::topology::RankId;

    #[test]
    fn time_is_left_for_what_follows_but_no_more_than_half() {
        let problem =
            |parts| Problem::new(Topology::torus(&[4]).unwrap(), Collective { kind: Kind::AllReduce, parts }).unwrap();
        let (began, second) = (Instant::now(), Duration::from_secs(1));
        let control = Control::unlimited().with_deadline(began + 10 * second);
        assert_eq!(control.planning(&problem(1)).deadline, control.deadline, "nothing follows");
        let half = control.halfway().deadline.unwrap();
        assert!(half >= began + 5 * second && half < began + 10 * second);
        let quarter = control.one_share_of(4).deadline.unwrap();
        assert!(quarter >= began + 5 * second / 2 && quarter < half);
        let stops = [1, 11].map(|left| control.stop_before(left * second));
        assert_eq!(stops, [None, Some(StopReason::TimeLimit)]);
        assert_eq!(Control::unlimited().stop_before(11 * second), None);
        let control = control.leaving(began, |problem| Duration::from_secs(problem.parts().into()));
        for (parts, planning, has_time) in [(1, 9, true), (5, 5, true), (6, 5, false)] {
            let planned = control.planning(&problem(parts));
            assert_eq!(planned.deadline, Some(began + planning * second), "{parts}");
            assert_eq!(planned.planning(&problem(parts)).deadline, planned.deadline, "once");
            assert_eq!(control.has_time_for(&problem(parts)), has_time, "{parts}");
        }
        assert!(Control::unlimited().has_time_for(&problem(6)));
        assert_eq!([14, 16].map(|parts| control.is_too_late_for(&problem(parts))), [false, true]);
        assert_eq!([9, 11].map(|seconds| control.is_too_late(seconds * second)), [false, true]);
        assert!(!Control::unlimited().is_too_late_for(&problem(16)));
        assert!(!Control::unlimited().with_deadline(began).is_too_late(second), "nothing follows");
    }

    #[test]
    fn bounds_are_found_once_and_are_those_of_the_problem() {
        let demand = Demand::new(6, &(0..36).map(|pair| pair % 4).collect::<Vec<u32>>()).unwrap();
        let whole = Topology::torus(&[2, 3]).unwrap();
        let control = Control::unlimited();
        for kind in Kind::every(RankId(1), demand) {
            for machine in [&whole, &whole.clone().fail_cable(0, 1).unwrap()] {
                for parts in [1, 2, 7] {
                    let collective = Collective { kind: kind.clone(), parts };
                    let Ok(problem) = Problem::new(machine.clone(), collective) else { continue };
                    assert_eq!(
                        control.clone().bounds(&problem),
                        Ok(bound::find(&problem).unwrap()),
                        "{kind:?} {parts}"
                    );
                }
            }
        }
        assert_eq!(control.known().len(), MOST_KNOWN);
        let problem = Problem::new(whole, Collective { kind: Kind::AllGather, parts: 1 }).unwrap();
        control.known().clear();
        control.bounds(&problem).unwrap();
        control.bounds(&problem.with_parts(5).unwrap()).unwrap();
        assert_eq!(control.known().len(), 1);
    }

    #[test]
    fn sharper_bounds_are_found_once_for_all_parts() {
        let torus = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let groups = collsynth_core::collective::Groups::new(vec![[0, 5, 7, 10].map(RankId).to_vec()]).unwrap();
        let kind = Kind::AllToAll.in_groups(groups);
        let problem = |parts| Problem::new(torus.clone(), Collective { kind: kind.clone(), parts }).unwrap();
        let control = Control::unlimited();
        control.bounds(&problem(1)).unwrap();
        let found = control.sharper(&problem(1));
        assert!(found.is_some());
        assert_eq!(control.known()[0].sharper, Some(found.clone()));
        assert_eq!(control.sharper(&problem(5)), found);
    }
}
