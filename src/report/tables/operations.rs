//! A rank program, worker by worker.

use collsynth_core::program::{Channel, Operation, Program, Slot};
use collsynth_core::topology::RankId;
use collsynth_verify::report::figures::count;
use collsynth_verify::report::table::Table;

/// The most operations listed of a worker, unless all are asked for.
const OPERATIONS_LISTED: usize = 24;

/// The part of a program to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    /// Only this rank.
    pub rank: Option<RankId>,
    /// Only operations on channels from one rank to another.
    pub link: Option<(RankId, RankId)>,
    /// Every operation of every worker.
    pub all: bool,
}

/// The text of each rank that has selected operations, in order.
pub fn texts(program: &Program, selection: Selection) -> impl Iterator<Item = String> + '_ {
    let ranks = (0..program.rank_count() as u32).map(RankId);
    let selected = move |rank: &RankId| selection.rank.is_none_or(|wanted| wanted == *rank);
    ranks.filter(selected).filter_map(move |rank| of_rank(program, rank, selection))
}

fn of_rank(program: &Program, rank: RankId, selection: Selection) -> Option<String> {
    let mut text = String::new();
    for (number, worker) in program.workers(rank).enumerate() {
        let operations = program.operations()[program.range(worker)].iter().enumerate();
        let selected: Vec<_> = operations.filter(|(_, operation)| is_on(program, operation, selection.link)).collect();
        if selected.is_empty() {
            continue;
        }
        let most = if selection.all { usize::MAX } else { OPERATIONS_LISTED };
        text.push_str(&format!("  worker {number}: {}\n", count(selected.len(), "operation")));
        let mut table = Table::new(&[]).indented(4);
        for &(at, operation) in selected.iter().take(most) {
            let (name, what) = words(program, operation);
            table.row([at.to_string(), name.to_owned(), what]);
        }
        text.push_str(&table.to_string());
        if selected.len() > most {
            text.push_str(&format!("    and {} more (--all lists them)\n", selected.len() - most));
        }
    }
    let scratch = program.scratch[rank.index()];
    let head = format!(
        "rank {}, {} of scratch\n",
        program.problem.topology().rank_label(rank),
        count(scratch as usize, "slot")
    );
    (!text.is_empty()).then_some(head + &text)
}

/// Does the operation use a channel of the selected link?
fn is_on(program: &Program, operation: &Operation, link: Option<(RankId, RankId)>) -> bool {
    let Some((from, to)) = link else { return true };
    let on = |channel: u32| {
        program.channels.get(channel as usize).is_some_and(|channel| (channel.from, channel.to) == (from, to))
    };
    match *operation {
        Operation::Send { channel, .. } => on(channel),
        Operation::Receive { channel, forward, .. } => on(channel) || forward.is_some_and(on),
        Operation::Copy { .. } | Operation::Reduce { .. } | Operation::Wait { .. } => false,
    }
}

/// The name of an operation, and what it works on.
fn words(program: &Program, operation: &Operation) -> (&'static str, String) {
    let topology = program.problem.topology();
    let channel = |number: u32, end: fn(&Channel) -> RankId| match program.channels.get(number as usize) {
        Some(channel) => format!("{} (channel {number})", topology.rank_label(end(channel))),
        None => format!("channel {number}, which is not there"),
    };
    match *operation {
        Operation::Send { channel: number, count: 0, .. } => {
            ("send", format!("a token to {}", channel(number, |c| c.to)))
        }
        Operation::Send { channel: number, src, count } => {
            ("send", format!("{} to {}", slots(src, count), channel(number, |c| c.to)))
        }
        Operation::Receive { channel: number, add, dst, forward, count } => {
            let from = channel(number, |c| c.from);
            let mut what = match (dst, count) {
                (_, 0) => format!("a token from {from}"),
                (Some(dst), _) => format!("{} from {from}", slots(dst, count)),
                (None, _) => format!("{count} from {from}, not kept"),
            };
            if let Some(add) = add {
                what += &format!(", adding {}", slots(add, count));
            }
            if let Some(forward) = forward {
                what += &format!(", forwarded to {}", channel(forward, |c| c.to));
            }
            ("receive", what)
        }
        Operation::Copy { src, dst, count } => ("copy", format!("{} to {}", slots(src, count), slots(dst, count))),
        Operation::Reduce { src, dst, count } => {
            ("reduce", format!("{} into {}", slots(src, count), slots(dst, count)))
        }
        Operation::Wait { worker, operation } => ("wait", format!("for operation {operation} of worker {worker}")),
    }
}

/// `input 3`, `output 4..=7`
fn slots(first: Slot, count: u32) -> String {
    match count {
        0 | 1 => first.to_string(),
        _ => format!("{first}..={}", u64::from(first.offset) + u64::from(count) - 1),
    }
}
