//! Where steps and bytes have a price: the schedule of least time, never slower than any point of `synth pareto`.

use collsynth::bound;
use collsynth::collective::Kind;
use collsynth::cost::Price;
use collsynth::plan::{Control, Goal, Parts, trace, useful_parts};
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify};
use rayon::prelude::*;

use crate::support::plans::{plan_for, problem, torus};

const BYTES: [u64; 4] = [1 << 10, 1 << 16, 1 << 20, 1 << 26];

fn kinds() -> Vec<Kind> {
    let root = RankId(1);
    vec![
        Kind::AllToAll,
        Kind::AllGather,
        Kind::ReduceScatter,
        Kind::AllReduce,
        Kind::Broadcast(root),
        Kind::Reduce(root),
        Kind::Scatter(root),
        Kind::AllReduceGathered,
    ]
}

#[test]
fn no_point_of_the_curve_is_faster() {
    let machines = [
        torus(&[4], &[(0, 1)], &[]),
        torus(&[5], &[], &[]),
        torus(&[5], &[], &[2]),
        torus(&[2, 2], &[], &[]),
        torus(&[2, 3], &[(0, 2)], &[]),
    ];
    let cases: Vec<(&Topology, Kind)> =
        machines.iter().flat_map(|topology| kinds().into_iter().map(move |kind| (topology, kind))).collect();
    cases.into_par_iter().for_each(|(topology, kind)| {
        let parts = useful_parts(topology, &kind, &Control::unlimited()).unwrap();
        let mut curve = Vec::new();
        let unlimited = Control::unlimited();
        trace(topology, &kind, &Goal::default(), &parts, &unlimited, |_, plan| curve.push(plan)).unwrap();
        for message_bytes in BYTES {
            let price = Price { message_bytes, alpha: 1e-6, bandwidth: 50e9 };
            let goal = Goal { parts: Parts::Auto, price: Some(price), ..Goal::default() };
            let plan = plan_for(topology, &kind, &goal).unwrap();
            let seconds = price.seconds(&plan.problem, &plan.schedule);
            for point in &curve {
                let by = price.seconds(&point.problem, &point.schedule);
                assert!(
                    seconds <= by,
                    "{} of {message_bytes} bytes on {:?}: {seconds} s, but {by} s in {} steps with {} parts",
                    kind.name(),
                    topology.spec(),
                    point.schedule.step_count(),
                    point.problem.parts(),
                );
            }
            assert_eq!(verify(&plan.into(), &Options::default()).verdict(), Verdict::Holds);
        }
    });
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let topology = torus(&[2, 3], &[(0, 1)], &[]);
    let plan = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let price = Price { message_bytes: 1 << 20, alpha: 1e-6, bandwidth: 50e9 };
        let goal = Goal { parts: Parts::Auto, price: Some(price), ..Goal::default() };
        let plan = pool.install(|| plan_for(&topology, &Kind::AllReduce, &goal)).unwrap();
        (plan.planner, plan.problem.parts(), plan.schedule)
    };
    assert!(plan(1) == plan(4));
}

/// Small messages take few steps, large ones little volume.
#[test]
fn larger_messages_take_less_volume() {
    let topology = torus(&[3, 3], &[(0, 1)], &[]);
    for kind in [Kind::AllReduce, Kind::Broadcast(RankId(0))] {
        let [small, large] = [BYTES[0], BYTES[3]].map(|message_bytes| {
            let price = Some(Price { message_bytes, alpha: 1e-6, bandwidth: 50e9 });
            let goal = Goal { parts: Parts::Auto, price, ..Goal::default() };
            let plan = plan_for(&topology, &kind, &goal).unwrap();
            (plan.schedule.step_count(), plan.schedule.total_width() as f64 / f64::from(plan.problem.parts()))
        });
        assert!(small.0 < large.0 && small.1 > large.1, "{small:?}, {large:?}");
        let whole = problem(topology.clone(), kind.clone());
        let bound = bound::find(&whole).unwrap().volume.unwrap().at_least;
        let near = *bound.numer() as f64 / *bound.denom() as f64 * 1.1;
        assert!(large.1 <= near, "{large:?}: the bound is {bound}");
    }
}
