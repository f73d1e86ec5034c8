//! The SMT planner's results on a case, and the file that keeps them (`tests/data/optima.txt`).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use collsynth::bound::{self, FlowLimit};
use collsynth::certificate::{Bounds, check_volume};
use collsynth::collective::Collective;
#[cfg(feature = "z3")]
use collsynth::plan::SmtBackend;
use collsynth::plan::{Control, Goal, Minimize, Parts, Plan, PlanError, Refutation, Smt, planner_named, synthesize};
use collsynth::problem::Problem;
use collsynth::schedule::{Schedule, Solution};
use collsynth::verify::{Options, Verified};

use super::machines::Case;

/// The time limit of either goal of a case whose answer follows from bounds.
const SHORT: Duration = Duration::from_secs(3);

/// Steps and total width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Figures {
    pub steps: u32,
    pub width: u32,
}

/// The known facts of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The least width, in the fewest steps that allow it.
    pub least: Option<Figures>,
    /// The fewest steps, with the least width that they allow.
    pub fewest: Option<Figures>,
    /// The best schedules the solver has, where it was stopped.
    pub found: Vec<Figures>,
    /// What the solver has refuted.
    pub refuted: Vec<Figures>,
}

impl Figures {
    pub fn of(schedule: &Schedule) -> Self {
        Self { steps: schedule.step_count() as u32, width: schedule.total_width() as u32 }
    }

    /// The least width counts first.
    pub fn by_width(self) -> (u32, u32) {
        (self.width, self.steps)
    }
}

impl Facts {
    /// Is there proof that no schedule has these figures?
    pub fn exclude(&self, figures: Figures, moves: bool) -> bool {
        let Figures { steps, width } = figures;
        let narrower = |best: Figures| figures.by_width() < best.by_width();
        let shorter = |best: Figures| figures < best;
        let refuted = |known: &Figures| width <= known.width && (known.steps == steps || moves && steps <= known.steps);
        self.least.is_some_and(narrower) || self.fewest.is_some_and(shorter) || self.refuted.iter().any(refuted)
    }
}

/// The bounds of a case, with those of flows where they are larger.
pub fn bounds(case: &Case) -> (Problem, Bounds) {
    let problem =
        Problem::new(case.machine.topology(), Collective { kind: case.kind.clone(), parts: case.parts }).unwrap();
    let mut bounds = bound::find(&problem).unwrap();
    let limit = FlowLimit::of_size(16_000);
    let flow = bound::flow_bound(&problem, &limit).ok();
    if let Some(bound::Claim::Volume(found)) = flow.and_then(|flow| flow.finding).map(|finding| finding.claim)
        && bounds.volume.as_ref().is_none_or(|known| known.at_least < found.at_least)
    {
        bounds.volume = Some(found);
    }
    let over_time = bound::over_time(&problem, &bounds, &limit);
    if let Some(bound::Claim::Volume(found)) = over_time.map(|finding| finding.claim) {
        check_volume(&problem, &found).unwrap();
        bounds.volume = Some(found);
    }
    (problem, bounds)
}

/// No schedule has less than these, each by itself.
pub fn least(case: &Case) -> Figures {
    let (_, bounds) = bounds(case);
    let steps = bounds.least_steps();
    Figures { steps, width: bounds.least_width(case.parts).max(steps) }
}

/// A planner's verified figures; `None` if it does not apply.
pub fn planned(case: &Case, planner: Option<&str>) -> Option<(&'static str, Figures)> {
    let goal = Goal {
        planner: planner.map(|name| planner_named(name).unwrap()),
        parts: Parts::Fixed(case.parts),
        ..Goal::default()
    };
    match plan(case, &goal, &Control::unlimited()) {
        Ok(plan) => Some((plan.planner, Figures::of(&plan.schedule))),
        Err(PlanError::NotApplicable { .. }) => None,
        Err(error) => panic!("{case}, planner {planner:?}: {error}"),
    }
}

/// Asks the SMT planner for both ends of the front, within `time` each.
pub fn judge(case: &Case, time: Duration) -> Facts {
    let bound = least(case);
    // A verified schedule that meets both bounds needs no solver; the solver has a short time to find one itself.
    let met = planned(case, None).is_some_and(|(_, figures)| figures == bound);
    let time = if met { SHORT } else { time };
    let mut facts = Facts::default();
    facts.least = best_of(case, Minimize::Volume, time, &mut facts);
    if met {
        assert!(
            facts.least.is_none_or(|least| least == bound) && !facts.exclude(bound, case.moves()),
            "{case}: {facts}"
        );
        facts.least = Some(bound);
    }
    facts.fewest = match facts.least {
        Some(least) if least.steps == bound.steps => Some(least),
        _ => best_of(case, Minimize::Steps, time, &mut facts),
    };
    facts.refuted.sort_unstable();
    facts.refuted.dedup();
    if facts.least.is_some() && facts.fewest.is_some() {
        facts.found.clear();
    }
    facts
}

/// The best by this goal, if it is proven in time.
fn best_of(case: &Case, minimize: Minimize, time: Duration, facts: &mut Facts) -> Option<Figures> {
    let smt = Smt { minimize, ..Smt::new() };
    let goal = Goal { planner: Some(&smt), parts: Parts::Fixed(case.parts), ..Goal::default() };
    let (refuted, best) = match plan(case, &goal, &Control::unlimited().with_deadline(Instant::now() + time)) {
        Ok(plan) if plan.account.is_proven() => (plan.account.refuted().to_vec(), Some(Figures::of(&plan.schedule))),
        Ok(plan) => {
            facts.found.push(Figures::of(&plan.schedule));
            (plan.account.refuted().to_vec(), None)
        }
        Err(PlanError::Undecided { refuted, .. }) => (refuted, None),
        Err(error) => panic!("{case}: {error}"),
    };
    facts.refuted.extend(refuted.into_iter().map(|Refutation { steps, width, .. }| Figures { steps, width }));
    best
}

/// Is there a schedule with these figures? `None` if z3 has no answer in time. Figures below a bound found since are
/// not asked: the bound has a certificate.
#[cfg(feature = "z3")]
pub fn asked_of_z3(case: &Case, figures: Figures, time: Duration) -> Option<bool> {
    let smt = Smt { backend: SmtBackend::Z3, width: Some(figures.width), ..Smt::new() };
    let parts = Parts::Fixed(case.parts);
    let goal = Goal { planner: Some(&smt), parts, steps: Some(figures.steps), ..Goal::default() };
    match plan(case, &goal, &Control::unlimited().with_deadline(Instant::now() + time)) {
        Ok(_) => Some(true),
        Err(PlanError::Refuted { .. } | PlanError::TooNarrow { .. }) => Some(false),
        Err(PlanError::Undecided { .. }) => None,
        Err(error) => panic!("{case}, {figures}: {error}"),
    }
}

/// Plans and verifies.
fn plan(case: &Case, goal: &Goal<'_>, control: &Control) -> Result<Plan, PlanError> {
    let plan = synthesize(&case.machine.topology(), &case.kind, goal, control)?;
    if let Err(rejected) = Verified::<Solution>::new(plan.clone().into(), &Options::default()) {
        panic!("{case}: {goal:?}: {:?}", rejected.report.violations.first());
    }
    Ok(plan)
}

/// The file: a line for every case that is judged.
pub fn read(text: &str) -> BTreeMap<String, Facts> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (case, facts) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
            (case.to_owned(), facts.parse().unwrap_or_else(|()| panic!("{line}")))
        })
        .collect()
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.steps, self.width)
    }
}

impl FromStr for Figures {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (steps, width) = text.split_once('/').ok_or(())?;
        Ok(Self { steps: steps.parse().map_err(|_| ())?, width: width.parse().map_err(|_| ())? })
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |end: Option<Figures>| end.map_or("?".to_owned(), |figures| figures.to_string());
        write!(f, "{} {}", end(self.least), end(self.fewest))?;
        for (word, list) in [("found", &self.found), ("refuted", &self.refuted)] {
            if !list.is_empty() {
                write!(f, " {word}")?;
            }
            list.iter().try_for_each(|figures| write!(f, " {figures}"))?;
        }
        Ok(())
    }
}

impl FromStr for Facts {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let mut end = || match words.next() {
            Some("?") => Ok(None),
            word => word.ok_or(())?.parse().map(Some),
        };
        let mut facts = Self { least: end()?, fewest: end()?, ..Self::default() };
        let mut list = None;
        for word in words {
            match word {
                "found" => list = Some(&mut facts.found),
                "refuted" => list = Some(&mut facts.refuted),
                figures => list.as_mut().ok_or(())?.push(figures.parse()?),
            }
        }
        Ok(facts)
    }
}
