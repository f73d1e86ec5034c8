//! Checks bounds by the formulas of docs/schedule-format.md.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::distance::{Stretch, Weight, shortest, stretches};
use super::file::File;
use super::fraction::Fraction;
use super::machine::{Link, Machine, Named};
use super::reader::Faults;
use super::trees;

/// The code of a claim that its evidence does not prove, or that is too dear to check.
pub fn code(file: &File, sort: &str, claim: &Value) -> Result<Option<&'static str>, Faults> {
    let mut faults = Faults::default();
    match proven(file, sort, claim, &mut faults) {
        Some(Claim { at_least, proven, unchecked }) if faults.codes.is_empty() => {
            let holds = proven.is_some_and(|proven| at_least.compare(proven) != Ordering::Greater);
            Ok((!holds).then_some(if unchecked { "C002" } else { "C001" }))
        }
        _ => Err(faults),
    }
}

/// A claim and what its evidence proves.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// What is claimed.
    pub at_least: Fraction,
    /// What is proven; `None`: the evidence does not fit.
    pub proven: Option<Fraction>,
    /// What it proves was not worked out.
    pub unchecked: bool,
}

/// Reads a claim, and works out what its evidence proves.
pub fn proven(file: &File, sort: &str, claim: &Value, faults: &mut Faults) -> Option<Claim> {
    let Some(all) = claim.as_object() else { return faults.note("F003") };
    let required: &[&str] = match (sort, all.get("kind").and_then(Value::as_str)) {
        ("steps", _) => &["at_least", "from", "to"],
        ("joint", _) => &["steps", "at_least", "weights"],
        (_, Some("metric")) => &["at_least", "kind", "weights"],
        (_, Some("cut")) => &["at_least", "kind", "ranks"],
        (_, Some("metric_over_time")) => &["at_least", "kind", "width", "weights"],
        (_, Some("partition")) => &["at_least", "kind", "blocks"],
        _ => return faults.note(if all.contains_key("kind") { "F003" } else { "F002" }),
    };
    let timed = required.contains(&"width");
    let ranked = timed || sort == "joint";
    let keys = faults.object(claim, required, if ranked { &["rank"] } else { &[] })?;
    let mut evidence = Evidence { file, keys, faults, unchecked: false };
    let at_least = match sort {
        "steps" => evidence.integer("at_least").map(|top| Fraction { top: top.into(), bottom: 1 }),
        _ => Fraction::read(keys.get("at_least")?, evidence.faults),
    };
    let proven = match required {
        [_, "from", _] => evidence.steps(),
        ["steps", ..] => evidence.joint(),
        [.., "ranks"] => evidence.cut(),
        [.., "blocks"] => evidence.partition(),
        _ if timed => evidence.metric_over_time(),
        _ => evidence.metric(),
    };
    Some(Claim { at_least: at_least?, proven: proven?, unchecked: evidence.unchecked })
}

/// The machine; where relays are forbidden, without the links that join no two members of a group.
pub fn usable(file: &File) -> Machine {
    let mut machine = file.machine.clone();
    let task = &file.task;
    machine.links.iter_mut().for_each(|link| link.live &= !task.confined || task.joined(link.from, link.to));
    machine
}

struct Evidence<'a> {
    file: &'a File,
    keys: &'a Map<String, Value>,
    faults: &'a mut Faults,
    unchecked: bool,
}

/// What evidence proves; `None` within: it does not fit. `None` outside: it cannot be read.
type Proof = Option<Option<Fraction>>;

fn proof(top: u128, bottom: u128) -> Proof {
    Some((bottom > 0).then_some(Fraction { top, bottom }))
}

impl Evidence<'_> {
    fn integer(&mut self, key: &str) -> Option<u64> {
        let value = self.keys.get(key)?;
        self.faults.integer(value, 0, "F003")
    }

    fn rank(&mut self, value: &Value) -> Option<usize> {
        match self.file.machine.rank(value, self.faults)? {
            Named::Number(rank) => Some(rank),
            Named::Nowhere => self.faults.note("F003"),
        }
    }

    fn ranks(&mut self, value: &Value) -> Option<Vec<usize>> {
        let list = self.faults.list(value)?;
        list.iter().map(|rank| self.rank(rank)).collect()
    }

    fn machine(&self) -> Machine {
        usable(self.file)
    }

    fn links(&self) -> Vec<Link> {
        self.machine().live_links().cloned().collect()
    }

    fn live(&self, rank: usize) -> bool {
        self.file.machine.live.get(rank) == Some(&true)
    }

    /// The entries of `weights`: ranks, then integers.
    fn entries(&mut self, integers: usize) -> Option<Vec<(usize, usize, Vec<u64>)>> {
        let mut entries = Vec::new();
        for entry in self.faults.list(self.keys.get("weights")?)? {
            let entry = self.faults.list(entry)?;
            if entry.len() != 2 + integers {
                return self.faults.note("F003");
            }
            let (from, to) = (self.rank(&entry[0]), self.rank(&entry[1]));
            let rest = entry[2..].iter().map(|value| self.faults.integer(value, 0, "F003")).collect::<Option<_>>();
            entries.push((from?, to?, rest?));
        }
        Some(entries)
    }

    /// A link leads from a rank to another; one that failed may be named, but does not count.
    fn joined(&self, from: usize, to: usize) -> bool {
        self.file.machine.links.iter().any(|link| (link.from, link.to) == (from, to))
    }

    /// Weights over time up to `end`; `None` within: they do not fit.
    fn weights_over_time(&mut self, end: u64) -> Option<Option<Vec<Stretch>>> {
        let entries = self.entries(3)?;
        let mut sum = 0u128;
        for (from, to, rest) in &entries {
            let &[first, last, length] = &rest[..] else { unreachable!("three integers") };
            if !self.joined(*from, *to) || first < 1 || first > last || last > end {
                return Some(None);
            }
            sum += u128::from(length) * u128::from(last - first + 1);
        }
        if sum >= 1 << 63 {
            return Some(None);
        }
        let weight = |&(from, to, ref rest): &(_, _, Vec<u64>)| Weight {
            from,
            to,
            first: rest[0],
            last: rest[1],
            length: rest[2],
        };
        let weights: Vec<_> = entries.iter().map(weight).collect();
        Some(Some(stretches(&self.machine(), &weights, end)))
    }

    /// Length times capacity of all live links.
    fn offered(&self, stretch: &Stretch) -> u128 {
        let links = self.links();
        links.iter().zip(&stretch.lengths).map(|(link, length)| length * u128::from(link.capacity)).sum()
    }

    /// The sum over all chunks that one rank has and one rank needs; `None`: some path does not end.
    fn owed(&self, stretches: &[Stretch]) -> Option<u128> {
        let ends = |chunk: &super::task::Chunk| Some((*chunk.before.first()?, *chunk.after.first()?));
        let chunks = self.file.task.chunks.iter().filter_map(ends);
        chunks.map(|(from, to)| shortest(&self.machine(), stretches, from)[to]).sum()
    }

    /// The sum over all chunks that one rank has or one rank needs; `None`: some rank cannot be reached.
    fn owed_trees(&self, lengths: &[u128]) -> Option<u128> {
        let (machine, task) = (self.machine(), &self.file.task);
        let inward = ["reduce", "reduce_scatter"].contains(&&task.kind[..]);
        let tree = |chunk: &super::task::Chunk| {
            let (one, many) = if inward { (&chunk.after, &chunk.before) } else { (&chunk.before, &chunk.after) };
            // The chunks of ranks that failed have no ends.
            let Some(&root) = one.first() else { return Some(0) };
            let others: Vec<usize> = many.iter().copied().filter(|&rank| rank != root).collect();
            trees::least(&machine, lengths, root, &others, inward).map(|length| length * u128::from(task.parts))
        };
        task.chunks.iter().filter(|chunk| chunk.part == 0).map(tree).sum()
    }

    fn steps(&mut self) -> Proof {
        let (from, to) = (self.rank(self.keys.get("from")?)?, self.rank(self.keys.get("to")?)?);
        if !self.live(from) || !self.live(to) || !self.file.task.needs(from, to) {
            return Some(None);
        }
        let machine = &self.file.machine;
        let hops = Stretch { units: machine.ranks() as u64, lengths: vec![1; self.links().len()] };
        match shortest(&self.machine(), &[hops], from)[to] {
            Some(hops) => proof(hops, 1),
            None => Some(None),
        }
    }

    fn metric(&mut self) -> Proof {
        let entries = self.entries(1)?;
        let pairs: BTreeSet<_> = entries.iter().map(|(from, to, _)| (*from, *to)).collect();
        let task = &self.file.task;
        if ["all_reduce", "barrier"].contains(&&task.kind[..])
            || pairs.len() < entries.len()
            || pairs.iter().any(|&(from, to)| !self.joined(from, to))
        {
            return Some(None);
        }
        let length = |link: &Link| {
            let listed = entries.iter().find(|(from, to, _)| (*from, *to) == (link.from, link.to));
            listed.map_or(0, |(_, _, rest)| u128::from(rest[0]))
        };
        let machine = &self.file.machine;
        let lengths = self.links().iter().map(length).collect();
        let always = Stretch { units: machine.ranks() as u64, lengths };
        let offered = self.offered(&always);
        let owed = match &task.kind[..] {
            "all_to_all" | "all_to_allv" | "scatter" | "gather" => self.owed(&[always]),
            _ if !trees::small_enough(task, machine) => {
                self.unchecked = offered > 0;
                None
            }
            _ => self.owed_trees(&always.lengths),
        };
        match owed {
            Some(owed) => proof(owed, offered * u128::from(task.parts)),
            None => Some(None),
        }
    }

    fn cut(&mut self) -> Proof {
        let set = self.ranks(self.keys.get("ranks")?)?;
        let inside: BTreeSet<_> = set.iter().copied().collect();
        if inside.len() < set.len() || set.iter().any(|&rank| !self.live(rank)) {
            return Some(None);
        }
        let (machine, task) = (&self.file.machine, &self.file.task);
        let mut crossing = 0;
        for members in &task.groups {
            let live = members.iter().filter(|&&rank| machine.live[rank]);
            let (within, outside): (Vec<usize>, Vec<usize>) = live.partition(|rank| inside.contains(rank));
            let root_outside = task.root.is_some_and(|root| outside.contains(&members[root]));
            crossing += match &task.kind[..] {
                _ if within.is_empty() || outside.is_empty() => 0,
                "broadcast" | "reduce" => usize::from(root_outside),
                "all_reduce" => 1,
                _ => outside.len(),
            };
        }
        let into = match &task.kind[..] {
            "all_gather" | "all_reduce_gathered" | "broadcast" | "all_reduce" => true,
            "reduce_scatter" | "reduce" => false,
            _ => return Some(None),
        };
        if crossing == 0 || set.is_empty() {
            return proof(0, 1);
        }
        let crosses = |link: &&Link| {
            let (start, end) = if into { (link.to, link.from) } else { (link.from, link.to) };
            inside.contains(&start) && !inside.contains(&end)
        };
        let capacity = self.links().iter().filter(crosses).map(|link| u128::from(link.capacity)).sum();
        proof(crossing as u128, capacity)
    }

    fn partition(&mut self) -> Proof {
        let blocks = self
            .faults
            .list(self.keys.get("blocks")?)?
            .iter()
            .map(|block| self.ranks(block))
            .collect::<Option<Vec<_>>>()?;
        let mut all = blocks.concat();
        all.sort();
        let fits = self.file.task.kind == "all_reduce" && blocks.len() >= 2 && blocks.iter().all(|b| !b.is_empty());
        if !fits || all != self.file.machine.live_ranks() {
            return Some(None);
        }
        let between = |link: &&Link| !blocks.iter().any(|block| block.contains(&link.from) && block.contains(&link.to));
        let capacity = self.links().iter().filter(between).map(|link| u128::from(link.capacity)).sum();
        let met = |members: &Vec<usize>| {
            let meets = |block: &&Vec<usize>| block.iter().any(|rank| members.contains(rank));
            2 * (blocks.iter().filter(meets).count().max(1) as u128 - 1)
        };
        proof(self.file.task.groups.iter().map(met).sum(), capacity)
    }

    /// The one rank whose chunks count, if the claim names any; `None` outside: it cannot be read.
    fn named_rank(&mut self) -> Option<Option<usize>> {
        match self.keys.get("rank") {
            Some(value) => Some(Some(self.rank(value)?)),
            None => Some(None),
        }
    }

    /// The length that all chunks cover which count if the claim names this rank; `None` within: some path does not end.
    /// `None` outside: the evidence does not fit.
    fn covered(&self, rank: Option<usize>, stretches: &[Stretch]) -> Option<Option<u128>> {
        let (machine, task) = (&self.file.machine, &self.file.task);
        let with = |rank: usize, other: usize| other != rank && task.joined(rank, other);
        let others = |rank: usize| machine.live_ranks().into_iter().filter(move |&other| with(rank, other));
        let root = |rank: usize| task.roots().into_iter().filter(move |&root| with(rank, root));
        // Who must reach whom; in an all-reduce the furthest alone counts.
        let pairs: Vec<(usize, usize)> = match (&task.kind[..], rank) {
            ("barrier", _) => return None,
            ("all_to_all" | "all_to_allv" | "scatter" | "gather", None) => return Some(self.owed(stretches)),
            ("all_to_all" | "all_to_allv" | "scatter" | "gather", Some(_)) | (_, None) => return None,
            (_, Some(rank)) if !self.live(rank) => return None,
            ("broadcast", Some(rank)) => root(rank).map(|root| (root, rank)).collect(),
            ("reduce", Some(rank)) => root(rank).map(|root| (rank, root)).collect(),
            ("reduce_scatter", Some(rank)) => others(rank).map(|other| (rank, other)).collect(),
            (_, Some(rank)) => others(rank).map(|other| (other, rank)).collect(),
        };
        let lengths = pairs.iter().map(|&(from, to)| shortest(&self.machine(), stretches, from)[to]);
        let length: Option<u128> = match &task.kind[..] {
            "all_reduce" => lengths.collect::<Option<Vec<_>>>().map(|all| all.into_iter().max().unwrap_or(0)),
            _ => lengths.sum(),
        };
        Some(length.map(|length| length * u128::from(task.parts)))
    }

    fn metric_over_time(&mut self) -> Proof {
        let width = self.integer("width");
        let rank = self.named_rank()?;
        let width = width?;
        let Some(stretches) = self.weights_over_time(width)? else { return Some(None) };
        let Some(covered) = self.covered(rank, &stretches) else { return Some(None) };
        let offered: u128 = stretches.iter().map(|s| self.offered(s) * u128::from(s.units)).sum();
        match covered {
            Some(covered) if covered <= offered => proof(0, 1),
            _ => proof(u128::from(width) + 1, self.file.task.parts.into()),
        }
    }

    fn joint(&mut self) -> Proof {
        let steps = self.integer("steps");
        let rank = self.named_rank()?;
        let Some(stretches) = self.weights_over_time(steps?)? else { return Some(None) };
        let Some(covered) = self.covered(rank, &stretches) else { return Some(None) };
        let offered = stretches.iter().map(|stretch| self.offered(stretch)).max().unwrap_or(0);
        match covered {
            Some(covered) => proof(covered, offered * u128::from(self.file.task.parts)),
            None => Some(None),
        }
    }
}
