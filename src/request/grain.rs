//! How large the chunks of a job are beside its messages.

use collsynth_core::certificate::Rational;

/// The most parts of the smallest message before planning cuts it, and how much larger rounding up to whole chunks may
/// make a message then.
const MOST_CUT: u32 = 16;
const ROUNDED: f64 = 1.01;
/// Where chunks cross links so often, they are larger than the smallest messages, as long as that adds no more than
/// this share to what links carry; and so often they may cross them at most, whatever that adds.
const MANY_MOVES: f64 = 4e5;
const ADDED: f64 = 0.01;
const MOST_MOVES: f64 = 4e6;

/// The size of a chunk, as a share of the smallest message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// The smallest message is cut in this many parts.
    Part(u32),
    /// A chunk has room for this many of the smallest messages.
    Times(u64),
}

/// What is known of a collective before its chunks are.
pub struct Load {
    /// The bytes of a message.
    pub bytes: u64,
    /// What all its messages take, at least, in messages.
    pub volume: Rational,
}

impl Grain {
    /// The chunks of a message, rounded up.
    pub fn parts(self, bytes: u64, least: u64) -> u128 {
        match self {
            Self::Part(cut) => (u128::from(bytes) * u128::from(cut)).div_ceil(least.into()),
            Self::Times(times) => u128::from(bytes).div_ceil(u128::from(least) * u128::from(times)),
        }
    }

    /// The bytes of a chunk, rounded up.
    pub fn bytes(self, least: u64) -> u64 {
        match self {
            Self::Part(cut) => least.div_ceil(cut.max(1).into()),
            Self::Times(times) => least.saturating_mul(times),
        }
    }

    /// How many parts of a byte or more a chunk can be cut in.
    pub fn most_cut(self, least: u64) -> u64 {
        match self {
            Self::Part(cut) => (least / u64::from(cut)).max(1),
            Self::Times(_) => self.bytes(least),
        }
    }

    /// How much larger rounding up to whole chunks makes a message.
    fn rounded(self, bytes: u64, least: u64) -> f64 {
        let chunk = match self {
            Self::Part(cut) => least as f64 / f64::from(cut),
            Self::Times(times) => least as f64 * times as f64,
        };
        self.parts(bytes, least) as f64 * chunk / bytes as f64
    }

    /// Chunks larger than the smallest message, where they would be many otherwise: `None` if they are not, or if that
    /// costs too much.
    pub fn coarse(loads: &[Load], least: u64, links: usize) -> Option<Self> {
        let carried = |load: &Load| *load.volume.numer() as f64 / *load.volume.denom() as f64 * load.bytes as f64;
        // Any one of them may be what bounds the job.
        let most = loads.iter().map(carried).fold(0.0, f64::max);
        let added = |grain: Self| -> f64 {
            loads.iter().map(|load| carried(load) * (grain.rounded(load.bytes, least) - 1.0)).sum::<f64>() / most
        };
        let moves = |grain: Self| -> f64 {
            let chunks = |load: &Load| carried(load) / load.bytes as f64 * grain.parts(load.bytes, least) as f64;
            loads.iter().map(chunks).sum::<f64>() * links as f64
        };
        let largest = loads.iter().map(|load| load.bytes).max().unwrap_or(least);
        let mut grain = Self::Part(1);
        for times in (1..u64::BITS).map(|power| 1 << power).take_while(|times| largest / times >= least) {
            let coarser = Self::Times(times);
            if moves(grain) <= MANY_MOVES || (moves(grain) <= MOST_MOVES && added(coarser) > ADDED) {
                break;
            }
            grain = coarser;
        }
        (grain != Self::Part(1)).then_some(grain)
    }

    /// The smallest message in parts: the fewest in which all messages are nearly whole chunks, as planning multiplies
    /// what is rounded up. `fits` says whether there are too many chunks for that.
    pub fn fine(messages: &[u64], least: u64, fits: impl Fn(Self) -> bool) -> Self {
        let rounded = |grain: Self| messages.iter().map(|&bytes| grain.rounded(bytes, least)).fold(1.0, f64::max);
        let most = u32::try_from(least).unwrap_or(u32::MAX).min(MOST_CUT);
        let cuts = (1..=most).map(Self::Part).take_while(|&grain| fits(grain)).map(|grain| (grain, rounded(grain)));
        let cuts: Vec<(Self, f64)> = cuts.collect();
        let nearly = cuts.iter().find(|(_, rounded)| *rounded <= ROUNDED);
        let least_rounded = || cuts.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        nearly.or_else(least_rounded).map_or(Self::Part(1), |(grain, _)| *grain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(bytes: u64, volume: i128) -> Load {
        Load { bytes, volume: Rational::from(volume) }
    }

    #[test]
    fn chunks_are_larger_than_the_smallest_messages_where_those_matter_little() {
        const KIB: u64 = 1 << 10;
        let coarse = |loads: &[Load]| Grain::coarse(loads, KIB, 1000);
        assert_eq!(coarse(&[load(KIB, 10), load(30 * KIB, 10)]), None, "there are few moves");
        // 10 million moves; messages of a KiB take a ten thousandth of the links.
        assert_eq!(coarse(&[load(KIB, 1), load(1000 * KIB, 10)]), Some(Grain::Times(16)));
        // Here they take a tenth, but 11 million moves are too many.
        assert_eq!(coarse(&[load(KIB, 1000), load(1000 * KIB, 10)]), Some(Grain::Times(4)));
        assert_eq!(coarse(&[load(KIB, 1000), load(300 * KIB, 10)]), None);
        // No message is cut less than it is.
        assert_eq!(coarse(&[load(KIB, 1_000_000), load(3 * KIB, 1)]), Some(Grain::Times(2)));
    }

    #[test]
    fn messages_are_rounded_up_to_whole_chunks() {
        assert_eq!([Grain::Part(3).parts(10, 4), Grain::Times(3).parts(25, 4)], [8, 3]);
        assert_eq!([Grain::Part(3).bytes(4), Grain::Times(3).bytes(4), Grain::Part(0).bytes(4)], [2, 12, 4]);
        assert_eq!([Grain::Part(3).most_cut(4), Grain::Part(9).most_cut(4), Grain::Times(3).most_cut(4)], [1, 1, 12]);
        assert_eq!(Grain::Part(1).parts(u64::MAX, 1), u128::from(u64::MAX));
    }
}
