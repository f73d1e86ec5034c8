//! Options are applied or refused: one table says where each of them applies, and what was typed is checked against it.
//!
//! clap splits words, reads values and prints help. It waives `requires` where the required option conflicts with one
//! that was typed, and knows neither collectives nor files, so nothing is left to it: no option states what it needs or
//! excludes but in [`table`]. An option without a row is refused wherever it is typed.

mod endings;
mod misplaced;
pub mod quantity;
pub mod suggest;
mod table;
pub mod usage;
mod when;
pub mod words;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, ValueEnum};
use collsynth::collective::Kind;
use collsynth::format::json;

use self::suggest::named;
use self::words::{flag, is_table};
use super::ending::Failure;
pub use endings::check_ending;
use table::ROWS;
use when::When;

/// What a file holds, for options that apply to some files only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Schedule,
    Job,
    Program,
}

/// What was typed, or what the ending of a file name states in its place.
#[derive(Debug)]
pub struct Given {
    /// The command: `plan`, `survey merge`.
    command: String,
    /// Every option that was typed, by its long name, with its values.
    typed: BTreeMap<String, Vec<String>>,
    /// The value of every other option that has a default.
    defaults: BTreeMap<String, String>,
    /// All options of the command.
    known: BTreeSet<String>,
    /// The first FILE that was typed.
    file: Option<PathBuf>,
    /// Whether the collective, and the file, have been looked at.
    kind_seen: Cell<bool>,
    file_seen: Cell<bool>,
}

impl What {
    /// What a text claims to be.
    pub fn of(text: &str) -> Self {
        match text {
            text if json::is_program(text) => Self::Program,
            text if json::is_job(text) => Self::Job,
            _ => Self::Schedule,
        }
    }
}

impl Given {
    /// Checks what was typed, as far as options go with each other and with the names of files.
    pub fn read(all: &Command, matches: &ArgMatches) -> Result<Self, Failure> {
        let (mut command, mut matches, mut path) = (all, matches, Vec::new());
        while let Some((name, of)) = matches.subcommand() {
            command = command.find_subcommand(name).expect("clap found it too");
            (matches, path) = (of, [path, vec![name]].concat());
        }
        let name = if path.is_empty() { "plan".to_owned() } else { path.join(" ") };
        let mut given = Self::nothing(name);
        for option in command.get_arguments() {
            let id = option.get_id().as_str();
            let Some(name) = option.get_long() else {
                let typed = matches.get_raw(id).filter(|_| ["file", "files"].contains(&id));
                given.file = given.file.or(typed.and_then(|mut paths| paths.next()).map(PathBuf::from));
                continue;
            };
            given.known.insert(name.to_owned());
            let names = option.get_possible_values();
            let raw = matches.get_raw(id).into_iter().flatten().map(|value| named(&value.to_string_lossy(), &names));
            match matches.value_source(id) {
                Some(ValueSource::CommandLine) => drop(given.typed.insert(name.to_owned(), raw.collect())),
                _ => given.defaults.extend(raw.map(|value| (name.to_owned(), value))),
            }
        }
        let stated = given.stated_by_file().into_iter().chain(given.stated_by_ending()?);
        for (option, value) in stated.collect::<Vec<_>>() {
            given.typed.insert(option.to_owned(), vec![value.to_owned()]);
        }
        given.check()?;
        Ok(given)
    }

    fn nothing(command: String) -> Self {
        Self {
            command,
            typed: BTreeMap::new(),
            defaults: BTreeMap::new(),
            known: BTreeSet::new(),
            file: None,
            kind_seen: Cell::new(false),
            file_seen: Cell::new(false),
        }
    }

    /// The value of `--format` or `--to`: as typed, as the ending of the output states, or the default.
    pub fn form<T: ValueEnum>(&self, option: &str) -> Option<T> {
        T::from_str(self.value(option)?, false).ok()
    }

    /// Refuses options that apply to no such collective.
    pub fn kind(&self, kind: &Kind) -> Result<(), Failure> {
        self.kinds(std::slice::from_ref(kind))
    }

    /// Refuses options that apply to none of these collectives.
    pub fn kinds(&self, kinds: &[Kind]) -> Result<(), Failure> {
        self.kind_seen.set(true);
        self.conditions().try_for_each(|(_, when)| when.check_kinds(self, kinds))
    }

    /// Refuses options that do not apply to such a file.
    pub fn file(&self, what: What) -> Result<(), Failure> {
        self.file_seen.set(true);
        self.conditions().try_for_each(|(option, when)| when.check_file(option, self, what))
    }

    /// True if a command that succeeded has looked at everything that its options depend on.
    pub fn is_settled(&self) -> bool {
        self.conditions().all(|(_, when)| {
            (self.kind_seen.get() || !when.is_about_kinds()) && (self.file_seen.get() || !when.is_about_files())
        })
    }

    /// Was this option typed?
    pub fn is_typed(&self, option: &str) -> bool {
        self.has(option)
    }

    /// The options that were typed and apply to none of these collectives.
    fn lacking(&self, kinds: &[Kind]) -> BTreeSet<&str> {
        self.conditions().filter(|(_, when)| when.lacks(self, kinds)).map(|(option, _)| option).collect()
    }

    /// The options that were typed and do not apply to such a file.
    fn unfit(&self, what: What) -> BTreeSet<&str> {
        self.conditions().filter(|(_, when)| when.is_unfit(self, what)).map(|(option, _)| option).collect()
    }

    fn has(&self, option: &str) -> bool {
        self.typed.contains_key(option)
    }

    /// The value of an option: as typed, as the ending of a file states, or the default.
    fn value(&self, option: &str) -> Option<&str> {
        let typed = self.typed.get(option).and_then(|values| values.first());
        typed.or_else(|| self.defaults.get(option)).map(String::as_str)
    }

    /// True if this option cannot be added, beside those that were typed.
    fn is_excluded(&self, option: &str) -> bool {
        let excluding = |when: &When| matches!(when, When::Without(others, _) if others.iter().any(|o| self.has(o)));
        self.row(option).into_iter().flatten().any(excluding)
    }

    /// The conditions of all options that were typed.
    fn conditions(&self) -> impl Iterator<Item = (&str, &'static When)> {
        let of = |option: &'_ String| self.row(option).into_iter().flatten();
        self.typed.keys().flat_map(move |option| of(option).map(move |when| (option.as_str(), when)))
    }

    fn row(&self, option: &str) -> Option<&'static [When]> {
        let row = ROWS.iter().find(|row| row.commands.contains(&&*self.command) && row.options.contains(&option))?;
        Some(row.when)
    }

    /// What the name of FILE states.
    fn stated_by_file(&self) -> Option<(&'static str, &'static str)> {
        let table = self.file.as_deref().filter(|file| is_table(file) && self.known.contains("from"));
        table.filter(|_| !self.has("from")).map(|_| ("from", "csv"))
    }

    fn stated_by_ending(&self) -> Result<Option<(&'static str, &'static str)>, Failure> {
        let Some(path) = self.value("output") else { return Ok(None) };
        for when in self.row("output").into_iter().flatten() {
            if let When::Written(Some(by), forms) = when.within(self)
                && !self.has(by)
            {
                let chosen = endings::chosen(Path::new(path), by, forms)?;
                return Ok(chosen.map(|value| (*by, value)));
            }
        }
        Ok(None)
    }

    fn check(&self) -> Result<(), Failure> {
        if let Some(option) = self.typed.keys().find(|option| self.row(option).is_none()) {
            let message = format!("internal error: nothing says where --{option} of `{}` applies", self.command);
            return Err(Failure::usage(message).hint("please report this with the command line"));
        }
        // What takes nearly nothing beside it explains most.
        let is_strict = |when: &When| matches!(when, When::OnlyWith(..));
        let (strict, others): (Vec<_>, Vec<_>) = self.conditions().partition(|(_, when)| is_strict(when));
        strict.into_iter().chain(others).try_for_each(|(option, when)| when.check_options(option, self))?;
        self.check_apart()
    }

    /// Refuses two options that write to the same place. Where it is not typed, the output goes to standard output.
    fn check_apart(&self) -> Result<(), Failure> {
        let is_written = |option: &&str| {
            self.row(option).into_iter().flatten().any(|when| matches!(when.within(self), When::Written(..)))
        };
        let written = self.typed.keys().map(String::as_str).chain(self.known.contains("output").then_some("output"));
        let mut options = BTreeMap::new();
        for option in written.filter(is_written).collect::<BTreeSet<_>>() {
            let path = Path::new(self.value(option).unwrap_or("-"));
            let (place, apart) = match path == Path::new("-") {
                true => ("standard output".to_owned(), "name a file"),
                false => (path.display().to_string(), "name another file"),
            };
            // What is read may be replaced by what is made of it, and by nothing else.
            if option != "output" && path != Path::new("-") && self.file.as_deref().map(real) == Some(real(path)) {
                let message = format!("{} would replace {place}, which is read", flag(option));
                return Err(Failure::usage(message).hint(format!("leave {} out, or {apart}", flag(option))));
            }
            let Some(other) = options.insert(real(path), option) else { continue };
            let (this, other) = if option == "output" { (other, option) } else { (option, other) };
            let message = format!("{} and {} both write to {place}", flag(other), flag(this));
            return Err(Failure::usage(message).hint(format!("leave {} out, or {apart}", flag(this))));
        }
        Ok(())
    }
}

/// The file that a path leads to, whether it is there or not.
fn real(path: &Path) -> PathBuf {
    let there = path.canonicalize().ok();
    let folder = || path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let beside = || Some(folder()?.canonicalize().ok()?.join(path.file_name()?));
    there.or_else(beside).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Command, CommandFactory};

    use super::ROWS;
    use crate::cli::Cli;

    /// Every option that can be typed, with its command.
    fn options(command: &Command, path: &str, all: &mut BTreeSet<(String, String)>) {
        let own = if path.is_empty() { "plan" } else { path };
        let longs = command.get_arguments().filter_map(|option| option.get_long());
        all.extend(longs.map(|option| (own.to_owned(), option.to_owned())));
        for inner in command.get_subcommands() {
            options(inner, format!("{path} {}", inner.get_name()).trim(), all);
        }
    }

    #[test]
    fn every_option_has_one_row_and_every_row_an_option() {
        let mut typed = BTreeSet::new();
        options(&Cli::command(), "", &mut typed);
        let mut rows = BTreeSet::new();
        for row in ROWS {
            for (command, option) in row.commands.iter().flat_map(|c| row.options.iter().map(move |o| (*c, *o))) {
                assert!(rows.insert((command.to_owned(), option.to_owned())), "two rows for --{option} of {command}");
            }
        }
        assert_eq!(rows, typed);
    }

    #[test]
    fn rows_name_options_of_their_commands() {
        let mut typed = BTreeSet::new();
        options(&Cli::command(), "", &mut typed);
        for row in ROWS {
            for (command, named) in row.commands.iter().flat_map(|c| row.when.iter().map(move |w| (*c, w.named()))) {
                for option in named {
                    assert!(typed.contains(&(command.to_owned(), option.to_owned())), "{command} has no --{option}");
                }
            }
        }
    }
}
