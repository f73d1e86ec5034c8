//! Every planner of the registry on small machines with all sorts of failures: its plans verify, never beat a bound and
//! repeat; its refusals have a type and a reason.

use std::collections::BTreeSet;

use collsynth::bound;
use collsynth::certificate::Bounds;
use collsynth::collective::{Collective, Demand, Groups, Kind};
use collsynth::plan::{Control, Machines, PlanError, Planner, Task, planners};
use collsynth::problem::Problem;
use collsynth::schedule::{Schedule, Solution};
use collsynth::topology::{DimRef, FailedLink, GraphLink, RankId, Shape, Topology, TopologySpec, Torus};
use collsynth::verdict::Verdict;
use collsynth::verify::{Code, Finding, Options, verify};

#[test]
fn intact_machines() {
    check_all(|spec| vec![spec]);
}

#[test]
fn one_dead_cable() {
    check_all(|spec| without_cables(spec, 1));
}

#[test]
fn two_dead_cables() {
    check_all(|spec| without_cables(spec, 2));
}

#[test]
fn three_dead_cables() {
    check_all(|spec| without_cables(spec, 3));
}

#[test]
fn one_dead_direction() {
    check_all(|spec| {
        let cables = without_cables(spec, 1).into_iter();
        let one_way = |spec: TopologySpec| {
            let failed_links = spec.failed_links.iter().map(|failed| FailedLink { both: false, ..*failed }).collect();
            TopologySpec { failed_links, ..spec }
        };
        cables.map(one_way).collect()
    });
}

#[test]
fn one_dead_rank() {
    check_all(|spec| match ranks(&spec) {
        1 => Vec::new(),
        ranks => vec![TopologySpec { failed_ranks: vec![RankId(ranks / 2)], ..spec }],
    });
}

/// From rank 0 all can be reached, backward, but rank 2 is reached by no way from rank 3.
#[test]
fn links_of_one_direction() {
    let link = |(from, to)| GraphLink { from: RankId(from), to: RankId(to), capacity: 1 };
    let links = [(0, 3), (3, 0), (2, 0), (2, 1), (1, 2)];
    let back = links.map(|(from, to)| (to, from));
    check_each(
        [links, back]
            .into_iter()
            .map(|links| TopologySpec::new(Shape::Graph { ranks: 4, links: links.into_iter().map(link).collect() })),
    );
}

/// In the steps stated, no more and no fewer, or not at all.
#[test]
fn stated_steps_are_kept() {
    for extents in [&[3][..], &[4], &[2, 2], &[3, 2]] {
        let topology = Topology::torus(extents).unwrap();
        for kind in kinds(topology.rank_count() as u32) {
            let problem = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts: 1 }).unwrap();
            let bounds = bound::find(&problem).unwrap();
            for steps in bounds.least_steps()..bounds.least_steps() + 4 {
                for &planner in planners() {
                    let task = Task { steps: Some(steps), ..Task::new(&problem, &bounds) };
                    let outcome = match planner.plan(&task, &Control::unlimited()) {
                        Ok(outcome) => outcome,
                        // Whoever can wait plans in any steps that suffice.
                        Err(error) => {
                            assert!(planner.name() != "flood" || planner.applies(&problem).is_err(), "{error}");
                            continue;
                        }
                    };
                    let found = outcome.schedule.step_count();
                    assert_eq!(found, steps as usize, "{} {} on {extents:?}", planner.name(), kind.name());
                }
            }
        }
    }
}

/// Around a dead direction, the way back takes longer; over links of several chunks, and in fewer steps than the width,
/// a step carries what needs two. Whatever is planned is right.
#[test]
fn few_steps_and_wide_links_around_a_dead_direction() {
    let mut wrong = Vec::new();
    for (extents, capacity) in [(&[3][..], 1), (&[3], 2), (&[5], 3), (&[7], 1), (&[3, 3], 1), (&[3, 2], 2)] {
        let shape = Shape::Torus(Torus { capacity: vec![capacity; extents.len()], ..Torus::new(extents) });
        let (from, to, dim) = (RankId(1), RankId(2), Some(DimRef::Dim(0)));
        let failed_links = vec![FailedLink { from, to, dim, both: false }];
        let topology = Topology::new(TopologySpec { failed_links, ..TopologySpec::new(shape) }).unwrap();
        let rows = (0..topology.rank_count() as u32).map(RankId).collect::<Vec<_>>();
        let rows = Groups::new(rows.chunks(extents[0] as usize).map(<[_]>::to_vec).collect()).unwrap();
        for kind in [Kind::AllReduce, Kind::AllReduce.in_groups(rows)] {
            for parts in [1, 3] {
                let collective = Collective { kind: kind.clone(), parts };
                let problem = Problem::new(topology.clone(), collective).unwrap();
                let bounds = bound::find(&problem).unwrap();
                let any = Task::new(&problem, &bounds);
                let few = (bounds.least_steps()..bounds.least_steps() + 6).map(Some);
                let tasks = few.clone().map(|steps| Task { steps, ..any.clone() });
                let tasks = tasks.chain(few.map(|max_steps| Task { max_steps, ..any.clone() })).chain([any.clone()]);
                for (task, planner) in tasks.flat_map(|task| planners().iter().map(move |one| (task.clone(), *one))) {
                    if SLOW.iter().any(|(slow, _)| *slow == planner.name()) {
                        continue;
                    }
                    let Ok(outcome) = planner.plan(&task, &Control::unlimited()) else { continue };
                    let (problem, bounds, schedule) = (problem.clone(), bounds.clone(), outcome.schedule);
                    let report = verify(&Solution { problem, schedule, bounds, origin: None }, &Options::default());
                    if report.verdict() != Verdict::Holds {
                        let name = planner.name();
                        wrong.push(format!("{name} on {topology} {:?} {:?} in {parts}", task.steps, task.max_steps));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {wrong:?}", wrong.len());
}

/// What a planner says that it plans, it plans somewhere here, and nothing else.
#[test]
fn scopes_are_what_is_planned() {
    let link = |from: u32, to: u32| GraphLink { from: RankId(from), to: RankId(to), capacity: 1 };
    let ring = (0..4).flat_map(|rank| [link(rank, (rank + 1) % 4), link((rank + 1) % 4, rank)]).collect();
    let graph = TopologySpec::new(Shape::Graph { ranks: 4, links: ring });
    let intact = [&[4, 4][..], &[3, 3], &[2, 2]].map(TopologySpec::torus);
    let failing = without_cables(TopologySpec::torus(&[4, 4]), 1);
    // From 100 ranks, and its patterns from 512.
    let large = |planner: &dyn Planner| planner.name() == "mended";
    for &planner in planners().iter().filter(|planner| !large(**planner)) {
        let scope = planner.scope();
        let mut planned = BTreeSet::new();
        for (machines, spec) in [(Machines::Any, &graph), (Machines::Tori, &failing[0])]
            .into_iter()
            .chain(intact.iter().map(|spec| (Machines::IntactTori, spec)))
        {
            let topology = Topology::new(spec.clone()).unwrap();
            let ranks = topology.rank_count() as u32;
            let halves = [0, 1].map(|odd| topology.live_ranks().filter(|rank| rank.0 % 2 == odd).collect());
            let groups = [&halves[..], &halves[..1]].map(|members| Groups::new(members.to_vec()).unwrap());
            let from_one: Vec<u32> = (0..ranks * ranks).map(|pair| u32::from((1..ranks).contains(&pair))).collect();
            let from_one = Kind::AllToAllV(Demand::new(ranks, &from_one).unwrap());
            for kind in kinds(ranks).into_iter().chain([from_one]) {
                let mut all = vec![kind.clone()];
                if kind.demand().is_none() {
                    all.extend(groups.clone().map(|groups| kind.clone().in_groups(groups)));
                }
                for kind in all {
                    let (name, grouped) = (kind.name(), kind.groups().is_some());
                    let problem = Problem::new(topology.clone(), Collective { kind, parts: 1 }).unwrap();
                    if planner.applies(&problem).is_ok() {
                        planned.insert((name, grouped));
                        let is_within = match scope.machines {
                            Machines::Any => true,
                            Machines::Tori => machines != Machines::Any,
                            Machines::IntactTori => machines == Machines::IntactTori,
                        };
                        assert!(is_within, "{} on {topology}", planner.name());
                    }
                }
            }
        }
        let together = scope.kinds.iter().map(|&kind| (kind, false));
        let all: Vec<_> = together.chain(scope.groups.iter().map(|&kind| (kind, true))).collect();
        let stated: BTreeSet<_> = all.iter().copied().collect();
        assert_eq!(all.len(), stated.len(), "{}: stated twice", planner.name());
        assert_eq!(planned, stated, "{}", planner.name());
    }
}

fn machines() -> Vec<TopologySpec> {
    let tori: [&[u32]; 13] =
        [&[1], &[2], &[3], &[4], &[5], &[6], &[7], &[8], &[2, 2], &[3, 3], &[4, 4], &[1, 4], &[2, 3, 4]];
    let mut shapes: Vec<Torus> = tori.iter().map(|extents| Torus::new(extents)).collect();
    shapes.push(Torus::new(&[3, 3, 3]));
    shapes.push(Torus { wrap: vec![true], ..Torus::new(&[2]) });
    shapes.push(Torus { wrap: vec![false, false], ..Torus::new(&[3, 3]) });
    shapes.push(Torus { capacity: vec![2, 1], ..Torus::new(&[3, 4]) });
    shapes.into_iter().map(|torus| TopologySpec::new(Shape::Torus(torus))).collect()
}

fn ranks(spec: &TopologySpec) -> u32 {
    Topology::new(spec.clone()).unwrap().rank_count() as u32
}

/// The machine without `count` cables, spread over it; none if it has fewer.
fn without_cables(spec: TopologySpec, count: usize) -> Vec<TopologySpec> {
    let topology = Topology::new(spec.clone()).unwrap();
    let mut cables: Vec<FailedLink> = topology
        .links()
        .iter()
        .filter(|link| link.direction.is_some_and(|direction| direction.positive))
        .map(|link| FailedLink { from: link.from, to: link.to, dim: link.direction.map(DimRef::Direction), both: true })
        .collect();
    if cables.len() < count {
        return Vec::new();
    }
    let failed_links = (0..count).map(|_| cables.remove(cables.len() * 5 / 8)).collect();
    vec![TopologySpec { failed_links, ..spec }]
}

fn kinds(ranks: u32) -> [Kind; 11] {
    let counts: Vec<u32> =
        (0..ranks * ranks).map(|pair| ((pair * 5 + pair / ranks * 3) % 7).saturating_sub(4)).collect();
    Kind::every(RankId(0), Demand::new(ranks, &counts).unwrap())
}

/// Slow planners, and the largest machine each is tried on here.
const SLOW: &[(&str, usize)] = &[("smt", 4)];

/// Planners that fold rings or route around them, so that chunks pass ranks that have them already.
const ROUNDABOUT: &[&str] = &["folded_ring", "mate", "mate_e", "mate_e2", "mate_open", "mate_e_open", "wfr"];

fn check_all(fail: impl Fn(TopologySpec) -> Vec<TopologySpec>) {
    check_each(machines().into_iter().flat_map(fail));
}

fn check_each(machines: impl Iterator<Item = TopologySpec>) {
    let mut wrong = Vec::new();
    for spec in machines {
        let topology = Topology::new(spec.clone()).unwrap();
        for kind in kinds(topology.rank_count() as u32) {
            // The parts of a demand matrix are a unit: they do not change its chunks.
            let most_parts = if matches!(kind, Kind::AllToAllV(_)) { 1 } else { 3 };
            for parts in 1..=most_parts {
                let problem = Problem::new(topology.clone(), Collective { kind: kind.clone(), parts }).unwrap();
                let bounds = bound::find(&problem).ok();
                let quick = |planner: &&&dyn Planner| {
                    SLOW.iter().all(|&(slow, most)| slow != planner.name() || topology.rank_count() <= most)
                };
                for &planner in planners().iter().filter(quick) {
                    if let Err(reason) = check(planner, &problem, bounds.as_ref()) {
                        wrong.push(format!("{} {} in {parts} on {spec:?}: {reason}", planner.name(), kind.name()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong, among them\n{}", wrong.len(), wrong[..wrong.len().min(10)].join("\n"));
}

/// Without bounds: the network is not connected.
fn check(planner: &dyn Planner, problem: &Problem, bounds: Option<&Bounds>) -> Result<(), String> {
    let Some(bounds) = bounds else {
        return match plan(planner, problem, &Bounds::default()) {
            Err(PlanError::Disconnected(_) | PlanError::NotApplicable { .. }) => Ok(()),
            other => Err(format!("the network is not connected, but: {other:?}")),
        };
    };
    let outcome = plan(planner, problem, bounds);
    let schedule = match (planner.applies(problem), outcome) {
        (Err(PlanError::NotApplicable { .. }), Err(PlanError::NotApplicable { .. })) => return Ok(()),
        (Ok(()), Ok(schedule)) => schedule,
        (applies, outcome) => return Err(format!("applies: {applies:?}, but planning: {:?}", outcome.err())),
    };
    if plan(planner, problem, bounds).as_ref() != Ok(&schedule) {
        return Err("another schedule the second time".to_owned());
    }
    if (schedule.step_count() as u64) < u64::from(bounds.least_steps()) {
        return Err(format!("{} steps, fewer than the bound {}", schedule.step_count(), bounds.least_steps()));
    }
    if schedule.total_width() < u64::from(bounds.least_width(problem.parts())) {
        return Err(format!("width {}, less than the bound {:?}", schedule.total_width(), bounds.volume));
    }
    let solution = Solution { problem: problem.clone(), schedule, bounds: bounds.clone(), origin: None };
    let report = verify(&solution, &Options::default());
    let detour = |finding: &Finding| finding.code == Code::W001 && ROUNDABOUT.contains(&planner.name());
    // Ranks may add in different orders only where sums are not trees, and where each adds those of two neighbors.
    let no_tree = |finding: &Finding| finding.code == Code::W003 && ["smt", "trivance"].contains(&planner.name());
    let warning = report.warnings.iter().find(|warning| !detour(warning) && !no_tree(warning));
    match report.violations.first() {
        None if report.verdict() == Verdict::Holds && warning.is_none() => Ok(()),
        None => Err(format!("the verifier warns: {warning:?}")),
        first => Err(format!("the verifier refuses: {first:?}")),
    }
}

fn plan(planner: &dyn Planner, problem: &Problem, bounds: &Bounds) -> Result<Schedule, PlanError> {
    planner.plan(&Task::new(problem, bounds), &Control::unlimited()).map(|outcome| outcome.schedule)
}
