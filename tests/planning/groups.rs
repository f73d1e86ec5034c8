//! Groups of ranks: values of a flow LP, every kind on small machines, what refuses groups, relays.

use collsynth::bound;
use collsynth::certificate::{Bounds, check_volume};
use collsynth::collective::{Collective, Groups, Kind};
use collsynth::plan::{Control, Goal, Parts, Plan, PlanError, Smt, Task, planners, synthesize};
use collsynth::problem::Problem;
use collsynth::schedule::Solution;
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;
use collsynth::verify::{Code, Options, verify};

use crate::support::plans::{self, plan_for, ratio, steps_and_volume, torus};

/// The ranks of a torus by the positions that `key` picks.
fn groups(extents: [u32; 3], key: impl Fn([u32; 3]) -> [u32; 3]) -> Vec<Vec<RankId>> {
    let [x, y, _] = extents;
    let mut groups: std::collections::BTreeMap<[u32; 3], Vec<RankId>> = Default::default();
    for rank in 0..extents.iter().product() {
        groups.entry(key([rank % x, rank / x % y, rank / x / y])).or_default().push(RankId(rank));
    }
    groups.into_values().collect()
}

fn planes() -> Vec<Vec<RankId>> {
    groups([4, 4, 4], |[_, _, z]| [0, 0, z])
}

fn rows() -> Vec<Vec<RankId>> {
    groups([4, 4, 4], |[_, y, z]| [0, y, z])
}

fn blocks() -> Vec<Vec<RankId>> {
    groups([4, 4, 4], |at| at.map(|position| position / 2))
}

fn of(kind: Kind, members: Vec<Vec<RankId>>, relays: bool) -> Kind {
    kind.in_groups(Groups::new(members).unwrap().with_relays(relays))
}

/// All-to-all in all groups of 4x4x4 at once; the optimum of a flow LP of the whole machine (HiGHS), and parts that
/// divide evenly.
type Oracle = (fn() -> Vec<Vec<RankId>>, &'static [(u32, u32)], bool, (i128, i128), u32);

const ORACLE: [Oracle; 10] = [
    (planes, &[], true, (8, 1), 1),
    (rows, &[], true, (2, 1), 1),
    (blocks, &[], true, (4, 1), 1),
    (planes, &[(0, 1)], true, (256, 31), 31),
    (rows, &[(0, 1)], true, (64, 31), 31),
    (blocks, &[(0, 1)], true, (128, 31), 31),
    (blocks, &[(1, 2)], true, (4, 1), 1),
    (planes, &[(0, 1)], false, (64, 7), 7),
    (rows, &[(0, 1)], false, (4, 1), 1),
    (blocks, &[(0, 1)], false, (16, 3), 3),
];

#[test]
fn all_to_all_in_groups_meets_the_values_of_the_linear_program() {
    for (case, (members, cables, relays, (volume, over), parts)) in ORACLE.into_iter().enumerate() {
        let (machine, kind) = (torus(&[4, 4, 4], cables, &[]), of(Kind::AllToAll, members(), relays));
        let value = ratio(volume, over);
        let whole = plans::plan(None, &machine, kind.clone(), 1).unwrap();
        assert_eq!(whole.bounds.volume.as_ref().unwrap().at_least, value, "case {case}");
        assert_eq!(steps_and_volume(&whole).1, value.ceil(), "case {case}");
        if cables.is_empty() {
            assert_eq!(steps_and_volume(&whole).0, whole.bounds.least_steps(), "case {case}");
        }
        let fine = plans::plan(None, &machine, kind, parts).unwrap();
        assert_eq!(steps_and_volume(&fine).1, value, "case {case} in {parts} parts");
    }
}

/// As eight blocks of 4x4x4 on 8x8x8, in fewer dimensions.
#[test]
fn blocks_that_mesh_into_a_larger_torus_stay_on_the_bound_around_a_dead_cable() {
    for (extents, block) in [(&[8, 8, 1], [4, 4, 1]), (&[4, 4, 8], [4, 4, 4])] {
        let members = groups(*extents, |[x, y, z]| [x / block[0], y / block[1], z / block[2]]);
        let plan = plans::plan(None, &torus(extents, &[(0, 1)], &[]), of(Kind::AllToAll, members, true), 1).unwrap();
        let bound = plan.bounds.volume.as_ref().unwrap().at_least;
        assert!(steps_and_volume(&plan).1 <= bound * ratio(101, 100), "{extents:?}: {bound}");
    }
}

/// Cables and ranks.
type Failed = (&'static [(u32, u32)], &'static [u32]);

fn layouts() -> Vec<(&'static [u32], Vec<Vec<RankId>>)> {
    let odd = [&[3, 0, 1, 2, 4][..], &[9, 15, 12, 7, 8, 10, 13]];
    let odd = odd.map(|members| members.iter().copied().map(RankId).collect()).to_vec();
    vec![
        (&[4, 4], groups([4, 4, 1], |[_, y, _]| [0, y, 0])),
        (&[3, 3, 3], groups([3, 3, 3], |[_, _, z]| [0, 0, z])),
        (&[4, 4], groups([4, 4, 1], |[x, y, _]| [x / 2, y / 2, 0])),
        (&[4, 4], odd),
    ]
}

/// Every kind but all_to_allv, rooted at the member at place 1.
fn kinds() -> impl Iterator<Item = Kind> {
    let every = Kind::every(RankId(1), Default::default()).into_iter();
    every.filter(|kind| kind.demand().is_none())
}

#[test]
fn every_kind_is_planned_in_groups_with_dead_cables_and_dead_relays() {
    for (extents, members) in layouts() {
        let failures: [Failed; 4] = [(&[], &[]), (&[(0, 1)], &[]), (&[], &[6]), (&[(1, 2)], &[11])];
        for ((cables, dead), kind) in failures.into_iter().flat_map(|failure| kinds().map(move |kind| (failure, kind)))
        {
            let grouped = of(kind.clone(), members.clone(), true);
            let plan = match plans::plan(None, &torus(extents, cables, dead), grouped, 2) {
                Ok(plan) => plan,
                // The root of a group failed.
                Err(PlanError::Problem(_)) if kind.root().is_some() && !dead.is_empty() => continue,
                Err(error) => panic!("{}: {error}", kind.name()),
            };
            let report = verify(&plan.clone().into(), &Options::default());
            assert_eq!(report.verdict(), Verdict::Holds, "{} by {}: {report:?}", kind.name(), plan.planner);
            assert!(plan.schedule.total_width() >= plan.bounds.least_width(2).into(), "{}", kind.name());
        }
    }
}

#[test]
fn what_bounds_claim_of_groups_is_proven() {
    for (extents, members) in layouts() {
        for (kind, relays) in kinds().flat_map(|kind| [(kind.clone(), true), (kind, false)]) {
            let kind = of(kind, members.clone(), relays);
            let collective = Collective { kind, parts: 3 };
            let problem = Problem::new(torus(extents, &[(0, 1)], &[]), collective).unwrap();
            // Without relays, some ranks of the odd groups cannot reach each other.
            let Ok(findings) = bound::findings(&problem) else { continue };
            for finding in findings {
                if let bound::Claim::Volume(bound) = finding.claim {
                    check_volume(&problem, &bound).unwrap_or_else(|error| panic!("{}: {error}", finding.name));
                }
            }
        }
    }
}

#[test]
fn planners_refuse_groups_out_of_their_scope() {
    for kind in kinds() {
        let kind = of(kind, rows(), true);
        let problem = Problem::new(Topology::torus(&[4, 4, 4]).unwrap(), Collective::new(kind)).unwrap();
        let name = problem.collective().kind.name();
        for planner in planners().iter().filter(|planner| !planner.scope().groups.contains(&name)) {
            let refused = planner.plan(&Task::new(&problem, &Bounds::default()), &Control::unlimited());
            assert!(matches!(refused, Err(PlanError::NotApplicable { .. })), "{}: {refused:?}", planner.name());
        }
    }
}

#[test]
fn a_relay_is_a_violation_where_relays_are_forbidden() {
    let machine = torus(&[4, 4, 4], &[(0, 1)], &[]);
    let plan = plans::plan(None, &machine, of(Kind::AllToAll, rows(), true), 31).unwrap();
    let strict = Collective { kind: of(Kind::AllToAll, rows(), false), parts: 31 };
    let problem = Problem::new(machine, strict).unwrap();
    let solution = Solution { problem, schedule: plan.schedule, bounds: Default::default(), origin: None };
    let report = verify(&solution, &Options::default());
    assert!(
        report.verdict() == Verdict::Refuted && report.violations.iter().all(|finding| finding.code == Code::D004),
        "{report:?}"
    );
}

#[test]
fn planes_are_reduced_at_the_bound_of_their_columns() {
    let (extents, members) = layouts().swap_remove(1);
    let plan = plans::plan(None, &torus(extents, &[], &[]), of(Kind::AllReduce, members, true), 18).unwrap();
    // 16 vectors for each of 3 planes, over the 108 links in x and y.
    assert_eq!(plan.bounds.volume.as_ref().unwrap().at_least, ratio(4, 9));
    assert_eq!(steps_and_volume(&plan), (4, ratio(4, 9)));
}

#[test]
fn trees_in_many_parts_stand_near_the_bounds() {
    let (extents, members) = layouts().swap_remove(2);
    // Blocks of 2x2: 8 vectors cross between the 4 corners of all blocks for each of 6, over 32 links.
    let cases = [
        (Kind::AllReduce, 0, ratio(3, 4), 160, ratio(3, 4)),
        (Kind::AllReduce, 1, ratio(4, 5), 160, ratio(41, 50)),
        (Kind::AllGather, 0, ratio(3, 2), 16, ratio(13, 8)),
        (Kind::Broadcast(RankId(0)), 0, ratio(3, 8), 256, ratio(7, 16)),
        (Kind::Reduce(RankId(0)), 0, ratio(3, 8), 256, ratio(7, 16)),
    ];
    for (kind, dead, bound, parts, most) in cases {
        let cables = &[(0, 1)][..dead];
        let grouped = of(kind.clone(), members.clone(), true);
        let problem = Problem::new(torus(extents, cables, &[]), Collective { kind: grouped.clone(), parts }).unwrap();
        assert_eq!(bound::find(&problem).unwrap().volume.unwrap().at_least, bound, "{}", kind.name());
        let plan = plans::plan("packed_trees", &torus(extents, cables, &[]), grouped, parts).unwrap();
        let (_, volume) = steps_and_volume(&plan);
        assert!(volume >= bound && volume <= most, "{} {dead}: {volume}", kind.name());
    }
}

#[test]
fn trees_of_groups_that_may_not_relay_stay_within_them() {
    let (extents, members) = layouts().swap_remove(0);
    for kind in [Kind::AllReduce, Kind::Broadcast(RankId(1)), Kind::Reduce(RankId(1)), Kind::ReduceScatter] {
        let kind = of(kind, members.clone(), false);
        // A judge that finds a relay refuses it.
        let plan = plans::plan("packed_trees", &torus(extents, &[(0, 1)], &[]), kind.clone(), 40).unwrap();
        steps_and_volume(&plan);
        let alone = plans::plan("packed_trees", &torus(extents, &[(0, 1), (2, 3)], &[]), kind, 40);
        assert!(matches!(alone, Err(PlanError::Disconnected(_))), "{alone:?}");
    }
}

/// Machines of 8 ranks with groups of up to 4 of them, the rest relays: what is planned without naming a planner,
/// beside the optimum that the SMT planner proves. At least nine of ten are equal, and none is better.
#[test]
fn small_groups_are_planned_at_the_optimum() {
    let some = |lists: &[&[u32]]| lists.iter().map(|ranks| ranks.iter().copied().map(RankId).collect()).collect();
    let stated: [Vec<Vec<RankId>>; 4] =
        [some(&[&[0, 3, 5]]), some(&[&[1, 2, 4, 7]]), some(&[&[0, 1], &[6, 3]]), some(&[&[0, 5, 2, 7], &[1, 3, 4, 6]])];
    let kinds = [
        Kind::AllToAll,
        Kind::AllGather,
        Kind::ReduceScatter,
        Kind::Broadcast(RankId(0)),
        Kind::Reduce(RankId(1)),
        Kind::Scatter(RankId(1)),
        Kind::Gather(RankId(0)),
    ];
    let (mut equal, mut all, mut worse) = (0, 0, Vec::new());
    for (extents, cables) in
        [(&[8][..], &[][..]), (&[2, 4], &[]), (&[2, 4], &[(0, 1)]), (&[2, 2, 2], &[(0, 1), (2, 6)])]
    {
        let topology = torus(extents, cables, &[]);
        for members in &stated {
            for (kind, relays) in kinds.iter().flat_map(|kind| [(kind, true), (kind, false)]) {
                for parts in [1, 2] {
                    let kind = of(kind.clone(), members.clone(), relays);
                    let goal = |planner| Goal { parts: Parts::Fixed(parts), planner, ..Goal::default() };
                    let free = Control::unlimited();
                    let smt = Smt::new();
                    let Ok(optimum) = synthesize(&topology, &kind, &goal(Some(&smt)), &free) else { continue };
                    let planned = synthesize(&topology, &kind, &goal(None), &free).unwrap();
                    let figures = |plan: &Plan| (plan.schedule.total_width(), plan.schedule.step_count());
                    assert_eq!(
                        verify(&optimum.clone().into(), &Options::default()).verdict(),
                        Verdict::Holds,
                        "{kind:?}"
                    );
                    let name =
                        format!("{extents:?} {cables:?} {members:?} {} relays {relays} parts {parts}", kind.name());
                    assert!(figures(&planned) >= figures(&optimum), "{name}");
                    all += 1;
                    match figures(&planned) == figures(&optimum) {
                        true => equal += 1,
                        false => worse.push(format!("{name}: {:?} {:?}", figures(&planned), figures(&optimum))),
                    }
                }
            }
        }
    }
    assert!(all > 200, "{all}");
    assert!(equal * 10 >= all * 9, "{equal} of {all}:\n{}", worse.join("\n"));
}

#[test]
fn sums_in_small_groups_of_a_ring_are_planned_in_few_parts() {
    for (ring, group, parts) in [(6, vec![1, 2, 3], 2), (8, vec![0, 1], 3), (8, vec![0, 1], 4), (8, vec![2, 3, 4], 4)] {
        let torus = Topology::torus(&[ring]).unwrap();
        let kind = of(Kind::AllReduce, vec![group.into_iter().map(RankId).collect()], true);
        let plan = plan_for(&torus, &kind, &Goal { parts: Parts::Fixed(parts), ..Goal::default() }).unwrap();
        assert!(plan.schedule.step_count() > 0);
    }
}

/// No two rows, or planes, share a link: each is a torus of its own.
#[test]
fn groups_that_share_no_link_take_as_long_as_one_of_them() {
    for (members, extents) in [(rows(), &[4][..]), (planes(), &[4, 4])] {
        for kind in [Kind::Broadcast(RankId(1)), Kind::Reduce(RankId(2)), Kind::AllGather, Kind::ReduceScatter] {
            let width = |machine, kind| plans::plan(None, &machine, kind, 12).unwrap().schedule.total_width();
            let alone = width(torus(extents, &[], &[]), kind.clone());
            let all = width(torus(&[4, 4, 4], &[], &[]), of(kind.clone(), members.clone(), true));
            assert!(all <= alone, "{}: {all} {alone}", kind.name());
        }
    }
}

/// Blocks that share no link: the bound is that of the block that is short of cables most, and each is mended alone.
#[test]
fn messages_of_blocks_that_share_no_link_take_as_long_as_those_of_the_worst() {
    let members = groups([16, 16, 2], |[x, _, z]| [x / 8, 0, z]);
    let rank = |x: u32, y: u32, z: u32| x + 16 * y + 256 * z;
    let cables = [(rank(2, 13, 1), rank(3, 13, 1)), (rank(4, 8, 0), rank(4, 9, 0)), (rank(7, 4, 1), rank(7, 5, 1))];
    let machine = torus(&[16, 16, 2], &cables, &[]);
    let plan = plans::plan(None, &machine, of(Kind::AllToAll, members, false), 1).unwrap();
    // Half of 128 ranks of a block send to the other half over 15 cables along y, in either direction.
    assert_eq!(plan.bounds.volume.as_ref().unwrap().at_least, ratio(4096, 15));
    let (steps, volume) = steps_and_volume(&plan);
    assert!(steps == plan.bounds.least_steps() && volume <= ratio(277, 1), "{steps} steps, {volume}");
}

/// In 16 rows of 16, one of which has lost a cable of its root: its chunks leave through others, which make room.
#[test]
fn vectors_of_many_groups_come_near_their_bound_in_seconds() {
    let members = groups([16, 16, 1], |[_, y, z]| [0, y, z]);
    for (cables, most) in [(&[][..], 1.05), (&[(0, 1)], 1.14)] {
        let kind = of(Kind::Broadcast(RankId(0)), members.clone(), true);
        let machine = torus(&[16, 16], cables, &[]);
        let plan = synthesize(&machine, &kind, &Goal::default(), &Control::unlimited()).unwrap();
        let report = verify(&plan.clone().into(), &Options::default());
        assert_eq!(report.verdict(), Verdict::Holds);
        let least = plan.bounds.least_width(plan.problem.parts());
        let above = plan.schedule.total_width() as f64 / f64::from(least);
        assert!(above <= most, "{above} with {cables:?}");
    }
}

/// Whole messages lose as much at the ends of a schedule as they take: cut further, they follow the same routes.
#[test]
fn messages_among_few_ranks_are_cut_until_they_come_near_the_bound() {
    let some = |ranks: &[u32]| vec![ranks.iter().copied().map(RankId).collect::<Vec<_>>()];
    for (kind, members) in [
        (Kind::Gather(RankId(0)), some(&[63, 44, 57, 42])),
        (Kind::AllToAll, some(&[4, 49, 25])),
        (Kind::AllToAll, rows()),
        (Kind::AllGather, some(&[5, 8, 9, 60])),
    ] {
        let machine = torus(&[4, 4, 4], &[(1, 2), (0, 16), (63, 60)], &[]);
        let plan = synthesize(&machine, &of(kind.clone(), members, true), &Goal::default(), &Control::unlimited());
        let plan = plan.unwrap();
        assert_eq!(verify(&plan.clone().into(), &Options::default()).verdict(), Verdict::Holds);
        let (_, volume) = steps_and_volume(&plan);
        let bound = plan.bounds.volume.as_ref().unwrap().at_least;
        assert!(volume * ratio(100, 1) <= bound * ratio(104, 1), "{}: {volume}, at least {bound}", kind.name());
    }
}

/// Blocks lack links of their own: their trees are packed at once, over those of all, in few parts, and cut further.
#[test]
fn vectors_of_blocks_that_relay_for_each_other_come_near_their_bound() {
    let members = groups([4, 4, 8], |[x, y, z]| [x / 2, y / 2, z / 4]);
    let machine = torus(&[4, 4, 8], &[(0, 1)], &[]);
    let kind = of(Kind::Broadcast(RankId(0)), members, true);
    let plan = synthesize(&machine, &kind, &Goal::default(), &Control::unlimited()).unwrap();
    assert_eq!(verify(&plan.clone().into(), &Options::default()).verdict(), Verdict::Holds);
    let (_, volume) = steps_and_volume(&plan);
    let bound = plan.bounds.volume.as_ref().unwrap().at_least;
    assert!(volume * ratio(100, 1) <= bound * ratio(107, 1), "{volume}, at least {bound}");
}

/// The fewest steps that are near the bound: the same routes in ever more pieces would lose less at their ends, in many
/// times as many steps.
#[test]
fn vectors_in_small_groups_are_cut_no_further_than_near_their_bound() {
    let halves = [[3, 0, 1, 6], [5, 7, 2, 4]].map(|ranks| ranks.map(RankId).to_vec()).to_vec();
    let rows = (0..4).map(|row| (4 * row..4 * row + 4).map(RankId).collect()).collect();
    for (machine, kind, members, percent, most) in [
        (torus(&[4, 2], &[(1, 2)], &[]), Kind::AllReduce, halves, 103, 70),
        (torus(&[4, 4], &[], &[]), Kind::Reduce(RankId(0)), rows, 105, 70),
    ] {
        let plan = synthesize(&machine, &of(kind, members, true), &Goal::default(), &Control::unlimited()).unwrap();
        assert_eq!(verify(&plan.clone().into(), &Options::default()).verdict(), Verdict::Holds);
        let (steps, volume) = steps_and_volume(&plan);
        let bound = plan.bounds.volume.as_ref().unwrap().at_least;
        assert!(volume * ratio(100, 1) <= bound * ratio(percent, 1), "{volume}, at least {bound}");
        assert!(steps <= most, "{steps} steps");
    }
}
