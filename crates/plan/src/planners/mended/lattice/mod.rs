//! Lattices: failures that repeat with a period, planned on the quotient.
//!
//! # Idea
//!
//! A dead switch takes the same cable out of every cell of a torus. Translations by multiples of the period then leave
//! the machine as it is, and let a whole schedule be one of few messages: those of the ranks of one cell, the
//! *representatives*, which stand for all their translations.
//!
//! ```text
//!   16x16x16, cells of 4x4x4     64 representatives, 384 classes of links (representative, direction)
//!   a message of a representative: 64 messages          a class of links: 64 links
//!   each of the 64 messages crosses each link of a class at most once for every hop in it, so
//!   load of a link in a step = hops of representatives' messages in its class and step
//! ```
//!
//! 1. Every representative begins with the template of the intact torus, so all loads are known at once.
//! 2. Messages that cross a dead link move to their cheapest path: a dynamic program over the moves made so far and the
//!    step (see `search`).
//! 3. A queue of overfull slots: some messages of each are tried; the first that finds room moves, or else the one
//!    whose move costs least, so that excess walks on until it finds room (see `negotiation`). Slots that stay overfull
//!    become dearer, and so do the links of tight cuts: what crosses such a cut twice takes away what cannot be spared
//!    (see `tolls`).
//! 4. What differs from the template is written for one cell, as in [`Repeated`].
//!
//! # Applies
//!
//! All_to_all on tori of at most four dimensions, all closed and of 3 positions or more, twisted or not, in which
//! cables or links have failed that repeat in eight cells at least.
//!
//! # Steps and volume
//!
//! The steps asked for, which are at least those of the template, and the volume bound, rounded up, if the queue runs
//! empty; if not, a little more: steps are as wide as their fullest link.
//!
//! # Complexity
//!
//! O(ranks of a cell * messages of a rank) to begin; then O(slots near the shortest paths of a message) for each try.
//!
//! # Reference
//!
//! Zu et al., "Resiliency at Scale: Managing Google's TPUv4 Machine Learning Supercomputer", NSDI 2024: the failures.

mod negotiation;
mod period;
mod quotient;
mod search;
mod tolls;
mod ways;
mod written;

use collsynth_core::certificate::Bounds;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Repeated, Translation};

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::widths::even_widths;
use crate::planners::template::TemplateSchedule;
use negotiation::Negotiation;
pub(super) use period::period;
use quotient::Quotient;
use ways::Ways;

/// The most attempts; from the second on, they are 1, 2, 4, .. wider than the one before.
const ATTEMPTS: u32 = 6;

/// A schedule in exactly these steps around failures that repeat with a [`period`], and why the search stopped; `None`
/// if there is no template, or some message has to go farther around than two hops.
pub(super) fn in_steps(
    problem: &Problem,
    period: &[u32],
    bounds: &Bounds,
    steps: u32,
    seed: u64,
    control: &Control,
) -> Result<Option<(CompactSchedule, StopReason)>, PlanError> {
    problem.check_connected()?;
    let (Some(torus), Some(translation)) = (problem.machine().as_torus(), Translation::new(problem)) else {
        return Ok(None);
    };
    let Some(template) = TemplateSchedule::new(torus, problem.parts(), steps) else { return Ok(None) };
    let pattern = template.pattern(&super::pattern::intact(problem.machine()), problem.parts());
    let least = bounds.least_width(problem.parts()).max(pattern.total_width() as u32).max(steps);
    let mut quotient = Quotient::new(problem.machine(), period, even_widths(least, steps));
    tolls::charge(&mut quotient, torus, u64::from(problem.parts()), least);
    let ways = Ways::new(torus, problem.parts());
    let mut negotiation = Negotiation::new(quotient, &ways, ways.paths_of(torus, &pattern), seed);
    if !negotiation.is_possible() {
        return Ok(None);
    }
    let mut width = least;
    for attempt in 0..ATTEMPTS {
        if negotiation.run(control) {
            break;
        }
        // Wider, so that less is lost at the end.
        width += 1 << attempt;
        if width >= negotiation.fitting_width() || control.stop().is_some() {
            break;
        }
        negotiation.widen(even_widths(width, steps));
    }
    let stopped = control.stop().unwrap_or(StopReason::Finished);
    let widths = negotiation.fitting_widths();
    let (pattern, moves, chunks) = written::differences(&negotiation, torus, &translation, &pattern, &widths);
    let own = written::empty(&widths);
    let repeated = Some(Repeated { period: period.to_vec(), chunks, moves });
    Ok(CompactSchedule::with_period(problem, pattern, repeated, own, Vec::new()).ok().map(|plan| (plan, stopped)))
}
