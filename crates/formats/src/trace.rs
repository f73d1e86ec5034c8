//! Writes a Chrome trace, for Perfetto (ui.perfetto.dev) and chrome://tracing.
//!
//! A process is a rank, a track a link out of it, a slice a transfer. Without prices, a step takes a millisecond for
//! each unit of its width, and its transfers last as long; with prices, a step takes the time of the cost model
//! (`alpha + width * chunk bytes / bandwidth`), and each transfer the part of it in which its link is busy. Arrows
//! follow each chunk from the transfer that brought it to those that carry it on, up to a limit. A counter shows the
//! number of busy links. Event types of the Trace Event Format: `M` (names), `X` (slices), `s` and `f` (arrows),
//! `C` (counters).

use std::collections::HashMap;
use std::fmt::Write;

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::Solution;
use collsynth_core::topology::RankId;

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
    /// Bytes of a message (a shard, a vector).
    pub message_bytes: u64,
}

/// Microseconds, to the picosecond.
fn time(microseconds: f64) -> f64 {
    (microseconds * 1e6).round() / 1e6
}

/// The text of a trace, by these prices if there are any. O(chunk moves).
pub fn to_string(solution: &Solution, prices: Option<&Prices>) -> String {
    let (problem, schedule) = (&solution.problem, &solution.schedule);
    // Microseconds that a step takes to start, and that a chunk takes over a link of capacity 1.
    let (alpha, unit) = prices.map_or((0.0, UNIT), |prices| {
        let chunk_bytes = prices.message_bytes as f64 / f64::from(problem.parts());
        (prices.alpha * 1e6, chunk_bytes / prices.bandwidth * 1e6)
    });
    let topology = problem.topology();
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
    let mut start = 0.0;
    let mut arrows = 0;
    // Process, track and time of each chunk's last arrival at each rank.
    let mut brought: HashMap<(RankId, ChunkId), (RankId, usize, f64)> = HashMap::new();
    for step in schedule.steps() {
        let length = f64::from(step.width) * unit;
        events.push(counter(start, step.transfers.len()));
        start += alpha;
        let mut arrived = Vec::new();
        for transfer in step.transfers {
            let chunks = schedule.chunks(transfer);
            let link = topology
                .links_between(transfer.from, transfer.to)
                .find(|&id| transfer.via.is_none() || topology.link(id).direction == transfer.via);
            let track = link.map_or(0, |id| id.index());
            let capacity = link.map_or(1, |id| topology.link(id).capacity);
            let lasts = match prices {
                Some(_) => chunks.len() as f64 * unit / f64::from(capacity),
                None => length,
            };
            let mut named: Vec<String> =
                chunks.iter().take(MOST_NAMED).map(|&chunk| problem.chunk_label(chunk)).collect();
            if chunks.len() > MOST_NAMED {
                named.push(format!("and {} more", chunks.len() - MOST_NAMED));
            }
            let labels = serde_json::Value::from(named.join(" "));
            let (from, count, at, lasting) = (transfer.from, chunks.len(), time(start), time(lasts));
            events.push(format!(
                r#"{{"ph":"X","pid":{from},"tid":{track},"ts":{at},"dur":{lasting},"name":"step {}: {count} to {}","args":{{"chunks":{labels}}}}}"#,
                step.number, transfer.to
            ));
            for &chunk in chunks {
                if let Some(&(pid, tid, sent)) = brought.get(&(from, chunk))
                    && arrows < MOST_ARROWS
                {
                    arrows += 1;
                    let name = serde_json::Value::from(problem.chunk_label(chunk));
                    events.push(format!(
                        r#"{{"ph":"s","id":{arrows},"pid":{pid},"tid":{tid},"ts":{sent},"name":{name},"cat":"chunk"}}"#
                    ));
                    events.push(format!(
                        r#"{{"ph":"f","bp":"e","id":{arrows},"pid":{from},"tid":{track},"ts":{at},"name":{name},"cat":"chunk"}}"#
                    ));
                }
                // Within the slice, shortly before its end.
                let sent = time(start + lasts - f64::min(1.0, lasts / 1000.0));
                arrived.push(((transfer.to, chunk), (from, track, sent)));
            }
        }
        brought.extend(arrived);
        start += length;
    }
    events.push(counter(start, 0));
    let mut out = String::from("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    let _ = write!(out, "{}", events.join(",\n"));
    out.push_str("\n]}\n");
    out
}

fn counter(at: f64, busy: usize) -> String {
    let at = time(at);
    format!(r#"{{"ph":"C","pid":0,"ts":{at},"name":"busy links","args":{{"links":{busy}}}}}"#)
}
