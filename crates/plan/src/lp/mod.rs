//! The time-stepped flow, rounded: messages on the paths of a linear program, repaired by negotiation.
//!
//! The linear program splits every message over any paths through the time-expanded network, so that the sum of the
//! widths is the least there is in so many steps. Rounded to whole chunks, its paths crowd here and there by a chunk or
//! two; negotiation moves those away.
//!
//! ```text
//!   flow      0.6 ----------,      0.4 ----,            of a message in 2 parts: one part takes each way
//!   0 -> 3    0 -> 1 -> 3    `>    0 -> 2 -> 3          (1.2 and 0.8 chunks, rounded)
//! ```
//!
//! * **Applies** to all_to_all, all_to_allv, scatter and gather on any topology, while the program is small: what
//!   counts is `N * links * steps` over the number of symmetries. Where that is too large, the flow without steps is
//!   taken, and its paths are spread over the steps; where `N * links` is too large as well, it does not apply.
//! * **Steps and volume**: the program's optimum, if the parts make that whole and the rounding can be repaired. Its
//!   widths are advice too: narrow steps where a schedule of so few steps wants them.
//! * **Complexity**: that of the program (see `collsynth_lp`), then of a short negotiation.
//!
//! Source of the flow: Basu et al., HPDC 2024, who turn it into schedules of the same form; the repair is ours.

mod links;
mod rounding;
mod spreading;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use collsynth_lp::{Flow, SteppedFlow, least_load, least_load_size, least_widths, least_widths_size};

use crate::bound::FlowNetwork;
use crate::negotiated::{Guide, plan_from};
use crate::negotiation::{LiveLink, Message, Network, WAIT};
use crate::{AutoUse, Control, Outcome, PlanError, Planner, Task};
use collsynth_core::problem::Problem;

/// Variables of the largest program that is solved: some tens of seconds.
const MOST_VARIABLES: usize = 60_000;

/// How much less a way is worth where a link would carry more than the flow over it.
const CROWDED: f64 = 1.0;

/// The planner by linear programming.
pub struct Lp;

impl Lp {
    fn refuse(&self, reason: String) -> PlanError {
        PlanError::NotApplicable { planner: self.name(), reason }
    }

    fn network(&self, problem: &Problem) -> Result<FlowNetwork, PlanError> {
        FlowNetwork::new(problem).map_err(|error| self.refuse(error.to_string()))
    }
}

impl Planner for Lp {
    fn name(&self) -> &'static str {
        "lp"
    }

    fn summary(&self) -> &'static str {
        "all_to_all(v), scatter, gather on small or symmetric networks: a flow LP, rounded and repaired"
    }

    /// [`crate::Negotiated`] mostly reaches the same, sooner.
    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        let flow = self.network(problem)?;
        match least_load_size(&flow.network, &flow.generators) {
            Ok(variables) if variables <= MOST_VARIABLES => Ok(()),
            Ok(variables) => Err(self
                .refuse(format!("its linear program has {variables} variables; at most {MOST_VARIABLES} are tried"))),
            Err(error) => Err(self.refuse(error.to_string())),
        }
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let guide = FlowGuide::new(self.network(task.problem)?, control);
        plan_from(self.name(), task, &guide, control)
    }
}

/// Origin and destination in the network of the flow, which may be turned round.
fn ends(flow: &FlowNetwork, message: &Message) -> (usize, usize) {
    let (origin, dest) = (message.origin as usize, message.dest as usize);
    if flow.reversed { (dest, origin) } else { (origin, dest) }
}

/// Source by source, the messages that have farthest to go first.
fn tracing_order(flow: &FlowNetwork, network: &Network, messages: &[Message]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..messages.len()).collect();
    let hops = |message: &Message| network.distance(message.origin, message.dest);
    order.sort_by_key(|&number| (ends(flow, &messages[number]).0, Reverse(hops(&messages[number])), number));
    order
}

/// Solves the program of each number of steps once, when first asked; that without steps where those are too large.
struct FlowGuide<'a> {
    flow: FlowNetwork,
    control: &'a Control,
    stepped: Mutex<BTreeMap<usize, Option<Arc<SteppedFlow>>>>,
    unstepped: OnceLock<Option<Flow>>,
}

impl<'a> FlowGuide<'a> {
    fn new(flow: FlowNetwork, control: &'a Control) -> Self {
        Self { flow, control, stepped: Mutex::default(), unstepped: OnceLock::new() }
    }

    /// The flow in so many steps; `None` where the program is too large or the time too short.
    fn stepped(&self, steps: usize) -> Option<Arc<SteppedFlow>> {
        let mut solved = self.stepped.lock().unwrap_or_else(PoisonError::into_inner);
        let solve = || {
            let (network, generators) = (&self.flow.network, &self.flow.generators);
            least_widths_size(network, generators, steps).ok().filter(|&size| size <= MOST_VARIABLES)?;
            least_widths(network, generators, steps, &self.control.limit()).ok().map(Arc::new)
        };
        solved.entry(steps).or_insert_with(solve).clone()
    }

    /// The flow without steps; `None` where the time is too short.
    fn unstepped(&self) -> Option<&Flow> {
        let solve = || least_load(&self.flow.network, &self.flow.generators, &self.control.limit()).ok();
        self.unstepped.get_or_init(solve).as_ref()
    }
}

impl Guide for FlowGuide<'_> {
    fn paths(&self, problem: &Problem, network: &Network, messages: &[Message], steps: usize) -> Vec<LiveLink> {
        if let Some(flow) = self.stepped(steps) {
            return rounding::paths(&self.flow, &flow, problem, network, messages, steps);
        }
        match self.unstepped() {
            Some(flow) => spreading::paths(&self.flow, flow, problem, network, messages, steps),
            None => vec![WAIT; messages.len() * steps],
        }
    }

    /// The widths of the flow, brought to this sum: rounded down, what is left goes to the largest remainders.
    fn widths(&self, steps: u32, width: u32) -> Option<Vec<u32>> {
        let flow = self.stepped(steps as usize)?;
        let spare = f64::from(width.checked_sub(steps)?);
        // Every step is at least 1 wide; what is beyond that is shared out as the flow does.
        let total: f64 = flow.widths.iter().sum();
        let wanted = flow.widths.iter().map(|of| (of / total * f64::from(width) - 1.0).max(0.0));
        let wanted: Vec<f64> = wanted.collect();
        let scale = spare / wanted.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let wanted: Vec<f64> = wanted.iter().map(|wanted| wanted * scale).collect();
        let mut widths: Vec<u32> = wanted.iter().map(|wanted| 1 + wanted.floor() as u32).collect();
        let mut by_remainder: Vec<usize> = (0..widths.len()).collect();
        by_remainder.sort_by(|&a, &b| wanted[b].fract().total_cmp(&wanted[a].fract()));
        let left = width.saturating_sub(widths.iter().sum());
        by_remainder.iter().cycle().take(left as usize).for_each(|&step| widths[step] += 1);
        (widths.iter().sum::<u32>() == width).then_some(widths)
    }
}
