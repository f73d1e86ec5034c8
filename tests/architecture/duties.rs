//! Who prints, who names kinds, and what the runtime takes.

use collsynth::collective::{Demand, Kind};
use collsynth::topology::RankId;

use crate::sources::{Source, code, sources};

/// The most files that name a kind of collective: where kinds are defined, read and called, and where one is planned by
/// means of others. All others ask a kind for its properties.
const MOST_NAME_KINDS: usize = 10;

#[test]
fn the_runtime_runs_only_what_holds() {
    for source in sources().iter().filter(|source| source.package == "crates/runtime") {
        let text = code(&source.text);
        for (judge, evidence) in
            [("collsynth_verify::verify::", "Verified"), ("collsynth_verify::audit::", "AuditedProgram")]
        {
            for (at, _) in text.match_indices(judge) {
                assert!(text[at + judge.len()..].starts_with(evidence), "{}", source.path.display());
            }
        }
    }
}

#[test]
fn only_the_commands_print_exit_or_read_the_environment() {
    let forbidden =
        ["println!", "eprintln!", "print!(", "dbg!", "process::exit", "env::var", "env::args", "io::stderr"];
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| !["main", "cli"].contains(&source.room.as_str())) {
        for word in forbidden.iter().filter(|word| code(&source.text).contains(**word)) {
            broken.push(format!("{}: `{word}`", source.path.display()));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn few_files_name_kinds_of_collectives() {
    let word = |text: &str| text.chars().take_while(|letter| letter.is_alphanumeric()).collect::<String>();
    let variants = Kind::every(RankId(0), Demand::default()).map(|kind| word(&format!("{kind:?}")));
    let names = |source: &Source| {
        let text = code(&source.text);
        text.match_indices("Kind::").any(|(at, path)| {
            let (before, name) = (&text[..at], &text[at + path.len()..]);
            let other = before.ends_with(|letter: char| letter.is_alphanumeric());
            !other && (name.starts_with(['{', '*']) || variants.contains(&word(name)))
        })
    };
    let naming: Vec<_> = sources().into_iter().filter(names).map(|source| source.path.display().to_string()).collect();
    assert!(naming.len() <= MOST_NAME_KINDS, "{} files:\n{}", naming.len(), naming.join("\n"));
    assert!(!naming.is_empty(), "the search finds nothing");
}
