//! The collective of a file: every chunk listed, with who has it before and who must have it after.

use serde_json::Value;

use super::machine::{Machine, Named};
use crate::naive::reader::{Faults, beyond, digits, text};

/// What `reduce` does with the values of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combining {
    /// The chunk moves unchanged.
    Never,
    /// A contribution may be counted once.
    Adds,
    /// A contribution may be in both values.
    Joins,
}

/// A chunk.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Its label, as the table of the format gives it.
    pub label: String,
    /// The rank in its number, if it has one: the origin.
    pub origin: Option<usize>,
    /// The rank in its number, if it has one: the destination.
    pub dest: Option<usize>,
    /// Its part, or its number within the pair.
    pub part: usize,
    /// The number of its group; 0 without groups.
    pub group: usize,
    /// The live ranks that have it before.
    pub before: Vec<usize>,
    /// The live ranks that must have it after.
    pub after: Vec<usize>,
}

/// The collective on its machine.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its kind.
    pub kind: String,
    /// What `reduce` does.
    pub combining: Combining,
    /// Parts of a message.
    pub parts: u64,
    /// The root.
    pub root: Option<usize>,
    /// The chunks, by number.
    pub chunks: Vec<Chunk>,
    /// Chunks for each pair, of `all_to_allv`.
    pub demand: Vec<Vec<u64>>,
    /// Groups are stated.
    pub grouped: bool,
    /// The members of each group; without groups, one of all ranks.
    pub groups: Vec<Vec<usize>>,
    /// Only members of its group may hold a chunk.
    pub confined: bool,
}

/// The kinds: name, whether they have a root, combining.
pub const KINDS: [(&str, bool, Combining); 11] = [
    ("all_to_all", false, Combining::Never),
    ("all_to_allv", false, Combining::Never),
    ("all_gather", false, Combining::Never),
    ("reduce_scatter", false, Combining::Adds),
    ("all_reduce", false, Combining::Adds),
    ("broadcast", true, Combining::Never),
    ("reduce", true, Combining::Adds),
    ("scatter", true, Combining::Never),
    ("gather", true, Combining::Never),
    ("barrier", false, Combining::Joins),
    ("all_reduce_gathered", false, Combining::Never),
];

/// The most pairs of a chunk and a rank that a naive judge can take.
const FEW: u128 = 1 << 15;

impl Task {
    /// Reads a collective for a machine, as far as it has faults of its own if there is no machine.
    pub fn read(
        value: &Value,
        (groups, relays): (Option<&Value>, Option<&Value>),
        machine: Option<&Machine>,
        faults: &mut Faults,
    ) -> Option<Self> {
        if relays.is_some() && groups.is_none() {
            faults.note::<()>("F002");
        }
        let grouped = groups.is_some();
        let confined = relays.is_some_and(|value| faults.flag_or(Some(value), true) == Some(false));
        let groups = match groups {
            Some(lists) => Some(members(lists, machine?, faults)?),
            None => machine.map(|machine| vec![(0..machine.ranks()).collect()]),
        };
        let Some(kind) = value.as_object().and_then(|keys| keys.get("kind")) else {
            return faults.note(if value.is_object() { "F002" } else { "F003" });
        };
        let Some(&(kind, rooted, combining)) = KINDS.iter().find(|(name, ..)| kind == name) else {
            return faults.note("F003");
        };
        let required: &[&str] = match kind {
            "all_to_allv" => &["kind", "demand"],
            _ if rooted => &["kind", "root"],
            _ => &["kind"],
        };
        let keys = faults.object(value, required, &["parts"])?;
        let parts = faults.integer_or(keys.get("parts"), 1, 1);
        let demand = match keys.get("demand").filter(|_| kind == "all_to_allv") {
            Some(value) => matrix(value, faults),
            None => Some(Vec::new()),
        };
        let named = match keys.get("root").filter(|_| rooted) {
            // A place in each group, which has no coordinates.
            Some(value) if grouped => match text(value) {
                Some(text) => digits(text).map_or_else(|| faults.note("F009"), |at| Some(Named::Number(at as usize))),
                None => faults.integer(value, 0, "F003").map(|number| Named::Number(number as usize)),
            }
            .map(Some),
            Some(value) => machine?.rank(value, faults).map(Some),
            None if rooted => None,
            None => Some(None),
        };
        let (parts, demand, machine) = (parts?, demand?, machine?);
        let root = match named? {
            None => None,
            Some(Named::Number(place)) if grouped => {
                let live = |members: &Vec<usize>| members.get(place).is_some_and(|&rank| machine.live[rank]);
                match groups.as_ref()?.iter().all(live) {
                    true => Some(place),
                    false => return faults.note("F009"),
                }
            }
            Some(Named::Number(rank)) if machine.live.get(rank) == Some(&true) => Some(rank),
            Some(_) => return faults.note("F009"),
        };
        let ranks = machine.ranks();
        if kind == "all_to_allv" && grouped {
            return faults.note("F009");
        }
        if kind == "all_to_allv" && (demand.len() != ranks || demand.iter().any(|row| row.len() != ranks)) {
            return faults.note("F009");
        }
        let groups = groups?;
        let (kind, chunks) = (kind.into(), Vec::new());
        let mut task = Self { kind, combining, parts, root, chunks, demand, grouped, groups, confined };
        let chunks = task.count();
        if !task.fits(chunks) {
            return faults.note("F009");
        }
        if chunks * machine.ranks() as u128 > FEW {
            faults.large = true;
            return None;
        }
        for group in 0..task.groups.len() {
            task.list_chunks(machine, group, grouped);
        }
        Some(task)
    }

    /// The keys of a file that state the groups.
    pub fn state_groups(&self, file: &mut Value) {
        if self.grouped {
            file["groups"] = serde_json::json!(self.groups);
        }
        if self.confined {
            file["relays"] = serde_json::json!(false);
        }
    }

    /// The group of a rank, and its place in it.
    pub fn place(&self, rank: usize) -> Option<(usize, usize)> {
        let mut groups = self.groups.iter().enumerate();
        groups.find_map(|(group, members)| Some((group, members.iter().position(|&member| member == rank)?)))
    }

    /// The roots of all groups.
    pub fn roots(&self) -> Vec<usize> {
        self.root.map_or(Vec::new(), |root| self.groups.iter().map(|members| members[root]).collect())
    }

    /// Both ranks are in one group.
    pub fn joined(&self, one: usize, other: usize) -> bool {
        self.groups.iter().any(|members| members.contains(&one) && members.contains(&other))
    }

    /// The machine; where relays are forbidden, without the links that join no two members of a group.
    pub fn usable(&self, machine: &Machine) -> Machine {
        let mut usable = machine.clone();
        usable.links.iter_mut().for_each(|link| link.live &= !self.confined || self.joined(link.from, link.to));
        usable
    }

    /// The chunk that a file names by number or label.
    pub fn chunk(&self, value: &Value, faults: &mut Faults) -> Option<usize> {
        if let Some(text) = text(value) {
            let Some(text) = plain(text) else { return faults.note("F005") };
            let found = self.chunks.iter().position(|chunk| {
                text == chunk.label || chunk.part == 0 && chunk.label.strip_suffix("/0") == Some(&text)
            });
            return found.map_or_else(|| faults.note("F005"), Some);
        }
        match value.as_u64() {
            Some(number) if number < self.chunks.len() as u64 => Some(number as usize),
            Some(_) => faults.note("F005"),
            None => faults.note(if beyond(value).is_some() { "F005" } else { "F003" }),
        }
    }

    /// Some live rank needs data from another.
    pub fn moves_data(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.after.iter().any(|to| chunk.before.iter().any(|from| from != to)))
    }

    /// Rank `to` needs data from rank `from`.
    pub fn needs(&self, from: usize, to: usize) -> bool {
        from != to && self.chunks.iter().any(|chunk| chunk.before.contains(&from) && chunk.after.contains(&to))
    }

    fn count(&self) -> u128 {
        let parts = u128::from(self.parts);
        let of = |members: &Vec<usize>| match &self.kind[..] {
            "all_to_all" => members.len() as u128 * members.len() as u128 * parts,
            "all_to_allv" => self.demand.iter().flatten().map(|&count| u128::from(count)).sum(),
            "scatter" | "gather" | "all_gather" | "reduce_scatter" | "all_reduce_gathered" => {
                members.len() as u128 * parts
            }
            "barrier" => 1,
            _ => parts,
        };
        self.groups.iter().map(of).sum()
    }

    fn fits(&self, chunks: u128) -> bool {
        let everywhere = !["all_to_all", "all_to_allv", "scatter", "gather"].contains(&&self.kind[..]);
        let largest = self.groups.iter().map(Vec::len).max().unwrap_or(0) as u128;
        chunks <= 1 << 27 && !(everywhere && chunks * largest > 1 << 28)
    }

    fn list_chunks(&mut self, machine: &Machine, group: usize, grouped: bool) {
        let parts = self.parts as usize;
        let ranks = self.groups[group].clone();
        let mut everyone: Vec<_> = ranks.iter().copied().filter(|&rank| machine.live[rank]).collect();
        everyone.sort();
        let root = self.root.map(|root| ranks[root]);
        let only = |rank: usize| if machine.live[rank] { vec![rank] } else { Vec::new() };
        let mut add = |label: String, origin, dest, part, before: Vec<usize>, after: Vec<usize>| {
            self.chunks.push(Chunk { label, origin, dest, part, group, before, after });
        };
        match &self.kind[..] {
            "all_to_all" | "all_to_allv" => {
                for &origin in &ranks {
                    for &dest in &ranks {
                        let count = self.demand.get(origin).map_or(parts, |row| row[dest] as usize);
                        // Nobody waits for what a failed rank would send; what it would receive stays where it is.
                        let before = only(origin);
                        let after = if before.is_empty() { Vec::new() } else { only(dest) };
                        for part in 0..count {
                            let label = format!("{origin}>{dest}/{part}");
                            add(label, Some(origin), Some(dest), part, before.clone(), after.clone());
                        }
                    }
                }
            }
            "all_reduce" | "broadcast" | "reduce" | "barrier" => {
                let root = root.map_or(everyone.clone(), |root| vec![root]);
                let (before, after) = match &self.kind[..] {
                    "broadcast" => (root, everyone),
                    _ => (everyone, root),
                };
                for part in 0..if self.kind == "barrier" { 1 } else { parts } {
                    let label = if grouped { format!("{group}/{part}") } else { part.to_string() };
                    add(label, None, None, part, before.clone(), after.clone());
                }
            }
            kind => {
                for &rank in &ranks {
                    for part in 0..parts {
                        let label = format!("{rank}/{part}");
                        let root = root.into_iter().collect();
                        let (origin, dest, before, mut after) = match kind {
                            "reduce_scatter" => (None, Some(rank), everyone.clone(), only(rank)),
                            "scatter" => (None, Some(rank), root, only(rank)),
                            "gather" => (Some(rank), None, only(rank), root),
                            _ => (Some(rank), None, only(rank), everyone.clone()),
                        };
                        if before.is_empty() {
                            after.clear();
                        }
                        add(label, origin, dest, part, before, after);
                    }
                }
            }
        }
    }
}

/// A label without zeros in front of its numbers.
fn plain(label: &str) -> Option<String> {
    let pieces = label.split_inclusive(['>', '/']).map(|piece| {
        let number = piece.trim_end_matches(['>', '/']);
        Some(format!("{}{}", digits(number)?, &piece[number.len()..]))
    });
    pieces.collect()
}

/// Disjoint lists of ranks.
fn members(lists: &Value, machine: &Machine, faults: &mut Faults) -> Option<Vec<Vec<usize>>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for list in faults.list(lists)? {
        let mut members = Vec::new();
        for value in faults.list(list)? {
            // Coordinates that are no position are a fault of the collective here.
            let named = match text(value) {
                Some(text) if digits(text).is_none() && machine.torus.is_none() => return faults.note("F009"),
                Some(text) if text.split('.').any(|number| digits(number).is_none()) => return faults.note("F009"),
                _ => machine.rank(value, faults)?,
            };
            match named {
                Named::Number(rank) if rank < machine.ranks() => members.push(rank),
                _ => return faults.note("F009"),
            }
        }
        groups.push(members);
    }
    let mut all = groups.concat();
    all.sort();
    let count = all.len();
    all.dedup();
    if groups.is_empty() || groups.iter().any(Vec::is_empty) || all.len() < count {
        return faults.note("F009");
    }
    Some(groups)
}

fn matrix(value: &Value, faults: &mut Faults) -> Option<Vec<Vec<u64>>> {
    let mut rows = Vec::new();
    for row in faults.list(value)? {
        let row = faults.list(row)?;
        rows.push(row.iter().map(|count| faults.integer(count, 0, "F003")).collect::<Option<Vec<_>>>()?);
    }
    Some(rows)
}
