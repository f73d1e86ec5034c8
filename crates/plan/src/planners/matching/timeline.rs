//! Steps that collect and steps that spread, one after the other.

use super::centers::link_between;
use super::halves::Roots;
use super::overlap::Overlap;
use super::spread::Waves;
use crate::model::moves::Moves;
use crate::model::network::LiveLink;
use crate::model::task::Task;
use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{LinkId, Topology};

/// Steps in order.
#[derive(Default)]
pub(super) struct Timeline {
    steps: Vec<Step>,
}

struct Step {
    width: u32,
    /// A link either copies or reduces in a step.
    moves: Vec<(LinkId, Op, ChunkId)>,
}

impl Timeline {
    /// Appends waves as they are.
    pub fn spread(&mut self, waves: &Waves, chunks: &[ChunkId], id: impl Fn(LiveLink) -> LinkId) {
        self.append(waves, chunks, id, Op::Copy, false);
    }

    /// Appends waves backward in time.
    pub fn collect(&mut self, waves: &Waves, chunks: &[ChunkId], id: impl Fn(LiveLink) -> LinkId) {
        self.append(waves, chunks, id, Op::Reduce, true);
    }

    /// Appends the swaps within centers.
    pub fn swap(&mut self, topology: &Topology, roots: &Roots) {
        for stage in 0..roots.doublings {
            let mut moves = Vec::new();
            for (chunk, members) in roots.centers() {
                for (member, &rank) in members.iter().enumerate() {
                    let link = link_between(topology, rank, members[member ^ 1 << stage]);
                    moves.extend(link.map(|link| (link, Op::Reduce, chunk)));
                }
            }
            let mut loads = vec![0_u32; topology.links().len()];
            moves.iter().for_each(|&(link, ..): &(LinkId, Op, ChunkId)| loads[link.index()] += 1);
            let widths = loads.iter().zip(topology.links()).map(|(load, link)| load.div_ceil(link.capacity));
            self.steps.push(Step { width: widths.max().unwrap_or(0), moves });
        }
    }

    fn append(&mut self, waves: &Waves, chunks: &[ChunkId], id: impl Fn(LiveLink) -> LinkId, op: Op, backward: bool) {
        let step = |number: usize| {
            let moves = waves.arrivals[number].iter().map(|&(link, chunk)| (id(link), op, chunks[chunk as usize]));
            Step { width: waves.widths[number], moves: moves.collect() }
        };
        let count = waves.widths.len();
        self.steps.extend((0..count).map(|number| step(if backward { count - 1 - number } else { number })));
    }

    /// Both halves, overlapping: waves, and the same backward in time over opposite links.
    pub fn overlapping(waves: &Waves, overlap: &Overlap, id: impl Fn(LiveLink) -> LinkId) -> Self {
        let (before, count) = (overlap.steps(), waves.widths.len());
        let after = count - before;
        let widths = waves.widths[before..].iter();
        let widths = widths.clone().rev().chain(widths);
        let mut steps: Vec<Step> = widths.map(|&width| Step { width, moves: Vec::new() }).collect();
        for (number, arrivals) in waves.arrivals.iter().enumerate() {
            let spreads = after + number - before;
            let collects = 2 * after - 1 - spreads;
            for &(link, chunk) in arrivals {
                steps[spreads].moves.push((id(link), Op::Copy, ChunkId(chunk)));
                let partner = ChunkId(overlap.partner(chunk as usize) as u32);
                steps[collects].moves.push((id(overlap.opposite(link)), Op::Reduce, partner));
            }
        }
        Self { steps }
    }

    /// Steps and total width.
    pub fn figures(&self) -> (usize, u64) {
        (self.steps.len(), self.steps.iter().map(|step| u64::from(step.width)).sum())
    }

    /// Is it better for the task, whose number of steps is a limit here?
    pub fn is_better(&self, other: &Self, task: &Task<'_>) -> bool {
        let most = task.steps.or(task.max_steps).map_or(usize::MAX, |most| most as usize);
        let key = |timeline: &Self| {
            let (steps, width) = timeline.figures();
            let volume = width as f64 / f64::from(task.problem.parts());
            let seconds = task.price.map_or(0.0, |price| price.seconds_for(steps, volume));
            let wide = if task.near.is_some_and(|near| width <= near) { 0 } else { width };
            (steps > most, seconds, (wide, steps, width))
        };
        let ((over_1, seconds_1, rest_1), (over_2, seconds_2, rest_2)) = (key(self), key(other));
        over_1.cmp(&over_2).then(seconds_1.total_cmp(&seconds_2)).then(rest_1.cmp(&rest_2)).is_lt()
    }

    /// Does it meet both bounds?
    pub fn is_optimal(&self, task: &Task<'_>) -> bool {
        let (steps, width) = self.figures();
        let least = task.bounds.least_steps();
        steps == least as usize && width == u64::from(task.bounds.least_width(task.problem.parts()).max(least))
    }

    /// Cuts wide steps in two until there are this many, if that can be: all that moves in the second of them could
    /// move in the first.
    pub fn stretch(&mut self, topology: &Topology, steps: usize) {
        while self.steps.len() < steps {
            let widest = (0..self.steps.len()).max_by_key(|&step| (self.steps[step].width, usize::MAX - step));
            let Some(widest) = widest.filter(|&step| self.steps[step].width > 1) else { return };
            let Step { width, mut moves } = self.steps.remove(widest);
            moves.sort_unstable();
            let first = width.div_ceil(2);
            let mut taken = (LinkId(u32::MAX), 0);
            let (early, late) = moves.into_iter().partition(|&(link, ..)| {
                taken = if taken.0 == link { (link, taken.1 + 1) } else { (link, 1) };
                taken.1 <= first * topology.link(link).capacity
            });
            let halves = [(first, early), (width - first, late)].map(|(width, moves)| Step { width, moves });
            self.steps.splice(widest..widest, halves);
        }
    }

    pub fn write(self, topology: &Topology) -> Schedule {
        let mut moves = Moves::new(self.steps.len());
        let mut widths = Vec::new();
        for (number, step) in self.steps.into_iter().enumerate() {
            widths.push(step.width);
            for (link, op, chunk) in step.moves {
                moves.add(number, link, op, [chunk]);
            }
        }
        moves.write(topology, |step, _| Some(widths[step]))
    }
}
