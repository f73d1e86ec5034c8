//! What is planned alone, put together: the routes of several collectives, or groups, share the links of one machine.

pub mod hops;
pub mod leveling;
mod overlay;

use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;

use crate::model::control::Control;
use hops::Hop;
use leveling::level;
use overlay::Overlay;

/// A schedule for each problem, all of the same steps, after its routes have been leveled: of a total width of `near`
/// or else the least found, which is `least` at best, in at most `most_steps`. `None` if that is not found.
pub(crate) fn put_together(
    problems: &[Problem],
    mut routes: Vec<Vec<Hop>>,
    (least, near): (u64, u64),
    most_steps: Option<u32>,
    seed: u64,
    control: &Control,
) -> Option<Vec<Schedule>> {
    level(problems, &mut routes, least, seed, control);
    let overlay = Overlay::new(problems, &routes)?;
    let most = most_steps.map_or(usize::MAX, |most| most as usize);
    let timetable = overlay.timetable(near, most, seed, control);
    (timetable.widths.len() <= most).then(|| overlay.schedules(&timetable))
}
