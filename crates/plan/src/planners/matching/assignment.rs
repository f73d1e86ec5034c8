//! Which of the chunks that a rank lacks come over which of its links, in one step.
//!
//! Links with room for some chunks each, and chunks that may come over some of the links: sets of chunks that can all
//! come form a matroid, so taking the most wanted first brings the most, and of the most the most wanted. If all links
//! of a chunk are full, chunks taken before make room by moving on to other links, along a shortest chain.

/// The assignment to the links of one rank; room is used up from call to call of `offer`.
#[derive(Default)]
pub(super) struct Assignment {
    room: Vec<u32>,
    /// By link: the chunks it brings, and the links they could come over, as bits.
    taken: Vec<Vec<(u32, u64)>>,
    /// Links that cannot get room again: no chunk on them could come over another.
    closed: u64,
    /// By link: the link that a chain came from, in a search.
    before: Vec<Option<u8>>,
}

/// In a chain: the chunk offered comes first.
const START: u8 = u8::MAX;

impl Assignment {
    /// Empties the links, which have this room.
    pub fn reset(&mut self, room: impl Iterator<Item = u32>) {
        self.room.clear();
        self.room.extend(room);
        self.taken.iter_mut().for_each(Vec::clear);
        self.taken.resize_with(self.room.len().max(self.taken.len()), Vec::new);
        self.closed = 0;
    }

    /// Can no link bring anything more?
    pub fn is_full(&self) -> bool {
        self.room.iter().all(|&room| room == 0)
    }

    /// Takes a chunk that could come over these links, if there can be room for it.
    pub fn offer(&mut self, chunk: u32, links: u64) -> bool {
        let widest = bits(links).max_by_key(|&link| self.room[link]).filter(|&link| self.room[link] > 0);
        if let Some(link) = widest {
            self.room[link] -= 1;
            self.taken[link].push((chunk, links));
            return true;
        }
        if links & !self.closed == 0 {
            return false;
        }
        match self.chain(links) {
            Some(last) => {
                self.shift(last, chunk, links);
                true
            }
            None => {
                let reached = (0..self.room.len()).filter(|&link| self.before[link].is_some());
                self.closed |= reached.fold(0, |closed, link| closed | 1 << link);
                false
            }
        }
    }

    /// The chunks that each link brings.
    pub fn taken(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.taken.iter().enumerate().flat_map(|(link, taken)| taken.iter().map(move |&(chunk, _)| (link, chunk)))
    }

    /// The most chunks, for each unit of capacity, that a link brings.
    pub fn needed_width(&self, capacity: impl Iterator<Item = u32>) -> u32 {
        capacity
            .zip(&self.taken)
            .map(|(capacity, taken)| (taken.len() as u32).div_ceil(capacity.max(1)))
            .max()
            .unwrap_or(0)
    }

    /// Finds a link with room at the end of a shortest chain.
    fn chain(&mut self, links: u64) -> Option<usize> {
        self.before.clear();
        self.before.resize(self.room.len(), None);
        let mut queue: Vec<usize> = bits(links).collect();
        queue.iter().for_each(|&link| self.before[link] = Some(START));
        let mut next = 0;
        while let Some(&link) = queue.get(next) {
            next += 1;
            let others = self.taken[link].iter().fold(0, |others, &(_, links)| others | links);
            for other in bits(others) {
                if self.before[other].is_none() {
                    self.before[other] = Some(link as u8);
                    if self.room[other] > 0 {
                        return Some(other);
                    }
                    queue.push(other);
                }
            }
        }
        None
    }

    /// Moves a chunk along each link of the chain that ends here, and takes the new one at its beginning.
    fn shift(&mut self, last: usize, chunk: u32, links: u64) {
        self.room[last] -= 1;
        let mut link = last;
        while let Some(before) = self.before[link].filter(|&before| before != START) {
            let from = usize::from(before);
            let moves = self.taken[from].iter().rposition(|&(_, links)| links >> link & 1 == 1);
            let moved = self.taken[from].swap_remove(moves.expect("the chain leads over this link"));
            self.taken[link].push(moved);
            link = from;
        }
        self.taken[link].push((chunk, links));
    }
}

/// The numbers of the bits that are set, ascending.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (bit < 64).then_some(bit as usize)
    })
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// The most chunks that can come: over all subsets of the links of chunks, by trying every choice.
    fn most(room: &mut [u32], chunks: &[u64]) -> usize {
        let Some((&links, rest)) = chunks.split_first() else { return 0 };
        let mut best = most(room, rest);
        for link in bits(links) {
            if room[link] > 0 {
                room[link] -= 1;
                best = best.max(1 + most(room, rest));
                room[link] += 1;
            }
        }
        best
    }

    #[test]
    fn as_many_chunks_come_as_can() {
        let mut rng = Rng::with_seed(1);
        let mut assignment = Assignment::default();
        for _ in 0..400 {
            let links = rng.usize(1..4);
            let room: Vec<u32> = (0..links).map(|_| rng.u32(0..3)).collect();
            let chunks: Vec<u64> = (0..rng.usize(0..8)).map(|_| rng.u64(1..1 << links)).collect();
            assignment.reset(room.iter().copied());
            let taken = (0..).zip(&chunks).filter(|&(chunk, &links)| assignment.offer(chunk, links)).count();
            assert_eq!(taken, most(&mut room.clone(), &chunks), "{room:?} {chunks:?}");
            assert_eq!(assignment.taken().count(), taken);
            for (link, chunk) in assignment.taken() {
                assert!(chunks[chunk as usize] >> link & 1 == 1);
            }
            for (link, &room) in room.iter().enumerate() {
                assert!(assignment.taken().filter(|&(over, _)| over == link).count() <= room as usize);
            }
        }
    }
}
