//! Rank programs that hold, written directly from a plan.
//!
//! The moves of the plan are put into one sequence. Each rank carries out its share of it, in one worker or in several;
//! a worker waits for what another did to the same slots. So the sequence itself is a run in which nothing gets stuck.

pub mod maps;
pub mod rewrites;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{machines, plans};
use crate::dice::Dice;
use crate::naive::problem::task::Combining;
use crate::naive::program::slots::{Layout, Slot};

const MOST_MOVES: usize = 24;

/// A rank program that holds.
pub fn file(dice: &mut Dice) -> Value {
    let small = |plan: &plans::Plan| plan.steps.iter().map(|(_, moves)| moves.len()).sum::<usize>() <= MOST_MOVES;
    let plan = (0..20).map(|_| plans::plan(dice)).find(small);
    let plan = plan.unwrap_or_else(|| plans::plan(&mut Dice::from_bytes(&[])));
    let in_place = plan.task.kind != "all_to_allv" && dice.chance(30);
    Writer::new(dice, &plan, in_place).write(&plan)
}

/// An operation: worker, number, slots read and slots written.
type Done = (usize, usize, BTreeSet<Slot>, BTreeSet<Slot>);

struct Writer<'d, 'b, 'p> {
    dice: &'d mut Dice<'b>,
    /// The workers of each rank.
    workers: Vec<Vec<Vec<Value>>>,
    /// The operations of each rank that were written so far.
    done: Vec<Vec<Done>>,
    scratch: Vec<usize>,
    channels: Vec<Value>,
    /// For each link and whether it carries tokens only: its channel, and the workers at its ends.
    ends: BTreeMap<(usize, bool), (usize, usize, usize)>,
    homes: BTreeMap<(usize, usize), Slot>,
    layout: Layout<'p>,
}

impl<'d, 'b, 'p> Writer<'d, 'b, 'p> {
    fn new(dice: &'d mut Dice<'b>, plan: &'p plans::Plan, in_place: bool) -> Self {
        let ranks = plan.machine.ranks();
        let most = if dice.chance(50) { 3 } else { 1 };
        let count = |rank: usize| if plan.machine.live[rank] { most } else { 0 };
        Self {
            workers: (0..ranks).map(|rank| vec![Vec::new(); count(rank)]).collect(),
            dice,
            done: vec![Vec::new(); ranks],
            scratch: vec![0; ranks],
            channels: Vec::new(),
            ends: BTreeMap::new(),
            homes: BTreeMap::new(),
            layout: Layout { task: &plan.task, ranks, in_place },
        }
    }

    fn write(mut self, plan: &plans::Plan) -> Value {
        let links_known = plan.machine.live.contains(&false) || self.dice.chance(60);
        let opposite = |link: usize| {
            let link = &plan.machine.links[link];
            plan.machine.links.iter().position(|l| l.live && (l.from, l.to) == (link.to, link.from))
        };
        let answered = self.dice.chance(40) && (0..plan.machine.links.len()).all(|link| opposite(link).is_some());
        let mut sizes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        self.place(plan);
        for (_, moves) in &plan.steps {
            let links: BTreeSet<_> = moves.iter().map(|m| m.link).collect();
            let mut receives = Vec::new();
            for &number in &links {
                let link = &plan.machine.links[number];
                let known = sizes.contains_key(&number);
                if answered && known {
                    // The last transfer has been answered before the next begins.
                    let (channel, _, worker) =
                        self.channel(plan, links_known, opposite(number).unwrap_or(number), true);
                    self.add(link.from, worker, json!({"op": "recv", "channel": channel, "count": 0}), &[], &[]);
                }
                let packets = self.packets(link.from, link.to, moves.iter().filter(|m| m.link == number).collect());
                sizes.entry(number).or_default().push(packets.len());
                for (src, dst, count, reduce) in packets {
                    let (channel, sender, receiver) = self.channel(plan, links_known, number, false);
                    let send = json!({"op": "send", "channel": channel, "src": src, "count": count});
                    self.add(link.from, sender, send, &range(src, count), &[]);
                    receives.push((link.to, channel, receiver, dst, count, reduce));
                }
            }
            for (rank, channel, worker, dst, count, reduce) in receives {
                self.receive(rank, channel, worker, dst, count, reduce);
            }
            for number in links.into_iter().filter(|_| answered) {
                let (channel, worker, _) = self.channel(plan, links_known, opposite(number).unwrap_or(number), true);
                let token = json!({"op": "send", "channel": channel, "count": 0});
                self.add(plan.machine.links[number].to, worker, token, &[], &[]);
            }
        }
        self.finish(plan, answered, opposite);
        for (&(link, token), &(channel, ..)) in self.ends.iter().filter(|_| answered) {
            if let Some(sizes) = sizes.get(&link).filter(|sizes| !token && sizes.iter().any(|&size| size > 1)) {
                self.channels[channel]["transfers"] = json!(sizes);
            }
        }
        let contention_free = self.dice.chance(if answered { 90 } else { 15 });
        self.into_json(plan, links_known, contention_free)
    }

    /// Decides where each rank keeps each chunk, and brings there what the rank begins with.
    fn place(&mut self, plan: &plans::Plan) {
        for (number, chunk) in plan.task.chunks.iter().enumerate() {
            for rank in plan.machine.live_ranks() {
                let (has, needs) = (chunk.before.contains(&rank), chunk.after.contains(&rank));
                let input = ('i', self.layout.before(rank, number));
                let moved = self.layout.in_place && plan.task.kind == "all_to_all" && !has;
                let home = if needs && !moved {
                    ('o', self.layout.after(rank, number))
                } else if has && (plan.task.combining == Combining::Never || self.dice.chance(50)) {
                    input
                } else {
                    self.scratch[rank] += 1;
                    ('s', self.scratch[rank] - 1)
                };
                self.homes.insert((rank, number), home);
                if has && self.layout.memory(rank, home) != self.layout.memory(rank, input) {
                    self.copy(rank, input, home);
                }
            }
        }
    }

    fn copy(&mut self, rank: usize, src: Slot, dst: Slot) {
        let worker = self.dice.below(self.workers[rank].len());
        self.add(rank, worker, json!({"op": "copy", "src": src, "dst": dst}), &[src], &[dst]);
    }

    /// Cuts moves into packets: first slot at the sender and at the receiver, slots, reduce.
    fn packets(&mut self, from: usize, to: usize, moves: Vec<&plans::Move>) -> Vec<(Slot, Slot, usize, bool)> {
        let mut packets: Vec<(Slot, Slot, usize, bool)> = Vec::new();
        for m in moves {
            let (src, dst) = (self.homes[&(from, m.chunk)], self.homes[&(to, m.chunk)]);
            match packets.last_mut() {
                Some((first, last, count, reduce))
                    if (first.0, first.1 + *count, last.0, last.1 + *count, *reduce)
                        == (src.0, src.1, dst.0, dst.1, m.reduce)
                        && !self.dice.chance(25) =>
                {
                    *count += 1;
                }
                _ => packets.push((src, dst, 1, m.reduce)),
            }
        }
        packets
    }

    fn receive(&mut self, rank: usize, channel: usize, worker: usize, dst: Slot, count: usize, reduce: bool) {
        let slots = range(dst, count);
        if !reduce {
            let receive = json!({"op": "recv", "channel": channel, "dst": dst, "count": count});
            self.add(rank, worker, receive, &[], &slots);
        } else if self.dice.chance(25) {
            // Received beside, and added afterwards.
            let beside = ('s', self.scratch[rank]);
            self.scratch[rank] += count;
            let receive = json!({"op": "recv", "channel": channel, "dst": beside, "count": count});
            self.add(rank, worker, receive, &[], &range(beside, count));
            let any = self.dice.below(self.workers[rank].len());
            let reduce = json!({"op": "reduce", "src": beside, "dst": dst, "count": count});
            self.add(rank, any, reduce, &range(beside, count), &slots);
        } else {
            let receive = json!({"op": "recv_reduce", "channel": channel, "src": dst, "dst": dst, "count": count});
            self.add(rank, worker, receive, &slots, &slots);
        }
    }

    /// Brings to the output what stands elsewhere, and takes the last answers.
    fn finish(&mut self, plan: &plans::Plan, answered: bool, opposite: impl Fn(usize) -> Option<usize>) {
        for (number, chunk) in plan.task.chunks.iter().enumerate() {
            for &rank in &chunk.after {
                let (home, output) = (self.homes[&(rank, number)], ('o', self.layout.after(rank, number)));
                if self.layout.memory(rank, home) != self.layout.memory(rank, output) {
                    self.copy(rank, home, output);
                }
            }
        }
        let used: Vec<_> = self.ends.keys().filter(|(_, token)| !token && answered).map(|&(link, _)| link).collect();
        for link in used {
            let (channel, _, worker) = self.ends[&(opposite(link).unwrap_or(link), true)];
            let receive = json!({"op": "recv", "channel": channel, "count": 0});
            self.add(plan.machine.links[link].from, worker, receive, &[], &[]);
        }
    }

    /// The channel on a link, with the workers that send and receive on it.
    fn channel(&mut self, plan: &plans::Plan, links_known: bool, number: usize, token: bool) -> (usize, usize, usize) {
        if let Some(&known) = self.ends.get(&(number, token)) {
            return known;
        }
        let link = &plan.machine.links[number];
        let mut channel = json!({"from": link.from, "to": link.to, "slots": 0});
        let twins = plan.machine.links.iter().filter(|l| (l.from, l.to) == (link.from, link.to)).count();
        if let Some((dim, grows)) = link.direction
            && links_known
            && (twins > 1 && self.dice.chance(90) || self.dice.chance(10))
        {
            channel["via"] = json!(machines::direction(dim, grows));
        }
        self.channels.push(channel);
        let mut pick = |rank: usize| self.dice.below(self.workers[rank].len());
        // Answers are taken where the next transfer is sent, and given where the last one was received.
        let back = plan.machine.links.iter().position(|l| l.live && (l.from, l.to) == (link.to, link.from));
        let ends = match back.and_then(|back| self.ends.get(&(back, !token))).filter(|_| token) {
            Some(&(_, sender, receiver)) => (self.channels.len() - 1, receiver, sender),
            None => (self.channels.len() - 1, pick(link.from), pick(link.to)),
        };
        self.ends.insert((number, token), ends);
        ends
    }

    /// Appends an operation to a worker, after waits for the others that touched the same slots.
    fn add(&mut self, rank: usize, worker: usize, mut operation: Value, reads: &[Slot], writes: &[Slot]) {
        let names = |slots: &[Slot]| slots.iter().map(|&slot| self.layout.memory(rank, slot)).collect::<BTreeSet<_>>();
        let (reads, writes) = (names(reads), names(writes));
        for other in (0..self.workers[rank].len()).filter(|&other| other != worker) {
            let last = self.done[rank].iter().rev().find(|(by, _, read, wrote)| {
                *by == other && !(wrote.is_disjoint(&writes) && wrote.is_disjoint(&reads) && read.is_disjoint(&writes))
            });
            if let Some(&(_, number, ..)) = last {
                self.workers[rank][worker].push(json!({"op": "wait", "worker": other, "operation": number}));
            }
        }
        if operation["count"] == 1
            && let Some(keys) = operation.as_object_mut()
        {
            keys.remove("count");
        }
        self.done[rank].push((worker, self.workers[rank][worker].len(), reads, writes));
        self.workers[rank][worker].push(operation);
    }

    fn into_json(mut self, plan: &plans::Plan, links_known: bool, contention_free: bool) -> Value {
        let tight = self.dice.chance(30);
        for (number, channel) in self.channels.iter_mut().enumerate() {
            let sends = |o: &&Value| o["op"] == "send" && o["channel"] == number;
            let packets = self.workers.iter().flatten().flatten().filter(sends).count();
            channel["slots"] = json!(if tight { self.dice.between(1, 2) } else { packets.max(1) });
        }
        let programs: Vec<_> = self
            .workers
            .iter()
            .zip(&self.scratch)
            .map(|(workers, scratch)| match scratch {
                0 => json!({"workers": workers}),
                _ => json!({"scratch": scratch, "workers": workers}),
            })
            .collect();
        let mut file = json!({"format": "rank-program/1", "collective": plan.collective});
        plan.task.state_groups(&mut file);
        if let Some(keys) = file.as_object_mut() {
            keys.remove("relays");
        }
        match links_known {
            true => file["topology"] = plan.topology.clone(),
            false => file["ranks"] = json!(plan.machine.ranks()),
        }
        if self.layout.in_place {
            file["in_place"] = json!(true);
        }
        if contention_free {
            file["contention_free"] = json!(true);
        }
        file["channels"] = json!(self.channels);
        file["programs"] = json!(programs);
        file
    }
}

fn range(first: Slot, count: usize) -> Vec<Slot> {
    (first.1..first.1 + count).map(|slot| (first.0, slot)).collect()
}
