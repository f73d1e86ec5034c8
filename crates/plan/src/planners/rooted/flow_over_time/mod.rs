//! Flow over time: everything from one rank, or everything to one rank.
//!
//! # Idea
//!
//! All that one rank sends is a single commodity: a chunk that arrives at a rank may be any of those wanted there. So
//! whether everything fits in steps of given widths is a maximum flow problem in the time-expanded network, and the
//! flow, decomposed into paths, is the schedule. Nothing is negotiated.
//!
//! ```text
//!   time 0    1    2    3        the flow may wait at a rank, or cross a link in a step,
//!   root o----o----o----o        up to the width of the step
//!          \    \    \
//!      a    o----o----o----> what a is to get
//! ```
//!
//! What waits nowhere on its way is found first, one departure after another in the network in space (`departures`): on
//! tori little is missing then. The cuts that limit a flow show which steps are too narrow (see `narrow`). If all send
//! to one rank, the schedule is read backward in time over reversed links.
//!
//! # Applies
//!
//! Scatter and gather on any topology, with any failures; all_to_all or all_to_allv if one rank sends, or one rank
//! receives, everything.
//!
//! # Steps and volume
//!
//! The least steps first, then more as long as they reduce the width. On tori the volume is the cut of the root, `(N-1)
//! / (live links of the root)`, in diameter steps. If another cut is as tight, steps before anything has reached it are
//! lost: the least width is then that of the quickest flow in steps of width 1, which a metric over time certifies.
//!
//! # Complexity
//!
//! A flow takes a few passes over `S * links` arcs, whatever the number of parts, and more where shortest paths without
//! waits do not suffice; at most a few hundred flows are tried for each number of steps, and mostly one.
//!
//! # Reference
//!
//! Ford and Fulkerson, "Constructing maximal dynamic flows from static flows", 1958; Dinitz 1970; Benders 1962 for cuts
//! as demands.

mod departures;
mod flow;
mod narrow;
mod residual;

use std::ops::RangeInclusive;

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{Message, Network, messages};
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use collsynth_core::certificate::Bounds;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use flow::Flow;
use narrow::{Narrow, total};

/// The planner stops adding steps after this number in a row without gain.
const VAIN_STEPS: u32 = 3;

/// The planner of flows over time.
///
/// ```
/// use collsynth_plan::{Control, Goal, synthesize};
/// use collsynth_core::{collective::Kind, topology::{RankId, Topology}};
///
/// let kind = Kind::Scatter(RankId(0));
/// let plan = synthesize(&Topology::torus(&[4, 4])?, &kind, &Goal::default(), &Control::unlimited())?;
/// // 15 messages over 4 links, in as many steps as the farthest rank is away.
/// assert_eq!((plan.planner, plan.schedule.step_count(), plan.schedule.total_width()), ("flow_over_time", 4, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FlowOverTime;

/// Messages that all have one end in common.
struct Star {
    root: u32,
    collected: bool,
    messages: Vec<Message>,
}

impl Star {
    /// `None` if the messages of the problem have no end in common.
    fn new(problem: &Problem) -> Option<Self> {
        let messages = messages(problem)?;
        let Message { origin, dest, .. } = *messages.first()?;
        let (from_one, to_one) =
            (messages.iter().all(|message| message.origin == origin), messages.iter().all(|m| m.dest == dest));
        let root = if from_one { origin } else { dest };
        (from_one || to_one).then_some(Self { root, collected: !from_one, messages })
    }

    fn other_end(&self, message: &Message) -> u32 {
        if self.collected { message.origin } else { message.dest }
    }
}

impl Planner for FlowOverTime {
    fn name(&self) -> &'static str {
        "flow_over_time"
    }

    fn summary(&self) -> &'static str {
        "scatter, gather on any network with any failures: maximal flows, widened where cuts limit them"
    }

    /// All-to-allv where only one rank has something to send, or to receive; groups where all messages have one end in
    /// common.
    fn scope(&self) -> Scope {
        Scope::of(&["scatter", "gather", "all_to_allv"]).in_groups(&["scatter", "gather"])
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        let nothing_to_do = || messages(problem).is_some_and(|messages| messages.is_empty());
        if Star::new(problem).is_some() || nothing_to_do() {
            return Ok(());
        }
        let reason = "it plans what goes from one rank to others, or from others to one rank".to_owned();
        Err(PlanError::NotApplicable { planner: self.name(), reason })
    }

    fn is_quick(&self, _problem: &Problem) -> bool {
        false
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let least_steps = task.steps_or(task.bounds.least_steps())?;
        let Some(star) = Star::new(task.problem) else {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        };
        let network = Network::new(task.problem);
        task.problem.check_connected()?;
        let network = if star.collected { Network::reversed(task.problem) } else { network };
        let mut demand = vec![0; network.rank_count()];
        for message in &star.messages {
            demand[star.other_end(message) as usize] += 1;
        }
        let least_width = task.bounds.least_width(task.problem.parts());
        let most_steps = task.steps.or(task.max_steps).unwrap_or(u32::MAX);
        let (mut best, mut vain): (Option<Schedule>, u32) = (None, 0);
        for steps in least_steps..=most_steps {
            if best.is_some() && (control.stop().is_some() || vain >= VAIN_STEPS) {
                break;
            }
            let Some(flow) = Narrow::new(&network, star.root, &demand, steps, task.seed).run(least_width, control)
            else {
                break;
            };
            let narrowest = total(flow.widths()) == least_width.max(steps);
            let schedule = write(task, &network, &star, flow);
            let better = best.as_ref().is_none_or(|best| task.prefers(&schedule, best));
            vain = if better { 0 } else { vain + 1 };
            best = if better { Some(schedule) } else { best };
            if narrowest {
                break;
            }
        }
        let gap = best.as_ref().is_some_and(|best| best.total_width() > u64::from(least_width.max(least_steps)));
        if let Some(bounds) = task.sharper.filter(|_| gap) {
            let range = least_steps..=most_steps;
            let narrower = narrowest(task, &network, &star, &demand, bounds.sharp(), range, control);
            best = narrower.filter(|new| best.as_ref().is_none_or(|best| task.prefers(new, best))).or(best);
        }
        let stopped = control.stop().unwrap_or(StopReason::Finished);
        let schedule = best.ok_or(PlanError::Stopped { stopped })?;
        Ok(Outcome::new(schedule, stopped))
    }
}

/// The schedule of the least width that a metric over time allows, in the fewest steps. That width always suffices in
/// steps of width 1, and the more steps, the more likely it is to suffice.
fn narrowest(
    task: &Task<'_>,
    network: &Network,
    star: &Star,
    demand: &[u32],
    bounds: &Bounds,
    steps: RangeInclusive<u32>,
    control: &Control,
) -> Option<Schedule> {
    let width = bounds.least_width(task.problem.parts());
    let within = |steps: u32| Narrow::new(network, star.root, demand, steps, task.seed).at(width, control);
    let (mut fewest, mut most) = (*steps.start(), (*steps.end()).min(width));
    let mut found = (fewest <= most).then(|| within(most))??;
    while fewest < most {
        let middle = fewest + (most - fewest) / 2;
        match within(middle) {
            Some(flow) => (found, most) = (flow, middle),
            None => fewest = middle + 1,
        }
    }
    Some(write(task, network, star, found))
}

fn write(task: &Task<'_>, network: &Network, star: &Star, flow: Flow<'_>) -> Schedule {
    let mut moves = Moves::new(flow.widths().len());
    let mut chunks: Vec<Vec<ChunkId>> = vec![Vec::new(); network.rank_count()];
    for message in star.messages.iter().rev() {
        chunks[star.other_end(message) as usize].push(message.chunk);
    }
    for (rank, amount, hops) in flow.into_paths() {
        let left = &mut chunks[rank as usize];
        let on_path = left.split_off(left.len() - amount as usize);
        for (step, link) in hops.into_iter().enumerate().filter_map(|(step, link)| Some((step, link?))) {
            moves.add(step, network.ids[link as usize], Op::Copy, on_path.iter().copied());
        }
    }
    if star.collected {
        moves.reverse();
    }
    let keeps_idle = task.steps.is_some();
    moves.write(task.problem.topology(), |_, needed| (needed > 0 || keeps_idle).then_some(needed.max(1)))
}
