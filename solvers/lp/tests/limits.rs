//! A solver gives up at its limit, before it begins or after some iterations. No clock is involved.

use std::sync::Arc as Shared;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use collsynth_lp::{
    Allocation, Arc, Choice, Limit, LpError, Network, Resource, Share, least_load, least_time, least_widths,
};

/// An all-to-all on a line whose cables get wider and wider.
fn line(nodes: usize) -> Network {
    let cable = |from: usize| {
        let capacity = 1.0 + from as f64;
        [Arc { from, to: from + 1, capacity }, Arc { from: from + 1, to: from, capacity }]
    };
    Network::new(nodes, (0..nodes - 1).flat_map(cable).collect(), vec![1.0; nodes * nodes]).unwrap()
}

/// A limit that ends a solver after `patience` checks, and the number of checks so far.
fn counted(patience: u32) -> (Limit, Shared<AtomicU32>) {
    let questions = Shared::new(AtomicU32::new(0));
    let counter = Shared::clone(&questions);
    (Limit::NONE.unless(move || counter.fetch_add(1, Ordering::Relaxed) >= patience), questions)
}

/// Whether each kind of program was solved.
fn programs(limit: &Limit) -> [Result<(), LpError>; 4] {
    let network = line(6);
    let resource = Resource { phase: 0, capacity: 1.0, base: 0.0 };
    let ways = [1.0, 2.0].map(|load| Share { loads: vec![(0, load)] }).to_vec();
    let choices = vec![Choice { amount: 1.0, ways }];
    let allocation = Allocation { phases: 1, resources: vec![resource], choices };
    [
        least_load(&network, &[], limit).map(|_| ()),
        least_widths(&network, &[], 6, limit).map(|_| ()),
        least_time(&network, &[], 1, 0.5, limit).map(|_| ()),
        allocation.solve(limit).map(|_| ()),
    ]
}

#[test]
fn nothing_begins_past_its_limit() {
    let (limit, questions) = counted(0);
    assert_eq!(programs(&limit), [const { Err(LpError::Interrupted) }; 4]);
    assert_eq!(questions.load(Ordering::Relaxed), 4);
    assert_eq!(programs(&Limit::NONE.within(Duration::ZERO)), [const { Err(LpError::TimeLimit) }; 4]);
    assert_eq!(programs(&Limit::NONE.within(Duration::MAX)), [const { Ok(()) }; 4]);
}

#[cfg(not(feature = "highs"))]
#[test]
fn a_running_solver_stops_after_the_iterations_it_may_take() {
    let network = line(6);
    let (whole, questions) = counted(u32::MAX);
    let load = least_load(&network, &[], &whole).unwrap().load;
    assert_eq!(load, least_load(&network, &[], &Limit::NONE).unwrap().load);
    let all = questions.load(Ordering::Relaxed);
    assert!(all > 6, "{all}");
    for patience in 1..all {
        let (limit, questions) = counted(patience);
        assert_eq!(least_load(&network, &[], &limit).unwrap_err(), LpError::Interrupted);
        assert_eq!(questions.load(Ordering::Relaxed), patience + 1);
    }
}
