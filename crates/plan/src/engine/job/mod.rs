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
//! are planned one by one, each in its share of the time, their routes leveled, and their moves [put
//! together](crate::engine::together), in more and more parts; if that is far above the bound too, they may run [one
//! after another](in_turn).
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
mod combined;
mod cut;
mod in_turn;
mod negotiated;
mod prospect;
mod routes;
mod size;

use collsynth_core::problem::Problem;
use collsynth_core::schedule::Job;

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::planner::arrivals;
use combined::combined;
pub use cut::in_pieces;
use in_turn::in_turn;
use negotiated::{negotiated, negotiated_in_parts};
use prospect::Prospect;
pub use size::check_job_size;

/// The name of the planner.
const NAME: &str = "job";
/// A job with fewer steps is better if its total width is within one part in this many of the other's.
const WORTH_FEWER_STEPS: u64 = 100;
/// A unit of width is at most this share of the total where a job is first planned in parts.
const COARSE: f64 = 0.02;
/// Above this, negotiation does not end within minutes.
const MOST_ARRIVALS_TO_NEGOTIATE: u64 = 50_000_000;
/// Arrivals times the least width above which negotiating takes longer than planning each collective alone, which then
/// comes first.
const MOST_WORK_AT_ONCE: u64 = 1_000_000;
/// Above this, planners that are not quick take minutes for a collective alone.
const MOST_ARRIVALS_ALONE: u64 = 100_000;
/// How far above the bound a job in stated parts is near enough, as a share of it.
const NEAR: f64 = 0.005;
/// More ranks than this negotiate for a minute: there, moves of collectives that are planned alone come first.
const MANY_RANKS: usize = 200;

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

/// Plans collectives together, until the total width is within `close` of its bound (0.05: 5 %): whole messages by
/// negotiation, unless ranks or chunks are many; the moves of all, put together, in messages cut in proportion, so
/// finely that a unit of width is a small share of the total, or one collective after another; then, unless that is
/// near and ranks are many, by negotiation in more and more parts, while it may be better, gains as much with each
/// step, and makes at most `most_chunks` chunks. Of plans that are as good, the one in the fewest parts is returned.
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
    check_job_size(problems, goal)?;
    let whole = Prospect::new(problems.to_vec(), control)?;
    whole.check_steps(goal)?;
    let has_many_ranks = whole.problems[0].topology().live_rank_count() > MANY_RANKS;
    let arrivals: u64 = whole.problems.iter().map(arrivals).sum();
    let is_hopeless = arrivals > MOST_ARRIVALS_TO_NEGOTIATE;
    let cuts = most_chunks > 0;
    let is_enough = |job: &Job| gap(job) <= close;
    // Where messages may be cut, a unit of width that whole ones lose is not lost.
    let volume = whole.least_volume();
    let is_whole_enough = |job: &Job| is_enough(job) && (!cuts || job.total_width() as f64 <= (1.0 + close) * volume);
    let stopped = |reason| control.stop().unwrap_or(reason);
    // Whole messages of few ranks take little time, and may be as good as any.
    let is_quick = !has_many_ranks && arrivals.saturating_mul(whole.least_width().into()) <= MOST_WORK_AT_ONCE;
    let first = is_quick.then(|| negotiated(whole.cut(1, control)?, None, goal, control)).transpose().ok().flatten();
    if let Some((job, reason)) = first.as_ref().filter(|(job, _)| is_whole_enough(job) || control.stop().is_some()) {
        return Ok((job.clone(), stopped(*reason)));
    }
    let time = if is_hopeless || first.is_some() { control.clone() } else { control.halfway() };
    let mut combined = combined(&whole, cuts, goal, close, &time);
    let is_far = combined.as_ref().is_none_or(|(job, _)| !is_enough(job));
    if is_far && (combined.is_none() || time.stop().is_none()) {
        let cut = combined.as_ref().map_or(1, |(_, cut)| *cut);
        let in_turn = in_turn(&whole, cut, goal, &time);
        let other = combined.take();
        combined = match (in_turn.map(|job| (job, cut)), other) {
            (Some(job), Some(other)) if !is_better((&job.0, job.1), (&other.0, other.1)) => Some(other),
            (job, other) => job.or(other),
        };
    }
    let has_to_do = |job: &Job| is_hopeless || (has_many_ranks && is_enough(job)) || control.stop().is_some();
    if let Some((job, _)) = combined.as_ref().filter(|(job, _)| has_to_do(job)) {
        return Ok((job.clone(), stopped(StopReason::Finished)));
    }
    let known = combined.as_ref().map(|(job, cut)| (job, *cut));
    let found = negotiated_in_parts(&whole, first, known, goal, close, most_chunks, control);
    match (found, combined) {
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

/// The least total width that the bounds of a job allow: its own, and those of each collective alone.
pub fn least_job_width(job: &Job) -> u32 {
    let alone = job.solutions().iter().map(|solution| solution.bounds.least_width(solution.problem.parts()));
    alone.fold(job.bound.as_ref().map_or(0, |bound| bound.least_width()), u32::max)
}

fn gap(job: &Job) -> f64 {
    job.total_width() as f64 / f64::from(least_job_width(job).max(1)) - 1.0
}
