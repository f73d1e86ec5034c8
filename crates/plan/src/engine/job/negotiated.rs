//! Jobs by negotiation: the chunks of all collectives share the slots of the links, whatever collective they belong to.

use collsynth_core::certificate::Bounds;
use collsynth_core::schedule::{Job, Schedule};

use super::chunks::Chunks;
use super::prospect::Prospect;
use super::size::check_pairs;
use super::{COARSE, JobGoal, NAME, gap, is_better};
use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::task::Task;
use crate::model::widths::even_widths;
use crate::search::negotiation::{Aim, Search, Start, Strategy};
use crate::search::tree_routing::Forest;

/// Steps to try beyond the least if none are stated.
const MORE_STEPS: &[u32] = &[0, 1, 2, 3, 4, 6, 8, 12];

/// Plans collectives together by negotiation, which does not go on where a known job, in messages cut so far, is better
/// than what it may reach in these, cut so far.
pub(super) fn negotiated(
    prospect: Prospect,
    known: Option<(&Job, u32, u32)>,
    goal: &JobGoal,
    control: &Control,
) -> Result<(Job, StopReason), PlanError> {
    let control = &control.planning_all(&prospect.problems);
    let problems = &prospect.problems;
    let refuse = |reason: String| PlanError::NotApplicable { planner: NAME, reason };
    let chunks = Chunks::new(problems);
    check_pairs(problems, chunks.specs.len() as u64)?;
    let least_steps = chunks.least_steps();
    if let Some(steps) = goal.steps.or(goal.max_steps).filter(|&steps| steps < least_steps) {
        let limit = format!("{steps} steps: the trees that it looks for take {least_steps}");
        return Err(PlanError::NotFound { planner: NAME, limit });
    }
    let (schedules, stopped) = match chunks.specs.is_empty() {
        true => {
            let idle = Schedule::of_widths((0..goal.steps.unwrap_or(0)).map(|_| 1));
            (vec![idle; problems.len()], StopReason::Finished)
        }
        false => {
            let least_steps = goal.steps.unwrap_or(least_steps);
            let least_width = prospect.least_width().max(least_steps);
            let routing = Routing { chunks: &chunks, least_steps, goal };
            let none = Bounds::default();
            let scaled = |(job, of, cut): (&Job, u32, u32)| {
                let width = job.total_width() * u64::from(cut);
                (job.widths().len(), width.div_ceil(of.into()))
            };
            let incumbent = known.map(scaled);
            let task = Task { seed: goal.seed, incumbent, ..Task::new(&problems[0], &none) };
            let (widths, routed, stopped) = Search::new(NAME, &task, &routing, control).run(least_width)?;
            (chunks.schedules(problems, &widths, &routed), stopped)
        }
    };
    let job = prospect.into_job(schedules).map_err(|error| refuse(error.to_string()))?;
    Ok((job, stopped))
}

/// Plans collectives together by negotiation, where that may be better than what is known; also how far messages were
/// cut for it.
pub(super) fn negotiated_in_parts(
    whole: &Prospect,
    first: Option<(Job, StopReason)>,
    known: Option<(&Job, u32)>,
    goal: &JobGoal,
    close: f64,
    most_chunks: u64,
    control: &Control,
) -> Result<(Job, u32, StopReason), PlanError> {
    let chunks: u64 = whole.problems.iter().map(|problem| u64::from(problem.chunk_count())).sum();
    let can_cut = |cut: u32| chunks * u64::from(cut) <= most_chunks && goal.may_cut(cut);
    let mut cut = whole.fine_cut(close.max(COARSE), can_cut);
    let in_parts = |cut: u32| {
        let known = known.map(|(job, of)| (job, of, cut));
        negotiated(whole.cut(cut, control)?, known, goal, control)
    };
    let whole_messages = first.map_or_else(|| in_parts(1), Ok);
    // Of the finest; that of whole messages says little where a unit of width is much. Steps take a unit each or more,
    // so the gap may stay while the volume falls.
    let finest = whole_messages.as_ref().ok().filter(|_| cut == 1).map(|(job, _)| job);
    let mut above = finest.map(gap);
    let volume = |job: &Job, cut: u32| job.total_width() as f64 / f64::from(cut);
    let mut before = finest.map(|job| volume(job, 1));
    let mut best = whole_messages.map(|(job, reason)| (job, 1, reason));
    cut = cut.max(2);
    while above.is_none_or(|above| above > close) && can_cut(cut) && control.stop().is_none() {
        // What time did not suffice for, or what is behind others, leaves what there is.
        let Ok((job, reason)) = in_parts(cut) else { break };
        above = Some(gap(&job));
        let gained = before.replace(volume(&job, cut)).map(|before| 1.0 - volume(&job, cut) / before);
        let is_best = best.as_ref().map_or(true, |(best, best_cut, _)| is_better((&job, cut), (best, *best_cut)));
        if is_best {
            best = Ok((job, cut, reason));
        }
        // More parts share what is lost at both ends, but not what is lost between.
        let is_behind = |(best, best_cut, _): &(Job, u32, StopReason)| {
            known.is_some_and(|known| !is_better((best, *best_cut), known))
        };
        if gained.is_some_and(|gained| gained < close) || best.as_ref().is_ok_and(is_behind) {
            break;
        }
        cut *= 2;
    }
    best
}

struct Routing<'a> {
    chunks: &'a Chunks,
    least_steps: u32,
    goal: &'a JobGoal,
}

impl<'a> Strategy for Routing<'a> {
    type Negotiation = Forest<'a>;

    fn begin(&self, start: Start, abandon: &(dyn Fn() -> bool + Sync)) -> Option<Forest<'a>> {
        Forest::new(&self.chunks.networks, self.chunks.specs.clone(), start, abandon)
    }

    /// As even as possible, with the wider steps first, last, or after the first third.
    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32> {
        let mut widths = even_widths(width, steps);
        widths.rotate_right([0, (steps - width % steps) % steps, steps / 3][number as usize % 3] as usize);
        widths
    }

    /// In strides of a percent.
    fn wider(&self, width: u32, strides: u32) -> u32 {
        width.saturating_add(strides * (width / 100).max(1))
    }

    fn step_choices(&self, width: u32, aim: Aim) -> Vec<u32> {
        let most = self.goal.steps.or(self.goal.max_steps).unwrap_or(u32::MAX).min(width);
        let choices = MORE_STEPS.iter().map(|more| self.least_steps + more).filter(|&steps| steps <= most);
        choices.take(if aim == Aim::Any { 2 } else { usize::MAX }).collect()
    }

    fn routing_work(&self, steps: u32) -> u64 {
        /// Links examined for a path in a step, roughly.
        const LINKS: usize = 60;
        let links = self.chunks.networks.first().map_or(0, |timed| timed.network.link_count());
        let Chunks { paths, specs, .. } = self.chunks;
        (paths * LINKS.min(links) + (specs.len() - paths) * links) as u64 * u64::from(steps)
    }
}
