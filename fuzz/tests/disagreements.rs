//! The two judges on many generated files.

use std::collections::BTreeMap;

use collsynth_fuzz::compare::{Disagreement, Seen, compare_certificate, compare_program, compare_schedule};
use collsynth_fuzz::dice::Dice;

type Compare = fn(&mut Dice) -> Result<Seen, Box<Disagreement>>;

#[test]
#[ignore = "while developing"]
fn dev() {
    let n: u64 = std::env::var("N").map_or(1000, |n| n.parse().unwrap());
    let first: u64 = std::env::var("SEED").map_or(0, |n| n.parse().unwrap());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut bad = 0;
    let compare: Compare = match std::env::var("SORT").as_deref() { Ok("p") => compare_program, Ok("c") => compare_certificate, _ => compare_schedule };
    for seed in first..first + n {
        match compare(&mut Dice::from_seed(seed)) {
            Ok(seen) => {
                *counts.entry(seen.verdict).or_default() += 1;
                for code in seen.codes.into_keys() { *counts.entry(code).or_default() += 1; }
            }
            Err(d) => {
                bad += 1;
                if bad <= 12 { println!("seed {seed}: {d}\n"); }
            }
        }
    }
    println!("{bad} bad; {counts:?}");
}
