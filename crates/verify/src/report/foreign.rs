//! What a file is that is no schedule and no rank program, and which command takes it.
//!
//! Recognized by its first characters and the keys of its outermost object, after reading it as one of the project's
//! own has failed. Nothing is decided here: the file stays unreadable, only the words change.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

/// Declarations and comments skipped before the first element, of each sort.
const MOST_BEFORE: usize = 8;

/// A sentence about a file of another kind; `None` if it could be meant as a schedule or a program, or is unknown.
pub fn foreign(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    match text.chars().next() {
        None => Some("the file is empty"),
        Some('<') => Some(xml(text)),
        Some('{') => object(text),
        Some('[') => list(text),
        Some(_) if text.starts_with("num_ranks ") => {
            Some("this is GOAL, which is written for LogGOPSim and not read back")
        }
        Some(_) if is_moves(text) => Some(
            "this is a table of moves: `synth convert --from csv --torus EXTENTS --collective NAME FILE` judges it",
        ),
        Some(_) if text.lines().nth(1).is_some_and(|line| line.contains(" live), ") && line.ends_with(" live)")) => {
            Some("this is a table for people that `synth topology` printed: `-o FILE.json` writes the machine")
        }
        Some(_) => None,
    }
}

/// Does it begin with the names of the columns of moves?
fn is_moves(text: &str) -> bool {
    let heading = text.lines().next().unwrap_or_default();
    let has = |name: &str| heading.split(',').any(|cell| cell.trim().trim_matches('"').eq_ignore_ascii_case(name));
    has("step") && (has("from") || has("src")) && (has("to") || has("dst"))
}

/// Collectives, or rows of numbers.
fn list(text: &str) -> Option<&'static str> {
    let of_objects = serde_json::from_str::<Vec<BTreeMap<String, IgnoredAny>>>(text);
    if of_objects.is_ok_and(|all| !all.is_empty() && all.iter().all(|one| one.contains_key("collective"))) {
        return Some("these are the collectives of a job: `synth --torus EXTENTS --job FILE` plans them together");
    }
    serde_json::from_str::<Vec<IgnoredAny>>(text).is_ok().then_some(LIST)
}

/// By the first element.
fn xml(text: &str) -> &'static str {
    let mut rest = text;
    for (opening, closing) in [("<?", "?>"), ("<!--", "-->"), ("<!", ">")].repeat(MOST_BEFORE) {
        if let Some((_, after)) = rest.strip_prefix(opening).and_then(|inside| inside.split_once(closing)) {
            rest = after.trim_start();
        }
    }
    match rest.trim_start_matches('<').split(|letter: char| !letter.is_alphanumeric()).next() {
        Some("algo") => "this is MSCCL XML: `synth convert --from msccl FILE` judges it",
        Some("Algo") => {
            "these are trees of ForestColl: `synth convert --from forestcoll --topology MACHINE FILE` judges them"
        }
        _ => "this is XML, but neither MSCCL's (`<algo>`) nor ForestColl's (`<Algo>`)",
    }
}

/// By the keys; an object that states its own `format` speaks for itself.
fn object(text: &str) -> Option<&'static str> {
    let keys: BTreeMap<String, IgnoredAny> = serde_json::from_str(text).ok()?;
    let has = |key: &str| keys.contains_key(key);
    if has("format") || has("steps") {
        return match has("msccl_type") {
            true => Some(SCCL),
            false => None,
        };
    }
    let is_flows = |key: &String| key.ends_with("-Flows") && key.starts_with(|letter: char| letter.is_ascii_digit());
    match () {
        () if has("msccl_type") => Some(SCCL),
        () if keys.keys().any(is_flows) => Some(
            "this is TE-CCL JSON: `synth convert --from teccl --topology MACHINE --collective NAME FILE` judges it",
        ),
        () if has("torus") || has("links") => Some(
            "this is a machine, not a schedule: `synth topology --topology FILE` shows it, `synth --topology FILE` plans for it",
        ),
        () if has("traceEvents") => Some("this is a trace for Perfetto, which is not read back"),
        () => None,
    }
}

const LIST: &str =
    "this is a JSON list, such as a demand matrix: `synth --collective all_to_allv --demand FILE` plans for it";
const SCCL: &str = "this is SCCL JSON: `synth convert --from sccl FILE` judges it";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart() {
        let said = |text: &str, word: &str| {
            let found = foreign(text).unwrap_or_default();
            assert!(found.contains(word), "{text}: {found}");
        };
        said("<algo name=\"a\">", "--from msccl");
        said("\u{feff}<?xml version=\"1.0\"?>\n<!-- <Algo> was here -->\n<algo>", "--from msccl");
        said("<Algo nchunkspernode=\"1\">", "--from forestcoll");
        said("<svg/>", "neither");
        said("<", "neither");
        said("{\"msccl_type\": \"algorithm\", \"steps\": []}", "--from sccl");
        said("{\"7-Flows\": []}", "--from teccl");
        said("{\"torus\": [4]}", "synth topology");
        said("{\"ranks\": 2, \"links\": []}", "synth topology");
        said("{\"traceEvents\": []}", "Perfetto");
        said("[[0, 1], [1, 0]]", "--demand");
        said("[{\"collective\": \"all_gather\", \"groups\": \"x\"}]", "--job");
        said("[{\"a\": 1}]", "--demand");
        said("step,src,dst,chunk\n", "--from csv");
        said("num_ranks 3\n", "GOAL");
        said("step,from,to,via\n", "--from csv");
        said("From, To, step, chunk\r\n", "--from csv");
        said(" \n", "empty");
        // What may be meant as ours keeps its own error.
        for ours in ["{", "[", "{}", "{\"format\": \"collective-schedule/2\", \"torus\": [3]}", "{\"steps\": []}", "x"]
        {
            assert_eq!(foreign(ours), None, "{ours}");
        }
    }
}
