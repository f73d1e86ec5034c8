//! What a schedule moves, and how busy it keeps the links.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{Choice, Op, Schedule, Slot};
use crate::collective::ChunkId;
use crate::problem::Problem;
use crate::topology::{Direction, LinkId, RankId};

/// Chunks carried, per link and step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkLoads {
    links: usize,
    /// `carried[step * links + link]`, steps from 0.
    carried: Vec<u64>,
    totals: Vec<StepTotals>,
}

/// What happens in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTotals {
    /// Its transfers.
    pub transfers: usize,
    /// Its chunk moves.
    pub moves: usize,
    /// Is something combined?
    pub reduces: bool,
}

/// The figures of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Steps S.
    pub steps: usize,
    /// The sum of the widths.
    pub total_width: u64,
    /// Transfers.
    pub transfers: usize,
    /// Chunk moves.
    pub moves: usize,
    /// Per direction of a torus (`x-`, `x+`, `y-`, ...; a single `None` for an explicit graph): the used share of the
    /// room on live links (width times capacity, over all steps); `None` where no link is alive.
    pub busy: Vec<(Option<Direction>, Option<f64>)>,
}

impl LinkLoads {
    /// Nothing is carried yet.
    pub(super) fn none(problem: &Problem, steps: usize) -> Self {
        let links = problem.topology().links().len();
        Self { links, carried: vec![0; links * steps], totals: vec![StepTotals::default(); steps] }
    }

    /// Counts what a slot states. Without a link, or with an ambiguous one, it loads none: a verified schedule has no
    /// such transfer.
    pub(super) fn add(&mut self, problem: &Problem, slot: &Slot<'_>, is_transfer: bool) {
        let stated = slot.stated();
        let totals = &mut self.totals[slot.step as usize - 1];
        totals.transfers += usize::from(is_transfer);
        totals.moves += stated;
        totals.reduces |= is_transfer && slot.op == Op::Reduce;
        if let Some(carried) = self.on(problem, slot.step, (slot.from, slot.to, slot.via)) {
            *carried += stated as u64;
        }
    }

    /// Takes back one move that was counted.
    pub(super) fn take_back(&mut self, problem: &Problem, step: u32, way: (RankId, RankId, Option<Direction>)) {
        self.totals[step as usize - 1].moves -= 1;
        if let Some(carried) = self.on(problem, step, way) {
            *carried -= 1;
        }
    }

    fn on(
        &mut self,
        problem: &Problem,
        step: u32,
        (from, to, via): (RankId, RankId, Option<Direction>),
    ) -> Option<&mut u64> {
        let topology = problem.topology();
        let fits = |&id: &LinkId| via.is_none() || topology.link(id).direction == via;
        let mut choices = topology.links_between(from, to).filter(fits);
        match (choices.next(), choices.next()) {
            (Some(link), None) => Some(&mut self.carried[(step as usize - 1) * self.links + link.index()]),
            _ => None,
        }
    }

    /// Chunks carried by a link in a step (numbered from 1).
    ///
    /// # Panics
    ///
    /// If there is no such step or link.
    pub fn get(&self, step: u32, link: LinkId) -> u64 {
        self.carried[(step as usize - 1) * self.links..][..self.links][link.index()]
    }

    /// Chunks carried by a link over all steps.
    pub fn total(&self, link: LinkId) -> u64 {
        self.carried.iter().skip(link.index()).step_by(self.links.max(1)).sum()
    }

    /// What happens in a step (numbered from 1).
    ///
    /// # Panics
    ///
    /// If there is no such step.
    pub fn totals(&self, step: u32) -> StepTotals {
        self.totals[step as usize - 1]
    }
}

/// Steps of widths, in whatever form their moves are stated. Steps are numbered from 1; methods that take one panic if
/// it does not exist.
pub trait Timetable {
    /// The number of steps S.
    fn step_count(&self) -> usize;

    /// The numbers of the steps.
    fn numbers(&self) -> RangeInclusive<u32> {
        1..=self.step_count() as u32
    }

    /// The sum of the widths; divided by the parts per message, the volume V.
    fn total_width(&self) -> u64;

    /// The width of a step.
    fn width(&self, step: u32) -> u32;

    /// Is every transfer stated, so that one may be shown by its place in the file?
    fn is_explicit(&self) -> bool;

    /// The wanted transfers of a step, in order. In the compact form, takes time and memory for these, for what the
    /// file states of the step, and no more.
    fn slots(&self, step: u32, choice: &Choice) -> Vec<Slot<'_>>;

    /// The chunks of a transfer, in order.
    fn chunks_of<'a>(&self, slot: &'a Slot<'_>) -> Cow<'a, [ChunkId]>;

    /// The number of chunks of a transfer.
    fn count_of(&self, slot: &Slot<'_>) -> usize;

    /// What each link carries in each step. O(moves stated + transfers + steps * links).
    fn loads(&self, problem: &Problem) -> LinkLoads;

    /// The figures; as [`Timetable::loads`].
    fn statistics(&self, problem: &Problem) -> Statistics {
        let loads = self.loads(problem);
        let topology = problem.topology();
        let mut directions: Vec<Option<Direction>> = topology.links().iter().map(|link| link.direction).collect();
        directions.sort_unstable();
        directions.dedup();
        let total_width = self.total_width();
        let busy = directions.into_iter().map(|direction| {
            let (mut used, mut room) = (0, 0);
            for id in topology.live_links().filter(|&id| topology.link(id).direction == direction) {
                used += loads.total(id);
                room += u64::from(topology.link(id).capacity) * total_width;
            }
            (direction, (room > 0).then(|| used as f64 / room as f64))
        });
        let transfers = loads.totals.iter().map(|step| step.transfers).sum();
        let moves = loads.totals.iter().map(|step| step.moves).sum();
        Statistics { steps: self.step_count(), total_width, transfers, moves, busy: busy.collect() }
    }
}

impl Timetable for Schedule {
    fn step_count(&self) -> usize {
        self.step_count()
    }

    fn total_width(&self) -> u64 {
        self.total_width()
    }

    fn width(&self, step: u32) -> u32 {
        self.step(step).width
    }

    fn is_explicit(&self) -> bool {
        true
    }

    fn slots(&self, step: u32, choice: &Choice) -> Vec<Slot<'_>> {
        let none: Arc<[_]> = Arc::new([]);
        let transfers = self.step(step).transfers.iter().filter(|transfer| {
            let has = |chunk: &ChunkId| choice.has_chunk(*chunk);
            choice.joins(transfer.from, transfer.to)
                && (choice.chunks.is_none() || self.chunks(transfer).iter().any(has))
        });
        let slot = |transfer| Slot::stating(self, step, transfer, Arc::clone(&none));
        transfers.map(slot).collect()
    }

    fn chunks_of<'a>(&self, slot: &'a Slot<'_>) -> Cow<'a, [ChunkId]> {
        Cow::Borrowed(&slot.own)
    }

    fn count_of(&self, slot: &Slot<'_>) -> usize {
        slot.stated()
    }

    fn loads(&self, problem: &Problem) -> LinkLoads {
        let mut loads = LinkLoads::none(problem, self.step_count());
        for step in self.numbers() {
            self.slots(step, &Choice::default()).iter().for_each(|slot| loads.add(problem, slot, true));
        }
        loads
    }
}
