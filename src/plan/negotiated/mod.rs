//! Negotiated congestion: messages that go from one rank to one rank, on any network, with any failures.
//!
//! A schedule of `S` steps of widths `w_1 .. w_S` is a set of paths through the *time-expanded network*: a copy of every
//! rank per step, a *slot* of room `w_t * capacity` for every link in every step. All messages are routed at once, each
//! on its cheapest path; then those that meet in an overfull slot negotiate, by rising prices, who of them moves away
//! (see `rounds`). No slot overfull: the paths are a contention-free schedule.
//!
//! ```text
//!   step      1        2        3
//!   rank 0  o-------+--------+--------      a message of rank 0 for rank 2 waits, then crosses 0 -> 1 in step 2
//!   rank 1  --------+--\-----+---\----      and 1 -> 2 in step 3, or takes the slots of another path, whichever
//!   rank 2  --------+--------+--------o     is cheaper now
//! ```
//!
//! * **Applies** to all_to_all, all_to_allv, scatter and gather on any topology of fewer than 65535 live links.
//! * **Steps and volume**: it is tried in the least number of steps (the distance bound) with the least total width (the
//!   volume bound, rounded up to whole chunks) first, and where that fails a little above; on tori with failed cables the
//!   first try is nearly always met, so that both figures are certified optimal.
//! * **Start**: on a torus, from the [template](super::Template) of the intact machine, so that only what the failure
//!   touches has to move.
//! * **Complexity**: a round costs O(messages moved * steps * links near their shortest paths); tens of rounds are usual.
//!
//! The idea is that of PathFinder (McMurchie and Ebeling, FPGA 1995), where wires of an FPGA share its tracks; time
//! expansion is due to Ford and Fulkerson (1958).

mod network;
mod rounds;
mod router;
mod search;
mod start;

use crate::plan::{Control, Outcome, PlanError, Planner, Task};
use crate::problem::Problem;
use crate::schedule::{Op, Schedule};
use network::{Message, Network, messages};
use router::WAIT;
use search::Search;

/// The negotiated planner.
///
/// ```
/// use synth::plan::{Control, Wish, synthesise};
/// use synth::collective::Kind;
/// use synth::topology::{FailedLink, RankId, Shape, Topology, TopologySpec, Torus};
///
/// let cable = FailedLink { from: RankId(2), to: RankId(3), dim: None, both: true };
/// let spec = TopologySpec { failed_links: vec![cable], ..TopologySpec::new(Shape::Torus(Torus::new(&[4, 4, 4]))) };
/// let plan = synthesise(&Topology::new(spec)?, &Kind::AllToAll, &Wish::default(), &Control::unlimited())?;
/// assert_eq!((plan.planner, plan.schedule.step_count(), plan.schedule.total_width()), ("negotiated", 6, 34));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Negotiated;

impl Planner for Negotiated {
    fn name(&self) -> &'static str {
        "negotiated"
    }

    fn summary(&self) -> &'static str {
        "all_to_all(v), scatter, gather on any network with any failures: negotiated congestion"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        let refuse = |reason: &str| PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() };
        if problem.topology().live_links().count() >= usize::from(WAIT) {
            return Err(refuse("the network has 65535 live links or more"));
        }
        match messages(problem) {
            Some(_) => Ok(()),
            None => Err(refuse("it plans collectives in which every chunk goes from one rank to one rank")),
        }
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let least_steps = task.step_count(task.bounds.least_steps())?;
        let network = Network::new(task.problem);
        task.problem.check_connected(&network.distances)?;
        let messages = messages(task.problem).unwrap_or_default();
        let mut search = Search::new(self.name(), task, &network, &messages, control);
        let stopped = search.run(least_steps);
        match search.into_best() {
            Some((widths, paths)) => {
                Ok(Outcome { schedule: write_down(task.problem, &network, &messages, &widths, &paths), stopped })
            }
            None => Err(PlanError::Stopped { stopped }),
        }
    }
}

/// The schedule that these paths are; `paths[message * steps + step]`.
fn write_down(problem: &Problem, network: &Network, messages: &[Message], widths: &[u32], paths: &[u16]) -> Schedule {
    let mut carried = vec![Vec::new(); network.link_count()];
    let mut builder = Schedule::builder();
    for (step, &width) in widths.iter().enumerate() {
        for (message, path) in messages.iter().zip(paths.chunks(widths.len())) {
            if path[step] != WAIT {
                carried[usize::from(path[step])].push(message.chunk);
            }
        }
        builder.step(width);
        for (link, chunks) in carried.iter_mut().enumerate().filter(|(_, chunks)| !chunks.is_empty()) {
            builder.transfer_over(problem.topology(), network.ids[link], Op::Copy, chunks.drain(..));
        }
    }
    builder.finish()
}
