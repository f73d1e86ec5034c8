//! Proofs of refutations, checked here: the LRAT checker below shares nothing with the solver.

use std::collections::HashMap;

use collsynth_smt::{Arc, Chunk, Demand, Instance, Limits, ProofForm, Question, prove};

const UNLIMITED: Limits<'_> = Limits { stop: &|| false, conflicts: None };

fn ring(nodes: u32, demand: Demand) -> Instance {
    let arc = |from: u32, to: u32| Arc { from: from % nodes, to: to % nodes, capacity: 1 };
    let arcs = (0..nodes).flat_map(|node| [arc(node, node + 1), arc(node + 1, node)]).collect();
    Instance { nodes, arcs, demand, symmetries: Vec::new(), metrics: Vec::new() }
}

/// Every rank's chunk for every rank, on a ring.
fn all_to_all(nodes: u32) -> Instance {
    let pairs = (0..nodes).flat_map(|source| (0..nodes).map(move |dest| (source, dest)));
    let chunks =
        pairs.filter(|(source, dest)| source != dest).map(|(source, dest)| Chunk { source, dests: vec![dest] });
    ring(nodes, Demand::Move(chunks.collect()))
}

fn read(text: &str) -> Vec<Vec<i64>> {
    let lines = text.lines().filter(|line| !line.starts_with(['c', 'p']));
    lines.map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()).collect()).collect()
}

/// Does every step follow from the clauses it names, by unit propagation, down to the empty clause?
fn lrat_holds(dimacs: &str, proof: &str) -> bool {
    let clause = |numbers: &[i64]| numbers.iter().copied().take_while(|&literal| literal != 0).collect::<Vec<i64>>();
    let mut clauses: HashMap<i64, Vec<i64>> = (1..).zip(read(dimacs).iter().map(|line| clause(line))).collect();
    for line in proof.lines() {
        if line.split_whitespace().nth(1) == Some("d") {
            continue;
        }
        let numbers: Vec<i64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let added = clause(&numbers[1..]);
        let hints = clause(&numbers[added.len() + 2..]);
        // Suppose none of its literals holds: each hint must imply one more literal, and the last a contradiction.
        let mut holding: Vec<i64> = added.iter().map(|literal| -literal).collect();
        let mut contradicted = false;
        for hint in hints {
            let Some(of_hint) = clauses.get(&hint) else { return false };
            let open: Vec<i64> = of_hint.iter().copied().filter(|literal| !holding.contains(&-literal)).collect();
            match open[..] {
                [] => contradicted = true,
                [literal] => holding.push(literal),
                _ => return false,
            }
        }
        if !contradicted {
            return false;
        }
        if added.is_empty() {
            return true;
        }
        clauses.insert(numbers[0], added);
    }
    false
}

#[test]
fn refutations_have_proofs_that_hold() {
    let cases = [
        (ring(4, Demand::Sum(3)), Question { steps: 2, width: 3 }),
        (ring(5, Demand::Sum(1)), Question { steps: 2, width: 2 }),
        (all_to_all(5), Question { steps: 2, width: 2 }),
    ];
    for (instance, question) in cases {
        let proof = prove(&instance, question, ProofForm::Lrat, &UNLIMITED).unwrap().expect("it is refuted");
        let dimacs = String::from_utf8(proof.dimacs).unwrap();
        let lrat = String::from_utf8(proof.proof).unwrap();
        assert!(dimacs.starts_with(&format!("p cnf {} {}\n", proof.formula.variables, proof.formula.clauses)));
        assert!(lrat_holds(&dimacs, &lrat), "{question:?}");
        // The checker does not accept just anything: without its last line, the proof fails.
        let all_but_last = lrat.trim_end().rsplit_once('\n').map_or("", |(before, _)| before);
        assert!(!lrat_holds(&dimacs, all_but_last), "{question:?}");
    }
}

#[test]
fn where_there_is_a_schedule_there_is_no_proof() {
    let question = Question { steps: 3, width: 4 };
    assert_eq!(prove(&all_to_all(4), question, ProofForm::Drat, &UNLIMITED).unwrap(), None);
}
