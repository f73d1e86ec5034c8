//! Chunks that walk given routes, scheduled store-and-forward.
//!
//! The routes are given; only the timing is open. Every link keeps a queue of the chunks waiting for it, those with
//! most hops to go first, and sends as many in a step as the step is wide. The widths determine the waste: the volume
//! exceeds the load of the fullest link whenever a full link has to wait for chunks from other links (filling a
//! pipeline).
//!
//! ```text
//!   left to carry   link a  ######            R = 6: no step may let less than its width pass over a
//!                   link b  ####  (2 slack)
//!   in the queue    link a  ###               so a step of width 3 wastes nothing: a sends 3, b at least 1
//!                   link b  #
//! ```
//!
//! So a step is as wide as possible without waste: the least, over the links that expect more, of the queue plus the
//! slack to the fullest link. If that is less than the *grain*, the step is as wide as the grain. A fine grain wastes
//! little and takes many steps; a coarse one the reverse.
//!
//! O(h log h + S L) time for h hops, S steps and L links, for each grain tried.
//!
//! Leighton, Maggs and Rao, "Packet routing and job-shop scheduling in O(congestion + dilation) steps", Combinatorica
//! 14 (1994), bound what is possible; the widths are our own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use itertools::Itertools;

use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::moves::Moves;
use crate::model::phase::{Phase, StatedPhase};
use crate::model::planner::Outcome;
use crate::model::task::Task;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{LinkId, Topology};

/// The hops of one step.
type Hops = Vec<(LinkId, ChunkId)>;

/// Plans phases one after another: in each, all chunks walk their routes to the end.
///
/// Without prices or stated steps, the grain is 1 and the volume close to the loads. With prices, each phase takes the
/// cheapest grain among the powers of two; if steps are stated, all phases take the cheapest grain that fits them.
///
/// # Errors
///
/// [`PlanError::Stopped`], or [`PlanError::NotFound`] if no grain leads to the steps stated.
pub fn plan_walks(
    planner: &'static str,
    task: &Task<'_>,
    control: &Control,
    phases: Vec<(StatedPhase, Walks)>,
) -> Result<Outcome, PlanError> {
    let topology = task.problem.topology();
    let limited = task.steps.is_some() || task.max_steps.is_some();
    let most = phases.iter().map(|(_, walks)| walks.fullest(topology)).max().unwrap_or(0).max(1);
    let coarse = (0..=most.ilog2()).map(|power| 1 << power).chain([most]);
    let grains: Vec<u64> = if limited || task.price.is_some() { coarse.collect() } else { vec![1] };
    let mut best: Vec<(f64, Vec<Hops>)> = Vec::new();
    for &grain in &grains {
        let mut tried = Vec::with_capacity(phases.len());
        for (_, walks) in &phases {
            if let Some(stopped) = control.stop() {
                return Err(PlanError::Stopped { stopped });
            }
            let steps = walks.schedule(topology, grain);
            tried.push((cost(task, &steps), steps));
        }
        if limited {
            let total = |of: &[(f64, Vec<Hops>)]| of.iter().map(|(cost, _)| cost).sum::<f64>();
            let steps = tried.iter().map(|(_, steps)| steps.len()).sum();
            let first = best.is_empty();
            // If no grain fits the steps, the coarsest stays and its steps are reported.
            let before = !first && task.check_steps(planner, best.iter().map(|(_, steps)| steps.len()).sum()).is_ok();
            let keeps = task.check_steps(planner, steps).is_ok();
            if !before || (keeps && total(&tried) < total(&best)) {
                best = tried;
            }
        } else if best.is_empty() {
            best = tried;
        } else {
            for (best, tried) in best.iter_mut().zip(tried) {
                if tried.0 < best.0 {
                    *best = tried;
                }
            }
        }
    }
    let lengths: Vec<usize> = best.iter().map(|(_, steps)| steps.len()).collect();
    let mut moves = Moves::default();
    for (step, hops) in best.into_iter().flat_map(|(_, steps)| steps).enumerate() {
        hops.into_iter().for_each(|(link, chunk)| moves.add(step, link, Op::Copy, [chunk]));
    }
    let schedule = moves.write(topology, |_, needed| Some(needed.max(1)));
    task.check_steps(planner, schedule.step_count())?;
    let stated = phases.into_iter().map(|(stated, _)| stated);
    let phases = Phase::measure(task.problem, &schedule, stated.zip(lengths));
    Ok(Outcome::new(schedule, StopReason::Finished).with_phases(phases))
}

/// The cost of steps: seconds if there are prices, else their volume.
fn cost(task: &Task<'_>, steps: &[Hops]) -> f64 {
    let topology = task.problem.topology();
    let width: f64 = steps.iter().map(|hops| f64::from(width(topology, hops))).sum();
    let volume = width / f64::from(task.problem.parts());
    task.price.map_or(volume, |price| price.seconds_for(steps.len(), volume))
}

/// The width that hops need, sorted by link or not.
fn width(topology: &Topology, hops: &Hops) -> u32 {
    let links = hops.iter().map(|&(link, _)| link).sorted_unstable().dedup_with_count();
    links.map(|(chunks, link)| (chunks as u32).div_ceil(topology.link(link).capacity)).max().unwrap_or(0)
}

/// Chunks and the routes they walk.
#[derive(Clone, Debug, Default)]
pub struct Walks {
    /// The end of each route in `links`; it begins at the end of the one before.
    ends: Vec<usize>,
    links: Vec<LinkId>,
    /// Each chunk with the number of its route.
    walkers: Vec<(ChunkId, u32)>,
}

impl Walks {
    /// Sends chunks over a route of at least one link; each link begins where the one before ends.
    pub fn send(&mut self, route: &[LinkId], chunks: impl IntoIterator<Item = ChunkId>) {
        let number = self.ends.len() as u32;
        let before = self.walkers.len();
        self.walkers.extend(chunks.into_iter().map(|chunk| (chunk, number)));
        if self.walkers.len() > before {
            self.links.extend_from_slice(route);
            self.ends.push(self.links.len());
        }
    }

    /// The load of the fullest link, in messages per unit of its capacity.
    pub fn fullest_in_messages(&self, problem: &Problem) -> f64 {
        let topology = problem.topology();
        let share = |(link, &load): (usize, &u64)| load as f64 / f64::from(topology.links()[link].capacity);
        self.loads(topology).iter().enumerate().map(share).fold(0.0, f64::max) / f64::from(problem.parts())
    }

    /// The chunks that each link carries in all.
    fn loads(&self, topology: &Topology) -> Vec<u64> {
        let mut carried = vec![0; self.ends.len()];
        self.walkers.iter().for_each(|&(_, route)| carried[route as usize] += 1);
        let mut loads = vec![0; topology.links().len()];
        for (route, carried) in carried.into_iter().enumerate() {
            self.route(route).iter().for_each(|link| loads[link.index()] += carried);
        }
        loads
    }

    /// The least total width.
    fn fullest(&self, topology: &Topology) -> u64 {
        let needed = |(load, link): (u64, usize)| load.div_ceil(topology.links()[link].capacity.into());
        self.loads(topology).into_iter().zip(0..).map(needed).max().unwrap_or(0)
    }

    fn route(&self, number: usize) -> &[LinkId] {
        let begin = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.links[begin..self.ends[number]]
    }

    /// The hops of every step, with steps at least as wide as the grain where enough chunks wait.
    fn schedule(&self, topology: &Topology, grain: u64) -> Vec<Hops> {
        let loads = self.loads(topology);
        let used = loads.iter().enumerate().filter(|(_, load)| **load > 0);
        let mut queues: Vec<Queue> = used
            .map(|(link, &left)| {
                let capacity = topology.links()[link].capacity.into();
                Queue { link: LinkId(link as u32), capacity, left, waiting: BinaryHeap::new() }
            })
            .collect();
        let mut queue_of = vec![usize::MAX; loads.len()];
        queues.iter().enumerate().for_each(|(number, queue)| queue_of[queue.link.index()] = number);
        let join = |queues: &mut [Queue], walker: u32, hop: usize| {
            let route = self.route(self.walkers[walker as usize].1 as usize);
            if let Some(link) = route.get(hop) {
                let left = (route.len() - hop) as u32;
                queues[queue_of[link.index()]].waiting.push((left, Reverse(walker)));
            }
        };
        (0..self.walkers.len() as u32).for_each(|walker| join(&mut queues, walker, 0));
        let mut steps = Vec::new();
        loop {
            let most = queues.iter().map(Queue::rounds).max().unwrap_or(0);
            if most == 0 {
                return steps;
            }
            let without_waste = queues.iter().filter_map(|queue| queue.without_waste(most)).fold(most, u64::min);
            let width = without_waste.max(grain);
            let (mut hops, mut arrived) = (Vec::new(), Vec::new());
            for queue in &mut queues {
                for _ in 0..width.saturating_mul(queue.capacity).min(queue.waiting.len() as u64) {
                    let Some((left, Reverse(walker))) = queue.waiting.pop() else { break };
                    queue.left -= 1;
                    let (chunk, route) = self.walkers[walker as usize];
                    hops.push((queue.link, chunk));
                    arrived.push((walker, self.route(route as usize).len() + 1 - left as usize));
                }
            }
            arrived.into_iter().for_each(|(walker, hop)| join(&mut queues, walker, hop));
            steps.push(hops);
        }
    }
}

/// The chunks waiting for a link.
struct Queue {
    link: LinkId,
    capacity: u64,
    /// Chunks still to carry, including those still to arrive.
    left: u64,
    /// Hops to go, and the walker: the most hops first, then the lowest walker.
    waiting: BinaryHeap<(u32, Reverse<u32>)>,
}

impl Queue {
    /// The width needed for all that is left.
    fn rounds(&self) -> u64 {
        self.left.div_ceil(self.capacity)
    }

    /// The widest step in which this link does not fall behind, if it can, given that the fullest link needs `most`.
    fn without_waste(&self, most: u64) -> Option<u64> {
        let here = self.waiting.len() as u64;
        (here < self.left).then(|| here / self.capacity + most - self.rounds())
    }
}
