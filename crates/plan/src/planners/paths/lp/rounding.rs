//! From a flow in steps to a path for every chunk.
//!
//! The flow of one source through the time-expanded network is decomposed backward, from the destination after the last
//! step to the source, always along most of the flow that no path has claimed yet. Every path claims one chunk of flow.
//! Paths that visit a rank twice are cut short.

use collsynth_lp::SteppedFlow;

use super::links::Links;
use super::tracing::{CROWDED, joined_nodes, tracing_order};
use crate::model::network::{LiveLink, Message, Network, WAIT};
use collsynth_bound::FlowNetwork;
use collsynth_core::problem::Problem;

/// A path for every message, `[message * steps + step]`.
pub(super) fn paths(
    flow: &FlowNetwork,
    solved: &SteppedFlow,
    problem: &Problem,
    network: &Network,
    messages: &[Message],
    steps: usize,
) -> Vec<LiveLink> {
    let mut paths = vec![WAIT; messages.len() * steps];
    let mut left = Left::new(flow, solved, problem, steps);
    let mut links = Links::new(flow, network, steps);
    let mut source = None;
    for number in tracing_order(flow, network, messages) {
        let (from, to) = joined_nodes(flow, &messages[number]);
        if source.replace(from) != Some(from) {
            left.load(from);
        }
        left.trace(to, |step, arc| {
            let step = if flow.reversed { steps - 1 - step } else { step };
            paths[number * steps + step] = links.take(step, arc);
        });
        cut_loops(network, messages[number].origin, &mut paths[number * steps..][..steps]);
    }
    paths
}

/// Waits at a rank instead of leaving it and coming back.
fn cut_loops(network: &Network, origin: u32, path: &mut [LiveLink]) {
    // The ranks on the path, each with the step before which it is reached.
    let mut visited = vec![(origin, 0)];
    for step in 0..path.len() {
        if path[step] == WAIT {
            continue;
        }
        let to = network.to[path[step] as usize];
        if let Some(place) = visited.iter().position(|&(rank, _)| rank == to) {
            path[visited[place].1..=step].fill(WAIT);
            visited.truncate(place + 1);
        } else {
            visited.push((to, step + 1));
        }
    }
}

/// The flow that no path has claimed yet, in chunks: from one source, and from all.
struct Left<'a> {
    flow: &'a FlowNetwork,
    solved: &'a SteppedFlow,
    parts: f64,
    steps: usize,
    into: Vec<Vec<usize>>,
    source: usize,
    /// Hops from the source, by node.
    hops: Vec<u32>,
    /// `crosses[step * arcs + arc]` and `waits[step * nodes + node]` of the source.
    crosses: Vec<f64>,
    waits: Vec<f64>,
    /// `[step * arcs + arc]`, of all sources.
    all: Vec<f64>,
}

impl<'a> Left<'a> {
    fn new(flow: &'a FlowNetwork, solved: &'a SteppedFlow, problem: &Problem, steps: usize) -> Self {
        let (nodes, arcs) = (flow.network.nodes(), flow.network.arcs());
        let [_, into] = flow.network.arcs_by_node();
        let parts = f64::from(problem.parts());
        let on = |slot: usize| -> f64 {
            (0..nodes).map(|source| solved.on(source, slot % arcs.len(), slot / arcs.len())).sum()
        };
        let all = (0..steps * arcs.len()).map(|slot| on(slot) * parts).collect();
        let (crosses, waits) = (vec![0.0; steps * arcs.len()], vec![0.0; steps * nodes]);
        Self { flow, solved, parts, steps, into, source: 0, hops: Vec::new(), crosses, waits, all }
    }

    fn load(&mut self, source: usize) {
        let (network, nodes) = (&self.flow.network, self.flow.network.nodes());
        let arcs = network.arcs();
        self.source = source;
        self.hops = network.hops(source);
        let mut held = vec![0.0; nodes];
        held[source] = network.supply(source) * self.parts;
        for step in 0..self.steps {
            let mut arrives = vec![0.0; nodes];
            for (index, arc) in arcs.iter().enumerate() {
                let amount = self.solved.on(source, index, step) * self.parts;
                self.crosses[step * arcs.len() + index] = amount;
                held[arc.from] -= amount;
                arrives[arc.to] += amount;
            }
            self.waits[step * nodes..][..nodes].copy_from_slice(&held);
            held.iter_mut().zip(&arrives).for_each(|(held, arrives)| *held += arrives);
        }
    }

    /// Claims one chunk's path to a node; `visit` gets the steps and their arcs, the last first.
    fn trace(&mut self, dest: usize, mut visit: impl FnMut(usize, usize)) {
        let (nodes, arcs) = (self.flow.network.nodes(), self.flow.network.arcs());
        let mut node = dest;
        for step in (0..self.steps).rev() {
            // Only nodes that the flow can have reached by then are candidates.
            let reached = |node: usize| self.hops[node] as usize <= step;
            let mut best = reached(node).then(|| (self.waits[step * nodes + node], None));
            for &arc in self.into[node].iter().filter(|&&arc| reached(arcs[arc].from) && node != self.source) {
                let slot = step * arcs.len() + arc;
                let crowded = if self.all[slot] < 0.5 { CROWDED } else { 0.0 };
                let worth = self.crosses[slot] - crowded;
                if best.is_none_or(|(most, _)| worth > most) {
                    best = Some((worth, Some(arc)));
                }
            }
            match best {
                Some((_, Some(arc))) => {
                    self.crosses[step * arcs.len() + arc] -= 1.0;
                    self.all[step * arcs.len() + arc] -= 1.0;
                    visit(step, arc);
                    node = arcs[arc].from;
                }
                _ => self.waits[step * nodes + node] -= 1.0,
            }
        }
    }
}
