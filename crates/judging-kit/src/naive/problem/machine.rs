//! The machine of a file: every link listed, found by looking through the list.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::naive::reader::{Faults, digits, text};

/// A directed link.
#[derive(Clone, Debug)]
pub struct Link {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// On a torus: the dimension, and whether the coordinate grows.
    pub direction: Option<(usize, bool)>,
    /// Chunks per step of width 1.
    pub capacity: u64,
    /// Neither it nor a rank of it failed.
    pub live: bool,
    /// Was it stated as failed?
    failed: bool,
    cable: usize,
}

/// Ranks and links.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// For every rank: is it live?
    pub live: Vec<bool>,
    /// Every link, also those that failed.
    pub links: Vec<Link>,
    /// The extents of a torus.
    pub torus: Option<Vec<usize>>,
    /// For each dimension of a torus: is the last position joined to the first?
    pub wraps: Vec<bool>,
    /// For each dimension of a torus, how far its wrap shifts each dimension.
    pub twist: Vec<Vec<usize>>,
}

/// A rank as a file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// By its number, which may be out of range.
    Number(usize),
    /// By coordinates that are no position.
    Nowhere,
}

const MOST_RANKS: u64 = 1 << 20;

/// What a naive judge can take.
const FEW_RANKS: u64 = 64;

/// A number of ranks, unless there are too many for a naive judge.
pub fn small(ranks: u64, faults: &mut Faults) -> Option<usize> {
    faults.large |= ranks > FEW_RANKS;
    (ranks <= FEW_RANKS).then_some(ranks as usize)
}

impl Machine {
    /// Reads a topology.
    pub fn read(value: &Value, faults: &mut Faults) -> Option<Self> {
        let optional = [
            "torus",
            "links",
            "wrap",
            "capacity",
            "twist",
            "ranks",
            "failed_links",
            "failed_ranks",
            "failed_switches",
            "period",
            "names",
        ];
        let keys = faults.object(value, &[], &optional)?;
        let has = |key| keys.contains_key(key);
        if has("torus") == has("links")
            || has("ranks") && has("torus")
            || (has("wrap") || has("capacity") || has("twist")) && has("links")
        {
            return faults.note("F002");
        }
        let mut machine = match keys.get("torus") {
            Some(extents) => Self::torus(extents, ["wrap", "capacity", "twist"].map(|key| keys.get(key)), faults)?,
            None => Self::graph(&keys["links"], keys.get("ranks"), faults)?,
        };
        if let Some(names) = keys.get("names") {
            machine.named(names, faults)?;
        }
        machine.fail(keys.get("failed_links"), keys.get("failed_ranks"), faults)?;
        machine.fail_switches(keys.get("failed_switches"), keys.get("period"), faults)?;
        Some(machine)
    }

    /// A machine of `ranks` ranks whose links are not known.
    pub fn of_ranks(ranks: usize) -> Self {
        Self { live: vec![true; ranks], ..Self::default() }
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.live.len()
    }

    /// The live ranks.
    pub fn live_ranks(&self) -> Vec<usize> {
        (0..self.ranks()).filter(|&rank| self.live[rank]).collect()
    }

    /// The live links.
    pub fn live_links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().filter(|link| link.live)
    }

    /// The rank that a file names by number or coordinates.
    pub fn rank(&self, value: &Value, faults: &mut Faults) -> Option<Named> {
        let Some(text) = text(value) else {
            return faults.integer(value, 0, "F003").map(|number| Named::Number(number as usize));
        };
        if let Some(number) = digits(text) {
            return Some(Named::Number(number as usize));
        }
        let Some(position) = text.split('.').map(digits).collect::<Option<Vec<_>>>() else {
            return faults.note("F003");
        };
        let Some(extents) = &self.torus else { return faults.note("F003") };
        if position.len() != extents.len() || position.iter().zip(extents).any(|(&at, &extent)| at >= extent as u64) {
            return Some(Named::Nowhere);
        }
        let number = position.iter().zip(extents).rev().fold(0, |sum, (&at, &extent)| sum * extent + at as usize);
        Some(Named::Number(number))
    }

    fn torus(extents: &Value, [wrap, capacity, twist]: [Option<&Value>; 3], faults: &mut Faults) -> Option<Self> {
        let integers = |list: &Value, least: u64, faults: &mut Faults| {
            let list = faults.list(list)?;
            list.iter().map(|value| faults.integer(value, least, "F008")).collect::<Option<Vec<_>>>()
        };
        let extents = integers(extents, 1, faults)?;
        let dims = extents.len();
        if dims == 0 || dims > 255 {
            return faults.note("F008");
        }
        let capacities = capacity.map_or(Some(vec![1; dims]), |list| integers(list, 1, faults))?;
        let wraps: Vec<bool> = match wrap {
            None => extents.iter().map(|&extent| extent >= 3).collect(),
            Some(list) => {
                let list = faults.list(list)?;
                list.iter().map(|value| faults.flag_or(Some(value), true)).collect::<Option<Vec<_>>>()?
            }
        };
        let ranks = extents.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent));
        if capacities.len() != dims || wraps.len() != dims || ranks.is_none_or(|ranks| ranks > MOST_RANKS) {
            return faults.note("F008");
        }
        let extents: Vec<_> = extents.into_iter().map(|extent| extent as usize).collect();
        let twist = match twist {
            None => vec![vec![0; dims]; dims],
            Some(rows) => faults.list(rows)?.iter().map(|row| integers(row, 0, faults)).collect::<Option<Vec<_>>>()?,
        };
        let twisted = |dim: usize| twist[dim].iter().any(|&shift| shift > 0);
        let wraps_at = |dim: usize| wraps[dim] && extents[dim] > 1;
        if twist.len() != dims || twist.iter().any(|row| row.len() != dims) {
            return faults.note("F008");
        }
        for (dim, row) in twist.iter().enumerate() {
            for (other, &shift) in row.iter().enumerate().filter(|(_, shift)| **shift > 0) {
                let good = dim != other && wraps_at(dim) && wraps_at(other) && !twisted(other);
                if !good || shift >= extents[other] as u64 {
                    return faults.note("F008");
                }
            }
        }
        let mut machine = Self::of_ranks(small(ranks?, faults)?);
        machine.torus = Some(extents.clone());
        machine.wraps = wraps.clone();
        machine.twist = twist.iter().map(|row| row.iter().map(|&shift| shift as usize).collect()).collect();
        let mut stride = 1;
        for (dim, &extent) in extents.iter().enumerate() {
            for rank in 0..machine.ranks() {
                let at = rank / stride % extent;
                let next = match at + 1 < extent {
                    true => rank + stride,
                    false if wraps_at(dim) => {
                        // Around, and along every dimension that the wrap shifts.
                        let mut stride_of = 1;
                        let mut next = rank - at * stride;
                        for (&extent, &shift) in extents.iter().zip(&twist[dim]) {
                            let position = next / stride_of % extent;
                            next = next - position * stride_of + (position + shift as usize) % extent * stride_of;
                            stride_of *= extent;
                        }
                        next
                    }
                    false => continue,
                };
                let cable = machine.links.len();
                for (from, to, grows) in [(rank, next, true), (next, rank, false)] {
                    let (direction, capacity) = (Some((dim, grows)), capacities[dim]);
                    machine.links.push(Link { from, to, direction, capacity, live: true, failed: false, cable });
                }
            }
            stride *= extent;
        }
        Some(machine)
    }

    fn graph(links: &Value, ranks: Option<&Value>, faults: &mut Faults) -> Option<Self> {
        let mut machine = Self::of_ranks(0);
        for value in faults.list(links)? {
            let keys = faults.object(value, &["from", "to"], &["capacity"])?;
            let mut end = |key| match machine.rank(keys.get(key)?, faults)? {
                Named::Number(rank) => Some(rank),
                Named::Nowhere => None,
            };
            let (from, to) = (end("from"), end("to"));
            let capacity = keys.get("capacity").map_or(Some(1), |value| faults.integer(value, 1, "F008"));
            let (Some(from), Some(to), Some(capacity)) = (from, to, capacity) else {
                faults.more = true;
                return None;
            };
            if from == to || machine.links.iter().any(|link| (link.from, link.to) == (from, to)) {
                return faults.note("F008");
            }
            let opposite = machine.links.iter().position(|link| (link.from, link.to) == (to, from));
            let cable = opposite.unwrap_or(machine.links.len());
            machine.links.push(Link { from, to, direction: None, capacity, live: true, failed: false, cable });
        }
        let highest = machine.links.iter().map(|link| link.from.max(link.to) as u64 + 1).max().unwrap_or(0);
        let ranks = ranks.map_or(Some(highest), |value| faults.integer(value, 1, "F008"))?;
        if ranks == 0 || ranks > MOST_RANKS || highest > ranks {
            return faults.note("F008");
        }
        machine.live = vec![true; small(ranks, faults)?];
        Some(machine)
    }

    /// Names count for nothing, but must be names: one for each rank, all different.
    fn named(&self, names: &Value, faults: &mut Faults) -> Option<()> {
        let names = faults.list(names)?.iter().map(|name| faults.text(name)).collect::<Option<Vec<_>>>()?;
        let is_name = |name: &&str| {
            let first = name.chars().next();
            name.len() <= 253
                && first.is_some_and(|letter| letter.is_ascii_alphanumeric())
                && name.chars().any(|letter| letter.is_ascii_alphabetic())
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-_:/@".contains(letter))
        };
        let different = names.iter().collect::<BTreeSet<_>>().len();
        match names.len() == self.ranks() && different == names.len() && names.iter().all(is_name) {
            true => Some(()),
            false => faults.note("F008"),
        }
    }

    fn fail(&mut self, links: Option<&Value>, ranks: Option<&Value>, faults: &mut Faults) -> Option<()> {
        let mut failed = vec![false; self.links.len()];
        for value in links.map_or(Some(&[][..]), |value| faults.list(value))? {
            let keys = faults.object(value, &["from", "to"], &["dim", "both"])?;
            let (from, to) = (self.rank(keys.get("from")?, faults)?, self.rank(keys.get("to")?, faults)?);
            let both = faults.flag_or(keys.get("both"), true)?;
            let dim = match keys.get("dim") {
                None => None,
                Some(value) => match dimension(faults.text(value)?) {
                    Some(dim) => Some(dim),
                    None => return faults.note("F003"),
                },
            };
            let mut found: Vec<_> = (0..self.links.len())
                .filter(|&at| (Named::Number(self.links[at].from), Named::Number(self.links[at].to)) == (from, to))
                .collect();
            if let Some((dim, sense)) = dim {
                found.retain(|&at| {
                    self.links[at].direction.is_some_and(|(has, grows)| has == dim && sense.is_none_or(|s| s == grows))
                });
            }
            let &[link] = &found[..] else { return faults.note("F008") };
            let cable = |&other: &usize| other == link || both && self.links[other].cable == self.links[link].cable;
            for other in (0..self.links.len()).filter(cable) {
                if failed[other] {
                    return faults.note("F008");
                }
                failed[other] = true;
            }
        }
        for value in ranks.map_or(Some(&[][..]), |value| faults.list(value))? {
            match self.rank(value, faults)? {
                Named::Number(rank) if self.live.get(rank) == Some(&true) => self.live[rank] = false,
                _ => return faults.note("F008"),
            }
        }
        if !self.live.contains(&true) {
            return faults.note("F008");
        }
        for (link, failed) in self.links.iter_mut().zip(failed) {
            link.failed = failed;
            link.live = !failed && self.live[link.from] && self.live[link.to];
        }
        Some(())
    }
}

impl Machine {
    /// The position of a rank along a dimension.
    fn position(&self, rank: usize, dim: usize) -> usize {
        let extents = self.torus.as_ref().expect("a torus");
        rank / extents[..dim].iter().product::<usize>() % extents[dim]
    }

    /// Is this the period of a torus: does it divide its extents and the shifts of its wraps?
    pub fn repeats(&self, period: &[u64]) -> bool {
        let Some(extents) = &self.torus else { return false };
        let divides = |dim: usize, what: usize| period[dim] > 0 && (what as u64).is_multiple_of(period[dim]);
        period.len() == extents.len()
            && (0..extents.len()).all(|dim| divides(dim, extents[dim]))
            && self.twist.iter().all(|row| (0..row.len()).all(|dim| divides(dim, row[dim])))
    }

    /// Is a rank in the first cell: are all its positions below the period?
    pub fn is_first(&self, rank: usize, period: &[u64]) -> bool {
        (0..period.len()).all(|dim| (self.position(rank, dim) as u64) < period[dim])
    }

    /// Does a translation by this rank take cells onto cells?
    pub fn is_multiple(&self, rank: usize, period: &[u64]) -> bool {
        (0..period.len()).all(|dim| (self.position(rank, dim) as u64).is_multiple_of(period[dim]))
    }

    /// Does it look the same from every rank, as built?
    pub fn looks_alike(&self) -> bool {
        let alike =
            |extents: &Vec<usize>| extents.iter().zip(&self.wraps).all(|(&extent, &wraps)| wraps || extent <= 2);
        self.torus.as_ref().is_some_and(alike)
    }

    /// Where a rank comes to stand if rank 0 comes to stand on `by`.
    pub fn translated(&self, rank: usize, by: usize) -> usize {
        let extents = self.torus.as_deref().unwrap_or_default();
        let mut sum: Vec<usize> =
            (0..extents.len()).map(|dim| self.position(rank, dim) + self.position(by, dim)).collect();
        for (dim, &extent) in extents.iter().enumerate() {
            // What a wrap shifts has no wrap that shifts anything, and may be far beyond its end for now.
            if self.twist[dim].iter().any(|&shift| shift > 0) && sum[dim] >= extent {
                sum[dim] -= extent;
                sum.iter_mut().zip(&self.twist[dim]).for_each(|(at, shift)| *at += shift);
            }
        }
        sum.iter().zip(extents).rev().fold(0, |number, (&at, &extent)| number * extent + at % extent)
    }

    /// Every switch takes the cables of its face of every cell.
    fn fail_switches(&mut self, switches: Option<&Value>, period: Option<&Value>, faults: &mut Faults) -> Option<()> {
        let switches = switches.map_or(Some(&[][..]), |list| faults.list(list))?;
        let mut named = Vec::new();
        for value in switches {
            let text = faults.text(value)?;
            let (dim, at) = text.split_once(':').unwrap_or(("", text));
            let numbers = at.split(',').filter(|_| !at.is_empty()).map(digits).collect::<Option<Vec<_>>>();
            match (dimension(dim), numbers) {
                (Some((dim, None)), Some(numbers)) if dim < 256 => named.push((dim, numbers)),
                _ => return faults.note("F003"),
            }
        }
        let stated = match period {
            None => None,
            Some(list) => Some(
                faults
                    .list(list)?
                    .iter()
                    .map(|number| faults.integer(number, 0, "F008"))
                    .collect::<Option<Vec<_>>>()?,
            ),
        };
        if named.is_empty() {
            return if stated.is_some() { faults.note("F002") } else { Some(()) };
        }
        let dims = self.torus.as_ref().map_or(0, Vec::len);
        let period = stated.unwrap_or_else(|| vec![4; dims]);
        if !self.repeats(&period) {
            return faults.note("F008");
        }
        let mut failed: BTreeSet<usize> = BTreeSet::new();
        for (dim, at) in named {
            let others: Vec<_> = (0..dims).filter(|&other| other != dim).collect();
            if dim >= dims
                || at.len() != others.len()
                || others.iter().zip(&at).any(|(&other, &at)| at >= period[other])
            {
                return faults.note("F008");
            }
            let within = |rank: usize, dim: usize| self.position(rank, dim) as u64 % period[dim];
            let cables: BTreeSet<usize> = self
                .links
                .iter()
                .filter(|link| link.direction == Some((dim, true)) && within(link.from, dim) + 1 == period[dim])
                .filter(|link| others.iter().zip(&at).all(|(&other, &at)| within(link.from, other) == at))
                .map(|link| link.cable)
                .collect();
            let again = |link: &&Link| link.failed && cables.contains(&link.cable);
            if cables.is_empty() || self.links.iter().any(|link| again(&link)) || !failed.is_disjoint(&cables) {
                return faults.note("F008");
            }
            failed.extend(cables);
        }
        self.links.iter_mut().filter(|link| failed.contains(&link.cable)).for_each(|link| link.live = false);
        Some(())
    }
}

/// A dimension, `x` or `d7`, with the sense if one is stated: `x+`.
pub fn dimension(text: &str) -> Option<(usize, Option<bool>)> {
    let (name, sense) = match text.strip_suffix('+') {
        Some(name) => (name, Some(true)),
        None => text.strip_suffix('-').map_or((text, None), |name| (name, Some(false))),
    };
    let number = match ["x", "y", "z", "w", "v", "u"].iter().position(|&letter| letter == name) {
        Some(number) => number,
        None => digits(name.strip_prefix('d')?)? as usize,
    };
    Some((number, sense))
}
