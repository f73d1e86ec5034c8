//! Where decisions come from: a seed, or the bytes of a fuzzer.

/// A source of small decisions. The same source gives the same decisions.
#[derive(Clone, Debug)]
pub struct Dice<'a> {
    source: Source<'a>,
}

#[derive(Clone, Debug)]
enum Source<'a> {
    Seed(u64),
    Bytes(&'a [u8]),
}

impl<'a> Dice<'a> {
    /// Endless decisions from a seed (splitmix64).
    pub fn from_seed(seed: u64) -> Self {
        Self { source: Source::Seed(seed) }
    }

    /// Decisions from bytes, one or two for each; when they are used up, every decision is the first choice.
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self { source: Source::Bytes(bytes) }
    }

    /// A number below `limit`.
    ///
    /// # Panics
    ///
    /// If `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        assert!(limit > 0, "nothing to choose from");
        match &mut self.source {
            Source::Seed(state) => (splitmix(state) % limit as u64) as usize,
            Source::Bytes(bytes) => {
                let wanted = if limit <= 256 { 1 } else { 2 };
                let (now, later) = bytes.split_at(wanted.min(bytes.len()));
                *bytes = later;
                now.iter().fold(0, |number, &byte| number * 256 + usize::from(byte)) % limit
            }
        }
    }

    /// A number from `first` to `last`, both included.
    pub fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    /// Happens in `percent` of a hundred cases; never once the bytes are used up.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of the items.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn pick<'b, T>(&mut self, items: &'b [T]) -> &'b T {
        &items[self.below(items.len())]
    }

    /// Brings the items into any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::Dice;

    #[test]
    fn used_up_bytes_give_the_first_choice() {
        let mut dice = Dice::from_bytes(&[7, 1, 2]);
        assert_eq!((dice.below(10), dice.below(1000), dice.below(10)), (7, 258, 0));
        assert!(!dice.chance(99));
    }

    #[test]
    fn a_seed_repeats() {
        let throw = |seed| (0..50).map(|_| seed).scan(Dice::from_seed(seed), |dice, _| Some(dice.below(6))).collect();
        let (first, second, other): (Vec<_>, Vec<_>, Vec<_>) = (throw(1), throw(1), throw(2));
        assert_eq!(first, second);
        assert_ne!(first, other);
    }
}
