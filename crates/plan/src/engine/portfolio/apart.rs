//! Groups planned each by itself.
//!
//! # Idea
//!
//! The members of a group and the links that join them are a small machine. Groups whose machines are alike have one
//! plan, and as no two share a link, all plans run at once:
//!
//! ```text
//!   rows of a torus      0 - 1 - 2 - 3        one ring, planned once, and moved to every row
//!                        4 - 5 - 6 - 7
//!                        8 - x - 10- 11       a line, planned once more
//! ```
//!
//! Where a group is split by failures, or short of links, others relay: then trees of all groups are packed at once, in
//! few parts, and cut further. Then, and where groups differ in how long they take, the routes of all are leveled:
//! chunks of groups that are short of links leave for those of others, and all moves are
//! [put together](crate::engine::together) anew.
//!
//! # Applies
//!
//! To two groups or more, where steps are not stated. Messages and shards have planners that are as good for all groups
//! at once, but slow: many are planned apart first, blocks of a torus as tori with failed cables.
//!
//! # Complexity
//!
//! That of planning each sort of group alone, and O(moves log moves) for each pass that puts them together.

use std::cmp::Reverse;

use collsynth_core::certificate::Bounds;
use collsynth_core::collective::{ChunkId, Collective, Groups, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::{RankId, TopologySpec};

use super::machine::{block_of, graph_of};
use super::{Effort, plan_bounded};
use crate::engine::parts::shares_vectors;
use crate::engine::planned::Plan;
use crate::engine::together::hops::{Hop, enough_parts, hops, split};
use crate::engine::together::put_together;
use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::goal::{Goal, Parts};
use crate::model::planner::{Outcome, Planner, arrivals};
use crate::model::task::Task;
use crate::planners::trees::packed_trees::PackedTrees;

/// Arrivals of vectors above which packing trees of all groups at once takes more than some seconds.
const MOST_ARRIVALS_AT_ONCE: u64 = 500_000;
/// Arrivals of messages from which on planning all groups at once takes seconds, and the share of the least width that
/// is then as good as nothing.
const MANY_MESSAGES: u64 = 100_000;
const NEAR_MESSAGES: u64 = 100;
/// Arrivals of shards above which that takes so long that leveled routes do, in however many steps.
const MANY_TO_LEVEL: u64 = 1_000_000;
/// Arrivals of vectors above which groups are planned apart only: trees for all at once take minutes.
const MANY_IN_GROUPS: u64 = 100_000;

/// A group, planned alone over links of its own: a schedule of the chunks of the whole problem, among the ranks of the
/// whole machine.
struct Alone {
    planner: &'static str,
    schedule: Schedule,
}

/// All groups, planned each by itself.
pub(crate) struct Apart {
    /// Who planned the first.
    pub planner: &'static str,
    pub outcome: Outcome,
    /// Would planning all at once take long, and hardly find more?
    pub is_enough: bool,
}

/// Plans each group by itself. `None` if some group cannot be planned so.
pub(crate) fn plan_apart(
    task: &Task<'_>,
    among: Option<&[&dyn Planner]>,
    only_quick: bool,
    control: &Control,
) -> Option<Apart> {
    let groups = task.problem.groups().filter(|groups| groups.members().len() > 1)?;
    if task.steps.is_some() {
        return None;
    }
    let are_vectors = shares_vectors(&task.problem.collective().kind);
    if !are_vectors && arrivals(task.problem) < MANY_MESSAGES {
        return None;
    }
    let silent = &control.without_listeners();
    let groups = planned(task, groups, among, only_quick, silent);
    let at_once = groups.as_ref().map(|groups| merged(groups));
    let least = u64::from(task.bounds.least_width(task.problem.parts()));
    // Steps of groups differ in width, which costs something once more.
    let near_enough = near_messages(near_messages(least));
    let near = task.near.unwrap_or(if are_vectors { least } else { near_enough });
    let enough = at_once.as_ref().is_some_and(|schedule| schedule.total_width() <= near.max(least));
    let (planner, routes) = match &groups {
        Some(groups) => {
            let hops_of = |group: &Alone| hops(task.problem, &group.schedule);
            let may_level = !enough && task.problem.collective().kind.pattern() != Pattern::OneToOne;
            (groups.first()?.planner, may_level.then(|| groups.iter().flat_map(hops_of).collect()))
        }
        None if are_vectors => (PackedTrees.name(), Some(relayed(task, among, silent)?)),
        None => return None,
    };
    // Without it there would be no schedule yet.
    let has_to = at_once.is_none();
    let anew = routes.filter(|_| has_to || control.stop().is_none()).map(|routes: Vec<Hop>| {
        let problems = std::slice::from_ref(task.problem);
        put_together(problems, &mut [routes], (least, near), task.max_steps, task.seed, control)?.pop()
    });
    let fits = |schedule: &Schedule| task.check_steps(planner, schedule.step_count()).is_ok();
    let found = at_once.into_iter().chain(anew.flatten()).filter(fits);
    let schedule = found.reduce(|best, other| if task.prefers(&other, &best) { other } else { best })?;
    let is_near = task.price.is_none() && schedule.total_width() <= near.max(near_enough);
    let is_enough = match are_vectors {
        true => arrivals(task.problem) > MANY_IN_GROUPS,
        // Put together anew, they take more steps than needed.
        false => task.is_optimal(&schedule) || (is_near && (enough || arrivals(task.problem) > MANY_TO_LEVEL)),
    };
    // Where near is enough, others would not look for fewer steps any more.
    if !are_vectors && !is_enough && task.near.is_some() {
        return None;
    }
    let outcome = Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished));
    Some(Apart { planner, outcome, is_enough })
}

/// A total width of many messages that is near enough: what is left takes longer to find than all before.
fn near_messages(least: u64) -> u64 {
    least + least / NEAR_MESSAGES
}

/// Routes of trees for all groups at once, which relay for each other: packed in few parts, whose chunks are then cut.
fn relayed(task: &Task<'_>, among: Option<&[&dyn Planner]>, control: &Control) -> Option<Vec<Hop>> {
    let whole = task.problem;
    let may_pack = among.is_none_or(|among| among.iter().any(|planner| planner.name() == PackedTrees.name()));
    whole.groups().filter(|groups| may_pack && groups.may_relay())?;
    let coarse = whole.with_parts(few_parts(whole, task.bounds)).ok()?;
    let coarser = Task { seed: task.seed, ..Task::new(&coarse, task.bounds) };
    let packed = PackedTrees.plan(&coarser, control).ok()?;
    Some(split(&hops(&coarse, &packed.schedule), whole.parts() / coarse.parts()))
}

/// A divisor of the parts of a problem in which the trees of all its groups are packed: that in which a unit of width
/// is little, or of those that take seconds, the one whose least width is the least for all parts.
fn few_parts(problem: &Problem, bounds: &Bounds) -> u32 {
    let parts = problem.parts();
    let most = MOST_ARRIVALS_AT_ONCE / (arrivals(problem) / u64::from(parts)).max(1);
    let enough = enough_parts(problem, bounds);
    if u64::from(enough) <= most {
        return enough;
    }
    let quick = (1..=parts).filter(|&fewer| parts.is_multiple_of(fewer) && u64::from(fewer) <= most);
    let width = |fewer: u32| u64::from(bounds.least_width(fewer)) * u64::from(parts / fewer);
    quick.min_by_key(|&fewer| (width(fewer), Reverse(fewer))).unwrap_or(1)
}

/// All groups, planned; `None` if one of them cannot be, or has too few links of its own.
fn planned(
    task: &Task<'_>,
    groups: &Groups,
    among: Option<&[&dyn Planner]>,
    only_quick: bool,
    control: &Control,
) -> Option<Vec<Alone>> {
    let whole = task.problem;
    let least = u64::from(task.bounds.least_width(whole.parts()));
    let near = task.near.unwrap_or(least);
    let kind = whole.collective().kind.of_each();
    let are_vectors = shares_vectors(kind);
    let is_one_to_one = kind.pattern() == Pattern::OneToOne;
    // Trees of shards give way better than those of vectors.
    let can_be_leveled = !are_vectors && !is_one_to_one;
    let plan = |problem: Problem, bounds: Bounds| {
        let (price, seed) = (task.price, task.seed);
        let (max_steps, parts) = (task.max_steps, Parts::Fixed(problem.parts()));
        let goal = Goal { among, parts, max_steps, price, seed, ..Goal::default() };
        // As near its own bound as the whole is to be to that of all. Messages have as long as those of any group.
        let own = u64::from(bounds.least_width(problem.parts()));
        let as_near = task.near.map(|near| (near * own / least.max(1)).max(own));
        let for_messages = (!are_vectors && task.price.is_none()).then(|| near_messages(own.max(least)));
        let effort = Effort { near: as_near.or(for_messages), only_quick, ..Effort::default() };
        plan_bounded(problem, bounds, &goal, effort, control).ok()
    };
    let mut known: Vec<(TopologySpec, Option<Plan>)> = Vec::new();
    let mut all = Vec::with_capacity(groups.members().len());
    let mut first = 0;
    for members in groups.members() {
        control.stop().is_none().then_some(())?;
        let block = is_one_to_one.then(|| block_of(whole.machine(), members)).flatten();
        let machine = block.or_else(|| graph_of(whole.machine(), groups, members))?;
        let problem = Problem::new(machine, Collective { kind: kind.clone(), parts: whole.parts() }).ok()?;
        let chunks = first;
        first += problem.chunk_count();
        if problem.topology().live_rank_count() < 2 {
            continue;
        }
        let at = known.iter().position(|(spec, _)| spec == problem.machine().spec()).unwrap_or(known.len());
        if at == known.len() {
            let spec = problem.machine().spec().clone();
            let bounds = control.bounds(&problem).ok();
            let is_short = |bounds: &Bounds| u64::from(bounds.least_width(problem.parts())) > near;
            let has_to_relay = |bounds: &Bounds| groups.may_relay() && is_short(bounds) && !can_be_leveled;
            let bounds = bounds.filter(|bounds| !has_to_relay(bounds));
            known.push((spec, bounds.and_then(|bounds| plan(problem, bounds))));
        }
        let plan = known[at].1.as_ref()?;
        let schedule = moved(&plan.schedule, |rank| members[rank.index()], chunks);
        all.push(Alone { planner: plan.planner, schedule });
    }
    Some(all)
}

/// A schedule among other ranks, of chunks that are numbered from `first` on.
fn moved(schedule: &Schedule, rank: impl Fn(RankId) -> RankId, first: u32) -> Schedule {
    let mut moved = Schedule::builder();
    for step in schedule.steps() {
        moved.step(step.width);
        for one in step.transfers {
            let chunks = schedule.chunks(one).iter().map(|chunk| ChunkId(chunk.0 + first));
            moved.transfer(rank(one.from), rank(one.to), one.via, one.op, chunks);
        }
    }
    moved.finish()
}

/// All groups at once: a step is as wide as that of the group that needs most.
fn merged(groups: &[Alone]) -> Schedule {
    let mut steps: Vec<_> = groups.iter().map(|group| (&group.schedule, group.schedule.steps())).collect();
    let count = groups.iter().map(|group| group.schedule.step_count()).max().unwrap_or(0);
    let mut merged = Schedule::builder();
    for _ in 0..count {
        let of_step: Vec<_> =
            steps.iter_mut().filter_map(|(schedule, steps)| steps.next().map(|step| (schedule, step))).collect();
        merged.step(of_step.iter().map(|(_, step)| step.width).max().unwrap_or(1));
        for (schedule, step) in &of_step {
            for one in step.transfers {
                merged.transfer(one.from, one.to, one.via, one.op, schedule.chunks(one).iter().copied());
            }
        }
    }
    merged.finish()
}
