//! `--topology` and `--fail` of `synth verify` and `synth view`: files judged on another machine than they state.

use std::path::{Path, PathBuf};

use clap::Args;
use collsynth::format::json;
use collsynth::topology::{Topology, TopologySpec};
use serde::Deserialize;

use super::failures::FailureOptions;
use super::topology::{read_spec, words_of};
use crate::cli::ending::Failure;
use crate::cli::io::console::note;
use crate::cli::io::{caller, input};

/// The options that state the machine to judge on.
#[derive(Args)]
pub struct ElsewhereOptions {
    /// Judge on this machine (a topology file, or a file that states one) instead of the one that the file states.
    /// Bounds that it claims are left out: they are of its own machine
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    #[command(flatten)]
    failures: FailureOptions,
}

/// The machine that was given, or what failed since on the machine of each file.
pub struct Elsewhere<'a> {
    given: Option<(&'a Path, TopologySpec)>,
    failures: &'a FailureOptions,
}

impl ElsewhereOptions {
    /// Reads the machine, if one was given.
    pub fn read(&self) -> Result<Elsewhere<'_>, Failure> {
        let path = self.topology.as_deref();
        let given = path.map(|path| read_spec(path).map(|spec| (path, spec))).transpose()?;
        Ok(Elsewhere { given, failures: &self.failures })
    }
}

impl Elsewhere<'_> {
    /// The machine to judge this text on; `None`: the one that it states.
    pub fn machine(&self, text: &str) -> Result<Option<Topology>, Failure> {
        let spec = match &self.given {
            Some((_, spec)) => spec.clone(),
            None if self.failures.is_empty() => return Ok(None),
            None => match json::parse_machine_within(text, &input::limits()?) {
                Ok(Some(spec)) => spec,
                Ok(None) => {
                    return Err(Failure::usage("the file states no machine on which something could fail")
                        .hint("add --topology FILE"));
                }
                // Whoever reads the rest of it says what is wrong.
                Err(_) => return Ok(None),
            },
        };
        let (topology, notes) = self.failures.apply(spec, |error| Failure::usage(error))?;
        notes.iter().for_each(|line| note(&format!("note: {line}")));
        Ok(Some(topology))
    }

    /// The command that plans what a refuted file does for this machine, where a few words say it; `path` is the file.
    pub fn anew(&self, path: &Path, text: &str, machine: &Topology) -> Option<String> {
        #[derive(Deserialize)]
        struct File {
            collective: Collective,
            #[serde(default)]
            groups: serde_json::Value,
            #[serde(default)]
            origin: Option<Origin>,
        }
        #[derive(Deserialize)]
        struct Origin {
            #[serde(default)]
            command: String,
        }
        #[derive(Deserialize)]
        struct Collective {
            kind: String,
            #[serde(default)]
            root: Option<u32>,
        }
        let file: File = serde_json::from_str(text).ok()?;
        if file.collective.kind == "all_to_allv" || !file.groups.is_null() {
            return None;
        }
        let mut words = vec!["synth".to_owned()];
        let given = self.given.as_ref().map(|(given, _)| *given);
        match (given, words_of(machine)) {
            (None, Some(stated)) => words.extend(stated),
            // A program writes the machine to a file that is gone when its answer is read.
            (_, stated) if caller::is_program() => words.extend(stated?),
            // Standard input is read already.
            (None, None) if path == Path::new("-") => return None,
            // Names and capacities are those of a file: this one, unless another was given.
            (given, _) => {
                words.extend(["--topology".to_owned(), given.unwrap_or(path).display().to_string()]);
                words.extend(self.failures.words());
            }
        }
        words.extend(["--collective".to_owned(), file.collective.kind]);
        words.extend(file.collective.root.into_iter().flat_map(|root| ["--root".to_owned(), root.to_string()]));
        words.extend(goal(&file.origin.map(|origin| origin.command).unwrap_or_default()));
        Some(words.join(" "))
    }
}

/// The options of the command that made a file which state what is planned for, of words that any shell takes as they
/// are: a file may come from anywhere.
fn goal(command: &str) -> Vec<String> {
    const GOAL: [&str; 4] = ["--parts", "--message-bytes", "--alpha", "--bandwidth"];
    let words: Vec<&str> = command.split(' ').collect();
    let is_plain = |value: &str| value.chars().all(|letter| letter.is_ascii_alphanumeric() || ".,/".contains(letter));
    let stated = words.windows(2).filter(|pair| GOAL.contains(&pair[0]) && is_plain(pair[1]));
    stated.flatten().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::goal;

    #[test]
    fn a_goal_is_taken_from_a_command_and_nothing_else() {
        let command = "synth --torus 4x4 --fail 0,1 --message-bytes 4096 --alpha 1000ns --bandwidth 50000000000B/s -q";
        let goal_of = |command| goal(command).join(" ");
        assert_eq!(goal_of(command), "--message-bytes 4096 --alpha 1000ns --bandwidth 50000000000B/s");
        assert_eq!(goal_of("synth --torus 4 --parts $(reboot) --alpha `x`"), "");
        assert_eq!(goal_of(""), "");
    }
}
