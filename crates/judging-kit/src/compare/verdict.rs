//! Verdicts, codes and figures.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Seen;
use crate::naive::opinion::Opinion;
use crate::naive::program::place::USAGE;
use crate::naive::schedule::observed;

/// What a verdict says.
pub fn seen(verdict: &Value) -> Seen {
    let word = verdict["verdict"].as_str().expect("a verdict").to_string();
    let codes: BTreeMap<String, usize> = match (verdict["code"].as_str(), verdict["totals"].as_object()) {
        (Some(code), _) => [(code.to_string(), 1)].into(),
        (None, Some(totals)) => {
            let count = |(code, count): (&String, &Value)| (code.clone(), count.as_u64().expect("a count") as usize);
            totals.iter().map(count).collect()
        }
        // What is wrong is not in the file.
        (None, None) => [(USAGE.to_string(), 1)].into(),
    };
    Seen { codes, verdict: word, reached: Vec::new() }
}

/// The file would take more memory than its size allows.
pub fn is_limit(verdict: &Value) -> bool {
    verdict["code"].is_null() && verdict["message"].as_str().is_some_and(|why| why.contains("SYNTH_MAX_MEMORY"))
}

/// What the judges differ in.
pub fn differs(seen: &Seen, verdict: &Value, opinion: &Opinion) -> Option<String> {
    if !opinion.unreadable.is_empty() || seen.verdict == "unreadable" {
        let hidden = |code: &str| opinion.more && code.starts_with('F') && !["F001", "F004"].contains(&code);
        let applies = |code: &String| opinion.unreadable.contains(&code[..]) || hidden(code);
        let fits = seen.verdict == "unreadable" && !opinion.unreadable.is_empty() && seen.codes.keys().all(applies);
        return (!fits).then(|| "readable?".into());
    }
    let holds = opinion.holds();
    let compared = |code: &str| (holds || !code.starts_with('W')) && !opinion.free.contains(code);
    let number = |code: &str, count: usize| if opinion.open.contains(code) { 1 } else { count };
    let naive = opinion.counts.iter().filter(|(code, _)| compared(code)).map(|(code, n)| (*code, number(code, *n)));
    let judge = seen.codes.iter().filter(|(code, _)| compared(code)).map(|(code, n)| (&code[..], number(code, *n)));
    let free = opinion.free.iter().any(|code| !code.starts_with('W'));
    if holds != (seen.verdict == "holds") && !(holds && free) || !naive.eq(judge) {
        return Some("verdict or codes".into());
    }
    if !holds || seen.verdict != "holds" {
        return opinion
            .first
            .as_ref()
            .filter(|first| first_step(verdict) != Some(first))
            .map(|_| "the first step".into());
    }
    let judge = figures(verdict);
    let differs = |(name, figure): &(&&str, &String)| judge[**name].as_str() != Some(&figure[..]);
    opinion.figures.iter().find(differs).map(|(name, _)| format!("{name} of {judge}"))
}

/// The step of the first violation that is not of a claim; null: it shows at the end.
fn first_step(verdict: &Value) -> Option<&Value> {
    let is_claim = |violation: &&Value| violation["code"].as_str().is_some_and(|code| code.starts_with('C'));
    verdict["violations"].as_array()?.iter().find(|violation| !is_claim(violation)).map(|violation| &violation["step"])
}

/// What a verdict that lists one finding of each sort says of the same file, and the other does not.
pub fn differs_in_short(verdict: &Value, short: &Value) -> Option<String> {
    let alike = ["/verdict", "/code", "/message", "/totals", "/figures", "/violations/0", "/warnings/0"];
    let differs = |place: &&str| verdict.pointer(place) != short.pointer(place);
    alike.iter().find(|place| differs(place)).map(|place| format!("{place} at another limit: {short}"))
}

/// The figures of a verdict in the form of [`Opinion::figures`].
fn figures(verdict: &Value) -> Value {
    let all = &verdict["figures"];
    let of = |object: &str, keys: &[&str]| {
        keys.iter().map(|&key| all[object][key].to_string()).collect::<Vec<_>>().join(" ")
    };
    serde_json::json!({
        "steps": all["steps"]["value"].to_string(),
        "width": all["total_width"].to_string(),
        "held": of("held", &["chunks", "rank", "step"]),
        "sums": of("sums", &["chunks", "alike", "orders", "depth"]),
        "first": all["sums"]["first"].as_str().map(observed::normal),
    })
}
