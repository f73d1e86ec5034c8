//! Exceptions in few words: chunks that follow the pattern but for some moves.

use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactError, CompactSchedule, Exceptions, Op, Schedule, Transfer};
use collsynth_core::topology::{Direction, RankId};

/// A transfer without its chunks, and its step.
type Sending = (u32, RankId, RankId, Option<Direction>, Op);

/// A schedule in the compact form, from a pattern, the chunks that do not follow it, and all their moves. Chunks of
/// which that takes fewer words are altered: what the pattern has and they do not is left out, and what they share with
/// it is not stated.
///
/// O(moves of these chunks, and log of those of a chunk in the pattern for each).
///
/// # Errors
///
/// As [`CompactSchedule::new`].
pub fn with_exceptions(
    problem: &Problem,
    pattern: Schedule,
    chunks: Vec<ChunkId>,
    moves: Schedule,
) -> Result<CompactSchedule, CompactError> {
    let whole = CompactSchedule::new(problem, pattern, None, Exceptions::replacing(chunks, moves))?;
    let exceptions = shorter(&whole);
    if exceptions.without.move_count() == 0 {
        return Ok(whole);
    }
    // A move that a pattern makes twice cannot be left out.
    let shorter = CompactSchedule::new(problem, whole.pattern().clone(), None, exceptions);
    Ok(shorter.unwrap_or(whole))
}

/// Chunks of rank 0, each with its moves in the pattern, sorted.
struct Followed(Vec<(ChunkId, Sending)>);

impl Followed {
    fn new(pattern: &Schedule) -> Self {
        let mut moves: Vec<_> = sendings(pattern).map(|(sending, chunk)| (chunk, sending)).collect();
        moves.sort_unstable();
        Self(moves)
    }

    fn of(&self, chunk: ChunkId) -> &[(ChunkId, Sending)] {
        let first = self.0.partition_point(|one| one.0 < chunk);
        &self.0[first..first + self.0[first..].partition_point(|one| one.0 == chunk)]
    }
}

/// A chunk that does not follow the pattern.
struct Exception<'a> {
    owner: RankId,
    /// What it would do if it followed, as seen from its owner.
    followed: &'a [(ChunkId, Sending)],
    /// Which of these moves it makes.
    shares: Vec<bool>,
    own_moves: usize,
    not_shared: usize,
}

impl Exception<'_> {
    /// Are there fewer words for where it departs from the pattern than for all its moves?
    fn is_altered(&self) -> bool {
        let left_out = self.shares.iter().filter(|shares| !**shares).count();
        left_out > 0 && left_out + self.not_shared < self.own_moves
    }
}

/// The same exceptions, altered where that takes fewer words.
fn shorter(schedule: &CompactSchedule) -> Exceptions {
    let (translation, followed) = (schedule.translation(), Followed::new(schedule.pattern()));
    let Exceptions { chunks, moves, .. } = schedule.exceptions();
    let mut listed: Vec<Exception<'_>> = chunks
        .iter()
        .map(|&chunk| {
            let (of_rank_0, owner) = translation.seen_from_rank_0(chunk);
            let followed = followed.of(of_rank_0);
            Exception { owner, followed, shares: vec![false; followed.len()], own_moves: 0, not_shared: 0 }
        })
        .collect();
    let index = |chunk: ChunkId| chunks.binary_search(&chunk).expect("only exceptions have moves of their own");
    // The index of a move of the pattern, seen from the owner of a chunk.
    let place = |one: &Exception<'_>, (step, from, to, via, op): Sending| {
        let [from, to] = [from, to].map(|rank| translation.between(one.owner, rank));
        one.followed.binary_search_by_key(&(step, from, to, via, op), |entry| entry.1).ok()
    };
    let mut own = Vec::new();
    for (sending, chunk) in sendings(moves) {
        let one = &mut listed[index(chunk)];
        one.own_moves += 1;
        match place(one, sending) {
            // A move of the pattern serves for one.
            Some(at) if !one.shares[at] => one.shares[at] = true,
            _ => {
                one.not_shared += 1;
                own.push((sending, chunk));
            }
        }
    }
    let is_altered: Vec<bool> = listed.iter().map(Exception::is_altered).collect();
    let mut without = Vec::new();
    for (&chunk, one) in chunks.iter().zip(&listed).zip(&is_altered).filter(|one| *one.1).map(|one| one.0) {
        let left_out = one.followed.iter().zip(&one.shares).filter(|(_, shares)| !**shares);
        without.extend(left_out.map(|(&(_, (step, from, to, via, op)), _)| {
            let [from, to] = [from, to].map(|rank| translation.rank(rank, one.owner));
            ((step, from, to, via, op), chunk)
        }));
    }
    own.retain(|&(_, chunk)| is_altered[index(chunk)]);
    own.extend(sendings(moves).filter(|&(_, chunk)| !is_altered[index(chunk)]));
    let kept = chunks.iter().zip(&is_altered).filter(|(_, is_altered)| !**is_altered).map(|(&chunk, _)| chunk);
    let [without, moves] = [without, own].map(|stated| written(stated, moves.widths()));
    Exceptions { chunks: kept.collect(), without, moves }
}

/// The moves of a schedule.
fn sendings(schedule: &Schedule) -> impl Iterator<Item = (Sending, ChunkId)> + '_ {
    schedule.steps().flat_map(move |step| {
        step.transfers.iter().flat_map(move |transfer| {
            let Transfer { from, to, via, op, .. } = *transfer;
            let sending = (step.number, from, to, via, op);
            schedule.chunks(transfer).iter().map(move |&chunk| (sending, chunk))
        })
    })
}

/// Moves as a schedule of steps of these widths.
fn written(mut moves: Vec<(Sending, ChunkId)>, widths: impl Iterator<Item = u32>) -> Schedule {
    moves.sort_unstable();
    let mut rest = &moves[..];
    let mut builder = Schedule::builder();
    for (number, width) in (1..).zip(widths) {
        builder.step(width);
        let (of_step, later) = rest.split_at(rest.partition_point(|one| one.0.0 <= number));
        rest = later;
        for same in of_step.chunk_by(|a, b| a.0 == b.0) {
            let ((_, from, to, via, op), _) = same[0];
            builder.transfer(from, to, via, op, same.iter().map(|one| one.1));
        }
    }
    builder.finish()
}
