//! The planners that work in phases (ring_pipeline, folded_ring, mate, mate_e and their kin) against the closed forms
//! of their paper, on verified schedules: the loads of the phases add up to them exactly, the volume approaches them.

mod machine;
mod page;

use collsynth::collective::Kind;
use collsynth::plan::{Goal, Phase, PlanError};
use collsynth::topology::{RankId, Topology, Torus};
use num_rational::Ratio;

use crate::support::plans::{goal, plan_for, ratio, without};
use machine::{closed_form, figures, intact_volume, plan, torus};

#[test]
fn two_dead_cables_on_one_ring_leave_the_virtual_rings() {
    for (extents, parts) in [(&[4, 4][..], 2), (&[5, 5], 2), (&[4, 4, 4], 6)] {
        let topology = torus(extents, &[(0, 0), (2, 0)]);
        let t0 = intact_volume(extents);
        let (volume, load) = figures("mate", &topology, parts);
        assert_eq!(load, t0 * (ratio(1, 1) + ratio(1, extents.len() as u32 - 1)), "{extents:?}");
        assert!(volume >= load);
        let refused = plan("mate_e", &topology, parts).unwrap_err().to_string();
        assert!(refused.ends_with("cannot work in the normal phases: it is in pieces; try mate"), "{refused}");
        let refused = plan("folded_ring", &topology, parts).unwrap_err().to_string();
        assert!(refused.ends_with("has 2 dead cables, so it is in pieces"), "{refused}");
    }
}

#[test]
fn dead_cables_of_one_dimension_far_apart_are_accelerated_together() {
    // Rows 0 and 4 of 8x8: rows 7, 1 and 3, 5 help.
    let topology = torus(&[8, 8], &[(0, 0), (35, 0)]);
    for planner in ["mate_e", "mate_e2"] {
        let (_, load) = figures(planner, &topology, 63);
        assert_eq!(load, closed_form("mate_e", &[8, 8], 0), "{planner}");
    }
    // Rows 0 and 2 of 4x4 both use rows 1 and 3, but in different directions.
    let topology = torus(&[4, 4], &[(0, 0), (8, 0)]);
    assert_eq!(figures("mate_e2", &topology, 12).1, closed_form("mate_e", &[4, 4], 0));
    // Rows 0 and 1 are neighbors.
    let topology = torus(&[4, 4], &[(0, 0), (6, 0)]);
    let [shared, each] = ["mate_e", "mate_e2"].map(|planner| figures(planner, &topology, 12).1);
    assert!(shared <= each);
}

#[test]
fn a_single_ring_and_a_sound_torus_are_refused() {
    let refused = |planner: &str, topology: &Topology| plan(planner, topology, 1).unwrap_err().to_string();
    for planner in ["folded_ring", "open_ring", "mate", "mate_e", "mate_e2", "mate_open", "mate_e_open"] {
        assert!(refused(planner, &torus(&[4, 4], &[])).ends_with("no cable failed: it would be dim_rotation"));
        if planner.starts_with("mate") {
            assert!(refused(planner, &torus(&[5], &[(0, 0)])).contains("only one dimension"));
        }
    }
    // Row 0 of 3x3 in pieces, and a cable dead on each side of it.
    let topology = torus(&[3, 3], &[(0, 0), (1, 0), (3, 0), (6, 0)]);
    let reason = refused("mate", &topology);
    assert_eq!(
        reason,
        "planner `mate` does not apply: the x ring of rank 0 (0,0) has 2 dead cables, so it is in pieces; its \
         virtual ring in y needs the failed link x+ of 3 (0,1)"
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
    let planned = |goal: Goal<'_>| plan_for(&topology, &Kind::AllToAll, &goal);
    let half = finest.step_count() as u32 / 2;
    let coarser = planned(Goal { max_steps: Some(half), ..goal("mate_e", 24) }).unwrap().schedule;
    assert!(coarser.step_count() <= half as usize && coarser.total_width() >= finest.total_width());
    let price = |message_bytes| Some(collsynth::cost::Price { message_bytes, alpha: 1e-6, bandwidth: 50e9 });
    let [small, large] =
        [1, 1 << 30].map(|bytes| planned(Goal { price: price(bytes), ..goal("mate_e", 24) }).unwrap().schedule);
    assert!(small.step_count() < large.step_count() && small.total_width() >= large.total_width());
    let error = planned(Goal { max_steps: Some(5), ..goal("mate_e", 24) }).unwrap_err();
    assert!(matches!(error, PlanError::NotFound { .. }), "{error}");
}

#[test]
fn wild_first_routing_says_which_message_it_cannot_route() {
    // Both directions of the last dimension are dead, for rank 0 and rank 8 of 4x4.
    let refused = plan("wfr", &torus(&[4, 4], &[(0, 1), (12, 1)]), 1).unwrap_err().to_string();
    assert_eq!(
        refused,
        "planner `wfr` does not apply: it has no path from rank 0 (0,0) to 4 (0,1) along y: a link failed"
    );
}

mod any_failures {
    use proptest::prelude::*;

    use super::{Phase, PlanError, RankId, Ratio, Topology, Torus, plan, without};

    const BROKEN: [&str; 8] =
        ["folded_ring", "open_ring", "mate", "mate_e", "mate_e2", "mate_open", "mate_e_open", "wfr"];

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
        without(torus, &cables)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn are_answered_or_refused_with_the_reason((extents, cables, parts, flags) in machines()) {
            let topology = build(&extents, &cables, flags);
            for planner in BROKEN {
                match plan(planner, &topology, parts) {
                    Ok(plan) => {
                        let load = Phase::total_load(&plan.phases);
                        let volume = Ratio::new(plan.schedule.total_width().into(), parts.into());
                        prop_assert!(load <= volume);
                    }
                    Err(PlanError::NotApplicable { reason, .. }) => prop_assert!(!reason.is_empty()),
                    Err(PlanError::Disconnected(_)) => {}
                    Err(other) => prop_assert!(false, "{planner}: {other}"),
                }
            }
        }
    }
}
