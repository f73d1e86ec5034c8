//! The offline bandwidth allocation against its closed forms (Qin et al., MICRO 2025), and cases that have none.

use collsynth_lp::{Allocated, Allocation, Choice, Limit, LpError, Resource, Share};

const NEAR: f64 = 1e-9;

fn way(loads: &[(usize, f64)]) -> Share {
    Share { loads: loads.to_vec() }
}

fn resource(phase: usize, capacity: f64, base: f64) -> Resource {
    Resource { phase, capacity, base }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= NEAR, "{a} is not {b}");
}

/// The rate of the folded ring of extent `k` relative to the virtual half ring.
fn folded_rate(k: f64) -> f64 {
    if k % 2.0 == 0.0 { k / (4.0 * (k - 1.0)) } else { (k + 1.0) / (4.0 * k) }
}

/// One phase: a virtual half ring in each of `dims - 1` dimensions of this capacity, and a folded ring.
fn mate(rate: f64, capacities: &[f64]) -> Allocated {
    let resources: Vec<Resource> =
        capacities.iter().chain([&rate]).map(|&capacity| resource(0, capacity, 0.0)).collect();
    let ways = (0..resources.len()).map(|number| way(&[(number, 1.0)])).collect();
    Allocation { phases: 1, resources, choices: vec![Choice { amount: 1.0, ways }] }.solve(&Limit::NONE).unwrap()
}

/// Weak and strong duality: in each phase prices of capacity add up to 1, and at these prices every share taken is a
/// cheapest one, which together with the base loads costs the whole time.
#[test]
fn prices_prove_the_time() {
    for (rate, capacities) in [(0.3, vec![1.0]), (0.5, vec![1.0, 2.0]), (2.0, vec![1.0, 1.0, 3.0])] {
        let decided = mate(rate, &capacities);
        let all: Vec<f64> = capacities.iter().chain([&rate]).copied().collect();
        near(all.iter().zip(&decided.prices).map(|(capacity, price)| capacity * price).sum(), 1.0);
        let cheapest = decided.prices.iter().copied().fold(f64::INFINITY, f64::min);
        near(cheapest, decided.total());
        near(cheapest, 1.0 / all.iter().sum::<f64>());
    }
}

#[test]
fn equal_extents_give_the_closed_form_of_mate() {
    for dims in 2..=5 {
        for k in 3..=9 {
            let (k, others) = (f64::from(k), f64::from(dims - 1));
            let r = folded_rate(k);
            let decided = mate(r, &vec![1.0; dims as usize - 1]);
            near(decided.total(), 1.0 / (others + r));
            let (folded, virtual_rings) = decided.shares[0].split_last().unwrap();
            near(*folded, r / (others + r));
            virtual_rings.iter().for_each(|&share| near(share, 1.0 / (others + r)));
        }
    }
}

/// Phase 0: the normal phases, which the other rings fill for a time of 1; phase 1: the acceleration phase.
#[test]
fn mate_e_fills_the_normal_phases() {
    for dims in 2..=5 {
        for k in 3..=9 {
            let (r, others) = (folded_rate(f64::from(k)), f64::from(dims - 1));
            let accelerated = (1..dims).map(|_| resource(1, 1.0, 0.0)).chain([resource(1, r, 0.0)]);
            let resources: Vec<Resource> =
                [resource(0, 1.0, 1.0), resource(0, r, 0.0)].into_iter().chain(accelerated).collect();
            let ways = (1..resources.len()).map(|number| way(&[(number, 1.0)])).collect();
            let allocation = Allocation { phases: 2, resources, choices: vec![Choice { amount: 1.0, ways }] };
            let decided = allocation.solve(&Limit::NONE).unwrap();
            near(decided.total(), f64::from(dims) / (others + r));
            near(decided.shares[0][0], r);
        }
    }
}

#[test]
fn unequal_capacities_and_shared_resources_are_decided_too() {
    // Twice the capacity takes twice the share.
    let decided = mate(0.5, &[1.0, 2.0]);
    near(decided.total(), 1.0 / 3.5);
    near(decided.shares[0][1], 2.0 / 3.5);
    // Two amounts that share a resource, each with one of its own.
    let resources = vec![resource(0, 1.0, 0.0); 3];
    let choice = |own| Choice { amount: 1.0, ways: vec![way(&[(own, 1.0)]), way(&[(2, 1.0)])] };
    let shared = Allocation { phases: 1, resources, choices: vec![choice(0), choice(1)] }.solve(&Limit::NONE).unwrap();
    near(shared.total(), 2.0 / 3.0);
    near(shared.shares[0][1] + shared.shares[1][1], 2.0 / 3.0);
}

#[test]
fn invalid_allocations_are_refused() {
    let resource = resource(0, 1.0, 0.0);
    let choice = |amount, ways| vec![Choice { amount, ways }];
    let refused = |phases, resources: &[Resource], choices| {
        let allocation = Allocation { phases, resources: resources.to_vec(), choices };
        assert!(matches!(allocation.solve(&Limit::NONE), Err(LpError::Input(_))), "{allocation:?}");
    };
    refused(0, &[resource], vec![]);
    refused(1, &[Resource { capacity: 0.0, ..resource }], vec![]);
    refused(1, &[Resource { base: -1.0, ..resource }], vec![]);
    refused(1, &[resource], choice(1.0, vec![]));
    refused(1, &[resource], choice(f64::NAN, vec![way(&[(0, 1.0)])]));
    refused(1, &[resource], choice(1.0, vec![way(&[(1, 1.0)])]));
    refused(1, &[resource], choice(1.0, vec![way(&[(0, -1.0)])]));
}
