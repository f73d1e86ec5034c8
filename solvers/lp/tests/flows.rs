//! Flows on rings and tori against closed forms, and with symmetries against without.

use std::time::Duration;

use collsynth_lp::{
    Arc, Limit, LpError, Network, Symmetry, least_load, least_load_size, least_time, least_time_size, least_widths,
};

/// The tolerance of the solver.
const NEAR: f64 = 1e-6;

/// A ring in both directions, arcs `2 * node` up and `2 * node + 1` down, without the dead arcs.
fn ring(nodes: usize, dead: &[usize]) -> Vec<Arc> {
    let arc = |number: usize| {
        let node = number / 2;
        let to = if number.is_multiple_of(2) { (node + 1) % nodes } else { (node + nodes - 1) % nodes };
        Arc { from: node, to, capacity: 1.0 }
    };
    (0..2 * nodes).filter(|number| !dead.contains(number)).map(arc).collect()
}

fn all_pairs(nodes: usize) -> Vec<f64> {
    vec![1.0; nodes * nodes]
}

fn rotation(nodes: usize) -> Symmetry {
    let rotated = |count: usize, by: usize| (0..count).map(|i| ((i + by) % count) as u32).collect();
    Symmetry { nodes: rotated(nodes, 1), arcs: rotated(2 * nodes, 2) }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= NEAR * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn rings_carry_what_their_bisection_says_with_and_without_symmetry() {
    for nodes in 3..=9 {
        let k = nodes as f64;
        let expected = if nodes % 2 == 0 { k * k / 8.0 } else { (k * k - 1.0) / 8.0 };
        let network = Network::new(nodes, ring(nodes, &[]), all_pairs(nodes)).unwrap();
        let whole = least_load(&network, &[], &Limit::NONE).unwrap();
        let reduced = least_load(&network, &[rotation(nodes)], &Limit::NONE).unwrap();
        assert!(reduced.variables < whole.variables);
        for flow in [whole, reduced] {
            near(flow.load, expected);
            near(flow.lengths.iter().sum(), 1.0);
            // The flow itself keeps to the load it claims.
            for arc in 0..network.arcs().len() {
                let load: f64 = (0..nodes).map(|source| flow.on(source, arc)).sum();
                assert!(load <= expected + NEAR);
            }
        }
    }
}

/// Only what some node sends is counted: 8 arcs of a ring of 5 that do not lead back to it.
#[test]
fn the_size_is_that_of_what_is_solved() {
    for (from, variables) in [(1, 8), (2, 16), (5, 40)] {
        let demand = (0..25).map(|pair| f64::from(u8::from(pair / 5 < from))).collect();
        let network = Network::new(5, ring(5, &[]), demand).unwrap();
        let flow = least_load(&network, &[], &Limit::NONE).unwrap();
        assert_eq!(least_load_size(&network, &[]), Ok(variables));
        assert!(flow.variables == variables || flow.variables == variables + 1);
    }
}

#[test]
fn a_ring_without_a_cable_is_a_line() {
    // Between nodes 0 and 1 of 6: the middle cable of the line has 3 nodes on each side.
    let network = Network::new(6, ring(6, &[0, 3]), all_pairs(6)).unwrap();
    near(least_load(&network, &[], &Limit::NONE).unwrap().load, 9.0);
}

#[test]
fn capacity_divides_the_load() {
    let arcs = [(0, 1, 2.0), (1, 0, 4.0)].map(|(from, to, capacity)| Arc { from, to, capacity });
    let network = Network::new(2, arcs.to_vec(), vec![0.0, 3.0, 2.0, 0.0]).unwrap();
    let flow = least_load(&network, &[], &Limit::NONE).unwrap();
    near(flow.load, 1.5);
    near(flow.lengths[0], 0.5);
}

#[test]
fn steps_cost_width_until_there_are_enough() {
    // A line 0 -> 1 -> 2 with 1 and 2 waiting for one each: in 2 steps the first must carry 2's, the second 1's.
    let arcs: Vec<Arc> = [(0, 1), (1, 2)].map(|(from, to)| Arc { from, to, capacity: 1.0 }).to_vec();
    let mut demand = vec![0.0; 9];
    (demand[1], demand[2]) = (1.0, 1.0);
    let network = Network::new(3, arcs, demand).unwrap();
    assert_eq!(least_widths(&network, &[], 1, &Limit::NONE).unwrap_err(), LpError::Infeasible);
    near(least_widths(&network, &[], 2, &Limit::NONE).unwrap().total_width, 2.0);

    // An all-to-all on an intact ring: the diameter is enough for the least volume.
    let network = Network::new(6, ring(6, &[]), all_pairs(6)).unwrap();
    for symmetries in [vec![], vec![rotation(6)]] {
        let flow = least_widths(&network, &symmetries, 3, &Limit::NONE).unwrap();
        near(flow.total_width, 4.5);
        near(flow.widths.iter().sum(), 4.5);
        let distance_one: f64 = (0..3).map(|step| flow.on(0, 0, step)).sum();
        assert!(distance_one > 0.0 && flow.lengths.iter().all(|lengths| lengths.iter().sum::<f64>() <= 1.0 + NEAR));
    }
}

#[test]
fn invalid_or_infeasible_flows_are_refused() {
    let network = |arcs| Network::new(3, arcs, all_pairs(3));
    let arc = |from, to, capacity| Arc { from, to, capacity };
    assert!(matches!(network(vec![arc(0, 3, 1.0)]), Err(LpError::Input(_))));
    assert!(matches!(network(vec![arc(0, 1, 0.0)]), Err(LpError::Input(_))));
    assert!(matches!(Network::new(2, vec![], vec![1.0]), Err(LpError::Input(_))));
    assert!(matches!(Network::new(1, vec![], vec![f64::NAN]), Err(LpError::Input(_))));
    let line = network(vec![arc(0, 1, 1.0), arc(1, 2, 1.0)]).unwrap();
    assert_eq!(least_load(&line, &[], &Limit::NONE).unwrap_err(), LpError::Infeasible);
    let bent = network(ring(3, &[0])).unwrap();
    assert!(matches!(least_load(&bent, &[rotation(3)], &Limit::NONE), Err(LpError::Input(_))));
}

#[test]
fn the_time_limit_is_kept() {
    let network = Network::new(30, ring(30, &[]), all_pairs(30)).unwrap();
    assert_eq!(least_load(&network, &[], &Limit::NONE.within(Duration::ZERO)).unwrap_err(), LpError::TimeLimit);
}

#[test]
fn links_idle_in_the_first_and_the_last_units() {
    // From 0 to 4, opposite on a ring of 8, in both directions: 4 hops before the first arrives.
    let mut demand = vec![0.0; 64];
    demand[4] = 10.0;
    let network = Network::new(8, ring(8, &[]), demand).unwrap();
    near(least_time(&network, &[], 0, 1.0, &Limit::NONE).unwrap().time, 5.0);
    // Of 4 units at each end, any one arc carries nothing useful in 3.
    for ends in [2, 3, 4] {
        let flow = least_time(&network, &[], ends, 1.0, &Limit::NONE).unwrap();
        near(flow.time, 8.0);
        assert!(flow.variables <= least_time_size(&network, &[], ends).unwrap());
        let between: f64 = flow.lengths[ends].iter().sum();
        // The lengths between the ends sum to 1, or to less if the ends suffice.
        assert!(between <= 1.0 + NEAR, "{between}");
        if ends < 4 {
            near(between, 1.0);
        }
    }
    // Units half as long lose half as much.
    near(least_time(&network, &[], 4, 0.5, &Limit::NONE).unwrap().time, 6.5);
}

#[test]
fn symmetries_change_nothing_about_the_time() {
    let network = Network::new(6, ring(6, &[]), all_pairs(6)).unwrap();
    let (whole, reduced) = (
        least_time(&network, &[], 2, 0.1, &Limit::NONE).unwrap(),
        least_time(&network, &[rotation(6)], 2, 0.1, &Limit::NONE).unwrap(),
    );
    assert!(reduced.variables < whole.variables);
    near(whole.time, reduced.time);
    assert!(whole.time >= 36.0 / 8.0 - NEAR);
}
