//! Command lines that cannot be read: what clap says, and where to go instead.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::num::{IntErrorKind, ParseIntError};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use collsynth::format::{file, json};

use super::endings;
use super::misplaced::{misplaced, with_options};
use super::suggest::{did_you_mean, meant};
use super::table::CONVERTED;
use super::words::{is_table, listed, schedule_of};

/// What people call commands, and what these are called here; what is in capitals is filled in.
const ALSO_CALLED: [(&str, &str); 24] = [
    ("synth", "plan"),
    ("synthesize", "plan"),
    ("check", "verify"),
    ("judge", "verify"),
    ("validate", "verify"),
    ("bounds", "bound"),
    ("machine", "topology"),
    ("print", "show"),
    ("simulate", "run"),
    ("export", "convert FILE --to FORMAT"),
    ("import", "convert FILE --from FORMAT"),
    ("compact", "convert FILE --to compact"),
    ("expand", "convert FILE --to explicit"),
    ("pick", "convert FILE --schedule N"),
    ("schema", "util schema"),
    ("completions", "util completions SHELL"),
    ("manual", "util manual FOLDER"),
    ("improve", "polish"),
    ("optimize", "polish"),
    ("info", "show"),
    ("stats", "show"),
    ("diff", "compare"),
    ("bench", "run"),
    ("benchmark", "run"),
];

/// What people call options, and what these are called here.
const OPTIONS_ALSO_CALLED: [(&str, &str); 36] = [
    ("dead", "--fail"),
    ("broken", "--fail"),
    ("failed", "--fail"),
    ("down", "--fail"),
    ("f", "--fail"),
    ("fail-node", "--fail-rank"),
    ("fail-host", "--fail-rank"),
    ("fail-chip", "--fail-rank"),
    ("fail-gpu", "--fail-rank"),
    ("fail-tpu", "--fail-rank"),
    ("fail-device", "--fail-rank"),
    ("node", "--fail-rank"),
    ("failures", "--cables 1"),
    ("pairs", "--cables 2"),
    ("torus", "--topology FILE"),
    ("message-bytes", "--bytes"),
    ("kind", "--collective"),
    ("coll", "--collective"),
    ("op", "--collective"),
    ("c", "--collective"),
    ("shape", "--torus"),
    ("extents", "--torus"),
    ("dims", "--torus"),
    ("t", "--torus"),
    ("size", "--message-bytes"),
    ("bytes", "--message-bytes"),
    ("mesh", "--torus EXTENTS --wrap no"),
    ("no-wrap", "--wrap no"),
    ("chunks", "--parts"),
    ("algorithm", "--planner"),
    ("algo", "--planner"),
    ("timeout", "--time-limit"),
    ("json", "--format json"),
    ("j", "--threads"),
    ("iters", "--repeat"),
    ("silent", "--quiet"),
];

/// Options that a command might have, and why it has not.
const ELSEWHERE: [(&str, &str, &str); 1] = [(
    "build",
    "job",
    "a set keeps schedules of one collective, since those of a job cannot be relabelled; survey takes --job, and says \
     what failures cost it",
)];

/// Files of more bytes are not looked into for what they are.
const LARGEST_MACHINE: u64 = 1 << 20;

/// The error with a pointer to the right command, option or value, where one is known; `words` is what was typed.
pub fn pointed(mut error: Error, command: &Command, words: &[OsString]) -> Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
            let words: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            let message = no_command(word, command, &words);
            Error::raw(ErrorKind::InvalidSubcommand, message)
        }
        ErrorKind::ArgumentConflict => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
            let typed: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            match misplaced(word, command, &typed) {
                Some(what) => Error::raw(ErrorKind::ArgumentConflict, format!("{what}\n")),
                None => error,
            }
        }
        ErrorKind::ValueValidation => {
            let number = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<ParseIntError>());
            let (Some(number), Some(ContextValue::String(option)), Some(ContextValue::String(value))) =
                (number, error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue))
            else {
                return error;
            };
            let what = match number.kind() {
                IntErrorKind::PosOverflow => "it is too large",
                _ => "it is not a whole number",
            };
            Error::raw(ErrorKind::ValueValidation, format!("invalid value '{value}' for '{option}': {what}\n"))
        }
        ErrorKind::MissingRequiredArgument if !std::io::stdin().is_terminal() => {
            let takes_file = matches!(error.get(ContextKind::InvalidArg),
                Some(ContextValue::Strings(missing)) if missing.iter().any(|what| what.starts_with("<FILE>")));
            if takes_file {
                tip(&mut error, "for standard input, write - as the FILE".to_owned());
            }
            error
        }
        ErrorKind::UnknownArgument => {
            // \"To pass '-b' as a value\" helps nobody who meant an option.
            error.remove(ContextKind::Suggested);
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return error };
            let name = word.trim_start_matches('-').split('=').next().unwrap_or_default().to_owned();
            let has = |command: &&Command| command.get_arguments().any(|option| option.get_long() == Some(&name));
            let below = |above: &Command| -> Vec<String> {
                let names = above
                    .get_subcommands()
                    .filter(has)
                    .map(|below| format!("{} {}", above.get_name(), below.get_name()));
                names.collect()
            };
            let of: Vec<String> = command
                .get_subcommands()
                .flat_map(|named| if has(&named) { vec![named.get_name().to_owned()] } else { below(named) })
                .collect();
            let of: Vec<&str> = of.iter().map(String::as_str).collect();
            let typed: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            let is_bare = |first: &&String| !word.starts_with('-') && command.find_subcommand(first).is_some();
            let first = typed.first().filter(is_bare);
            let ours = OPTIONS_ALSO_CALLED.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours);
            let mut within = command;
            for word in &typed {
                within = match within.find_subcommand(word) {
                    Some(below) => below,
                    None => break,
                };
            }
            let has_ours = |ours: &&str| {
                let name = ours.split(' ').next().and_then(|option| option.strip_prefix("--"));
                within.get_arguments().any(|option| option.get_long() == name)
            };
            let table = typed.iter().map(Path::new).find(|path| is_table(path));
            if let (Some(table), "torus" | "topology" | "collective") = (table, &*name) {
                let value =
                    |option: &str| typed.iter().skip_while(|word| word[..] != format!("--{option}")).nth(1).cloned();
                error.remove(ContextKind::SuggestedArg);
                tip(&mut error, format!("`{}` makes a schedule of a table", schedule_of(table, value)));
            } else if let (Some(first), Some(line)) = (first, with_options(within, &typed[1..])) {
                tip(&mut error, format!("did you mean `synth {first} {line}`?"));
            } else if let Some(ours) = ours.filter(has_ours).filter(|_| word.starts_with('-')) {
                // Rather than one that only looks alike.
                error.remove(ContextKind::SuggestedArg);
                tip(&mut error, format!("did you mean {ours}?"));
            } else if !word.starts_with('-') && wants_output(within, &typed) {
                let meant = match Path::new(word).is_file() {
                    true => format!("did you mean `synth {} --topology {word}`?", within.get_name()),
                    false => format!("did you mean -o {word}?"),
                };
                tip(&mut error, meant);
            } else if let Some((.., why)) = ELSEWHERE.iter().find(|(of, it, _)| *of == within.get_name() && *it == name)
            {
                error.remove(ContextKind::SuggestedArg);
                tip(&mut error, (*why).to_owned());
            } else if !of.is_empty() {
                tip(&mut error, format!("--{name} is an option of {}", listed(&of, "", "and")));
            }
            error
        }
        ErrorKind::InvalidValue => {
            let (
                Some(ContextValue::String(word)),
                Some(ContextValue::Strings(valid)),
                Some(ContextValue::String(option)),
            ) = (
                error.get(ContextKind::InvalidValue),
                error.get(ContextKind::ValidValue),
                error.get(ContextKind::InvalidArg),
            )
            else {
                return error;
            };
            let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
            let option = option.split(' ').next().filter(|option| option.starts_with("--")).unwrap_or_default();
            let meant =
                meant(word, &valid).map(|value| format!("did you mean {}?", format!("{option} {value}").trim()));
            error.remove(ContextKind::SuggestedValue);
            if let Some(meant) = meant {
                tip(&mut error, meant);
            }
            error
        }
        _ => error,
    }
}

/// Does a command write a file that was not stated, and take no other word alone?
fn wants_output(command: &Command, typed: &[String]) -> bool {
    let writes = command.get_arguments().any(|option| option.get_long() == Some("output"));
    let stated = typed.iter().any(|word| word.starts_with("-o") || word.starts_with("--output"));
    writes && !stated && command.get_positionals().next().is_none()
}

fn tip(error: &mut Error, text: String) {
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![text.into()]));
}

/// There is no such command; the line that was meant, where it is known.
fn no_command(word: &str, command: &Command, words: &[String]) -> String {
    // `synth util WORD`
    let above = words.split_first().filter(|(_, rest)| rest.first().is_some_and(|next| next == word));
    if let Some(within) = above.and_then(|(above, _)| command.find_subcommand(above)) {
        let names: Vec<&str> = within.get_subcommands().map(Command::get_name).collect();
        let meant = did_you_mean(word, &names);
        let (above, names) = (within.get_name(), listed(&names, "", "and"));
        return format!("there is no command `{above} {word}`{meant}\n\n{above} has {names}\n");
    }
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let rest: &[String] = match words {
        [first, rest @ ..] if first == word => rest,
        _ => &[],
    };
    let also = ALSO_CALLED.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(word)).map(|(_, ours)| *ours);
    let line = match (also.or_else(|| meant(word, &names)), with_options(command, words)) {
        (Some(ours), _) => Some(completed(ours, rest)),
        (None, Some(line)) => Some(line),
        (None, None) if word == "-" => Some("verify -".to_owned()),
        (None, None) if Path::new(word).is_file() => Some(match is_machine(Path::new(word)) {
            true => format!("--topology {word}"),
            false => format!("verify {word}"),
        }),
        (None, None) => None,
    };
    let meant = line.map(|line| format!("; did you mean `synth {line}`?")).unwrap_or_default();
    format!("there is no command `{word}`{meant}\n\n`synth --help` lists the commands\n")
}

/// Does a file hold a machine, and nothing else?
fn is_machine(path: &Path) -> bool {
    let Ok(text) = file::read_text(path, LARGEST_MACHINE) else { return false };
    let is_more = json::is_schedule(&text) || json::is_job(&text) || json::is_program(&text);
    !is_more && json::parse_topology(&text).is_ok()
}

/// A command with what was typed after another name for it: `convert FILE --to FORMAT` and `s.json` make
/// `convert s.json --to FORMAT`.
fn completed(ours: &str, typed: &[String]) -> String {
    let (command, options) = match ours.split_once(" FILE ") {
        Some((command, options)) if !typed.is_empty() => (command, options.split_once(' ')),
        _ if typed.is_empty() => (ours, None),
        _ => (ours.trim_end_matches(|letter: char| letter.is_uppercase()).trim_end(), None),
    };
    let mut words = vec![command.to_owned()];
    words.extend(typed.iter().cloned());
    let is_stated = |option: &str, value: &str| {
        typed.iter().any(|word| word == option) || ((option, value) == ("--to", "FORMAT") && names_its_form(typed))
    };
    words.extend(options.filter(|(option, value)| !is_stated(option, value)).map(|(o, v)| format!("{o} {v}")));
    words.join(" ")
}

/// Does an output file state by its ending which form is converted to?
fn names_its_form(typed: &[String]) -> bool {
    let output = typed.iter().position(|word| ["-o", "--output"].contains(&word.as_str()));
    let path = output.and_then(|at| typed.get(at + 1));
    path.is_some_and(|path| matches!(endings::chosen(Path::new(path), "to", CONVERTED), Ok(Some(_))))
}
