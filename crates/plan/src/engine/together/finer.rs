//! A plan in more parts over the same routes.
//!
//! Where a plan loads its links evenly and takes longer than the busiest of them, it loses time at its ends, where
//! chunks are on their way and links wait for them. Cut finer, chunks take the same routes, and lose a smaller share:
//! a search for the routes of that many chunks would take long, while putting their moves together does not.

use collsynth_core::certificate::Bounds;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::Link;

use super::hops::{Hop, hops, split};
use super::leveling::level;
use super::overlay::{Overlay, Steps};
use crate::model::control::Control;

/// What is lost at the ends is to be at most one part in this many of the width where no plan would be near its bound.
const WORTH_MORE_PARTS: u64 = 100;
/// The most moves to put together, which takes a second or two.
const MOST_MOVES: usize = 1_000_000;

/// Routes of a plan, to be cut.
pub(crate) struct Finer {
    routes: Vec<Hop>,
    /// The problem that they solve.
    problem: Problem,
    /// The chunks on the busiest link, for each unit of its capacity.
    load: u64,
    /// In how many pieces each chunk is to be cut.
    pieces: u32,
}

impl Finer {
    /// The routes of a schedule, cut in `first` pieces, leveled towards the bound, and cut in no more than it takes to
    /// come `near` it: the width, by parts. `None` if cutting them promises no less width for each part, or there are
    /// too many already.
    pub fn new(
        (coarse, schedule): (&Problem, &Schedule),
        bounds: &Bounds,
        (first, near): (u64, impl Fn(u32) -> u64),
        seed: u64,
        control: &Control,
    ) -> Option<Self> {
        let routes = hops(coarse, schedule);
        let most = (MOST_MOVES / routes.len().max(1)) as u64;
        let first = first.min(most).max(1) as u32;
        let problem = coarse.with_parts(coarse.parts().checked_mul(first)?).ok()?;
        let mut routes = [split(&routes, first)];
        let least = u64::from(bounds.least_width(problem.parts()));
        level(std::slice::from_ref(&problem), &mut routes, least, seed, control);
        let [routes] = routes;
        let machine = problem.machine();
        let mut loads = vec![0_u64; machine.links().len()];
        routes.iter().for_each(|hop| loads[hop.link.index()] += 1);
        let time = |(load, link): (&u64, &Link)| load.div_ceil(link.capacity.into());
        let load = loads.iter().zip(machine.links()).map(time).max()?;
        let width = schedule.total_width() * u64::from(first);
        let lost = schedule.total_width().checked_sub(load / u64::from(first)).filter(|_| width > load)?;
        // As many steps are lost, however fine the pieces are that move in each.
        let room = near(problem.parts()).saturating_sub(load).max(load / WORTH_MORE_PARTS).max(1);
        let pieces = lost.div_ceil(room).clamp(1, (most / u64::from(first)).max(1)) as u32;
        (first * pieces > 1).then_some(Self { routes, problem, load, pieces })
    }

    /// The problem in that many pieces.
    pub fn problem(&self) -> Option<Problem> {
        self.problem.with_parts(self.problem.parts().checked_mul(self.pieces)?).ok()
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
