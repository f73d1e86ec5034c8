//! All-reduce of one chunk against a search through all states: every rank has a set of contributions, and keeps,
//! copies and adds them in all combinations.

use std::collections::HashSet;

use collsynth_smt::{Answer, Arc, Backend, Demand, Instance, Limits, Question, solve};

/// The least number of steps, at most `most`, by breadth-first search over the sets of all ranks.
fn least_steps(nodes: u32, arcs: &[(u32, u32)], most: u32) -> Option<u32> {
    let all = (1_u8 << nodes) - 1;
    let mut states: HashSet<Vec<u8>> = HashSet::from([(0..nodes).map(|node| 1 << node).collect()]);
    for step in 0..=most {
        if states.contains(&vec![all; nodes as usize]) {
            return Some(step);
        }
        states = states.iter().flat_map(|state| next_states(nodes, arcs, state)).collect();
    }
    None
}

fn next_states(nodes: u32, arcs: &[(u32, u32)], state: &[u8]) -> Vec<Vec<u8>> {
    let mut next = vec![Vec::new()];
    for node in 0..nodes {
        let into: Vec<u8> = arcs.iter().filter(|arc| arc.1 == node).map(|arc| state[arc.0 as usize]).collect();
        // Copied from one neighbor, or added to the value there from any of them.
        let mut values: HashSet<u8> = into.iter().copied().collect();
        for chosen in 0..1_u32 << into.len() {
            let mut arrivals =
                into.iter().enumerate().filter(|(index, _)| chosen >> index & 1 == 1).map(|(_, set)| *set);
            let sum = arrivals.try_fold(state[node as usize], |sum, set| (sum & set == 0).then_some(sum | set));
            values.extend(sum);
        }
        next = next
            .iter()
            .flat_map(|so_far: &Vec<u8>| values.iter().map(|&value| [&so_far[..], &[value]].concat()))
            .collect();
    }
    next
}

fn steps_by_solver(nodes: u32, arcs: &[(u32, u32)], parts: u32, most: u32) -> Option<u32> {
    let instance = Instance {
        nodes,
        arcs: arcs.iter().map(|&(from, to)| Arc { from, to, capacity: 1 }).collect(),
        demand: Demand::Sum(parts),
        symmetries: Vec::new(),
        metrics: Vec::new(),
    };
    let limits = Limits { stop: &|| false, conflicts: None };
    // Maximal useful width, so that only the steps count.
    (1..=most).find(|&steps| {
        let question = Question { steps, width: steps * parts };
        match solve(&instance, question, Backend::Cadical, &limits).unwrap() {
            Answer::Found(schedule) => schedule.steps.len() as u32 == steps,
            Answer::Refuted(_) => false,
            Answer::Unknown => panic!("nothing stops it"),
        }
    })
}

#[test]
fn the_fewest_steps_are_those_of_an_exhaustive_search() {
    type Arcs = &'static [(u32, u32)];
    let graphs: [(&str, u32, Arcs); 7] = [
        ("line of 3", 3, &[(0, 1), (1, 0), (1, 2), (2, 1)]),
        ("ring of 3", 3, &[(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)]),
        ("one-way ring of 3", 3, &[(0, 1), (1, 2), (2, 0)]),
        ("one-way ring of 4", 4, &[(0, 1), (1, 2), (2, 3), (3, 0)]),
        ("line of 4", 4, &[(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]),
        ("ring of 4", 4, &[(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 0), (0, 3)]),
        ("star", 4, &[(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 0)]),
    ];
    for (name, nodes, arcs) in graphs {
        let expected = least_steps(nodes, arcs, 6);
        assert!(expected.is_some(), "{name}");
        assert_eq!(steps_by_solver(nodes, arcs, 1, 6), expected, "{name}");
        assert_eq!(steps_by_solver(nodes, arcs, 2, 6), expected, "{name}, two parts");
    }
}
