//! Judges rank programs, from docs/formats/rank-program.md.
//!
//! Of a program that gets stuck, mixes up packets or has a race, the documents say little about what else is reported;
//! [`Opinion::free`] then has the codes that are not compared.

use std::collections::BTreeSet;

use serde_json::Value;

use super::file::{Operation, ProgramFile};
use super::orders::{Orders, Place};
use super::place::{Placing, Site, USAGE};
use super::runs::{Ending, Sum, run};
use super::slots::{Layout, Slot};
use crate::dice::Dice;
use crate::naive::opinion::Opinion;
use crate::naive::problem::task::Combining;

const VALUES: [&str; 5] = ["D002", "P007", "R001", "R002", "R003"];
const INTERLEAVINGS: u64 = 8;
const MOST_SLOTS: usize = 1000;

/// Judges a rank program where it runs.
pub fn judge(value: &Value, placing: &Placing) -> Opinion {
    let file = match ProgramFile::read(value) {
        Ok(file) => file,
        Err(faults) => return Opinion::unreadable(faults),
    };
    let site = match placing.of(&file) {
        Ok(site) => site,
        Err(why) => {
            let reached = [format!("a map {why}")].into();
            return Opinion { unreadable: [USAGE].into(), reached, ..Opinion::default() };
        }
    };
    let layout = Layout { task: &file.task, ranks: file.machine.ranks(), in_place: file.in_place };
    let mut opinion =
        Opinion { open: ["P001", "P002", "P003", "P004", "P005", "P006", "P008"].into(), ..Opinion::default() };
    form(&file, &layout, &mut opinion);
    channels(&file, &site, &mut opinion);
    if ["P005", "P006"].iter().any(|code| opinion.counts.contains_key(code)) {
        return opinion;
    }
    if operations(&file).any(|(_, operation)| operation.count > MOST_SLOTS) {
        return Opinion { large: true, ..opinion };
    }
    let orders = Orders::of(&file);
    let paired = pairing(&file, &orders, &mut opinion);
    let ending = run(&file, &layout, &mut Dice::from_seed(0));
    let stuck = !ending.stuck(&file).is_empty();
    if stuck {
        if cycle(&file, &ending) {
            opinion.count("P003");
        }
        if !paired {
            opinion.free.extend(["P001", "P003"]);
        }
        opinion.free.extend(VALUES);
    }
    races(&file, &layout, &orders, stuck, &mut opinion);
    let racy = opinion.counts.contains_key("P004");
    if !paired || stuck {
        opinion.free.extend(["P004", "P008"]);
    }
    if opinion.counts.contains_key("P002") {
        // A packet of another length may end everything, or never be received.
        opinion.free.extend(["P001", "P003"]);
        if opinion.counts.contains_key("P001") || stuck {
            opinion.free.insert("P002");
        }
    }
    if !paired || racy {
        opinion.free.extend(VALUES);
    }
    for seed in 1..INTERLEAVINGS {
        let other = run(&file, &layout, &mut Dice::from_seed(seed));
        assert_eq!(other.finished, ending.finished, "runs get equally far");
        assert!(racy || !paired || other == ending, "without races, runs end with equal values");
    }
    if file.contention_free || placing.contention_free {
        contention(&file, &site, &orders, &mut opinion);
    }
    if !stuck {
        values(&file, &layout, &ending, &mut opinion);
    }
    if opinion.holds() {
        let machine = match (&placing.machine, file.links_known) {
            (None, true) => "its own machine",
            (None, false) => "any machine",
            _ if site.is_identity() => "another machine",
            _ => "another machine by a map",
        };
        let claims = if file.contention_free || placing.contention_free { ", no link shared" } else { "" };
        opinion.reached.insert(format!("holds on {machine}{claims}"));
    }
    opinion
}

/// Does one run of a program, which must name only what exists, end with the values that are needed? Says nothing of
/// other runs, and takes a moment where [`judge`] takes minutes.
pub fn runs_well(value: &Value, dice: &mut Dice) -> bool {
    let Ok(file) = ProgramFile::read(value) else { return false };
    let layout = Layout { task: &file.task, ranks: file.machine.ranks(), in_place: file.in_place };
    let ending = run(&file, &layout, dice);
    let mut opinion = Opinion::default();
    values(&file, &layout, &ending, &mut opinion);
    ending.is_whole(&file) && opinion.holds()
}

fn operations(file: &ProgramFile) -> impl Iterator<Item = (Place, &Operation)> {
    file.workers.iter().enumerate().flat_map(|(rank, workers)| {
        workers.iter().enumerate().flat_map(move |(worker, operations)| {
            operations.iter().enumerate().map(move |(number, operation)| ((rank, worker, number), operation))
        })
    })
}

/// The slots an operation reads, and those it writes, by their one name.
fn touched(layout: &Layout, rank: usize, operation: &Operation) -> (BTreeSet<Slot>, BTreeSet<Slot>) {
    let slots = |first: Option<Slot>| {
        let (buffer, first) = first.unwrap_or_default();
        (first..first + operation.count).map(move |slot| layout.memory(rank, (buffer, slot))).collect::<BTreeSet<_>>()
    };
    let reads = if operation.src.is_some() { slots(operation.src) } else { BTreeSet::new() };
    let writes = if operation.dst.is_some() { slots(operation.dst) } else { BTreeSet::new() };
    (reads, writes)
}

fn form(file: &ProgramFile, layout: &Layout, opinion: &mut Opinion) {
    for &scratch in &file.scratch {
        if scratch > 1 << 27 {
            opinion.count("P006");
        }
    }
    for ((rank, _, _), operation) in operations(file) {
        let exists = |slot: Option<Slot>| {
            slot.is_none_or(|(buffer, first)| {
                let length = match buffer {
                    'i' => layout.input(rank),
                    'o' => layout.output(rank),
                    _ => file.scratch[rank],
                };
                first + operation.count <= length
            })
        };
        let ends = [(operation.sends, true), (operation.receives, false)];
        let channels = ends.iter().all(|&(channel, sends)| {
            channel.is_none_or(|channel| {
                file.channels.get(channel).is_some_and(|c| if sends { c.from == rank } else { c.to == rank })
            })
        });
        let awaited = operation.wait.is_none_or(|(worker, number)| {
            file.workers[rank].get(worker).is_some_and(|operations| number < operations.len())
        });
        let mut fits = exists(operation.src) && exists(operation.dst) && channels && awaited;
        if fits {
            let (reads, writes) = touched(layout, rank, operation);
            fits = reads == writes || reads.is_disjoint(&writes);
        }
        if !fits {
            opinion.count("P006");
        }
    }
    for channel in 0..file.channels.len() {
        // Another rank's worker at an end is a P006.
        let workers = |rank: usize, end: fn(&Operation) -> Option<usize>| {
            let used = operations(file).filter(|(place, operation)| place.0 == rank && end(operation) == Some(channel));
            used.map(|((_, worker, _), _)| worker).collect::<BTreeSet<_>>().len()
        };
        let (from, to) = (file.channels[channel].from, file.channels[channel].to);
        if workers(from, |operation| operation.sends) > 1 || workers(to, |operation| operation.receives) > 1 {
            opinion.count("P005");
        }
    }
}

fn channels(file: &ProgramFile, site: &Site, opinion: &mut Opinion) {
    for (rank, workers) in file.workers.iter().enumerate() {
        let works = workers.iter().any(|worker| !worker.is_empty());
        let takes_part = file.machine.live[rank] && file.task.place(rank).is_some();
        let wrongs = [works && !file.machine.live[rank], (works || takes_part) && site.is_on_a_failed_rank(rank)];
        wrongs.iter().filter(|wrong| **wrong).for_each(|_| opinion.count("T001"));
    }
    for (number, channel) in file.channels.iter().enumerate() {
        let ends = [channel.from, channel.to];
        let missing = ends.iter().any(|&rank| rank >= file.machine.ranks());
        if missing || channel.from == channel.to {
            opinion.count("P006");
        }
        // In use is a channel that something is sent on.
        if !operations(file).any(|(_, operation)| operation.sends == Some(number)) {
            continue;
        }
        let Some(machine) = &site.machine else { continue };
        let links = site.links(channel.from, channel.to, channel.via);
        let dead = links.iter().filter(|&&link| !machine.links[link].live).count();
        if missing || ends.iter().any(|&rank| site.failed(rank)) {
            opinion.count("T001");
        } else if links.is_empty() {
            opinion.count("T002");
        } else if dead > 0 {
            // Which of two it takes is not said, so both must live.
            opinion.count("T003");
        }
    }
}

/// Are all packets received, each as one of its length?
fn pairing(file: &ProgramFile, orders: &Orders, opinion: &mut Opinion) -> bool {
    let count = |at: usize| {
        let (rank, worker, number) = orders.places[at];
        file.workers[rank][worker][number].count
    };
    for (senders, receivers) in orders.senders.iter().zip(&orders.receivers) {
        if senders.len() != receivers.len() {
            opinion.count("P001");
        }
        if senders.iter().zip(receivers).any(|(&sender, &receiver)| count(sender) != count(receiver)) {
            opinion.count("P002");
        }
    }
    opinion.holds() || !opinion.counts.keys().any(|code| ["P001", "P002"].contains(code))
}

/// Do stuck workers wait for each other?
fn cycle(file: &ProgramFile, ending: &Ending) -> bool {
    let mut left = ending.stuck(file);
    loop {
        let before = left.len();
        let all = left.clone();
        left.retain(|&place| ending.waits_for(file, place).iter().any(|other| all.contains(other)));
        if left.len() == before {
            return !left.is_empty();
        }
    }
}

fn races(file: &ProgramFile, layout: &Layout, orders: &Orders, stuck: bool, opinion: &mut Opinion) {
    let touches: Vec<_> = operations(file).map(|((rank, ..), operation)| touched(layout, rank, operation)).collect();
    for first in 0..touches.len() {
        for second in first + 1..touches.len() {
            let ((reads, writes), (others_reads, others_writes)) = (&touches[first], &touches[second]);
            let apart = writes.is_disjoint(others_writes)
                && writes.is_disjoint(others_reads)
                && reads.is_disjoint(others_writes);
            if apart || orders.places[first].0 != orders.places[second].0 {
                continue;
            }
            let ordered = orders.before(first, second) || orders.before(second, first);
            let swapped = orders.overtakes(first, second) && orders.overtakes(second, first);
            // What is stuck behind something else may have no run at all.
            assert!(stuck || ordered != swapped, "unordered is what some run swaps");
            if !ordered {
                opinion.count("P004");
            }
        }
    }
}

fn contention(file: &ProgramFile, site: &Site, orders: &Orders, opinion: &mut Opinion) {
    // Each transfer: its channel, the send of its first packet, the receive of its last.
    let mut transfers = Vec::new();
    for (number, channel) in file.channels.iter().enumerate() {
        let carries = |&(sender, _): &(usize, usize)| {
            let (rank, worker, number) = orders.places[sender];
            file.workers[rank][worker][number].count > 0
        };
        let pairs = orders.senders[number].iter().copied().zip(orders.receivers[number].iter().copied());
        let packets: Vec<_> = pairs.filter(carries).collect();
        let sizes = channel.transfers.clone().unwrap_or(vec![1; packets.len()]);
        if sizes.iter().sum::<usize>() != packets.len() {
            opinion.count("P008");
            continue;
        }
        let mut rest = &packets[..];
        for size in sizes {
            let (now, later) = rest.split_at(size);
            transfers.push((number, now[0].0, now[size - 1].1));
            rest = later;
        }
    }
    let shared = |one: usize, other: usize| {
        let (one, other) = (&file.channels[one], &file.channels[other]);
        if (one.from, one.to) != (other.from, other.to) {
            return false;
        }
        // Only directions tell two links between the same ranks apart, and only where the machine is known.
        site.machine.is_none() || one.via.is_none() || other.via.is_none() || one.via == other.via
    };
    for (at, &(channel, send, receive)) in transfers.iter().enumerate() {
        for &(other, others_send, others_receive) in &transfers[at + 1..] {
            let ordered = orders.before(receive, others_send) || orders.before(others_receive, send);
            if shared(channel, other) && !ordered {
                opinion.count("P008");
            }
        }
    }
}

fn values(file: &ProgramFile, layout: &Layout, ending: &Ending, opinion: &mut Opinion) {
    for (number, chunk) in file.task.chunks.iter().enumerate() {
        for &rank in &chunk.after {
            let slot = layout.memory(rank, ('o', layout.after(rank, number)));
            let value = ending.memory.get(&(rank, slot)).cloned().flatten();
            if value.as_ref().is_some_and(|sum| sum.torn) {
                opinion.free.extend(["D002", "P007", "R003"]);
            }
            if let Some(code) = wrong(file, number, value) {
                opinion.count(code);
            }
        }
    }
}

/// What is wrong with the value of a slot that must hold a chunk.
fn wrong(file: &ProgramFile, number: usize, value: Sum) -> Option<&'static str> {
    let Some(sum) = value else { return Some("D002") };
    if sum.fault.is_some() {
        return sum.fault;
    }
    if sum.of.keys().any(|&(chunk, _)| chunk != number) {
        return Some("P007");
    }
    if file.task.combining == Combining::Adds && sum.of.values().any(|&count| count > 1) {
        return Some("R001");
    }
    let all = &file.task.chunks[number].before;
    all.iter().any(|&rank| !sum.of.contains_key(&(number, rank))).then_some("R002")
}
