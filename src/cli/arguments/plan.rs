//! The options that set the goal of planning and the limits of its search.

use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use collsynth::cost::Price;
use collsynth::plan::{Goal, Parts, Planner, Smt, planner_named, planners};

use super::rate::{ALPHA, BANDWIDTH};
use super::smt::SmtOptions;
use crate::cli::ending::Failure;
use crate::cli::options::quantity::{parse_bytes, parse_duration, parse_one_bandwidth, parse_seed, parse_startup};
use crate::cli::options::suggest::OneOf;

/// The most steps that can be asked for: more than the largest distance, in hops.
const MOST_STEPS: i64 = u16::MAX as i64;

/// How to plan.
#[derive(Args)]
#[command(next_help_heading = "Plan")]
pub struct PlanOptions {
    /// The planner; `synth planners` lists them
    #[arg(long, allow_negative_numbers = true, value_name = "NAME", default_value = "auto", hide_possible_values = true,
        value_parser = planner_names())]
    planner: String,
    /// Equal parts each message is cut in, or `auto` for the least volume: more parts allow less, and take longer to
    /// plan [default: 1; unless a planner is stated, for all_reduce, broadcast and reduce, and for messages in groups,
    /// as many as bring the volume within 5 % of its bound; with --message-bytes auto]
    #[arg(long, allow_negative_numbers = true, value_name = "N|auto")]
    parts: Option<PartsArgument>,
    /// Exactly this many steps
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=MOST_STEPS),
    )]
    pub steps: Option<u32>,
    /// At most this many steps
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=MOST_STEPS),
    )]
    pub max_steps: Option<u32>,
    /// Bytes of one message (64KiB): plan for the least time
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "SIZE",
        value_parser = parse_bytes,
    )]
    message_bytes: Option<u64>,
    /// With --message-bytes: the time a step takes to start
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", default_value = ALPHA, value_parser = parse_startup)]
    alpha: f64,
    /// With --message-bytes: what a link of capacity 1 carries (50GB/s, 400Gbit/s)
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "RATE",
        default_value = BANDWIDTH,
        value_parser = parse_one_bandwidth,
    )]
    bandwidth: f64,
    /// Stop after this time (30s) and keep the best schedule found
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = parse_duration)]
    pub time_limit: Option<Duration>,
    /// Drives random choices: the same seed gives the same schedule
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 0, value_parser = parse_seed)]
    pub seed: u64,
    /// Threads to plan with [default: one per core]; their number does not change the schedule
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// `3` or `auto`
#[derive(Clone, Copy)]
pub enum PartsArgument {
    Fixed(u32),
    Auto,
}

impl PartsArgument {
    /// What was stated, or enough.
    pub fn or_enough(stated: Option<Self>) -> Parts {
        match stated {
            Some(Self::Fixed(parts)) => Parts::Fixed(parts),
            Some(Self::Auto) => Parts::Auto,
            None => Parts::Enough,
        }
    }

    /// What was stated, as typed.
    pub fn words(stated: Option<Self>) -> Vec<String> {
        let value = stated.map(|parts| match parts {
            Self::Fixed(parts) => parts.to_string(),
            Self::Auto => "auto".to_owned(),
        });
        value.into_iter().flat_map(|value| word("--parts", value)).collect()
    }
}

impl PlanOptions {
    /// The goal; `smt` comes from [`SmtOptions::planner`].
    pub fn goal<'a>(&self, smt: &'a Smt) -> Result<Goal<'a>, Failure> {
        Ok(Goal {
            planner: planner_choice(&self.planner, smt)?,
            among: None,
            parts: self.parts_or_enough(),
            steps: self.steps,
            max_steps: self.max_steps,
            price: self.price(),
            seed: self.seed,
        })
    }

    /// The parts stated, or enough.
    pub fn parts_or_enough(&self) -> Parts {
        PartsArgument::or_enough(self.parts)
    }

    /// The parts asked for; 1 for `auto`.
    pub fn least_parts(&self) -> u32 {
        match self.parts {
            Some(PartsArgument::Fixed(parts)) => parts,
            Some(PartsArgument::Auto) | None => 1,
        }
    }

    /// Is a planner stated?
    pub fn names_planner(&self) -> bool {
        self.planner != "auto"
    }

    /// The price of a schedule, if it is stated.
    pub fn price(&self) -> Option<Price> {
        Some(Price { message_bytes: self.message_bytes?, alpha: self.alpha, bandwidth: self.bandwidth })
    }

    /// The options that shape the schedule, as they would be typed again; defaults are left out.
    pub fn words(&self, goal: &Goal<'_>, smt: &SmtOptions) -> Vec<String> {
        let mut words = goal_words(&Goal { seed: 0, ..*goal });
        words.extend(smt.words());
        words
            .extend(self.time_limit.iter().flat_map(|limit| word("--time-limit", format!("{}s", limit.as_secs_f64()))));
        words.extend((self.seed != 0).then(|| word("--seed", self.seed)).into_iter().flatten());
        words
    }
}

/// A goal as options, without those of the SMT planner and without defaults.
pub fn goal_words(goal: &Goal<'_>) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(goal.planner.iter().flat_map(|planner| word("--planner", planner.name())));
    match goal.parts {
        Parts::Enough => {}
        // What it would be unless stated: where time has a price, parts are chosen by it.
        Parts::Fixed(1) if goal.planner.is_some() && goal.price.is_none() => {}
        Parts::Fixed(parts) => words.extend(word("--parts", parts)),
        Parts::Auto => words.extend(word("--parts", "auto")),
    }
    words.extend(goal.steps.iter().flat_map(|steps| word("--steps", steps)));
    words.extend(goal.max_steps.iter().flat_map(|steps| word("--max-steps", steps)));
    if let Some(Price { message_bytes, alpha, bandwidth }) = goal.price {
        words.extend(word("--message-bytes", message_bytes));
        words.extend(word("--alpha", format!("{}ns", alpha * 1e9)));
        words.extend(word("--bandwidth", format!("{bandwidth}B/s")));
    }
    words.extend((goal.seed != 0).then(|| word("--seed", goal.seed)).into_iter().flatten());
    words
}

/// The planner of this name, `auto` being none; `smt` with its options.
pub fn planner_choice<'a>(name: &str, smt: &'a Smt) -> Result<Option<&'a dyn Planner>, Failure> {
    Ok(match name {
        "auto" => None,
        _ if name == smt.name() => Some(smt),
        _ => Some(named(name)?),
    })
}

/// The planner of this name.
pub fn named(name: &str) -> Result<&'static dyn Planner, Failure> {
    planner_named(name).map_err(Failure::usage)
}

/// The names of all planners, and `auto`.
pub fn planner_names() -> OneOf {
    one_of(std::iter::once("auto").chain(planners().iter().map(|planner| planner.name())).collect())
}

/// The names of all planners.
pub fn single_names() -> OneOf {
    one_of(planners().iter().map(|planner| planner.name()).collect())
}

fn one_of(names: Vec<&'static str>) -> OneOf {
    OneOf::new("planner", names).listed_by("synth planners")
}

/// An option with its value.
fn word(name: &str, value: impl ToString) -> [String; 2] {
    [name.to_owned(), value.to_string()]
}

/// Plans with this many threads from now on.
pub fn use_threads(threads: Option<u16>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
    pool.build_global().map_err(|error| Failure::usage(format!("cannot start {threads} threads: {error}")))
}

impl FromStr for PartsArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            (text, _) if text.eq_ignore_ascii_case("auto") => Ok(Self::Auto),
            (_, Ok(parts)) if parts >= 1 => Ok(Self::Fixed(parts)),
            _ => Err("write a number, 1 or more, or `auto`".to_owned()),
        }
    }
}
