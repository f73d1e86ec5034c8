//! The classical planners against the closed forms of their papers.

use collsynth::certificate::Rational;
use collsynth::collective::{Demand, Kind};
use collsynth::plan::{Goal, Plan, PlanError};
use collsynth::topology::{Topology, Torus};

use crate::support::plans::{self, goal, intact, plan_for, ratio, steps_and_volume, torus};

const CLASSICAL: [&str; 3] = ["ring", "half_ring", "dim_rotation"];

fn plan(planner: &str, extents: &[u32], parts: u32) -> Plan {
    plans::plan(planner, &Topology::torus(extents).unwrap(), Kind::AllToAll, parts).unwrap()
}

/// Volume and steps of a schedule that verifies.
fn figures(plan: &Plan) -> (Rational, u32) {
    let (steps, volume) = steps_and_volume(plan);
    (volume, steps)
}

/// The volume of HalfRing along one dimension of `k` positions among `n` ranks.
fn half_ring_volume(n: u32, k: u32) -> Rational {
    match k {
        2 => ratio(n, 2),
        k if k % 2 == 0 => ratio(n * k, 8),
        k => ratio(n * (k * k - 1), 8 * k),
    }
}

#[test]
fn rings_meet_their_closed_forms() {
    for k in 3..=8 {
        for parts in [2, 4] {
            assert_eq!(figures(&plan("ring", &[k], parts)), (ratio(k * (k - 1), 4), k - 1), "ring of {k}");
            for planner in ["half_ring", "dim_rotation"] {
                let expected = (half_ring_volume(k, k), k / 2);
                assert_eq!(figures(&plan(planner, &[k], parts)), expected, "{planner} on a ring of {k}");
            }
        }
    }
}

#[test]
fn tori_meet_their_closed_forms() {
    let tori: [&[u32]; 9] = [&[3, 3], &[4, 4], &[5, 5], &[3, 4], &[2, 3, 4], &[4, 4, 4], &[3, 3, 3], &[1, 4], &[2, 2]];
    for extents in tori {
        let n: u32 = extents.iter().product();
        let ring: Rational = extents.iter().map(|&k| if k == 2 { ratio(n, 2) } else { ratio(n * (k - 1), 4) }).sum();
        let ring_steps: u32 = extents.iter().map(|k| k - 1).sum();
        assert_eq!(figures(&plan("ring", extents, 2)), (ring, ring_steps), "{extents:?}");

        let half: Rational = extents.iter().filter(|&&k| k > 1).map(|&k| half_ring_volume(n, k)).sum();
        let half_steps: u32 = extents.iter().map(|k| k / 2).sum();
        assert_eq!(figures(&plan("half_ring", extents, 2)), (half, half_steps), "{extents:?}");
    }
}

#[test]
fn dim_rotation_meets_the_bisection_bound_on_equal_extents() {
    for (extents, parts) in
        [(&[3, 3][..], 2), (&[5, 5], 2), (&[4, 4], 1), (&[4, 4, 4], 3), (&[3, 3, 3], 3), (&[8, 8], 1)]
    {
        let plan = plan("dim_rotation", extents, parts);
        let (n, k, dims) = (extents.iter().product(), extents[0], extents.len() as u32);
        assert_eq!(figures(&plan), (half_ring_volume(n, k), dims * (k / 2)), "{extents:?}");
        assert_eq!(Some(figures(&plan).0), plan.bounds.volume.map(|bound| bound.at_least), "{extents:?}");
    }
}

#[test]
fn on_unequal_extents_a_step_of_dim_rotation_is_as_wide_as_its_busiest_dimension() {
    for extents in [&[2, 3, 4][..], &[3, 4], &[2, 4], &[6, 4]] {
        let (n, dims) = (extents.iter().product::<u32>(), extents.len() as u32);
        // The load of a dimension's link in step t of a phase, in messages, over all classes together.
        let load = |k: u32, t: u32| match k {
            2 => ratio(u32::from(t == 1) * n, 2),
            _ => {
                let nearer = ((k - 1) / 2 + 1).saturating_sub(t);
                let half_round = ratio(u32::from(k.is_multiple_of(2) && 2 * t <= k), 2);
                (ratio(nearer, 1) + half_round) * ratio(n, k)
            }
        };
        let longest = extents.iter().max().unwrap() / 2;
        let volume: Rational = (1..=longest).map(|t| extents.iter().map(|&k| load(k, t)).max().unwrap()).sum();
        let plan = plan("dim_rotation", extents, 2 * dims);
        assert_eq!(figures(&plan), (volume, dims * longest), "{extents:?}");
    }
}

#[test]
fn doubled_cables_and_capacities_are_used() {
    let figures_on =
        |torus: Torus, planner: &str| figures(&plans::plan(planner, &intact(torus), Kind::AllToAll, 4).unwrap());
    for planner in CLASSICAL {
        let doubled = Torus { wrap: vec![true], ..Torus::new(&[2]) };
        assert_eq!(figures_on(doubled, planner), (ratio(1, 2), 1), "{planner}");
        let wide = Torus { capacity: vec![2, 2], ..Torus::new(&[5, 5]) };
        let (volume, _) = figures_on(wide, planner);
        assert_eq!(volume * 2, figures(&plan(planner, &[5, 5], 4)).0, "{planner}");
    }
}

#[test]
fn the_bound_is_never_beaten_whatever_the_parts() {
    for extents in [&[3][..], &[6], &[7], &[3, 3], &[4, 4], &[2, 3, 4], &[3, 3, 3]] {
        for parts in 1..=3 {
            for planner in CLASSICAL {
                let plan = plan(planner, extents, parts);
                let (volume, steps) = figures(&plan);
                assert!(volume >= plan.bounds.volume.unwrap().at_least, "{planner} on {extents:?}");
                assert!(steps >= plan.bounds.steps.unwrap().at_least, "{planner} on {extents:?}");
            }
        }
    }
}

#[test]
fn what_does_not_apply_is_refused_with_the_reason() {
    let refusal =
        |topology: &Topology, kind: &Kind, goal: &Goal<'_>| plan_for(topology, kind, goal).unwrap_err().to_string();
    let broken = torus(&[4, 4], &[(0, 1)], &[]);
    let mesh = intact(Torus { wrap: vec![false, true], ..Torus::new(&[4, 4]) });
    let whole = Topology::torus(&[4, 4]).unwrap();
    for planner in CLASSICAL {
        let all_to_all = |topology| refusal(topology, &Kind::AllToAll, &goal(planner, 1));
        let why = "it needs a torus without failures, and link 0 (0,0) -> 1 (1,0) x+ failed";
        assert_eq!(all_to_all(&broken), format!("planner `{planner}` does not apply: {why}"));
        assert!(all_to_all(&mesh).ends_with("dimension x does not wrap, and it needs closed rings"));
        assert!(
            refusal(&whole, &Kind::AllGather, &goal(planner, 1)).contains("it plans all_to_all and all_to_allv only")
        );
        let hurried = Goal { steps: Some(9), ..goal(planner, 1) };
        assert!(matches!(plan_for(&whole, &Kind::AllToAll, &hurried), Err(PlanError::NotFound { .. })));
    }
    let limited = Goal { max_steps: Some(5), ..goal("ring", 1) };
    assert_eq!(
        refusal(&whole, &Kind::AllToAll, &limited),
        "planner `ring` found no schedule within 5 steps (it takes 6)"
    );
}

#[test]
fn a_demand_matrix_can_be_planned() {
    let counts: Vec<u32> = (0..144).map(|pair| pair % 5).collect();
    let kind = Kind::AllToAllV(Demand::new(12, &counts).unwrap());
    let torus = Topology::torus(&[3, 4]).unwrap();
    for planner in CLASSICAL {
        let plan = plans::plan(planner, &torus, kind.clone(), 1).unwrap();
        assert!(figures(&plan).0 >= plan.bounds.volume.unwrap().at_least);
    }
}
