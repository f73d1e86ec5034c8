//! What is planned alone, put together: the routes of several collectives, or groups, share the links of one machine.

pub mod finer;
pub mod hops;
pub mod leveling;
mod overlay;

use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;

use crate::model::control::Control;
use hops::Hop;
use leveling::level;
use overlay::{Overlay, Steps};

/// Routes are leveled so often, in other orders, where they have few moves.
const ATTEMPTS: u64 = 3;
const FEW_MOVES: usize = 100_000;

/// A schedule for each problem, all of the same steps, after its routes have been leveled: of a total width of `near`
/// or else the least found, which is `least` at best, in at most `most_steps`. `None` if that is not found.
pub(crate) fn put_together(
    problems: &[Problem],
    routes: &[Vec<Hop>],
    (least, near): (u64, u64),
    most_steps: Option<u32>,
    seed: u64,
    control: &Control,
) -> Option<Vec<Schedule>> {
    let most = most_steps.map_or(usize::MAX, |most| most as usize);
    let moves: usize = routes.iter().map(Vec::len).sum();
    let mut best: Option<((u64, usize), Vec<Schedule>)> = None;
    for attempt in 0..if moves <= FEW_MOVES { ATTEMPTS } else { 1 } {
        if best.as_ref().is_some_and(|((width, _), _)| *width <= near || control.stop().is_some()) {
            break;
        }
        let seed = seed.wrapping_add(attempt);
        let mut leveled = routes.to_vec();
        // The timetable takes time too.
        level(problems, &mut leveled, least, seed, &control.halfway());
        let overlay = Overlay::new(problems, &leveled)?;
        let timetable = overlay.timetable(Steps::FEW, near, most, seed, control);
        let figures = timetable.figures();
        if figures.1 <= most && best.as_ref().is_none_or(|(other, _)| figures < *other) {
            best = Some((figures, overlay.schedules(&timetable)));
        }
    }
    best.map(|(_, schedules)| schedules)
}
