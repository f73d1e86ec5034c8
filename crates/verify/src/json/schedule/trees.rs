//! Moves that are listed chunk by chunk: to each rank of a tree, or from it, one.

use crate::guard::limits::{MEMORY_WORD, PER_BYTE};
use crate::json::code::FormatCode;
use crate::json::error::Fault;
use crate::json::locate::PathItem;
use collsynth_core::collective::ChunkId;
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule, Transfer};
use collsynth_core::topology::{Direction, LinkId, RankId, Topology};

/// Directions by their letters: `x+` is `x`, `x-` is `X`.
pub(in crate::json) const LETTERS: &str = "xyzwvu";
/// The letter of a rank without a parent.
pub(in crate::json) const NO_PARENT: char = '.';
/// Memory for a move while moves are sorted, and for its chunk in the schedule and in what mirrors it.
const BYTES_A_MOVE: u64 = (size_of::<Move>() + 2 * size_of::<ChunkId>()) as u64;
/// Memory for a transfer in the schedule and in what mirrors it.
const BYTES_A_TRANSFER: u64 = 2 * size_of::<Transfer>() as u64;
/// The fewest bytes of text that list a move: the letter of its parent, its step and a comma.
const TEXT_A_MOVE: u64 = 3;
/// What the text of a listed move leaves of the memory that reading a text of this length may take: it makes a letter
/// and a number of it. With [`PER_BYTE`] of the room that is all that a move needs, so that only chunks that share a
/// tree can make a list too large.
const SPARE_A_MOVE: u64 = BYTES_A_MOVE + BYTES_A_TRANSFER - PER_BYTE * TEXT_A_MOVE;

/// The moves of chunks between ranks and their parents.
pub(in crate::json) struct Tree {
    pub chunks: Vec<ChunkId>,
    /// Copy: the parent sends to the rank. Reduce: the rank sends to its parent.
    pub op: Op,
    /// A letter for each rank: the direction of its parent, or [`NO_PARENT`].
    pub parents: String,
    /// The step of each rank with a parent, from 1.
    pub steps: Vec<u32>,
}

/// A move: its step from 0, its link and whether it copies, and its chunk.
type Move = (u32, u32, u32);

/// The schedule of trees in steps of these widths. In each step, the moves over one link with one operation are one
/// transfer; transfers are sorted by link.
///
/// O(moves log moves).
///
/// # Errors
///
/// A [`Fault`] of the list: the machine is no torus with as few dimensions as there are letters, a tree does not fit it
/// or the steps, or more is needed than `room` bytes and what the text of the moves leaves.
pub(in crate::json) fn schedule(
    problem: &Problem,
    widths: &[u32],
    trees: &[Tree],
    room: u64,
) -> Result<Schedule, Fault> {
    let fault = |message: String| Fault::new(FormatCode::F010, message);
    let machine = problem.machine();
    let dims = machine.as_torus().map(|torus| torus.extents.len()).filter(|&dims| dims <= LETTERS.len());
    let Some(dims) = dims else {
        return Err(fault(format!("trees need a torus of at most {} dimensions: list transfers", LETTERS.len())));
    };
    let listed: u64 = trees.iter().map(|tree| tree.steps.len() as u64).sum();
    let room = room.saturating_add(SPARE_A_MOVE * listed);
    let too_large = |needed: u64| {
        let (needed, most) = (needed.div_ceil(1 << 20), room >> 20);
        fault(format!("these trees take {needed} MiB, more than {most} MiB: {MEMORY_WORD} allows more"))
    };
    // What is too much for a number is too much for any room.
    let moves = |tree: &Tree| (tree.chunks.len() as u64).saturating_mul(tree.steps.len() as u64);
    let count = trees.iter().map(moves).fold(0, u64::saturating_add);
    let needed = BYTES_A_MOVE.saturating_mul(count);
    if needed > room {
        return Err(too_large(needed));
    }
    let links = Links::new(machine, dims);
    let mut moves: Vec<Move> = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    for (index, tree) in trees.iter().enumerate() {
        let moved =
            moves_of(tree, &links, narrow(widths.len())).map_err(|fault| fault.within(PathItem::Index(index)))?;
        let over = |&chunk: &ChunkId| moved.iter().map(move |&(step, way)| (step, way, chunk.0));
        moves.extend(tree.chunks.iter().flat_map(over));
    }
    moves.sort_unstable();
    let of_transfer = |one: &Move, other: &Move| (one.0, one.1) == (other.0, other.1);
    let needed = needed + BYTES_A_TRANSFER * moves.chunk_by(of_transfer).count() as u64;
    if needed > room {
        return Err(too_large(needed));
    }
    let mut transfers = moves.chunk_by(of_transfer).peekable();
    let mut builder = Schedule::builder();
    for (step, &width) in (0..).zip(widths) {
        builder.step(width);
        while let Some(same) = transfers.next_if(|same| same[0].0 == step) {
            let (link, op) = (LinkId(same[0].1 / 2), if same[0].1 % 2 == 0 { Op::Copy } else { Op::Reduce });
            builder.transfer_over(machine, link, op, same.iter().map(|&(_, _, chunk)| ChunkId(chunk)));
        }
    }
    Ok(builder.finish())
}

/// The moves of a tree: the step of each, from 0, and its link and operation.
fn moves_of(tree: &Tree, links: &Links, steps: u32) -> Result<Vec<(u32, u32)>, Fault> {
    let fault = |message: String| Fault::new(FormatCode::F010, message);
    let stated = tree.parents.chars().count();
    if stated != links.ranks {
        let message = format!("`parents` has {stated} letters, but there are {} ranks: give each one", links.ranks);
        return Err(fault(message).at("parents"));
    }
    let letters = (0..).map(RankId).zip(tree.parents.chars()).filter(|&(_, letter)| letter != NO_PARENT);
    let parents = letters.clone().count();
    if parents != tree.steps.len() {
        let message = format!("{} steps for {parents} ranks with a parent: give each one", tree.steps.len());
        return Err(fault(message).at("steps"));
    }
    let one = |(index, ((rank, letter), &step)): (usize, ((RankId, char), &u32))| {
        if step == 0 || step > steps {
            let message = format!("step {step} is none of the {steps} steps");
            return Err(fault(message).within(PathItem::Index(index)).at("steps"));
        }
        let link = links
            .toward(rank, letter, tree.op)
            .ok_or_else(|| fault(format!("rank {rank} has no neighbor in the direction `{letter}`")).at("parents"))?;
        Ok((step - 1, 2 * link.0 + u32::from(tree.op == Op::Reduce)))
    };
    letters.zip(&tree.steps).enumerate().map(one).collect()
}

/// The links from each rank by their directions.
struct Links {
    ranks: usize,
    dims: usize,
    /// Two for each rank and dimension, `x+` before `x-`: the link to the neighbor there, and the one from it.
    of: Vec<[Option<LinkId>; 2]>,
}

impl Links {
    fn new(machine: &Topology, dims: usize) -> Self {
        let ranks = machine.rank_count();
        let mut of = vec![[None; 2]; 2 * dims * ranks];
        let at = |rank: RankId, direction: Direction| {
            2 * (rank.index() * dims + usize::from(direction.dim)) + usize::from(!direction.positive)
        };
        for (id, link) in (0..).map(LinkId).zip(machine.links()) {
            if let Some(direction) = link.direction {
                of[at(link.from, direction)][0] = Some(id);
                of[at(link.to, direction.opposite())][1] = Some(id);
            }
        }
        Self { ranks, dims, of }
    }

    /// The link between a rank and its parent in this direction: to the parent, which it reduces into, or from it.
    fn toward(&self, rank: RankId, letter: char, op: Op) -> Option<LinkId> {
        let dim = LETTERS.find(letter.to_ascii_lowercase()).filter(|&dim| dim < self.dims)?;
        let place = 2 * (rank.index() * self.dims + dim) + usize::from(letter.is_ascii_uppercase());
        self.of[place][usize::from(op == Op::Copy)]
    }
}

#[cfg(test)]
mod tests {
    use super::{NO_PARENT, PER_BYTE, TEXT_A_MOVE, Tree, schedule};
    use collsynth_core::collective::{ChunkId, Collective, Kind};
    use collsynth_core::problem::Problem;
    use collsynth_core::schedule::Op;
    use collsynth_core::topology::{Shape, Topology, TopologySpec, Torus};

    /// Trees of one chunk each, as they are written, are read within what a text of their length may take, however
    /// few moves share a transfer; chunks that share a tree soon take more.
    #[test]
    fn what_is_listed_one_by_one_is_never_too_large() {
        let torus = TopologySpec::new(Shape::Torus(Torus::new(&[6])));
        let problem =
            |parts| Problem::new(Topology::new(torus.clone()).unwrap(), Collective { kind: Kind::AllReduce, parts });
        let tree = |chunks: std::ops::Range<u32>| Tree {
            op: Op::Reduce,
            parents: format!("{NO_PARENT}XXXXX"),
            steps: (5 * chunks.start + 1..=5 * chunks.start + 5).rev().collect(),
            chunks: chunks.map(ChunkId).collect(),
        };
        let room = |trees: &[Tree]| trees.iter().map(|tree| PER_BYTE * TEXT_A_MOVE * tree.steps.len() as u64).sum();
        let alone: Vec<Tree> = (0..3).map(|chunk| tree(chunk..chunk + 1)).collect();
        let read =
            schedule(&problem(3).unwrap(), &[1; 15], &alone, room(&alone)).map_err(|fault| fault.message).unwrap();
        assert_eq!(read.step_count(), read.move_count(), "no moves share a transfer");
        let shared = [tree(0..20)];
        let error = schedule(&problem(20).unwrap(), &[1; 15], &shared, room(&shared)).unwrap_err();
        assert!(error.message.contains("SYNTH_MAX_MEMORY allows more"), "{}", error.message);
    }
}
