//! `synth verify --topology` and `--fail`: files judged on another machine than they state.

use std::path::Path;

use collsynth::format::json;
use collsynth::topology::{Topology, TopologySpec};
use serde::Deserialize;

use crate::cli::arguments::failures::FailureOptions;
use crate::cli::arguments::topology::{read_spec, words_of};
use crate::cli::ending::Failure;
use crate::cli::io::console::note;
use crate::cli::io::input;

/// The machine that was given, or what failed since on the machine of each file.
pub struct Elsewhere<'a> {
    given: Option<(&'a Path, TopologySpec)>,
    failures: &'a FailureOptions,
}

impl<'a> Elsewhere<'a> {
    /// Reads the machine, if one was given.
    pub fn read(path: Option<&'a Path>, failures: &'a FailureOptions) -> Result<Self, Failure> {
        let given = path.map(|path| read_spec(path).map(|spec| (path, spec))).transpose()?;
        Ok(Self { given, failures })
    }

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

    /// The command that plans what a refuted file does for this machine, where a few words say it.
    pub fn anew(&self, text: &str, machine: &Topology) -> Option<String> {
        #[derive(Deserialize)]
        struct File {
            collective: Collective,
            #[serde(default)]
            groups: serde_json::Value,
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
        match &self.given {
            Some((path, _)) => {
                words.extend(["--topology".to_owned(), path.display().to_string()]);
                words.extend(self.failures.words());
            }
            None => words.extend(words_of(machine)?),
        }
        words.extend(["--collective".to_owned(), file.collective.kind]);
        words.extend(file.collective.root.into_iter().flat_map(|root| ["--root".to_owned(), root.to_string()]));
        Some(words.join(" "))
    }
}
