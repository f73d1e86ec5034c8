//! Routes of chunks as trees, and back.

use std::collections::BTreeMap;

use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{LinkId, RankId, Topology};

use crate::engine::together::hops::Hop;

/// The route of a chunk for one operation.
pub(super) struct Tree {
    pub problem: usize,
    pub chunk: ChunkId,
    pub op: Op,
    pub root: RankId,
    /// Who must be joined to the root.
    pub ends: Holders,
    pub links: Vec<LinkId>,
    pub has_moved: bool,
}

/// The trees of a chunk, if its moves are those of one tree for each operation, both of one root.
pub(super) fn trees_of(problem: &Problem, number: usize, hops: &[Hop]) -> Option<Vec<Tree>> {
    let rule = problem.rule(hops[0].chunk);
    let mut trees: Vec<Tree> = Vec::new();
    for (op, ends) in [(Op::Reduce, rule.before), (Op::Copy, rule.after)] {
        let ends_of = |hop: &Hop| if op == Op::Copy { (hop.from, hop.to) } else { (hop.to, hop.from) };
        let of_op: Vec<&Hop> = hops.iter().filter(|hop| hop.op == op).collect();
        let mut below: Vec<RankId> = of_op.iter().map(|hop| ends_of(hop).1).collect();
        below.sort_unstable();
        let mut roots = of_op.iter().map(|hop| ends_of(hop).0).filter(|rank| below.binary_search(rank).is_err());
        if of_op.is_empty() {
            continue;
        }
        // None where two ranks exchange what they have.
        let root = roots.next()?;
        let is_tree = roots.all(|other| other == root) && below.is_sorted_by(|one, other| one < other);
        if !is_tree || trees.iter().any(|tree| tree.root != root) {
            return None;
        }
        let links = of_op.iter().map(|hop| hop.link).collect();
        trees.push(Tree { problem: number, chunk: hops[0].chunk, op, root, ends, links, has_moved: false });
    }
    Some(trees)
}

/// Moves the root of both trees of a chunk down from a relay that only one branch brings the sum to: the rank before it
/// has that sum already, and copies of it begin there.
pub(super) fn lower_root(problem: &Problem, trees: &mut [Tree]) {
    let machine = problem.machine();
    while let [up, down] = trees {
        let root = up.root;
        let mut branches = up.links.iter().copied().filter(|&link| machine.link(link).to == root);
        let (Some(link), None) = (branches.next(), branches.next()) else { return };
        if problem.is_holder(up.ends, root) {
            return;
        }
        let lower = machine.link(link).from;
        up.links.retain(|&other| other != link);
        let mut rank = lower;
        loop {
            let above = down.links.iter().position(|&link| machine.link(link).to == rank);
            let Some(above) = above.map(|at| machine.link(down.links.remove(at)).from) else { break };
            let leads_on = down.links.iter().any(|&link| machine.link(link).from == above);
            if leads_on || problem.is_holder(down.ends, above) {
                break;
            }
            rank = above;
        }
        if down.links.iter().any(|&link| machine.link(link).from == root) {
            down.links.push(link);
        }
        (up.root, down.root) = (lower, lower);
    }
}

/// The moves of a chunk over its trees: first all that add, from the deepest rank up, then all that copy, down. They
/// share the time of those that they replace.
pub(super) fn hops_of(machine: &Topology, replaced: &[Hop], trees: &[&Tree]) -> Vec<Hop> {
    let chunk = replaced[0].chunk;
    let mut hops: Vec<Hop> = Vec::new();
    for tree in trees {
        let ends_of = |link: LinkId| {
            let link = machine.link(link);
            if tree.op == Op::Copy { (link.from, link.to) } else { (link.to, link.from) }
        };
        let up: BTreeMap<RankId, RankId> = tree.links.iter().map(|&link| (ends_of(link).1, ends_of(link).0)).collect();
        let depth = |rank: RankId| std::iter::successors(up.get(&rank), |above| up.get(above)).count();
        let depths: Vec<usize> = tree.links.iter().map(|&link| depth(ends_of(link).1)).collect();
        let deepest = depths.iter().copied().max().unwrap_or(0);
        let after = hops.iter().map(|hop| hop.step).max().unwrap_or(0);
        for (&link, depth) in tree.links.iter().zip(depths) {
            let step = after + narrow(if tree.op == Op::Copy { depth } else { deepest + 1 - depth });
            let (from, to) = (machine.link(link).from, machine.link(link).to);
            hops.push(Hop { chunk, step, from, to, op: tree.op, link, share: 0 });
        }
    }
    let steps = u64::from(hops.iter().map(|hop| hop.step).max().unwrap_or(1));
    let (begins, ends) = (replaced[0].share, replaced[replaced.len() - 1].share);
    hops.iter_mut().for_each(|hop| hop.share = begins + (ends - begins) * u64::from(hop.step - 1) / (steps - 1).max(1));
    hops.sort_unstable();
    hops
}
