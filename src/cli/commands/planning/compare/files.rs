//! `synth compare FILE...`: schedules of one's own beside those of the planners.

use std::path::PathBuf;

use collsynth::collective::Kind;
use collsynth::cost::{Price, Rates};
use collsynth::plan::Goal;
use collsynth::report::comparison::{Entry, Machine};
use collsynth::schedule::Solution;
use collsynth::topology::Topology;
use collsynth::verify::Verified;

use super::sweep::Place;
use crate::cli::arguments::plan::goal_words;
use crate::cli::arguments::topology::{TopologyOptions, words_of};
use crate::cli::ending::Failure;
use crate::cli::io::reading::Reading;
use crate::cli::options::Given;
use crate::cli::options::words::typed_again;

/// Schedules that hold, of one collective on one machine.
pub struct Own {
    schedules: Vec<(String, Verified<Solution>)>,
    /// What failed since, as typed.
    since: Vec<String>,
}

impl Own {
    /// Reads and judges the files, on their machine or after further failures; `None` without files.
    pub fn read(files: &[PathBuf], options: &TopologyOptions, given: &Given) -> Result<Option<Self>, Failure> {
        let (since, mut schedules) = (options.words(), Vec::<(String, Verified<Solution>)>::new());
        for path in files {
            let reading = Reading::of(path)?;
            let name = reading.name();
            if reading.is_program() {
                return Err(Failure::usage(format!("{name}: a rank program has no steps whose time could be told"))
                    .hint(format!("compare the schedule it was lowered from; `synth run {name}` times programs")));
            }
            let mut stated = reading.stated()?;
            if let Some(machine) = options.failed_since(stated.problem.machine())? {
                stated = stated.on(machine)?;
            }
            if let Some((other, first)) = schedules.first() {
                let (one, problem) = (&first.problem, &stated.problem);
                if one.machine() != problem.machine() {
                    return Err(Failure::usage(format!("{name} is for another machine than {other}")));
                }
                if one.collective().kind != problem.collective().kind {
                    return Err(Failure::usage(format!("{name} is for another collective than {other}")));
                }
            }
            given.kind(&stated.problem.collective().kind)?;
            schedules.push((name, reading.expand(reading.hold_since(stated, "compared", &since)?, 0)?));
        }
        Ok((!schedules.is_empty()).then_some(Self { schedules, since }))
    }

    /// The collective.
    pub fn kind(&self) -> &Kind {
        &self.schedules[0].1.problem.collective().kind
    }

    /// The machine, with what plans for it.
    pub fn place(&self) -> Place {
        let topology: &Topology = self.schedules[0].1.problem.machine();
        let words = words_of(topology).unwrap_or_default();
        let failures = words.iter().position(|word| word.starts_with("--fail")).unwrap_or(words.len());
        Place { topology: topology.clone(), failures: words[failures..].join(" "), words }
    }

    /// The command line that plans for a goal on a machine in these words; where options do not say the machine and the
    /// collective, the one that shows what the planner has in as many parts, at this price too, beside these files.
    pub fn command(&self, machine: &[String], goal: &Goal<'_>, price: Option<&Price>) -> String {
        let kind = self.kind();
        let is_said = !machine.is_empty() && kind.groups().is_none() && kind.demand().is_none();
        let words = if is_said {
            let root = kind.stated_root().into_iter().flat_map(|root| ["--root".to_owned(), root.to_string()]);
            let collective = ["--collective".to_owned(), kind.name().to_owned()].into_iter().chain(root);
            machine.iter().cloned().chain(collective).chain(goal_words(goal)).collect::<Vec<_>>()
        } else {
            let files = self.schedules.iter().map(|(name, _)| name.clone());
            let planner = goal.planner.into_iter().flat_map(|planner| ["--planners", planner.name()]);
            let price = price.filter(|_| kind.has_volume()).copied();
            // Without a planner's name, words of a goal state its parts, whole messages too.
            let goal = goal_words(&Goal { planner: None, price, ..*goal });
            let since = self.since.iter().cloned();
            let asked = planner.map(str::to_owned).chain(goal);
            ["compare".to_owned()].into_iter().chain(files).chain(since).chain(asked).collect()
        };
        typed_again(["synth".to_owned()].into_iter().chain(words))
    }

    /// Adds the schedules to a machine, before those of planners.
    pub fn add_to(&self, machine: &mut Machine, rates: &Rates) {
        for (name, verified) in &self.schedules {
            machine.entries.push(Entry::new(verified, name, &[], rates, format!("synth verify {name}")));
        }
    }
}
