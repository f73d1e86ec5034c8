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

/// The total width and the steps, the schedules, and the routes they take.
struct Found {
    figures: (u64, usize),
    schedules: Vec<Schedule>,
    routes: Vec<Vec<Hop>>,
}

/// A schedule for each problem, all of the same steps, after its routes have been leveled: of a total width of `near`
/// or else the least found, which is `least` at best, in at most `most_steps`. `None` if that is not found; otherwise
/// the routes are then those leveled.
pub(crate) fn put_together(
    problems: &[Problem],
    routes: &mut [Vec<Hop>],
    (least, near): (u64, u64),
    most_steps: Option<u32>,
    seed: u64,
    control: &Control,
) -> Option<Vec<Schedule>> {
    let most = most_steps.map_or(usize::MAX, |most| most as usize);
    let moves: usize = routes.iter().map(Vec::len).sum();
    let mut best: Option<Found> = None;
    for attempt in 0..if moves <= FEW_MOVES { ATTEMPTS } else { 1 } {
        if best.as_ref().is_some_and(|best| best.figures.0 <= near || control.stop().is_some()) {
            break;
        }
        let seed = seed.wrapping_add(attempt);
        let mut leveled = routes.to_vec();
        // The timetable takes time too.
        level(problems, &mut leveled, least, seed, &control.halfway());
        let overlay = Overlay::new(problems, &leveled)?;
        let timetable = overlay.timetable(Steps::FEW, near, most, seed, control);
        let figures = timetable.figures();
        if figures.1 <= most && best.as_ref().is_none_or(|best| figures < best.figures) {
            best = Some(Found { figures, schedules: overlay.schedules(&timetable), routes: leveled });
        }
    }
    let best = best?;
    routes.iter_mut().zip(best.routes).for_each(|(routes, leveled)| *routes = leveled);
    Some(best.schedules)
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::{RankId, Topology};

    use super::*;
    use crate::engine::driver::synthesize;
    use crate::model::goal::{Goal, Parts};
    use hops::hops;

    /// Both broadcasts leave their root over the same links as often; the routes put together are those handed back.
    #[test]
    fn routes_are_handed_back_as_they_were_leveled() {
        let machine = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let kinds = [Kind::Broadcast(RankId(0)), Kind::Broadcast(RankId(4))];
        let problems = kinds.map(|kind| Problem::new(machine.clone(), Collective { kind, parts: 12 }).unwrap());
        let control = Control::unlimited();
        let alone = |problem: &Problem| {
            let goal = Goal { parts: Parts::Fixed(12), ..Goal::default() };
            hops(problem, &synthesize(&machine, &problem.collective().kind, &goal, &control).unwrap().schedule)
        };
        let mut routes: Vec<Vec<Hop>> = problems.iter().map(alone).collect();
        let busiest = |routes: &[Vec<Hop>]| {
            let mut loads = vec![0; machine.links().len()];
            routes.iter().flatten().for_each(|hop| loads[hop.link.index()] += 1);
            loads.into_iter().max().unwrap()
        };
        let before = busiest(&routes);
        let schedules = put_together(&problems, &mut routes, (8, 8), None, 0, &control).unwrap();
        assert!(busiest(&routes) < before, "{before}");
        for ((problem, schedule), routes) in problems.iter().zip(&schedules).zip(&routes) {
            let links = |hops: &[Hop]| {
                let mut links: Vec<_> = hops.iter().map(|hop| (hop.chunk, hop.link)).collect();
                links.sort_unstable();
                links
            };
            assert_eq!(links(&hops(problem, schedule)), links(routes));
        }
    }
}
