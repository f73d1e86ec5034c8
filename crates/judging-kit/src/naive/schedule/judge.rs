//! Judges schedule files, from docs/formats/schedule-format.md.

use std::collections::BTreeSet;

use serde_json::Value;

use super::outcome::{Held, Judged, State};
use super::{claims, observed};
use crate::naive::evidence::certificate;
use crate::naive::evidence::distance::reaches;
use crate::naive::opinion::Opinion;
use crate::naive::problem::machine::Machine;
use crate::naive::problem::task::Combining;
use crate::naive::reader::Faults;
use crate::naive::stated::file::File;
use crate::naive::stated::steps::{Step, Transfer};

/// Judges a schedule file.
pub fn judge(value: &Value) -> Opinion {
    let mut opinion = File::read(value).map_or_else(Opinion::unreadable, |file| opinion(&file));
    opinion.note_listing(value);
    opinion
}

/// The opinion of an explicit schedule.
pub fn opinion(file: &File) -> Opinion {
    let Judged { mut opinion, states, bounds } = match judged(file) {
        Ok(judged) => judged,
        Err(faults) => return Opinion::unreadable(faults),
    };
    opinion.leave_unchecked();
    if opinion.holds() {
        observed::figures(file, &states, &mut opinion);
        claims::of_schedule(file, &bounds, &mut opinion);
    }
    opinion
}

/// Judges an explicit schedule.
pub fn judged(file: &File) -> Result<Judged, Faults> {
    let bounds = file.bounds.iter().map(|(sort, claim)| certificate::check(file, sort, claim));
    // A claim that cannot be read hides those after it.
    let hides = |faults: Faults| Faults { more: true, ..faults };
    let bounds = bounds.collect::<Result<Vec<_>, _>>().map_err(hides)?;
    let mut opinion = Opinion::default();
    let machine = certificate::usable(file);
    let live = machine.live_ranks();
    let split = live.iter().any(|&from| live.iter().any(|&to| !reaches(&machine, from, to)));
    if split && bounds.iter().any(|claim| claim.kind == "metric_over_time") {
        // Where there is no path at all, no schedule holds, and what is proven about its volume is of no use.
        opinion.free.insert("C001");
    }
    for claim in &bounds {
        let proven = match claim.code() {
            None => "proven",
            Some("C002") => "not checked",
            Some(_) => "not proven",
        };
        let repeated = if claim.has_period { " with a period" } else { "" };
        opinion.reached.insert(format!("{}{repeated} {proven}", claim.kind));
        claim.code().into_iter().for_each(|code| opinion.count(code));
    }
    let mut states = vec![beginning(file)];
    for (number, step) in (1..).zip(&file.steps) {
        let state = run(file, step, states.last().expect("there is a beginning"), &mut opinion);
        states.push(state);
        opinion.passed(Some(number));
    }
    end(file, states.last().expect("there is a beginning"), &mut opinion);
    opinion.passed(None);
    if opinion.holds() {
        observed::warn(file, &states, &mut opinion);
        let relays = if file.task.confined { "without relays" } else { "with relays" };
        opinion.reached.extend(file.task.grouped.then(|| format!("groups {relays}")));
    }
    Ok(Judged { opinion, states, bounds })
}

fn beginning(file: &File) -> State {
    let chunks = &file.task.chunks;
    let held = |rank: usize| Held { of: [rank].into(), order: rank.to_string(), spoiled: false };
    let at = |rank| chunks.iter().map(|chunk| chunk.before.contains(&rank).then(|| held(rank))).collect();
    (0..file.machine.ranks()).map(at).collect()
}

fn end(file: &File, state: &State, opinion: &mut Opinion) {
    let carried = file.steps.iter().flat_map(|step| &step.transfers).any(|transfer| !transfer.chunks.is_empty());
    if !carried && file.task.moves_data() {
        return opinion.count("F007");
    }
    for (number, chunk) in file.task.chunks.iter().enumerate() {
        for &rank in &chunk.after {
            match &state[rank][number] {
                None => opinion.count("D002"),
                Some(held) if held.spoiled => {}
                Some(held) if chunk.before.iter().any(|rank| !held.of.contains(rank)) => opinion.count("R002"),
                Some(_) => {}
            }
        }
    }
}

/// The code of a transfer that crosses no live link.
pub fn misled(machine: &Machine, transfer: &Transfer) -> Option<&'static str> {
    let Transfer { from, to, via, .. } = *transfer;
    if [from, to].iter().any(|&rank| machine.live.get(rank) != Some(&true)) {
        return Some("T001");
    }
    match &link(machine, from, to, via)[..] {
        [link] if machine.links[*link].live => None,
        [_] => Some("T003"),
        _ => Some("T002"),
    }
}

/// The links from a rank to another, in a direction if one is stated.
pub fn link(machine: &Machine, from: usize, to: usize, via: Option<(usize, bool)>) -> Vec<usize> {
    let fits = |link: &&crate::naive::problem::machine::Link| {
        (link.from, link.to) == (from, to) && via.is_none_or(|via| link.direction == Some(via))
    };
    (0..machine.links.len()).filter(|&at| fits(&&machine.links[at])).collect()
}

fn run(file: &File, step: &Step, before: &State, opinion: &mut Opinion) -> State {
    let combining = file.task.combining;
    let mut arrivals: Vec<(usize, usize, bool, Held)> = Vec::new();
    for (at, transfer) in step.transfers.iter().enumerate() {
        let code = misled(&file.machine, transfer);
        code.into_iter().for_each(|code| opinion.count(code));
        if code.is_none() {
            let same = |other: &&Transfer| {
                let link = |transfer: &Transfer| link(&file.machine, transfer.from, transfer.to, transfer.via);
                link(other) == link(transfer)
            };
            if step.transfers[..at].iter().any(|other| same(&other)) {
                opinion.count("L001");
            }
            let taken = link(&file.machine, transfer.from, transfer.to, transfer.via)[0];
            if transfer.chunks.len() as u64 > step.width * file.machine.links[taken].capacity {
                opinion.count("L002");
            }
        }
        let chunks: BTreeSet<_> = transfer.chunks.iter().copied().collect();
        for &chunk in &chunks {
            if transfer.chunks.iter().filter(|&&other| other == chunk).count() > 1 {
                opinion.count("F006");
            }
            let mut value = before.get(transfer.from).and_then(|held| held[chunk].clone());
            let outside = || !file.task.groups[file.task.chunks[chunk].group].contains(&transfer.to);
            if code.is_none() && file.task.confined && outside() {
                opinion.count("D004");
            }
            let miscombined = transfer.reduce && combining == Combining::Never;
            // Nothing more is said of a transfer that crosses no live link.
            if code.is_none() && value.is_none() {
                opinion.count("D001");
            }
            if code.is_none() && miscombined {
                opinion.count("R003");
            }
            let held = value.get_or_insert_with(|| Held { of: BTreeSet::new(), order: String::new(), spoiled: true });
            held.spoiled |= code.is_some() || miscombined;
            if transfer.to < file.machine.ranks() {
                arrivals.push((transfer.to, chunk, transfer.reduce, held.clone()));
            }
        }
    }
    let mut after = before.clone();
    for rank in 0..file.machine.ranks() {
        for chunk in 0..file.task.chunks.len() {
            let these: Vec<_> = arrivals.iter().filter(|(to, number, ..)| (*to, *number) == (rank, chunk)).collect();
            let arrivals: Vec<_> = these.iter().map(|(_, _, reduce, held)| (*reduce, held.clone())).collect();
            if !arrivals.is_empty() {
                after[rank][chunk] = arrive(combining, before[rank][chunk].clone(), &arrivals, opinion);
            }
        }
    }
    after
}

/// What a rank holds of a chunk after these arrivals.
fn arrive(combining: Combining, held: Option<Held>, arrivals: &[(bool, Held)], opinion: &mut Opinion) -> Option<Held> {
    let collide = arrivals.len() > 1 && arrivals.iter().any(|(reduce, _)| !reduce);
    if collide {
        opinion.count("D003");
    }
    if combining == Combining::Never {
        // There is only one value: one good copy is enough.
        let all = held.into_iter().chain(arrivals.iter().map(|(_, value)| value.clone()));
        return all.min_by_key(|value| value.spoiled);
    }
    if collide {
        return Some(Held { spoiled: true, ..arrivals[0].1.clone() });
    }
    let mut now = held;
    for (reduce, value) in arrivals {
        now = match now.filter(|_| *reduce) {
            None => Some(value.clone()),
            // To join what is there already changes nothing.
            Some(old) if combining == Combining::Joins && value.of.is_subset(&old.of) => {
                Some(Held { spoiled: old.spoiled || value.spoiled, ..old })
            }
            Some(old) => {
                let mut spoiled = old.spoiled || value.spoiled;
                if combining == Combining::Adds && !spoiled && !old.of.is_disjoint(&value.of) {
                    opinion.count("R001");
                    spoiled = true;
                }
                let mut sides = [&old.order[..], &value.order[..]];
                sides.sort();
                let order = format!("({})", sides.join("+"));
                Some(Held { of: &old.of | &value.of, order, spoiled })
            }
        };
    }
    now
}
