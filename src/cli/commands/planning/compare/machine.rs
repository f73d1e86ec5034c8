//! One machine: its planners in turn, those that were cut short once more, and what all of them gave.

use collsynth::collective::Collective;
use collsynth::plan::{Butterfly, Planner, StopReason};
use collsynth::problem::Problem;
use collsynth::report::bounds::sharpen;
use collsynth::report::comparison::{Charged, Entry, Machine, Refusal};

use super::asking::{Answer, Question, Run, is_published, weight};
use super::sweep::Place;
use crate::cli::arguments::plan::named;
use crate::cli::arguments::size;
use crate::cli::ending::Failure;

impl Run<'_> {
    /// Asks all planners for schedules on one machine; `later` machines are still to come.
    pub fn machine(&mut self, place: &Place, names: &[String], later: usize) -> Result<Machine, Failure> {
        let topology = &place.topology;
        self.best = None;
        size::check_ranks(topology)?;
        let kind = match self.own {
            Some(own) => own.kind().clone(),
            None => self.command.collective.kind(&self.command.topology, topology, self.given)?,
        };
        let most_parts = self.command.parts.numbers().iter().flat_map(|parts| parts.iter().copied()).max();
        size::check_chunks(topology, &kind, most_parts.unwrap_or(1))?;
        let rates = self.command.rates.rates(topology)?;
        let problem = Problem::new(topology.clone(), Collective::new(kind.clone()))?;
        let whole = self.deadline.map_or(self.control.clone(), |at| self.control.clone().with_deadline(at));
        let bounds = whole.bounds(&problem).map_err(|error| Failure::of_plan(&error, topology))?;
        let names = self.in_turn(names, &problem);
        let applies = |name: &&String| named(name).is_ok_and(|planner| planner.applies(&problem).is_ok());
        self.expect(names.iter().filter(applies), later, &names);
        let mut machine = Machine {
            problem,
            failures: place.failures.clone(),
            bounds,
            entries: vec![],
            refusals: vec![],
            charged: vec![],
            baseline: Err("the plot has none".to_owned()),
            cut: vec![],
        };
        let question = Question { kind: &kind, rates: &rates, words: &place.words };
        let mut known = None;
        if self.command.shows_speedups(self.given) {
            (machine.baseline, known) = self.baseline(&machine, &names, &question)?;
        }
        self.shown.head(&self.ticker, &machine)?;
        if let Some(own) = self.own {
            own.add_to(&mut machine, &rates);
            self.shown.rows(&self.ticker, &machine)?;
        }
        let mut answers = Vec::new();
        for name in &names {
            let answer = match known.take() {
                Some((known, answer)) if known == *name => answer,
                other => {
                    known = other;
                    self.ask(name, topology, &question)?
                }
            };
            self.show(&mut machine, &answer)?;
            answers.push(answer);
        }
        // The time that some planners left goes to those that were cut short.
        let cut: Vec<usize> = (0..names.len()).filter(|&at| answers[at].stopped != StopReason::Finished).collect();
        self.expect(cut.iter().map(|&at| &names[at]), later, &names);
        for at in cut {
            if self.share(&names[at]).is_some_and(|share| share > 2 * answers[at].time) {
                let again = self.ask(&names[at], topology, &question)?;
                self.show(&mut machine, &again)?;
                if again.found.is_ok() || answers[at].found.is_err() {
                    answers[at] = again;
                }
            }
        }
        for (name, answer) in names.iter().zip(answers) {
            self.settle(&mut machine, name, answer, &question)?;
        }
        keep_the_best(&mut machine.entries, &names);
        let place = |entry: &Entry| names.iter().position(|name| *name == entry.planner).map_or(0, |at| at + 1);
        machine.entries.sort_by_key(|entry| (place(entry), if place(entry) == 0 { 0 } else { entry.steps }));
        self.shown.end(&self.ticker, &machine)?;
        Ok(machine)
    }

    /// Counts the planners to ask on this machine, and on `later` ones, where any of these names may apply.
    fn expect<'a>(&mut self, here: impl Iterator<Item = &'a String>, later: usize, names: &'a [String]) {
        let to_come = std::iter::repeat_n(names, later).flatten();
        let weights: Vec<u32> = here.chain(to_come).map(|name| weight(name)).collect();
        (self.left, self.weight) = (weights.len(), weights.iter().sum());
    }

    /// Counts one planner more.
    pub fn expect_one_more(&mut self, name: &str) {
        (self.left, self.weight) = (self.left + 1, self.weight + weight(name));
    }

    /// The planners in the order asked for; unless they were, those that answer soon before those that may not, and
    /// published schemes last.
    fn in_turn(&self, names: &[String], problem: &Problem) -> Vec<String> {
        let mut names = names.to_vec();
        if self.command.planners.is_empty() {
            let may_take_long = |name: &str| named(name).is_ok_and(|planner| !planner.is_quick(problem));
            names.sort_by_key(|name| (is_published(name), may_take_long(name)));
        }
        names
    }

    /// Adds the schedules of an answer that none of the same planner equals or beats, and shows them.
    fn show(&mut self, machine: &mut Machine, answer: &Answer) -> Result<(), Failure> {
        for (entry, bounds) in answer.found.iter().flatten() {
            sharpen(&mut machine.bounds, bounds.volume.as_ref());
            let beaten = machine.entries.iter().any(|before| {
                before.planner == entry.planner && before.steps <= entry.steps && before.volume <= entry.volume
            });
            if !beaten {
                machine.entries.push(entry.clone());
            }
        }
        self.shown.rows(&self.ticker, machine)
    }

    /// What a planner's last answer says beside its schedules.
    fn settle(
        &mut self,
        machine: &mut Machine,
        name: &str,
        answer: Answer,
        question: &Question<'_>,
    ) -> Result<(), Failure> {
        if answer.stopped != StopReason::Finished {
            self.stopped = answer.stopped;
            machine.cut.push(name.to_owned());
        }
        if let Err((reason, applies)) = answer.found {
            let butterfly = Butterfly::ALL.into_iter().find(|butterfly| butterfly.name() == name);
            if let Some(charge) = butterfly.and_then(|butterfly| butterfly.charge(&machine.problem).ok()) {
                let planner = named(name)?.name();
                machine.charged.push(Charged::new(planner, charge.rounds, charge.load, question.rates));
            }
            let brief = self.command.planners.is_empty() && !applies;
            machine.refusals.push(Refusal { planner: name.to_owned(), reason, brief });
        }
        Ok(())
    }
}

/// Leaves out schedules of planners that a later answer equals or beats.
fn keep_the_best(entries: &mut Vec<Entry>, names: &[String]) {
    let all = entries.clone();
    let mut index = 0;
    entries.retain(|entry| {
        index += 1;
        let beats = |later: &Entry| {
            later.planner == entry.planner && later.steps <= entry.steps && later.volume <= entry.volume
        };
        !names.contains(&entry.planner) || !all[index..].iter().any(beats)
    });
}
