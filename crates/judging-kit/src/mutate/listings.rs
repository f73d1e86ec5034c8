//! The same schedules in fewer words, trees, the way back and ops of steps, and changes to these.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::anywhere::objects;
use super::numbers;
use crate::dice::Dice;
use crate::naive::stated::file::File;

/// By rank, the letter of its parent and the step.
type Tree = BTreeMap<usize, (char, usize)>;

const LETTERS: [char; 6] = ['x', 'y', 'z', 'w', 'v', 'u'];

/// Makes an all_reduce of a reduce, or of a reduce_scatter in the compact form: the sums go back where they came from.
pub fn mirror(dice: &mut Dice, file: &mut Value) {
    let Ok(read) = File::read(file) else { return };
    let parts = match &read.task.kind[..] {
        "reduce" => read.task.parts,
        "reduce_scatter" if read.exceptions.is_some() => read.task.parts * read.machine.ranks() as u64,
        _ => return,
    };
    file["collective"] = json!({"kind": "all_reduce", "parts": parts});
    file["mirrored"] = json!(dice.chance(95));
    // What labels meant may be another chunk now, or none.
    let number = |list: &mut Value, chunks: &[usize]| *list = json!(chunks);
    for (step, read) in objects(&mut file["steps"]).into_iter().flatten().zip(&read.steps) {
        for (key, read) in [
            ("transfers", &read.transfers),
            ("pattern", &read.pattern),
            ("cell", &read.cell),
            ("without", &read.without),
        ] {
            let stated = step.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten();
            stated.zip(read).for_each(|(one, read)| number(&mut one["chunks"], &read.chunks));
        }
    }
    if let Some(exceptions) = &read.exceptions {
        number(&mut file["exceptions"], exceptions);
    }
    if let Some((_, cell)) = read.period.as_ref().filter(|_| file.get("cell").is_some()) {
        number(&mut file["cell"], cell);
    }
}

/// Lists the moves of an explicit schedule on a torus chunk by chunk.
pub fn plant(dice: &mut Dice, file: &mut Value) {
    let bare = file.as_object().is_some_and(|keys| !keys.contains_key("exceptions") && !keys.contains_key("mirrored"));
    if !bare && file.get("mirrored") != Some(&json!(true)) {
        return;
    }
    let Some(read) = File::read(file).ok().filter(|read| read.machine.torus.is_some()) else { return };
    let stated = file["steps"].as_array().map_or(0, Vec::len);
    let mut trees: BTreeMap<(usize, bool), Vec<Tree>> = BTreeMap::new();
    for (at, step) in read.steps.iter().take(stated).enumerate() {
        for transfer in &step.transfers {
            let meant = |link: &&crate::naive::problem::machine::Link| {
                (link.from, link.to) == (transfer.from, transfer.to)
                    && (transfer.via.is_none() || transfer.via == link.direction)
            };
            let Some((dim, up)) = read.machine.links.iter().find(meant).and_then(|link| link.direction) else { return };
            let Some(letter) = LETTERS.get(dim) else { return };
            let (rank, up) = if transfer.reduce { (transfer.from, up) } else { (transfer.to, !up) };
            let letter = if up { *letter } else { letter.to_ascii_uppercase() };
            for &chunk in &transfer.chunks {
                let all = trees.entry((chunk, transfer.reduce)).or_default();
                match all.iter_mut().find(|tree| !tree.contains_key(&rank) && !dice.chance(5)) {
                    Some(tree) => drop(tree.insert(rank, (letter, at + 1))),
                    None => all.push([(rank, (letter, at + 1))].into()),
                }
            }
        }
    }
    let mut list = Vec::new();
    for ((chunk, reduce), all) in trees {
        for tree in all {
            let parent = |rank: usize| tree.get(&rank).map_or('.', |&(letter, _)| letter);
            let parents: String = (0..read.machine.ranks()).map(parent).collect();
            let steps: Vec<usize> = tree.values().map(|&(_, step)| step).collect();
            let mut entry = json!({"chunks": [chunk], "parents": parents, "steps": steps});
            if reduce || dice.chance(10) {
                entry["op"] = json!(if reduce { "reduce" } else { "copy" });
            }
            list.push(entry);
        }
    }
    file["trees"] = json!(list);
    for step in objects(&mut file["steps"]).into_iter().flatten() {
        step["transfers"] = json!([]);
    }
}

/// Says the op of transfers once for a step, in some steps; those of the other op state theirs.
pub fn op_of_steps(dice: &mut Dice, file: &mut Value) {
    const LISTS: [&str; 4] = ["transfers", "pattern", "cell", "without"];
    for step in objects(&mut file["steps"]).into_iter().flatten() {
        if dice.chance(40) {
            continue;
        }
        let reduces = |transfer: &Value| transfer.get("op") == Some(&json!("reduce"));
        let lists = LISTS.map(|key| step.get(key).and_then(Value::as_array));
        let op = if lists.into_iter().flatten().flatten().any(reduces) { "reduce" } else { "copy" };
        for key in LISTS {
            for transfer in step.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
                let Some(keys) = transfer.as_object_mut() else { continue };
                let own = keys.get("op").cloned().unwrap_or(json!("copy"));
                if own != op || dice.chance(10) {
                    keys.insert("op".to_owned(), own);
                } else {
                    keys.remove("op");
                }
            }
        }
        step["op"] = json!(op);
    }
}

/// One change to trees, or to whether there is a way back, or to the op of a step.
pub fn change(dice: &mut Dice, file: &mut Value) {
    let flags = [json!(true), json!(false), json!(1), json!("true")];
    let Some(trees) = file.get_mut("trees").and_then(Value::as_array_mut).filter(|trees| !trees.is_empty()) else {
        let steps: Vec<_> = objects(&mut file["steps"]).into_iter().flatten().collect();
        match dice.below(3) {
            0 => file["mirrored"] = dice.pick(&flags).clone(),
            1 if !steps.is_empty() => {
                let at = dice.below(steps.len());
                let ops = [json!("reduce"), json!("copy"), json!("add"), json!(1), Value::Null];
                steps.into_iter().nth(at).expect("below their number")["op"] = dice.pick(&ops).clone();
            }
            // Trees of another machine, perhaps.
            _ if dice.chance(20) => file["trees"] = json!([]),
            _ => (),
        }
        return;
    };
    let at = dice.below(trees.len());
    match dice.below(10) {
        0 => drop(trees.remove(at)),
        1 => {
            let again = trees[at].clone();
            trees.push(again);
        }
        2 => trees[at]["op"] = dice.pick(&[json!("reduce"), json!("copy"), json!("add")]).clone(),
        3 => trees[at]["chunks"] = json!([dice.below(8), dice.below(8)][..dice.below(3)]),
        4 | 5 => {
            let Some(steps) = trees[at]["steps"].as_array_mut().filter(|steps| !steps.is_empty()) else { return };
            let which = dice.below(steps.len());
            match dice.below(4) {
                0 => drop(steps.remove(which)),
                1 => steps.push(json!(1)),
                _ => steps[which] = json!(dice.below(6)),
            }
        }
        6 | 7 => {
            let mut letters: Vec<char> = trees[at]["parents"].as_str().unwrap_or_default().chars().collect();
            if letters.is_empty() {
                return;
            }
            let which = dice.below(letters.len());
            match dice.below(6) {
                0 => drop(letters.remove(which)),
                1 => letters.push('.'),
                _ => letters[which] = *dice.pick(&['x', 'X', 'y', 'Y', '.', 'z', 'U', 'a', '-', 'ä']),
            }
            trees[at]["parents"] = json!(letters.into_iter().collect::<String>());
        }
        8 => file["mirrored"] = dice.pick(&flags).clone(),
        _ if dice.chance(30) => file["exceptions"] = json!([]),
        _ => numbers::change(dice, file),
    }
}
