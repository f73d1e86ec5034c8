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
//! 3. Where the template itself fills some links, all messages in turn take the ways that make loads even.
//! 4. A queue of overfull slots: some messages of each are tried; the first that finds room moves, or else the one
//!    whose move costs least, so that excess walks on until it finds room (see `negotiation`). Slots that stay overfull
//!    rise in price. Links of tight cuts carry a toll: the bound leaves no room there for messages that cross twice
//!    (see `tolls`). Widths grow until this succeeds, then shrink again to the narrowest that do.
//! 5. What differs from the template is written for one cell, as in
//!    [`Repeated`](collsynth_core::schedule::Repeated).
//!
//! Trees of an all_gather are treated alike, arrival by arrival (see `trees`); a reduce_scatter is the same backward in
//! time.
//!
//! # Applies
//!
//! All_to_all, all_gather, all_reduce_gathered and reduce_scatter on tori of at most four dimensions, all closed and of
//! 3 positions or more, twisted or not, in which cables or links have failed that repeat in eight cells at least.
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
mod quotient;
mod search;
mod tolls;
mod trees;
mod ways;
mod written;

use collsynth_bound::period::failure_period;
use collsynth_core::collective::{ChunkId, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Op, Translation};
use collsynth_core::topology::RankId;

use super::pattern::{gather, intact};
use super::trees::{turned, widths};
use super::within::Within;
use crate::model::account::StopReason;
use crate::model::error::PlanError;
use crate::model::network::Network;
use crate::model::widths::even_widths;
use crate::planners::template::{TemplateSchedule, TemplateTrees};
use negotiation::Negotiation;
use quotient::Quotient;
use trees::Trees;
use ways::Ways;
use written::Departures;

/// The most attempts with trees, each 1 wider than the one before.
const ATTEMPTS: u32 = 6;
/// Templates that fill more than this share of the width leave messages no room to move to, in percent: then all loads
/// are leveled first. Else most messages stay where the template has them, and files are smaller.
const FULL_TEMPLATE: u64 = 99;
/// The most paths that are leveled, in steps: of more, it takes half a minute, and files twice as large.
const MOST_LEVELED: u64 = 1 << 24;
/// Fewer cells are not worth it.
const CELLS: u32 = 8;
/// The most dimensions.
const DIMS: usize = 4;
/// The most paths that are kept, in steps.
const MOST_PATHS: u64 = 1 << 28;

/// The least period with which the failures of a problem repeat, if this planner applies.
pub(super) fn period(problem: &Problem) -> Option<Vec<u32>> {
    let machine = problem.machine();
    let torus = machine.as_torus().filter(|torus| torus.extents.len() <= DIMS)?;
    let is_planned = problem.collective().kind.pattern() != Pattern::EveryToEvery;
    let is_whole = machine.live_rank_count() == machine.rank_count() && torus.extents.iter().all(|&extent| extent >= 3);
    let period = failure_period(machine).filter(|_| is_planned && is_whole)?;
    let cell: u32 = period.iter().product();
    let diameter: u64 = torus.extents.iter().map(|&extent| u64::from(extent) / 2).sum();
    let ranks = machine.rank_count() as u32;
    let paths = u64::from(cell) * u64::from(ranks) * u64::from(problem.parts()) * (diameter + 8);
    (ranks / cell >= CELLS && paths <= MOST_PATHS).then_some(period)
}

/// A schedule in exactly these steps around failures that repeat with a [`period`], and why the search stopped; `None`
/// if there is no template, or no way around a failure that is near enough.
pub(super) fn in_steps(
    problem: &Problem,
    period: &[u32],
    within: Within<'_>,
) -> Result<Option<(CompactSchedule, StopReason)>, PlanError> {
    problem.check_connected()?;
    let found = match problem.collective().kind.pattern() {
        Pattern::OneToOne => of_messages(problem, period, within),
        _ => of_trees(problem, period, within)?,
    };
    Ok(found.map(|schedule| (schedule, within.control.stop().unwrap_or(StopReason::Finished))))
}

fn of_messages(problem: &Problem, period: &[u32], within: Within<'_>) -> Option<CompactSchedule> {
    let Within { bounds, steps, seed, control } = within;
    let (torus, parts) = (problem.machine().as_torus()?, problem.parts());
    let pattern = TemplateSchedule::new(torus, parts, steps)?.pattern(&intact(problem.machine()), parts);
    let least = bounds.least_width(parts).max(pattern.total_width() as u32).max(steps);
    let mut quotient = Quotient::new(problem.machine(), period, even_widths(least, steps));
    let ways = Ways::new(torus, parts);
    tolls::charge(&mut quotient, torus, u64::from(parts), least, ways.hops());
    let template = ways.paths_of(torus, &pattern);
    let mut negotiation = Negotiation::new(quotient, &ways, template, seed)?;
    let is_full = pattern.total_width() * 100 > u64::from(least) * FULL_TEMPLATE;
    if is_full && negotiation.paths.len() as u64 <= MOST_LEVELED {
        negotiation.level(control);
    }
    let widths = negotiation.narrowest(least, control);
    let translation = Translation::new(problem)?;
    let mut departures = Departures::new(torus, &translation, period, Op::Copy, steps as usize);
    negotiation.depart(&mut departures);
    departures.finish(problem, &pattern, &widths)
}

fn of_trees(problem: &Problem, period: &[u32], within: Within<'_>) -> Result<Option<CompactSchedule>, PlanError> {
    let Within { bounds, steps, seed, control } = within;
    let is_collected = problem.collective().kind.pattern() == Pattern::EveryToOne;
    let topology = if is_collected { turned(problem.machine()) } else { problem.machine().clone() };
    let parts = problem.parts();
    let gather = gather(topology, parts)?;
    let network = Network::new(&gather);
    let mut width = bounds.least_width(parts).max(steps);
    let begun = widths(&gather, &network, width, steps);
    let (Some(torus), Some(translation)) = (gather.machine().as_torus(), Translation::new(problem)) else {
        return Ok(None);
    };
    let Some(template) = TemplateTrees::within(torus, parts, &begun, seed) else { return Ok(None) };
    let intact = intact(problem.machine());
    let quotient = Quotient::new(gather.machine(), period, begun);
    let outward = template.pattern(&intact, parts, false);
    let Some(mut trees) = Trees::new(quotient, torus, parts, &outward, seed) else { return Ok(None) };
    for _ in 0..ATTEMPTS {
        if trees.run(control) {
            break;
        }
        width += 1;
        if width >= trees.quotient.fitting_widths().iter().sum() || control.stop().is_some() {
            break;
        }
        trees.quotient.resize(widths(&gather, &network, width, steps));
    }
    let op = if is_collected { Op::Reduce } else { Op::Copy };
    let mut departures = Departures::new(torus, &translation, period, op, steps as usize);
    let chunk = |origin: RankId, part: u32| translation.chunk(ChunkId(part), origin);
    trees.depart(is_collected, &mut departures, chunk);
    let mut fitting = trees.quotient.fitting_widths();
    if is_collected {
        fitting.reverse();
    }
    Ok(departures.finish(problem, &template.pattern(&intact, parts, is_collected), &fitting))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::control::Control;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::{Shape, Switch, Topology, TopologySpec, Torus};

    /// A collective on a torus of 4x4x4 cubes without these switches.
    fn problem(extents: &[u32], kind: Kind, switches: &[&str]) -> Problem {
        on(Torus::new(extents), kind, switches)
    }

    fn on(torus: Torus, kind: Kind, switches: &[&str]) -> Problem {
        let intact = Topology::new(TopologySpec::new(Shape::Torus(torus))).expect("a torus");
        let mut spec = intact.spec().clone();
        for switch in switches {
            let switch: Switch = switch.parse().expect("a switch");
            spec.failed_links.extend(switch.cables(&intact, &[4; 3]).expect("a switch"));
        }
        Problem::new(Topology::new(spec).expect("a machine"), Collective::new(kind)).expect("it fits")
    }

    #[test]
    fn few_cells_and_sums_everywhere_are_left_to_others() {
        assert_eq!(period(&problem(&[8, 8, 8], Kind::AllToAll, &["x:1,2"])), Some(vec![4, 4, 4]));
        assert_eq!(period(&problem(&[4, 4, 8], Kind::AllToAll, &["x:1,2"])), None);
        assert_eq!(period(&problem(&[8, 8, 8], Kind::AllReduce, &["x:1,2"])), None);
        assert_eq!(period(&problem(&[8, 8, 8], Kind::AllToAll, &[])), None);
    }

    /// Every link is needed on a twisted torus: messages on detours take room that others need.
    #[test]
    fn loads_are_leveled_where_every_link_is_needed() {
        let problem = on(Torus::twisted(&[8, 8, 16]).expect("extents of k and 2k"), Kind::AllToAll, &["x:1,2"]);
        let bounds = collsynth_bound::find(&problem).expect("connected");
        let within = Within { bounds: &bounds, steps: bounds.least_steps(), seed: 0, control: &Control::unlimited() };
        let (schedule, _) = in_steps(&problem, &[4; 3], within).expect("connected").expect("planned");
        let (width, least) = (schedule.pattern().total_width(), u64::from(bounds.least_width(1)));
        assert!((least..=least + 2).contains(&width), "{width} above {least}");
    }

    /// All on the bound, or a few units above: trees meet it but for what whole shards cost.
    #[test]
    fn trees_around_dead_switches() {
        for (extents, kind, switches) in [
            ([8, 8, 8], Kind::AllGather, &["x:1,2"][..]),
            ([8, 8, 8], Kind::ReduceScatter, &["y:0,3"]),
            ([8, 8, 8], Kind::AllGather, &["x:1,2", "y:0,0"]),
            ([12, 12, 12], Kind::AllGather, &["x:1,2"]),
            ([8, 8, 12], Kind::ReduceScatter, &["z:1,2"]),
        ] {
            let problem = problem(&extents, kind, switches);
            let bounds = collsynth_bound::find(&problem).expect("connected");
            let control = &Control::unlimited();
            let within = Within { bounds: &bounds, steps: bounds.least_steps(), seed: 0, control };
            let period = period(&problem).expect("it repeats");
            let (schedule, _) = in_steps(&problem, &period, within).expect("connected").expect("planned");
            let (width, least) = (schedule.pattern().total_width(), u64::from(bounds.least_width(1)));
            assert!(schedule.repeated().is_some() && (least..=least + 2).contains(&width), "{width} above {least}");
        }
    }
}
