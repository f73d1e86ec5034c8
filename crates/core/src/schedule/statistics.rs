//! What a schedule moves, and how busy it keeps the links.

use crate::exact::narrow;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{Choice, Op, Schedule, Slot};
use crate::collective::ChunkId;
use crate::problem::Problem;
use crate::topology::{Direction, LinkId, RankId};

/// What each link carries in one step, and what else happens in it.
#[derive(Clone, Debug)]
pub struct StepLoads {
    carried: Vec<u64>,
    /// The links that carry anything, some perhaps no longer.
    used: Vec<LinkId>,
    totals: StepTotals,
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

impl StepLoads {
    /// Nothing is carried yet.
    pub(super) fn none(problem: &Problem) -> Self {
        let carried = vec![0; problem.topology().links().len()];
        Self { carried, used: Vec::new(), totals: StepTotals::default() }
    }

    pub(super) fn clear(&mut self) {
        self.used.drain(..).for_each(|link| self.carried[link.index()] = 0);
        self.totals = StepTotals::default();
    }

    /// Counts what a slot states. Without a link, or with an ambiguous one, it loads none: a verified schedule has no
    /// such transfer.
    pub(super) fn add(&mut self, problem: &Problem, slot: &Slot<'_>, is_transfer: bool) {
        let stated = slot.stated();
        self.totals.transfers += usize::from(is_transfer);
        self.totals.moves += stated;
        self.totals.reduces |= is_transfer && slot.op == Op::Reduce;
        if let Some(link) = link(problem, (slot.from, slot.to, slot.via)) {
            let carried = &mut self.carried[link.index()];
            if *carried == 0 && stated > 0 {
                self.used.push(link);
            }
            *carried += stated as u64;
        }
    }

    /// Takes back one move that was counted.
    pub(super) fn take_back(&mut self, problem: &Problem, way: (RankId, RankId, Option<Direction>)) {
        self.totals.moves -= 1;
        if let Some(link) = link(problem, way) {
            self.carried[link.index()] -= 1;
        }
    }

    /// The links that carry chunks, each once, in no particular order; and how many.
    pub fn used(&self) -> impl Iterator<Item = (LinkId, u64)> + '_ {
        self.used.iter().map(|&link| (link, self.carried[link.index()])).filter(|(_, carried)| *carried > 0)
    }

    /// What happens in the step.
    pub fn totals(&self) -> StepTotals {
        self.totals
    }
}

/// The only link between two ranks that `via` allows.
fn link(problem: &Problem, (from, to, via): (RankId, RankId, Option<Direction>)) -> Option<LinkId> {
    let topology = problem.topology();
    let fits = |&id: &LinkId| via.is_none() || topology.link(id).direction == via;
    let mut choices = topology.links_between(from, to).filter(fits);
    choices.next().filter(|_| choices.next().is_none())
}

/// Steps of widths, in whatever form their moves are stated. Steps are numbered from 1; methods that take one panic if
/// it does not exist.
pub trait Timetable {
    /// The number of steps S.
    fn step_count(&self) -> usize;

    /// The numbers of the steps.
    fn numbers(&self) -> RangeInclusive<u32> {
        1..=narrow(self.step_count())
    }

    /// The sum of the widths; divided by the parts per message, the volume V.
    fn total_width(&self) -> u64;

    /// The width of a step.
    fn width(&self, step: u32) -> u32;

    /// The wanted transfers of a step, in order. In the compact form, takes time and memory for these, for what the
    /// file states of the step, and no more.
    fn slots(&self, step: u32, choice: &Choice) -> Vec<Slot<'_>>;

    /// The chunks of a transfer, in order.
    fn chunks_of<'a>(&self, slot: &'a Slot<'_>) -> Cow<'a, [ChunkId]>;

    /// The number of chunks of a transfer.
    fn count_of(&self, slot: &Slot<'_>) -> usize;

    /// Visits what each link carries in some steps, one after the other. O(links) memory; O(transfers + moves stated)
    /// time for each step.
    fn for_each_load(
        &self,
        problem: &Problem,
        steps: &mut dyn Iterator<Item = u32>,
        visit: &mut dyn FnMut(u32, &StepLoads),
    );

    /// What each link carries in some steps together, by link; as [`Timetable::for_each_load`].
    fn carried(&self, problem: &Problem, steps: &mut dyn Iterator<Item = u32>) -> Vec<u64> {
        let mut carried = vec![0; problem.topology().links().len()];
        self.for_each_load(problem, steps, &mut |_, loads| {
            loads.used().for_each(|(link, chunks)| carried[link.index()] += chunks);
        });
        carried
    }

    /// The figures; as [`Timetable::for_each_load`].
    fn statistics(&self, problem: &Problem) -> Statistics {
        // A link that groups without relays may not use is alive nevertheless.
        let machine = problem.machine();
        let mut carried = vec![0; machine.links().len()];
        let (mut transfers, mut moves) = (0, 0);
        self.for_each_load(problem, &mut self.numbers(), &mut |_, loads| {
            loads.used().for_each(|(link, chunks)| carried[link.index()] += chunks);
            transfers += loads.totals.transfers;
            moves += loads.totals.moves;
        });
        let mut directions: Vec<Option<Direction>> = machine.links().iter().map(|link| link.direction).collect();
        directions.sort_unstable();
        directions.dedup();
        let total_width = self.total_width();
        let busy = directions.into_iter().map(|direction| {
            let (mut used, mut room) = (0, 0_u128);
            for id in machine.live_links().filter(|&id| machine.link(id).direction == direction) {
                used += carried[id.index()];
                room += u128::from(machine.link(id).capacity) * u128::from(total_width);
            }
            (direction, (room > 0).then(|| used as f64 / room as f64))
        });
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

    fn slots(&self, step: u32, choice: &Choice) -> Vec<Slot<'_>> {
        let none: Arc<[_]> = Arc::new([]);
        let transfers = self.step(step).transfers.iter().filter(|transfer| {
            let has = |chunk: &ChunkId| choice.has_chunk(*chunk);
            choice.joins(transfer.from, transfer.to)
                && (choice.chunks.is_none() || self.chunks(transfer).iter().any(has))
        });
        let slot = |transfer| Slot::stating(self, step, transfer, &none);
        transfers.map(slot).collect()
    }

    fn chunks_of<'a>(&self, slot: &'a Slot<'_>) -> Cow<'a, [ChunkId]> {
        Cow::Borrowed(&slot.own)
    }

    fn count_of(&self, slot: &Slot<'_>) -> usize {
        slot.stated()
    }

    fn for_each_load(
        &self,
        problem: &Problem,
        steps: &mut dyn Iterator<Item = u32>,
        visit: &mut dyn FnMut(u32, &StepLoads),
    ) {
        let mut loads = StepLoads::none(problem);
        for step in steps {
            loads.clear();
            self.slots(step, &Choice::default()).iter().for_each(|slot| loads.add(problem, slot, true));
            visit(step, &loads);
        }
    }
}
