//! No word of optimality says more than is proven: whatever is claimed of a schedule or in its file, no schedule by any
//! planner in any number of parts and steps contradicts it, unless the claim names its parts.

use std::time::{Duration, Instant};

use collsynth::certificate::{Bounds, Rational, Scope};
use collsynth::claim::{Quality, Standing, volume};
use collsynth::collective::{Demand, Kind};
use collsynth::plan::{Control, Goal, Parts, Plan, PlanError, planners};
use collsynth::report::collective::cut;
use collsynth::report::overview::figures;
use collsynth::schedule::{AnySchedule, Stated};
use collsynth::topology::{FailedLink, RankId, Topology, TopologySpec};
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify};
use collsynth::{PlannedSchedule, Request};
use rayon::prelude::*;

/// Numbers of parts in which everything is planned; the last lets volumes come close to bounds for any parts.
const PARTS: [u32; 6] = [1, 2, 3, 4, 6, 24];

/// What a search may take; a planner that runs out of it is no rival.
const PATIENCE: Duration = Duration::from_millis(100);

/// A verified schedule: what it reaches, and what is claimed of it.
struct Point {
    from: String,
    parts: u32,
    steps: u32,
    volume: Rational,
    quality: Quality,
    bounds: Bounds,
}

#[test]
fn nothing_planned_contradicts_a_claim() {
    let machines = machines();
    let cases = machines.iter().flat_map(|(name, topology)| {
        kinds(topology.rank_count() as u32).into_iter().map(move |kind| (name, topology, kind))
    });
    let cases: Vec<_> = cases.collect();
    let claims = cases.par_iter().map(|(name, topology, kind)| {
        let points = points(topology, kind);
        assert!(points.len() > PARTS.len() || !kind.can_be_cut(), "{name}, {}: {}", kind.name(), points.len());
        for claimant in &points {
            let wrong = points.iter().find_map(|rival| Some((contradiction(claimant, rival)?, rival)));
            if let Some((claim, rival)) = wrong {
                let Point { from, steps, volume, .. } = rival;
                panic!("{name}: {} claims {claim}, but {from} has {steps} steps, volume {volume}", claimant.from);
            }
        }
        let of = |scope| points.iter().filter(|point| point.quality.volume.standing.scope() == Some(scope)).count();
        (of(Scope::AnyParts), of(Scope::TheseParts))
    });
    let (any, these) = claims.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!(any > 1000 && these > 1000, "{any} claims for any parts, {these} for these parts");
}

/// A claim about one schedule that another proves wrong, in words.
fn contradiction(of: &Point, rival: &Point) -> Option<String> {
    let about = |scope: Scope| scope == Scope::AnyParts || rival.parts == of.parts;
    let (shorter, narrower) = (rival.steps < of.steps, rival.volume < of.volume);
    let steps_wrong = match of.quality.steps.standing {
        Standing::Optimal(scope) => about(scope) && shorter,
        Standing::OptimalJointly(scope) => about(scope) && shorter && rival.volume <= of.volume,
        Standing::Above(..) | Standing::Unknown => false,
    };
    let volume_wrong = match of.quality.volume.standing {
        Standing::Optimal(scope) => about(scope) && narrower,
        Standing::OptimalJointly(scope) => about(scope) && rival.steps <= of.steps && narrower,
        Standing::Above(..) | Standing::Unknown => false,
    };
    let bound_on_steps = of.bounds.steps.as_ref().filter(|bound| rival.steps < bound.at_least);
    let bound_on_volume =
        of.bounds.volume.as_ref().filter(|bound| about(bound.scope()) && rival.volume < bound.at_least);
    let joint = of.bounds.joint.iter().find(|bound| rival.steps <= bound.steps && rival.volume < bound.at_least);
    let words = [
        steps_wrong.then(|| format!("{:?} for its {} steps", of.quality.steps, of.steps)),
        volume_wrong.then(|| format!("{:?} for its volume {}", of.quality.volume, of.volume)),
        bound_on_steps.map(|bound| format!("{bound:?}")),
        bound_on_volume.map(|bound| format!("{bound:?}")),
        joint.map(|bound| format!("{bound:?}")),
    ];
    words.into_iter().flatten().next()
}

/// What every planner, and all of them together, make of the collective.
fn points(topology: &Topology, kind: &Kind) -> Vec<Point> {
    let mut points = Vec::new();
    for parts in PARTS {
        let (kind, parts) = match kind.demand() {
            Some(demand) => (Kind::AllToAllV(times(demand, topology.rank_count() as u32, parts)), parts),
            None if kind.can_be_cut() => (kind.clone(), parts),
            None => (kind.clone(), 1),
        };
        let goal = Goal { parts: Parts::Fixed(parts), ..Goal::default() };
        let named = planners().iter().map(|&planner| (planner.name(), Goal { planner: Some(planner), ..goal }));
        let mut goals: Vec<(&str, Goal<'_>)> = named.collect();
        goals.push(("auto", goal));
        let least = points.iter().map(|point: &Point| point.steps).min().unwrap_or(1);
        goals.extend((0..3).map(|more| ("auto, in steps", Goal { steps: Some(least + more), ..goal })));
        for (name, goal) in goals {
            let control = Control::unlimited().with_deadline(Instant::now() + PATIENCE);
            match planned(topology, &kind, &goal, control) {
                Ok(plan) => points.push(point(format!("{name}, {} in {parts} parts", kind.name()), plan)),
                Err(PlanError::NotApplicable { .. } | PlanError::Stopped { .. } | PlanError::Undecided { .. }) => {}
                Err(
                    PlanError::TooFewSteps { .. }
                    | PlanError::NotFound { .. }
                    | PlanError::NobodyFound { .. }
                    | PlanError::Refuted { .. },
                ) if goal.steps.is_some() => {}
                Err(error) => panic!("{name}: {error}"),
            }
        }
    }
    points
}

/// As the command does it, with joint bounds.
fn planned(
    topology: &Topology,
    kind: &Kind,
    goal: &Goal<'_>,
    control: Control,
) -> Result<Plan<AnySchedule>, PlanError> {
    Request::new(topology, kind.clone()).goal(*goal).control(control).run().map(PlannedSchedule::into_inner)
}

/// Has a schedule verified with its bounds, and its words compared with its claims.
fn point<S: Stated>(from: String, plan: Plan<S>) -> Point {
    let solution = plan.into();
    assert_eq!(verify(&solution, &Options::default()).verdict(), Verdict::Holds, "{from}");
    let (problem, schedule) = (&solution.problem, &solution.schedule);
    let quality = Quality::new(problem, schedule, &solution.bounds);
    let text = figures(problem, schedule, Some(&solution.bounds)).to_string();
    for (line, standing) in text.lines().zip([quality.steps.standing, quality.volume.standing]) {
        let names_parts = line.contains(&format!(" for {}", cut(problem)));
        // A gap may be that of the parts although the bound holds for any.
        let must = standing.scope() == Some(Scope::TheseParts);
        let may = must || matches!(standing, Standing::Above(..));
        assert!(if names_parts { may } else { !must }, "{from}: {line}, {standing:?}");
        assert_eq!(line.contains("optimum") || line.contains("certified"), claims(standing, line), "{from}: {line}");
    }
    Point {
        from,
        parts: problem.parts(),
        steps: schedule.step_count() as u32,
        volume: volume(problem, schedule),
        quality,
        bounds: solution.bounds,
    }
}

fn claims(standing: Standing, line: &str) -> bool {
    match standing {
        Standing::Optimal(..) | Standing::OptimalJointly(..) => true,
        Standing::Above(..) => line.trim_start().starts_with("volume"),
        Standing::Unknown => false,
    }
}

/// The same demand in chunks of a part each.
fn times(demand: &Demand, ranks: u32, parts: u32) -> Demand {
    let counts: Vec<u32> = demand.counts().map(|count| count * parts).collect();
    Demand::new(ranks, &counts).expect("a square matrix")
}

fn machines() -> Vec<(String, Topology)> {
    let mut machines = Vec::new();
    for extents in [&[3][..], &[4], &[5], &[2, 2], &[2, 3]] {
        let spec = TopologySpec::torus(extents);
        let link = FailedLink { from: RankId(0), to: RankId(1), dim: None, both: false };
        let damaged = [
            ("intact", spec.clone()),
            ("a dead cable", TopologySpec { failed_links: vec![FailedLink { both: true, ..link }], ..spec.clone() }),
            ("a dead direction", TopologySpec { failed_links: vec![link], ..spec }),
        ];
        for (name, spec) in damaged {
            // Two links join the same ranks where a dimension of extent 2 wraps.
            if let Ok(topology) = Topology::new(spec) {
                machines.push((format!("{extents:?}, {name}"), topology));
            }
        }
    }
    machines
}

fn kinds(ranks: u32) -> Vec<Kind> {
    let counts: Vec<u32> = (0..ranks * ranks).map(|pair| (pair * 7 + pair / ranks * 3) % 5 % 3).collect();
    Kind::every(RankId(ranks / 2), Demand::new(ranks, &counts).expect("a square matrix")).to_vec()
}

#[test]
fn a_joint_bound_rounded_up_to_whole_messages_says_so() {
    let spec = TopologySpec::torus(&[7]);
    let link = FailedLink { from: RankId(0), to: RankId(1), dim: None, both: false };
    let topology = Topology::new(TopologySpec { failed_links: vec![link], ..spec }).expect("a ring");
    let rows = ["2021110", "2100002", "0000012", "2002122", "0002001", "2021000", "1021021"];
    let counts: Vec<u32> = rows.iter().flat_map(|row| row.bytes().map(|digit| u32::from(digit - b'0'))).collect();
    let demand = Demand::new(7, &counts).expect("a square matrix");
    let words = |parts: u32| {
        let kind = Kind::AllToAllV(times(&demand, 7, parts));
        let goal = Goal { parts: Parts::Fixed(parts), steps: Some(5), ..Goal::default() };
        let plan = planned(&topology, &kind, &goal, Control::unlimited()).expect("a plan");
        figures(&plan.problem, &plan.schedule, Some(&plan.bounds)).to_string()
    };
    // The file proves 45/4, and messages cut in two reach 23/2.
    let (whole, halves) = (words(1), words(2));
    assert!(whole.contains("12 ") && whole.contains("the least in this many steps for whole messages"), "{whole}");
    assert!(halves.contains("23/2 "), "{halves}");
}
