//! The compact form, written out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::judge;
use crate::naive::opinion::Opinion;
use crate::naive::problem::machine::Machine;
use crate::naive::problem::task::Task;
use crate::naive::stated::file::File;
use crate::naive::stated::listing;
use crate::naive::stated::steps::{Step, Transfer};

/// Judges a schedule in the compact form by the schedule that is meant.
pub fn judge(value: &Value) -> Opinion {
    match File::read(value) {
        Ok(file) => match expand(&file) {
            Some(meant) => {
                let mut opinion = judge::opinion(&meant);
                opinion.free.insert("W003");
                // Reported of explicit schedules only.
                opinion.figures.retain(|name, _| ["steps", "width"].contains(name));
                opinion.reached.insert("compact form".into());
                opinion.note_listing(value);
                if file.period.is_some_and(|(_, chunks)| !chunks.is_empty()) {
                    opinion.reached.insert("cells".into());
                }
                if file.steps.iter().any(|step| !step.without.is_empty()) {
                    opinion.reached.insert("altered chunks".into());
                }
                opinion
            }
            None => Opinion { unreadable: ["F010"].into(), more: true, ..Opinion::default() },
        },
        Err(faults) => Opinion::unreadable(faults),
    }
}

/// The schedule that is meant; `None`: a pattern does not fit.
pub fn expand(file: &File) -> Option<File> {
    let File { machine, task, .. } = file;
    let exceptions = file.exceptions.as_ref()?;
    let shift = Shift::of(machine, task)?;
    let ascending = |list: &[usize]| list.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending(exceptions) {
        return None;
    }
    // The ranks that the period leaves alike, and the chunks that go with their cell, of every cell.
    let (mut multiples, mut in_cells) = (Vec::new(), BTreeSet::new());
    let mut is_first = vec![true; machine.ranks()];
    if let Some((period, chunks)) = &file.period {
        if !machine.repeats(period) || !ascending(chunks) {
            return None;
        }
        let ranks = 0..machine.ranks();
        multiples.extend(ranks.clone().filter(|&rank| machine.is_multiple(rank, period)));
        is_first = ranks.map(|rank| machine.is_first(rank, period)).collect();
        for &chunk in chunks {
            if !is_first[shift.owner(chunk)] {
                return None;
            }
            in_cells.extend(multiples.iter().map(|&by| shift.chunk(chunk, by)));
        }
    }
    let altered: BTreeSet<usize> =
        file.steps.iter().flat_map(|step| &step.without).flat_map(|transfer| &transfer.chunks).copied().collect();
    let mut steps = Vec::new();
    for step in &file.steps {
        // By sender, receiver, direction and operation.
        let mut all: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for Transfer { from, to, chunks, reduce, via } in &step.pattern {
            if [from, to].iter().any(|&&rank| rank >= machine.ranks()) {
                return None;
            }
            for &chunk in chunks {
                if shift.owner(chunk) != 0 {
                    return None;
                }
                for by in 0..machine.ranks() {
                    let moved = shift.chunk(chunk, by);
                    if !exceptions.contains(&moved) && !in_cells.contains(&moved) {
                        let key = (shift.rank(*from, by), shift.rank(*to, by), *via, *reduce);
                        all.entry(key).or_default().push(moved);
                    }
                }
            }
        }
        for Transfer { from, to, chunks, reduce, via } in &step.cell {
            if [from, to].iter().any(|&&rank| rank >= machine.ranks()) || !is_first[*from] {
                return None;
            }
            for &chunk in chunks {
                if !in_cells.contains(&chunk) {
                    return None;
                }
                for &by in &multiples {
                    let moved = shift.chunk(chunk, by);
                    if !exceptions.contains(&moved) {
                        let key = (shift.rank(*from, by), shift.rank(*to, by), *via, *reduce);
                        all.entry(key).or_default().push(moved);
                    }
                }
            }
        }
        // Before any is taken away: each is to be made once, and taken away once.
        let made = all.clone();
        let mut left_out = BTreeSet::new();
        for Transfer { from, to, chunks, reduce, via } in &step.without {
            let key = (*from, *to, *via, *reduce);
            for chunk in chunks {
                let count = made.get(&key).map_or(0, |chunks| chunks.iter().filter(|one| *one == chunk).count());
                if count != 1 || !left_out.insert((key, *chunk)) {
                    return None;
                }
                all.get_mut(&key)?.retain(|one| one != chunk);
            }
        }
        for Transfer { from, to, chunks, reduce, via } in &step.transfers {
            if chunks.iter().any(|chunk| !exceptions.contains(chunk) && !altered.contains(chunk)) {
                return None;
            }
            all.entry((*from, *to, *via, *reduce)).or_default().extend(chunks);
        }
        let transfers =
            all.into_iter().filter(|(_, chunks)| !chunks.is_empty()).map(|((from, to, via, reduce), mut chunks)| {
                chunks.sort();
                Transfer { from, to, chunks, reduce, via }
            });
        let [pattern, cell, without] = [(); 3].map(|()| Vec::new());
        steps.push(Step { width: step.width, transfers: transfers.collect(), pattern, cell, without });
    }
    if file.mirrored {
        listing::mirror(&mut steps);
    }
    Some(File { steps, exceptions: None, mirrored: false, period: None, ..file.clone() })
}

/// The translations of a torus, and of the chunks of a collective on it.
pub struct Shift<'a> {
    machine: &'a Machine,
    task: &'a Task,
}

impl<'a> Shift<'a> {
    /// The translations, if there are any.
    pub fn of(machine: &'a Machine, task: &'a Task) -> Option<Self> {
        let divided = match &task.kind[..] {
            "all_to_all" | "all_gather" | "all_reduce_gathered" | "reduce_scatter" => true,
            "all_reduce" => task.parts.is_multiple_of(machine.ranks() as u64),
            _ => false,
        };
        (machine.looks_alike() && divided && !task.grouped).then_some(Self { machine, task })
    }

    /// The rank where a rank comes to stand.
    pub fn rank(&self, rank: usize, by: usize) -> usize {
        self.machine.translated(rank, by)
    }

    /// The rank in the number of a chunk that translations count from.
    pub fn owner(&self, chunk: usize) -> usize {
        let chunk = &self.task.chunks[chunk];
        chunk.origin.or(chunk.dest).unwrap_or_else(|| chunk.part / self.quota())
    }

    /// The chunk that a chunk becomes.
    pub fn chunk(&self, number: usize, by: usize) -> usize {
        let chunk = &self.task.chunks[number];
        let moved = |rank: Option<usize>| rank.map(|rank| self.rank(rank, by));
        let (origin, dest) = (moved(chunk.origin), moved(chunk.dest));
        let part = match self.task.kind == "all_reduce" {
            true => self.rank(chunk.part / self.quota(), by) * self.quota() + chunk.part % self.quota(),
            false => chunk.part,
        };
        let same =
            |other: &crate::naive::problem::task::Chunk| (other.origin, other.dest, other.part) == (origin, dest, part);
        self.task.chunks.iter().position(same).expect("every chunk is translated to one")
    }

    fn quota(&self) -> usize {
        self.task.parts as usize / self.machine.ranks()
    }
}
