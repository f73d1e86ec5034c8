//! Negotiated congestion: messages that go from one rank to one rank, on any network, with any failures.
//!
//! Every message is routed on its cheapest path through the time-expanded network, and those that meet in overfull
//! slots negotiate who moves away (see `plan::negotiation`).
//!
//! ```text
//!   step      1        2        3
//!   rank 0  o-------+--------+--------      a message of rank 0 for rank 2 waits, then crosses 0 -> 1 in step 2
//!   rank 1  --------+--\-----+---\----      and 1 -> 2 in step 3, or takes the slots of another path, whichever
//!   rank 2  --------+--------+--------o     is cheaper now
//! ```
//!
//! * **Applies** to all_to_all and all_to_allv on any topology. (Scatter and gather need no negotiation: see
//!   [`FlowOverTime`](super::FlowOverTime).)
//! * **Steps and volume**: it is tried in the least number of steps (the distance bound) with the least total width
//!   (the volume bound, rounded up to whole chunks) first, and where that fails a little above; on tori with failed
//!   cables the first try is nearly always met, so that both figures are certified optimal.
//! * **Demands** that are sparse leave hot ranks hardly an idle link: their last unit of width is looked for in steps
//!   that are all 1 wide, into which every schedule can be drawn out, with more patience; then the steps are made fewer
//!   again.
//! * **Start**: on a torus, from the [template](super::Template) of the intact machine, so that only what the failure
//!   touches has to move.
//! * **Complexity**: a round costs O(messages moved * steps * links near their shortest paths); tens of rounds are
//!   usual.

mod paths;
mod router;
mod start;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::check_kind;
use crate::negotiation::{Aim, LiveLink, Message, Network, Search, Start, Strategy, WAIT, messages, most_useful};
use crate::{Control, Outcome, PlanError, Planner, StopReason, Task, bounded_widths, even_widths};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use paths::Paths;
use start::TemplateGuide;

/// How many steps beyond the least are worth trying when nobody says.
const MORE_STEPS: &[u32] = &[0, 1, 2, 3];
/// The same for demands: a few ranks with much to send can keep their links busy only in more and narrower steps.
const MORE_STEPS_OF_DEMANDS: &[u32] = &[0, 1, 2, 3, 6, 12];

/// The negotiated planner.
///
/// ```
/// use collsynth_plan::{Control, Goal, synthesize};
/// use collsynth_core::collective::Kind;
/// use collsynth_core::topology::{Topology, TopologySpec};
///
/// let torus = Topology::new(TopologySpec::torus(&[4, 4, 4]).without_cables(&[(2, 3)]))?;
/// let plan = synthesize(&torus, &Kind::AllToAll, &Goal::default(), &Control::unlimited())?;
/// assert_eq!((plan.planner, plan.schedule.step_count(), plan.schedule.total_width()), ("negotiated", 6, 34));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Negotiated;

impl Planner for Negotiated {
    fn name(&self) -> &'static str {
        "negotiated"
    }

    fn summary(&self) -> &'static str {
        "all_to_all(v) on any network with any failures: negotiated congestion"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        check_kind(self.name(), problem, &["all_to_all", "all_to_allv"])
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        plan_from(self.name(), task, &TemplateGuide, control)
    }
}

/// Where tries begin.
pub(crate) trait Guide: Sync {
    /// Paths through so many steps, `[message * steps + step]`; [`WAIT`] throughout for messages without advice.
    fn paths(&self, problem: &Problem, network: &Network, messages: &[Message], steps: usize) -> Vec<LiveLink>;

    /// Widths of this sum, each at least 1, if it has any advice.
    fn widths(&self, steps: u32, width: u32) -> Option<Vec<u32>>;
}

/// Negotiates, from where the guide says.
pub(crate) fn plan_from(
    planner: &'static str,
    task: &Task<'_>,
    guide: &dyn Guide,
    control: &Control,
) -> Result<Outcome, PlanError> {
    let least_steps = task.steps_or(task.bounds.least_steps())?;
    let network = Network::new(task.problem);
    task.problem.check_connected(&network.distances)?;
    let messages = messages(task.problem).unwrap_or_default();
    if messages.is_empty() {
        return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
    }
    let demanded = task.problem.collective().kind.demand().is_some();
    let more = if demanded { MORE_STEPS_OF_DEMANDS } else { MORE_STEPS };
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
    let (widths, paths, stopped) = Search::new(planner, task, &routing, control).run(least_width);
    Ok(Outcome::new(write_down(task.problem, &network, &messages, &widths, &paths), stopped))
}

/// Messages to be routed, each on a path of its own.
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

    fn begin(&self, start: Start) -> Paths<'a> {
        let steps = start.widths.len();
        let paths = match start.number % 16 {
            12 => vec![WAIT; self.messages.len() * steps],
            _ => self.start(steps).to_vec(),
        };
        Paths::new(self.network, self.messages, start, paths)
    }

    /// What the guide says; or as even as can be: the wider steps come first, last, or after the first third. Where
    /// single ranks are the bottleneck, every fourth try keeps the steps at both ends as narrow as they want them.
    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32> {
        if number.is_multiple_of(2)
            && let Some(widths) = self.guide.widths(steps, width)
        {
            return widths;
        }
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

    /// For demands, steps that are all 1 wide: any schedule can be carried out in such steps. All-to-alls leave less
    /// to chance, and fewer steps do.
    fn patient_steps(&self, width: u32) -> Option<u32> {
        let demanded = self.problem.collective().kind.demand().is_some();
        let (least, most) = (self.steps.first().copied().unwrap_or(1), self.most_steps.unwrap_or(u32::MAX));
        Some(width).filter(|steps| demanded && (least..=most).contains(steps))
    }

    fn routing_work(&self, steps: u32) -> u64 {
        /// Links looked at for a message in a step, about.
        const LINKS: u64 = 60;
        self.messages.len() as u64 * u64::from(steps) * LINKS
    }
}

/// How wide the first and the last steps are of use to the ranks whose links have most to carry.
struct Limits {
    /// Per step, the sum of the widths up to it.
    early: Vec<u32>,
    /// The same from the last step backwards.
    late: Vec<u32>,
}

impl Limits {
    /// The early and the late limits that matter at a total width: those of ranks that need nearly all of it.
    fn at(&self, width: u32) -> (&[u32], &[u32]) {
        fn if_tight(limits: &[u32], width: u32) -> &[u32] {
            let tight = limits.last().is_some_and(|&all| u64::from(all) * 10 >= u64::from(width) * 9);
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
    /// The guide's paths, made once per number of steps.
    fn start(&self, steps: usize) -> Arc<Vec<LiveLink>> {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(self.guide.paths(self.problem, self.network, self.messages, steps));
        Arc::clone(starts.entry(steps as u32).or_insert_with(make))
    }
}

/// The schedule that these paths are; `paths[message * steps + step]`.
fn write_down(
    problem: &Problem,
    network: &Network,
    messages: &[Message],
    widths: &[u32],
    paths: &[LiveLink],
) -> Schedule {
    let mut carried = vec![Vec::new(); network.link_count()];
    let mut builder = Schedule::builder();
    for (step, &width) in widths.iter().enumerate() {
        for (message, path) in messages.iter().zip(paths.chunks(widths.len())) {
            if path[step] != WAIT {
                carried[path[step] as usize].push(message.chunk);
            }
        }
        builder.step(width);
        for (link, chunks) in carried.iter_mut().enumerate().filter(|(_, chunks)| !chunks.is_empty()) {
            builder.transfer_over(problem.topology(), network.ids[link], Op::Copy, chunks.drain(..));
        }
    }
    builder.finish()
}
