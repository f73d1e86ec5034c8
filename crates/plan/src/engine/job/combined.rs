//! Jobs of collectives that are planned alone: their routes, leveled, and their moves put together.

use collsynth_core::schedule::Job;

use super::prospect::Prospect;
use super::routes::routes;
use super::{COARSE, JobGoal, gap, is_better};
use crate::engine::together::hops::{Hop, split};
use crate::engine::together::put_together;
use crate::model::control::Control;

/// The most moves that are put together, and beyond which no message is cut further for it.
pub(super) const MOST_MOVES: u64 = 16_000_000;
const MOST_MOVES_TO_CUT: u64 = 1_000_000;
/// The finest cut where moves are put together: a unit of width is this share of the total. Each round multiplies the
/// parts by up to `CUT`.
const FINE: f64 = 0.0025;
const CUT: u32 = 4;

/// Plans each collective alone, levels their routes, and puts the moves together, in more and more parts until the
/// total width is within `close` of its bound; also how far messages were cut for it. `None` if that cannot be done, or
/// not in the steps stated.
pub(super) fn combined(
    whole: &Prospect,
    cuts: bool,
    goal: &JobGoal,
    close: f64,
    control: &Control,
) -> Option<(Job, u32)> {
    let links = whole.problems[0].topology().live_links().count() as u64;
    // If every link is busy all the time.
    let moves = (whole.least_volume() * links as f64) as u64;
    if goal.steps.is_some() || moves > MOST_MOVES {
        return None;
    }
    let can_cut = |cut: u32| cuts && moves * u64::from(cut) <= MOST_MOVES_TO_CUT && goal.may_cut(cut);
    let mut cut = whole.fine_cut(COARSE, can_cut);
    let finest = whole.fine_cut(FINE, can_cut);
    let mut prospect = whole.cut(cut, control).ok()?;
    let mut routes = routes(&prospect.problems, goal, &control.planning_all(&prospect.problems)).ok()?;
    let mut best: Option<(Job, u32)> = None;
    loop {
        let found = together(prospect, &mut routes, goal, close, control).map(|job| (job, cut));
        best = match (best, found) {
            (Some(best), Some(found)) if !is_better((&found.0, found.1), (&best.0, best.1)) => Some(best),
            (best, found) => found.or(best),
        };
        let is_enough = best.as_ref().is_some_and(|(job, _)| gap(job) <= close);
        if is_enough || cut >= finest || control.stop().is_some() {
            return best;
        }
        let pieces = CUT.min(finest / cut);
        cut *= pieces;
        prospect = whole.cut(cut, control).ok()?;
        for (hops, problem) in routes.iter_mut().zip(&prospect.problems) {
            *hops = split(hops, if problem.collective().kind.has_volume() { pieces } else { 1 });
        }
    }
}

/// One job of collectives that are planned alone, whose routes are then those leveled.
fn together(prospect: Prospect, routes: &mut [Vec<Hop>], goal: &JobGoal, close: f64, control: &Control) -> Option<Job> {
    let control = &control.planning_all(&prospect.problems);
    let least = u64::from(prospect.least_width());
    let near = least + (close * least as f64) as u64;
    let schedules = put_together(&prospect.problems, routes, (least, near), goal.max_steps, goal.seed, control)?;
    prospect.into_job(schedules).ok()
}
