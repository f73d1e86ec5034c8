//! A plan in more parts over the same routes.
//!
//! Where a plan loads its links evenly and takes longer than the busiest of them, it loses time at its ends, where
//! chunks are on their way and links wait for them. Cut finer, chunks take the same routes, and lose a smaller share:
//! searching for the routes of so many would take long, and putting their moves together does not.

use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::Link;

use super::hops::{Hop, hops, split};
use super::leveling::level;
use super::overlay::{Overlay, Steps};
use crate::model::control::Control;

/// What is lost at the ends is to be at most one part in this many of the width.
const WORTH_MORE_PARTS: u64 = 50;
/// The most moves to put together, which takes a second or two.
const MOST_MOVES: usize = 1_000_000;

/// Routes of whole messages, to be cut.
pub(crate) struct Finer<'a> {
    coarse: &'a Problem,
    routes: Vec<Hop>,
    /// The chunks on the busiest link, for each unit of its capacity.
    load: u64,
    /// In how many pieces each chunk is to be cut.
    pub pieces: u32,
}

impl<'a> Finer<'a> {
    /// The routes of a schedule, leveled towards a total width of `least`; `None` if cutting them promises no less
    /// width for each part.
    pub fn new(coarse: &'a Problem, schedule: &Schedule, least: u64, seed: u64, control: &Control) -> Option<Self> {
        let mut routes = [hops(coarse, schedule)];
        level(std::slice::from_ref(coarse), &mut routes, least, seed, control);
        let [routes] = routes;
        let machine = coarse.machine();
        let mut loads = vec![0_u64; machine.links().len()];
        routes.iter().for_each(|hop| loads[hop.link.index()] += 1);
        let time = |(load, link): (&u64, &Link)| load.div_ceil(link.capacity.into());
        let load = loads.iter().zip(machine.links()).map(time).max()?;
        let lost = schedule.total_width().checked_sub(load).filter(|&lost| lost > 0)?;
        let wanted = (lost * WORTH_MORE_PARTS).div_ceil(load);
        let pieces = wanted.min((MOST_MOVES / routes.len()) as u64) as u32;
        (pieces > 1).then_some(Self { coarse, routes, load, pieces })
    }

    /// The problem in that many pieces.
    pub fn problem(&self) -> Option<Problem> {
        self.coarse.with_parts(self.coarse.parts().checked_mul(self.pieces)?).ok()
    }

    /// A schedule over these routes of a total width near that of the busiest link.
    pub fn schedule(&self, problem: &Problem, seed: u64, control: &Control) -> Option<Schedule> {
        let near = self.load * u64::from(self.pieces);
        let routes = [split(&self.routes, self.pieces)];
        let overlay = Overlay::new(std::slice::from_ref(problem), &routes)?;
        let timetable = overlay.timetable(Steps::NARROW, near + near / WORTH_MORE_PARTS, usize::MAX, seed, control);
        overlay.schedules(&timetable).pop()
    }
}
