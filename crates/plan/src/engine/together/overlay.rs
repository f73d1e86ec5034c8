//! Collectives planned one by one, whose moves then share the links: list scheduling, forward and backward in turn.
//!
//! # Idea
//!
//! Each collective, or group, alone has planners that load links evenly in seconds, also among hundreds of ranks. Put
//! together, they keep their routes, and when each move is made is decided anew. A move waits for what its sender is to
//! have by then, and for what its receiver is to have sent before; each link serves the most urgent moves first,
//! whosever they are.
//!
//! ```text
//!   alone     a: 1 1 2 . 3      b: 1 . 2 2        a link is idle where one collective alone lacks chunks for it
//!   together  a1 a1 b1 a2 b2 b2 a3
//! ```
//!
//! Each pass takes the moves of a link in the order in which the pass before it, in the other direction of time, would
//! have had them: what was late forward must be early backward. The first pass lets all collectives advance alike.
//!
//! # Steps and volume
//!
//! Once chunks are many, little above the largest load of a link by all the routes together, in more steps than the
//! longest route has hops.
//!
//! # Complexity
//!
//! O(moves log moves) for each pass; memory O(moves).
//!
//! # Reference
//!
//! Li and Willis, "An iterative scheduling technique for resource-constrained project scheduling", European Journal of
//! Operational Research 56, 1992; Valls, Ballestin and Quintanilla, "Justification and RCPSP", ibid. 165, 2005.

use std::collections::{BTreeMap, BinaryHeap};

use collsynth_core::collective::ChunkId;
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{Link, LinkId, RankId, Topology};
use fastrand::Rng;

use super::hops::{Hop, SHARE};
use crate::model::control::Control;
use crate::model::moves::Moves;

/// Passes for narrow steps, and for wider ones, which either do soon or not at all.
const PASSES: u32 = 12;
const PASSES_IN_WIDER_STEPS: u32 = 4;
/// A timetable is good enough within one part in this many of the least width that its routes allow.
const NEAR_LEAST: u64 = 500;
/// Schedules whose operations a word has a bit for.
const MOST_SCHEDULES: usize = 32;
/// Units of urgency for a unit of time, and the noise of a pass.
const UNIT: u64 = 16;

/// What steps are worth.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    /// They are wide enough for about this many of them at most.
    many: u64,
    /// The percentage of the total width that wider, hence fewer, steps may cost.
    worth: u64,
}

impl Steps {
    pub const FEW: Self = Self { many: 512, worth: 1 };
    /// What is lost at the ends of a schedule is some steps, however wide they are.
    pub const NARROW: Self = Self { many: 1024, worth: 0 };
}

/// A move of a chunk of one of the schedules.
struct Move {
    link: u32,
    /// Which schedule, and its operation: twice the schedule, one more for copies.
    class: u32,
    chunk: ChunkId,
    /// How much of its own schedule is over when it begins, in shares of [`SHARE`].
    share: u64,
}

/// Moves, and which have to wait for which.
pub(super) struct Overlay<'a> {
    machine: &'a Topology,
    moves: Vec<Move>,
    /// For each move, those that wait for it; and those that it waits for.
    after: Lists,
    before: Lists,
    classes: usize,
}

/// When each move is made.
pub(super) struct Timetable {
    steps: Vec<u32>,
    pub widths: Vec<u32>,
}

impl<'a> Overlay<'a> {
    /// The moves of schedules, each of its problem on one machine. `None` if there are more than [`MOST_SCHEDULES`], or
    /// if two ranks exchange what they have of a chunk, both in one step.
    pub fn new(problems: &'a [Problem], routes: &[Vec<Hop>]) -> Option<Self> {
        if problems.len() > MOST_SCHEDULES {
            return None;
        }
        let machine = problems[0].machine();
        let (mut moves, mut pairs) = (Vec::new(), Vec::new());
        for (number, hops) in (0..).zip(routes) {
            add(&mut moves, &mut pairs, hops, number)?;
        }
        let count = moves.len();
        let before = Lists::new(count, pairs.iter().map(|&(first, then)| (then, first)));
        let after = Lists::new(count, pairs.into_iter());
        Some(Self { machine, moves, after, before, classes: 2 * problems.len() })
    }

    /// A timetable in few steps, of which there are at most `most` if any are found, whose total width is `near` or
    /// else the least found.
    pub fn timetable(&self, steps: Steps, near: u64, most: usize, seed: u64, control: &Control) -> Timetable {
        let mut step_width = u32::try_from((near / steps.many).next_power_of_two()).unwrap_or(u32::MAX);
        let mut best = self.best(step_width, PASSES, near, seed, control);
        let enough = near.max(best.figures().0 + best.figures().0 * steps.worth / 100);
        while control.stop().is_none() {
            step_width = step_width.saturating_mul(2);
            let found = self.best(step_width, PASSES_IN_WIDER_STEPS, enough, seed, control);
            let is_better = found.figures().0 <= enough || best.figures().1 > most;
            if !is_better || found.figures().1 >= best.figures().1 {
                break;
            }
            best = found;
        }
        best
    }

    /// The best timetable of several passes in steps of at most this width: of the least total width, then of the
    /// fewest steps.
    fn best(&self, step_width: u32, passes: u32, enough: u64, seed: u64, control: &Control) -> Timetable {
        let mut rng = Rng::with_seed(seed);
        let mut load = vec![0_u64; self.machine.links().len()];
        self.moves.iter().for_each(|one| load[one.link as usize] += 1);
        let horizon = load.iter().max().unwrap_or(&0) * UNIT;
        // No timetable takes less than the busiest link.
        let time = |(load, link): (&u64, &Link)| load.div_ceil(link.capacity.into());
        let least = load.iter().zip(self.machine.links()).map(time).max().unwrap_or(0);
        let enough = enough.max(least + least / NEAR_LEAST);
        let mut urgency: Vec<u64> = self.moves.iter().map(|one| horizon - horizon * one.share / SHARE).collect();
        let mut best: Option<Timetable> = None;
        for pass in 0..passes {
            urgency.iter_mut().for_each(|urgency| *urgency += rng.u64(0..UNIT));
            let found = self.pass(step_width, &urgency, pass % 2 == 1);
            let mut until = Vec::with_capacity(found.widths.len());
            found.widths.iter().fold(0, |time, width| {
                until.push((time + u64::from(*width)) * UNIT);
                time + u64::from(*width)
            });
            urgency = found.steps.iter().map(|&step| until[step as usize]).collect();
            let found = if pass % 2 == 1 { found.reversed() } else { found };
            if best.as_ref().is_none_or(|best| found.figures() < best.figures()) {
                best = Some(found);
            }
            if control.stop().is_some() || best.as_ref().is_some_and(|best| best.figures().0 <= enough) {
                break;
            }
        }
        best.expect("there is a pass")
    }

    /// The schedules, at these times.
    pub fn schedules(&self, timetable: &Timetable) -> Vec<Schedule> {
        let widths = &timetable.widths;
        let mut all: Vec<Moves> = (0..self.classes / 2).map(|_| Moves::new(widths.len())).collect();
        for (one, &step) in self.moves.iter().zip(&timetable.steps) {
            let op = if one.class % 2 == 0 { Op::Reduce } else { Op::Copy };
            all[one.class as usize / 2].add(step as usize, LinkId(one.link), op, [one.chunk]);
        }
        all.into_iter().map(|moves| moves.write(self.machine, |step, _| Some(widths[step]))).collect()
    }

    /// Serves all links step by step, in each the most urgent moves that are ready. In a step, a link carries moves of
    /// each schedule with one operation only.
    fn pass(&self, step_width: u32, urgency: &[u64], backward: bool) -> Timetable {
        let (before, after) = if backward { (&self.after, &self.before) } else { (&self.before, &self.after) };
        let mut waits: Vec<u32> = (0..self.moves.len()).map(|one| narrow(before.of(one).len())).collect();
        let mut queues: Vec<BinaryHeap<(u64, u32)>> =
            (0..self.machine.links().len() * self.classes).map(|_| BinaryHeap::new()).collect();
        let mut ready: Vec<u32> = (0..narrow(waits.len())).filter(|&one| waits[one as usize] == 0).collect();
        let (mut steps, mut widths) = (vec![0; waits.len()], Vec::new());
        let (mut busy, mut is_busy): (Vec<u32>, _) = (Vec::new(), vec![false; self.machine.links().len()]);
        let mut left = waits.len();
        while left > 0 {
            for one in ready.drain(..) {
                let Move { link, class, .. } = self.moves[one as usize];
                queues[link as usize * self.classes + class as usize].push((urgency[one as usize], u32::MAX - one));
                if !std::mem::replace(&mut is_busy[link as usize], true) {
                    busy.push(link);
                }
            }
            let (step, mut width) = (narrow(widths.len()), 0);
            busy.retain(|&link| {
                let capacity = self.machine.link(LinkId(link)).capacity;
                let queues = &mut queues[link as usize * self.classes..][..self.classes];
                let (mut taken, mut shut) = (0, 0_u64);
                while taken < step_width.saturating_mul(capacity) {
                    let open = |class: &usize| shut & (1 << class) == 0;
                    let first = |class: usize| queues[class].peek().map(|&(urgency, one)| (urgency, one, class));
                    let Some((.., class)) = (0..self.classes).filter(open).filter_map(first).max() else { break };
                    let Some((_, one)) = queues[class].pop() else { break };
                    let one = u32::MAX - one;
                    shut |= 1 << (class ^ 1);
                    taken += 1;
                    steps[one as usize] = step;
                    for &next in after.of(one as usize) {
                        waits[next as usize] -= 1;
                        if waits[next as usize] == 0 {
                            ready.push(next);
                        }
                    }
                }
                left -= taken as usize;
                width = width.max(taken.div_ceil(capacity));
                let waiting = queues.iter().any(|queue| !queue.is_empty());
                is_busy[link as usize] = waiting;
                waiting
            });
            widths.push(width);
        }
        Timetable { steps, widths }
    }
}

impl Timetable {
    /// The total width, and the steps.
    pub fn figures(&self) -> (u64, usize) {
        (self.widths.iter().copied().map(u64::from).sum(), self.widths.len())
    }

    fn reversed(mut self) -> Self {
        let last = narrow(self.widths.len()) - 1;
        self.steps.iter_mut().for_each(|step| *step = last - *step);
        self.widths.reverse();
        self
    }
}

/// What a rank did with a chunk, since a copy arrived.
#[derive(Default)]
struct Held {
    /// That copy.
    copied: Option<u32>,
    /// It, and what was added.
    arrived: Vec<u32>,
    sent: Vec<u32>,
    /// The step in which it was last sent.
    sent_in: u32,
}

/// Adds the moves of a schedule, and who waits for whom.
fn add(moves: &mut Vec<Move>, pairs: &mut Vec<(u32, u32)>, hops: &[Hop], number: u32) -> Option<()> {
    for of_chunk in hops.chunk_by(|one, other| one.chunk == other.chunk) {
        let mut held: BTreeMap<RankId, Held> = BTreeMap::new();
        for of_step in of_chunk.chunk_by(|one, other| one.step == other.step) {
            let first = narrow(moves.len());
            for &Hop { chunk, step, from, op, link, share, .. } in of_step {
                let this = narrow(moves.len());
                moves.push(Move { link: link.0, class: 2 * number + u32::from(op == Op::Copy), chunk, share });
                let held = held.entry(from).or_default();
                pairs.extend(held.arrived.iter().map(|&arrived| (arrived, this)));
                held.sent.push(this);
                held.sent_in = step;
            }
            for (this, hop) in (first..).zip(of_step) {
                let held = held.entry(hop.to).or_default();
                if held.sent_in == hop.step {
                    return None;
                }
                pairs.extend(held.sent.iter().chain(&held.copied).map(|&before| (before, this)));
                if hop.op == Op::Copy {
                    pairs.extend(held.arrived.drain(..).map(|arrived| (arrived, this)));
                    held.sent.clear();
                    held.copied = Some(this);
                }
                held.arrived.push(this);
            }
        }
    }
    Some(())
}

/// A list of moves for each move.
struct Lists {
    begin: Vec<u32>,
    all: Vec<u32>,
}

impl Lists {
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut begin = vec![0; count + 1];
        pairs.clone().for_each(|(of, _)| begin[of as usize + 1] += 1);
        (0..count).for_each(|at| begin[at + 1] += begin[at]);
        let (mut next, mut all) = (begin.clone(), vec![0; begin[count] as usize]);
        for (of, one) in pairs {
            all[next[of as usize] as usize] = one;
            next[of as usize] += 1;
        }
        Self { begin, all }
    }

    fn of(&self, one: usize) -> &[u32] {
        &self.all[self.begin[one] as usize..self.begin[one + 1] as usize]
    }
}
