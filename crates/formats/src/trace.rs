//! A process is a rank, a track a link out of it, a slice a transfer. Without prices, a step takes a millisecond for
//! each unit of its width, and its transfers last as long; with prices, a step takes the time of the cost model
//! (`alpha + width * chunk bytes / bandwidth`), and each transfer the part of it in which its link is busy. So it does
//! in a job, whose schedules share the links; its slices say which collective they belong to. Arrows follow each chunk
//! from the transfer that brought it to those that carry it on, up to a limit. A counter shows the number of busy
//! links. Event types of the Trace Event Format: `M` (names), `X` (slices), `s` and `f` (arrows), `C` (counters).

use std::collections::HashMap;
use std::fmt::Write;

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Solution, Step};
use collsynth_core::topology::{RankId, Topology};

/// Microseconds of trace time per unit of width, without prices.
const UNIT: f64 = 1000.0;
/// More arrows make viewers slow and pictures black.
const MOST_ARROWS: usize = 50_000;
/// Chunks named in a slice.
const MOST_NAMED: usize = 16;

/// What steps and bytes cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Seconds a step takes to start.
    pub alpha: f64,
    /// Bytes per second over a link of capacity 1.
    pub bandwidth: f64,
    /// Bytes of a message (a shard, a vector); of a job, of the message of the most parts.
    pub message_bytes: u64,
}

/// Microseconds, to the picosecond.
fn time(microseconds: f64) -> f64 {
    (microseconds * 1e6).round() / 1e6
}

/// The text of a trace, by these prices if there are any: of a schedule, or of those of a job. O(chunk moves).
///
/// # Panics
///
/// If there is no schedule, or they are for different machines.
pub fn to_string(solutions: &[Solution], prices: Option<&Prices>) -> String {
    let topology = solutions[0].problem.topology();
    let parts = solutions.iter().map(|solution| solution.problem.parts()).max().unwrap_or(1);
    // Microseconds that a step takes to start, and that a chunk takes over a link of capacity 1.
    let (alpha, unit) = prices.map_or((0.0, UNIT), |prices| {
        let chunk_bytes = prices.message_bytes as f64 / f64::from(parts);
        (prices.alpha * 1e6, chunk_bytes / prices.bandwidth * 1e6)
    });
    let mut trace = Trace { topology, events: named(topology), arrows: 0, brought: HashMap::new() };
    let steps = solutions.iter().map(|solution| solution.schedule.step_count()).max().unwrap_or(0);
    let mut all: Vec<_> = solutions.iter().map(|solution| solution.schedule.steps()).collect();
    let mut start = 0.0;
    for _ in 0..steps {
        let step: Vec<Option<Step<'_>>> = all.iter_mut().map(Iterator::next).collect();
        let length = f64::from(step.iter().flatten().map(|step| step.width).max().unwrap_or(0)) * unit;
        let lasts = if prices.is_none() && solutions.len() == 1 { Lasts::Step(length) } else { Lasts::Chunk(unit) };
        let before = start;
        start += alpha;
        let busy = trace.step(solutions, &step, start, lasts);
        trace.events.push(counter(before, busy));
        start += length;
    }
    trace.events.push(counter(start, 0));
    let mut out = String::from("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    let _ = write!(out, "{}", trace.events.join(",\n"));
    out.push_str("\n]}\n");
    out
}

/// The names of processes and tracks.
fn named(topology: &Topology) -> Vec<String> {
    let mut events = Vec::new();
    for rank in topology.live_ranks() {
        let name = serde_json::Value::from(format!("rank {}", topology.rank_label(rank)));
        events.push(format!(r#"{{"ph":"M","pid":{rank},"name":"process_name","args":{{"name":{name}}}}}"#));
        for id in topology.links_from(rank) {
            let link = topology.link(id);
            let over = link.direction.map(|direction| format!("{direction} ")).unwrap_or_default();
            let name = serde_json::Value::from(format!("{over}to {}", link.to));
            let track = id.index();
            events.push(format!(
                r#"{{"ph":"M","pid":{rank},"tid":{track},"name":"thread_name","args":{{"name":{name}}}}}"#
            ));
        }
    }
    events
}

/// How long a transfer lasts, in microseconds.
#[derive(Clone, Copy)]
enum Lasts {
    /// As long as its step.
    Step(f64),
    /// So long for each of its chunks, on a link of capacity 1.
    Chunk(f64),
}

struct Trace<'a> {
    topology: &'a Topology,
    events: Vec<String>,
    arrows: usize,
    /// Process, track and time of the last arrival of a schedule's chunk at a rank.
    brought: HashMap<(usize, RankId, ChunkId), (RankId, usize, f64)>,
}

impl Trace<'_> {
    /// Adds a step of all schedules, whose transfers begin at `start`; returns the number of links that it uses.
    fn step(&mut self, solutions: &[Solution], steps: &[Option<Step<'_>>], start: f64, lasts: Lasts) -> usize {
        // Until when each link is busy.
        let mut busy: HashMap<usize, f64> = HashMap::new();
        let mut arrived = Vec::new();
        for (number, (solution, step)) in solutions.iter().zip(steps).enumerate() {
            let Some(step) = step else { continue };
            let kind = solution.problem.collective().kind.name();
            let of = if solutions.len() > 1 { format!("{kind}, ") } else { String::new() };
            for transfer in step.transfers {
                let chunks = solution.schedule.chunks(transfer);
                let link = self
                    .topology
                    .links_between(transfer.from, transfer.to)
                    .find(|&id| transfer.via.is_none() || self.topology.link(id).direction == transfer.via);
                let track = link.map_or(0, |id| id.index());
                let capacity = f64::from(link.map_or(1, |id| self.topology.link(id).capacity));
                let (at, lasts) = match lasts {
                    Lasts::Step(length) => (start, length),
                    Lasts::Chunk(unit) => (*busy.get(&track).unwrap_or(&start), chunks.len() as f64 * unit / capacity),
                };
                busy.insert(track, at + lasts);
                let mut named: Vec<String> =
                    chunks.iter().take(MOST_NAMED).map(|&chunk| solution.problem.chunk_label(chunk)).collect();
                if chunks.len() > MOST_NAMED {
                    named.push(format!("and {} more", chunks.len() - MOST_NAMED));
                }
                let labels = serde_json::Value::from(named.join(" "));
                let (from, to, count, ts, lasting) = (transfer.from, transfer.to, chunks.len(), time(at), time(lasts));
                self.events.push(format!(
                    r#"{{"ph":"X","pid":{from},"tid":{track},"ts":{ts},"dur":{lasting},"name":"{of}step {}: {count} to {to}","args":{{"chunks":{labels}}}}}"#,
                    step.number
                ));
                // Within the slice, shortly before its end.
                let sent = time(at + lasts - f64::min(1.0, lasts / 1000.0));
                for &chunk in chunks {
                    self.arrow((number, from, chunk), solution.problem.chunk_label(chunk), track, ts);
                    arrived.push(((number, to, chunk), (from, track, sent)));
                }
            }
        }
        self.brought.extend(arrived);
        busy.len()
    }

    /// Leads from the transfer that brought a chunk to a rank to one that carries it on.
    fn arrow(&mut self, (number, rank, chunk): (usize, RankId, ChunkId), label: String, track: usize, at: f64) {
        let Some(&(pid, tid, sent)) = self.brought.get(&(number, rank, chunk)) else { return };
        if self.arrows == MOST_ARROWS {
            return;
        }
        self.arrows += 1;
        let (id, name) = (self.arrows, serde_json::Value::from(label));
        self.events
            .push(format!(r#"{{"ph":"s","id":{id},"pid":{pid},"tid":{tid},"ts":{sent},"name":{name},"cat":"chunk"}}"#));
        self.events.push(format!(
            r#"{{"ph":"f","bp":"e","id":{id},"pid":{rank},"tid":{track},"ts":{at},"name":{name},"cat":"chunk"}}"#
        ));
    }
}

fn counter(at: f64, busy: usize) -> String {
    let at = time(at);
    format!(r#"{{"ph":"C","pid":0,"ts":{at},"name":"busy links","args":{{"links":{busy}}}}}"#)
}
