//! Sums without what is of no use: what arrives where it is never used, and what takes the place of the same.
//!
//! A formula asks only that the last sums are right, so its models may send more than they need. One pass from the last
//! step back finds the moves on which the last sums rest. But without the others some nodes no longer have what they
//! had in the model, and a copy may now bring what is there already; so what each node has is worked out anew, and the
//! passes are repeated until nothing is left out any more. O(steps * (arcs + nodes²)) a pass, and at most as many
//! passes as moves.

use crate::instance::Arc;
use crate::schedule::Move;

/// Leaves out what is of no use, of the moves of one chunk, a list for each step.
pub fn prune(nodes: usize, arcs: &[Arc], moves: &mut [Vec<Move>]) {
    loop {
        let before: usize = moves.iter().map(Vec::len).sum();
        drop_unused(nodes, arcs, moves);
        if moves.iter().map(Vec::len).sum::<usize>() == before {
            break;
        }
    }
}

/// One pass: whatever the last sums do not rest on, where copies of the same are none.
fn drop_unused(nodes: usize, arcs: &[Arc], moves: &mut [Vec<Move>]) {
    let values = values(nodes, arcs, moves);
    // The nodes of which the value after the step is of use.
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

/// The contributions in what every node has as each step begins, `[step][node][origin]`.
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
    fn what_the_sums_rest_on_stays() {
        let mut moves = vec![vec![of(0, true), of(3, true)], vec![of(1, false), of(2, false)]];
        let useful = moves.clone();
        prune(3, &ARCS, &mut moves);
        assert_eq!(moves, useful);
    }

    #[test]
    fn a_copy_back_of_what_was_never_lost_goes() {
        // Node 1 saves what 2 has and brings it back, while 2 takes 1's, which nobody uses.
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
    fn a_copy_of_what_is_there_goes() {
        // The sum of all comes to node 2 twice.
        let mut moves = vec![vec![of(0, true), of(3, true)], vec![of(2, false)], vec![of(2, false), of(1, false)]];
        prune(3, &ARCS, &mut moves);
        assert_eq!(moves, [vec![of(0, true), of(3, true)], vec![of(2, false)], vec![of(1, false)]]);
    }
}
