//! The time-stepped flow, rounded: messages on the paths of a linear program, repaired by negotiation.
//!
//! # Idea
//!
//! The linear program splits every message over any paths through the time-expanded network and minimizes the total
//! width in a given number of steps. Rounded to whole chunks, its paths overfill a slot here and there by a chunk or
//! two; negotiation moves those away.
//!
//! ```text
//!   flow      0.6 ----------,      0.4 ----,            of a message in 2 parts: one part takes each path
//!   0 -> 3    0 -> 1 -> 3    `>    0 -> 2 -> 3          (1.2 and 0.8 chunks, rounded)
//! ```
//!
//! # Applies
//!
//! All_to_all, all_to_allv, scatter and gather on any topology, while the program is small: its size is `N * links *
//! steps` over the number of symmetries. If that is too large, the planner solves the flow without steps and spreads
//! its paths over the steps; if `N * links` is too large as well, it does not apply.
//!
//! # Steps and volume
//!
//! The optimum of the program, if the parts make it whole and negotiation can repair the rounding. The widths of the
//! program serve as advice too: narrow steps where a schedule in these steps wants them.
//!
//! # Complexity
//!
//! That of the program (see `collsynth_lp`), then of a short negotiation.
//!
//! # Reference
//!
//! Basu et al., "Efficient all-to-all collective communication schedules for direct-connect topologies", HPDC 2024, for
//! the flow, which they turn into schedules of the same form; the repair is new here.

mod links;
mod rounding;
mod spreading;
mod tracing;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use collsynth_lp::{
    Flow, HAS_SOLVER, LpError, SteppedFlow, least_load, least_load_size, least_widths, least_widths_size,
};

use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::network::{LiveLink, Message, Network, WAIT};
use crate::model::planner::scope::Scope;
use crate::model::planner::{AutoUse, Outcome, Planner};
use crate::model::task::Task;
use crate::search::path_routing::{Guide, plan_from};
use collsynth_bound::FlowNetwork;
use collsynth_core::problem::Problem;

/// Variables of the largest program to solve: it takes tens of seconds.
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

    /// [`crate::Negotiated`] mostly reaches the same figures sooner.
    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn is_quick(&self, _problem: &Problem) -> bool {
        false
    }

    fn scope(&self) -> Scope {
        Scope::of(&["all_to_all", "all_to_allv", "scatter", "gather"]).in_groups(&["all_to_all", "scatter", "gather"])
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        let flow = self.network(problem)?;
        if !HAS_SOLVER {
            return Err(self.refuse(LpError::NoSolver.to_string()));
        }
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

/// Solves the program of each number of steps once, on demand; the program without steps where those are too large.
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

    /// The flow in this number of steps; `None` where the program is too large or the time too short.
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
    fn paths(
        &self,
        problem: &Problem,
        network: &Network,
        messages: &[Message],
        steps: usize,
        _abandon: &dyn Fn() -> bool,
    ) -> Vec<LiveLink> {
        if let Some(flow) = self.stepped(steps) {
            return rounding::paths(&self.flow, &flow, problem, network, messages, steps);
        }
        match self.unstepped() {
            Some(flow) => spreading::paths(&self.flow, flow, problem, network, messages, steps),
            None => vec![WAIT; messages.len() * steps],
        }
    }

    /// The widths of the flow scaled to this sum: rounded down, with the rest added to the largest remainders.
    fn widths(&self, steps: u32, width: u32) -> Option<Vec<u32>> {
        let flow = self.stepped(steps as usize)?;
        let spare = f64::from(width.checked_sub(steps)?);
        // Every step is at least 1 wide; the rest is distributed as in the flow.
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
