//! Parts where none are stated: enough for a volume near its bound; and limits of time on large machines.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use collsynth::Request;
use collsynth::bound;
use collsynth::collective::{Collective, Groups, Kind};
use collsynth::cost::Price;
use collsynth::plan::{
    Control, Goal, Parts, Plan, PlanError, StopReason, Task, likely_steps, planner_named, synthesize,
};
use collsynth::problem::Problem;
use collsynth::schedule::{AnySchedule, Solution};
use collsynth::topology::{RankId, Topology};
use collsynth::verify::{Options, Verified};

use crate::support::plans::{plan_for, torus};

fn planned(topology: &Topology, kind: Kind, goal: &Goal<'_>) -> Plan {
    plan_for(topology, &kind, goal).expect("a plan")
}

/// The volume over its bound.
fn ratio(plan: &Plan) -> f64 {
    let bound = plan.bounds.volume.as_ref().expect("a bound").at_least;
    let volume = plan.schedule.total_width() as f64 / f64::from(plan.problem.parts());
    volume * *bound.denom() as f64 / *bound.numer() as f64
}

#[test]
fn vectors_come_near_the_bound() {
    let machines = [
        torus(&[4], &[], &[]),
        torus(&[5], &[(0, 1)], &[]),
        torus(&[4, 4], &[], &[]),
        torus(&[3, 4], &[(0, 1)], &[7]),
        torus(&[6, 6], &[(0, 1), (7, 8), (14, 20)], &[]),
        torus(&[4, 4, 4], &[(2, 3)], &[]),
        torus(&[8, 8, 8], &[], &[]),
    ];
    for topology in &machines {
        for kind in [Kind::AllReduce, Kind::Broadcast(RankId(0)), Kind::Reduce(RankId(0))] {
            let name = kind.name();
            let plan = planned(topology, kind, &Goal::default());
            let most = 1.05 + f64::from(u8::from(plan.problem.parts() == 1024)) / 10.0;
            assert!(ratio(&plan) <= most, "{name}: {} parts, {}", plan.problem.parts(), ratio(&plan));
        }
    }
}

#[test]
fn of_schedules_near_the_bound_the_shortest_is_taken() {
    // Trees pipelined through steps of width 1 have the least volume and take 191 steps.
    let plan = planned(&torus(&[4, 4, 8], &[(72, 73)], &[]), Kind::AllReduce, &Goal::default());
    assert!(plan.schedule.step_count() < 24, "{} in {}", plan.planner, plan.schedule.step_count());
}

/// Parts that just fit: as good as `Parts::Auto` where that is short.
#[test]
fn parts_that_fit_give_short_schedules_on_the_bound() {
    for extents in [&[4, 4, 4][..], &[8, 8, 8]] {
        let topology = torus(extents, &[(2, 3)], &[]);
        let figures = |parts| {
            let plan = planned(&topology, Kind::AllReduce, &Goal { parts, ..Goal::default() });
            (plan.problem.parts(), plan.schedule.step_count(), plan.schedule.total_width())
        };
        assert_eq!(figures(Parts::Enough), figures(Parts::Auto), "{extents:?}");
    }
}

#[test]
fn messages_stay_whole_and_so_does_what_a_stated_planner_plans() {
    let topology = torus(&[4, 4], &[(0, 1)], &[]);
    let parts = |kind: Kind, goal: &Goal<'_>| planned(&topology, kind, goal).problem.parts();
    for kind in [Kind::AllToAll, Kind::AllGather, Kind::Scatter(RankId(3)), Kind::Barrier] {
        assert_eq!(parts(kind, &Goal::default()), 1);
    }
    let planner = planner_named("spanning_trees").expect("a planner");
    assert_eq!(parts(Kind::AllReduce, &Goal { planner: Some(planner), ..Goal::default() }), 1);
    assert!(parts(Kind::AllReduce, &Goal::default()) > 1);
}

/// Rows of a torus with a dead cable: whole messages are 31 % above the bound and more.
#[test]
fn messages_in_groups_are_cut_where_whole_ones_are_far_from_the_bound() {
    let topology = torus(&[4, 4], &[(0, 1)], &[]);
    let rows = (0..4).map(|row| (4 * row..4 * row + 4).map(RankId).collect()).collect();
    let rows = Groups::new(rows).expect("groups");
    let whole = Goal { parts: Parts::Fixed(1), ..Goal::default() };
    for kind in
        [Kind::AllToAll, Kind::AllGather, Kind::ReduceScatter, Kind::Scatter(RankId(0)), Kind::Gather(RankId(0))]
    {
        let kind = kind.in_groups(rows.clone());
        let plan = planned(&topology, kind.clone(), &Goal::default());
        assert!(ratio(&planned(&topology, kind.clone(), &whole)) > 1.3, "{}", kind.name());
        assert!(ratio(&plan) <= 1.05 && plan.problem.parts() > 1, "{}: {}", kind.name(), ratio(&plan));
        // The judge holds the schedule to its problem, and the bound to its evidence.
        assert!(Verified::new(Solution::from(plan), &Options::default()).is_ok());
        let few = Goal { max_steps: Some(3), ..Goal::default() };
        assert_eq!(planned(&topology, kind, &few).problem.parts(), 1, "stated steps leave messages whole");
    }
    // Near the bound, whole ones stay.
    let intact = torus(&[5, 5], &[], &[]);
    let rows = (0..5).map(|row| (5 * row..5 * row + 5).map(RankId).collect()).collect();
    let kind = Kind::AllGather.in_groups(Groups::new(rows).expect("groups"));
    assert_eq!(planned(&intact, kind, &Goal::default()).problem.parts(), 1);
}

/// Rows and columns in which pipelined trees come near the bound too, in two to four times the steps.
#[test]
fn messages_in_groups_take_few_steps() {
    let lines = |extents: &[u32; 2], along: usize| {
        let rank = |line, place| if along == 0 { line * extents[0] + place } else { line + place * extents[0] };
        let line = |line| (0..extents[along]).map(|place| RankId(rank(line, place))).collect();
        Groups::new((0..extents[1 - along]).map(line).collect()).expect("groups")
    };
    for (extents, along, failed) in [([7, 3], 1, &[][..]), ([9, 3], 1, &[(17, 26), (14, 23)]), ([5, 4], 0, &[(1, 2)])] {
        let topology = torus(&extents, failed, &[]);
        for kind in [Kind::AllGather, Kind::ReduceScatter] {
            let kind = kind.in_groups(lines(&extents, along));
            let [enough, auto] = [Parts::Enough, Parts::Auto].map(|parts| {
                let plan = planned(&topology, kind.clone(), &Goal { parts, ..Goal::default() });
                (plan.schedule.step_count(), ratio(&plan))
            });
            assert!(enough.0 <= auto.0 && enough.1 <= 1.05, "{} {extents:?}: {enough:?}, {auto:?}", kind.name());
        }
    }
}

/// Compositions and trees with free roots search for up to a minute for what is not near the bound.
#[test]
fn no_all_reduce_waits_for_searches_that_gain_nothing() {
    let machines = [
        torus(&[5, 5, 5], &[(2, 3), (7, 8)], &[60]),
        torus(&[6, 7], &[(12, 13), (15, 16)], &[]),
        torus(&[3, 6, 5], &[], &[41]),
    ];
    for topology in &machines {
        let heard = Arc::new(Mutex::new(BTreeSet::new()));
        let listener = Arc::clone(&heard);
        let control = Control::unlimited().with_listener(move |progress| {
            let shape = progress.attempt.split(',').next().filter(|shape| shape.ends_with("trees"));
            listener.lock().expect("no panic").insert(shape.unwrap_or(progress.planner).to_owned());
        });
        let plan = synthesize(topology, &Kind::AllReduce, &Goal::default(), &control).expect("a plan");
        let heard = heard.lock().expect("no panic");
        assert!(ratio(&plan) <= 1.05 && heard.contains("matching"), "{heard:?}");
        let in_vain = ["trees", "mirrored trees", "composed"];
        assert!(in_vain.iter().all(|&search| !heard.contains(search)), "{heard:?}");
    }
}

/// A limit on the steps that the plan without one keeps, and a price, make nothing worse.
#[test]
fn limits_and_prices_make_no_all_reduce_worse() {
    let mut dice = fastrand::Rng::with_seed(51);
    for extents in [&[4, 4][..], &[4, 3], &[4, 4, 2], &[6, 4], &[4, 4, 4]] {
        let count = extents.iter().product::<u32>();
        let machine = torus(extents, &[], &[]);
        let from = dice.u32(0..count);
        let link = machine.link(machine.links_from(RankId(from)).next().expect("a link"));
        let topology = torus(extents, &[(from, link.to.0)], &[]);
        let free = planned(&topology, Kind::AllReduce, &Goal::default());
        let steps = free.schedule.step_count();
        for more in [0, 1, 5] {
            let most = Goal { max_steps: Some((steps + more) as u32), ..Goal::default() };
            let limited = planned(&topology, Kind::AllReduce, &most);
            assert!(limited.schedule.step_count() <= steps + more, "{extents:?}");
            assert!(ratio(&limited) <= ratio(&free), "{extents:?}: {}, {}", ratio(&limited), ratio(&free));
        }
        let price = Price { alpha: 1e-6, bandwidth: 50e9, message_bytes: 1 << 26 };
        let goal = Goal { price: Some(price), ..Goal::default() };
        let seconds = |plan: &Plan| price.seconds(&plan.problem, &plan.schedule);
        assert!(seconds(&planned(&topology, Kind::AllReduce, &goal)) <= seconds(&free), "{extents:?}");
    }
}

/// Whole vectors take a volume of a vector a step.
#[test]
fn stated_steps_leave_vectors_cut() {
    for (kind, steps, most) in [(Kind::AllReduce, 8, 0.9), (Kind::Broadcast(RankId(0)), 8, 0.6)] {
        let topology = torus(&[4, 4, 4], &[(2, 3)], &[]);
        let plan = planned(&topology, kind, &Goal { max_steps: Some(steps), ..Goal::default() });
        let volume = plan.schedule.total_width() as f64 / f64::from(plan.problem.parts());
        assert!(plan.schedule.step_count() <= steps as usize && volume < most, "{volume}");
    }
}

/// What is said of a plan in many steps.
#[test]
fn the_steps_of_a_pipeline_are_foretold() {
    let topology = torus(&[5, 5], &[(0, 1)], &[]);
    let price = Price::of(16 << 20);
    let goal = Goal { price: Some(price), ..Goal::default() };
    let planned = planned(&topology, Kind::Reduce(RankId(0)), &goal);
    let whole = planned.problem.with_parts(1).expect("it fits");
    let bounds = bound::find(&whole).expect("connected");
    let likely = likely_steps(&whole, &bounds, price).expect("a pipeline");
    let taken = planned.schedule.step_count() as u32;
    assert!(likely.abs_diff(taken) * 4 <= taken, "{likely}, {taken}");
    let sum = Problem::new(topology, Collective::new(Kind::AllReduce)).expect("it fits");
    assert_eq!(likely_steps(&sum, &bounds, price), None);
}

/// A first routing of millions of messages ends when time is up; of few, it is still completed.
#[test]
fn a_limit_interrupts_what_takes_long() {
    let ended = |extents: &[u32], name: &str, kind: Kind, parts: u32| {
        let topology = torus(extents, &[(0, 1)], &[]);
        let problem = Problem::new(topology, Collective { kind, parts }).expect("it fits");
        let bounds = bound::find(&problem).expect("connected");
        let control = Control::unlimited().with_deadline(Instant::now());
        planner_named(name).expect("a planner").plan(&Task::new(&problem, &bounds), &control).map(|found| found.stopped)
    };
    let stopped = StopReason::TimeLimit;
    assert_eq!(ended(&[11, 11, 11], "negotiated", Kind::AllToAll, 1), Err(PlanError::Stopped { stopped }));
    assert_eq!(ended(&[4, 4, 4], "negotiated", Kind::AllToAll, 1), Ok(stopped));
    assert_eq!(ended(&[16, 16, 16], "packed_trees", Kind::AllReduce, 300), Err(PlanError::Stopped { stopped }));
    assert_eq!(ended(&[4, 4, 4], "packed_trees", Kind::AllReduce, 48), Ok(stopped));
}

/// A control that is interrupted by the first schedule.
fn content() -> Control {
    let flag = Arc::new(AtomicBool::new(false));
    let first = Arc::clone(&flag);
    Control::unlimited().with_interrupt(flag).with_incumbents(move |_| first.store(true, Ordering::Relaxed))
}

/// Whoever found the plan had finished; who was to come next had not.
#[test]
fn a_search_that_was_cut_short_says_so() {
    let rows = Groups::new((0..5).map(|row| (0..5).map(|x| RankId(5 * row + x)).collect()).collect()).expect("groups");
    let dead = torus(&[5, 5], &[(0, 1), (7, 8)], &[]);
    for kind in [Kind::AllReduce, Kind::AllToAll.in_groups(rows)] {
        let goal = Goal { parts: Parts::Enough, ..Goal::default() };
        let cut = synthesize(&dead, &kind, &goal, &content()).expect("a plan");
        assert_eq!(cut.stopped, StopReason::Interrupted, "{kind}");
        let whole = synthesize(&dead, &kind, &goal, &Control::unlimited()).expect("a plan");
        assert_eq!(whole.stopped, StopReason::Finished, "{kind}");
    }
}

/// Among thousands of ranks, a limit may leave time for few parts only: these are planned first.
#[test]
fn where_time_is_limited_few_parts_come_first() {
    let dead = torus(&[16, 16, 16], &[(0, 1)], &[]);
    let control = content().with_deadline(Instant::now() + Duration::from_secs(3600));
    let goal = Goal { parts: Parts::Enough, ..Goal::default() };
    let plan = synthesize(&dead, &Kind::AllReduce, &goal, &control).expect("a plan");
    assert_eq!((plan.planner, plan.problem.parts(), plan.stopped), ("matching", 252, StopReason::Interrupted));
}

#[test]
fn steps_that_contradict_each_other_are_refused() {
    let topology = torus(&[4, 4], &[], &[]);
    let refused = Request::new(&topology, Kind::AllToAll).steps(5).max_steps(4).run().unwrap_err();
    assert_eq!(refused, PlanError::Contradiction { steps: 5, most: 4 });
    assert_eq!(refused.to_string(), "5 steps are more than the 4 allowed at most");
}

/// With a price too, a large machine has a plan at once: the pattern, and then the faster of both.
#[test]
fn large_machines_start_from_their_pattern() {
    let price = |message_bytes| Price { message_bytes, alpha: 1e-7, bandwidth: 32e9 };
    let dead = torus(&[8, 8, 8], &[(0, 1)], &[]);
    let plan = Request::new(&dead, Kind::AllToAll).price(price(1 << 16)).run().expect("a plan");
    let figures = (plan.planner, plan.schedule.step_count(), plan.schedule.total_width(), plan.stopped);
    assert_eq!(figures, ("mended", 12, 517, StopReason::Finished));
    assert!(matches!(plan.schedule, AnySchedule::Compact(_)));
    let intact = torus(&[8, 8, 8], &[], &[]);
    let request = |bytes| Request::new(&intact, Kind::AllReduce).price(price(bytes));
    let seconds = |plan: &Plan<AnySchedule>| price(1 << 16).seconds(&plan.problem, &plan.schedule);
    let pattern = Request::new(&intact, Kind::AllReduce).run().expect("a plan");
    let cut = request(1 << 16).control(content()).run().expect("a plan");
    assert_eq!(cut.stopped, StopReason::Interrupted);
    assert!(seconds(&cut) <= seconds(&pattern), "{} {}", seconds(&cut), seconds(&pattern));
    // A part is at least a byte, and the pattern has 512.
    assert!(request(512).is_compact() && !request(511).is_compact());
}
