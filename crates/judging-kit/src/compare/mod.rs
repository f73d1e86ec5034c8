//! The two judges side by side.
//!
//! Compared is: whether a file can be read, and if not, whether the code is one that applies; whether it holds; how
//! often each code of a violation applies; of what holds also how often each code of a warning applies, the figures,
//! and all that is claimed about them, in JSON and in words. What is refuted must claim nothing. Where the documents
//! leave the number open (see [`Opinion::open`]), compared is whether a code is given; codes of which they do not say
//! that (see [`Opinion::free`]) are not compared. Of a schedule, the first violation is in the same step for both; and
//! the judge says the same when it may list but one finding.

#[cfg(feature = "lowered")]
mod lowered;
mod verdict;
mod words;

use std::collections::BTreeMap;
use std::fmt;

use collsynth_core::topology::Topology;
use collsynth_verify::json;
use collsynth_verify::judge::{FileOptions, Form};
use serde_json::Value;

use crate::dice::Dice;
use crate::mutate;
use crate::naive::opinion::Opinion;
use crate::naive::program::place::Placing;
use crate::naive::reader::to_text;
use crate::naive::{self, program};

/// Findings listed; the totals are complete.
const LISTED: usize = 8;

/// What the judges agreed on.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The codes of the verdict, and how often each was given.
    pub codes: BTreeMap<String, usize>,
    /// `holds`, `refuted` or `unreadable`.
    pub verdict: String,
    /// What else was met, for the tally: see [`Opinion::reached`].
    pub reached: Vec<String>,
}

/// A file on which the judges disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The file.
    pub file: String,
    /// What was stated beside it.
    pub placing: Placing,
    /// What the judge says.
    pub judge: String,
    /// What the naive judge says.
    pub naive: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, placing, judge, naive } = self;
        write!(formatter, "the judge says: {judge}\nthe naive judge says: {naive}\nof this file:\n{file}")?;
        match &placing.machine {
            Some(machine) => write!(formatter, "\non {machine}, ranks {:?}", placing.map),
            None => Ok(()),
        }
    }
}

/// Makes a file, right or wrong, and asks both judges.
pub type Compare = fn(&mut Dice) -> Result<Seen, Box<Disagreement>>;

#[cfg(feature = "lowered")]
pub use lowered::{compare_changed, compare_lowered};

/// All sorts of files.
pub const SORTS: &[(&str, Compare)] = &[
    ("schedules", compare_schedule),
    ("programs", compare_program),
    ("certificates", compare_certificate),
    ("jobs", compare_job),
    ("compact forms", compare_compact),
    ("programs on machines", compare_placed),
    #[cfg(feature = "lowered")]
    ("lowered schedules", compare_lowered),
    #[cfg(feature = "lowered")]
    ("lowered schedules, changed", compare_changed),
];

/// Schedules.
pub fn compare_schedule(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = mutate::schedule(dice);
    let mut opinion = naive::judge(&file);
    if !dice.chance(4) {
        return agree(&file, &opinion);
    }
    let (text, code) = mutate::broken(dice, &to_text(&file));
    opinion.unreadable.insert(code);
    opinion.more = true;
    agree_on(&text, &Placing::default(), &opinion)
}

/// Rank programs.
pub fn compare_program(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = mutate::program(dice);
    agree(&file, &naive::judge(&file))
}

/// Rank programs, each with options that say where it runs.
pub fn compare_placed(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = mutate::program(dice);
    let placing = mutate::placing(dice, &file);
    agree_on(&to_text(&file), &placing, &program::judge::judge(&file, &placing))
}

/// Schedules with claims, proven or not.
pub fn compare_certificate(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = mutate::certificate(dice);
    agree(&file, &naive::judge(&file))
}

/// Jobs.
pub fn compare_job(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = mutate::job(dice);
    agree(&file, &naive::judge(&file))
}

/// Schedules in the compact form.
pub fn compare_compact(dice: &mut Dice) -> Result<Seen, Box<Disagreement>> {
    let file = mutate::compact(dice);
    agree(&file, &naive::judge(&file))
}

/// Holds the judge against an opinion of a file.
pub fn agree(file: &Value, opinion: &Opinion) -> Result<Seen, Box<Disagreement>> {
    agree_on(&to_text(file), &Placing::default(), opinion)
}

/// The same of a file as it stands, and options beside it.
pub fn agree_on(text: &str, placing: &Placing, opinion: &Opinion) -> Result<Seen, Box<Disagreement>> {
    let machine = placing.machine.as_ref().map(|topology| {
        let spec = json::parse_topology(&topology.to_string()).expect("a topology");
        Topology::new(spec).expect("a machine")
    });
    let map: Vec<u32> = placing.map.iter().flatten().map(|&rank| rank as u32).collect();
    let options = FileOptions {
        form: Form::Json,
        max_errors: LISTED,
        machine: machine.as_ref(),
        rank_map: &map,
        contention_free: placing.contention_free,
        ..FileOptions::default()
    };
    let verdict = options.judge_text("file", text).json;
    let mut seen = verdict::seen(&verdict);
    if opinion.large || verdict::is_limit(&verdict) {
        seen.reached.push("beyond a judge".into());
        return Ok(seen);
    }
    let words = FileOptions { form: Form::Text, ..options }.judge_text("file", text).text;
    let short = FileOptions { max_errors: 1, ..options }.judge_text("file", text).json;
    let differs = verdict::differs(&seen, &verdict, opinion)
        .or_else(|| verdict::differs_in_short(&verdict, &short))
        .or_else(|| words::differs(&verdict, &words, opinion));
    match differs {
        None => {
            seen.reached.extend(opinion.reached.iter().cloned());
            let near = |power| format!("2^{power} {}", seen.verdict);
            seen.reached.extend(mutate::powers_in(text).into_iter().map(near));
            Ok(seen)
        }
        Some(what) => Err(Box::new(Disagreement {
            file: text.to_string(),
            placing: placing.clone(),
            judge: format!("{}: {:?}; {what}\n{words}\n{verdict}", seen.verdict, seen.codes),
            naive: format!("{opinion:?}"),
        })),
    }
}
