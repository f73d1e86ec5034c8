//! Commands in README.md, docs/ and help texts, between backquotes or in blocks for a shell: each is a command line
//! that the parser takes, and whose options go together. `console` blocks are run besides (`transcripts.rs`).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use clap::error::ErrorKind;
use collsynth::cli::{self, Given};

/// Words of command lines in prose that stand for others.
const STANDS_FOR: [(&str, &str); 8] = [
    ("COMMAND", "plan"),
    ("FORMAT", "msccl"),
    ("EXTENTS", "4x4"),
    ("N", "1"),
    ("P", "1"),
    ("SIZE", "64KiB"),
    ("TIME", "1us"),
    ("RATE", "1GB/s"),
];

#[test]
fn commands_of_pages_and_help_texts_can_be_typed() {
    let mut wrong = String::new();
    let mut seen = 0;
    for (name, text) in pages().into_iter().chain(helps(&cli::command(), "synth")) {
        for line in commands(&text) {
            seen += 1;
            if let Err(why) = taken(&line) {
                let _ = writeln!(wrong, "{name}: {line}\n  {}", why.lines().next().unwrap_or_default());
            }
        }
    }
    assert!(seen > 150, "only {seen} commands are found");
    assert!(wrong.is_empty(), "{wrong}");
}

/// README.md and all pages of docs/.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        let paths: Vec<PathBuf> =
            fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        let (inner, pages) = paths.into_iter().partition::<Vec<_>, _>(|path| path.is_dir());
        folders.extend(inner);
        files.extend(pages.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    files.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root).expect("found below").display().to_string();
        (name, fs::read_to_string(&path).expect("a page"))
    };
    files.into_iter().map(read).collect()
}

/// The long help of every command.
fn helps(command: &Command, name: &str) -> Vec<(String, String)> {
    let mut all = vec![(format!("{name} --help"), command.clone().render_long_help().to_string())];
    for inner in command.get_subcommands() {
        all.extend(helps(inner, &format!("{name} {}", inner.get_name())));
    }
    all
}

/// The command lines in a text: in blocks for a shell, between backquotes, and where a line of a help text begins with
/// one. A name alone is no command line.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block = None;
    for paragraph in text.replace("\\\n", " ").split("\n\n") {
        let mut prose = String::new();
        for line in paragraph.lines() {
            if let Some(language) = line.trim_start().strip_prefix("```") {
                block = if block.is_some() { None } else { Some(language.to_owned()) };
            } else if let Some(language) = &block {
                let line = line.trim().trim_start_matches("$ ");
                let is_ours = ["sh", "console"].contains(&language.as_str()) && line.starts_with("synth ");
                found.extend(is_ours.then(|| line.to_owned()));
            } else if line.starts_with("  synth ") {
                found.extend(line.trim().split("  ").next().map(str::to_owned));
            } else {
                prose += &format!(" {}", line.trim());
            }
        }
        let quoted = prose.split('`').skip(1).step_by(2);
        found.extend(quoted.filter(|quoted| quoted.starts_with("synth ")).map(str::to_owned));
    }
    found
}

/// Is it a command line?
fn taken(line: &str) -> Result<(), String> {
    // What a shell takes for itself, and comments.
    let line = line.split([';', '|', '#', '>', '&']).next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
    let is_partial = |word: &&str| word.contains("..") && !word.contains(|letter: char| letter.is_alphanumeric());
    let is_template = words.iter().any(|word| word.contains(['[', '<', '{', '$', '(', '*', '…']) || is_partial(word));
    // A name, which says nothing of what is typed after it.
    if is_template || words.iter().skip(1).all(|word| !word.starts_with('-') && *word == word.to_lowercase()) {
        return Ok(());
    }
    let stands =
        |word: &str| STANDS_FOR.iter().find(|(name, _)| *name == word).map_or(word, |(_, value)| value).to_owned();
    let words: Vec<String> = words.into_iter().map(stands).collect();
    let all = cli::command();
    match all.clone().try_get_matches_from(&words) {
        Ok(matches) => Given::read(&all, &matches).map(drop).map_err(|failure| failure.to_string()),
        // A page may leave out what every call has, and the value of an option that it speaks of.
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::MissingRequiredArgument => Ok(()),
            ErrorKind::InvalidValue if error.to_string().contains("a value is required") => Ok(()),
            _ => Err(error.to_string()),
        },
    }
}
