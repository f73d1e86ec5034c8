//! Room for chunks that only pass through a rank.

use std::collections::BTreeMap;

/// The scratch of one rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Free stretches below the peak: first slot, and one past the last.
    free: BTreeMap<u32, u32>,
    /// The most slots in use so far.
    pub(super) peak: u32,
}

impl Scratch {
    /// Takes consecutive slots: in the first stretch they fit in, else at the end. O(free stretches).
    pub(super) fn take(&mut self, count: u32) -> u32 {
        if count == 0 {
            return 0;
        }
        let fitting = self.free.iter().find(|&(&start, &end)| end - start >= count).map(|(&start, &end)| (start, end));
        if let Some((start, end)) = fitting {
            self.free.remove(&start);
            if start + count < end {
                self.free.insert(start + count, end);
            }
            return start;
        }
        // A free stretch at the very end is extended.
        let start = match self.free.last_key_value() {
            Some((&start, &end)) if end == self.peak => start,
            _ => self.peak,
        };
        self.free.remove(&start);
        self.peak = start + count;
        start
    }

    /// Gives a slot back. O(log free stretches).
    pub(super) fn free(&mut self, slot: u32) {
        let before = self.free.range(..slot).next_back().filter(|&(_, &end)| end == slot).map(|(&start, _)| start);
        let after = self.free.remove(&(slot + 1));
        self.free.insert(before.unwrap_or(slot), after.unwrap_or(slot + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::Scratch;

    #[test]
    fn slots_are_used_again() {
        let mut scratch = Scratch::default();
        assert_eq!((scratch.take(3), scratch.take(2), scratch.take(0)), (0, 3, 0));
        for slot in [2, 0, 1] {
            scratch.free(slot);
        }
        assert_eq!((scratch.take(2), scratch.take(2), scratch.peak), (0, 5, 7));
        scratch.free(6);
        assert_eq!((scratch.take(1), scratch.peak), (2, 7));
        assert_eq!((scratch.take(3), scratch.peak), (6, 9), "the free stretch at the end is extended");
    }
}
