//! The judge of the fast planners: on small machines the SMT planner proves the best schedules, and every other planner
//! is compared with them. Proofs take long once, and are kept in `tests/data/optima.txt`; the comparison is made each
//! time: docs/results/optimality.md sums up the cases of `tests/data/optimality.txt`.
//!
//! `SYNTH_UPDATE_RESULTS=1 cargo test --test pages optimality` judges the cases that the file lacks, and writes the
//! page. To have a case judged again, remove its line.

mod judge;
mod machines;
mod page;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::time::Duration;

use collsynth::bound::{self, FlowLimit};
use collsynth::certificate::check_joint;
use collsynth::plan::planners;
use rayon::prelude::*;

use crate::support::pages::hold;
use judge::{Facts, Figures};
use machines::{Case, cases};

const OPTIMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/optima.txt");

const HEAD: &str = "\
# What the SMT planner has proven, see tests/pages/optimality. Extents, dead cables, collective, \
parts: the least width in the fewest
# steps that allow it, and the fewest steps with the least width that they allow, each as steps/width; \
? where undecided.
# Then what was found, where it was stopped, and what it refuted.
";

/// The judge.
const NOT_FAST: &str = "smt";

/// A link once added one chunk and copied another in one step here, which schedules cannot express.
const ONCE_WRONG: &str = "2x2x2 0-1,0-2 all_reduce 2";

/// How long either end of a case's front may take when the file is written; and where it takes moments, on any machine.
const TIME: Duration = Duration::from_secs(20);
const AMPLE: Duration = Duration::from_secs(600);

/// How long z3 may take for a question.
#[cfg(feature = "z3")]
const Z3_TIME: Duration = AMPLE;

/// A case, its proofs, and the planners' figures.
pub struct Row {
    case: Case,
    facts: Facts,
    bound: Figures,
    /// The plan without a named planner: its planner and figures.
    unnamed: (&'static str, Figures),
    /// Every fast planner that applies.
    named: Vec<(&'static str, Figures)>,
}

#[test]
fn no_planner_beats_the_judge_and_the_page_is_current() {
    let update = std::env::var_os("SYNTH_UPDATE_RESULTS").is_some();
    let known = if update { complete() } else { stored() };
    let rows: Vec<Row> = cases().into_par_iter().map(|case| row(case, &known)).collect();
    for row in &rows {
        let within = |proven: Option<Figures>| {
            proven.is_none_or(|best| row.bound.steps <= best.steps && row.bound.width <= best.width)
        };
        assert!(within(row.facts.least) && within(row.facts.fewest), "{}: bound {}", row.case, row.bound);
        let all = row.named.iter().chain([&row.unnamed]);
        for &(planner, figures) in all {
            assert!(
                !row.facts.exclude(figures, row.case.moves()),
                "{}: {planner} {figures} beats {}",
                row.case,
                row.facts
            );
        }
    }
    hold("tests/data/optimality.txt", &page::rows(&rows));
    hold("docs/results/optimality.md", &page::page(&rows));
}

fn row(case: Case, known: &BTreeMap<String, Facts>) -> Row {
    let key = case.judged().to_string();
    let facts = known.get(&key).unwrap_or_else(|| panic!("tests/data/optima.txt lacks {key}")).clone();
    let bound = judge::least(&case);
    let fast = planners().iter().map(|planner| planner.name()).filter(|&name| name != NOT_FAST);
    let named = fast.filter_map(|name| judge::planned(&case, Some(name))).collect();
    let unnamed = judge::planned(&case, None).unwrap();
    Row { case, facts, bound, unnamed, named }
}

/// Where the fewest steps need more than the least width: no linear program proves more than the solver found, and most
/// prove as much.
#[test]
fn joint_bounds_never_exceed_the_optimum() {
    let known = stored();
    let met = cases().into_par_iter().filter(|case| case.kind.has_volume()).filter_map(|case| {
        let facts = &known[&case.judged().to_string()];
        let fewest = facts.fewest.filter(|&fewest| facts.least.is_some_and(|least| least != fewest))?;
        let (problem, _) = judge::bounds(&case);
        let bound = bound::stepped_bound(&problem, fewest.steps, &FlowLimit::of_size(16_000)).unwrap();
        check_joint(&problem, &bound.proven).unwrap();
        let width = bound.least_width(case.parts);
        assert!(width <= fewest.width, "{case}: {width} is above {fewest}");
        Some(width == fewest.width)
    });
    let met: Vec<bool> = met.collect();
    assert_eq!((met.len(), met.iter().filter(|&&met| met).count()), (78, 58));
}

/// Quick proofs are made again.
#[test]
fn what_is_easy_is_judged_anew() {
    let known = stored();
    let easy = |case: &Case| case.machine.extents.iter().product::<u32>() <= 5 || case.to_string() == ONCE_WRONG;
    cases().into_par_iter().filter(easy).for_each(|case| {
        let key = case.judged().to_string();
        let (stored, now) = (&known[&key], judge::judge(&case, AMPLE));
        assert_eq!((stored.least, stored.fewest), (now.least, now.fewest), "{case}");
    });
}

/// The other solver refutes what was refuted.
#[cfg(feature = "z3")]
#[test]
fn z3_agrees() {
    let stored = stored();
    let judged = cases().into_iter().filter(|case| case.judged() == *case);
    let questions: Vec<(Case, Figures)> = judged
        .flat_map(|case| {
            let refuted = stored[&case.to_string()].refuted.clone();
            refuted.into_iter().map(move |figures| (case.clone(), figures))
        })
        .collect();
    assert!(questions.len() > 100);
    questions.par_iter().for_each(|(case, figures)| {
        let answer = judge::asked_of_z3(case, *figures, Z3_TIME);
        assert_eq!(answer, Some(false), "{case}, {figures}");
    });
}

fn stored() -> BTreeMap<String, Facts> {
    judge::read(&fs::read_to_string(OPTIMA).unwrap_or_default())
}

/// Judges the cases that the file lacks, and writes it after each.
fn complete() -> BTreeMap<String, Facts> {
    let mut judged: Vec<Case> = cases().iter().map(Case::judged).collect();
    let mut seen = std::collections::HashSet::new();
    judged.retain(|case| seen.insert(case.to_string()));
    let mut stored = stored();
    stored.retain(|case, _| seen.contains(case));
    let known = Mutex::new(stored);
    judged.par_iter().for_each(|case| {
        let key = case.to_string();
        if known.lock().unwrap().contains_key(&key) {
            return;
        }
        let facts = judge::judge(case, TIME);
        let mut known = known.lock().unwrap();
        known.insert(key, facts);
        let line = |case: &Case| known.get(&case.to_string()).map(|facts| format!("{case}: {facts}\n"));
        let lines: String = judged.iter().filter_map(line).collect();
        fs::write(OPTIMA, format!("{HEAD}{lines}")).unwrap();
    });
    known.into_inner().unwrap()
}
