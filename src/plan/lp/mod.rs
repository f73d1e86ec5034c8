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
//! * **Applies** to all_to_all, all_to_allv, scatter and gather on any topology, while the program is small: what counts
//!   is `N * links * steps` over the number of symmetries.
//! * **Steps and volume**: the program's optimum, if the parts make that whole and the rounding can be repaired. Its
//!   widths are advice too: narrow steps where a schedule of so few steps wants them.
//! * **Complexity**: that of the program (see `synth_lp`), then of a short negotiation.
//!
//! Source of the flow: Basu et al., HPDC 2024, who turn it into schedules of the same form; the repair is ours.

mod rounding;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use synth_lp::{SteppedFlow, least_widths, least_widths_size};

use crate::bound::FlowNetwork;
use crate::plan::negotiated::{Guide, plan_from};
use crate::plan::negotiation::{LiveLink, Message, Network, WAIT};
use crate::plan::{Control, Outcome, PlanError, Planner, Task};
use crate::problem::Problem;
use crate::topology::Distances;

/// Variables of the largest program that is solved: tens of seconds.
const MOST_VARIABLES: usize = 60_000;

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

    /// [`crate::plan::Negotiated`] mostly reaches the same, sooner.
    fn in_auto(&self) -> bool {
        false
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        let flow = self.network(problem)?;
        let distances = Distances::new(problem.topology());
        let ranks = || problem.topology().live_ranks();
        let hops = ranks().flat_map(|from| ranks().map(move |to| (from, to)));
        let needed = hops.filter(|&(from, to)| problem.needs(from, to)).map(|(from, to)| distances.get(from, to));
        let steps = usize::from(needed.max().unwrap_or(0));
        match least_widths_size(&flow.network, &flow.generators, steps) {
            Ok(variables) if variables <= MOST_VARIABLES => Ok(()),
            Ok(variables) => Err(self.refuse(format!(
                "its linear program has {variables} variables in {steps} steps; at most {MOST_VARIABLES} are tried"
            ))),
            Err(error) => Err(self.refuse(error.to_string())),
        }
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let guide = FlowGuide { flow: self.network(task.problem)?, control, solved: Mutex::default() };
        plan_from(self.name(), task, &guide, control)
    }
}

/// Solves the program of each number of steps once, when first asked.
struct FlowGuide<'a> {
    flow: FlowNetwork,
    control: &'a Control,
    solved: Mutex<BTreeMap<usize, Option<Arc<SteppedFlow>>>>,
}

impl FlowGuide<'_> {
    /// The flow in so many steps; `None` where the program is too large or the time too short.
    fn solve(&self, steps: usize) -> Option<Arc<SteppedFlow>> {
        let mut solved = self.solved.lock().unwrap_or_else(PoisonError::into_inner);
        let solve = || {
            let (network, generators) = (&self.flow.network, &self.flow.generators);
            let size = least_widths_size(network, generators, steps).ok().filter(|&size| size <= MOST_VARIABLES);
            size?;
            least_widths(network, generators, steps, self.control.remaining()).ok().map(Arc::new)
        };
        solved.entry(steps).or_insert_with(solve).clone()
    }
}

impl Guide for FlowGuide<'_> {
    fn paths(&self, problem: &Problem, network: &Network, messages: &[Message], steps: usize) -> Vec<LiveLink> {
        match self.solve(steps) {
            Some(flow) => rounding::paths(&self.flow, &flow, problem, network, messages, steps),
            None => vec![WAIT; messages.len() * steps],
        }
    }

    /// The widths of the flow, brought to this sum: rounded down, what is left goes to the largest remainders.
    fn widths(&self, steps: u32, width: u32) -> Option<Vec<u32>> {
        let flow = self.solve(steps as usize)?;
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
