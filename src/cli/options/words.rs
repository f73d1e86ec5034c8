//! Lists of words in messages, and commands in hints.

use std::path::Path;

/// An option as it is typed.
pub fn flag(option: &str) -> String {
    format!("--{option}")
}

/// `--a, --b or --c`
pub fn listed(names: &[&str], before: &str, last: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{before}{name}")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., end] => format!("{} {last} {end}", some.join(", ")),
    }
}

/// A command line as a shell reads it.
pub fn typed_again(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.,:/=+@%".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Is it, by its name, a table of moves?
pub fn is_table(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    name.ends_with(".csv") || name.ends_with(".csv.gz")
}

/// The command that makes a schedule of a table of moves; `typed` is what was typed for an option.
pub fn schedule_of(table: &Path, typed: impl Fn(&str) -> Option<String>) -> String {
    let machine = match (typed("torus"), typed("topology")) {
        (None, Some(file)) => format!("--topology {file}"),
        (extents, _) => format!("--torus {}", extents.unwrap_or_else(|| "EXTENTS".to_owned())),
    };
    let kind = typed("collective").unwrap_or_else(|| "NAME".to_owned());
    let (table, written) = (table.display(), table.with_extension("json"));
    format!("synth convert {table} {machine} --collective {kind} -o {}", written.display())
}
