//! The two judges side by side.
//!
//! Compared is: whether a file can be read, and if not, whether the code is one that applies; whether it holds; how
//! often each code of a violation applies; of what holds also how often each code of a warning applies, and the
//! figures. Where the documents leave the number open (see [`Opinion::open`]), compared is whether a code is given;
//! codes of which they do not say that (see [`Opinion::free`]) are not compared.

use std::collections::BTreeMap;
use std::fmt;

use collsynth_verify::judge::{FileOptions, Form};
use serde_json::Value;

use crate::dice::Dice;
use crate::mutate;
use crate::naive::{self, observed, opinion::Opinion};

/// What the judges agreed on.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The codes of the verdict, and how often each was given.
    pub codes: BTreeMap<String, usize>,
    /// `holds`, `refuted` or `unreadable`.
    pub verdict: String,
}

/// A file on which the judges disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The file.
    pub file: String,
    /// What the judge says.
    pub judge: String,
    /// What the naive judge says.
    pub naive: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, judge, naive } = self;
        write!(formatter, "the judge says: {judge}\nthe naive judge says: {naive}\nof this file:\n{file}")
    }
}

/// Makes a schedule, right or wrong, and asks both judges.
pub fn compare_schedule(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = mutate::schedule(dice);
    let mut opinion = naive::schedule::judge(&file);
    if !dice.chance(4) {
        return agree(&file, &opinion);
    }
    let (text, code) = mutate::broken(dice, &file.to_string());
    opinion.unreadable.insert(code);
    opinion.more = true;
    agree_on(&text, &opinion)
}

/// Makes a rank program, right or wrong, and asks both judges.
pub fn compare_program(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = mutate::program(dice);
    agree(&file, &naive::program::judge(&file))
}

/// Makes a file with claims, proven or not, and asks both judges.
pub fn compare_certificate(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = mutate::certificate(dice);
    agree(&file, &naive::schedule::judge(&file))
}

/// Holds the judge against an opinion of a file.
pub fn agree(file: &Value, opinion: &Opinion) -> Result<Seen, Box<Disagreement>> {
    agree_on(&file.to_string(), opinion)
}

/// The same of a file as it stands.
pub fn agree_on(text: &str, opinion: &Opinion) -> Result<Seen, Box<Disagreement>> {
    let options = FileOptions { form: Form::Json, max_errors: usize::MAX, ..FileOptions::default() };
    let verdict = options.judge_text("file", text).json;
    let seen = seen(&verdict);
    match fits(&seen, &verdict, opinion) {
        true => Ok(seen),
        false => Err(Box::new(Disagreement {
            file: text.to_string(),
            judge: format!("{}: {:?}; figures {}", seen.verdict, seen.codes, figures(&verdict)),
            naive: format!("{opinion:?}"),
        })),
    }
}

fn seen(verdict: &Value) -> Seen {
    let word = verdict["verdict"].as_str().expect("a verdict").to_string();
    let codes = match (verdict["code"].as_str(), verdict["totals"].as_object()) {
        (Some(code), _) => [(code.to_string(), 1)].into(),
        (None, Some(totals)) => {
            let count = |(code, count): (&String, &Value)| (code.clone(), count.as_u64().expect("a count") as usize);
            totals.iter().map(count).collect()
        }
        (None, None) => panic!("a verdict without codes: {verdict}"),
    };
    Seen { codes, verdict: word }
}

fn fits(seen: &Seen, verdict: &Value, opinion: &Opinion) -> bool {
    if !opinion.unreadable.is_empty() || seen.verdict == "unreadable" {
        let hidden = |code: &str| opinion.more && code.starts_with('F') && !["F001", "F004"].contains(&code);
        let applies = |code: &String| opinion.unreadable.contains(&code[..]) || hidden(code);
        return seen.verdict == "unreadable" && !opinion.unreadable.is_empty() && seen.codes.keys().all(applies);
    }
    let holds = opinion.holds();
    let compared = |code: &str| (holds || !code.starts_with('W')) && !opinion.free.contains(code);
    let number = |code: &str, count: usize| if opinion.open.contains(code) { 1 } else { count };
    let naive = opinion.counts.iter().filter(|(code, _)| compared(code)).map(|(code, n)| (*code, number(code, *n)));
    let judge = seen.codes.iter().filter(|(code, _)| compared(code)).map(|(code, n)| (&code[..], number(code, *n)));
    holds == (seen.verdict == "holds") && naive.eq(judge) && (!holds || same_figures(verdict, opinion))
}

fn same_figures(verdict: &Value, opinion: &Opinion) -> bool {
    let judge = figures(verdict);
    opinion.figures.iter().all(|(name, figure)| judge[name].as_str() == Some(figure))
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
