//! Removes useless moves of sums: values that are never used, and copies of equal values.
//!
//! A formula constrains only the last sums, so its models may send more than needed. One pass from the last step back
//! finds the moves that the last sums depend on. Without the others some values change, and a copy may become useless;
//! so the values are recomputed, and the passes repeated until nothing is removed. O(steps * (arcs + nodes²)) per pass,
//! and at most as many passes as moves.

use crate::instance::Arc;
use crate::schedule::Move;

/// Removes the useless moves of one chunk, given as a list for each step.
pub fn prune(nodes: usize, arcs: &[Arc], moves: &mut [Vec<Move>]) {
    let count = |moves: &[Vec<Move>]| moves.iter().map(Vec::len).sum::<usize>();
    let mut before = usize::MAX;
    while count(moves) < before {
        before = count(moves);
        drop_unused(nodes, arcs, moves);
    }
}

/// One pass: drops the moves that the last sums do not depend on.
fn drop_unused(nodes: usize, arcs: &[Arc], moves: &mut [Vec<Move>]) {
    let values = values(nodes, arcs, moves);
    // The nodes whose value after the step is used.
    let mut needed = vec![true; nodes];
    for (step, values) in moves.iter_mut().zip(&values).rev() {
        let ends = |of: &Move| (arcs[of.arc as usize].from as usize, arcs[of.arc as usize].to as usize);
        step.retain(|of| {
            let (from, to) = ends(of);
            needed[to] && (of.reduce || values[from] != values[to])
        });
        let mut before = needed;
        step.iter().filter(|of| !of.reduce).for_each(|of| before[ends(of).1] = false);
        step.iter().for_each(|of| before[ends(of).0] = true);
        needed = before;
    }
}

/// The contributions in every node's value as each step begins, `[step][node][origin]`.
fn values(nodes: usize, arcs: &[Arc], moves: &[Vec<Move>]) -> Vec<Vec<Vec<bool>>> {
    let mut now: Vec<Vec<bool>> = (0..nodes).map(|node| (0..nodes).map(|origin| node == origin).collect()).collect();
    let mut all = Vec::with_capacity(moves.len());
    for step in moves {
        let mut next = now.clone();
        for of in step {
            let Arc { from, to, .. } = arcs[of.arc as usize];
            let (sent, value) = (&now[from as usize], &mut next[to as usize]);
            if of.reduce {
                value.iter_mut().zip(sent).for_each(|(one, other)| *one |= other);
            } else {
                value.clone_from(sent);
            }
        }
        all.push(std::mem::replace(&mut now, next));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARCS: [Arc; 4] = [
        Arc { from: 0, to: 1, capacity: 1 },
        Arc { from: 1, to: 0, capacity: 1 },
        Arc { from: 1, to: 2, capacity: 1 },
        Arc { from: 2, to: 1, capacity: 1 },
    ];

    fn of(arc: u32, reduce: bool) -> Move {
        Move { arc, chunk: 0, reduce }
    }

    #[test]
    fn useful_moves_stay() {
        let mut moves = vec![vec![of(0, true), of(3, true)], vec![of(1, false), of(2, false)]];
        let useful = moves.clone();
        prune(3, &ARCS, &mut moves);
        assert_eq!(moves, useful);
    }

    #[test]
    fn a_copy_back_of_a_value_that_was_never_lost_goes() {
        // Node 1 saves 2's value and brings it back, while 2 takes 1's, which is never used.
        let mut moves = vec![
            vec![of(1, true), of(2, false), of(3, false)],
            vec![of(0, false), of(2, false)],
            vec![of(2, true), of(3, true)],
            vec![of(1, false)],
        ];
        prune(3, &ARCS, &mut moves);
        let rest = vec![vec![of(1, true)], vec![of(0, false)], vec![of(2, true), of(3, true)], vec![of(1, false)]];
        assert_eq!(moves, rest);
    }

    #[test]
    fn a_copy_of_an_equal_value_goes() {
        // The complete sum comes to node 2 twice.
        let mut moves = vec![vec![of(0, true), of(3, true)], vec![of(2, false)], vec![of(2, false), of(1, false)]];
        prune(3, &ARCS, &mut moves);
        assert_eq!(moves, [vec![of(0, true), of(3, true)], vec![of(2, false)], vec![of(1, false)]]);
    }
}
