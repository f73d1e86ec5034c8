//! Negotiated congestion: all-to-all on any network with any failures.
//!
//! # Idea
//!
//! Route every message along its cheapest path through the time-expanded network, then let the messages that share
//! overfull slots negotiate which of them moves (see `negotiation`).
//!
//! ```text
//!   step      1        2        3
//!   rank 0  o-------+--------+--------      a message from rank 0 to rank 2 waits, then crosses 0 -> 1 in step 2
//!   rank 1  --------+--\-----+---\----      and 1 -> 2 in step 3, or takes the slots of another path, whichever
//!   rank 2  --------+--------+--------o     is cheaper now
//! ```
//!
//! On a torus, negotiation starts from the [template](crate::Template) of the intact machine, so that only messages
//! that the failures touch have to move; of a demand, those that meet where many go.
//!
//! # Applies
//!
//! All_to_all and all_to_allv on any topology. Scatter and gather need no negotiation: see
//! [`FlowOverTime`](crate::FlowOverTime); but in several groups at once, they do.
//!
//! # Steps and volume
//!
//! The first try takes the least number of steps (the distance bound) and the least total width (the volume bound,
//! rounded up to whole chunks); later tries go slightly above. On tori with failed cables the first try nearly always
//! succeeds, so both figures are certified optimal; from 100 ranks on, [`Mended`](crate::Mended) is there before, in
//! less time. Sparse demands leave busy ranks hardly an idle link: the search then looks for the last unit of width in
//! steps that are all 1 wide, with more patience, and reduces the steps again. Where a try takes long (from some 300
//! ranks on), there is one, from the bound (of a demand of many chunks, from a third of a percent above): where its
//! conflicts do not settle, it widens the step that has most of them.
//!
//! # Complexity
//!
//! A round takes O(messages moved * steps * links near their shortest paths); tens of rounds are usual.
//!
//! # Reference
//!
//! McMurchie and Ebeling, "PathFinder: a negotiation-based performance-driven router for FPGAs", FPGA 1995.

use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::network::{LiveLink, Message, Network, WAIT};
use crate::model::planner::scope::Scope;
use crate::model::planner::{Outcome, Planner};
use crate::model::task::Task;
use crate::planners::mended::Mended;
use crate::planners::template::TemplateSchedule;
use crate::search::path_routing::{Guide, plan_from};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, Topology, TopologySpec};

/// After [`Mended`], a last unit of width, and one for each share of this size, are not searched for: that takes ten
/// seconds to a minute, and hardly ever finds it.
const NEAR: u64 = 200;

/// The negotiated planner.
///
/// ```
/// use collsynth_plan::{Control, Goal, Negotiated, synthesize};
/// use collsynth_core::collective::Kind;
/// use collsynth_core::topology::{Topology, TopologySpec};
///
/// let torus = Topology::new(TopologySpec::torus(&[4, 4, 4]).without_cables(&[(2, 3)]))?;
/// let goal = Goal { planner: Some(&Negotiated), ..Goal::default() };
/// let plan = synthesize(&torus, &Kind::AllToAll, &goal, &Control::unlimited())?;
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

    fn scope(&self) -> Scope {
        Scope::of(&["all_to_all", "all_to_allv"]).in_groups(&["all_to_all", "scatter", "gather"])
    }

    fn is_quick(&self, _problem: &Problem) -> bool {
        false
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        if is_left_to_mended(task) {
            return Err(PlanError::NotFound { planner: self.name(), limit: "the width already reached".to_owned() });
        }
        plan_from(self.name(), task, &TemplateGuide, control)
    }
}

/// Has [`Mended`] come near enough? There are failures then: on intact tori nothing is mended.
fn is_left_to_mended(task: &Task<'_>) -> bool {
    let problem = task.problem;
    let has_failures = problem.machine().live_links().count() < problem.machine().links().len();
    let least = task.sharper.map_or(task.bounds, |sharper| sharper.known()).least_width(problem.parts());
    let most = u64::from(least) + 1 + u64::from(least) / NEAR;
    let is_near = task.incumbent.is_some_and(|(_, width)| width <= most);
    has_failures && is_near && task.price.is_none() && Mended.applies(problem).is_ok()
}

/// The most parts of a message in the template of a demand.
const DEMAND_PARTS: u32 = 4;
/// Messages between two looks at the clock.
const POLLED: usize = 1 << 16;

/// Starts from the template of the intact torus: messages keep their template path if it is live, the others have none.
/// No paths at all if there is no template.
struct TemplateGuide;

impl Guide for TemplateGuide {
    fn paths(
        &self,
        problem: &Problem,
        network: &Network,
        messages: &[Message],
        steps: usize,
        abandon: &dyn Fn() -> bool,
    ) -> Vec<LiveLink> {
        let mut paths = vec![WAIT; messages.len() * steps];
        let parts = parts_of_template(problem);
        let Some((intact, template)) = template(problem, parts, steps) else {
            return paths;
        };
        let mut live = vec![WAIT; intact.links().len()];
        for (index, &id) in network.ids.iter().enumerate() {
            // A topology numbers the links it was built with, so failures do not change the numbers.
            live[id.index()] = index as LiveLink;
        }
        let ranks = intact.rank_count() as u32;
        for (index, (message, path)) in messages.iter().zip(paths.chunks_mut(steps)).enumerate() {
            if index % POLLED == 0 && abandon() {
                break;
            }
            let (origin, dest) = (RankId(message.origin), RankId(message.dest));
            let first = problem.collective().first_chunk(ranks, origin, dest);
            let part = first.map_or(0, |first| message.chunk.0 - first.0) % parts;
            for (step, link) in template.path(&intact, origin, dest, part) {
                path[step] = live[link.index()];
                if path[step] == WAIT {
                    path.fill(WAIT);
                    break;
                }
            }
        }
        paths
    }
}

/// The parts of a message in the template. Of a demand, those of the largest message, but not many: the next chunks of
/// a message take the same paths again.
fn parts_of_template(problem: &Problem) -> u32 {
    let demand = problem.collective().kind.demand();
    demand.map_or(problem.parts(), |demand| demand.counts().max().unwrap_or(1).clamp(1, DEMAND_PARTS))
}

fn template(problem: &Problem, parts: u32, steps: usize) -> Option<(Topology, TemplateSchedule)> {
    let topology = problem.topology();
    let torus = topology.as_torus().filter(|torus| torus.is_symmetric())?;
    let template = TemplateSchedule::new(torus, parts, u32::try_from(steps).ok()?)?;
    let intact = Topology::new(TopologySpec::new(topology.spec().shape.clone())).ok()?;
    Some((intact, template))
}

#[cfg(test)]
mod tests {
    use collsynth_bound as bound;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::Shape;

    use super::*;

    /// From 100 ranks on, where a last unit takes ten seconds and is hardly ever found.
    #[test]
    fn what_is_mended_to_a_unit_above_the_bound_is_left_alone() {
        let declines = |extents: &[u32], above: u64| {
            let machine = Topology::new(TopologySpec::torus(extents).without_cables(&[(0, 1)])).unwrap();
            let problem = Problem::new(machine, Collective::new(Kind::AllToAll)).unwrap();
            let bounds = bound::find(&problem).unwrap();
            let incumbent = Some((bounds.least_steps() as usize, u64::from(bounds.least_width(1)) + above));
            is_left_to_mended(&Task { incumbent, ..Task::new(&problem, &bounds) })
        };
        assert!(declines(&[5, 5, 4], 1) && declines(&[8, 16], 1));
        assert!(!declines(&[5, 5, 4], 3) && !declines(&[4, 4, 6], 1));
    }

    /// A try among hundreds of ranks takes seconds: behind what another planner found, it ends.
    #[test]
    fn a_long_try_ends_where_others_are_narrower() {
        let mut spec = TopologySpec::torus(&[19, 19]);
        if let Shape::Torus(torus) = &mut spec.shape {
            torus.wrap = vec![false; 2];
        }
        let problem = Problem::new(Topology::new(spec).unwrap(), Collective::new(Kind::AllToAll)).unwrap();
        let bounds = bound::find(&problem).unwrap();
        let least = u64::from(bounds.least_width(1));
        let task = Task { incumbent: Some((40, least / 2)), ..Task::new(&problem, &bounds) };
        let planned = Negotiated.plan(&task, &Control::unlimited());
        assert!(matches!(planned, Err(PlanError::NotFound { .. })));
    }
}
