//! Reads TE-CCL JSON: flows in prose.
//!
//! Keys begin with a number that differs between versions and is ignored. `Flows` is read: strings like
//! `Chunk 0 from 6 traveled over 6->1 in epoch 0`, optionally with `with volume 1.0` before the epoch. What arrives in
//! an epoch can be sent on in the next, so an epoch is a step. Volumes other than 1 and `via switches` are not read.
//! The other keys that TE-CCL writes repeat this or give durations; unknown keys are errors.
//!
//! The file does not name the machine and the collective. In an all-gather, chunk `c` from `s` is part `c` of the shard
//! of `s`; in an all-to-all with `P` parts it is part `c mod P` of the message from `s` to `c div P`.

use std::collections::BTreeMap;

use serde_json::Value;

use collsynth_core::certificate::Bounds;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Origin, Schedule, Solution};
use collsynth_core::topology::RankId;
use collsynth_verify::json::{FormatCode, ParseError, PathItem, locate};

const KNOWN: [&str; 9] = [
    "Epoch_Duration",
    "Expected_Epoch_Duration",
    "Epochs_Required",
    "Collective_Finish_Time",
    "Algo_Bandwidth",
    "Demand_Met",
    "Chunk paths",
    "Solver_Time",
    "Flows",
];

#[derive(Debug, PartialEq)]
struct Flow {
    chunk: u32,
    origin: u32,
    from: u32,
    to: u32,
    epoch: usize,
}

/// Reads a schedule for a problem.
///
/// # Errors
///
/// The first place where the text is malformed, unknown, or does not fit the problem.
pub fn parse(text: &str, problem: Problem) -> Result<Solution, ParseError> {
    let file: serde_json::Map<String, Value> = serde_json::from_str(text).map_err(ParseError::from)?;
    let wrong = |path: &[PathItem<'_>], message: String| {
        ParseError::new(FormatCode::F003, locate(text, path).unwrap_or((1, 1)), &message)
    };
    let mut flows = None;
    for (key, value) in &file {
        let bare = key.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches('-');
        if !KNOWN.contains(&bare) {
            return Err(ParseError {
                code: FormatCode::F002,
                ..wrong(&[PathItem::Key(key)], format!("unknown key `{key}`"))
            });
        }
        if bare == "Flows" {
            flows = Some((key, value));
        }
    }
    let Some((key, Value::Array(list))) = flows else {
        return Err(ParseError { code: FormatCode::F002, ..wrong(&[], "there is no list `Flows`".to_owned()) });
    };
    let mut epochs: Vec<BTreeMap<(u32, u32), Vec<ChunkId>>> = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        let path = [PathItem::Key(key), PathItem::Index(index)];
        let words = entry.as_str().unwrap_or_default();
        let flow = flow(words).map_err(|message| wrong(&path, message))?;
        let chunk = chunk(&problem, &flow).map_err(|message| wrong(&path, message))?;
        if flow.epoch >= epochs.len() {
            epochs.resize(flow.epoch + 1, BTreeMap::new());
        }
        epochs[flow.epoch].entry((flow.from, flow.to)).or_default().push(chunk);
    }
    let mut builder = Schedule::builder();
    for links in epochs {
        let width = |(&(from, to), chunks): (&(u32, u32), &Vec<ChunkId>)| {
            let topology = problem.topology();
            let ends = [from, to].map(RankId);
            let known = ends.iter().all(|rank| rank.index() < topology.rank_count());
            let link = known.then(|| topology.links_between(ends[0], ends[1]).next()).flatten();
            (chunks.len() as u32).div_ceil(link.map_or(1, |link| topology.link(link).capacity))
        };
        builder.step(links.iter().map(width).max().unwrap_or(1));
        for ((from, to), chunks) in links {
            builder.transfer(RankId(from), RankId(to), None, Op::Copy, chunks);
        }
    }
    let origin = Some(Origin { tool: Some("TE-CCL".to_owned()), ..Origin::default() });
    Ok(Solution { problem, schedule: builder.finish(), bounds: Bounds::default(), origin })
}

/// `Chunk c from s traveled over i->j [with volume v] in epoch k`.
fn flow(text: &str) -> Result<Flow, String> {
    const SHAPE: &str = "a flow reads \"Chunk c from s traveled over i->j in epoch k\"";
    /// Keeps a mistyped epoch from taking memory without end.
    const LAST: usize = 1 << 16;
    let words: Vec<&str> = text.split_whitespace().collect();
    let (head, tail) = words.split_at_checked(7).ok_or(SHAPE)?;
    let &["Chunk", chunk, "from", origin, "traveled", "over", link] = head else { return Err(SHAPE.to_owned()) };
    let (from, to) = link.split_once("->").ok_or(SHAPE)?;
    let epoch = match *tail {
        ["in", "epoch", epoch] => epoch,
        ["with", "volume", volume, "in", "epoch", epoch] => {
            if volume.parse::<f64>() != Ok(1.0) {
                return Err(format!("a volume of {volume}: flows must carry whole chunks"));
            }
            epoch
        }
        _ if tail.contains(&"via") => {
            return Err("flows via switches are not read: topologies here have only ranks and links".to_owned());
        }
        _ => return Err(SHAPE.to_owned()),
    };
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("\"{text}\" is not a number; {SHAPE}"));
    let epoch = epoch
        .parse()
        .ok()
        .filter(|&epoch| epoch < LAST)
        .ok_or_else(|| format!("epoch {epoch}: less than {LAST} are read; {SHAPE}"))?;
    Ok(Flow { chunk: number(chunk)?, origin: number(origin)?, from: number(from)?, to: number(to)?, epoch })
}

fn chunk(problem: &Problem, flow: &Flow) -> Result<ChunkId, String> {
    let (parts, ranks) = (problem.parts(), problem.topology().rank_count() as u32);
    let limit = match problem.collective().kind.name() {
        "all_gather" => parts,
        "all_to_all" => parts * ranks,
        other => return Err(format!("TE-CCL has no {other}: all_gather or all_to_all")),
    };
    if flow.origin >= ranks || flow.chunk >= limit {
        return Err(format!("chunk {} from {} is not one of this collective", flow.chunk, flow.origin));
    }
    Ok(ChunkId(flow.origin * limit + flow.chunk))
}

#[cfg(test)]
mod tests {
    use super::{Flow, flow};

    #[test]
    fn flows_are_read() {
        let expected = Flow { chunk: 2, origin: 1, from: 3, to: 4, epoch: 5 };
        assert_eq!(flow("Chunk 2 from 1 traveled over 3->4 in epoch 5"), Ok(expected));
        assert!(flow("Chunk 2 from 1 traveled over 3->4 with volume 1.0 in epoch 5").is_ok());
        for (text, words) in [
            ("Chunk 2 from 1 traveled over 3->4 with volume 0.5 in epoch 5", "volume of 0.5"),
            ("Chunk 2 from 1 traveled over 3->4 in epoch 5 via switches 4->6", "switches"),
            ("Chunk 2 from 1 traveled over 3-4 in epoch 5", "a flow reads"),
            ("Chunk 2 from x traveled over 3->4 in epoch 5", "\"x\" is not a number"),
            ("", "a flow reads"),
        ] {
            assert!(flow(text).unwrap_err().contains(words), "{text}");
        }
    }
}
