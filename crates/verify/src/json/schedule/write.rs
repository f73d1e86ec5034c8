//! Writing files: equal solutions give equal bytes.
//!
//! One transfer per line; defaults are left out. The transfers of a step are sorted by sender, receiver and direction,
//! and their chunks ascending. One exception: if two transfers of a step reduce into the same rank, their order is the
//! order of the additions, so that step keeps its order.

use std::fmt::{self, Write};
use std::io;

use super::brief::{Compact, Listing};
use super::trees::Tree;
use crate::json::FORMAT;
use collsynth_core::certificate::{Bounds, Evidence, JointBound, Rational, StepsBound, VolumeBound, Window};
use collsynth_core::collective::{ChunkId, Collective};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{
    Choice, Op, Origin, Repeated, Schedule, Solution, Stated, Step, Timetable, Transfer, View,
};
use collsynth_core::topology::{FailedLink, GraphLink, RankId, Shape, TopologySpec};

/// Before a transfer that is stated.
const INDENT: &str = "      ";
/// Letters of an expanded schedule that are written at once.
const WRITTEN_AT_ONCE: usize = 1 << 16;
/// From this number of ranks on, a mirrored schedule is written by its first half, one along trees by these, and the op
/// of a step that only reduces once.
const BRIEF_FROM: usize = 512;

/// The text of a schedule file. O(moves log moves stated).
pub fn solution_to_string<S: Stated>(solution: &Solution<S>) -> String {
    match solution.problem.machine().rank_count() >= BRIEF_FROM {
        true => to_brief_string(solution),
        false => to_string(solution, &Listing::whole(solution.schedule.view())),
    }
}

/// The same of any number of ranks, with a way back, trees, and ops of steps where these are shorter.
pub(in crate::json) fn to_brief_string<S: Stated>(solution: &Solution<S>) -> String {
    let listing = match solution.schedule.view() {
        View::Explicit(schedule) => Listing::brief(&solution.problem, schedule),
        View::Compact(schedule) => Listing::brief_compact(&solution.problem, schedule),
    };
    to_string(solution, &listing)
}

/// Writes the file of the schedule with every move stated in its transfer.
///
/// O(chunk moves) time. What is in the compact form is written a transfer at a time, with memory for the transfers of a
/// step, without the chunks that the pattern puts there.
///
/// # Errors
///
/// Those of `out`.
pub fn write_expanded<S: Stated>(out: &mut dyn io::Write, solution: &Solution<S>) -> io::Result<()> {
    let schedule = match solution.schedule.view() {
        view @ View::Explicit(_) => return out.write_all(to_string(solution, &Listing::whole(view)).as_bytes()),
        View::Compact(schedule) => schedule,
    };
    let mut text = String::new();
    let cannot_fail = "writing to a string cannot fail";
    write_problem(&mut text, &solution.problem).expect(cannot_fail);
    text.push_str(",\n  \"steps\": [");
    let mut next = separator("\n    ", ",\n    ");
    for step in schedule.numbers() {
        text.push_str(next());
        begin_step(&mut text, schedule.width(step), Op::Copy).expect(cannot_fail);
        text.push_str("\"transfers\": [");
        let mut between = separator("\n", ",\n");
        let slots = schedule.slots(step, &Choice::default());
        for slot in &slots {
            text.push_str(between());
            text.push_str(INDENT);
            let transfer = Transfer::over(slot.from, slot.to, slot.via, slot.op);
            write_transfer(&mut text, &transfer, Op::Copy, &schedule.chunks_of(slot)).expect(cannot_fail);
            if text.len() > WRITTEN_AT_ONCE {
                out.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        end_transfers(&mut text, slots.is_empty(), INDENT);
        text.push('}');
    }
    end_steps(&mut text, schedule.step_count());
    write_claims(&mut text, solution).expect(cannot_fail);
    out.write_all(text.as_bytes())
}

/// The text of a topology file.
pub fn topology_to_string(spec: &TopologySpec) -> String {
    let mut text = String::new();
    write_topology(&mut text, spec, "").expect("writing to a string cannot fail");
    text.push('\n');
    text
}

fn to_string<S>(solution: &Solution<S>, listing: &Listing<'_>) -> String {
    let mut text = String::with_capacity(1024 + listing.bytes());
    let mut write = || {
        write_problem(&mut text, &solution.problem)?;
        write_listing(&mut text, listing)?;
        write_claims(&mut text, solution)
    };
    write().expect("writing to a string cannot fail");
    text
}

fn write_listing(out: &mut String, listing: &Listing<'_>) -> fmt::Result {
    let mut others = Vec::new();
    if let Some(Compact { pattern, repeated, chunks, without }) = &listing.compact {
        out.push_str(",\n  \"exceptions\": ");
        write_list(out, ",", chunks)?;
        others.push(("pattern", &**pattern));
        if let Some(Repeated { period, chunks, moves }) = repeated.as_deref() {
            out.push_str(",\n  \"period\": ");
            write_list(out, ", ", period)?;
            out.push_str(",\n  \"cell\": ");
            write_list(out, ",", chunks)?;
            others.push(("cell", moves));
        }
        if without.move_count() > 0 {
            others.push(("without", without));
        }
    }
    if let Some(trees) = &listing.trees {
        out.push_str(",\n  \"trees\": ");
        write_lines(out, "  ", trees, write_tree)?;
    }
    if listing.mirrored {
        out.push_str(",\n  \"mirrored\": true");
    }
    out.push_str(",\n  \"steps\": ");
    write_steps(out, listing, &others)
}

fn write_tree(out: &mut String, Tree { chunks, op, parents, steps }: &Tree) -> fmt::Result {
    out.push_str("{\"chunks\": ");
    write_list(out, ",", chunks)?;
    if *op == Op::Reduce {
        out.push_str(", \"op\": \"reduce\"");
    }
    write!(out, ", \"parents\": \"{parents}\", \"steps\": ")?;
    write_list(out, ",", steps)?;
    out.write_char('}')
}

/// Begins the file.
fn write_problem(out: &mut String, problem: &Problem) -> fmt::Result {
    write!(out, "{{\n  \"format\": \"{FORMAT}\",\n  \"topology\": ")?;
    write_topology(out, problem.machine().spec(), "  ")?;
    out.push_str(",\n  ");
    write_what(out, problem.collective())
}

fn write_what(out: &mut String, collective: &Collective) -> fmt::Result {
    out.push_str("\"collective\": ");
    write_collective(out, collective)?;
    write_groups(out, collective)?;
    write_relays(out, collective);
    Ok(())
}

/// A schedule without its machine, as an object.
pub(in crate::json) fn write_schedule(out: &mut String, solution: &Solution) -> fmt::Result {
    out.push_str("{\n  ");
    write_what(out, solution.problem.collective())?;
    write_listing(out, &Listing::whole(solution.schedule.view()))?;
    write_claims(out, solution)
}

/// The bounds and the origin, which end the file.
fn write_claims<S>(out: &mut String, solution: &Solution<S>) -> fmt::Result {
    let Bounds { steps, volume, joint } = &solution.bounds;
    if steps.is_some() || volume.is_some() || !joint.is_empty() {
        out.push_str(",\n  \"bounds\": {");
        let mut next = separator("\n    ", ",\n    ");
        if let Some(StepsBound { at_least, from, to }) = steps {
            write!(out, "{}\"steps\": {{\"at_least\": {at_least}, \"from\": {from}, \"to\": {to}}}", next())?;
        }
        if let Some(bound) = volume {
            write!(out, "{}\"volume\": ", next())?;
            write_volume(out, bound)?;
        }
        if !joint.is_empty() {
            write!(out, "{}\"joint\": ", next())?;
            write_lines(out, "  ", joint, write_joint)?;
        }
        out.push_str("\n  }");
    }
    if let Some(origin) = &solution.origin {
        out.push_str(",\n  \"origin\": ");
        write_origin(out, origin)?;
    }
    out.write_str("\n}\n")
}

/// An object with one key per line, indented by `indent` plus two.
pub(in crate::json) fn write_topology(out: &mut String, spec: &TopologySpec, indent: &str) -> fmt::Result {
    out.push('{');
    let (first, other) = (format!("\n{indent}  "), format!(",\n{indent}  "));
    let mut next = separator(&first, &other);
    match &spec.shape {
        Shape::Torus(torus) => {
            write!(out, "{}\"torus\": ", next())?;
            write_list(out, ", ", &torus.extents)?;
            if !torus.wrap.is_empty() && torus.wrap != torus.default_wrap() {
                write!(out, "{}\"wrap\": ", next())?;
                write_list(out, ", ", &torus.wrap)?;
            }
            if torus.capacity.iter().any(|&capacity| capacity != 1) {
                write!(out, "{}\"capacity\": ", next())?;
                write_list(out, ", ", &torus.capacity)?;
            }
            if torus.is_twisted() {
                write!(out, "{}\"twist\": [", next())?;
                let mut next = separator("", ", ");
                for row in &torus.twist {
                    out.push_str(next());
                    write_list(out, ", ", row)?;
                }
                out.push(']');
            }
        }
        Shape::Graph { ranks, links } => {
            let highest = links.iter().map(|link| link.from.0.max(link.to.0)).max();
            if highest.and_then(|highest| highest.checked_add(1)) != Some(*ranks) {
                write!(out, "{}\"ranks\": {ranks}", next())?;
            }
            write!(out, "{}\"links\": ", next())?;
            write_lines(out, indent, links, |out, &GraphLink { from, to, capacity }| {
                write!(out, "{{\"from\": {from}, \"to\": {to}")?;
                if capacity != 1 {
                    write!(out, ", \"capacity\": {capacity}")?;
                }
                out.write_char('}')
            })?;
        }
    }
    if !spec.failed_links.is_empty() {
        write!(out, "{}\"failed_links\": ", next())?;
        write_lines(out, indent, &spec.failed_links, |out, &FailedLink { from, to, dim, both }| {
            write!(out, "{{\"from\": {from}, \"to\": {to}")?;
            if let Some(dim) = dim {
                write!(out, ", \"dim\": \"{dim}\"")?;
            }
            out.write_str(if both { "}" } else { ", \"both\": false}" })
        })?;
    }
    if !spec.failed_ranks.is_empty() {
        write!(out, "{}\"failed_ranks\": ", next())?;
        write_list(out, ", ", &spec.failed_ranks)?;
    }
    if !spec.names.is_empty() {
        write!(out, "{}\"names\": ", next())?;
        let names: Vec<serde_json::Value> = spec.names.iter().map(|name| name.as_str().into()).collect();
        write_list(out, ", ", &names)?;
    }
    write!(out, "\n{indent}}}")
}

pub(in crate::json) fn write_collective(out: &mut String, collective: &Collective) -> fmt::Result {
    write!(out, "{{\"kind\": \"{}\", \"parts\": {}", collective.kind.name(), collective.parts)?;
    if let Some(root) = collective.kind.stated_root() {
        write!(out, ", \"root\": {root}")?;
    }
    if let Some(demand) = collective.kind.demand() {
        out.push_str(", \"demand\": ");
        let counts: Vec<u32> = demand.counts().collect();
        let rows: Vec<&[u32]> = counts.chunks(demand.ranks() as usize).collect();
        write_lines(out, "", &rows, |out, row| write_list(out, ", ", row))?;
    }
    out.write_char('}')
}

/// The members of the groups, if there are any.
pub(in crate::json) fn write_groups(out: &mut String, collective: &Collective) -> fmt::Result {
    let Some(groups) = collective.kind.groups() else { return Ok(()) };
    out.push_str(",\n  \"groups\": ");
    write_lines(out, "", groups.members(), |out, members| write_list(out, ", ", members))
}

/// The key `relays` of schedules; rank programs have none, as any rank may relay in them.
fn write_relays(out: &mut String, collective: &Collective) {
    if collective.kind.groups().is_some_and(|groups| !groups.may_relay()) {
        out.push_str(",\n  \"relays\": false");
    }
}

/// The steps of a listing, each with those of others under their keys, which have as many.
fn write_steps(out: &mut String, listing: &Listing<'_>, others: &[(&str, &Schedule)]) -> fmt::Result {
    let schedule = &*listing.own;
    let mut others: Vec<_> = others.iter().map(|&(key, other)| (key, other, other.steps())).collect();
    // In the compact form most transfers have one chunk, and spaces would be a sixth of the file.
    let indent = if others.is_empty() { INDENT } else { "" };
    out.push('[');
    let mut next = separator("\n    ", ",\n    ");
    for step in schedule.steps() {
        out.push_str(next());
        let others: Vec<_> =
            others.iter_mut().map(|(key, other, steps)| (*key, *other, steps.next().expect("as many steps"))).collect();
        let op = match listing.op_of_steps {
            true => common_op(others.iter().map(|(_, _, step)| step).chain([&step])),
            false => Op::Copy,
        };
        begin_step(out, step.width, op)?;
        for (key, other, step) in &others {
            write!(out, "\"{key}\": ")?;
            write_transfers(out, other, step, op, "")?;
            out.push_str(",\n");
        }
        out.push_str("\"transfers\": ");
        write_transfers(out, schedule, &step, op, indent)?;
        out.push('}');
    }
    end_steps(out, schedule.step_count());
    Ok(())
}

/// The op of all transfers of a step, if it is one.
fn common_op<'a>(lists: impl Iterator<Item = &'a Step<'a>>) -> Op {
    let mut transfers = lists.flat_map(|step| step.transfers).peekable();
    match transfers.peek().is_some() && transfers.all(|transfer| transfer.op == Op::Reduce) {
        true => Op::Reduce,
        false => Op::Copy,
    }
}

/// Begins a step, with the op of transfers that state none.
fn begin_step(out: &mut String, width: u32, op: Op) -> fmt::Result {
    out.push('{');
    if width != 1 {
        write!(out, "\"width\": {width}, ")?;
    }
    match op {
        Op::Copy => Ok(()),
        Op::Reduce => out.write_str("\"op\": \"reduce\", "),
    }
}

fn end_steps(out: &mut String, steps: usize) {
    out.push_str(if steps == 0 { "]" } else { "\n  ]" });
}

fn end_transfers(out: &mut String, is_empty: bool, indent: &str) {
    if !is_empty {
        out.push('\n');
        out.push_str(&indent[indent.len().min(2)..]);
    }
    out.push(']');
}

/// The transfers of a list of a step, which says the op of those that state none.
fn write_transfers(out: &mut String, schedule: &Schedule, step: &Step<'_>, op: Op, indent: &str) -> fmt::Result {
    let mut chunks = Vec::new();
    out.push('[');
    for (index, transfer) in in_order(step).into_iter().enumerate() {
        chunks.clear();
        chunks.extend_from_slice(schedule.chunks(transfer));
        chunks.sort_unstable();
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(indent);
        write_transfer(out, transfer, op, &chunks)?;
    }
    end_transfers(out, step.transfers.is_empty(), indent);
    Ok(())
}

fn write_transfer(out: &mut String, transfer: &Transfer, op_of_step: Op, chunks: &[ChunkId]) -> fmt::Result {
    write!(out, "{{\"from\": {}, \"to\": {}", transfer.from, transfer.to)?;
    if let Some(via) = transfer.via {
        write!(out, ", \"via\": \"{via}\"")?;
    }
    if transfer.op != op_of_step {
        out.push_str(", \"op\": \"reduce\"");
    }
    out.push_str(", \"chunks\": ");
    write_list(out, ",", chunks)?;
    out.write_char('}')
}

/// The transfers of a step in the order of the file; see the module.
fn in_order<'a>(step: &Step<'a>) -> Vec<&'a Transfer> {
    let mut reduced_into: Vec<RankId> =
        step.transfers.iter().filter(|transfer| transfer.op == Op::Reduce).map(|transfer| transfer.to).collect();
    reduced_into.sort_unstable();
    let order_counts = reduced_into.windows(2).any(|pair| pair[0] == pair[1]);
    let mut transfers: Vec<&Transfer> = step.transfers.iter().collect();
    if !order_counts {
        transfers.sort_by_key(|transfer| (transfer.from, transfer.to, transfer.via));
    }
    transfers
}

fn write_volume(out: &mut String, bound: &VolumeBound) -> fmt::Result {
    out.push_str("{\"at_least\": ");
    write_rational(out, bound.at_least)?;
    match &bound.evidence {
        Evidence::Metric { period, weights } => {
            out.push_str(", \"kind\": \"metric\"");
            if let Some(period) = period {
                out.push_str(", \"period\": ");
                write_list(out, ",", period)?;
            }
            out.push_str(", \"weights\": ");
            let triples: Vec<String> =
                weights.iter().map(|(from, to, weight)| format!("[{from},{to},{weight}]")).collect();
            write_list(out, ", ", &triples)?;
        }
        Evidence::Cut { ranks } => {
            out.push_str(", \"kind\": \"cut\", \"ranks\": ");
            write_list(out, ", ", ranks)?;
        }
        Evidence::MetricOverTime { width, rank, weights } => {
            write!(out, ", \"kind\": \"metric_over_time\", \"width\": {width}")?;
            if let Some(rank) = rank {
                write!(out, ", \"rank\": {rank}")?;
            }
            write_windows(out, weights)?;
        }
        Evidence::Partition { blocks } => {
            out.push_str(", \"kind\": \"partition\", \"blocks\": [");
            let mut next = separator("", ", ");
            for block in blocks {
                out.push_str(next());
                write_list(out, ",", block)?;
            }
            out.push(']');
        }
    }
    out.write_char('}')
}

fn write_joint(out: &mut String, bound: &JointBound) -> fmt::Result {
    write!(out, "{{\"steps\": {}, \"at_least\": ", bound.steps)?;
    write_rational(out, bound.at_least)?;
    if let Some(rank) = bound.rank {
        write!(out, ", \"rank\": {rank}")?;
    }
    write_windows(out, &bound.weights)?;
    out.write_char('}')
}

fn write_windows(out: &mut String, weights: &[Window]) -> fmt::Result {
    out.push_str(", \"weights\": ");
    let window = |w: &Window| format!("[{},{},{},{},{}]", w.from, w.to, w.first, w.last, w.weight);
    let windows: Vec<String> = weights.iter().map(window).collect();
    write_list(out, ", ", &windows)
}

pub(in crate::json) fn write_rational(out: &mut String, number: Rational) -> fmt::Result {
    match u64::try_from(*number.numer()) {
        Ok(integer) if number.is_integer() => write!(out, "{integer}"),
        _ => write!(out, "\"{number}\""),
    }
}

pub(in crate::json) fn write_origin(out: &mut String, origin: &Origin) -> fmt::Result {
    out.push('{');
    let mut next = separator("", ", ");
    for (key, value) in [("tool", &origin.tool), ("planner", &origin.planner), ("command", &origin.command)] {
        if let Some(value) = value {
            write!(out, "{}\"{key}\": {}", next(), serde_json::Value::from(value.as_str()))?;
        }
    }
    if let Some(seed) = origin.seed {
        write!(out, "{}\"seed\": {seed}", next())?;
    }
    out.write_char('}')
}

/// `[a, b, c]` on one line.
pub(in crate::json) fn write_list<T: fmt::Display>(out: &mut String, between: &str, items: &[T]) -> fmt::Result {
    out.push('[');
    let mut next = separator("", between);
    for item in items {
        write!(out, "{}{item}", next())?;
    }
    out.write_char(']')
}

/// An array of objects or arrays, one per line, for a key indented by `indent` plus two.
fn write_lines<T>(
    out: &mut String,
    indent: &str,
    items: &[T],
    write_item: impl Fn(&mut String, &T) -> fmt::Result,
) -> fmt::Result {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        write!(out, "{}\n{indent}    ", if index > 0 { "," } else { "" })?;
        write_item(out, item)?;
    }
    if !items.is_empty() {
        write!(out, "\n{indent}  ")?;
    }
    out.write_char(']')
}

/// What precedes each item of a list: `first`, then always `other`.
pub(in crate::json) fn separator<'a>(first: &'a str, other: &'a str) -> impl FnMut() -> &'a str {
    let mut text = first;
    move || std::mem::replace(&mut text, other)
}
