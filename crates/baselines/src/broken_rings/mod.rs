//! All-to-all on tori with broken rings: HalfRing and DimRotation on the intact rings, and schemes for the broken ones.
//!
//! As in DimRotation, the data is in `D` classes, and in normal phase `p` class `c` works on dimension `(c + p) mod D`.
//! An intact ring runs HalfRing. The chunks of a broken ring in this phase are divided among *routings*: the ring
//! itself, without its dead cable, in the normal phase; and, in the acceleration phases that follow, the ring itself
//! again and virtual rings over its neighbors (`routings`). The offline bandwidth allocation, a linear program, decides
//! the share of each routing (`allocation`); shares are rounded to chunks (`shares`), and the chunks of each phase are
//! scheduled over their routes.

mod allocation;
mod machine;
mod routings;
mod scheme;
mod shares;

pub(crate) use scheme::{Acceleration, Remains, Scheme};

use allocation::has_choice;
use collsynth_core::problem::Problem;
use collsynth_lp::{Allocation, HAS_SOLVER, LpError};
use collsynth_plan::phased::{Walks, active_dims, plan_walks, travelers};
use collsynth_plan::{Control, Outcome, PlanError, StatedPhase, Task};
use machine::Machine;
use num_rational::Ratio;

/// Checks that a scheme has a routing for the data of every broken ring.
///
/// # Errors
///
/// [`PlanError::NotApplicable`] with the reason.
pub(crate) fn check(planner: &'static str, problem: &Problem, scheme: Scheme) -> Result<(), PlanError> {
    let machine = Machine::new(planner, problem, scheme)?;
    match HAS_SOLVER || !has_choice(&machine.all_portions()) {
        true => Ok(()),
        false => Err(PlanError::NotApplicable { planner, reason: LpError::NoSolver.to_string() }),
    }
}

/// The number of parts at which the shares of a scheme are whole chunks, on a torus of equal extents with one broken
/// ring; of unequal extents the largest counts.
pub(crate) fn natural_parts(problem: &Problem, scheme: Scheme) -> Option<u32> {
    let dims = active_dims(problem);
    let extent = dims.iter().map(|&dim| problem.topology().as_torus().map_or(1, |torus| torus.extents[dim])).max()?;
    let classes = dims.len() as u32;
    // The speed of a broken ring relative to an intact one.
    let speed = match scheme.remains {
        Remains::Open => Ratio::new(1, 2),
        Remains::Folded if extent.is_multiple_of(2) => Ratio::new(extent, 4 * (extent - 1)),
        Remains::Folded => Ratio::new(extent + 1, 4 * extent),
    };
    let (numerator, denominator) = (*speed.numer(), *speed.denom());
    let shared = (classes - 1) * denominator + numerator;
    Some(match (scheme.acceleration, scheme.normal) {
        (Acceleration::None, _) => 2 * classes,
        (_, false) => classes * shared,
        (_, true) => classes * shared * denominator,
    })
}

/// The linear programs of a scheme, one for each normal phase in which there is a choice.
///
/// # Errors
///
/// [`PlanError::NotApplicable`] if the scheme does not apply.
pub(crate) fn allocations(
    planner: &'static str,
    problem: &Problem,
    scheme: Scheme,
) -> Result<Vec<Allocation>, PlanError> {
    let machine = Machine::new(planner, problem, scheme)?;
    let mut travelers = travelers(problem);
    let of_phase = |phase| {
        let (intact, errands) = machine.normal_phase(phase, &mut travelers);
        machine.program(problem, &intact, &errands, &machine.all_portions())
    };
    Ok((0..machine.dims.len()).filter_map(of_phase).collect())
}

/// Plans by a scheme.
///
/// # Errors
///
/// [`PlanError`] if it does not apply, is stopped, or does not fit the steps stated.
pub(crate) fn plan(
    planner: &'static str,
    task: &Task<'_>,
    control: &Control,
    scheme: Scheme,
) -> Result<Outcome, PlanError> {
    let machine = Machine::new(planner, task.problem, scheme)?;
    let mut travelers = travelers(task.problem);
    let accelerations = machine.groups.iter().map(|group| group + 1).max().unwrap_or(0);
    let mut phases = Vec::new();
    for phase in 0..machine.dims.len() {
        if let Some(stopped) = control.stop() {
            return Err(PlanError::Stopped { stopped });
        }
        let (intact, errands) = machine.normal_phase(phase, &mut travelers);
        let shares = machine.allocate(planner, task.problem, control, &intact, &errands)?;
        let mut walks = vec![Walks::default(); accelerations + 1];
        walks[0] = intact;
        for ((ring, shares), errands) in machine.broken.iter().zip(&shares).zip(errands) {
            shares::send(ring, shares, errands, &mut walks);
        }
        for (number, walks) in walks.into_iter().enumerate() {
            let name = match (number, accelerations) {
                (0, _) => format!("normal {}", phase + 1),
                (_, 1) => format!("acceleration {}", phase + 1),
                _ => format!("acceleration {}.{number}", phase + 1),
            };
            let of_phase = |portion: &&allocation::Portion<'_>| portion.phase == number && portion.share > 0.0;
            let edges = shares.iter().flatten().filter(of_phase).map(|portion| portion.routing.edge);
            phases.push((StatedPhase { name, startups: edges.max().unwrap_or(1) }, walks));
        }
    }
    plan_walks(planner, task, control, phases)
}
