//! Matching: chunks spread step by step, each rank taking as many new ones as its links bring.
//!
//! # Idea
//!
//! Where every rank needs every chunk, no tree has to be planned. In a step, a rank matches the chunks it lacks with
//! the links over which they could come, from neighbors that hold them when the step begins; links into different ranks
//! never compete. The rarest chunks come first, so that neighbors soon hold different ones and links never run out of
//! what is useful:
//!
//! ```text
//!   links into v:   from a {1 2}   from b {2 3}   from c {3}      v lacks 1 2 3
//!   matched:             1              2              3          rather than a: 2, b: 3, c: nothing
//! ```
//!
//! In the first steps few chunks are near a rank, and room beyond them is lost. So a step is as wide as lets every rank
//! make up for its idle links by the end, and the neighbors of a rank that can lose no more take what it lacks
//! (`spread`).
//!
//! Backward in time over reversed links the same spreads collect: that plans reduce_scatter. An all_reduce collects
//! every chunk at a root, then spreads it from there. Its roots are free: a rank with few links is the root of more
//! chunks, which need not come in over them (`halves`). Where that is not enough, the halves overlap (`overlap`).
//!
//! # Applies
//!
//! All_gather, all_reduce_gathered, reduce_scatter and all_reduce, on any topology with at most 64 links into and out
//! of each rank, with any failures.
//!
//! # Steps and volume
//!
//! With a dead cable: all_gather on 8x8x8 and 16x16x16 in the steps of the diameter and on the bound; all_reduce on
//! 8x8x8 in 768 parts on its bound, 256/768, in 34 steps. Where steps count, roots of several ranks, which swap sums,
//! make an all_reduce shorter (`centers`): on an intact 4x4x4, 11 steps for 21/64, the bound, and 8 for 5/12; with a
//! dead cable 14 for 1/3, 8 for 0.77, and 7, one more than the diameter, for 3/2.
//!
//! Where more ranks are short of links than there are chunks to hang from them, the halves overlap (`overlap`): with 4
//! dead cables an all_reduce on 8x8x8 in 768 parts meets its bound, 258/768, in 48 steps, and 16x16x16 with 16 is 0.8 %
//! above its bound in 80. [`PackedTrees`](crate::PackedTrees) come closer still, in many times the steps.
//!
//! # Complexity
//!
//! O(steps * ranks * chunks) for a try, and sorting what each rank lacks; chunks * ranks bits, and 8 bytes for each
//! arrival.
//!
//! # Reference
//!
//! Won et al., "TACOS: topology-aware collective algorithm synthesizer for distributed machine learning", MICRO 2024,
//! for matching links with chunks; Edmonds and Fulkerson, "Transversals and matroid partition", 1965, for why taking
//! the rarest first, with exchanges, costs no link its chunk. Steps of many widths, idle budgets, free roots, roots of
//! several ranks and halves that overlap are ours.

mod assignment;
mod centers;
mod deadlines;
mod halves;
mod overlap;
mod room;
mod spread;
mod timeline;

use fastrand::Rng;
use itertools::Itertools;
use rayon::prelude::*;

use crate::model::account::StopReason;
use crate::model::control::{Control, Progress};
use crate::model::error::PlanError;
use crate::model::network::Network;
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner, arrivals};
use crate::model::task::Task;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use deadlines::Deadlines;
use halves::{Halves, Up};
use overlap::{Extent, Overlap};
use spread::Spread;
use timeline::Timeline;

/// The name of the planner.
const NAME: &str = "matching";
/// The most links into a rank.
const MOST_LINKS: usize = 64;

/// The share of its slack that a rank may have lost to idle links, try by try: little makes narrow steps and many of
/// them. Beyond 1 the volume grows and the steps may become fewer.
const IDLE: [f64; 8] = [1.0, 0.0, 0.5, 0.75, 0.25, 2.0, 4.0, 8.0];
/// The same in tries of limited steps.
const IDLE_WITHIN: [f64; 3] = [1.0, 2.0, 0.5];
/// Steps of a half beyond the fewest, in tries where steps count.
const MORE_STEPS: [Steps; 5] = [Steps::More(0), Steps::More(1), Steps::More(2), Steps::More(3), Steps::More(5)];
/// Tries with fewer roots at weak ranks, where steps count: volumes above the least, in 64ths.
const WIDER: [u32; 3] = [0, 16, 4];
/// The same where weak ranks would be the roots of most chunks: these would set out from a few places at first.
const WIDER_IF_CROWDED: [u32; 3] = [1, 2, 4];

/// Tries with halves that overlap: the steps before the middle as a share of the fewest of a half, their width as a
/// multiple of the least that lets every rank make up for the links it lacks, and what a half aims at beyond the least.
const OVERLAPS: [(f64, f64, u32); 12] = [
    (0.6, 1.2, 2),
    (0.6, 1.25, 1),
    (0.67, 1.2, 1),
    (0.67, 1.4, 1),
    (0.8, 1.2, 1),
    (1.0, 1.5, 0),
    (1.0, 1.2, 1),
    (1.5, 1.2, 0),
    (0.5, 1.5, 0),
    (0.75, 1.2, 0),
    (0.75, 1.5, 1),
    (0.5, 2.0, 1),
];

/// The work of all tries together, in chunks times ranks times steps, and the least and the most tries.
const WORK: u64 = 120_000_000;
const LEAST_TRIES: u64 = 2;
const MOST_TRIES: u64 = 128;
/// The tries on large machines, at once: single ones are a matter of luck there.
const LARGE_TRIES: usize = 4;

/// Arrivals that two tries deal with in seconds, on machines where others take minutes.
const QUICK: u64 = 4_000_000;

/// The planner of matchings.
///
/// ```
/// use collsynth_core::{collective::Kind, topology::Topology};
/// use collsynth_plan::{Control, Goal, Matching, Parts, synthesize};
///
/// let torus = Topology::torus(&[4, 4, 4])?.fail_cable(0, 1)?;
/// let goal = Goal { parts: Parts::Fixed(192), planner: Some(&Matching), ..Goal::default() };
/// let schedule = synthesize(&torus, &Kind::AllReduce, &goal, &Control::unlimited())?.schedule;
/// assert_eq!((schedule.step_count(), schedule.total_width()), (14, 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Matching;

impl Planner for Matching {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "all_gather, reduce_scatter and all_reduce on any network with any failures: links matched with chunks"
    }

    fn scope(&self) -> Scope {
        Scope::of(&["all_gather", "all_reduce_gathered", "reduce_scatter", "all_reduce"])
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        let topology = problem.topology();
        let links = |rank| topology.links_into(rank).count().max(topology.links_from(rank).count());
        if topology.live_ranks().any(|rank| links(rank) > MOST_LINKS) {
            let reason = format!("a rank has more than {MOST_LINKS} links");
            return Err(PlanError::NotApplicable { planner: self.name(), reason });
        }
        Ok(())
    }

    fn is_quick(&self, problem: &Problem) -> bool {
        arrivals(problem) <= QUICK
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        task.steps_or(task.bounds.least_steps())?;
        if task.problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        task.problem.check_connected()?;
        let halves = Halves::new(task.problem);
        if let Some(width) = halves.is_hopeless(task) {
            let limit = format!("a total width of at most {width}, which another planner reached");
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let best = best(task, &halves, control);
        let stopped = control.stop().unwrap_or(StopReason::Finished);
        let none = || match control.stop() {
            Some(stopped) => PlanError::Stopped { stopped },
            None => PlanError::NotFound { planner: self.name(), limit: "the steps allowed".to_owned() },
        };
        let mut timeline = best.ok_or_else(none)?;
        let topology = task.problem.topology();
        timeline.stretch(topology, task.steps.unwrap_or(0) as usize);
        let schedule = timeline.write(topology);
        task.check_steps(self.name(), schedule.step_count())?;
        Ok(Outcome::new(schedule, stopped))
    }
}

/// The best of some tries: one after another, on large machines several at once.
fn best(task: &Task<'_>, halves: &Halves<'_>, control: &Control) -> Option<Timeline> {
    let (arrivals, mut work) = (arrivals(task.problem), 0);
    let together = if arrivals > QUICK { LARGE_TRIES } else { 1 };
    let mut best: Option<Timeline> = None;
    let tries: Vec<(u64, Attempt)> = (0..MOST_TRIES).zip(attempts(task, halves)).collect();
    for tries in tries.chunks(together) {
        control.report(Progress { planner: NAME, attempt: "matching", round: tries[0].0, remaining: 0 });
        let one = |(number, tried): &(u64, Attempt)| {
            let seed = task.seed.wrapping_mul(1009).wrapping_add(*number);
            attempt(task, halves, tried, seed, control)
        };
        let found: Vec<Option<Timeline>> = tries.par_iter().map(one).collect();
        // The others of a batch count only as far as one after another would have come.
        for ((number, _), found) in tries.iter().zip(found) {
            if let Some(found) = found {
                work += arrivals * found.figures().0 as u64;
                if best.as_ref().is_none_or(|best| found.is_better(best, task)) {
                    best = Some(found);
                }
            }
            let has_tried = number + 1 >= LEAST_TRIES.max(together as u64) && work >= WORK;
            if has_tried || best.as_ref().is_some_and(|best| best.is_optimal(task)) {
                return best;
            }
        }
        if control.stop().is_some() {
            break;
        }
    }
    best
}

/// What a try tries.
struct Attempt {
    /// The doublings of roots.
    doublings: usize,
    steps: Steps,
    /// The total width of a half that it aims at.
    target: u32,
    idle: f64,
    /// How far the halves overlap.
    overlap: Option<Extent>,
}

/// The steps of a half in a try.
#[derive(Clone, Copy)]
enum Steps {
    /// As many as it takes.
    Any,
    /// Beyond the fewest.
    More(u32),
    /// All that the task allows.
    Allowed,
}

/// All tries, the most promising first. Where only the volume counts, roots of two ranks and of one, or, if few tries
/// have to do, of one: two lose more of the volume the larger a failing machine is. Where steps count, centers of all
/// sizes, and volumes above the least.
fn attempts(task: &Task<'_>, halves: &Halves<'_>) -> Vec<Attempt> {
    let limited = task.steps.or(task.max_steps).is_some();
    // In few parts the steps are most of the width.
    let parts = task.problem.parts();
    let is_short = halves.has_both() && task.bounds.least_width(parts) <= 2 * task.bounds.least_steps();
    let counts_steps = limited || is_short || task.price.is_some() || task.near.is_some();
    let mut sizes: Vec<usize> = (0..=halves.most_doublings()).collect();
    if !counts_steps {
        sizes.truncate(if arrivals(task.problem) <= QUICK { 2 } else { 1 });
        sizes.reverse();
    }
    let limits: &[Steps] = match (limited, counts_steps) {
        (true, _) => &[Steps::Allowed],
        (false, true) => &MORE_STEPS,
        (false, false) => &[],
    };
    let idle = if counts_steps { &IDLE[..1] } else { &IDLE[..] };
    let wider: &[u32] = if halves.is_crowded(task.bounds) { &WIDER_IF_CROWDED } else { &[] };
    let crowded = wider.iter().map(|&wider| (idle[0], Steps::Any, wider));
    let free = idle.iter().map(|&idle| (idle, Steps::Any, 0));
    let free = free.clone().take(1).chain(crowded).chain(free.skip(1));
    let within = IDLE_WITHIN.iter().cartesian_product(limits).cartesian_product(WIDER);
    let within = within.map(|((&idle, &steps), wider)| (idle, steps, wider));
    let attempt = |((idle, steps, wider), doublings): ((f64, Steps, u32), usize)| {
        let least = halves.least_width(task.bounds, doublings);
        Attempt { doublings, steps, target: least + (least * wider).div_ceil(64), idle, overlap: None }
    };
    let apart = free.chain(within).cartesian_product(sizes).map(attempt);
    let half = task.bounds.least_width(parts).div_ceil(2);
    let may_overlap = halves.may_overlap(task.bounds);
    let overlapping = OVERLAPS.iter().filter(|_| may_overlap).map(|&(steps, width, more)| {
        let overlap = Some(Extent { steps, width });
        Attempt { doublings: 0, steps: Steps::Any, target: half + more, idle: IDLE[0], overlap }
    });
    if limited || is_short || task.price.is_some() {
        apart.interleave(overlapping).collect()
    } else {
        overlapping.chain(apart).collect()
    }
}

/// One try: `None` if it was stopped, has no centers, or takes more steps than allowed.
fn attempt(task: &Task<'_>, halves: &Halves<'_>, attempt: &Attempt, seed: u64, control: &Control) -> Option<Timeline> {
    if let Some(extent) = attempt.overlap {
        return overlapping(task, halves, attempt, extent, seed, control);
    }
    let count = if halves.has_both() { 2 } else { 1 };
    let allowed = task.steps.or(task.max_steps).map(|most| most.saturating_sub(attempt.doublings as u32) / count);
    let mut roots = halves.roots(attempt.target, attempt.doublings)?;
    let mut least = halves.least_steps(&roots);
    if allowed.is_some_and(|allowed| allowed < least) || matches!(attempt.steps, Steps::More(0)) {
        let near = halves.near_roots(attempt.doublings);
        if let Some((near, fewer)) = near.map(|near| (halves.least_steps(&near), near)).filter(|near| near.0 < least) {
            (least, roots) = (near, fewer);
        }
    }
    let steps = match attempt.steps {
        Steps::Any => None,
        Steps::More(more) => Some(least + more),
        Steps::Allowed => allowed,
    };
    if allowed.is_some_and(|allowed| allowed < steps.unwrap_or(least).max(least)) {
        return None;
    }
    let mut rng = Rng::with_seed(seed);
    let mut spread = |network: &Network| {
        let deadlines = steps.map(|steps| Deadlines::new(network, &roots.ranks, 1 << roots.doublings, steps));
        Spread {
            network,
            roots: &roots.ranks,
            chunks: roots.chunks.len(),
            target: attempt.target,
            idle: attempt.idle,
            deadlines: deadlines.as_ref(),
            overlap: None,
            stop: &|| control.stop().is_some(),
        }
        .run(&mut rng)
    };
    let down = match &halves.down {
        Some(network) => Some(spread(network)?),
        None => None,
    };
    let mut timeline = Timeline::default();
    match (&halves.up, &down) {
        (Up::Own(network), _) => timeline.collect(&spread(network)?, &roots.chunks, |link| network.ids[link as usize]),
        (Up::Mirrored { links }, Some(down)) => timeline.collect(down, &roots.chunks, |link| links[link as usize]),
        _ => {}
    }
    timeline.swap(task.problem.topology(), &roots);
    if let (Some(network), Some(down)) = (&halves.down, &down) {
        timeline.spread(down, &roots.chunks, |link| network.ids[link as usize]);
    }
    Some(timeline)
}

/// One try with halves that overlap.
fn overlapping(
    task: &Task<'_>,
    halves: &Halves<'_>,
    attempt: &Attempt,
    extent: Extent,
    seed: u64,
    control: &Control,
) -> Option<Timeline> {
    let network = halves.down.as_ref()?;
    let overlap = Overlap::new(task.problem, halves, attempt.target, extent)?;
    let spread = Spread {
        network,
        roots: &overlap.roots,
        chunks: overlap.roots.len(),
        target: attempt.target,
        idle: attempt.idle,
        deadlines: None,
        overlap: Some(&overlap),
        stop: &|| control.stop().is_some(),
    };
    let waves = spread.run(&mut Rng::with_seed(seed))?;
    let timeline = Timeline::overlapping(&waves, &overlap, |link| network.ids[link as usize]);
    let allowed = task.steps.or(task.max_steps);
    Some(timeline).filter(|timeline| allowed.is_none_or(|allowed| timeline.figures().0 <= allowed as usize))
}
