//! Machines, schedules and communicators to run them on.

use std::thread;
use std::time::Duration;

use collsynth::bound;
use collsynth::collective::{Collective, Demand, Kind};
use collsynth::plan::{Control, PlanError, Task, planners};
use collsynth::problem::Problem;
use collsynth::runtime::Transport;
use collsynth::runtime::threads::{self, ThreadTransport};
use collsynth::schedule::Solution;
use collsynth::topology::{DimRef, FailedLink, RankId, Topology, TopologySpec};
use collsynth::verify::{Options, Verified};

use super::plans;

/// How long a rank waits for another before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Small machines: intact, without a cable, without one direction of it, without a rank.
pub fn machines() -> Vec<Topology> {
    let tori: [&[u32]; 9] = [&[1], &[2], &[3], &[4], &[5], &[2, 2], &[2, 3], &[1, 4], &[3, 3]];
    let mut all = Vec::new();
    for extents in tori {
        let spec = TopologySpec::torus(extents);
        let whole = Topology::new(spec.clone()).expect("a torus");
        let cable = whole.links().iter().rfind(|link| link.direction.is_some_and(|direction| direction.positive));
        for both in [true, false] {
            all.extend(cable.and_then(|link| {
                let dim = link.direction.map(DimRef::Direction);
                let failed_links = vec![FailedLink { from: link.from, to: link.to, dim, both }];
                Topology::new(TopologySpec { failed_links, ..spec.clone() }).ok()
            }));
        }
        let failed_ranks = vec![RankId(whole.rank_count() as u32 / 2)];
        all.extend(Topology::new(TopologySpec { failed_ranks, ..spec }).ok());
        all.push(whole);
    }
    all
}

/// Every kind of collective among `ranks` ranks, rooted at the last one or at the first.
pub fn kinds(ranks: u32) -> Vec<Kind> {
    let counts: Vec<u32> =
        (0..ranks * ranks).map(|pair| ((pair * 5 + pair / ranks * 3) % 7).saturating_sub(3)).collect();
    let last = RankId(ranks - 1);
    vec![
        Kind::AllToAll,
        Kind::AllToAllV(Demand::new(ranks, &counts).expect("a matrix")),
        Kind::AllGather,
        Kind::ReduceScatter,
        Kind::AllReduce,
        Kind::Broadcast(last),
        Kind::Reduce(RankId(0)),
        Kind::Scatter(RankId(0)),
        Kind::Gather(last),
        Kind::Barrier,
        Kind::AllReduceGathered,
    ]
}

pub fn problem(extents: &[u32], kind: Kind, parts: u32) -> Problem {
    Problem::new(Topology::torus(extents).expect("a torus"), Collective { kind, parts }).expect("it fits")
}

/// A schedule for the problem.
pub fn verified(problem: &Problem) -> Verified<Solution> {
    let Collective { kind, parts } = problem.collective();
    plan(problem.topology(), kind.clone(), *parts).expect("it can be planned")
}

pub fn plan(topology: &Topology, kind: Kind, parts: u32) -> Result<Verified<Solution>, PlanError> {
    let plan = plans::plan(None, topology, kind, parts)?;
    Ok(Verified::<Solution>::new(plan.into(), &Options::default()).expect("what is planned holds"))
}

/// The schedules of every planner for every collective on every small machine.
pub fn small_schedules() -> Vec<(String, Verified<Solution>)> {
    let mut all = Vec::new();
    for topology in machines() {
        for kind in kinds(topology.rank_count() as u32) {
            let parts = if topology.rank_count() % 2 == 0 { 3 } else { 1 };
            let Ok(problem) = Problem::new(topology.clone(), Collective { kind, parts }) else { continue };
            let Ok(bounds) = bound::find(&problem) else { continue };
            for planner in planners() {
                let Ok(outcome) = planner.plan(&Task::new(&problem, &bounds), &Control::unlimited()) else { continue };
                let solution = Solution {
                    problem: problem.clone(),
                    schedule: outcome.schedule,
                    bounds: bounds.clone(),
                    origin: None,
                };
                let name =
                    format!("{} for {} on {:?}", planner.name(), problem.collective().kind.name(), topology.spec());
                let verified = Verified::<Solution>::new(solution, &Options::default()).expect("what is planned holds");
                all.push((name, verified));
            }
        }
    }
    all
}

/// Runs `work` on every live rank, each on a thread of its own with its end of a network.
pub fn on_transports<R: Send>(
    schedule: &Verified<Solution>,
    timeout: Duration,
    work: impl Fn(ThreadTransport) -> R + Sync,
) -> Vec<R> {
    let topology = schedule.problem.topology();
    let pairs = schedule.schedule.transfers().iter().map(|transfer| (transfer.from, transfer.to));
    let ends = threads::network(topology.rank_count(), pairs, timeout).into_iter();
    let live = ends.filter(|end| topology.is_alive(end.rank()));
    let work = &work;
    thread::scope(|scope| {
        let handles: Vec<_> = live.map(|end| scope.spawn(move || work(end))).collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic")).collect()
    })
}
