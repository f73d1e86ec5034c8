//! Problems, plans for them, and the figures of plans that verify.

use collsynth::bound;
use collsynth::certificate::Rational;
use collsynth::collective::{Collective, Kind};
use collsynth::cost::Price;
use collsynth::plan::{Control, Goal, Parts, Phase, Plan, PlanError, Task, planner_named, synthesize};
use collsynth::problem::Problem;
use collsynth::schedule::Solution;
use collsynth::topology::{DimRef, Direction, FailedLink, GraphLink, RankId, Shape, Topology, TopologySpec, Torus};
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify};
use num_rational::Ratio;

/// A torus without these cables and ranks.
pub fn torus(extents: &[u32], cables: &[(u32, u32)], failed_ranks: &[u32]) -> Topology {
    Topology::new(TopologySpec::torus(extents).without_cables(cables).without_ranks(failed_ranks)).unwrap()
}

/// The machine of links `(from, to, capacity)`.
pub fn graph(ranks: u32, links: &[(u32, u32, u32)]) -> Topology {
    let link = |&(from, to, capacity): &_| GraphLink { from: RankId(from), to: RankId(to), capacity };
    Topology::new(TopologySpec::new(Shape::Graph { ranks, links: links.iter().map(link).collect() })).unwrap()
}

/// A torus with the wraps and capacities given, and nothing failed.
pub fn intact(torus: Torus) -> Topology {
    Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap()
}

/// A cable: the rank below it, and its dimension.
pub type Cable = (u32, u8);

/// A torus without these cables.
pub fn without(torus: Torus, cables: &[Cable]) -> Topology {
    let failed = |&(from, dim): &Cable| {
        let (extent, stride) = (torus.extents[dim as usize], torus.stride(dim.into()));
        let position = torus.position(RankId(from), dim.into());
        let to = RankId(from - position * stride + (position + 1) % extent * stride);
        let doubled = extent == 2 && torus.wrap.get(dim as usize) == Some(&true);
        let dim = if doubled { DimRef::Direction(Direction { dim, positive: true }) } else { DimRef::Dim(dim) };
        FailedLink { from: RankId(from), to, dim: Some(dim), both: true }
    };
    let failed_links = cables.iter().map(failed).collect();
    Topology::new(TopologySpec { failed_links, ..TopologySpec::new(Shape::Torus(torus.clone())) }).unwrap()
}

/// The collective on the machine, in whole messages.
pub fn problem(topology: Topology, kind: Kind) -> Problem {
    Problem::new(topology, Collective::new(kind)).unwrap()
}

pub fn ratio(numerator: impl Into<i128>, denominator: impl Into<i128>) -> Rational {
    Ratio::new(numerator.into(), denominator.into())
}

/// By this planner, in this number of parts.
pub fn goal(planner: &str, parts: u32) -> Goal<'static> {
    Goal { planner: Some(planner_named(planner).unwrap()), parts: Parts::Fixed(parts), ..Goal::default() }
}

/// Planned without a limit.
pub fn plan_for(topology: &Topology, kind: &Kind, goal: &Goal<'_>) -> Result<Plan, PlanError> {
    synthesize(topology, kind, goal, &Control::unlimited())
}

/// Planned by this planner, or by the best one.
pub fn plan<'a>(
    planner: impl Into<Option<&'a str>>,
    topology: &Topology,
    kind: Kind,
    parts: u32,
) -> Result<Plan, PlanError> {
    let planner = planner.into().map(|name| planner_named(name).unwrap());
    plan_for(topology, &kind, &Goal { planner, parts: Parts::Fixed(parts), ..Goal::default() })
}

/// One planner's own solution of a problem, for a price if there is one; and the phases of its algorithm.
pub fn planned_alone(name: &str, problem: Problem, price: Option<Price>) -> Result<(Solution, Vec<Phase>), PlanError> {
    let bounds = bound::find(&problem)?;
    let task = Task { price, ..Task::new(&problem, &bounds) };
    let outcome = planner_named(name)?.plan(&task, &Control::unlimited())?;
    Ok((Solution { problem, schedule: outcome.schedule, bounds, origin: None }, outcome.account.phases().to_vec()))
}

/// Steps and total width of a schedule that verifies without a warning, as do its certificates.
pub fn figures(plan: &Plan) -> (u32, u32) {
    let report = verify(&plan.clone().into(), &Options::default());
    assert!(report.verdict() == Verdict::Holds && report.warnings.is_empty(), "{}: {report:?}", plan.planner);
    (plan.schedule.step_count() as u32, plan.schedule.total_width() as u32)
}

/// Its steps and volume.
pub fn steps_and_volume(plan: &Plan) -> (u32, Rational) {
    let (steps, width) = figures(plan);
    (steps, ratio(width, plan.problem.parts()))
}
