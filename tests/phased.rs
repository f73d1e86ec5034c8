//! The planners that work in phases (ring_pipeline, folded_ring, mate, mate_e and their kin) against the closed forms of
//! their paper, on verified schedules: the loads of the phases add up to them exactly, the volume comes near.

use num_rational::Ratio;
use synth::certificate::Rational;
use synth::collective::Kind;
use synth::plan::{Control, Parts, Phase, Plan, PlanError, Wish, synthesise};
use synth::schedule::Solution;
use synth::topology::{DimRef, FailedLink, RankId, Shape, Topology, TopologySpec, Torus};
use synth::verify::{Code, Options, verify};

/// A cable: the rank below it and its dimension.
type Cable = (u32, u8);

fn torus(extents: &[u32], cables: &[Cable]) -> Topology {
    machine(Torus::new(extents), cables)
}

fn machine(torus: Torus, cables: &[Cable]) -> Topology {
    let failed = |&(from, dim): &Cable| {
        let (extent, stride) = (torus.extents[dim as usize], torus.stride(dim.into()));
        let position = torus.position(RankId(from), dim.into());
        let to = RankId(from - position * stride + (position + 1) % extent * stride);
        let doubled = extent == 2 && torus.wrap.get(dim as usize) == Some(&true);
        let direction = synth::topology::Direction { dim, positive: true };
        let dim = if doubled { DimRef::Direction(direction) } else { DimRef::Dim(dim) };
        FailedLink { from: RankId(from), to, dim: Some(dim), both: true }
    };
    let failed_links = cables.iter().map(failed).collect();
    Topology::new(TopologySpec { failed_links, ..TopologySpec::new(Shape::Torus(torus.clone())) }).unwrap()
}

fn wish(planner: &str, parts: u32) -> Wish {
    Wish { planner: Some(planner.to_owned()), parts: Parts::Fixed(parts), ..Wish::default() }
}

fn plan(planner: &str, topology: &Topology, parts: u32) -> Result<Plan, PlanError> {
    let plan = synthesise(topology, &Kind::AllToAll, &wish(planner, parts), &Control::unlimited())?;
    let Plan { problem, schedule, bounds, .. } = plan.clone();
    let report = verify(&Solution { problem, schedule, bounds, origin: None }, &Options::default());
    assert!(report.holds(), "{planner}: {report:?}");
    // Folded and virtual rings lead past ranks a second time; nothing else is wasted.
    let folds = ["folded", "mate", "wfr"].iter().any(|name| plan.planner.starts_with(name));
    assert!(report.totals().all(|(code, total)| total == 0 || (folds && code == Code::W001)), "{planner}: {report:?}");
    assert_eq!(plan.phases.last().map_or(0, |phase| phase.steps.end), plan.schedule.step_count());
    Ok(plan)
}

/// The volume, and what the loads of the phases add up to.
fn figures(planner: &str, topology: &Topology, parts: u32) -> (Rational, Rational) {
    let plan = plan(planner, topology, parts).unwrap();
    let volume = Ratio::new(plan.schedule.total_width().into(), parts.into());
    (volume, Phase::total_load(&plan.phases))
}

fn ratio(numerator: u32, denominator: u32) -> Rational {
    Ratio::new(numerator.into(), denominator.into())
}

/// What HalfRing with DimRotation takes on a torus of equal extents.
fn sound(extents: &[u32]) -> Rational {
    let (n, k): (u32, u32) = (extents.iter().product(), extents[0]);
    if k.is_multiple_of(2) { ratio(n * k, 8) } else { ratio(n * (k * k - 1), 8 * k) }
}

/// The speed of a folded ring in terms of a sound one.
fn r(k: u32) -> Rational {
    if k.is_multiple_of(2) { ratio(k, 4 * (k - 1)) } else { ratio(k + 1, 4 * k) }
}

fn closed_form(planner: &str, extents: &[u32]) -> Rational {
    let one = ratio(1, 1);
    let r = if planner.contains("open") { ratio(1, 2) } else { r(extents[0]) };
    let dims = ratio(extents.len() as u32, 1);
    let t0 = sound(extents);
    match planner {
        "folded_ring" | "open_ring" => t0 / r,
        "mate" | "mate_open" => t0 * (one + one / (dims - one + r)),
        "mate_e" | "mate_e_open" => t0 * dims / (dims - one + r),
        "mate_e2" => t0 * (one + (one - r) * 2 / (dims - one + r)),
        _ => unreachable!("{planner}"),
    }
}

/// Planner, extents, and parts at which all shares are whole.
const WHOLE: &[(&str, &[u32], u32)] = &[
    ("folded_ring", &[4, 4], 2),
    ("folded_ring", &[5, 5], 2),
    ("folded_ring", &[8, 8], 2),
    ("folded_ring", &[4, 4, 4], 3),
    ("folded_ring", &[5, 5, 5], 3),
    ("open_ring", &[4, 4], 2),
    ("open_ring", &[4, 4, 4], 3),
    ("mate", &[4, 4], 4),
    ("mate", &[5, 5], 26),
    ("mate", &[8, 8], 9),
    ("mate", &[4, 4, 4], 21),
    ("mate_open", &[4, 4], 6),
    ("mate_open", &[4, 4, 4], 15),
    ("mate_e", &[4, 4], 12),
    ("mate_e", &[5, 5], 52),
    ("mate_e", &[8, 8], 63),
    ("mate_e", &[4, 4, 4], 63),
    ("mate_e_open", &[4, 4], 6),
    ("mate_e_open", &[4, 4, 4], 15),
];

#[test]
fn loads_add_up_to_the_closed_forms() {
    for &(planner, extents, parts) in WHOLE {
        let (volume, load) = figures(planner, &torus(extents, &[(0, 0)]), parts);
        assert_eq!(load, closed_form(planner, extents), "{planner} on {extents:?}");
        assert!(volume >= load);
        let above = volume / load - ratio(1, 1);
        println!("{planner} {extents:?} {parts} parts: load {load}, volume {volume}, above {above}");
    }
}

#[test]
fn two_dead_cables_on_one_ring_leave_the_virtual_rings() {
    for (extents, parts) in [(&[4, 4][..], 2), (&[5, 5], 2), (&[4, 4, 4], 6)] {
        let topology = torus(extents, &[(0, 0), (2, 0)]);
        let t0 = sound(extents);
        let (volume, load) = figures("mate", &topology, parts);
        assert_eq!(load, t0 * (ratio(1, 1) + ratio(1, extents.len() as u32 - 1)), "{extents:?}");
        assert!(volume >= load);
        let refused = plan("mate_e", &topology, parts).unwrap_err().to_string();
        assert!(refused.ends_with("has nothing to run in the normal phases: it is in pieces; try mate"), "{refused}");
        let refused = plan("folded_ring", &topology, parts).unwrap_err().to_string();
        assert!(refused.ends_with("has 2 dead cables, so that what is left is in pieces"), "{refused}");
    }
}

/// Dead cables in different dimensions, in each other's sound surroundings: x between 0 and 1, y from rank `second` on.
#[test]
fn two_acceleration_phases_for_two_dimensions() {
    for (extents, second, parts) in [(&[4, 4][..], 6, 12), (&[5, 5], 13, 52), (&[8, 8], 28, 63), (&[4, 4, 4], 38, 63)] {
        let topology = torus(extents, &[(0, 0), (second, 1)]);
        let (volume, load) = figures("mate_e2", &topology, parts);
        assert_eq!(load, closed_form("mate_e2", extents), "{extents:?}");
        // One phase for both, its links shared out, takes no longer.
        let (shared_volume, shared) = figures("mate_e", &topology, parts);
        println!("{extents:?}: two phases {load} ({volume}), one {shared} ({shared_volume})");
        assert!(shared <= load, "{extents:?}: {shared} > {load}");
    }
}

#[test]
fn dead_cables_of_one_dimension_far_apart_are_accelerated_together() {
    // Rows 0 and 4 of 8x8: rows 7, 1 and 3, 5 help.
    let topology = torus(&[8, 8], &[(0, 0), (35, 0)]);
    for planner in ["mate_e", "mate_e2"] {
        let (_, load) = figures(planner, &topology, 63);
        assert_eq!(load, closed_form("mate_e", &[8, 8]), "{planner}");
    }
    // Rows 0 and 2 of 4x4 both go over rows 1 and 3, but in different directions.
    let topology = torus(&[4, 4], &[(0, 0), (8, 0)]);
    assert_eq!(figures("mate_e2", &topology, 12).1, closed_form("mate_e", &[4, 4]));
    // Rows 0 and 1 are each other's neighbours.
    let topology = torus(&[4, 4], &[(0, 0), (6, 0)]);
    let [shared, each] = ["mate_e", "mate_e2"].map(|planner| figures(planner, &topology, 12).1);
    println!("neighbours: shared {shared}, each {each}");
    assert!(shared <= each);
}

#[test]
fn a_single_ring_and_a_sound_torus_are_refused() {
    let refused = |planner: &str, topology: &Topology| plan(planner, topology, 1).unwrap_err().to_string();
    for planner in ["folded_ring", "open_ring", "mate", "mate_e", "mate_e2", "mate_open", "mate_e_open"] {
        assert!(
            refused(planner, &torus(&[4, 4], &[])).ends_with("no cable failed: dim_rotation is what it would come to")
        );
        if planner.starts_with("mate") {
            assert!(refused(planner, &torus(&[5], &[(0, 0)])).contains("one dimension only"));
        }
    }
    // Row 0 of 3x3 in pieces, and a cable dead on each side of it.
    let topology = torus(&[3, 3], &[(0, 0), (1, 0), (3, 0), (6, 0)]);
    let reason = refused("mate", &topology);
    assert_eq!(
        reason,
        "planner `mate` does not apply: the x ring of rank 0 (0,0) has 2 dead cables, so that what is left is in pieces; \
         its virtual ring beside it in y needs the failed link x+ of 3 (0,1)"
    );
}

#[test]
fn ring_pipeline_meets_its_closed_form() {
    for (extents, pieces) in [(&[4, 4][..], 6), (&[4, 4, 4], 6), (&[8, 8], 1), (&[4, 4, 4], 2), (&[6, 6], 3)] {
        let (n, k, dims): (u32, u32, u32) = (extents.iter().product(), extents[0], extents.len() as u32);
        let plan = plan("ring_pipeline", &torus(extents, &[]), pieces).unwrap();
        let volume = Ratio::new(plan.schedule.total_width().into(), pieces.into());
        assert_eq!(volume, ratio(n * (k - 1), 4) * ratio(pieces + dims - 1, pieces), "{extents:?}");
        assert_eq!(Phase::total_load(&plan.phases), volume);
        assert_eq!(plan.schedule.step_count() as u32, (pieces + dims - 1) * (k - 1));
    }
}

#[test]
fn steps_and_prices_choose_the_grain() {
    let topology = torus(&[4, 4], &[(0, 0)]);
    let finest = plan("mate_e", &topology, 24).unwrap().schedule;
    let planned = |wish: Wish| synthesise(&topology, &Kind::AllToAll, &wish, &Control::unlimited());
    let half = finest.step_count() as u32 / 2;
    let coarser = planned(Wish { max_steps: Some(half), ..wish("mate_e", 24) }).unwrap().schedule;
    assert!(coarser.step_count() <= half as usize && coarser.total_width() >= finest.total_width());
    let price = |message_bytes| Some(synth::cost::Price { message_bytes, alpha: 1e-6, bandwidth: 50e9 });
    let [small, large] =
        [1, 1 << 30].map(|bytes| planned(Wish { price: price(bytes), ..wish("mate_e", 24) }).unwrap().schedule);
    assert!(small.step_count() < large.step_count() && small.total_width() >= large.total_width());
    println!("finest {} {}", finest.step_count(), finest.total_width());
    println!("small {} {}", small.step_count(), small.total_width());
    println!("large {} {}", large.step_count(), large.total_width());
    let error = planned(Wish { max_steps: Some(5), ..wish("mate_e", 24) }).unwrap_err();
    assert!(matches!(error, PlanError::NotFound { .. }), "{error}");
}

/// Extents, and the static load of WFR with a dead cable in each dimension (`None`: not recorded), worked out elsewhere.
const WILD: &[(&[u32], &[Option<u32>])] = &[
    (&[4, 4], &[Some(14), Some(16)]),
    (&[5, 5], &[Some(24), Some(30)]),
    (&[8, 8], &[Some(104), Some(128)]),
    (&[4, 4, 4], &[Some(50), Some(56), Some(64)]),
    (&[5, 5, 5], &[Some(108), Some(120), Some(150)]),
    (&[8, 4, 4], &[Some(200), Some(128), None]),
];

#[test]
fn routes_load_links_as_expected() {
    for (extents, loads) in WILD {
        let n: u32 = extents.iter().product();
        let (_, load) = figures("dor", &torus(extents, &[]), 1);
        let expected =
            extents.iter().map(|&k| if k.is_multiple_of(2) { ratio(n * k, 8) } else { ratio(n * (k * k - 1), 8 * k) });
        assert_eq!(Some(load), expected.max(), "{extents:?}");
        assert_eq!(figures("wfr", &torus(extents, &[]), 1).1, load);
        for (dim, expected) in (0..).zip(*loads) {
            let topology = torus(extents, &[(0, dim)]);
            let (volume, load) = figures("wfr", &topology, 1);
            assert!(expected.is_none_or(|expected| load == ratio(expected, 1)), "{extents:?}, dimension {dim}: {load}");
            println!("wfr {extents:?} {dim}: load {load}, volume {volume}");
            let refused = plan("dor", &topology, 1).unwrap_err().to_string();
            assert!(refused.contains("a link failed"), "{refused}");
        }
    }
}

#[test]
fn wild_first_routing_says_which_message_it_cannot_route() {
    // Both ways round the last dimension are dead, for rank 0 and rank 8 of 4x4.
    let refused = plan("wfr", &torus(&[4, 4], &[(0, 1), (12, 1)]), 1).unwrap_err().to_string();
    assert_eq!(
        refused,
        "planner `wfr` does not apply: it has no way from rank 0 (0,0) to 4 (0,1) along y: a link failed"
    );
}

/// The volume comes down to the load as parts grow: what is above it is a few chunks in each phase.
#[test]
fn volumes_converge_to_the_loads() {
    for (planner, extents, multiples) in [
        ("folded_ring", &[5, 5][..], &[2, 8, 32][..]),
        ("mate", &[4, 4], &[4, 16, 64]),
        ("mate_e", &[4, 4], &[12, 24, 96]),
        ("mate", &[4, 4, 4], &[21, 42, 84]),
        ("wfr", &[4, 4], &[1, 4, 16]),
    ] {
        let topology = torus(extents, &[(0, 0)]);
        let mut above = Vec::new();
        for &parts in multiples {
            let (volume, load) = figures(planner, &topology, parts);
            above.push((volume - load) * ratio(parts, 1));
            println!("{planner} {extents:?} {parts}: {volume} over {load}, {} chunks", above[above.len() - 1]);
        }
        assert!(above.iter().all(|&chunks| chunks <= ratio(12 * extents.len() as u32, 1)), "{planner}: {above:?}");
    }
}

mod any_failures {
    use proptest::prelude::*;

    use super::{RankId, Topology, Torus, machine, plan};
    use synth::plan::{Phase, PlanError};

    /// Extents, cables, parts, and by dimension: two cables where it has two positions, and twice the capacity.
    type Drawn = (Vec<u32>, Vec<(u32, u8)>, u32, [bool; 3]);

    fn machines() -> impl Strategy<Value = Drawn> {
        let extents = prop_oneof![
            prop::collection::vec(2_u32..=6, 2..=2),
            prop::collection::vec(2_u32..=4, 3..=3),
            prop::collection::vec(3_u32..=8, 1..=1),
        ];
        (extents, prop::collection::vec((any::<u32>(), any::<u8>()), 0..6), 1_u32..4, any::<[bool; 3]>())
    }

    /// Doubled cables where an extent is 2, unequal capacities, dead cables.
    fn build(extents: &[u32], cables: &[(u32, u8)], flags: [bool; 3]) -> Topology {
        let ranks: u32 = extents.iter().product();
        let wrap: Vec<bool> = extents.iter().zip(flags).map(|(&extent, double)| extent > 2 || double).collect();
        let capacity = extents.iter().zip(flags).map(|(_, wide)| 1 + u32::from(wide)).collect();
        let torus = Torus { wrap: wrap.clone(), capacity, ..Torus::new(extents) };
        let mut cables: Vec<(u32, u8)> =
            cables.iter().map(|(from, dim)| (from % ranks, dim % extents.len() as u8)).collect();
        cables.sort_unstable();
        cables.dedup();
        cables.retain(|&(from, dim)| wrap[dim as usize] || torus.position(RankId(from), dim.into()) == 0);
        machine(torus, &cables)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn are_answered_or_refused_with_the_reason((extents, cables, parts, flags) in machines()) {
            let topology = build(&extents, &cables, flags);
            for planner in ["folded_ring", "open_ring", "mate", "mate_e", "mate_e2", "mate_open", "mate_e_open", "wfr"] {
                match plan(planner, &topology, parts) {
                    Ok(plan) => {
                        let load = Phase::total_load(&plan.phases);
                        prop_assert!(load <= num_rational::Ratio::new(plan.schedule.total_width().into(), parts.into()));
                    }
                    Err(PlanError::NotApplicable { reason, .. }) => prop_assert!(!reason.is_empty()),
                    Err(PlanError::Disconnected(_)) => {}
                    Err(other) => prop_assert!(false, "{planner}: {other}"),
                }
            }
        }
    }
}
