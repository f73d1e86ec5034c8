//! Command lines that cannot be read: what clap says, and where to go instead.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use super::suggest::did_you_mean;

/// What people call commands, and what these are called here.
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
    ("export", "convert --to"),
    ("import", "convert --from"),
    ("compact", "convert --to compact"),
    ("expand", "convert --to explicit"),
    ("pick", "convert --schedule"),
    ("schema", "util schema"),
    ("completions", "util completions"),
    ("manual", "util manual"),
    ("improve", "polish"),
    ("optimize", "polish"),
    ("info", "show"),
    ("stats", "show"),
    ("diff", "compare"),
    ("bench", "run"),
    ("benchmark", "run"),
];

/// The error with a pointer to the right command, where one is known.
pub fn pointed(mut error: Error, command: &Command) -> Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let meant = match ALSO_CALLED.iter().find(|(theirs, _)| theirs == word) {
                Some((_, ours)) => format!("; did you mean {ours}?"),
                None if is_extents(word) => format!("; did you mean `synth --torus {word}`?"),
                None if Path::new(word).is_file() => format!("; did you mean `synth verify {word}`?"),
                None => did_you_mean(word, &names),
            };
            let message = format!("there is no command `{word}`{meant}\n\n`synth --help` lists the commands\n");
            Error::raw(ErrorKind::InvalidSubcommand, message)
        }
        ErrorKind::UnknownArgument => {
            // \"To pass '-b' as a value\" helps nobody who meant an option.
            error.remove(ContextKind::Suggested);
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return error };
            let name = word.trim_start_matches('-').split('=').next().unwrap_or_default().to_owned();
            let has = |command: &&Command| command.get_arguments().any(|option| option.get_long() == Some(&name));
            let of: Vec<String> = command
                .get_subcommands()
                .filter(has)
                .map(|command| format!("`synth {}`", command.get_name()))
                .collect();
            if !of.is_empty() {
                let tip = format!("--{name} is an option of {}", of.join(", "));
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
            }
            error
        }
        _ => error,
    }
}

/// `4x4x8`
fn is_extents(word: &str) -> bool {
    word.split('x').all(|extent| extent.parse::<u32>().is_ok())
}
