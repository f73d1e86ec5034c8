//! A problem as a graph with plain numbers, and back.

use collsynth_smt::{Arc, Chunk, Demand, Instance, Schedule as Found, Symmetry};

use crate::model::task::Task;
use collsynth_bound::symmetry::{Automorphism, keeps_demand, symmetries};
use collsynth_core::certificate::{Evidence, every_weight};
use collsynth_core::collective::{ChunkId, Combining, Holders};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{LinkId, RankId};

/// A problem for the solver: nodes are live ranks, arcs are live links, chunks are the chunks to move.
pub(super) struct Translation {
    pub(super) instance: Instance,
    links: Vec<LinkId>,
    chunks: Vec<ChunkId>,
    /// Links and time are reversed: sums that one rank needs become chunks that begin there.
    reversed: bool,
}

impl Translation {
    pub(super) fn new(task: &Task<'_>) -> Self {
        let problem = task.problem;
        let topology = problem.topology();
        let ranks: Vec<RankId> = topology.live_ranks().collect();
        let node = |rank: RankId| ranks.binary_search(&rank).ok().map(|node| node as u32);
        let (demand, chunks, reversed) = demand(problem, &node);
        let links: Vec<LinkId> = topology.live_links().collect();
        let arcs = links.iter().filter_map(|&id| {
            let link = topology.link(id);
            let (from, to) = if reversed { (link.to, link.from) } else { (link.from, link.to) };
            Some(Arc { from: node(from)?, to: node(to)?, capacity: link.capacity })
        });
        let arcs: Vec<Arc> = arcs.collect();
        let symmetry = |map: &Automorphism| {
            let arc = |id: &LinkId| links.binary_search(&map.links[id.index()]).ok().map(|arc| arc as u32);
            Some(Symmetry {
                nodes: ranks.iter().map(|rank| node(map.ranks[rank.index()])).collect::<Option<_>>()?,
                arcs: links.iter().map(arc).collect::<Option<_>>()?,
            })
        };
        let found = symmetries(topology, |image| keeps_demand(problem, image));
        let symmetries = found.generators.iter().filter_map(symmetry).collect();
        let metrics = metrics(task, &links);
        let instance = Instance { nodes: ranks.len() as u32, arcs, demand, symmetries, metrics };
        Self { instance, links, chunks, reversed }
    }

    /// The largest useful width of a step.
    pub(super) fn widest_step(&self) -> u32 {
        let narrowest = self.instance.arcs.iter().map(|arc| arc.capacity).min().unwrap_or(1);
        (self.chunks.len() as u32).div_ceil(narrowest).max(1)
    }

    /// The schedule of a solution; idle steps are omitted.
    pub(super) fn schedule(&self, problem: &Problem, found: &Found) -> Schedule {
        let mut steps: Vec<_> = found.steps.iter().filter(|step| !step.moves.is_empty()).collect();
        if self.reversed {
            steps.reverse();
        }
        let mut builder = Schedule::builder();
        for step in steps {
            builder.step(step.width);
            for of_arc in step.moves.chunk_by(|a, b| a.arc == b.arc) {
                for reduce in [false, true] {
                    let chunks = of_arc.iter().filter(|of| of.reduce == reduce);
                    let chunks: Vec<ChunkId> = chunks.map(|of| self.chunks[of.chunk as usize]).collect();
                    let op = if reduce || self.reversed { Op::Reduce } else { Op::Copy };
                    if !chunks.is_empty() {
                        builder.transfer_over(problem.topology(), self.links[of_arc[0].arc as usize], op, chunks);
                    }
                }
            }
        }
        builder.finish()
    }
}

/// The demand, the chunk behind each of its chunks, and whether links and time are reversed.
fn demand(problem: &Problem, node: &dyn Fn(RankId) -> Option<u32>) -> (Demand, Vec<ChunkId>, bool) {
    let ids = || (0..problem.chunk_count()).map(ChunkId);
    let sums = ids().next().is_some_and(|id| problem.rule(id).combining == Combining::Sum);
    if sums && problem.rule(ChunkId(0)).after == Holders::Every {
        return (Demand::Sum(problem.chunk_count()), ids().collect(), false);
    }
    let mut chunks = Vec::new();
    let mut moved = Vec::new();
    for id in ids() {
        let rule = problem.rule(id);
        let (source, dests) = if sums { (rule.after, rule.before) } else { (rule.before, rule.after) };
        let Some(source) = problem.holders(source).next().and_then(node) else { continue };
        let dests: Vec<u32> = problem.holders(dests).filter_map(node).filter(|&dest| dest != source).collect();
        if !dests.is_empty() {
            chunks.push(Chunk { source, dests });
            moved.push(id);
        }
    }
    (Demand::Move(chunks), moved, sums)
}

/// Equal lengths, and the lengths that prove the volume bound.
fn metrics(task: &Task<'_>, links: &[LinkId]) -> Vec<Vec<u32>> {
    let mut metrics = vec![vec![1; links.len()]];
    let known = task.sharper.map_or(task.bounds, |sharper| sharper.sharp());
    for bounds in [task.bounds, known] {
        if let Some(Evidence::Metric { period, weights }) = bounds.volume.as_ref().map(|bound| &bound.evidence)
            && let Ok(weights) = every_weight(task.problem.topology(), period.as_deref(), weights)
        {
            let length = |id: &LinkId| {
                let link = task.problem.topology().link(*id);
                let stated = weights.iter().find(|(from, to, _)| (*from, *to) == (link.from, link.to));
                stated.map_or(0, |(_, _, weight)| *weight)
            };
            let lengths: Vec<u32> = links.iter().map(length).collect();
            if !metrics.contains(&lengths) {
                metrics.push(lengths);
            }
        }
    }
    metrics
}
