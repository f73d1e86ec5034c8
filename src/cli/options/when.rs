//! When an option applies, and what is said where it does not.

use std::path::Path;

use collsynth::collective::{Demand, Kind};
use collsynth::topology::RankId;

use super::endings::{self, Form};
use super::words::{flag, is_table, listed, schedule_of};
use super::{Given, What};
use crate::cli::ending::Failure;

/// The most collectives named in a hint.
const MOST_NAMED: usize = 5;

/// A condition on an option. Texts that follow say why, and may be empty.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// Only beside one of these options.
    With(&'static [&'static str], &'static str),
    /// Only beside all of these.
    WithAll(&'static [&'static str]),
    /// Never beside any of these.
    Without(&'static [&'static str], &'static str),
    /// Beside none but these.
    OnlyWith(&'static [&'static str], &'static str),
    /// Only where that option has one of these values.
    If(&'static str, &'static [&'static str], &'static str),
    /// Where that option, perhaps itself, has one of these values, only on this condition.
    Where(&'static str, &'static [&'static str], &'static When),
    /// Only for collectives of which this is true; the text says what the others lack.
    Of(&'static str, fn(&Kind) -> bool),
    /// Never beside a FILE, which states it.
    WithoutFile,
    /// Only for files that hold one of these.
    For(&'static [What], &'static str),
    /// A file is written, in one of these forms: that which the option states, if there is one.
    Written(Option<&'static str>, &'static [Form]),
}

impl When {
    /// Refuses `option` beside the others that were typed.
    pub fn check_options(&self, option: &str, given: &Given) -> Result<(), Failure> {
        let out = format!("leave {} out", flag(option));
        let names = |options: &[&str], last| {
            let known = options.iter().filter(|other| given.known.contains(**other));
            let names: Vec<String> = known.map(|other| flag(other)).collect();
            listed(&names.iter().map(String::as_str).collect::<Vec<_>>(), "", last)
        };
        let refused = |message: String, why: &str| {
            Failure::usage(if why.is_empty() { message } else { format!("{message}: {why}") })
        };
        let shown = shown(option, given);
        match *self {
            Self::With(others, why) if !others.iter().any(|other| given.has(other)) => {
                let possible: Vec<&str> = others.iter().copied().filter(|other| !given.is_excluded(other)).collect();
                let (others, add) = (names(others, "or"), names(&possible, "or"));
                let hint = if possible.is_empty() { out } else { format!("add {add}, or {out}") };
                Err(refused(format!("{shown} goes with {others}"), why).hint(hint))
            }
            Self::WithAll(others) if !others.iter().all(|other| given.has(other)) => {
                let missing: Vec<&str> = others.iter().copied().filter(|other| !given.has(other)).collect();
                let missing = names(&missing, "and");
                Err(refused(format!("{shown} goes with {missing}"), "").hint(format!("add {missing}, or {out}")))
            }
            Self::Without(others, why) => match others.iter().find(|other| given.has(other)) {
                Some(other) => {
                    let other = flag(other);
                    Err(refused(format!("{shown} and {other} exclude each other"), why).hint("leave one of them out"))
                }
                None => Ok(()),
            },
            Self::WithoutFile => match &given.file {
                Some(table) if is_table(table) => {
                    let typed = |name: &str| given.typed.get(name)?.first().cloned();
                    let message = format!("{} is a table of moves, not a schedule", table.display());
                    Err(Failure::usage(message).hint(format!("`{}` makes one of it", schedule_of(table, typed))))
                }
                Some(_) => {
                    let message = format!("{shown} is not for a FILE, which states it");
                    Err(Failure::usage(message).hint(format!("{out}, or FILE")))
                }
                None => Ok(()),
            },
            Self::OnlyWith(others, why) => {
                let mut beside = given.typed.keys().filter(|other| *other != option);
                match beside.find(|other| !others.contains(&other.as_str())) {
                    Some(other) => {
                        let other = flag(other);
                        Err(refused(format!("{shown} takes no {other}"), why).hint(format!("leave {other} out")))
                    }
                    None => Ok(()),
                }
            }
            Self::If(other, values, why) if !given.value(other).is_some_and(|value| values.contains(&value)) => {
                let values = listed(values, "", "or");
                let this = given.value(other).map(|value| format!(", and this is `{value}`")).unwrap_or_default();
                let other = flag(other);
                Err(refused(format!("{shown} is for {other} {values}{this}"), why)
                    .hint(format!("choose {other} {values}, or {out}")))
            }
            Self::Where(other, values, when) if given.value(other).is_some_and(|value| values.contains(&value)) => {
                when.check_options(option, given)
            }
            Self::Written(by, forms) => {
                let path = given.value(option).unwrap_or("-");
                endings::check(Path::new(path), by.and_then(|by| Some((by, given.value(by)?))), forms)
            }
            _ => Ok(()),
        }
    }

    /// The condition that holds among these options: of `Where`, the one within where it applies.
    pub fn within(&self, given: &Given) -> &Self {
        match self {
            Self::Where(other, values, when) if given.value(other).is_some_and(|value| values.contains(&value)) => when,
            _ => self,
        }
    }

    /// Refuses the option for these collectives, if it applies to none of them.
    pub fn check_kinds(&self, given: &Given, kinds: &[Kind]) -> Result<(), Failure> {
        match (*self, kinds) {
            (Self::Of(lacks, applies), [first, ..]) if !kinds.iter().any(applies) => {
                let failure = Failure::usage(format!("{} {lacks}", first.name()));
                let all = Kind::every(RankId(0), Demand::default());
                let others: Vec<&str> = all.iter().filter(|kind| applies(kind)).map(Kind::name).collect();
                // Those that go with it are refused with it.
                let refused: Vec<String> = given.lacking(kinds).iter().map(|option| flag(option)).collect();
                let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
                let out = format!("leave {} out", listed(&refused, "", "and"));
                Err(failure.hint(match (given.known.contains("collective"), others.len() <= MOST_NAMED) {
                    (true, true) => format!("{out}, or choose {}", listed(&others, "", "or")),
                    (true, false) => format!("{out}, or choose another {}", flag("collective")),
                    (false, _) => out,
                }))
            }
            (Self::Where(other, values, when), _)
                if given.value(other).is_some_and(|value| values.contains(&value)) =>
            {
                when.check_kinds(given, kinds)
            }
            _ => Ok(()),
        }
    }

    /// Does it refuse its option for these collectives?
    pub fn lacks(&self, given: &Given, kinds: &[Kind]) -> bool {
        match *self {
            Self::Of(_, applies) => !kinds.iter().any(applies),
            Self::Where(other, values, when) => {
                given.value(other).is_some_and(|value| values.contains(&value)) && when.lacks(given, kinds)
            }
            _ => false,
        }
    }

    /// Refuses `option` for a file that holds this.
    pub fn check_file(&self, option: &str, given: &Given, what: What) -> Result<(), Failure> {
        match *self {
            Self::For(whats, why) if !whats.contains(&what) => {
                let wanted: Vec<&str> = whats.iter().map(|what| what.plural()).collect();
                let (shown, wanted) = (shown(option, given), listed(&wanted, "", "and"));
                let why = if why.is_empty() { format!("this is a {}", what.name()) } else { why.to_owned() };
                // Those that go with it are refused with it.
                let refused: Vec<String> = given.unfit(what).iter().map(|option| flag(option)).collect();
                let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
                let out = if refused.len() > 1 { listed(&refused, "", "and") } else { shown.clone() };
                Err(Failure::usage(format!("{shown} is for {wanted}: {why}")).hint(format!("leave {out} out")))
            }
            Self::Where(other, values, when) if given.value(other).is_some_and(|value| values.contains(&value)) => {
                when.check_file(option, given, what)
            }
            _ => Ok(()),
        }
    }

    /// Does it refuse its option for a file that holds this?
    pub fn is_unfit(&self, given: &Given, what: What) -> bool {
        match *self {
            Self::For(whats, _) => !whats.contains(&what),
            Self::Where(other, values, when) => {
                given.value(other).is_some_and(|value| values.contains(&value)) && when.is_unfit(given, what)
            }
            _ => false,
        }
    }

    /// Does it take the collective to tell?
    pub fn is_about_kinds(&self) -> bool {
        match self {
            Self::Where(.., when) => when.is_about_kinds(),
            _ => matches!(self, Self::Of(..)),
        }
    }

    /// Does it take the file to tell?
    pub fn is_about_files(&self) -> bool {
        match self {
            Self::Where(.., when) => when.is_about_files(),
            _ => matches!(self, Self::For(..)),
        }
    }

    /// The options that it names.
    #[cfg(test)]
    pub fn named(&self) -> Vec<&'static str> {
        match *self {
            Self::With(others, _) | Self::WithAll(others) | Self::Without(others, _) | Self::OnlyWith(others, _) => {
                others.to_vec()
            }
            Self::If(other, ..) | Self::Written(Some(other), _) => vec![other],
            Self::Where(other, _, when) => [vec![other], when.named()].concat(),
            Self::Of(..) | Self::For(..) | Self::WithoutFile | Self::Written(None, _) => Vec::new(),
        }
    }
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Job => "job",
            Self::Program => "rank program",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Schedule => "schedules",
            Self::Job => "jobs",
            Self::Program => "rank programs",
        }
    }
}

/// The option, with its value where that is a name.
fn shown(option: &str, given: &Given) -> String {
    match given.value(option) {
        Some(value) if NAMED.contains(&option) => format!("{} {value}", flag(option)),
        _ => flag(option),
    }
}

/// Options that mean different things by their values.
const NAMED: [&str; 3] = ["format", "transport", "parts"];
