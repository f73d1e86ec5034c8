//! Ring all-reduce: the sum goes round a ring of all ranks twice.
//!
//! # Idea
//!
//! Lay a ring through all `N` live ranks. Cut the vector in `N` segments. In each of the first `N-1` steps every rank
//! hands one segment to the next rank, which adds it to its own: then every rank holds one segment summed up. In each of
//! the other `N-1` steps the finished segments go on round the ring, replacing what they meet.
//!
//! ```text
//!   segment at      rank 0   rank 1   rank 2   rank 3
//!   step 1, adding    a >>     b >>     c >>     d >>       a goes 0 -> 1 -> 2 -> 3, complete at 3,
//!   step 2, adding    d >>     a >>     b >>     c >>       and then 3 -> 0 -> 1 -> 2
//! ```
//!
//! # When it applies
//!
//! All-reduce on any topology through whose live ranks and links a ring (a Hamiltonian cycle) is found. Two ranks and
//! both links between them are a ring.
//!
//! # Volume and steps
//!
//! `S = 2 (N-1)`. Of `n` parts, segment `i` gets the parts `i n / N .. (i+1) n / N`, rounded down; some are empty if there
//! are fewer parts than ranks. `V = 2 (N-1) ceil(n / N) / n` for capacity 1, which is `2 (N-1) / N` where `N` divides
//! `n`. On a one-way ring of links nothing is better; on a torus, all links but one per rank are idle.
//!
//! # Complexity
//!
//! O(N n) for the schedule. The ring is searched for within fixed limits (see `ring_of_ranks`); where none is found, there
//! may still be one.
//!
//! # References
//!
//! Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009.

mod ring_of_ranks;

use crate::collective::{ChunkId, Kind};
use crate::plan::{Control, Outcome, PlanError, Planner, StopReason, Task};
use crate::problem::Problem;
use crate::schedule::{Op, Schedule};
use crate::topology::{Distances, LinkId};
use ring_of_ranks::ring_of_ranks;

/// All-reduce round one ring.
///
/// ```
/// use synth::collective::Kind;
/// use synth::plan::{Control, Parts, Wish, synthesise};
/// use synth::topology::Topology;
///
/// let wish = Wish { planner: Some("ring_all_reduce".to_owned()), parts: Parts::Fixed(4), ..Wish::default() };
/// let schedule = synthesise(&Topology::torus(&[4])?, &Kind::AllReduce, &wish, &Control::unlimited())?.schedule;
/// // 6 steps of a quarter of the vector: V = 2 * 3 / 4.
/// assert_eq!((schedule.step_count(), schedule.total_width()), (6, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RingAllReduce;

impl Planner for RingAllReduce {
    fn name(&self) -> &'static str {
        "ring_all_reduce"
    }

    fn summary(&self) -> &'static str {
        "baseline: all_reduce twice round one ring of all live ranks"
    }

    fn in_auto(&self) -> bool {
        false
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        self.ring(problem).map(|_| ())
    }

    fn plan(&self, task: &Task<'_>, _control: &Control) -> Result<Outcome, PlanError> {
        let ring = self.ring(task.problem)?;
        let steps = 2 * (ring.len() as u32).saturating_sub(1);
        match (task.steps, task.max_steps) {
            (Some(wanted), _) if wanted != steps => Err(self.takes(steps, format!("exactly {wanted} steps"))),
            (_, Some(most)) if steps > most => Err(self.takes(steps, format!("{most} steps"))),
            _ => Ok(Outcome { schedule: write_down(task.problem, &ring), stopped: StopReason::Finished }),
        }
    }
}

impl RingAllReduce {
    /// The links of the ring, in order; none for a single rank.
    fn ring(&self, problem: &Problem) -> Result<Vec<LinkId>, PlanError> {
        let refuse = |reason: &str| PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() };
        if problem.collective().kind != Kind::AllReduce {
            return Err(refuse("it plans all_reduce only"));
        }
        problem.check_connected(&Distances::new(problem.topology()))?;
        ring_of_ranks(problem.topology()).ok_or_else(|| refuse("no ring through all live ranks was found"))
    }

    fn takes(&self, steps: u32, limit: String) -> PlanError {
        PlanError::NotFound { planner: self.name(), limit: format!("{limit} (it takes {steps})") }
    }
}

/// The schedule on this ring: link `i` leads from its rank `i` to its rank `i + 1`.
fn write_down(problem: &Problem, ring: &[LinkId]) -> Schedule {
    let (topology, ranks) = (problem.topology(), ring.len());
    let parts = u64::from(problem.parts());
    let border = |segment: usize| (segment as u64 * parts / ranks as u64) as u32;
    let mut in_order: Vec<usize> = (0..ranks).collect();
    in_order.sort_unstable_by_key(|&at| ring[at]);
    let mut builder = Schedule::builder();
    for step in 0..2 * ranks.saturating_sub(1) {
        // Rank i hands on segment i - step: while adding, and from step N - 1 on, the segment i + 1 complete with it first.
        let op = if step < ranks - 1 { Op::Reduce } else { Op::Copy };
        let transfers: Vec<(LinkId, std::ops::Range<u32>)> = in_order
            .iter()
            .map(|&at| {
                let segment = (at + 2 * ranks - step) % ranks;
                (ring[at], border(segment)..border(segment + 1))
            })
            .filter(|(_, chunks)| !chunks.is_empty())
            .collect();
        let needed = |(link, chunks): &(LinkId, std::ops::Range<u32>)| {
            (chunks.len() as u32).div_ceil(topology.link(*link).capacity)
        };
        builder.step(transfers.iter().map(needed).max().unwrap_or(1));
        for (link, chunks) in transfers {
            builder.transfer_over(topology, link, op, chunks.map(ChunkId));
        }
    }
    builder.finish()
}
