//! What verdicts claim, in JSON and in words.

use num_bigint::BigUint;
use serde_json::Value;

use crate::naive::fraction::Fraction;
use crate::naive::opinion::{Claim, Opinion};

/// The keys of what is claimed by bounds.
const CLAIMS: [&str; 12] = [
    "bound",
    "bound_decimal",
    "at_least",
    "at_least_alone",
    "standing",
    "gap",
    "optimal",
    "optimal_for",
    "bound_for",
    "bound_in_steps",
    "gap_in_steps",
    "scope",
];

/// Words that claim that something is as good as can be, or how far it is from that.
const WORDS: [&str; 5] = ["optimal", "optimum", "certified", "above its bound", "alone at least"];

/// What is claimed and should not be, or the other way round.
pub fn differs(verdict: &Value, text: &str, opinion: &Opinion) -> Option<String> {
    if verdict["verdict"] != "holds" {
        let claim = claimed(&verdict["figures"]).map(|key| format!("what is refuted claims `{key}`"));
        return claim
            .or_else(|| WORDS.iter().find(|word| text.contains(*word)).map(|word| format!("refuted `{word}`")));
    }
    if text.contains(" 0.00 %") {
        return Some("nothing is 0.00 %".into());
    }
    let is_program = verdict["figures"].get("workers").is_some();
    // What is said of a program is a claim of its own, and checked as one.
    if is_program {
        return None;
    }
    let wrong = |claim: &&Claim| match claim {
        Claim::Is(pointer, value) => verdict.pointer(pointer).unwrap_or(&Value::Null) != value,
        Claim::Near(pointer, number) => {
            let said = verdict.pointer(pointer).and_then(Value::as_f64);
            said.is_none_or(|said| (said - number).abs() > 1e-9 * number.abs().max(1e-3))
        }
        Claim::Says(before, after, least, most) => said(text, before, after).any(|(number, digit)| {
            number.compare(least).is_lt()
                || number.less_or_zero(&slack(&number, &digit)).compare(most).is_ge() && most.top > BigUint::ZERO
        }),
    };
    opinion.claims.iter().find(wrong).map(|claim| format!("{claim:?}"))
}

/// The key of something that is claimed by a bound.
fn claimed(value: &Value) -> Option<String> {
    match value {
        Value::Object(keys) => keys.iter().find_map(|(key, value)| {
            let is_claim = CLAIMS.contains(&&key[..]) && !value.is_null() && value != &Value::Bool(false);
            if is_claim { Some(key.clone()) } else { claimed(value) }
        }),
        Value::Array(list) => list.iter().find_map(claimed),
        _ => None,
    }
}

/// The numbers between some words, each with the worth of one in its last digit.
fn said(text: &str, before: &str, after: &str) -> impl Iterator<Item = (Fraction, Fraction)> {
    text.match_indices(before).filter_map(move |(at, _)| {
        let rest = &text[at + before.len()..];
        let digits = &rest[..rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?];
        let rest = rest[digits.len()..].strip_prefix(after)?;
        // "the optimum" and "the optimum for whole messages" are different claims.
        let narrower = rest.starts_with(" for") && !after.ends_with(" for");
        let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
        let number: BigUint = digits.replace('.', "").parse().ok().filter(|_| !narrower)?;
        let unit = BigUint::from(10u8).pow(places as u32);
        Some((Fraction::new(number, unit.clone()), Fraction::new(1u8, unit)))
    })
}

/// How far a number may be beyond the truth: its last digit, and of a huge one a share of 10^-9.
fn slack(number: &Fraction, digit: &Fraction) -> Fraction {
    let billion = BigUint::from(1_000_000_000u32);
    Fraction::new(
        &number.top * &digit.bottom + &digit.top * &number.bottom * &billion,
        &number.bottom * &digit.bottom * billion,
    )
}

impl Fraction {
    fn less_or_zero(&self, other: &Self) -> Self {
        if self.compare(other).is_lt() { Self::new(0u8, 1u8) } else { self.less(other) }
    }
}
