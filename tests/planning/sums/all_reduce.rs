//! All-reduce: the planners against closed forms and target figures, on verified schedules.

use collsynth::bound;
use collsynth::certificate::{Rational, Scope};
use collsynth::collective::Kind;
use collsynth::cost::Price;
use collsynth::plan::{Goal, Parts, planner_named};
use collsynth::topology::{FailedLink, RankId, Shape, Topology, TopologySpec, Torus};

use crate::support::plans::{goal, intact, plan, plan_for, steps_and_volume as figures, torus};

#[test]
fn one_ring_takes_two_rounds_for_any_number_of_parts() {
    let cases = [
        (&[3][..], &[][..]),
        (&[5], &[]),
        (&[8], &[]),
        (&[2, 2], &[]),
        (&[3, 3], &[(0, 1)]),
        (&[4, 4], &[(0, 1), (1, 2)]),
        (&[4, 4, 4], &[(2, 3)]),
    ];
    for (extents, cables) in cases {
        let topology = torus(extents, cables, &[]);
        let ranks = topology.rank_count() as u32;
        for parts in [1, 2, ranks - 1, ranks, ranks + 1, 3 * ranks] {
            let expected = Rational::new((2 * (ranks - 1) * parts.div_ceil(ranks)).into(), parts.into());
            let plan = plan("ring_all_reduce", &topology, Kind::AllReduce, parts).unwrap();
            assert_eq!(figures(&plan), (2 * ranks - 2, expected), "{extents:?} in {parts} parts");
        }
    }
}

#[test]
fn without_a_ring_there_is_a_reason() {
    let error = plan("ring_all_reduce", &torus(&[5], &[(0, 1)], &[]), Kind::AllReduce, 5).unwrap_err();
    assert_eq!(error.to_string(), "planner `ring_all_reduce` does not apply: no ring through all live ranks was found");
}

/// The bound is that of single ranks or of a partition, worked out by hand: `2 (blocks - 1)` over the links between
/// them. On a line all of an end has to go through every link to the other: `(parts + hops - 1) / parts`.
#[test]
fn spanning_trees_approach_the_bound_on_whole_and_broken_machines() {
    let cases = [
        // Extents, dead cables, dead ranks, parts, bound, most steps, most volume.
        (&[4, 4][..], &[][..], &[][..], 32, (15, 32), 16, (15, 32)),
        (&[4, 4], &[], &[], 48, (15, 32), 16, (23, 48)),
        (&[4, 4, 4], &[], &[], 128, (21, 64), 12, (21, 64)),
        (&[4, 4, 4], &[(2, 3)], &[], 97, (63, 191), 16, (32, 97)),
        (&[4, 4, 4], &[(2, 3)], &[], 192, (63, 191), 18, (64, 192)),
        (&[4, 4], &[(0, 1)], &[], 62, (15, 31), 12, (15, 31)),
        (&[4, 4], &[(0, 1)], &[], 48, (15, 31), 24, (24, 48)),
        (&[3, 3], &[(0, 1)], &[], 51, (8, 17), 16, (8, 17)),
        (&[3, 3], &[(0, 1)], &[], 48, (8, 17), 30, (23, 48)),
        (&[5, 5], &[(0, 1)], &[], 98, (24, 49), 36, (24, 49)),
        (&[2, 3, 4], &[(0, 1)], &[], 96, (46, 118), 60, (40, 96)),
        (&[3, 3], &[(0, 1), (4, 5)], &[], 64, (1, 2), 60, (40, 64)),
        (&[5], &[(0, 1)], &[], 40, (43, 40), 60, (44, 40)),
        (&[5], &[], &[1], 48, (50, 48), 50, (50, 48)),
        (&[4, 4], &[], &[5], 112, (1, 2), 100, (59, 112)),
        (&[4], &[], &[2], 48, (49, 48), 50, (50, 48)),
    ];
    for (extents, cables, ranks, parts, bound, most_steps, most) in cases {
        let plan = plan("spanning_trees", &torus(extents, cables, ranks), Kind::AllReduce, parts).unwrap();
        let (steps, volume) = figures(&plan);
        let words = format!("{extents:?} {cables:?}: {steps} steps, {volume}");
        assert_eq!(
            plan.bounds.volume.as_ref().map(|bound| bound.at_least),
            Some(Rational::new(bound.0, bound.1)),
            "{words}"
        );
        assert!(steps <= most_steps && volume <= Rational::new(most.0, most.1), "{words}");
    }
}

/// The bound of partitions, met by trees: `P (N - 1)` hops each way over the cables left, rounded up.
#[test]
fn packed_trees_stand_on_the_bound_in_many_parts() {
    let five = [(18, 19), (11, 17), (15, 21), (25, 31), (1, 7)];
    // Extents, dead cables, parts, and the total width that the certified bound rounds up to, or a few units more.
    let cases = [
        (&[6, 6][..], &five[..], 268, 140, 0),
        (&[6, 6], &five, 134, 70, 3),
        (&[4, 4, 4], &[(0, 1)], 382, 126, 0),
        (&[3, 3], &[(0, 1), (4, 5)], 128, 64, 0),
    ];
    for (extents, dead, parts, least, more) in cases {
        let plan = plan("packed_trees", &torus(extents, dead, &[]), Kind::AllReduce, parts).unwrap();
        assert_eq!(plan.bounds.least_width(parts), least, "{extents:?}");
        let (_, volume) = figures(&plan);
        let width = volume * i128::from(parts);
        assert!(width <= Rational::from(i128::from(least + more)), "{extents:?}: {width}");
    }
}

/// The bound of partitions, and that of a rank with few links: `parts / links + hops - 1`.
#[test]
fn spanning_trees_stand_on_the_bound_in_few_parts() {
    let five = [(18, 19), (11, 17), (15, 21), (25, 31), (1, 7)];
    // Extents, dead cables, dead ranks, parts, the least total width, and the units more.
    let cases = [
        (&[4, 4][..], &[(0, 1), (8, 9)][..], &[][..], 48, 24, 1),
        (&[4, 4], &[], &[8], 48, 24, 1),
        (&[4, 4], &[(0, 1), (8, 9), (1, 13)], &[], 48, 27, 1),
        (&[3, 3], &[(0, 1), (4, 7), (1, 7)], &[], 48, 27, 1),
        (&[2, 3, 4], &[(0, 1), (12, 13), (1, 19)], &[], 72, 30, 1),
        (&[4, 4, 4], &[(0, 1), (32, 33)], &[], 128, 43, 0),
        (&[6, 6], &five, &[], 67, 35, 1),
    ];
    for (extents, cables, ranks, parts, least, more) in cases {
        let plan = plan("spanning_trees", &torus(extents, cables, ranks), Kind::AllReduce, parts).unwrap();
        assert_eq!(plan.bounds.least_width(parts), least, "{extents:?} {cables:?}");
        let (steps, width) = (plan.schedule.step_count() as u64, plan.schedule.total_width());
        assert!(steps <= width && width <= u64::from(least + more), "{extents:?} {cables:?}: {width}");
    }
}

#[test]
fn spanning_trees_keep_to_the_steps_they_are_asked_for() {
    let topology = torus(&[4, 4], &[(0, 1)], &[]);
    let steps = |goal: Goal<'_>| plan_for(&topology, &Kind::AllReduce, &goal).map(|plan| plan.schedule.step_count());
    let few = goal("spanning_trees", 24);
    assert_eq!(steps(Goal { steps: Some(16), ..few }), Ok(16));
    assert!(steps(Goal { max_steps: Some(14), ..few }).unwrap() <= 14);
    // Too few for trees that overlap, but not for mirrored ones.
    assert!(steps(Goal { max_steps: Some(11), ..few }).unwrap() <= 11);
    let error = steps(Goal { max_steps: Some(7), ..few }).unwrap_err().to_string();
    assert!(error.contains("fewer than 12 steps") && error.contains("fewer than 8 steps"), "{error}");
    let error = steps(goal("spanning_trees", 100_000)).unwrap_err().to_string();
    assert!(error.contains("use fewer parts"), "{error}");
}

/// A rank with few links waits for the first sums, and others must not wait for it in the end: within 1 % of the bound.
#[test]
fn links_of_weak_ranks_are_left_the_time_that_they_idle() {
    for (extents, cables, ranks, parts) in
        [(&[8, 8][..], &[(11, 12)][..], &[52, 4][..], 1404), (&[6, 6], &[(29, 35), (35, 5), (12, 18)], &[], 1400)]
    {
        let plan = plan("packed_trees", &torus(extents, cables, ranks), Kind::AllReduce, parts).unwrap();
        let (least, width) = (plan.bounds.least_width(parts), plan.schedule.total_width());
        assert!(width * 100 <= u64::from(least) * 101, "{extents:?}: {width}, at least {least}");
    }
}

#[test]
fn packed_trees_take_fewer_steps_where_they_are_asked_to() {
    let topology = torus(&[4, 4], &[(0, 1)], &[]);
    let steps = |goal: Goal<'_>| figures(&plan_for(&topology, &Kind::AllReduce, &goal).unwrap()).0;
    let many = goal("packed_trees", 120);
    let least = steps(many);
    assert!(steps(Goal { max_steps: Some(least / 3), ..many }) <= least / 3);
    let price = Price { alpha: 1.0, bandwidth: 1e9, message_bytes: 120 };
    assert!(steps(Goal { price: Some(price), ..many }) <= least / 3);
}

#[test]
fn one_direction_alone_may_fail() {
    let failed = FailedLink { from: RankId(0), to: RankId(1), dim: None, both: false };
    let shape = Shape::Torus(Torus::new(&[4, 4]));
    let topology = Topology::new(TopologySpec { failed_links: vec![failed], ..TopologySpec::new(shape) }).unwrap();
    let (_, volume) = figures(&plan("spanning_trees", &topology, Kind::AllReduce, 62).unwrap());
    assert!(volume <= Rational::new(16, 31), "{volume}");
}

#[test]
fn any_number_of_steps_from_the_least_on_can_be_had() {
    let topology = torus(&[4, 4], &[(0, 1)], &[]);
    let plan = |steps| {
        let goal = Goal { steps: Some(steps), ..goal("spanning_trees", 24) };
        plan_for(&topology, &Kind::AllReduce, &goal)
    };
    for steps in [8, 9, 13, 16] {
        assert_eq!(figures(&plan(steps).unwrap()).0, steps);
    }
    let error = plan(7).unwrap_err().to_string();
    assert!(error.contains("fewer than 8 steps"), "{error}");
}

/// Small messages take few steps, large ones little volume.
#[test]
fn parts_are_chosen_and_the_message_size_decides() {
    let auto = |topology: &Topology, price| {
        let goal = Goal { parts: Parts::Auto, price, ..Goal::default() };
        plan_for(topology, &Kind::AllReduce, &goal).unwrap()
    };
    let whole = auto(&torus(&[4, 4, 4], &[], &[]), None);
    assert_eq!((whole.problem.parts(), figures(&whole)), (128, (12, Rational::new(21, 64))));

    let broken = torus(&[4, 4], &[(0, 1)], &[]);
    let near = Rational::new(15, 31) * Rational::new(104, 100);
    let (_, volume) = figures(&auto(&broken, None));
    assert!(volume <= near, "{volume}");

    let price = |message_bytes| Some(Price { message_bytes, alpha: 1e-6, bandwidth: 1e9 });
    let (steps, _) = figures(&auto(&broken, price(100)));
    // Two halves of 4 steps, less what roots of several ranks save.
    assert!(steps <= 6, "{steps} steps");
    let (steps, volume) = figures(&auto(&broken, price(1_000_000)));
    assert!(steps > 8 && volume <= near * Rational::new(104, 100), "{steps} steps, {volume}");
}

/// The least for the parts at hand is not enough: more parts share what a schedule loses at its ends.
#[test]
fn parts_are_added_while_more_allow_less_volume() {
    let topology = [(5, 1), (9, 8), (12, 8), (8, 9)]
        .into_iter()
        .fold(torus(&[4, 4], &[(10, 11), (8, 11)], &[]), |topology, (from, to)| topology.fail_link(from, to).unwrap());
    let plan = plan_for(&topology, &Kind::AllReduce, &Goal { parts: Parts::Auto, ..Goal::default() }).unwrap();
    let bound = bound::find(&plan.problem).unwrap().volume.unwrap();
    assert_eq!((bound.scope(), bound.at_least), (Scope::AnyParts, Rational::from(1)));
    assert!(figures(&plan).1 <= bound.at_least * Rational::new(1005, 1000), "{:?}", figures(&plan));
}

/// A root of two ranks saves a step, and moves no chunk more often; larger ones trade volume for steps.
#[test]
fn roots_of_several_ranks_save_steps() {
    let within = |topology: &Topology, most: u32| {
        let planner = planner_named("matching").ok();
        let goal = Goal { parts: Parts::Fixed(192), planner, max_steps: Some(most), ..Goal::default() };
        figures(&plan_for(topology, &Kind::AllReduce, &goal).unwrap())
    };
    let intact = torus(&[4, 4, 4], &[], &[]);
    for (steps, width) in [(6, 192), (7, 112), (8, 80), (9, 68), (10, 64), (11, 63)] {
        assert_eq!(within(&intact, steps), (steps, Rational::new(width, 192)));
    }
    let broken = torus(&[4, 4, 4], &[(0, 1)], &[]);
    let (steps, volume) = within(&broken, 8);
    assert!(steps <= 8 && volume < Rational::from(1), "{steps} steps, {volume}");
    assert_eq!(within(&broken, 16).1, Rational::new(1, 3));
    // One step more than the diameter: centers that leave the ring of the dead cable open, and that all ranks are near.
    for (broken, least, most) in [(&broken, 7, Rational::new(8, 5)), (&torus(&[4, 4], &[(5, 6)], &[]), 5, 2.into())] {
        let (steps, volume) = within(broken, least);
        assert!(steps == least && volume <= most, "{steps} steps, {volume}");
    }
}

/// Ranks around a failure are the roots of many chunks. Their neighbors take first what these ranks lack, else steps
/// stay narrow until all of their chunks have set out (66 to 88 steps here); and around a dead rank, some chunks begin
/// elsewhere, else all set out from its neighbors (278, 162 and 78 units of width).
#[test]
fn what_begins_around_a_failure_spreads_soon() {
    let cases = [
        // Extents, dead cables, dead ranks, parts, most steps, most total width.
        (&[16, 16][..], &[(0, 1)][..], &[][..], 384, 62, 194),
        (&[16, 16], &[(85, 86)], &[], 384, 62, 194),
        (&[16, 16], &[(100, 116)], &[], 384, 62, 194),
        (&[8, 8, 8], &[(5, 13), (77, 78), (200, 264)], &[], 768, 60, 268),
        (&[8, 8, 8], &[(0, 64), (450, 451), (500, 508)], &[], 768, 60, 268),
        (&[8, 8, 8], &[], &[37], 768, 60, 268),
        (&[16, 16], &[], &[200], 256, 70, 146),
        (&[8, 8], &[], &[37], 128, 36, 72),
    ];
    for (extents, cables, ranks, parts, most_steps, most_width) in cases {
        let plan = plan("matching", &torus(extents, cables, ranks), Kind::AllReduce, parts).unwrap();
        let (steps, width) = (plan.schedule.step_count(), plan.schedule.total_width());
        assert!(steps <= most_steps && width <= most_width, "{extents:?} {cables:?} {ranks:?}: {steps} steps, {width}");
    }
}

/// Where more ranks are short of links than there are chunks to hang from them, halves one after the other would be 6
/// to 12 % above these figures.
#[test]
fn halves_overlap_where_ranks_are_short_of_links() {
    let cases = [
        // Extents, dead cables, parts, most steps, most total width.
        (&[8, 8, 8][..], &[(0, 1), (77, 85), (300, 364), (200, 207)][..], 768, 48, 258),
        (&[4, 4, 4], &[(0, 1), (5, 21), (30, 31), (40, 44), (50, 51), (12, 28)], 192, 24, 66),
        (&[5, 5, 5], &[(0, 1), (30, 35), (60, 85), (100, 101)], 250, 20, 86),
    ];
    for (extents, cables, parts, most_steps, most_width) in cases {
        let plan = plan("matching", &torus(extents, cables, &[]), Kind::AllReduce, parts).unwrap();
        let (steps, width) = (plan.schedule.step_count(), plan.schedule.total_width());
        assert!(steps <= most_steps && width <= most_width, "{extents:?} {cables:?}: {steps} steps, {width}");
    }
}

/// In few parts steps are most of the width, so centers are as large as they can be.
#[test]
fn whole_vectors_are_swapped_among_many_roots() {
    let steps = |extents: &[u32], cables: &[(u32, u32)], parts: u32| {
        let goal = Goal { parts: Parts::Fixed(parts), ..Goal::default() };
        figures(&plan_for(&torus(extents, cables, &[]), &Kind::AllReduce, &goal).unwrap()).0
    };
    assert!(steps(&[4, 4], &[(5, 6)], 1) <= 5 && steps(&[4, 4, 4], &[(0, 1)], 2) <= 7);
    assert!(steps(&[4, 6], &[], 1) <= 7 && steps(&[8, 8], &[(0, 1)], 2) <= 14);
}

/// Every number of steps that is stated and can be had is had, at the volume of fewer.
#[test]
fn matchings_are_stretched_to_the_steps_stated() {
    let planner = planner_named("matching").ok();
    for (kind, least) in [(Kind::AllGather, 4), (Kind::ReduceScatter, 4), (Kind::AllReduce, 8)] {
        for steps in least..least + 5 {
            let goal = Goal { parts: Parts::Fixed(48), planner, steps: Some(steps), ..Goal::default() };
            let plan = plan_for(&torus(&[4, 4], &[(0, 1)], &[]), &kind, &goal).unwrap();
            assert_eq!(plan.schedule.step_count(), steps as usize, "{}", kind.name());
        }
    }
}

/// The diameter, which no other planner reaches; where all extents are 4, every part crosses one link a step.
#[test]
fn neighbors_swap_sums_in_as_many_steps_as_the_diameter() {
    let cases = [
        // Extents, parts, steps, total width.
        (&[2][..], 1, 1, 1),
        (&[4], 2, 2, 2),
        (&[2, 2], 2, 2, 2),
        (&[4, 4], 4, 4, 4),
        (&[4, 4, 4], 6, 6, 6),
        (&[2, 2, 4], 1, 4, 4),
        (&[2, 4, 4], 30, 5, 70),
    ];
    for (extents, parts, steps, width) in cases {
        let plan = plan("exchange", &torus(extents, &[], &[]), Kind::AllReduce, parts).unwrap();
        assert_eq!(plan.bounds.least_steps(), steps);
        let (found, volume) = figures(&plan);
        assert!(found == steps && volume <= Rational::new(width, parts.into()), "{extents:?}: {found}, {volume}");
    }
    let double = intact(Torus { wrap: vec![true, true], ..Torus::new(&[2, 2]) });
    let double = plan("exchange", &double, Kind::AllReduce, 4).unwrap();
    assert_eq!(figures(&double), (2, Rational::new(1, 2)));
    let error = plan("exchange", &torus(&[5], &[], &[]), Kind::AllReduce, 1).unwrap_err().to_string();
    assert!(error.contains("extents of 1, 2 and"), "{error}");
    let error = plan("exchange", &torus(&[4], &[(0, 1)], &[]), Kind::AllReduce, 1).unwrap_err().to_string();
    assert!(error.contains("it needs a torus without failures, and "), "{error}");
}
