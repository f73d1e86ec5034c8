//! `synth show --format svg` and `--format map`: pictures of a schedule.

use clap::ValueEnum;
use collsynth::certificate::{check_steps, check_volume};
use collsynth::collective::ChunkId;
use collsynth::report::tables::steps::Selection;
use collsynth::schedule::{Solution, Timetable};
use collsynth::topology::LinkId;
use collsynth::view::map;
use collsynth::view::marks::Marks;
use collsynth::view::picture::{self, Subject};

use crate::cli::ending::Failure;

/// A figure that has a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figure {
    /// The bound on the steps
    Steps,
    /// The bound on the volume
    Volume,
}

/// The picture of a step, of a chunk's path or of a bound; of all steps if none of them is stated.
pub fn svg(solution: &Solution, selection: &Selection, bound: Option<Figure>) -> Result<String, Failure> {
    let subject = match (&selection.choice.chunks, bound, selection.steps.as_slice()) {
        (Some(chunks), None, []) => Subject::Chunk(ChunkId(chunks.start)),
        (None, Some(figure), []) => Subject::Evidence(evidence(solution, figure)?),
        (None, None, []) => Subject::Heat,
        (None, None, [step]) => Subject::Step(*step),
        _ => return Err(Failure::usage("a picture shows one step, one chunk or all steps")),
    };
    Ok(picture::svg(solution, &subject))
}

/// The evidence of a bound, which is checked before it is drawn.
fn evidence(solution: &Solution, figure: Figure) -> Result<Marks, Failure> {
    let (problem, bounds) = (&solution.problem, &solution.bounds);
    let missing = || {
        let name = if figure == Figure::Steps { "steps" } else { "volume" };
        Failure::usage(format!("the file states no bound on the {name}"))
            .hint("what planning writes states bounds; `synth bound FILE` finds those of any file")
    };
    match figure {
        Figure::Steps => {
            let bound = bounds.steps.as_ref().ok_or_else(missing)?;
            check_steps(problem, bound).map_err(Failure::usage)?;
            Ok(Marks::of_steps(problem.topology(), bound))
        }
        Figure::Volume => {
            let bound = bounds.volume.as_ref().ok_or_else(missing)?;
            check_volume(problem, bound).map_err(Failure::usage)?;
            Ok(Marks::of_volume(problem.topology(), &bound.evidence))
        }
    }
}

/// The loads of the links in the selected steps on a map.
pub fn map(solution: &Solution<impl Timetable>, selection: &Selection) -> Result<String, Failure> {
    let mut steps = selection.steps_of(solution.schedule.numbers());
    let carried = solution.schedule.carried(&solution.problem, &mut steps);
    map::map(&solution.problem, |link: LinkId| carried[link.index()]).ok_or_else(|| {
        Failure::usage("a map shows a torus or mesh of one or two dimensions").hint("--format svg draws any machine")
    })
}
