//! What the bound of a job proves, by the table in docs/formats/schedule-format.md.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use num_bigint::BigUint;
use serde_json::{Map, Value};

use super::certificate::usable;
use super::distance::{Stretch, shortest};
use crate::naive::fraction::Fraction;
use crate::naive::problem::machine::{Link, Machine, Named};
use crate::naive::problem::task::Task;
use crate::naive::reader::{Faults, INTEGERS};
use crate::naive::stated::file::File;

/// A bound of a job, read.
#[derive(Clone, Debug)]
pub struct Bound {
    /// What is claimed.
    pub at_least: Fraction,
    weights: Vec<(usize, usize, u64)>,
    cuts: Vec<(u64, Vec<usize>)>,
    partitions: Vec<(u64, Vec<Vec<usize>>)>,
}

impl Bound {
    /// Reads a bound.
    pub fn read(value: &Value, machine: &Machine, faults: &mut Faults) -> Option<Self> {
        let keys = faults.object(value, &["at_least"], &["weights", "cuts", "partitions"])?;
        let at_least = keys.get("at_least").and_then(|value| Fraction::read(value, faults));
        let mut weights = Vec::new();
        for entry in list(keys, "weights", faults)? {
            let [from, to, weight] = faults.list(entry)? else { return faults.note("F003") };
            let (from, to) = (rank(from, machine, faults), rank(to, machine, faults));
            weights.push((from?, to?, faults.integer(weight, 0, "F003")?));
        }
        let mut cuts = Vec::new();
        for entry in list(keys, "cuts", faults)? {
            let keys = faults.object(entry, &["weight", "ranks"], &[])?;
            let weight = faults.integer(keys.get("weight")?, 0, "F003");
            cuts.push((weight?, ranks(keys.get("ranks")?, machine, faults)?));
        }
        let mut partitions = Vec::new();
        for entry in list(keys, "partitions", faults)? {
            let keys = faults.object(entry, &["weight", "blocks"], &[])?;
            let weight = faults.integer(keys.get("weight")?, 0, "F003");
            let blocks = faults.list(keys.get("blocks")?)?;
            let blocks = blocks.iter().map(|block| ranks(block, machine, faults)).collect::<Option<_>>()?;
            partitions.push((weight?, blocks));
        }
        Some(Self { at_least: at_least?, weights, cuts, partitions })
    }

    /// The kinds of evidence that it has.
    pub fn kinds(&self) -> Vec<&'static str> {
        let stated = [("weights", !self.weights.is_empty()), ("cuts", !self.cuts.is_empty())];
        let stated = stated.into_iter().chain([("partitions", !self.partitions.is_empty())]);
        stated.filter(|(_, stated)| *stated).map(|(kind, _)| kind).collect()
    }

    /// Is it proven?
    pub fn holds(&self, machine: &Machine, files: &[File]) -> bool {
        let proven = self.proven(machine, files);
        proven.is_some_and(|proven| self.at_least.compare(&proven) != Ordering::Greater)
    }

    /// What the evidence proves; `None`: it does not fit.
    pub fn proven(&self, machine: &Machine, files: &[File]) -> Option<Fraction> {
        let live = |rank: &usize| machine.live.get(*rank) == Some(&true);
        let joined = |from, to| machine.links.iter().any(|link| (link.from, link.to) == (from, to));
        let pairs: BTreeSet<_> = self.weights.iter().map(|&(from, to, _)| (from, to)).collect();
        let is_set = |ranks: &Vec<usize>| ranks.iter().collect::<BTreeSet<_>>().len() == ranks.len();
        let fits = pairs.len() == self.weights.len()
            && pairs.iter().all(|&(from, to)| joined(from, to))
            && self.cuts.iter().all(|(_, ranks)| is_set(ranks) && ranks.iter().all(live))
            && self.partitions.iter().all(|(_, blocks)| is_partition(blocks, machine))
            && machine.live_links().all(|link| self.weight(link) < u128::from(INTEGERS));
        if !fits {
            return None;
        }
        let offered: u128 = machine.live_links().map(|link| self.weight(link) * u128::from(link.capacity)).sum();
        let paid: BigUint = files.iter().map(|file| self.paid(file)).sum::<Option<_>>()?;
        (offered > 0).then(|| Fraction::new(paid, offered))
    }

    fn weight(&self, link: &Link) -> u128 {
        let stated = self.weights.iter().filter(|&&(from, to, _)| (from, to) == (link.from, link.to));
        let stated: u128 = stated.map(|&(.., weight)| u128::from(weight)).sum();
        let enters = |ranks: &Vec<usize>| !ranks.contains(&link.from) && ranks.contains(&link.to);
        let cuts: u128 = self.cuts.iter().filter(|(_, set)| enters(set)).map(|(weight, _)| u128::from(*weight)).sum();
        let between = |blocks: &Vec<Vec<usize>>| !blocks.iter().any(|b| b.contains(&link.from) && b.contains(&link.to));
        let partitions = self.partitions.iter().filter(|(_, blocks)| between(blocks));
        stated + cuts + partitions.map(|(weight, _)| u128::from(*weight)).sum::<u128>()
    }

    /// What the chunks of a schedule pay at least; `None`: a path is missing.
    fn paid(&self, file: &File) -> Option<BigUint> {
        let task = &file.task;
        if ["all_to_all", "all_to_allv", "scatter", "gather"].contains(&&task.kind[..]) {
            let machine = usable(file);
            let lengths = machine.live_links().map(|link| self.weight(link)).collect();
            let always = [Stretch { units: machine.ranks() as u64, lengths }];
            let ends = task.chunks.iter().filter_map(|chunk| Some((*chunk.before.first()?, *chunk.after.first()?)));
            return ends.map(|(from, to)| shortest(&machine, &always, from)[to].map(BigUint::from)).sum();
        }
        let mut paid = BigUint::ZERO;
        for members in &task.groups {
            let live: Vec<usize> = members.iter().copied().filter(|&rank| file.machine.live[rank]).collect();
            let root = task.root.map(|place| members[place]);
            for (weight, ranks) in &self.cuts {
                paid += BigUint::from(*weight) * entering(task, &live, root, ranks);
            }
            for (weight, blocks) in &self.partitions {
                paid += BigUint::from(*weight) * crossing(task, &live, root, blocks);
            }
        }
        Some(paid)
    }
}

/// The chunks of a group that must enter a set.
fn entering(task: &Task, live: &[usize], root: Option<usize>, set: &[usize]) -> u64 {
    let (inside, outside): (Vec<usize>, Vec<usize>) = live.iter().partition(|rank| set.contains(rank));
    if inside.is_empty() || outside.is_empty() {
        return 0;
    }
    let root_inside = root.is_some_and(|root| inside.contains(&root));
    match &task.kind[..] {
        "all_gather" | "all_reduce_gathered" => task.parts * outside.len() as u64,
        "broadcast" => task.parts * u64::from(!root_inside),
        "reduce_scatter" => task.parts * inside.len() as u64,
        "reduce" => task.parts * u64::from(root_inside),
        "all_reduce" => task.parts,
        "barrier" => 1,
        kind => unreachable!("{kind} has distances"),
    }
}

/// The chunks of a group that must cross between blocks.
fn crossing(task: &Task, live: &[usize], root: Option<usize>, blocks: &[Vec<usize>]) -> u64 {
    let met: Vec<_> = blocks.iter().filter(|block| live.iter().any(|rank| block.contains(rank))).collect();
    let outside = |block: &[usize]| live.iter().filter(|rank| !block.contains(rank)).count() as u64;
    let at_both = met.iter().filter(|block| outside(block) > 0);
    match &task.kind[..] {
        "all_gather" | "all_reduce_gathered" | "reduce_scatter" => {
            task.parts * at_both.map(|block| outside(block)).sum::<u64>()
        }
        "broadcast" | "reduce" => {
            let rootless = |block: &&&Vec<usize>| root.is_some_and(|root| !block.contains(&root));
            task.parts * at_both.filter(rootless).count() as u64
        }
        "all_reduce" => 2 * (met.len().max(1) as u64 - 1) * task.parts,
        "barrier" => 2 * (met.len().max(1) as u64 - 1),
        kind => unreachable!("{kind} has distances"),
    }
}

/// Disjoint, and every live rank in one.
fn is_partition(blocks: &[Vec<usize>], machine: &Machine) -> bool {
    let mut all = blocks.concat();
    all.sort();
    all == machine.live_ranks()
}

fn list<'v>(keys: &'v Map<String, Value>, key: &str, faults: &mut Faults) -> Option<&'v [Value]> {
    keys.get(key).map_or(Some(&[][..]), |value| faults.list(value))
}

fn rank(value: &Value, machine: &Machine, faults: &mut Faults) -> Option<usize> {
    match machine.rank(value, faults)? {
        Named::Number(rank) => Some(rank),
        Named::Nowhere => faults.note("F003"),
    }
}

fn ranks(value: &Value, machine: &Machine, faults: &mut Faults) -> Option<Vec<usize>> {
    faults.list(value)?.iter().map(|value| rank(value, machine, faults)).collect()
}
