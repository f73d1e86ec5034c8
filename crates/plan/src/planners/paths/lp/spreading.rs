//! From a flow without steps to a path for every chunk, with its hops spread over the steps.
//!
//! The flow of one source is decomposed backward from the destination, always over the link with most of the flow that
//! no path has claimed yet, among those near enough to the source. Then each path takes the steps in which its links
//! are emptiest so far, by dynamic programming over its hops and the steps.

use collsynth_lp::Flow;

use super::links::Links;
use super::tracing::{CROWDED, joined_nodes, tracing_order};
use crate::model::network::{LiveLink, Message, Network, WAIT};
use collsynth_bound::FlowNetwork;
use collsynth_core::problem::Problem;

/// Hops beyond the distance that a path may take.
const DETOUR: u32 = 2;

/// A path for every message, `[message * steps + step]`. The steps must be enough for every distance.
pub(super) fn paths(
    flow: &FlowNetwork,
    solved: &Flow,
    problem: &Problem,
    network: &Network,
    messages: &[Message],
    steps: usize,
) -> Vec<LiveLink> {
    let (arcs, parts) = (flow.network.arcs(), f64::from(problem.parts()));
    let [_, into] = flow.network.arcs_by_node();
    let on = |arc| (0..flow.network.nodes()).map(|source| solved.on(source, arc)).sum::<f64>() * parts;
    let mut all: Vec<f64> = (0..arcs.len()).map(on).collect();
    let mut left: Vec<f64> = Vec::new();
    let (mut source, mut hops) = (None, Vec::new());
    let mut links = Links::new(flow, network, steps);
    let mut paths = vec![WAIT; messages.len() * steps];
    for number in tracing_order(flow, network, messages) {
        let (from, to) = joined_nodes(flow, &messages[number]);
        if source.replace(from) != Some(from) {
            hops = flow.network.hops(from);
            left = (0..arcs.len()).map(|arc| solved.on(from, arc) * parts).collect();
        }
        let mut path = Vec::new();
        let (mut node, mut budget) = (to, (hops[to] + DETOUR).min(steps as u32));
        while node != from && budget > 0 {
            budget -= 1;
            let worth = |&arc: &usize| left[arc] - if all[arc] < 0.5 { CROWDED } else { 0.0 };
            let near = into[node].iter().copied().filter(|&arc| hops[arcs[arc].from] <= budget);
            let Some(arc) = near.max_by(|a, b| worth(a).total_cmp(&worth(b)).then(b.cmp(a))) else { break };
            left[arc] -= 1.0;
            all[arc] -= 1.0;
            path.push(arc);
            node = arcs[arc].from;
            // Drops the loop if the path is back at a node.
            if let Some(place) = path.iter().position(|&arc| arcs[arc].to == node) {
                path.truncate(place);
            }
        }
        // If all links are reversed, a path found backward already runs forward.
        if !flow.reversed {
            path.reverse();
        }
        links.spread(&path, &mut paths[number * steps..][..steps]);
    }
    paths
}
