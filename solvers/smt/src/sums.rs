//! The encoding of an all-reduce: contributions are added, and the sums brought to every node.
//!
//! A node's value of a chunk is a set of contributions: values with equal sets are equal. In a step a node keeps its
//! value or drops it, and adds the arriving values, which are those of their senders at the beginning of the step.
//! Added sets must be disjoint, since nothing can be taken out of a sum again. No schedule can do anything else, so a
//! refutation covers every form of schedule, not only trees (a butterfly, in which two nodes add each other's sums, is
//! not made of trees).
//!
//! ```text
//!   x(c,v,q,t)   the contribution of q is in v's value of chunk c when step t ends
//!   y(c,l,t)     arc l carries c in step t          k(c,v,t)   v keeps its value of c
//!   z(c,l,q,t) = y(c,uv,t) and x(c,u,q,t-1)         m(c,v,q,t) = k(c,v,t) and x(c,v,q,t-1)
//!   x(c,v,q,t) = one of m(c,v,q,t), z(c,.v,q,t), and of those at most one holds
//!   -k(c,v,t) -> exactly one y(c,.v,t)              a copy replaces the value: one arrival
//!   y(c,uv,t) -> (k(c,v,t) = o(uv,t))               in one step a link adds all that it carries, or copies all of it
//!   x(c,v,q,0) = (v = q),   x(c,v,q,S) = true
//! ```
//!
//! Known from the start: `x(c,v,q,t)` is false while `q` is more than `t` hops away. Redundant but added: nothing
//! arrives at a complete sum, and each chunk is sent at least once out of every set of nodes (on small graphs), and out
//! of every node and its complement.

use crate::cnf::{Cnf, FALSE, TRUE};
use crate::instance::{Instance, Question};
use crate::pruning::prune;
use crate::schedule::{Move, Schedule, ScheduleStep};
use crate::sends::{Sends, holds, unite};
use crate::symmetry::{Action, Symmetries};

pub struct Sums {
    nodes: usize,
    steps: usize,
    /// `[((chunk * nodes + node) * nodes + origin) * (steps + 1) + step]`
    has: Vec<i32>,
    /// `[(chunk * nodes + node) * steps + step]`
    keeps: Vec<i32>,
    pub sends: Sends,
}

impl Sums {
    fn has(&self, chunk: usize, node: usize, origin: usize, step: usize) -> i32 {
        self.has[((chunk * self.nodes + node) * self.nodes + origin) * (self.steps + 1) + step]
    }

    fn keeps(&self, chunk: usize, node: usize, step: usize) -> i32 {
        self.keeps[(chunk * self.nodes + node) * self.steps + step]
    }

    fn identify(&mut self, actions: &[Action]) {
        let (nodes, steps) = (self.nodes, self.steps);
        for action in actions {
            for (chunk, &to_chunk) in action.chunks.iter().enumerate() {
                for (node, &to_node) in action.nodes.iter().enumerate() {
                    let (from, to) = (chunk * nodes + node, to_chunk as usize * nodes + to_node as usize);
                    unite(&mut self.keeps, from * steps, to * steps, steps);
                    for (origin, &to_origin) in action.nodes.iter().enumerate() {
                        let (from, to) = (from * nodes + origin, to * nodes + to_origin as usize);
                        unite(&mut self.has, from * (steps + 1), to * (steps + 1), steps + 1);
                    }
                }
            }
        }
        self.sends.identify(actions);
    }
}

pub fn encode(instance: &Instance, parts: u32, question: Question, symmetries: Symmetries<'_>) -> (Cnf, Sums) {
    let (nodes, steps, chunks) = (instance.nodes as usize, question.steps as usize, parts as usize);
    let hops = instance.distances(|_| 1);
    let mut cnf = Cnf::default();
    let mut sums = Sums {
        nodes,
        steps,
        has: vec![FALSE; chunks * nodes * nodes * (steps + 1)],
        keeps: (0..chunks * nodes * steps).map(|_| cnf.variable()).collect(),
        sends: Sends::none(chunks, instance.arcs.len(), steps),
    };
    for (place, row) in sums.has.chunks_mut(steps + 1).enumerate() {
        let (node, origin) = (place / nodes % nodes, place % nodes);
        let Some(far) = hops[origin * nodes + node] else { continue };
        for (step, literal) in row.iter_mut().enumerate().skip(far as usize) {
            *literal = if step == 0 || step == steps { TRUE } else { cnf.variable() };
        }
    }
    for chunk in 0..chunks {
        for arc in 0..instance.arcs.len() {
            for step in 0..steps {
                let literal = cnf.variable();
                sums.sends.set(chunk, arc, step, literal);
            }
        }
    }
    if let Symmetries::Keep(actions) = symmetries {
        sums.identify(actions);
    }
    for chunk in 0..chunks {
        add_up(&mut cnf, instance, &sums, chunk);
        cross_every_cut(&mut cnf, instance, &sums, chunk);
    }
    if chunks > 1 {
        add_or_copy(&mut cnf, instance, &sums, chunks);
    }
    sums.sends.limit(&mut cnf, &instance.arcs, question);
    if let Symmetries::Break(actions) = symmetries {
        sums.sends.break_symmetries(&mut cnf, actions, |_, _| true);
    }
    (cnf, sums)
}

fn add_up(cnf: &mut Cnf, instance: &Instance, sums: &Sums, chunk: usize) {
    for node in 0..sums.nodes {
        let into: Vec<usize> = (0..instance.arcs.len()).filter(|&arc| instance.arcs[arc].to as usize == node).collect();
        if (0..sums.nodes).any(|origin| sums.has(chunk, node, origin, sums.steps) != TRUE) {
            // Too far away: the formula is false.
            cnf.clause([]);
        }
        for step in 0..sums.steps {
            let keeps = sums.keeps(chunk, node, step);
            let arrivals: Vec<i32> = into.iter().map(|&arc| sums.sends.get(chunk, arc, step)).collect();
            cnf.clause(arrivals.iter().copied().chain([keeps]));
            for (index, &one) in arrivals.iter().enumerate() {
                arrivals[index + 1..].iter().for_each(|&other| cnf.clause([keeps, -one, -other]));
                // Nothing arrives at a complete sum.
                let all = (0..sums.nodes).map(|origin| -sums.has(chunk, node, origin, step));
                cnf.clause(all.chain([-one]));
            }
            for origin in 0..sums.nodes {
                let now = sums.has(chunk, node, origin, step + 1);
                let mut reasons = vec![both(cnf, keeps, sums.has(chunk, node, origin, step))];
                for (&arc, &send) in into.iter().zip(&arrivals) {
                    let from = instance.arcs[arc].from as usize;
                    reasons.push(both(cnf, send, sums.has(chunk, from, origin, step)));
                }
                reasons.iter().for_each(|&reason| cnf.clause([-reason, now]));
                cnf.at_most_one(&reasons);
                cnf.clause(reasons.into_iter().chain([-now]));
            }
        }
    }
}

/// All chunks that an arc carries in a step are added to the values there, or all replace them.
fn add_or_copy(cnf: &mut Cnf, instance: &Instance, sums: &Sums, chunks: usize) {
    for (index, arc) in instance.arcs.iter().enumerate() {
        for step in 0..sums.steps {
            let adds = cnf.variable();
            for chunk in 0..chunks {
                let (send, keeps) = (sums.sends.get(chunk, index, step), sums.keeps(chunk, arc.to as usize, step));
                cnf.clause([-send, -keeps, adds]);
                cnf.clause([-send, keeps, -adds]);
            }
        }
    }
}

fn both(cnf: &mut Cnf, one: i32, other: i32) -> i32 {
    match (one, other) {
        (FALSE, _) | (_, FALSE) => FALSE,
        (TRUE, literal) | (literal, TRUE) => literal,
        _ => {
            let both = cnf.variable();
            cnf.clause([-both, one]);
            cnf.clause([-both, other]);
            cnf.clause([-one, -other, both]);
            both
        }
    }
}

fn cross_every_cut(cnf: &mut Cnf, instance: &Instance, sums: &Sums, chunk: usize) {
    let nodes = instance.nodes;
    // Every set on small graphs, else every node and its complement.
    let sets: Vec<u64> = match nodes {
        0..=8 => (1..(1 << nodes) - 1).collect(),
        9..64 => (0..nodes).flat_map(|node| [1 << node, !(1 << node)]).collect(),
        _ => Vec::new(),
    };
    for set in sets {
        let inside = |node: u32| set >> node & 1 == 1;
        let leaving = instance.arcs.iter().enumerate().filter(|(_, arc)| inside(arc.from) && !inside(arc.to));
        cnf.clause(leaving.flat_map(|(arc, _)| (0..sums.steps).map(move |step| sums.sends.get(chunk, arc, step))));
    }
}

/// The schedule of a model, without [useless moves](prune).
pub fn decode(instance: &Instance, parts: u32, sums: &Sums, model: &[bool]) -> Schedule {
    let mut moves: Vec<Vec<Move>> = vec![Vec::new(); sums.steps];
    for chunk in 0..parts {
        let sent = |step: usize| {
            let sent = (0..instance.arcs.len() as u32)
                .filter(move |&arc| holds(model, sums.sends.get(chunk as usize, arc as usize, step)));
            let to = |arc: u32| instance.arcs[arc as usize].to as usize;
            let reduce = |arc: u32| holds(model, sums.keeps(chunk as usize, to(arc), step));
            sent.map(|arc| Move { arc, chunk, reduce: reduce(arc) }).collect()
        };
        let mut of_chunk: Vec<Vec<Move>> = (0..sums.steps).map(sent).collect();
        prune(sums.nodes, &instance.arcs, &mut of_chunk);
        moves.iter_mut().zip(of_chunk).for_each(|(step, of_chunk)| step.extend(of_chunk));
    }
    Schedule { steps: moves.into_iter().map(|moves| ScheduleStep::new(moves, &instance.arcs)).collect() }
}
