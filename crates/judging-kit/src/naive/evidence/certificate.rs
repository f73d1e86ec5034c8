//! Checks bounds by the formulas of docs/formats/schedule-format.md.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use num_bigint::BigUint;
use serde_json::{Map, Value};

use super::distance::{Stretch, shortest};
use super::trees;
use crate::naive::fraction::Fraction;
use crate::naive::problem::machine::{Link, Machine, Named};
use crate::naive::reader::{Faults, text};
use crate::naive::stated::file::File;

/// A claim and what its evidence proves.
#[derive(Clone, Debug)]
pub struct Claim {
    /// `steps`, `joint`, or the kind of a claim of the volume.
    pub kind: String,
    /// Is its evidence stated for one cell?
    pub has_period: bool,
    /// What is claimed.
    pub at_least: Fraction,
    /// Of a joint claim: for so many steps.
    pub steps: Option<u64>,
    /// What is proven; `None`: the evidence does not fit.
    pub proven: Option<Fraction>,
    /// What it proves was not worked out.
    pub unchecked: bool,
}

impl Claim {
    /// The code of a claim that its evidence does not prove, or that is too dear to check.
    pub fn code(&self) -> Option<&'static str> {
        (!self.holds()).then_some(if self.unchecked { "C002" } else { "C001" })
    }

    /// Is it proven?
    fn holds(&self) -> bool {
        self.proven.as_ref().is_some_and(|proven| self.at_least.compare(proven) != Ordering::Greater)
    }
}

/// Reads a claim that stands in a file, and works out what its evidence proves.
pub fn check(file: &File, sort: &str, claim: &Value) -> Result<Claim, Faults> {
    let mut faults = Faults::default();
    match proven(file, sort, claim, &mut faults) {
        Some(claim) if faults.codes.is_empty() => Ok(claim),
        _ => Err(faults),
    }
}

/// Reads a claim, and works out what its evidence proves.
pub fn proven(file: &File, sort: &str, claim: &Value, faults: &mut Faults) -> Option<Claim> {
    let Some(all) = claim.as_object() else { return faults.note("F003") };
    let required: &[&str] = match (sort, all.get("kind").and_then(text)) {
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
    let optional: &[&str] = match required {
        _ if ranked => &["rank"],
        ["at_least", "kind", "weights"] => &["period"],
        _ => &[],
    };
    let keys = faults.object(claim, required, optional)?;
    let mut evidence = Evidence { file, keys, faults, unchecked: false };
    let at_least = match sort {
        "steps" => evidence.integer("at_least").map(|top| Fraction::new(top, 1u8)),
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
    let kind = all.get("kind").and_then(text).filter(|_| sort == "volume").unwrap_or(sort).to_string();
    let steps = keys.get("steps").and_then(Value::as_u64);
    let has_period = keys.contains_key("period");
    Some(Claim { kind, has_period, at_least: at_least?, steps, proven: proven?, unchecked: evidence.unchecked })
}

/// The machine; where relays are forbidden, without the links that join no two members of a group.
pub fn usable(file: &File) -> Machine {
    file.task.usable(&file.machine)
}

/// A claim that is being checked.
pub(super) struct Evidence<'a> {
    pub(super) file: &'a File,
    pub(super) keys: &'a Map<String, Value>,
    pub(super) faults: &'a mut Faults,
    unchecked: bool,
}

/// Entries of `weights`: ranks, then integers.
type Entries = Vec<(usize, usize, Vec<u64>)>;

/// What evidence proves; `None` within: it does not fit. `None` outside: it cannot be read.
pub(super) type Proof = Option<Option<Fraction>>;

/// A quotient is proven, if it is one.
pub(super) fn proof(top: impl Into<BigUint>, bottom: impl Into<BigUint>) -> Proof {
    let bottom = bottom.into();
    Some((bottom > BigUint::ZERO).then(|| Fraction::new(top, bottom)))
}

impl Evidence<'_> {
    pub(super) fn integer(&mut self, key: &str) -> Option<u64> {
        let value = self.keys.get(key)?;
        self.faults.integer(value, 0, "F003")
    }

    pub(super) fn rank(&mut self, value: &Value) -> Option<usize> {
        match self.file.machine.rank(value, self.faults)? {
            Named::Number(rank) => Some(rank),
            Named::Nowhere => self.faults.note("F003"),
        }
    }

    fn ranks(&mut self, value: &Value) -> Option<Vec<usize>> {
        let list = self.faults.list(value)?;
        list.iter().map(|rank| self.rank(rank)).collect()
    }

    pub(super) fn machine(&self) -> Machine {
        usable(self.file)
    }

    pub(super) fn links(&self) -> Vec<Link> {
        self.machine().live_links().cloned().collect()
    }

    pub(super) fn live(&self, rank: usize) -> bool {
        self.file.machine.live.get(rank) == Some(&true)
    }

    /// The entries of `weights`: ranks, then integers.
    pub(super) fn entries(&mut self, integers: usize) -> Option<Entries> {
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
    pub(super) fn joined(&self, from: usize, to: usize) -> bool {
        self.file.machine.links.iter().any(|link| (link.from, link.to) == (from, to))
    }

    /// Length times capacity of all live links.
    pub(super) fn offered(&self, stretch: &Stretch) -> u128 {
        let links = self.links();
        links.iter().zip(&stretch.lengths).map(|(link, length)| length * u128::from(link.capacity)).sum()
    }

    /// The sum over all chunks that one rank has and one rank needs; `None`: some path does not end.
    pub(super) fn owed(&self, stretches: &[Stretch]) -> Option<u128> {
        let ends = |chunk: &crate::naive::problem::task::Chunk| Some((*chunk.before.first()?, *chunk.after.first()?));
        let chunks = self.file.task.chunks.iter().filter_map(ends);
        chunks.map(|(from, to)| shortest(&self.machine(), stretches, from)[to]).sum()
    }

    /// The sum over all chunks that one rank has or one rank needs; `None`: some rank cannot be reached.
    fn owed_trees(&self, lengths: &[u128]) -> Option<u128> {
        let (machine, task) = (self.machine(), &self.file.task);
        let inward = ["reduce", "reduce_scatter"].contains(&&task.kind[..]);
        let tree = |chunk: &crate::naive::problem::task::Chunk| {
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
            Some(hops) => proof(hops, 1u8),
            None => Some(None),
        }
    }

    /// With a period, the entries of all links that these stand for; `None` within: they do not fit.
    fn repeated(&mut self, entries: Entries) -> Option<Option<Entries>> {
        let Some(period) = self.keys.get("period") else { return Some(Some(entries)) };
        let numbers = self.faults.list(period)?.iter().map(|number| self.faults.integer(number, 0, "F003"));
        let period = numbers.collect::<Option<Vec<u64>>>()?;
        let machine = &self.file.machine;
        // What is no rank has no position in a cell.
        let fits = |&(from, to, _): &(usize, usize, Vec<u64>)| {
            from.max(to) < machine.ranks() && machine.is_first(from, &period)
        };
        if !machine.looks_alike() || !machine.repeats(&period) || !entries.iter().all(fits) {
            return Some(None);
        }
        let multiples = (0..machine.ranks()).filter(|&rank| machine.is_multiple(rank, &period));
        let image = |by: usize| {
            entries
                .iter()
                .map(move |(from, to, rest)| (machine.translated(*from, by), machine.translated(*to, by), rest.clone()))
        };
        Some(Some(multiples.flat_map(image).collect()))
    }

    fn metric(&mut self) -> Proof {
        let entries = self.entries(1)?;
        let Some(entries) = self.repeated(entries)? else { return Some(None) };
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
            Some(owed) => proof(owed, BigUint::from(offered) * task.parts),
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
            return proof(0u8, 1u8);
        }
        let crosses = |link: &&Link| {
            let (start, end) = if into { (link.to, link.from) } else { (link.from, link.to) };
            inside.contains(&start) && !inside.contains(&end)
        };
        let capacity: u128 = self.links().iter().filter(crosses).map(|link| u128::from(link.capacity)).sum();
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
        let capacity: u128 = self.links().iter().filter(between).map(|link| u128::from(link.capacity)).sum();
        let met = |members: &Vec<usize>| {
            let meets = |block: &&Vec<usize>| block.iter().any(|rank| members.contains(rank));
            2 * (blocks.iter().filter(meets).count().max(1) as u128 - 1)
        };
        proof(self.file.task.groups.iter().map(met).sum::<u128>(), capacity)
    }
}
