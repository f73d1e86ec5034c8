//! What the ending of a file name states, beside what is written to the file.

use std::path::Path;

use super::words::listed;
use crate::cli::ending::Failure;

/// A form that a command writes: the ending that states it, and the values of `--format` (or `--to`) that ask for it.
/// An ending that is such a value chooses it.
pub type Form = (&'static str, &'static [&'static str]);

/// JSON, whatever the options.
pub const JSON: &[Form] = &[("json", &[])];

/// Endings that state a form. Any other (`.txt`, `.out`, none) states nothing.
const STATED: [&str; 43] = [
    "7z", "bmp", "br", "bz2", "cnf", "csv", "drat", "eps", "et", "gif", "goal", "htm", "html", "jpeg", "jpg", "json",
    "jsonl", "lrat", "lz4", "md", "npy", "npz", "parquet", "pdf", "pickle", "pkl", "png", "ps", "rar", "sarif", "svg",
    "tar", "tex", "toml", "tsv", "webp", "xlsx", "xml", "xz", "yaml", "yml", "zip", "zst",
];

/// The ending of a name that states a form, without the `.gz` that asks for compression.
fn stated(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let (before, ending) = name.strip_suffix(".gz").unwrap_or(&name).rsplit_once('.')?;
    (!before.is_empty() && STATED.contains(&ending)).then(|| ending.to_owned())
}

/// Refuses a file whose ending states a form that is not written to it. `asked` is the option that states the form, and
/// its value.
pub fn check(path: &Path, asked: Option<(&str, &str)>, forms: &[Form]) -> Result<(), Failure> {
    let Some(ending) = stated(path) else { return Ok(()) };
    let Some((_, values)) = forms.iter().find(|(form, _)| *form == ending) else { return Err(other(path, forms)) };
    match asked {
        Some((option, value)) if !values.is_empty() && !values.contains(&value) => {
            let written = forms.iter().find(|(_, values)| values.contains(&value)).map_or("txt", |(form, _)| form);
            Err(Failure::usage(format!("{}: --{option} {value} does not write .{ending} files", path.display()))
                .hint(format!("leave --{option} out, or write to {}", path.with_extension(written).display())))
        }
        _ => Ok(()),
    }
}

/// The value of `option` that the ending states, where it was not typed.
pub fn chosen(path: &Path, option: &str, forms: &[Form]) -> Result<Option<&'static str>, Failure> {
    let Some(ending) = stated(path) else { return Ok(None) };
    let Some((_, values)) = forms.iter().find(|(form, _)| *form == ending) else { return Err(other(path, forms)) };
    match values.iter().find(|value| **value == ending) {
        Some(value) => Ok(Some(value)),
        None => {
            let values = listed(values, "", "or");
            Err(Failure::usage(format!("{}: .{ending} does not say which form to write", path.display()))
                .hint(format!("add --{option} {values}")))
        }
    }
}

/// Refuses a file name that states another form than JSON; for schedules that are written without the command.
///
/// # Errors
///
/// What is wrong with the name, and what else to call the file.
pub fn check_ending(path: &Path) -> Result<(), Failure> {
    check(path, None, JSON)
}

fn other(path: &Path, forms: &[Form]) -> Failure {
    let ending = stated(path).unwrap_or_default();
    let shown = path.display();
    if forms.is_empty() {
        return Failure::usage(format!("{shown}: a folder is written, and .{ending} states a file"))
            .hint(format!("write to {}", path.with_extension("").display()));
    }
    let endings: Vec<&str> = forms.iter().map(|(form, _)| *form).collect();
    let names: Vec<String> = endings.iter().map(|ending| renamed(path, ending)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Failure::usage(format!("{shown}: {} is written here, not .{ending}", listed(&endings, ".", "or")))
        .hint(format!("write to {}", listed(&names, "", "or")))
}

/// The same name with another ending, packed if it was.
fn renamed(path: &Path, ending: &str) -> String {
    let name = path.display().to_string();
    let (name, packed) = match name.strip_suffix(".gz") {
        Some(name) => (Path::new(name), ".gz"),
        None => (path, ""),
    };
    format!("{}{packed}", name.with_extension(ending).display())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: &[Form] = &[("csv", &["csv"]), ("json", &["trace"]), ("xml", &["msccl", "rccl"])];

    #[test]
    fn endings_state_forms_or_nothing() {
        let of = |name: &str| stated(Path::new(name));
        assert_eq!(of("a/b.csv"), Some("csv".to_owned()));
        assert_eq!((of("b.CSV.gz"), of("b.json.xz")), (Some("csv".to_owned()), Some("xz".to_owned())));
        for nothing in ["-", "b", "b.gz", "b.txt", "b.2026", "/dev/stdout", "csv", ".json", "a.csv/b", ".."] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn an_ending_chooses_agrees_or_is_refused() {
        let choose = |name: &str| chosen(Path::new(name), "to", FORMS);
        assert_eq!(choose("t.csv").unwrap(), Some("csv"));
        assert_eq!(choose("t.txt").unwrap(), None);
        // Forms to come may be XML or JSON too.
        assert!(choose("t.xml").is_err() && choose("t.json").is_err() && choose("t.png").is_err());
        let agrees = |name: &str, to: &str| check(Path::new(name), Some(("to", to)), FORMS).is_ok();
        assert!(agrees("t.xml", "rccl") && agrees("t.json", "trace") && agrees("t.out", "csv"));
        assert!(!agrees("t.xml", "csv") && !agrees("t.csv", "trace") && !agrees("t.png", "csv"));
        assert!(check_ending(Path::new("s.json.gz")).is_ok() && check_ending(Path::new("s.csv")).is_err());
    }
}
