//! Where negotiation begins: the template of the torus as it was before anything failed.

use super::Guide;
use crate::negotiation::{LiveLink, Message, Network, WAIT};
use crate::template::{TemplateSchedule, is_symmetric};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, Topology, TopologySpec};

/// A path for every message whose template path is unharmed, and none for the others; none at all where there is no
/// template.
pub(super) struct TemplateGuide;

impl Guide for TemplateGuide {
    fn paths(&self, problem: &Problem, network: &Network, messages: &[Message], steps: usize) -> Vec<LiveLink> {
        let mut paths = vec![WAIT; messages.len() * steps];
        let Some((intact, template)) = template(problem, steps) else {
            return paths;
        };
        let mut live = vec![WAIT; intact.links().len()];
        for (index, &id) in network.ids.iter().enumerate() {
            // A topology numbers the links it was built with, so failures do not change the numbers.
            live[id.index()] = index as LiveLink;
        }
        let (ranks, parts) = (intact.rank_count() as u32, problem.parts());
        for (message, path) in messages.iter().zip(paths.chunks_mut(steps)) {
            let (origin, dest) = (RankId(message.origin), RankId(message.dest));
            let part = message.chunk.0 - (message.origin * ranks + message.dest) * parts;
            for (step, link) in template.path(&intact, origin, dest, part) {
                path[step] = live[link.index()];
                if path[step] == WAIT {
                    path.fill(WAIT);
                    break;
                }
            }
        }
        paths
    }

    fn widths(&self, _: u32, _: u32) -> Option<Vec<u32>> {
        None
    }
}

fn template(problem: &Problem, steps: usize) -> Option<(Topology, TemplateSchedule)> {
    let topology = problem.topology();
    let torus = topology.as_torus().filter(|torus| is_symmetric(torus))?;
    if problem.collective().kind.demand().is_some() {
        return None;
    }
    let template = TemplateSchedule::new(torus, problem.parts(), u32::try_from(steps).ok()?)?;
    let intact = Topology::new(TopologySpec::new(topology.spec().shape.clone())).ok()?;
    Some((intact, template))
}
