//! CaDiCaL and z3 agree on every question, with schedules of the width stated.
#![cfg(feature = "z3")]

use collsynth_smt::{Answer, Arc, Backend, Chunk, Demand, Instance, Limits, Question, Symmetry, solve};

/// A ring, without the cable between the last node and the first if it is broken; it can be reflected and, if intact,
/// rotated.
fn ring(nodes: u32, broken: bool, demand: Demand) -> Instance {
    let cables = (0..nodes).map(|node| (node, (node + 1) % nodes)).take((nodes - u32::from(broken)) as usize);
    let arcs: Vec<Arc> = cables
        .flat_map(|(from, to)| [Arc { from, to, capacity: 1 }, Arc { from: to, to: from, capacity: 1 }])
        .collect();
    let map = |image: &dyn Fn(u32) -> u32| {
        let arc = |of: &Arc| {
            let ends = (image(of.from), image(of.to));
            arcs.iter().position(|other| (other.from, other.to) == ends).unwrap() as u32
        };
        Symmetry { nodes: (0..nodes).map(image).collect(), arcs: arcs.iter().map(arc).collect() }
    };
    let mut symmetries = vec![map(&|node| nodes - 1 - node)];
    if !broken {
        symmetries.push(map(&|node| (node + 1) % nodes));
    }
    let metrics = vec![vec![1; arcs.len()]];
    Instance { nodes, arcs, demand, symmetries, metrics }
}

fn moves(nodes: u32, parts: u32, dests: impl Fn(u32) -> Vec<Vec<u32>>) -> Demand {
    let chunks = (0..nodes).flat_map(|source| {
        let of_source: Vec<Chunk> = dests(source).into_iter().map(|dests| Chunk { source, dests }).collect();
        of_source.into_iter().flat_map(move |chunk| vec![chunk; parts as usize])
    });
    Demand::Move(chunks.collect())
}

#[test]
fn both_solvers_agree() {
    let limits = Limits { stop: &|| false, conflicts: None };
    let (mut found, mut refuted) = (0, 0);
    for nodes in 3..=5 {
        let others = move |source: u32| (0..nodes).filter(move |&dest| dest != source);
        for broken in [false, true] {
            for parts in 1..=2 {
                let demands = [
                    moves(nodes, parts, |source| others(source).map(|dest| vec![dest]).collect()),
                    moves(nodes, parts, |source| vec![others(source).collect()]),
                    Demand::Sum(parts),
                ];
                for demand in demands {
                    let instance = ring(nodes, broken, demand);
                    for (steps, width) in (1..=4).flat_map(|steps| (steps..=6).map(move |width| (steps, width))) {
                        let ask = |backend| solve(&instance, Question { steps, width }, backend, &limits).unwrap();
                        match (ask(Backend::Cadical), ask(Backend::Z3)) {
                            (Answer::Found(one), Answer::Found(other)) => {
                                assert!(one.width() <= width && other.width() <= width);
                                found += 1;
                            }
                            (Answer::Refuted(_), Answer::Refuted(_)) => refuted += 1,
                            answers => panic!("{nodes} {broken} {parts} {steps} {width}: {answers:?}"),
                        }
                    }
                }
            }
        }
    }
    assert!(found > 100 && refuted > 100, "{found} found, {refuted} refuted");
}
