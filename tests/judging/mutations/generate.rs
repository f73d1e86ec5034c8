//! Valid schedules for every kind of collective, by trees and a greedy timetable.
//!
//! Every chunk gets a random tree of live links: away from where it starts, or towards where it is reduced, or both.
//! Each hop waits for the hops it depends on, and each step takes what is ready and fits.

use collsynth::collective::{Demand, Kind};
use collsynth::schedule::Op;
use collsynth::topology::RankId;

use super::dice::Dice;
use super::machine::{Machine, Wire};
use super::plain::{Case, PlainStep, PlainTransfer};

/// One chunk over one wire, after other hops.
struct Hop {
    wire: usize,
    op: Op,
    chunk: u32,
    after: Vec<usize>,
}

/// A random case whose schedule holds.
pub fn random_case(dice: &mut Dice) -> Case {
    let machine = Machine::random(dice);
    let parts = 1 + dice.roll(3) as u32;
    let kind = random_kind(&machine, dice);
    let hops = hops(&machine, &kind, parts, dice);
    let steps = timetable(&machine, &hops, dice);
    Case { machine, kind, parts, steps }
}

fn random_kind(machine: &Machine, dice: &mut Dice) -> Kind {
    let live: Vec<u32> = machine.live_ranks().collect();
    let root = RankId(*dice.pick(&live));
    let counts: Vec<u32> = (0..machine.ranks * machine.ranks).map(|_| dice.roll(3) as u32).collect();
    let demand = Demand::new(machine.ranks, &counts).expect("a square matrix");
    dice.pick(&Kind::every(root, demand)).clone()
}

fn hops(machine: &Machine, kind: &Kind, parts: u32, dice: &mut Dice) -> Vec<Hop> {
    let mut plan = Plan { machine, hops: Vec::new(), next_chunk: 0 };
    let ranks = 0..machine.ranks;
    match kind {
        Kind::AllToAll => {
            for (origin, dest) in ranks.clone().flat_map(|origin| ranks.clone().map(move |dest| (origin, dest))) {
                plan.send(parts, origin, dest, dice);
            }
        }
        Kind::AllToAllV(demand) => {
            for (pair, count) in demand.counts().enumerate() {
                plan.send(count, pair as u32 / machine.ranks, pair as u32 % machine.ranks, dice);
            }
        }
        Kind::AllGather | Kind::AllReduceGathered => ranks.for_each(|origin| plan.spread(parts, origin, dice)),
        Kind::ReduceScatter => ranks.for_each(|dest| plan.collect(parts, dest, dice)),
        Kind::AllReduce => plan.collect_and_spread(parts, Op::Copy, dice),
        Kind::Broadcast(root) => plan.spread(parts, root.0, dice),
        Kind::Reduce(root) => plan.collect(parts, root.0, dice),
        Kind::Scatter(root) => ranks.for_each(|dest| plan.send(parts, root.0, dest, dice)),
        Kind::Gather(root) => ranks.for_each(|origin| plan.send(parts, origin, root.0, dice)),
        Kind::Barrier => plan.collect_and_spread(1, *dice.pick(&[Op::Copy, Op::Reduce]), dice),
        Kind::InGroups(_) => unreachable!("generated for all ranks together"),
    }
    plan.hops
}

struct Plan<'a> {
    machine: &'a Machine,
    hops: Vec<Hop>,
    next_chunk: u32,
}

impl Plan<'_> {
    /// Chunks from one rank to another; none move if either failed.
    fn send(&mut self, count: u32, origin: u32, dest: u32, dice: &mut Dice) {
        for _ in 0..count {
            let chunk = self.take_chunk();
            if self.is_alive(origin) && self.is_alive(dest) {
                let towards = tree(self.machine, dest, false, dice);
                let (mut at, mut last) = (origin, None);
                while let Some(wire) = towards[at as usize] {
                    last = Some(self.add(wire, Op::Copy, chunk, last.into_iter().collect()));
                    at = self.machine.wires[wire].to;
                }
            }
        }
    }

    /// Chunks from one rank to all.
    fn spread(&mut self, count: u32, origin: u32, dice: &mut Dice) {
        for _ in 0..count {
            let chunk = self.take_chunk();
            if self.is_alive(origin) {
                self.spread_chunk(chunk, origin, Op::Copy, &[], dice);
            }
        }
    }

    /// Chunks added up on the way to one rank.
    fn collect(&mut self, count: u32, dest: u32, dice: &mut Dice) {
        for _ in 0..count {
            let chunk = self.take_chunk();
            if self.is_alive(dest) {
                self.collect_chunk(chunk, dest, dice);
            }
        }
    }

    /// Chunks added up at one rank and sent to all.
    fn collect_and_spread(&mut self, count: u32, op: Op, dice: &mut Dice) {
        let live: Vec<u32> = self.machine.live_ranks().collect();
        for _ in 0..count {
            let (chunk, root) = (self.take_chunk(), *dice.pick(&live));
            let last = self.collect_chunk(chunk, root, dice);
            self.spread_chunk(chunk, root, op, &last, dice);
        }
    }

    /// Every rank sends on once everything has arrived over the tree. Returns the hops into the root.
    fn collect_chunk(&mut self, chunk: u32, root: u32, dice: &mut Dice) -> Vec<usize> {
        let towards = tree(self.machine, root, false, dice);
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); towards.len()];
        for rank in far_first(self.machine, &towards, false) {
            if let Some(wire) = towards[rank as usize] {
                let after = into[rank as usize].clone();
                let hop = self.add(wire, Op::Reduce, chunk, after);
                into[self.machine.wires[wire].to as usize].push(hop);
            }
        }
        std::mem::take(&mut into[root as usize])
    }

    fn spread_chunk(&mut self, chunk: u32, root: u32, op: Op, after: &[usize], dice: &mut Dice) {
        let away = tree(self.machine, root, true, dice);
        let mut into: Vec<Vec<usize>> = vec![after.to_vec(); away.len()];
        let mut near_first = far_first(self.machine, &away, true);
        near_first.reverse();
        for rank in near_first {
            if let Some(wire) = away[rank as usize] {
                let after = into[self.machine.wires[wire].from as usize].clone();
                into[rank as usize] = vec![self.add(wire, op, chunk, after)];
            }
        }
    }

    fn add(&mut self, wire: usize, op: Op, chunk: u32, after: Vec<usize>) -> usize {
        self.hops.push(Hop { wire, op, chunk, after });
        self.hops.len() - 1
    }

    fn take_chunk(&mut self) -> u32 {
        self.next_chunk += 1;
        self.next_chunk - 1
    }

    fn is_alive(&self, rank: u32) -> bool {
        self.machine.alive[rank as usize]
    }
}

/// A random tree of live wires that holds every live rank: for each but the root, the wire by which the tree enters it
/// (away from the root) or leaves it (towards the root).
fn tree(machine: &Machine, root: u32, away: bool, dice: &mut Dice) -> Vec<Option<usize>> {
    let mut by: Vec<Option<usize>> = vec![None; machine.ranks as usize];
    let mut seen = vec![root];
    let deep = dice.once_in(2);
    while seen.len() < machine.live_ranks().count() {
        let open = |&wire: &usize| {
            let Wire { from, to, alive, .. } = machine.wires[wire];
            let (near, far) = if away { (from, to) } else { (to, from) };
            alive && seen.contains(&near) && !seen.contains(&far)
        };
        let open: Vec<usize> = (0..machine.wires.len()).filter(open).collect();
        // Long branches now and then: prefer wires at the rank found last.
        let near = |wire: usize| if away { machine.wires[wire].from } else { machine.wires[wire].to };
        let at_tip: Vec<usize> = open.iter().copied().filter(|&wire| Some(&near(wire)) == seen.last()).collect();
        let wire = *dice.pick(if deep && !at_tip.is_empty() { &at_tip } else { &open });
        let far = if away { machine.wires[wire].to } else { machine.wires[wire].from };
        by[far as usize] = Some(wire);
        seen.push(far);
    }
    by
}

/// The ranks of a tree, each after all that hang from it.
fn far_first(machine: &Machine, tree: &[Option<usize>], away: bool) -> Vec<u32> {
    let depth = |mut rank: u32| {
        let mut depth = 0;
        while let Some(wire) = tree[rank as usize] {
            rank = if away { machine.wires[wire].from } else { machine.wires[wire].to };
            depth += 1;
        }
        depth
    };
    let mut ranks: Vec<u32> = machine.live_ranks().collect();
    ranks.sort_by_key(|&rank| std::cmp::Reverse(depth(rank)));
    ranks
}

/// Steps of random widths, each with as many of the ready hops as fit.
fn timetable(machine: &Machine, hops: &[Hop], dice: &mut Dice) -> Vec<PlainStep> {
    let mut done = vec![false; hops.len()];
    let mut steps = Vec::new();
    while done.contains(&false) {
        let width = 1 + dice.roll(3) as u32;
        let mut ready: Vec<usize> =
            (0..hops.len()).filter(|&hop| !done[hop] && hops[hop].after.iter().all(|&first| done[first])).collect();
        dice.shuffle(&mut ready);
        let mut transfers: Vec<(usize, PlainTransfer)> = Vec::new();
        for hop in ready {
            let Hop { wire, op, chunk, .. } = hops[hop];
            let Wire { from, to, way, capacity, .. } = machine.wires[wire];
            match transfers.iter_mut().find(|(busy, _)| *busy == wire) {
                Some((_, transfer)) if transfer.op != op || transfer.chunks.len() as u32 >= width * capacity => {
                    continue;
                }
                Some((_, transfer)) => transfer.chunks.push(chunk),
                None => {
                    let via = way.filter(|_| machine.is_doubled(wire) || dice.once_in(4));
                    transfers.push((wire, PlainTransfer { from, to, via, op, chunks: vec![chunk] }));
                }
            }
            done[hop] = true;
        }
        steps.push(PlainStep { width, transfers: transfers.into_iter().map(|(_, transfer)| transfer).collect() });
    }
    steps
}
