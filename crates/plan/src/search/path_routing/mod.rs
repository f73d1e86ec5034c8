//! Paths of messages that negotiate for slots, from the start that a [`Guide`] gives them.
//!
//! `router` finds the cheapest path of a message at given prices, and `paths` holds the paths of a try and moves them
//! apart, round by round.

mod paths;
mod router;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::network::{LiveLink, Message, Network, WAIT, messages, most_useful};
use crate::model::planner::Outcome;
use crate::model::task::Task;
use crate::model::widths::{bounded_widths, even_widths};
use crate::search::negotiation::{Aim, Search, Start, Strategy};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use paths::Paths;
pub(crate) use router::Router;

/// Steps to try beyond the least if none are stated.
const MORE_STEPS: &[u32] = &[0, 1, 2, 3];
/// The same where busy ranks can fill their links only in more and narrower steps: for demands, and in groups for
/// at most [`MOST_CHUNKS_IN_GROUPS`] chunks.
const MORE_STEPS_IF_UNEVEN: &[u32] = &[0, 1, 2, 3, 6, 12];
const MOST_CHUNKS_IN_GROUPS: u32 = 1500;
/// One try in this number, the one of this remainder, ignores the guide and routes everything from scratch.
const UNGUIDED: (u64, u64) = (16, 12);
/// A rank is a bottleneck if its links need at least this fraction of the total width.
const TIGHT: (u64, u64) = (9, 10);

pub(crate) trait Guide: Sync {
    /// Paths through this number of steps, `[message * steps + step]`; [`WAIT`] throughout for messages without advice,
    /// and for those it did not come to before `abandon` became true.
    fn paths(
        &self,
        problem: &Problem,
        network: &Network,
        messages: &[Message],
        steps: usize,
        abandon: &dyn Fn() -> bool,
    ) -> Vec<LiveLink>;
}

/// Plans by negotiation, starting from the guide's paths.
///
/// # Errors
///
/// [`PlanError`] if ranks cannot reach each other or the steps asked for are too few.
pub(crate) fn plan_from(
    planner: &'static str,
    task: &Task<'_>,
    guide: &dyn Guide,
    control: &Control,
) -> Result<Outcome, PlanError> {
    let least_steps = task.steps_or(task.bounds.least_steps())?;
    let network = Network::new(task.problem);
    task.problem.check_connected()?;
    let messages = messages(task.problem).unwrap_or_default();
    if messages.is_empty() {
        return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
    }
    let more = if is_uneven(task.problem) { MORE_STEPS_IF_UNEVEN } else { MORE_STEPS };
    let most_steps = task.steps.or(task.max_steps);
    let steps = match most_steps {
        Some(most) => (least_steps..=most).collect(),
        None => more.iter().map(|more| least_steps + more).collect(),
    };
    // Every step is at least 1 wide.
    let least_width = task.bounds.least_width(task.problem.parts()).max(least_steps);
    let routing = Routing {
        problem: task.problem,
        network: &network,
        messages: &messages,
        steps,
        most_steps,
        limits: Limits::new(&network, &messages),
        guide,
        starts: Mutex::default(),
    };
    let (widths, paths, stopped) = Search::new(planner, task, &routing, control).run(least_width)?;
    let mut moves = Moves::new(widths.len());
    for (message, path) in messages.iter().zip(paths.chunks(widths.len())) {
        for (step, &link) in path.iter().enumerate().filter(|(_, link)| **link != WAIT) {
            moves.add(step, network.ids[link as usize], Op::Copy, [message.chunk]);
        }
    }
    Ok(Outcome::new(moves.write(task.problem.topology(), |step, _| Some(widths[step])), stopped))
}

/// Do some ranks have more to send or to receive than others, as by a demand, from roots or in groups?
fn is_uneven(problem: &Problem) -> bool {
    let few = problem.groups().is_some() && problem.chunk_count() <= MOST_CHUNKS_IN_GROUPS;
    problem.collective().kind.demand().is_some() || few
}

/// Messages to route, each on its own path.
struct Routing<'a> {
    problem: &'a Problem,
    network: &'a Network,
    messages: &'a [Message],
    /// The numbers of steps to try, ascending.
    steps: Vec<u32>,
    /// No more steps than this, if stated.
    most_steps: Option<u32>,
    limits: Limits,
    guide: &'a dyn Guide,
    /// The paths tries begin with, per number of steps.
    starts: Mutex<BTreeMap<u32, Arc<Vec<LiveLink>>>>,
}

impl<'a> Strategy for Routing<'a> {
    type Negotiation = Paths<'a>;

    fn begin(&self, start: Start, abandon: &(dyn Fn() -> bool + Sync)) -> Option<Paths<'a>> {
        let steps = start.widths.len();
        let unguided = start.number % UNGUIDED.0 == UNGUIDED.1;
        let guided = (!unguided).then(|| self.start(steps, abandon));
        if abandon() {
            return None;
        }
        let paths = guided.map_or_else(|| vec![WAIT; self.messages.len() * steps], |paths| paths.to_vec());
        Paths::new(self.network, self.messages, start, paths, abandon)
    }

    /// As even as possible, with the wider steps first, last, or after the first third. If single ranks are the
    /// bottleneck, every fourth try keeps the first and last steps as narrow as these ranks can use.
    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32> {
        let (early, late) = self.limits.at(width);
        if number % 4 == 1 && !(early.is_empty() && late.is_empty()) {
            return bounded_widths(width, steps, early, late);
        }
        let mut widths = even_widths(width, steps);
        widths.rotate_right([0, (steps - width % steps) % steps, steps / 3][number as usize % 3] as usize);
        widths
    }

    fn step_choices(&self, width: u32, aim: Aim) -> Vec<u32> {
        let choices = self.steps.iter().copied().filter(|&steps| steps <= width);
        choices.take(if aim == Aim::Any { 2 } else { usize::MAX }).collect()
    }

    /// Where demands are uneven, steps that are all 1 wide: any schedule can be stretched to such steps. Regular
    /// all-to-alls need fewer.
    fn patient_steps(&self, width: u32) -> Option<u32> {
        let (least, most) = (self.steps.first().copied().unwrap_or(1), self.most_steps.unwrap_or(u32::MAX));
        Some(width).filter(|steps| is_uneven(self.problem) && (least..=most).contains(steps))
    }

    fn routing_work(&self, steps: u32) -> u64 {
        /// Links examined for a message in a step, roughly.
        const LINKS: u64 = 60;
        self.messages.len() as u64 * u64::from(steps) * LINKS
    }
}

/// The widths of the first and the last steps that the busiest ranks can use.
struct Limits {
    /// Per step, the sum of the widths up to it.
    early: Vec<u32>,
    /// The same from the last step backward.
    late: Vec<u32>,
}

impl Limits {
    /// The early and late limits that matter at a total width: those of ranks that need nearly all of it ([`TIGHT`]).
    fn at(&self, width: u32) -> (&[u32], &[u32]) {
        fn if_tight(limits: &[u32], width: u32) -> &[u32] {
            let tight = limits.last().is_some_and(|&all| u64::from(all) * TIGHT.1 >= u64::from(width) * TIGHT.0);
            if tight { limits } else { &[] }
        }
        (if_tight(&self.early, width), if_tight(&self.late, width))
    }

    fn new(network: &Network, messages: &[Message]) -> Self {
        let busiest = |end: fn(&Message) -> u32, capacity: fn(&Network, u32) -> u32| {
            let mut load = vec![0_u64; network.rank_count()];
            for message in messages {
                load[end(message) as usize] += 1;
            }
            let share = |rank: u32| load[rank as usize] * 1_000_000 / u64::from(capacity(network, rank).max(1));
            let rank = (0..network.rank_count() as u32).max_by_key(|&rank| (share(rank), std::cmp::Reverse(rank)));
            let rank = rank.unwrap_or(0);
            let ending = messages.iter().filter(|message| end(message) == rank);
            most_useful(ending.map(|m| network.distance(m.origin, m.dest)), capacity(network, rank))
        };
        Self {
            early: busiest(|message| message.dest, Network::capacity_into),
            late: busiest(|message| message.origin, Network::capacity_out_of),
        }
    }
}

impl Routing<'_> {
    /// The guide's paths, computed once per number of steps.
    fn start(&self, steps: usize, abandon: &dyn Fn() -> bool) -> Arc<Vec<LiveLink>> {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(self.guide.paths(self.problem, self.network, self.messages, steps, abandon));
        Arc::clone(starts.entry(steps as u32).or_insert_with(make))
    }
}
