//! The part that both kinds of demand share: the chunks over each arc in each step, the widths, and the symmetries.

use crate::cnf::{Cnf, FALSE, TRUE};
use crate::instance::{Arc, Question};
use crate::lex;
use crate::symmetry::Action;

/// The literals `y(chunk, arc, step)`: the arc carries the chunk in the step (steps from 0).
#[derive(Clone, Debug)]
pub struct Sends {
    arcs: usize,
    steps: usize,
    literals: Vec<i32>,
}

impl Sends {
    /// All false.
    pub fn none(chunks: usize, arcs: usize, steps: usize) -> Self {
        Self { arcs, steps, literals: vec![FALSE; chunks * arcs * steps] }
    }

    pub fn get(&self, chunk: usize, arc: usize, step: usize) -> i32 {
        self.literals[self.place(chunk, arc, step)]
    }

    pub fn set(&mut self, chunk: usize, arc: usize, step: usize, literal: i32) {
        let place = self.place(chunk, arc, step);
        self.literals[place] = literal;
    }

    fn place(&self, chunk: usize, arc: usize, step: usize) -> usize {
        (chunk * self.arcs + arc) * self.steps + step
    }

    fn chunks(&self) -> usize {
        self.literals.len() / (self.arcs * self.steps).max(1)
    }

    /// No arc carries more than its capacity times the width of the step, and the total width is within its limit.
    ///
    /// Widths are in unary: `w(t, j)` holds if step `t` is wider than `j`, for `j >= 1`; the counters of the sends
    /// drive them, and at most `R - S` of them hold. If `R = S` there are none.
    pub fn limit(&self, cnf: &mut Cnf, arcs: &[Arc], question: Question) {
        let spare = (question.width - question.steps) as usize;
        let mut wider = Vec::new();
        for step in 0..self.steps {
            let widths: Vec<i32> = (0..spare).map(|_| cnf.variable()).collect();
            for pair in widths.windows(2) {
                cnf.clause([-pair[1], pair[0]]);
            }
            for (index, arc) in arcs.iter().enumerate() {
                let sends: Vec<i32> = (0..self.chunks()).map(|chunk| self.get(chunk, index, step)).collect();
                let capacity = arc.capacity as usize;
                if spare == 0 {
                    cnf.at_most(&sends, capacity);
                    continue;
                }
                let count = cnf.counter(&sends, capacity * (spare + 1) + 1);
                // More than `capacity * j` sends: the step is wider than `j`.
                for (more, &reached) in count.iter().enumerate().skip(capacity).step_by(capacity) {
                    let wide = widths.get(more / capacity - 1).copied().unwrap_or(FALSE);
                    cnf.clause([-reached, wide]);
                }
            }
            wider.extend(widths);
        }
        if spare > 0 {
            cnf.at_most(&wider, spare);
        }
    }

    /// Of sends that are images of each other under these actions, or under swaps of consecutive interchangeable
    /// chunks, demands the lexicographically greatest, ordered by chunk, step and arc.
    pub fn break_symmetries(&self, cnf: &mut Cnf, actions: &[Action], alike: impl Fn(usize, usize) -> bool) {
        for action in actions {
            let places = (0..self.chunks()).flat_map(|chunk| self.by_step().map(move |(step, arc)| (chunk, step, arc)));
            let pairs = places.map(|(chunk, step, arc)| {
                let image = self.get(action.chunks[chunk] as usize, action.arcs[arc] as usize, step);
                (self.get(chunk, arc, step), image)
            });
            lex::not_below(cnf, pairs, lex::PREFIX);
        }
        for chunk in 1..self.chunks() {
            if alike(chunk - 1, chunk) {
                let pair = |(step, arc)| (self.get(chunk - 1, arc, step), self.get(chunk, arc, step));
                lex::not_below(cnf, self.by_step().map(pair), lex::PREFIX);
            }
        }
    }

    fn by_step(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let arcs = self.arcs;
        (0..self.steps).flat_map(move |step| (0..arcs).map(move |arc| (step, arc)))
    }

    /// Makes sends that the actions map to each other equal.
    pub fn identify(&mut self, actions: &[Action]) {
        for action in actions {
            for chunk in 0..self.chunks() {
                for arc in 0..self.arcs {
                    let from = self.place(chunk, arc, 0);
                    let to = self.place(action.chunks[chunk] as usize, action.arcs[arc] as usize, 0);
                    unite(&mut self.literals, from, to, self.steps);
                }
            }
        }
    }
}

/// Makes `count` literals from each of two places on equal. Applied for every map of a group, this spreads the smallest
/// number of each orbit.
pub fn unite(literals: &mut [i32], from: usize, to: usize, count: usize) {
    for offset in 0..count {
        let literal = match (literals[from + offset], literals[to + offset]) {
            (FALSE, _) | (_, FALSE) => FALSE,
            (TRUE, other) | (other, TRUE) => other,
            (one, other) => one.min(other),
        };
        literals[from + offset] = literal;
        literals[to + offset] = literal;
    }
}

pub fn holds(model: &[bool], literal: i32) -> bool {
    match literal {
        TRUE => true,
        FALSE => false,
        _ => model[literal.unsigned_abs() as usize - 1] == (literal > 0),
    }
}
