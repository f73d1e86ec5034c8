//! The last units: a schedule that meets the bound on the width where the other planners stay above it.
//!
//! Searches grow trees and paths one after another, and with few chunks they often miss the last unit of width. Any
//! schedule that moves chunks can run in steps of width 1, so a single question to a SAT solver decides: is there a
//! schedule of as many such steps as the bound on the width? It is asked if the formula is small, for a limited number
//! of conflicts, so an answer comes within seconds or not at all.
//!
//! ```text
//!   broadcast on 4x4, 12 parts    trees      7 units    o o o o o o o
//!                                 the bound  6 units    x x x x x x      found
//! ```
//!
//! Applies to all kinds but all_reduce and barrier, if `chunks * links * width` is at most 40000, neither the steps nor
//! a price are stated, and steps of width 1 are not too many.

use super::ask::{Asking, Effort, Known};
use super::options::Smt;
use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use collsynth_core::collective::Pattern;
use collsynth_core::schedule::Schedule;

/// The largest `chunks * links * width` to ask about.
const MOST_MOVES: u64 = 40_000;

const SMT: Smt = Smt::new();

pub(crate) enum LastUnits {
    /// A schedule that meets the bound.
    Found(Outcome),
    /// Stopped before an answer.
    Stopped(StopReason),
    /// Not asked, not decided, or refuted.
    Unknown,
}

/// Looks for a schedule that meets the bound on the width, given one above it.
pub(crate) fn last_units(task: &Task<'_>, known: &Schedule, control: &Control) -> LastUnits {
    let Task { problem, sharper: Some(sharper), steps: None, max_steps, price: None, .. } = *task else {
        return LastUnits::Unknown;
    };
    let width = sharper.sharp().least_width(problem.parts());
    let moves = u64::from(problem.chunk_count()) * problem.topology().live_links().count() as u64 * u64::from(width);
    let asked = known.total_width() > u64::from(width)
        && max_steps.is_none_or(|most| width <= most)
        && moves <= MOST_MOVES
        && problem.collective().kind.pattern() != Pattern::EveryToEvery
        && problem.groups().is_none()
        && SMT.applies(problem).is_ok();
    let Some(mut asking) = asked.then(|| Asking::new(&SMT, task, control).ok()).flatten() else {
        return LastUnits::Unknown;
    };
    match asking.ask(width, width, Effort::Seconds) {
        Ok(Known::Found(schedule)) => LastUnits::Found(Outcome::new(schedule, StopReason::Finished)),
        _ => control.stop().map_or(LastUnits::Unknown, LastUnits::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::model::sharper::SharperBounds;
    use crate::planners::trees::negotiated::Trees;
    use collsynth_bound as bound;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::topology::{RankId, Topology};

    /// 12 parts from one rank of a 4x4 torus: the last leaves after 3 units and goes 4 hops, so 6 units are the least.
    #[test]
    fn the_bound_is_met_or_the_reason_to_stop_is_reported() {
        let kind = Kind::Broadcast(RankId(0));
        let problem = Problem::new(Topology::torus(&[4, 4]).unwrap(), Collective { kind, parts: 12 }).unwrap();
        let (bounds, unlimited) = (bound::find(&problem).unwrap(), Control::unlimited());
        let sharper = SharperBounds::new(&problem, &bounds, &unlimited);
        let task = Task { sharper: Some(&sharper), ..Task::new(&problem, &bounds) };
        let trees = Trees.plan(&task, &unlimited).unwrap().schedule;
        assert_eq!(trees.total_width(), 7);
        let LastUnits::Found(found) = last_units(&task, &trees, &unlimited) else { panic!("6 units are enough") };
        assert_eq!((found.schedule.step_count(), found.schedule.total_width()), (6, 6));
        let over = Control::unlimited().with_deadline(Instant::now());
        assert!(matches!(last_units(&task, &trees, &over), LastUnits::Stopped(StopReason::TimeLimit)));
        assert!(matches!(last_units(&task, &found.schedule, &unlimited), LastUnits::Unknown));
        let in_steps = |most| last_units(&Task { max_steps: Some(most), ..task.clone() }, &trees, &unlimited);
        assert!(matches!((in_steps(5), in_steps(6)), (LastUnits::Unknown, LastUnits::Found(_))));
    }
}
