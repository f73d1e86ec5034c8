//! `synth --proof FILE`: a refutation that other programs can check.

use std::path::{Path, PathBuf};

use collsynth::plan::{Control, Goal, ProofForm, SharperBounds, Smt, Task};
use collsynth::problem::Problem;

use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::output;

/// Writes the proof that the goal has no schedule to a file, and the formula it refutes to another.
pub fn write(problem: &Problem, goal: &Goal<'_>, smt: &Smt, control: &Control, path: &Path) -> Result<(), Failure> {
    let bounds = control.bounds(problem).map_err(|error| Failure::of_plan(&error, problem.topology()))?;
    let sharper = SharperBounds::new(problem, &bounds, control);
    let task = Task { sharper: Some(&sharper), steps: goal.steps, seed: goal.seed, ..Task::new(problem, &bounds) };
    let name = path.to_string_lossy();
    let form = match name.strip_suffix(".gz").unwrap_or(&name).ends_with(".lrat") {
        true => ProofForm::Lrat,
        false => ProofForm::Drat,
    };
    let proof = smt.prove(&task, form, control).map_err(|error| Failure::of_plan(&error, problem.topology()))?;
    let Some(proof) = proof else {
        let stopped = Failure::new(Ending::Stopped, "stopped before the proof was complete; nothing is written");
        return Err(stopped.hint("allow more time with --time-limit"));
    };
    let formula = PathBuf::from(format!("{}.cnf", path.display()));
    output::write_files(vec![(formula.clone(), proof.dimacs), (path.to_owned(), proof.proof)])?;
    let name = if form == ProofForm::Lrat { "LRAT" } else { "DRAT" };
    let (formula, size) = (formula.display(), proof.formula);
    note(&format!(
        "{name} proof written to {}; it refutes {formula}: {} variables, {} clauses",
        path.display(),
        size.variables,
        size.clauses
    ));
    Ok(())
}
