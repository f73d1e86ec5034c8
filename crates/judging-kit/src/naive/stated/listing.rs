//! Trees, and the way back, written out.

use std::collections::BTreeMap;

use serde_json::Value;

use super::steps::{Step, Transfer, op};
use crate::naive::problem::machine::{Machine, dimension};
use crate::naive::problem::task::Task;
use crate::naive::reader::Faults;

/// Moves by sender, receiver, direction and operation.
type Moves = BTreeMap<(usize, usize, Option<(usize, bool)>, bool), Vec<usize>>;

/// The moves of trees in steps that state none.
pub fn of_trees(trees: &Value, steps: &mut [Step], machine: &Machine, task: &Task, faults: &mut Faults) -> Option<()> {
    let trees = faults.list(trees)?;
    let fits = machine.torus.as_ref().is_some_and(|extents| extents.len() <= 6);
    if !fits || steps.iter().any(|step| !step.transfers.is_empty()) {
        faults.note::<()>("F010");
    }
    let mut moves: Vec<Moves> = vec![Moves::new(); steps.len()];
    for tree in trees {
        let keys = faults.object(tree, &["chunks", "parents", "steps"], &["op"])?;
        let mut chunks = Vec::new();
        for value in faults.list(keys.get("chunks")?)? {
            chunks.extend(task.chunk(value, faults));
        }
        let reduce = op(keys.get("op"), faults)?;
        let parents: Vec<char> = faults.text(keys.get("parents")?)?.chars().collect();
        let mut numbers = Vec::new();
        for value in faults.list(keys.get("steps")?)? {
            numbers.push(faults.integer(value, 0, "F003")? as usize);
        }
        let ranks: Vec<usize> = (0..parents.len()).filter(|&rank| parents[rank] != '.').collect();
        if parents.len() != machine.ranks() || ranks.len() != numbers.len() {
            return faults.note("F010");
        }
        for (rank, step) in ranks.into_iter().zip(numbers) {
            let letter = parents[rank];
            let Some((dim, None)) = dimension(&letter.to_ascii_lowercase().to_string()) else {
                return faults.note("F010");
            };
            let up = letter.is_ascii_lowercase();
            let leads = |link: &&crate::naive::problem::machine::Link| match reduce {
                true => (link.from, link.direction) == (rank, Some((dim, up))),
                false => (link.to, link.direction) == (rank, Some((dim, !up))),
            };
            let Some(link) = machine.links.iter().find(leads) else { return faults.note("F010") };
            if step == 0 || step > moves.len() {
                return faults.note("F010");
            }
            let twins = machine.links.iter().filter(|other| (other.from, other.to) == (link.from, link.to)).count();
            let key = (link.from, link.to, link.direction.filter(|_| twins > 1), reduce);
            moves[step - 1].entry(key).or_default().extend(&chunks);
        }
    }
    for (step, moves) in steps.iter_mut().zip(moves) {
        step.transfers = moves
            .into_iter()
            .map(|((from, to, via, reduce), mut chunks)| {
                chunks.sort();
                Transfer { from, to, chunks, reduce, via }
            })
            .filter(|transfer| !transfer.chunks.is_empty())
            .collect();
    }
    Some(())
}

/// Do the steps only reduce?
pub fn reduces(steps: &[Step]) -> bool {
    let stated = |step: &Step| [&step.transfers, &step.pattern, &step.cell, &step.without].map(Clone::clone).concat();
    steps.iter().flat_map(stated).all(|transfer| transfer.reduce)
}

/// Adds the way back.
pub fn mirror(steps: &mut Vec<Step>) {
    for step in steps.clone().iter().rev() {
        let back = |transfer: &Transfer| Transfer {
            from: transfer.to,
            to: transfer.from,
            via: transfer.via.map(|(dim, up)| (dim, !up)),
            reduce: false,
            chunks: transfer.chunks.clone(),
        };
        let mut transfers: Vec<Transfer> = step.transfers.iter().map(back).collect();
        transfers.sort_by_key(|transfer| (transfer.from, transfer.to, transfer.via));
        let [pattern, cell, without] = [(); 3].map(|()| Vec::new());
        steps.push(Step { width: step.width, transfers, pattern, cell, without });
    }
}
