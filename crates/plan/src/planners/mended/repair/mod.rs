//! Repairing the pattern of an all-to-all around failures.
//!
//! A slot is a link in a step. What the pattern puts there is the same for all links of a direction, so it is a number;
//! the chunks behind it are found when one has to leave:
//!
//! ```text
//!   in step s, rank 0's chunks c1, c2, ... are sent over x+ from the ranks f1, f2, ...
//!   over x+ of rank u, then, go c1 translated by u - f1, c2 translated by u - f2, ...
//! ```
//!
//! Round by round, each overfull slot gives up as many chunks as are too many there, chosen at random; each takes the
//! cheapest path at the current prices (see `negotiation`). The exceptions are those that ever moved.
//!
//! The first try waits long for conflicts to settle as long as it is quick or few are left; then it widens steps, so
//! that there is a schedule. If it is above the bound after all, more tries from other seeds look for one on it,
//! without widening: most last units of width fall to one of them. What they may cost is work, not time, and little
//! enough that on whole pods none is made.
//!
//! Around many failures the bound leaves so little room that conflicts take minutes to settle: 16 dead cables of
//! 16x16x16 move 0.26 million chunks into 0.5 million free slots. With half a percent more room it takes seconds. The
//! first try then begins that wide and narrows in stages, each half as far above the bound as the one before, until a
//! stage does not settle, or would hardly, as each takes more work than the one before; what settled last is the
//! schedule. So does any first try that has not settled at the bound after a quarter of a minute's work, or in half of
//! the time: the first stages keep nearly all that it has settled by then.

mod exceptions;

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use collsynth_core::certificate::Bounds;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::CompactSchedule;

use super::hops::Hops;
use super::pattern::intact;
use super::{CompactPlan, MANY_RANKS};
use crate::model::account::StopReason;
use crate::model::control::{Control, Progress};
use crate::model::error::PlanError;
use crate::model::network::Network;
use crate::model::widths::even_widths;
use crate::planners::template::TemplateSchedule;
use exceptions::Repair;

/// The pressure at first and at last. Nearly all slots of a pattern are full: what is to leave them must not enter
/// others that are.
const PRESSURE: RangeInclusive<f64> = 4.0..=10.0;
/// A step is widened after this many rounds in which the number of chunks too many did not fall; more if few are.
const PATIENCE: u64 = 30;
const PATIENCE_WITH_ONE: u64 = 200;
/// Within this work (links and slots examined, some 2e8 of them a second) patience is more, by this factor, unless half
/// of it leaves more chunks too many than this.
const TRY_WORK: u64 = 200_000_000;
const MORE_PATIENCE: u64 = 16;
const FEW: u64 = 40;
/// If the first try is above the bound, but was not that far from it, machines of [`MANY_RANKS`] get this many in all,
/// in the fewest steps.
const TRIES: u64 = 8;
/// Hops beyond the distance that a chunk may take if its shortest paths are full, once a round has settled nothing.
const DETOUR: u32 = 2;
/// A try at the bound is hopeless if failures move at least this many chunks, and more than one per three free slots.
const MANY_CHUNKS: u64 = 1 << 16;
const CROWDED: u64 = 3;
/// The work that a first try may take without a time limit: at the bound, and then in stages.
const FIRST_WORK: u64 = 12_000_000_000;
const STAGES_WORK: u64 = 10_000_000_000;
/// Stages begin one part in this number above the bound.
const WIDER: u32 = 200;
/// A stage may take this work, or twice that of the one before if that is more: it has half as much room.
const STAGE_WORK: u64 = 2_000_000_000;

/// A schedule in exactly these steps, and why the search stopped; `None` if there is no template.
pub(super) fn in_steps(
    problem: &Problem,
    bounds: &Bounds,
    steps: u32,
    seed: u64,
    control: &Control,
) -> Result<Option<(CompactSchedule, StopReason)>, PlanError> {
    let torus = problem.machine().as_torus().expect("it has translations");
    let Some(template) = TemplateSchedule::new(torus, problem.parts(), steps) else { return Ok(None) };
    let pattern = template.pattern(&intact(problem.machine()), problem.parts());
    let network = Network::new(problem);
    problem.check_connected()?;
    let hops = Hops::new(problem, &network, &pattern);
    let full = (pattern.total_width() as u32).max(steps);
    let least = bounds.least_width(problem.parts()).max(full);
    let is_full = least == full && !hops.is_whole();
    let begin = |number: u64| {
        let seed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Repair::new(&network, &hops, even_widths(least, steps), seed)
    };
    let mut repair = begin(0);
    let at_bound = Impatience::Widen { at_once: is_full, most: FIRST_WORK };
    let is_settled = !repair.is_crowded() && repair.settle(at_bound, &control.halfway());
    if !is_settled && control.stop().is_none() {
        repair.narrow(least, STAGES_WORK, control);
    }
    let was_near = !repair.was_far && repair.work() < 2 * TRY_WORK;
    let has_more_tries = steps == bounds.least_steps() && problem.machine().rank_count() >= MANY_RANKS;
    if repair.found_width() > least && was_near && has_more_tries && control.stop().is_none() {
        let first = AtomicU64::new(u64::MAX);
        let settled = (1..TRIES).into_par_iter().find_map_first(|number| {
            let mut repair = begin(number);
            let is_settled = repair.settle(Impatience::GiveUp { number, first: &first }, control);
            is_settled.then(|| {
                first.fetch_min(number, Ordering::Relaxed);
                repair
            })
        });
        repair = settled.unwrap_or(repair);
    }
    let stopped = control.stop().unwrap_or(StopReason::Finished);
    Ok(repair.finish(&pattern).map(|schedule| (schedule, stopped)))
}

/// What a try does once patience ends.
#[derive(Clone, Copy)]
enum Impatience<'a> {
    /// It widens the step with the most chunks too many; after the first round already if all slots of some direction
    /// are full, so that what has to leave one finds no other. It ends after this work, unless there is a time limit.
    Widen { at_once: bool, most: u64 },
    /// It ends, and also after too much work, or once an earlier try has succeeded, `first`.
    GiveUp { number: u64, first: &'a AtomicU64 },
    /// It ends, and also after this work.
    Keep { most: u64 },
}

impl Repair<'_> {
    /// Do the chunks that failures move hardly find room at the bound?
    fn is_crowded(&self) -> bool {
        let (chunks, hops) = self.needed();
        chunks >= MANY_CHUNKS && chunks * CROWDED > self.slots.free().saturating_sub(hops)
    }

    /// Settles at a width at which there is room, then at less and less, with this work unless there is a time limit.
    fn narrow(&mut self, least: u32, work: u64, control: &Control) {
        let most = self.work() + work;
        let mut above = (least / WIDER).max(1);
        let mut impatience = Impatience::Widen { at_once: false, most: u64::MAX };
        loop {
            let begun = self.work();
            self.slots.set_widths(even_widths(least + above, self.steps() as u32));
            if !self.settle(impatience, control) {
                break;
            }
            self.keep();
            if self.width() <= least {
                break;
            }
            above = above.min(self.width() - least) / 2;
            let took = self.work() - begun;
            impatience = match most.checked_sub(self.work()) {
                _ if control.is_limited() => Impatience::Keep { most: u64::MAX },
                Some(left) if took <= left => {
                    Impatience::Keep { most: self.work() + left.min(STAGE_WORK.max(2 * took)) }
                }
                _ => break,
            };
        }
    }

    /// Routes and reroutes until no slot is overfull, or time is up. Is no slot overfull?
    fn settle(&mut self, impatience: Impatience<'_>, control: &Control) -> bool {
        self.route_first();
        let (mut least, mut stale) = (u64::MAX, 0);
        let mut last = u64::MAX;
        let mut is_far = false;
        let mut round = 0;
        loop {
            let remaining = self.slots.overfull();
            let label = format!("{} steps, width {}", self.steps(), self.width());
            control.report(Progress { planner: CompactPlan::PLANNER, attempt: &label, round, remaining });
            if remaining == 0 || self.stop(control).is_some() {
                return remaining == 0;
            }
            (least, stale) = if remaining < least { (remaining, 0) } else { (least, stale + 1) };
            is_far |= self.work() > TRY_WORK / 2 && least > FEW;
            let is_over = is_far || self.work() > TRY_WORK;
            let patience = (PATIENCE + PATIENCE_WITH_ONE / remaining) * if is_over { 1 } else { MORE_PATIENCE };
            match impatience {
                Impatience::Widen { most, .. } if self.work() > most && !control.is_limited() => return false,
                Impatience::Widen { at_once, .. } if stale > patience || (at_once && round == 0) => {
                    self.was_far |= is_far;
                    self.slots.widen();
                    (least, stale) = (u64::MAX, 0);
                }
                Impatience::GiveUp { number, first }
                    if stale > patience || is_over || first.load(Ordering::Relaxed) < number =>
                {
                    return false;
                }
                Impatience::Keep { most } if stale > patience || self.work() > most => return false,
                _ => {}
            }
            self.round(if remaining >= last { DETOUR } else { 0 }, control);
            last = remaining;
            self.slots.raise();
            round += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use collsynth_bound as bound;
    use collsynth_core::collective::{ChunkId, Collective, Holders, Kind};
    use collsynth_core::topology::{Topology, TopologySpec};

    use super::*;

    const CABLES: [(u32, u32); 8] = [(0, 1), (7, 13), (20, 26), (50, 86), (70, 71), (100, 106), (150, 186), (200, 201)];

    /// A plan on 6x6x6 without these cables, narrowed in stages as if the bound were lower by `below`; its width, and
    /// the bound.
    fn narrowed(below: u32) -> (Problem, CompactSchedule, u32, u32) {
        let machine = Topology::new(TopologySpec::torus(&[6, 6, 6]).without_cables(&CABLES)).unwrap();
        let problem = Problem::new(machine, Collective::new(Kind::AllToAll)).unwrap();
        let bounds = bound::find(&problem).unwrap();
        let (steps, least) = (bounds.least_steps(), bounds.least_width(1));
        let template = TemplateSchedule::new(problem.machine().as_torus().unwrap(), 1, steps).unwrap();
        let pattern = template.pattern(&intact(problem.machine()), 1);
        let network = Network::new(&problem);
        let hops = Hops::new(&problem, &network, &pattern);
        let mut repair = Repair::new(&network, &hops, even_widths(least, steps), 0);
        repair.narrow(least - below, 20_000_000, &Control::unlimited());
        let found = repair.found_width();
        let schedule = repair.finish(&pattern).unwrap();
        (problem, schedule, found, least)
    }

    #[test]
    fn stages_narrow_to_what_settled_last() {
        for below in [0, 1] {
            let (problem, schedule, found, least) = narrowed(below);
            assert!((least..=least + 2).contains(&found), "{found} above {least}");
            assert_eq!(schedule.pattern().total_width(), u64::from(found));
            // Nothing is left of a stage that did not settle: every link has room, every sender what it sends.
            let one = |holders| if let Holders::One(rank) = holders { rank } else { unreachable!() };
            let chunks = || (0..problem.chunk_count()).map(ChunkId);
            let mut held: HashSet<_> = chunks().map(|chunk| (chunk, one(problem.rule(chunk).before))).collect();
            let explicit = schedule.expand();
            for step in explicit.steps() {
                let mut arrived = Vec::new();
                for transfer in step.transfers {
                    let sent = explicit.chunks(transfer);
                    let links = problem.topology().links_between(transfer.from, transfer.to);
                    assert!(sent.len() <= step.width as usize && links.count() == 1);
                    assert!(sent.iter().all(|&chunk| held.contains(&(chunk, transfer.from))));
                    arrived.extend(sent.iter().map(|&chunk| (chunk, transfer.to)));
                }
                held.extend(arrived);
            }
            assert!(chunks().all(|chunk| held.contains(&(chunk, one(problem.rule(chunk).after)))));
        }
    }

    #[test]
    fn threads_change_nothing() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| narrowed(0)).1
        };
        assert_eq!(on(1), on(3));
    }
}
