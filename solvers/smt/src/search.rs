//! From a question to an answer, formula by formula.

use std::io;

use crate::cnf::{self, Cnf};
use crate::instance::{Demand, Instance, InstanceError, Question};
use crate::schedule::Schedule;
use crate::sends::Sends;
use crate::solver::{Backend, Limits, ProofForm, Verdict};
use crate::sums::Sums;
use crate::symmetry::{Action, Group, Symmetries};
use crate::{cadical, moves, sums};

/// Conflicts for the search among schedules that keep symmetries, and for that among all, before symmetries are broken.
const SYMMETRIC: u32 = 20_000;
const PLAIN: u32 = 20_000;

/// Formulas of more before counting are not written.
const MOST_LITERALS: u64 = 50_000_000;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A schedule.
    Found(Schedule),
    /// No schedule: this formula has no model.
    Refuted(Formula),
    /// Stopped before either was known.
    Unknown,
}

/// A formula's size, and whether it excludes images of schedules under symmetries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Variables.
    pub variables: i32,
    /// Clauses.
    pub clauses: usize,
    /// Are symmetries broken?
    pub broken: bool,
}

/// A refutation that other programs can check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The size of the formula.
    pub formula: Formula,
    /// The formula, as a DIMACS file.
    pub dimacs: Vec<u8>,
    /// The proof that it has no model.
    pub proof: Vec<u8>,
}

/// Is there a schedule? Deterministic, unless it is stopped.
///
/// # Errors
///
/// An [`InstanceError`] if the instance is malformed or the formula would be too large.
///
/// # Panics
///
/// If there are no steps, or less width than steps.
pub fn solve(
    instance: &Instance,
    question: Question,
    backend: Backend,
    limits: &Limits<'_>,
) -> Result<Answer, InstanceError> {
    let search = Search::new(instance, question)?;
    let limited = |most: u32| Limits { conflicts: Some(limits.conflicts.unwrap_or(most).min(most)), ..*limits };
    for actions in search.kept() {
        let (cnf, meaning) = search.encode(Symmetries::Keep(&actions))?;
        if let Verdict::Model(model) = ask(backend, &cnf, &limited(SYMMETRIC)) {
            return Ok(Answer::Found(search.decode(&meaning, &model)));
        }
    }
    let actions = search.group.actions(&instance.demand);
    for (symmetries, limits) in [(Symmetries::Ignore, limited(PLAIN)), (Symmetries::Break(&actions), *limits)] {
        let (cnf, meaning) = search.encode(symmetries)?;
        match ask(backend, &cnf, &limits) {
            Verdict::Model(model) => return Ok(Answer::Found(search.decode(&meaning, &model))),
            Verdict::Refuted => return Ok(Answer::Refuted(formula(&cnf, symmetries))),
            Verdict::Unknown => {}
        }
    }
    Ok(Answer::Unknown)
}

/// CaDiCaL's proof that a question has no schedule: the formula, as a DIMACS file, and the proof that it has no model,
/// as text. Symmetries are broken only if the proof is long without that. `None` if there is no refutation.
///
/// # Errors
///
/// If the proof cannot be written to a temporary file; or a wrapped [`InstanceError`], as for [`solve`].
///
/// # Panics
///
/// As [`solve`].
pub fn prove(
    instance: &Instance,
    question: Question,
    form: ProofForm,
    limits: &Limits<'_>,
) -> io::Result<Option<Proof>> {
    let search = Search::new(instance, question).map_err(io::Error::other)?;
    let actions = search.group.actions(&instance.demand);
    let plain = Limits { conflicts: Some(limits.conflicts.unwrap_or(PLAIN).min(PLAIN)), ..*limits };
    for (symmetries, limits) in [(Symmetries::Ignore, plain), (Symmetries::Break(&actions), *limits)] {
        let (cnf, _) = search.encode(symmetries).map_err(io::Error::other)?;
        let mut dimacs = Vec::new();
        cnf.write_dimacs(&mut dimacs)?;
        let (refuted, proof) = cadical::solve_with_proof(&dimacs, &limits, form)?;
        if refuted {
            return Ok(Some(Proof { formula: formula(&cnf, symmetries), dimacs, proof }));
        }
    }
    Ok(None)
}

fn ask(backend: Backend, cnf: &Cnf, limits: &Limits<'_>) -> Verdict {
    if (limits.stop)() {
        return Verdict::Unknown;
    }
    match backend {
        Backend::Cadical => cadical::solve(cnf, limits),
        #[cfg(feature = "z3")]
        Backend::Z3 => crate::z3::solve(cnf, limits),
    }
}

fn formula(cnf: &Cnf, symmetries: Symmetries<'_>) -> Formula {
    let broken = matches!(symmetries, Symmetries::Break(_));
    Formula { variables: cnf.variables(), clauses: cnf.len(), broken }
}

struct Search<'a> {
    instance: &'a Instance,
    question: Question,
    group: Group,
}

/// The meaning of a formula's variables.
enum Meaning {
    Moves(Sends),
    Sums(Sums),
}

impl<'a> Search<'a> {
    fn new(instance: &'a Instance, question: Question) -> Result<Self, InstanceError> {
        assert!(question.steps >= 1 && question.width >= question.steps, "every step is at least 1 wide");
        instance.check()?;
        let (nodes, arcs) = (u64::from(instance.nodes), instance.arcs.len() as u64);
        let literals = match &instance.demand {
            Demand::Move(chunks) => chunks.len() as u64 * (nodes + 4 * arcs),
            Demand::Sum(parts) => u64::from(*parts) * nodes * (nodes + 4 * arcs),
        };
        let literals = literals.saturating_mul(u64::from(question.steps));
        if literals > MOST_LITERALS {
            return Err(InstanceError::TooLarge { literals, most: MOST_LITERALS });
        }
        Ok(Self { instance, question, group: Group::of(instance) })
    }

    /// The sets of symmetries that schedules may keep, to try in order.
    fn kept(&self) -> Vec<Vec<Action>> {
        let free = self.group.free_subgroup(self.instance);
        let on_parts = match self.instance.demand {
            Demand::Sum(parts) => free.actions_on_parts(parts),
            Demand::Move(_) => None,
        };
        let plain = free.actions(&self.instance.demand);
        on_parts.into_iter().chain([plain]).filter(|actions| !actions.is_empty()).collect()
    }

    fn encode(&self, symmetries: Symmetries<'_>) -> Result<(Cnf, Meaning), InstanceError> {
        let (cnf, meaning) = match &self.instance.demand {
            Demand::Move(chunks) => {
                let (cnf, sends) = moves::encode(self.instance, chunks, self.question, symmetries);
                (cnf, Meaning::Moves(sends))
            }
            Demand::Sum(parts) => {
                let (cnf, sums) = sums::encode(self.instance, *parts, self.question, symmetries);
                (cnf, Meaning::Sums(sums))
            }
        };
        let most = cnf::MOST_LITERALS as u64;
        if cnf.is_full() { Err(InstanceError::TooLarge { literals: most, most }) } else { Ok((cnf, meaning)) }
    }

    fn decode(&self, meaning: &Meaning, model: &[bool]) -> Schedule {
        let steps = self.question.steps as usize;
        match (meaning, &self.instance.demand) {
            (Meaning::Moves(sends), Demand::Move(chunks)) => moves::decode(self.instance, chunks, steps, sends, model),
            (Meaning::Sums(sums), Demand::Sum(parts)) => sums::decode(self.instance, *parts, sums, model),
            _ => unreachable!("a formula is read as it was written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Search, ask, solve};
    use crate::instance::{Arc, Chunk, Demand, Instance, Question, Symmetry};
    use crate::solver::{Backend, Limits, Verdict};
    use crate::symmetry::Symmetries;

    /// A ring with all its rotations and reflections.
    fn ring(nodes: u32, demand: Demand) -> Instance {
        let arc = |from: u32, to: u32| Arc { from: from % nodes, to: to % nodes, capacity: 1 };
        let arcs: Vec<Arc> = (0..nodes).flat_map(|node| [arc(node, node + 1), arc(node + 1, node)]).collect();
        let map = |image: &dyn Fn(u32) -> u32| {
            let ends = |of: &Arc| (image(of.from), image(of.to));
            let arc = |of: &Arc| arcs.iter().position(|other| (other.from, other.to) == ends(of)).unwrap_or(0) as u32;
            Symmetry { nodes: (0..nodes).map(image).collect(), arcs: arcs.iter().map(arc).collect() }
        };
        let symmetries = vec![map(&|node| (node + 1) % nodes), map(&|node| nodes - 1 - node)];
        Instance { nodes, arcs, demand, symmetries, metrics: Vec::new() }
    }

    #[test]
    fn breaking_symmetries_changes_no_answer() {
        let limits = Limits { stop: &|| false, conflicts: None };
        for nodes in 3..=5 {
            let pairs = (0..nodes).flat_map(|source| (0..nodes).map(move |dest| (source, dest)));
            let chunks = pairs.filter(|(source, dest)| source != dest);
            let chunks = chunks.flat_map(|(source, dest)| vec![Chunk { source, dests: vec![dest] }; 2]);
            for demand in [Demand::Move(chunks.collect()), Demand::Sum(2)] {
                let instance = ring(nodes, demand);
                for (steps, width) in [(2, 2), (2, 3), (2, 4), (3, 3), (3, 5), (3, 6), (4, 4)] {
                    let question = Question { steps, width };
                    let search = Search::new(&instance, question).unwrap();
                    let actions = search.group.actions(&instance.demand);
                    assert_eq!(actions.len() as u32, 2 * nodes - 1);
                    let holds = |symmetries| {
                        let (cnf, _) = search.encode(symmetries).unwrap();
                        matches!(ask(Backend::Cadical, &cnf, &limits), Verdict::Model(_))
                    };
                    let plainly = holds(Symmetries::Ignore);
                    assert_eq!(holds(Symmetries::Break(&actions)), plainly, "{nodes} nodes, {question:?}");
                    let answer = solve(&instance, question, Backend::Cadical, &limits).unwrap();
                    assert_eq!(matches!(answer, Answer::Found(_)), plainly, "{nodes} nodes, {question:?}");
                }
            }
        }
    }
}
