//! The encoding of chunks that are copied from node to node.
//!
//! *Arrival times.* `a(c, v, t)`: chunk `c` is at node `v` when step `t` ends; once there, always there, so the
//! variables of one chunk and node are its arrival time in order encoding. *Sends.* `y(c, l, t)`: arc `l` carries `c`
//! in step `t`.
//!
//! ```text
//!   a(c,v,t-1) -> a(c,v,t)                       arrived chunks stay
//!   y(c,uv,t)  -> a(c,u,t-1), -a(c,v,t-1), a(c,v,t)   sent from where it is to where it is not yet
//!   a(c,v,t), -a(c,v,t-1) -> some y(c,.v,t)      nothing arrives unsent, and from one neighbor only
//!   a(c,d,S)                                     at every destination d
//!   a(c,v,S)   -> some y(c,v.,t)                 at any other node only to be sent on
//!   sum over c of y(c,l,t) <= capacity(l) * width(t),   sum over t of width(t) <= R
//! ```
//!
//! Requiring that nothing arrives twice or in vain loses nothing: a schedule without such sends is only smaller.
//!
//! *Pruning.* `a(c, v, t)` is false for `t` below the distance from the source, and `y(c, uv, t)` if the arrival at `v`
//! would be too late to be useful. If every chunk has one destination, and the distances under some lengths of the arcs
//! sum to nearly the capacity of the arcs in width `R`, `y` is false if the path over `l` is longer than the shortest
//! by more than the slack (reduced-cost fixing, with the dual solution of the flow LP, or any lengths).

use crate::cnf::{Cnf, FALSE, TRUE};
use crate::instance::{Arc, Chunk, Instance, Question};
use crate::schedule::{Move, Schedule, ScheduleStep};
use crate::sends::{Sends, holds, unite};
use crate::symmetry::{Action, Symmetries};

pub fn encode(instance: &Instance, chunks: &[Chunk], question: Question, symmetries: Symmetries<'_>) -> (Cnf, Sends) {
    let steps = question.steps as usize;
    let mut encoder = Encoder {
        instance,
        chunks,
        steps,
        window: windows(instance, chunks, question.steps),
        arrived: vec![FALSE; chunks.len() * instance.nodes as usize * (steps + 1)],
        sends: Sends::none(chunks.len(), instance.arcs.len(), steps),
        cnf: Cnf::default(),
    };
    encoder.number_arrivals();
    encoder.number_sends(question.width);
    if let Symmetries::Keep(actions) = symmetries {
        encoder.identify(actions);
    }
    encoder.travel();
    let Encoder { sends, mut cnf, .. } = encoder;
    sends.limit(&mut cnf, &instance.arcs, question);
    if let Symmetries::Break(actions) = symmetries {
        sends.break_symmetries(&mut cnf, actions, |one, other| chunks[one] == chunks[other]);
    }
    (cnf, sends)
}

/// The schedule of a model: sends that lead to a destination, in steps as narrow as possible.
pub fn decode(instance: &Instance, chunks: &[Chunk], steps: usize, sends: &Sends, model: &[bool]) -> Schedule {
    let mut moves: Vec<Vec<Move>> = vec![Vec::new(); steps];
    for (number, chunk) in chunks.iter().enumerate() {
        let mut needed = vec![false; instance.nodes as usize];
        chunk.dests.iter().for_each(|&dest| needed[dest as usize] = true);
        for step in (0..steps).rev() {
            for (index, arc) in instance.arcs.iter().enumerate() {
                if holds(model, sends.get(number, index, step)) && needed[arc.to as usize] {
                    needed[arc.from as usize] = true;
                    moves[step].push(Move { arc: index as u32, chunk: number as u32, reduce: false });
                }
            }
        }
    }
    fill(&mut moves);
    Schedule { steps: moves.into_iter().map(|moves| ScheduleStep::new(moves, &instance.arcs)).collect() }
}

/// Gives each idle step the last move of an earlier step that has several: a chunk at hand in a step still is in the
/// next.
fn fill(steps: &mut Vec<Vec<Move>>) {
    let count = steps.len();
    steps.retain(|moves| !moves.is_empty());
    while steps.len() < count {
        let Some(rich) = steps.iter().position(|moves| moves.len() > 1) else { break };
        let last = steps[rich].pop().into_iter().collect();
        steps.insert(rich + 1, last);
    }
}

struct Encoder<'a> {
    instance: &'a Instance,
    chunks: &'a [Chunk],
    steps: usize,
    /// `[chunk * nodes + node]`: the first and the last step after which the chunk is usefully there.
    window: Vec<Option<(usize, usize)>>,
    /// `[(chunk * nodes + node) * (steps + 1) + step]`
    arrived: Vec<i32>,
    sends: Sends,
    cnf: Cnf,
}

impl Encoder<'_> {
    fn nodes(&self) -> usize {
        self.instance.nodes as usize
    }

    fn arrived(&self, chunk: usize, node: usize, step: usize) -> i32 {
        self.arrived[(chunk * self.nodes() + node) * (self.steps + 1) + step]
    }

    fn number_arrivals(&mut self) {
        for place in 0..self.window.len() {
            let Some((early, late)) = self.window[place] else { continue };
            let row = &mut self.arrived[place * (self.steps + 1)..][..=self.steps];
            let chunk = &self.chunks[place / self.instance.nodes as usize];
            let node = (place % self.instance.nodes as usize) as u32;
            for (step, literal) in row.iter_mut().enumerate().skip(early) {
                *literal = if node == chunk.source || step == self.steps && chunk.dests.contains(&node) {
                    TRUE
                } else if step <= late {
                    self.cnf.variable()
                } else {
                    FALSE
                };
            }
            // Nothing changes after the last useful step.
            let last = row[late];
            row[late..].iter_mut().for_each(|literal| *literal = last);
        }
    }

    fn number_sends(&mut self, width: u32) {
        let detours = Detours::new(self.instance, self.chunks, width);
        for (number, chunk) in self.chunks.iter().enumerate() {
            for (index, arc) in self.instance.arcs.iter().enumerate() {
                let window = |node: u32| self.window[number * self.instance.nodes as usize + node as usize];
                let (Some((from, _)), Some((_, late))) = (window(arc.from), window(arc.to)) else { continue };
                if arc.to == chunk.source || !detours.allow(chunk, index, *arc) {
                    continue;
                }
                // Step number `step` is index `step - 1`.
                for step in from + 1..=late {
                    let literal = self.cnf.variable();
                    self.sends.set(number, index, step - 1, literal);
                }
            }
        }
    }

    /// Makes variables that the actions map to each other equal.
    fn identify(&mut self, actions: &[Action]) {
        let (nodes, columns) = (self.nodes(), self.steps + 1);
        for action in actions {
            for chunk in 0..self.chunks.len() {
                for node in 0..nodes {
                    let image = action.chunks[chunk] as usize * nodes + action.nodes[node] as usize;
                    unite(&mut self.arrived, (chunk * nodes + node) * columns, image * columns, columns);
                }
            }
        }
        self.sends.identify(actions);
    }

    fn travel(&mut self) {
        let nodes = self.nodes();
        let (mut into, mut out_of) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (index, arc) in self.instance.arcs.iter().enumerate() {
            into[arc.to as usize].push(index);
            out_of[arc.from as usize].push(index);
        }
        for (number, chunk) in self.chunks.iter().enumerate() {
            for node in (0..nodes).filter(|&node| node as u32 != chunk.source) {
                if self.window[number * nodes + node].is_none() {
                    if chunk.dests.contains(&(node as u32)) {
                        // Too far away: the formula is false.
                        self.cnf.clause([]);
                    }
                    continue;
                }
                for step in 1..=self.steps {
                    let (before, now) = (self.arrived(number, node, step - 1), self.arrived(number, node, step));
                    let sends: Vec<i32> = into[node].iter().map(|&arc| self.sends.get(number, arc, step - 1)).collect();
                    if before != now {
                        self.cnf.clause([-before, now]);
                        self.cnf.clause(sends.iter().copied().chain([before, -now]));
                    }
                    for (&arc, &send) in into[node].iter().zip(&sends).filter(|(_, send)| **send != FALSE) {
                        let from = self.instance.arcs[arc].from as usize;
                        let ready = self.arrived(number, from, step - 1);
                        self.cnf.clause([-send, ready]);
                        self.cnf.clause([-send, -before]);
                        self.cnf.clause([-send, now]);
                    }
                    self.cnf.at_most_one(&sends);
                }
                if !chunk.dests.contains(&(node as u32)) {
                    let sends = out_of[node].iter().flat_map(|&arc| (0..self.steps).map(move |step| (arc, step)));
                    let sends: Vec<i32> = sends.map(|(arc, step)| self.sends.get(number, arc, step)).collect();
                    let there = self.arrived(number, node, self.steps);
                    self.cnf.clause(sends.into_iter().chain([-there]));
                }
            }
        }
    }
}

/// For every chunk and node, when the chunk is usefully there.
fn windows(instance: &Instance, chunks: &[Chunk], steps: u32) -> Vec<Option<(usize, usize)>> {
    let hops = instance.distances(|_| 1);
    let nodes = instance.nodes as usize;
    let mut windows = Vec::with_capacity(chunks.len() * nodes);
    for chunk in chunks {
        for node in 0..nodes {
            let early = hops[chunk.source as usize * nodes + node];
            let onward = chunk.dests.iter().filter_map(|&dest| hops[node * nodes + dest as usize]).min();
            let late = onward.and_then(|onward| steps.checked_sub(onward));
            windows.push(match (early, late) {
                (Some(early), Some(late)) if early <= late => Some((early as usize, late as usize)),
                _ => None,
            });
        }
    }
    windows
}

/// The detours allowed beyond the shortest paths.
struct Detours {
    nodes: usize,
    /// For each metric: lengths, slack, and distances.
    metrics: Vec<(Vec<u32>, u64, Vec<Option<u32>>)>,
}

impl Detours {
    fn new(instance: &Instance, chunks: &[Chunk], width: u32) -> Self {
        let nodes = instance.nodes as usize;
        let single = chunks.iter().all(|chunk| chunk.dests.len() == 1);
        let metrics = instance.metrics.iter().filter(|_| single).filter_map(|lengths| {
            let distances = instance.distances(|arc| lengths[arc]);
            let room = |(arc, &length): (&Arc, &u32)| u64::from(width) * u64::from(arc.capacity) * u64::from(length);
            let room: u64 = instance.arcs.iter().zip(lengths).map(room).sum();
            let distance = |chunk: &Chunk| distances[chunk.source as usize * nodes + chunk.dests[0] as usize];
            let needed: Option<u64> = chunks.iter().map(|chunk| distance(chunk).map(u64::from)).sum();
            // If more is needed than there is room, no schedule exists; the solver will find that too.
            Some((lengths.clone(), room.saturating_sub(needed?), distances))
        });
        Self { nodes, metrics: metrics.collect() }
    }

    fn allow(&self, chunk: &Chunk, index: usize, arc: Arc) -> bool {
        self.metrics.iter().all(|(lengths, slack, distances)| {
            let distance = |from: u32, to: u32| distances[from as usize * self.nodes + to as usize].map(u64::from);
            let dest = chunk.dests[0];
            match (distance(chunk.source, arc.from), distance(arc.to, dest), distance(chunk.source, dest)) {
                (Some(before), Some(after), Some(direct)) => {
                    before + u64::from(lengths[index]) + after <= direct + slack
                }
                _ => false,
            }
        })
    }
}
