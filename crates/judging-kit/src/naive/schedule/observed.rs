//! What is reported of schedules that hold: warnings, chunks held at a time, orders of addition.

use std::collections::BTreeSet;

use super::outcome::State;
use crate::naive::opinion::Opinion;
use crate::naive::problem::task::Combining;
use crate::naive::stated::file::File;
use crate::naive::stated::steps::Transfer;

/// Kinds whose chunks are needed by one rank each.
const ONE_NEEDS: [&str; 6] = ["all_to_all", "all_to_allv", "reduce_scatter", "reduce", "scatter", "gather"];

/// Counts the warnings.
pub fn warn(file: &File, states: &[State], opinion: &mut Opinion) {
    let one = ONE_NEEDS.contains(&&file.task.kind[..]);
    for (at, step) in file.steps.iter().enumerate() {
        if step.transfers.is_empty() {
            opinion.count("W004");
        }
        // What each rank holds while the arrivals of the step are applied one after the other.
        let mut now = states[at].clone();
        for transfer in &step.transfers {
            if transfer.chunks.is_empty() {
                opinion.count("W001");
            }
            for &chunk in &transfer.chunks {
                let value = states[at][transfer.from][chunk].as_ref().expect("the schedule holds");
                let place = &mut now[transfer.to][chunk];
                let warned = opinion.counts.get("W001").copied();
                match place {
                    Some(held) if transfer.reduce => {
                        if file.task.combining == Combining::Joins && value.of.is_subset(&held.of) {
                            opinion.count("W001");
                        }
                        held.of.extend(&value.of);
                    }
                    _ => {
                        if place.as_ref() == Some(value) {
                            opinion.count("W001");
                        }
                        *place = Some(value.clone());
                    }
                }
                if opinion.counts.get("W001").copied() != warned {
                    continue;
                }
                let sends = |later: &Transfer| later.from == transfer.to && later.chunks.contains(&chunk);
                if one
                    && file.task.chunks[chunk].after.first() != Some(&transfer.to)
                    && !file.steps[at + 1..].iter().any(|step| step.transfers.iter().any(sends))
                {
                    opinion.count("W002");
                }
            }
        }
    }
    if file.task.combining == Combining::Adds {
        let end = states.last().expect("there is a beginning");
        for (number, chunk) in file.task.chunks.iter().enumerate() {
            let held = chunk.after.iter().filter_map(|&rank| end[rank][number].as_ref());
            if held.map(|held| &held.order).collect::<BTreeSet<_>>().len() > 1 {
                opinion.count("W003");
            }
        }
    }
}

/// Notes the figures.
pub fn figures(file: &File, states: &[State], opinion: &mut Opinion) {
    opinion.figures.insert("steps", file.steps.len().to_string());
    let width: u64 = file.steps.iter().map(|step| step.width).sum();
    opinion.figures.insert("width", width.to_string());
    opinion.figures.insert("held", peak(file));
    if file.task.combining == Combining::Adds && file.task.moves_data() {
        sums(file, states.last().expect("there is a beginning"), opinion);
    } else {
        // Nothing is said of sums.
        opinion.figures.insert("sums", ["null"; 4].join(" "));
    }
}

/// A value at a rank: the steps in which it is held, from 1; 0: the rank begins with it.
struct Stay {
    from: usize,
    to: Option<usize>,
}

/// "chunks rank step" where most values are held; the step is `null` if the rank begins with them.
fn peak(file: &File) -> String {
    let mut best: Option<(usize, usize, usize)> = None;
    for rank in file.machine.live_ranks() {
        let stays: Vec<_> = (0..file.task.chunks.len()).flat_map(|chunk| stays(file, rank, chunk)).collect();
        for step in 0..=file.steps.len() {
            let held = |stay: &&Stay| stay.from <= step && stay.to.is_some_and(|to| step <= to);
            let count = stays.iter().filter(held).count();
            if best.is_none_or(|(most, ..)| count > most) {
                best = Some((count, rank, step));
            }
        }
    }
    let (count, rank, step) = best.expect("there is a live rank");
    let step = if step == 0 { "null".into() } else { step.to_string() };
    format!("{count} {rank} {step}")
}

/// All values of a chunk that a rank holds at some time.
fn stays(file: &File, rank: usize, number: usize) -> Vec<Stay> {
    let chunk = &file.task.chunks[number];
    let mut all = Vec::new();
    let mut now = chunk.before.contains(&rank).then_some(Stay { from: 0, to: None });
    for (at, step) in (1..).zip(&file.steps) {
        let carries = |transfer: &&Transfer| transfer.chunks.contains(&number);
        if step.transfers.iter().filter(carries).any(|transfer| transfer.from == rank) {
            now.as_mut().expect("the schedule holds").to = Some(at);
        }
        let arrivals: Vec<_> = step.transfers.iter().filter(carries).filter(|transfer| transfer.to == rank).collect();
        match (&arrivals[..], now.take()) {
            ([], resident) => now = resident,
            ([one], resident) if !one.reduce || resident.is_none() => {
                all.extend(resident);
                now = Some(Stay { from: at, to: Some(at) });
            }
            (many, resident) => {
                all.extend(resident.map(|stay| Stay { to: Some(at), ..stay }));
                all.extend(many.iter().map(|_| Stay { from: at, to: Some(at) }));
                now = Some(Stay { from: at + 1, to: None });
            }
        }
    }
    if chunk.after.contains(&rank) {
        now.as_mut().expect("the schedule holds").to = Some(file.steps.len());
    }
    all.extend(now);
    all
}

fn sums(file: &File, end: &State, opinion: &mut Opinion) {
    let (mut chunks, mut alike, mut orders, mut first) = (0, 0, BTreeSet::new(), None);
    for (number, chunk) in file.task.chunks.iter().enumerate() {
        let held = chunk.after.iter().map(|&rank| &end[rank][number].as_ref().expect("the schedule holds").order);
        let here: BTreeSet<_> = held.clone().collect();
        chunks += usize::from(!here.is_empty());
        alike += usize::from(here.len() == 1);
        first = first.or(held.clone().next());
        orders.extend(here);
    }
    let nesting = |order: &str| {
        let ends = order.chars().scan(0usize, |open, letter| {
            *open += usize::from(letter == '(');
            *open -= usize::from(letter == ')');
            Some(*open)
        });
        ends.max().unwrap_or(0)
    };
    let depth = orders.iter().map(|order| nesting(order)).max().unwrap_or(0);
    opinion.figures.insert("sums", format!("{chunks} {alike} {} {depth}", orders.len()));
    opinion.figures.extend(first.map(|order| ("first", order.clone())));
}

/// A sum as people write it, `0+1+(2+3)`, in the form of [`Held::order`](super::outcome::Held::order).
pub fn normal(sum: &str) -> String {
    let mut terms: Vec<String> = Vec::new();
    let (mut open, mut start) = (0, 0);
    for (at, letter) in sum.char_indices().chain([(sum.len(), '+')]) {
        match letter {
            '(' => open += 1,
            ')' => open -= 1,
            '+' if open == 0 => {
                let term = &sum[start..at];
                let inner = term.strip_prefix('(').and_then(|term| term.strip_suffix(')'));
                terms.push(inner.map_or(term.to_string(), normal));
                start = at + 1;
            }
            _ => {}
        }
    }
    let join = |left: String, right: String| {
        let mut sides = [left, right];
        sides.sort();
        format!("({})", sides.join("+"))
    };
    terms.into_iter().reduce(join).expect("a sum has a term")
}
