//! What a file says in fewer words: the first half of what is mirrored, trees instead of transfers, and the op of steps
//! that only reduce.

use std::borrow::Cow;

use super::trees::{LETTERS, NO_PARENT, Tree};
use collsynth_core::collective::ChunkId;
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Exceptions, Op, Repeated, Schedule, Step, Transfer, View};
use collsynth_core::topology::{Direction, RankId, Topology};

/// What a file states of the moves of a schedule.
pub(super) struct Listing<'a> {
    /// In the compact form, the rest of it.
    pub compact: Option<Compact<'a>>,
    /// Every move, in place of transfers.
    pub trees: Option<Vec<Tree>>,
    /// Are these the first half?
    pub mirrored: bool,
    /// The moves that steps state as transfers.
    pub own: Cow<'a, Schedule>,
    /// Does a step whose transfers all reduce say so for them?
    pub op_of_steps: bool,
}

/// What the compact form states besides.
pub(super) struct Compact<'a> {
    pub pattern: Cow<'a, Schedule>,
    pub repeated: Option<Cow<'a, Repeated>>,
    pub chunks: &'a [ChunkId],
    pub without: Cow<'a, Schedule>,
}

impl<'a> Listing<'a> {
    /// All steps, as they are.
    pub fn whole(view: View<'a>) -> Self {
        match view {
            View::Explicit(schedule) => {
                Self { compact: None, trees: None, mirrored: false, own: Cow::Borrowed(schedule), op_of_steps: false }
            }
            View::Compact(schedule) => {
                let Exceptions { chunks, without, moves } = schedule.exceptions();
                let pattern = Cow::Borrowed(schedule.pattern());
                let repeated = schedule.repeated().map(Cow::Borrowed);
                let compact = Compact { pattern, repeated, chunks, without: Cow::Borrowed(without) };
                let own = Cow::Borrowed(moves);
                Self { compact: Some(compact), trees: None, mirrored: false, own, op_of_steps: false }
            }
        }
    }

    /// The first half where the second mirrors it, and trees where these are shorter.
    pub fn brief(problem: &Problem, schedule: &'a Schedule) -> Self {
        let (mirrored, own) = match half(schedule) {
            Some(half) => (true, Cow::Owned(half)),
            None => (false, Cow::Borrowed(schedule)),
        };
        match trees(problem, &own) {
            None => Self { compact: None, trees: None, mirrored, own, op_of_steps: true },
            some => {
                let own = Cow::Owned(Schedule::of_widths(own.widths()));
                Self { compact: None, trees: some, mirrored, own, op_of_steps: true }
            }
        }
    }

    /// The first half where the second mirrors it.
    pub fn brief_compact(problem: &Problem, schedule: &'a CompactSchedule) -> Self {
        let half = Self::compact_half(problem, schedule);
        Self { op_of_steps: true, ..half.unwrap_or_else(|| Self::whole(View::Compact(schedule))) }
    }

    /// What [`CompactSchedule::mirrored`] makes a schedule of, if it does. O(moves stated, and sorting them).
    fn compact_half(problem: &Problem, schedule: &'a CompactSchedule) -> Option<Self> {
        let Exceptions { chunks, without, moves } = schedule.exceptions();
        let [pattern, without, moves] = [schedule.pattern(), without, moves].map(half);
        let repeated = match schedule.repeated() {
            None => None,
            Some(whole) => {
                let half = Repeated { moves: halved(&whole.moves)?, ..whole.clone() };
                let mirrored = half.clone().mirrored(problem).ok()?;
                Some(Cow::Owned(Some(half).filter(|_| have_same_moves(&mirrored.moves, &whole.moves))?))
            }
        };
        let compact = Compact { pattern: Cow::Owned(pattern?), repeated, chunks, without: Cow::Owned(without?) };
        Some(Self { compact: Some(compact), trees: None, mirrored: true, own: Cow::Owned(moves?), op_of_steps: true })
    }

    /// About the length of its text.
    pub fn bytes(&self) -> usize {
        let each = |schedule: &Schedule| 64 * schedule.transfers().len() + 8 * schedule.move_count();
        let of_trees = self.trees.iter().flatten().map(|tree| 64 + tree.parents.len() + 3 * tree.steps.len());
        let of_compact = self.compact.iter().map(|compact| {
            let in_cell = compact.repeated.as_ref().map_or(0, |repeated| each(&repeated.moves));
            each(&compact.pattern) + in_cell + each(&compact.without) + 8 * compact.chunks.len()
        });
        each(&self.own) + of_trees.chain(of_compact).sum::<usize>()
    }
}

/// The first half of a schedule, if the second mirrors it, but for the order of transfers and chunks.
///
/// O(moves log moves), and O(steps + transfers) for most that are not mirrored.
fn half(schedule: &Schedule) -> Option<Schedule> {
    let half = halved(schedule)?;
    have_same_moves(&half.mirrored(), schedule).then_some(half)
}

/// The first half of the steps, if the second may mirror it.
fn halved(schedule: &Schedule) -> Option<Schedule> {
    let count = schedule.step_count();
    let moves = |step: Step<'_>| step.transfers.iter().map(|one| schedule.chunks(one).len()).sum::<usize>();
    let reduces = |step: Step<'_>| step.transfers.iter().all(|one| one.op == Op::Reduce);
    let may_mirror =
        |(one, other): (Step<'_>, Step<'_>)| one.width == other.width && reduces(one) && moves(one) == moves(other);
    let mut pairs = schedule.steps().zip(schedule.steps().rev()).take(count / 2);
    if count == 0 || !count.is_multiple_of(2) || !pairs.all(may_mirror) {
        return None;
    }
    let mut half = Schedule::builder();
    for step in schedule.steps().take(count / 2) {
        half.step(step.width);
        for one in step.transfers {
            half.transfer(one.from, one.to, one.via, one.op, schedule.chunks(one).iter().copied());
        }
    }
    Some(half.finish())
}

/// Are steps and moves the same, whatever the order of transfers and of chunks?
fn have_same_moves(one: &Schedule, other: &Schedule) -> bool {
    let sorted = |schedule: &Schedule, step: Step<'_>| -> Vec<_> {
        let listed = |one: &Transfer| {
            let mut chunks = schedule.chunks(one).to_vec();
            chunks.sort_unstable();
            (key(one), chunks)
        };
        let mut transfers: Vec<_> = step.transfers.iter().map(listed).collect();
        transfers.sort_unstable();
        transfers
    };
    let are_same = |(a, b): (Step<'_>, Step<'_>)| sorted(one, a) == sorted(other, b);
    one.widths().eq(other.widths()) && one.steps().zip(other.steps()).all(are_same)
}

fn key(transfer: &Transfer) -> (RankId, RankId, Option<Direction>, Op) {
    (transfer.from, transfer.to, transfer.via, transfer.op)
}

/// The moves of a schedule as trees, by chunk and operation, if reading them gives the same schedule, and if that is
/// shorter: a chunk has moves for a quarter of the ranks and more. `None` else.
///
/// O(moves log moves).
fn trees(problem: &Problem, schedule: &Schedule) -> Option<Vec<Tree>> {
    let machine = problem.machine();
    let ranks = machine.rank_count();
    let dims = machine.as_torus()?.extents.len();
    // Two for each chunk: of copies and of sums.
    let mut first = vec![0_usize; 2 * problem.chunk_count() as usize + 1];
    for step in schedule.steps() {
        // What is read is sorted so.
        let ascends = |pair: &[Transfer]| key(&pair[0]) < key(&pair[1]);
        if dims > LETTERS.len() || !step.transfers.windows(2).all(ascends) {
            return None;
        }
        for transfer in step.transfers {
            let chunks = schedule.chunks(transfer);
            if chunks.is_empty() || !chunks.is_sorted() {
                return None;
            }
            chunks
                .iter()
                .try_for_each(|&chunk| first.get_mut(place(chunk, transfer.op) + 1).map(|count| *count += 1))?;
        }
    }
    let count = first.iter().filter(|&&moves| moves > 0).count();
    let is_short = |trees: usize| trees * ranks <= 4 * schedule.move_count();
    if count == 0 || !is_short(count) {
        return None;
    }
    (1..first.len()).for_each(|at| first[at] += first[at - 1]);
    let mut next = first.clone();
    let mut moves = vec![(0, 0, 0); schedule.move_count()];
    for step in schedule.steps() {
        for transfer in step.transfers {
            let (rank, letter) = parent(machine, transfer)?;
            for &chunk in schedule.chunks(transfer) {
                let at = &mut next[place(chunk, transfer.op)];
                moves[*at] = (rank, step.number, letter);
                *at += 1;
            }
        }
    }
    let mut trees = Vec::with_capacity(count);
    for (at, ends) in first.windows(2).enumerate().filter(|(_, ends)| ends[0] < ends[1]) {
        let mut left = moves[ends[0]..ends[1]].to_vec();
        left.sort_unstable();
        // A rank that moves the chunk twice does so in two trees.
        while !left.is_empty() {
            let mut again = Vec::new();
            let (mut parents, mut steps) = (vec![NO_PARENT as u8; ranks], Vec::with_capacity(left.len()));
            for one @ (rank, step, letter) in left {
                match std::mem::replace(&mut parents[rank as usize], letter) {
                    letter if char::from(letter) == NO_PARENT => steps.push(step),
                    first => {
                        parents[rank as usize] = first;
                        again.push(one);
                    }
                }
            }
            trees.push(Tree {
                chunks: vec![ChunkId(narrow(at / 2))],
                op: if at % 2 == 0 { Op::Copy } else { Op::Reduce },
                parents: String::from_utf8(parents).ok()?,
                steps,
            });
            if !is_short(trees.len()) {
                return None;
            }
            left = again;
        }
    }
    Some(trees)
}

fn place(chunk: ChunkId, op: Op) -> usize {
    2 * chunk.index() + usize::from(op == Op::Reduce)
}

/// The rank whose move a transfer is, and the letter of its parent; `None` if the machine has no such link, or the
/// transfer does not say which, or says more than is needed.
fn parent(machine: &Topology, transfer: &Transfer) -> Option<(u32, u8)> {
    let mut links = machine.links_between(transfer.from, transfer.to).map(|id| machine.link(id).direction);
    let link = match (transfer.via, links.next()?, links.next()) {
        (None, only, None) => only?,
        (Some(via), one, Some(other)) => [one, other].into_iter().flatten().find(|&direction| direction == via)?,
        _ => return None,
    };
    let (rank, to_parent) = match transfer.op {
        Op::Copy => (transfer.to, link.opposite()),
        Op::Reduce => (transfer.from, link),
    };
    let letter = *LETTERS.as_bytes().get(usize::from(to_parent.dim))?;
    Some((rank.0, if to_parent.positive { letter } else { letter.to_ascii_uppercase() }))
}
