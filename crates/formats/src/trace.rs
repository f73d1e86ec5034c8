//! Writes a Chrome trace, for Perfetto (ui.perfetto.dev) and chrome://tracing.
//!
//! A process is a rank, a track a link out of it, a slice a transfer; a step takes as many units of time as its width.
//! Arrows follow each chunk from the transfer that brought it to those that carry it on, up to a limit. A counter shows
//! the number of busy links. Event types of the Trace Event Format: `M` (names), `X` (slices), `s` and `f` (arrows),
//! `C` (counters).

use std::collections::HashMap;
use std::fmt::Write;

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::Solution;
use collsynth_core::topology::RankId;

/// Microseconds of trace time per unit of width.
const UNIT: u64 = 1000;
/// More arrows make viewers slow and pictures black.
const MOST_ARROWS: usize = 50_000;
/// Chunks named in a slice.
const MOST_NAMED: usize = 16;

/// The text of a trace. O(chunk moves).
pub fn to_string(solution: &Solution) -> String {
    let (problem, schedule) = (&solution.problem, &solution.schedule);
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
    let mut start = 0;
    let mut arrows = 0;
    // Process, track and time of each chunk's last arrival at each rank.
    let mut brought: HashMap<(RankId, ChunkId), (RankId, usize, u64)> = HashMap::new();
    for step in schedule.steps() {
        let length = u64::from(step.width) * UNIT;
        events.push(counter(start, step.transfers.len()));
        let mut arrived = Vec::new();
        for transfer in step.transfers {
            let chunks = schedule.chunks(transfer);
            let link = topology
                .links_between(transfer.from, transfer.to)
                .find(|&id| transfer.via.is_none() || topology.link(id).direction == transfer.via);
            let track = link.map_or(0, |id| id.index());
            let mut named: Vec<String> =
                chunks.iter().take(MOST_NAMED).map(|&chunk| problem.chunk_label(chunk)).collect();
            if chunks.len() > MOST_NAMED {
                named.push(format!("and {} more", chunks.len() - MOST_NAMED));
            }
            let labels = serde_json::Value::from(named.join(" "));
            let (from, count) = (transfer.from, chunks.len());
            events.push(format!(
                r#"{{"ph":"X","pid":{from},"tid":{track},"ts":{start},"dur":{length},"name":"step {}: {count} to {}","args":{{"chunks":{labels}}}}}"#,
                step.number, transfer.to
            ));
            for &chunk in chunks {
                if let Some(&(pid, tid, at)) = brought.get(&(from, chunk))
                    && arrows < MOST_ARROWS
                {
                    arrows += 1;
                    let name = serde_json::Value::from(problem.chunk_label(chunk));
                    events.push(format!(
                        r#"{{"ph":"s","id":{arrows},"pid":{pid},"tid":{tid},"ts":{at},"name":{name},"cat":"chunk"}}"#
                    ));
                    events.push(format!(
                        r#"{{"ph":"f","bp":"e","id":{arrows},"pid":{from},"tid":{track},"ts":{start},"name":{name},"cat":"chunk"}}"#
                    ));
                }
                arrived.push(((transfer.to, chunk), (from, track, start + length - 1)));
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

fn counter(at: u64, busy: usize) -> String {
    format!(r#"{{"ph":"C","pid":0,"ts":{at},"name":"busy links","args":{{"links":{busy}}}}}"#)
}
