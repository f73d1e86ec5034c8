//! Planners against an exhaustive search on machines small enough for one: never better, and never worse.
//!
//! The search shares nothing with the planners. For a number of steps and widths for each, it tries to give every
//! message a path without repeated ranks and a step for each of its hops (a walk that returns to a rank could as well
//! have waited there), so that no link carries more in a step than its width.

use collsynth::bound;
use collsynth::collective::Kind;
use collsynth::plan::{Goal, planner_named};
use collsynth::topology::{FailedLink, GraphLink, Link, RankId, Shape, Topology, TopologySpec};

use crate::support::plans::{plan_for, problem};

#[test]
fn rings_and_the_smallest_torus_are_planned_as_well_as_they_can_be() {
    for extents in [&[3][..], &[4], &[5], &[2, 2], &[2, 3]] {
        check(Topology::torus(extents).unwrap(), &format!("{extents:?}"));
    }
}

#[test]
fn so_they_are_without_one_cable_or_one_direction() {
    for extents in [&[3][..], &[4], &[5], &[2, 2]] {
        for both in [true, false] {
            let dead = FailedLink { both, ..FailedLink::cable(RankId(0), RankId(1)) };
            let spec = TopologySpec { failed_links: vec![dead], ..TopologySpec::torus(extents) };
            let topology = Topology::new(spec).unwrap();
            check(topology, &format!("{extents:?} without {}", if both { "0-1" } else { "0>1" }));
        }
    }
}

#[test]
fn so_are_a_ring_without_a_rank_and_small_graphs() {
    check(Topology::new(TopologySpec::torus(&[5]).without_ranks(&[2])).unwrap(), "ring of 5 without rank 2");
    type Links = &'static [(u32, u32)];
    let graphs: [(&str, u32, Links); 4] = [
        ("one-way ring", 4, &[(0, 1), (1, 2), (2, 3), (3, 0)]),
        ("star", 4, &[(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0)]),
        ("triangle with a tail", 4, &[(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2), (2, 3), (3, 2)]),
        ("one-way ring with chords", 5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (2, 4), (3, 1)]),
    ];
    for (name, ranks, links) in graphs {
        let link = |&(from, to): &_| GraphLink { from: RankId(from), to: RankId(to), capacity: 1 };
        let shape = Shape::Graph { ranks, links: links.iter().map(link).collect() };
        check(Topology::new(TopologySpec::new(shape)).unwrap(), name);
    }
}

/// For the least number of steps and two more: the least width by the search, by the planners, and by the bound.
fn check(topology: Topology, name: &str) {
    let problem = problem(topology.clone(), Kind::AllToAll);
    let bounds = bound::find(&problem).unwrap();
    let least_steps = bounds.steps.as_ref().unwrap().at_least;
    for steps in least_steps..=least_steps + 2 {
        let optimum = least_width(&topology, steps);
        assert!(optimum >= bounds.least_width(1), "{name}, {steps} steps: the bound is above what is possible");
        let goal = Goal { steps: Some(steps), ..Goal::default() };
        let plan = plan_for(&topology, &Kind::AllToAll, &goal).unwrap();
        assert_eq!(plan.schedule.step_count(), steps as usize, "{name}");
        let planned = plan.schedule.total_width();
        assert_eq!(planned, u64::from(optimum), "{name}, {steps} steps: planned, and the least possible");
        let goal = Goal { planner: Some(planner_named("smt").unwrap()), ..goal };
        let proven = plan_for(&topology, &Kind::AllToAll, &goal).unwrap().schedule;
        let figures = (proven.step_count(), proven.total_width());
        assert_eq!(figures, (steps as usize, u64::from(optimum)), "{name}, {steps} steps: by the SMT planner");
    }
    assert!(
        least_steps == 1 || options(&topology, least_steps - 1).iter().any(Vec::is_empty),
        "{name}: too many steps"
    );
}

/// The least sum of widths of an all-to-all of whole messages in `steps` steps, each at least 1 wide.
fn least_width(topology: &Topology, steps: u32) -> u32 {
    let options = options(topology, steps);
    (steps..).find(|&width| compositions(width, steps).any(|widths| fits(&options, &widths, topology))).unwrap()
}

/// A route for a message: the slots it takes, `link * steps + step`, as bits.
type Route = u128;

/// For every message, every path without repeated ranks at all possible times.
fn options(topology: &Topology, steps: u32) -> Vec<Vec<Route>> {
    let mut all = Vec::new();
    for origin in topology.live_ranks() {
        for dest in topology.live_ranks().filter(|&dest| dest != origin) {
            let mut routes = Vec::new();
            extend(topology, steps, 0, &mut vec![origin], dest, 0, &mut routes);
            all.push(routes);
        }
    }
    all
}

fn extend(
    topology: &Topology,
    steps: u32,
    now: u32,
    path: &mut Vec<RankId>,
    dest: RankId,
    route: Route,
    routes: &mut Vec<Route>,
) {
    let at = path[path.len() - 1];
    if at == dest {
        routes.push(route);
        return;
    }
    for id in topology.links_from(at) {
        let link = *topology.link(id);
        if !link.alive || path.contains(&link.to) {
            continue;
        }
        path.push(link.to);
        for step in now..steps {
            extend(topology, steps, step + 1, path, dest, route | 1 << (id.0 * steps + step), routes);
        }
        path.pop();
    }
}

/// Every way to write `total` as an ordered sum of `count` positive numbers.
fn compositions(total: u32, count: u32) -> Box<dyn Iterator<Item = Vec<u32>>> {
    if count == 1 {
        return Box::new(std::iter::once(vec![total]));
    }
    Box::new((1..=total + 1 - count).flat_map(move |first| {
        compositions(total - first, count - 1).map(move |mut rest| {
            rest.insert(0, first);
            rest
        })
    }))
}

/// Do routes for all messages fit together?
fn fits(options: &[Vec<Route>], widths: &[u32], topology: &Topology) -> bool {
    let room: Vec<u32> = {
        let of_link =
            |link: &Link| widths.iter().map(|&width| if link.alive { width } else { 0 }).collect::<Vec<u32>>();
        topology.links().iter().flat_map(of_link).collect()
    };
    place(options.to_vec(), room, widths.len())
}

fn place(options: Vec<Vec<Route>>, room: Vec<u32>, steps: usize) -> bool {
    if options.is_empty() {
        return true;
    }
    // The least need must fit in the room left: in all, and on each link in each span of steps.
    let needed: u32 =
        options.iter().map(|routes| routes.iter().map(|route| route.count_ones()).min().unwrap_or(0)).sum();
    if needed > room.iter().sum() {
        return false;
    }
    for (link, room) in room.chunks(steps).enumerate() {
        let span = |first: usize, last: usize| -> Route { (first..=last).map(|step| 1 << (link * steps + step)).sum() };
        let tied_to = |span: Route| move |routes: &&Vec<Route>| routes.iter().all(|route| route & span != 0);
        // What can do without the link is tied to no span of steps on it.
        let on_link: Vec<&Vec<Route>> = options.iter().filter(tied_to(span(0, steps - 1))).collect();
        for first in 0..steps {
            for last in first..steps {
                let tied = on_link.iter().copied().filter(tied_to(span(first, last))).count();
                if tied as u32 > room[first..=last].iter().sum() {
                    return false;
                }
            }
        }
    }
    let tightest = (0..options.len()).min_by_key(|&message| options[message].len()).unwrap();
    for &route in &options[tightest] {
        let mut room = room.clone();
        let taken = |slot: &usize| route >> slot & 1 == 1;
        (0..room.len()).filter(taken).for_each(|slot| room[slot] -= 1);
        let full: Route = (0..room.len()).filter(|&slot| room[slot] == 0).map(|slot| 1 << slot).sum();
        let others = options.iter().enumerate().filter(|&(message, _)| message != tightest);
        let rest: Vec<Vec<Route>> =
            others.map(|(_, routes)| routes.iter().copied().filter(|route| route & full == 0).collect()).collect();
        if place(rest, room, steps) {
            return true;
        }
    }
    false
}
