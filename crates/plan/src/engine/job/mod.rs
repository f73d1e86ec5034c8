//! Jobs: several collectives on one machine, planned into one contention-free schedule.
//!
//! # Idea
//!
//! Every chunk of every collective is a tree through the time-expanded network: a path to its one destination, a tree
//! to all who need it, or, backward in time, a tree that collects. All share the slots of the links and negotiate for
//! them (see `negotiation`), whatever collective they belong to.
//!
//! ```text
//!   step         1        2        3
//!   link 0 -> 1  all_gather       all_to_all     a slot has room for chunks of any collective;
//!   link 1 -> 2        all_to_all  all_gather    whose they are does not matter to its price
//! ```
//!
//! An all_reduce collects in the first half of the steps and spreads in the second, so that no link adds and copies in
//! one step. Its chunks have the members of a group in turn as roots.
//!
//! Among many ranks that takes minutes. There, and wherever whole messages stay far above the bound, the collectives
//! are planned one by one, their routes [leveled](leveling), and their moves put together ([`overlay`]).
//!
//! # Applies
//!
//! Any collectives in any groups, on any topology, with any failures. A chunk of one collective is as large as a chunk
//! of any other: the parts say how large messages are beside each other.
//!
//! # Steps and volume
//!
//! From the least steps of all collectives (twice the distance for all_reduce) and the bound on the total width
//! ([`bound::of_job`]) slightly up.
//!
//! # Complexity
//!
//! As [`Trees`](crate::Trees): O(steps * links) to route a tree; memory O(chunks * ranks).
//!
//! # Reference
//!
//! McMurchie and Ebeling, "PathFinder", FPGA 1995, for the prices. Cowan et al., "MSCCLang", ASPLOS 2023, schedule one
//! collective at a time; that jobs run several at once is the observation of Rashidi et al., "Themis", ISCA 2022.

mod chunks;
mod hops;
mod leveling;
mod overlay;
mod routes;

use collsynth_core::certificate::{Bounds, JobBound};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Job, JobError, Schedule, Solution};

use crate::engine::parts::as_float;
use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::planner::arrivals;
use crate::model::task::Task;
use crate::model::widths::even_widths;
use crate::search::negotiation::{Aim, Search, Start, Strategy};
use crate::search::tree_routing::Forest;
use chunks::Chunks;
use collsynth_bound as bound;
use hops::{Hop, split};
use leveling::level;
use overlay::Overlay;
use routes::routes;

/// The name of the planner.
const NAME: &str = "job";
/// Steps to try beyond the least if none are stated.
const MORE_STEPS: &[u32] = &[0, 1, 2, 3, 4, 6, 8, 12];
/// A job with fewer steps is better if its total width is within one part in this many of the other's.
const WORTH_FEWER_STEPS: u64 = 100;
/// A unit of width is at most this share of the total where a job is first planned in parts.
const COARSE: f64 = 0.02;
/// The most pairs of a chunk and a rank: 8 bytes each in every try.
const MOST_ARRIVALS: usize = 1 << 28;
/// Above this, negotiation does not end within minutes.
const MOST_ARRIVALS_TO_NEGOTIATE: u64 = 50_000_000;
/// How far above the bound a job in stated parts is near enough, as a share of it.
const NEAR: f64 = 0.005;
/// More ranks than this negotiate for a minute: there, moves of collectives that are planned alone come first.
const MANY_RANKS: usize = 200;
/// The most moves that are put together, and beyond which no message is cut further for it.
const MOST_MOVES: u64 = 16_000_000;
const MOST_MOVES_TO_CUT: u64 = 1_000_000;
/// The finest cut where moves are put together: a unit of width is this share of the total. Each round multiplies the
/// parts by up to `CUT`.
const FINE: f64 = 0.0025;
const CUT: u32 = 4;

/// What is wanted of a job's schedule.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobGoal {
    /// Exactly this many steps, if stated.
    pub steps: Option<u32>,
    /// At most this many steps, if stated.
    pub max_steps: Option<u32>,
    /// Drives random choices: same problems, goal and seed, same schedule.
    pub seed: u64,
    /// The most that planning may multiply the parts of a message by.
    pub most_cut: Option<u32>,
}

impl JobGoal {
    fn may_cut(&self, cut: u32) -> bool {
        self.most_cut.is_none_or(|most| cut <= most)
    }
}

/// Plans collectives on one machine together.
///
/// # Errors
///
/// A [`PlanError`]: there are no collectives or they are for different machines, ranks cannot reach each other, the
/// steps stated are too few, there are too many chunks, or time ran out before there was a schedule.
///
/// ```
/// use collsynth_core::collective::{Collective, Kind};
/// use collsynth_core::{problem::Problem, topology::Topology};
/// use collsynth_plan::{Control, JobGoal, plan_job};
///
/// let torus = Topology::torus(&[4, 4])?;
/// let problem = |kind, parts| Problem::new(torus.clone(), Collective { kind, parts });
/// let problems = vec![problem(Kind::AllToAll, 1)?, problem(Kind::AllGather, 2)?];
/// let (job, _) = plan_job(problems, &JobGoal::default(), &Control::unlimited())?;
/// // 512 hops of messages and 2 * 240 of shards over 64 links.
/// assert_eq!(job.bound.as_ref().map(|bound| bound.least_width()), Some(16));
/// assert!(job.total_width() <= 17);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_job(problems: Vec<Problem>, goal: &JobGoal, control: &Control) -> Result<(Job, StopReason), PlanError> {
    plan_job_in_parts(&problems, goal, NEAR, 0, control)
}

/// Plans collectives together by negotiation, which does not go on where a known job, in messages cut so far, is better
/// than what it may reach in these, cut so far.
fn negotiated(
    prospect: Prospect,
    known: Option<(&Job, u32, u32)>,
    goal: &JobGoal,
    control: &Control,
) -> Result<(Job, StopReason), PlanError> {
    let control = &control.planning_all(&prospect.problems);
    let problems = &prospect.problems;
    let refuse = |reason: String| PlanError::NotApplicable { planner: NAME, reason };
    let chunks = Chunks::new(problems);
    let ranks = problems[0].machine().rank_count();
    if chunks.specs.len().saturating_mul(ranks) > MOST_ARRIVALS {
        let trees = chunks.specs.len();
        return Err(refuse(format!("{trees} chunks to move among {ranks} ranks are too many: use fewer parts")));
    }
    let least_steps = chunks.least_steps();
    if let Some(steps) = goal.steps.or(goal.max_steps).filter(|&steps| steps < least_steps) {
        let limit = format!("{steps} steps: for these collectives it takes {least_steps}");
        return Err(PlanError::NotFound { planner: NAME, limit });
    }
    let (schedules, stopped) = match chunks.specs.is_empty() {
        true => (vec![Schedule::default(); problems.len()], StopReason::Finished),
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

/// Plans collectives together, until the total width is within `close` of its bound (0.05: 5 %): whole messages by
/// negotiation, unless ranks are many; the moves of all, put together, in messages cut in proportion, so finely that a
/// unit of width is a small share of the total; then, unless that is near and ranks are many, by negotiation in more
/// and more parts, while it may be better, gains as much with each step, and makes at most `most_chunks` chunks. Of
/// plans that are as good, the one in the fewest parts is returned.
///
/// # Errors
///
/// As [`plan_job`].
pub fn plan_job_in_parts(
    problems: &[Problem],
    goal: &JobGoal,
    close: f64,
    most_chunks: u64,
    control: &Control,
) -> Result<(Job, StopReason), PlanError> {
    let whole = Prospect::new(problems.to_vec(), control)?;
    let has_many_ranks = whole.problems[0].topology().live_rank_count() > MANY_RANKS;
    let is_hopeless = whole.problems.iter().map(arrivals).sum::<u64>() > MOST_ARRIVALS_TO_NEGOTIATE;
    let cuts = most_chunks > 0;
    let is_enough = |job: &Job| gap(job) <= close;
    // Where messages may be cut, a unit of width that whole ones lose is not lost.
    let volume = whole.least_volume();
    let is_whole_enough = |job: &Job| is_enough(job) && (!cuts || job.total_width() as f64 <= (1.0 + close) * volume);
    let stopped = |reason| control.stop().unwrap_or(reason);
    // Whole messages of few ranks take little time, and may be as good as any.
    let is_quick = !has_many_ranks && !is_hopeless;
    let first = is_quick.then(|| negotiated(whole.cut(1, control)?, None, goal, control)).transpose().ok().flatten();
    if let Some((job, reason)) = first.as_ref().filter(|(job, _)| is_whole_enough(job) || control.stop().is_some()) {
        return Ok((job.clone(), stopped(*reason)));
    }
    let time = if is_hopeless || first.is_some() { control.clone() } else { control.halfway() };
    let overlaid = overlaid(&whole, cuts, goal, close, &time);
    let has_to_do = |job: &Job| is_hopeless || (has_many_ranks && is_enough(job)) || control.stop().is_some();
    if let Some((job, _)) = overlaid.as_ref().filter(|(job, _)| has_to_do(job)) {
        return Ok((job.clone(), stopped(StopReason::Finished)));
    }
    let known = overlaid.as_ref().map(|(job, cut)| (job, *cut));
    let found = negotiated_in_parts(&whole, first, known, goal, close, most_chunks, control);
    match (found, overlaid) {
        (Ok((job, cut, reason)), Some(other)) if is_better((&job, cut), (&other.0, other.1)) => {
            Ok((job, stopped(reason)))
        }
        (found, Some((job, _))) => Ok((job, stopped(found.map_or(StopReason::Finished, |(.., reason)| reason)))),
        (found, None) => found.map(|(job, _, reason)| (job, stopped(reason))),
    }
}

/// Of jobs whose messages are cut so far, does the first have less width, or about as much in fewer steps?
fn is_better((first, cut): (&Job, u32), (second, other_cut): (&Job, u32)) -> bool {
    let widths = [first.total_width() * u64::from(other_cut), second.total_width() * u64::from(cut)];
    let steps = [first, second].map(|job| job.widths().len());
    match widths[0].abs_diff(widths[1]) * WORTH_FEWER_STEPS < widths[1] && steps[0] != steps[1] {
        true => steps[0] < steps[1],
        false => widths[0] < widths[1],
    }
}

/// Plans collectives together by negotiation, where that may be better than what is known; also how far messages were
/// cut for it.
fn negotiated_in_parts(
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
    let (mut best, mut stopped) = first.map_or_else(|| in_parts(1), Ok)?;
    let mut best_cut = 1;
    // Of the finest; that of whole messages says little where a unit of width is much. Steps take a unit each or more,
    // so the gap may stay while the volume falls.
    let mut above = (cut == 1).then(|| gap(&best));
    let volume = |job: &Job, cut: u32| job.total_width() as f64 / f64::from(cut);
    let mut before = (cut == 1).then(|| volume(&best, 1));
    cut = cut.max(2);
    while above.is_none_or(|above| above > close) && can_cut(cut) && control.stop().is_none() {
        // What time did not suffice for leaves what there is.
        let Ok((job, reason)) = in_parts(cut) else { break };
        above = Some(gap(&job));
        let gained = before.replace(volume(&job, cut)).map(|before| 1.0 - volume(&job, cut) / before);
        if is_better((&job, cut), (&best, best_cut)) {
            (best, best_cut, stopped) = (job, cut, reason);
        }
        // More parts share what is lost at both ends, but not what is lost between.
        let is_behind = known.is_some_and(|known| !is_better((&best, best_cut), known));
        if gained.is_some_and(|gained| gained < close) || is_behind {
            break;
        }
        cut *= 2;
    }
    Ok((best, best_cut, stopped))
}

/// Plans each collective alone, levels their routes, and puts the moves together, in more and more parts until the
/// total width is within `close` of its bound; also how far messages were cut for it. `None` if that cannot be done, or
/// not in the steps stated.
fn overlaid(whole: &Prospect, cuts: bool, goal: &JobGoal, close: f64, control: &Control) -> Option<(Job, u32)> {
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
        let found = together(prospect, &routes, goal, close, control).map(|job| (job, cut));
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
            *hops = split(hops, if problem.collective().kind.can_be_cut() { pieces } else { 1 });
        }
    }
}

/// One job of collectives that are planned alone.
fn together(prospect: Prospect, routes: &[Vec<Hop>], goal: &JobGoal, close: f64, control: &Control) -> Option<Job> {
    let control = &control.planning_all(&prospect.problems);
    let least = u64::from(prospect.least_width());
    let mut routes = routes.to_vec();
    level(&prospect.problems, &mut routes, least, goal.seed, control);
    let overlay = Overlay::new(&prospect.problems, &routes)?;
    let most = goal.max_steps.map_or(usize::MAX, |most| most as usize);
    let near = least + (close * least as f64) as u64;
    let timetable = overlay.timetable(near, most, goal.seed, control);
    let schedules = (timetable.widths.len() <= most).then(|| overlay.schedules(&timetable))?;
    prospect.into_job(schedules).ok()
}

/// Problems and what bounds them.
struct Prospect {
    problems: Vec<Problem>,
    /// Of each alone.
    bounds: Vec<Bounds>,
    /// Of all together.
    bound: Option<JobBound>,
}

impl Prospect {
    fn new(problems: Vec<Problem>, control: &Control) -> Result<Self, PlanError> {
        let refuse = |error: JobError| PlanError::NotApplicable { planner: NAME, reason: error.to_string() };
        let first = problems.first().ok_or_else(|| refuse(JobError::Empty))?;
        if let Some(index) = problems.iter().position(|problem| problem.machine() != first.machine()) {
            return Err(refuse(JobError::OtherMachine { index }));
        }
        let bounds = problems.iter().map(|problem| control.bounds(problem)).collect::<Result<Vec<Bounds>, _>>()?;
        let bound = bound::of_job(&problems, &bounds, &control.halfway().limit());
        Ok(Self { problems, bounds, bound })
    }

    /// The same with messages cut in this many parts: what links must carry grows alike, unless some cannot be cut.
    fn cut(&self, cut: u32, control: &Control) -> Result<Self, PlanError> {
        let cut_further = |problem: &Problem| match problem.collective().kind.can_be_cut() {
            true => problem.with_parts(problem.parts().saturating_mul(cut)),
            false => Ok(problem.clone()),
        };
        let problems = self.problems.iter().map(cut_further).collect::<Result<Vec<_>, _>>()?;
        if !self.problems.iter().all(|problem| problem.collective().kind.can_be_cut()) {
            return Self::new(problems, control);
        }
        let bounds = problems.iter().map(|problem| control.bounds(problem)).collect::<Result<_, _>>()?;
        let scaled = |bound: &JobBound| JobBound { at_least: bound.at_least * i128::from(cut), ..bound.clone() };
        Ok(Self { problems, bounds, bound: self.bound.as_ref().map(scaled) })
    }

    /// The first power of two by which messages can be cut so that a unit of width is at most this share of the total;
    /// the largest, if none does.
    fn fine_cut(&self, share: f64, can_cut: impl Fn(u32) -> bool) -> u32 {
        let is_coarse = |cut: u32| share * self.least_volume() * f64::from(cut) < 1.0;
        let mut cut = 1;
        while is_coarse(cut) && cut.checked_mul(2).is_some_and(&can_cut) {
            cut *= 2;
        }
        cut
    }

    fn least_width(&self) -> u32 {
        let alone = self.problems.iter().zip(&self.bounds).map(|(problem, of)| of.least_width(problem.parts()));
        alone.fold(self.bound.as_ref().map_or(0, |bound| bound.least_width()), u32::max)
    }

    /// The same if steps took no width, and messages could be cut as finely as one likes.
    fn least_volume(&self) -> f64 {
        let alone = self.problems.iter().zip(&self.bounds).filter_map(|(problem, bounds)| {
            bounds.volume.as_ref().map(|bound| as_float(bound.at_least) * f64::from(problem.parts()))
        });
        alone.fold(self.bound.as_ref().map_or(0.0, |bound| as_float(bound.at_least)), f64::max)
    }

    fn into_job(self, schedules: Vec<Schedule>) -> Result<Job, JobError> {
        let each = self.problems.into_iter().zip(schedules).zip(self.bounds);
        let solution = |((problem, schedule), bounds)| Solution { problem, schedule, bounds, origin: None };
        Job::new(each.map(solution).collect(), self.bound, None)
    }
}

/// The least total width that the bounds of a job allow: its own, and those of each collective alone.
pub fn least_job_width(job: &Job) -> u32 {
    let alone = job.solutions().iter().map(|solution| solution.bounds.least_width(solution.problem.parts()));
    alone.fold(job.bound.as_ref().map_or(0, |bound| bound.least_width()), u32::max)
}

fn gap(job: &Job) -> f64 {
    job.total_width() as f64 / f64::from(least_job_width(job).max(1)) - 1.0
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
