//! Sets drawn without replacement: as many draws as sets, however many of all are asked for.

use std::collections::BTreeSet;

/// `draws` different sets of `size` of the numbers below `all`, each as likely as any other; ascending, in order.
/// There are more sets than draws.
pub fn drawn(all: u64, size: u64, draws: u64, seed: u64) -> Vec<Vec<u32>> {
    let mut dice = fastrand::Rng::with_seed(seed);
    let Some(there_are) = choices(all, size) else {
        // Too many to number them: draws hardly ever repeat.
        let mut sets = BTreeSet::new();
        while (sets.len() as u64) < draws {
            let mut set = dice.choose_multiple(0..all as u32, size as usize);
            set.sort_unstable();
            sets.insert(set);
        }
        return sets.into_iter().collect();
    };
    // Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", CACM 1987).
    let mut numbers = BTreeSet::new();
    for last in there_are - draws..there_are {
        let number = dice.u64(..=last);
        if !numbers.insert(number) {
            numbers.insert(last);
        }
    }
    numbers.into_iter().map(|number| set_of(number, all, size)).collect()
}

/// The sets of `size` among `all`; `None`: more than any number of draws.
pub fn choices(all: u64, size: u64) -> Option<u64> {
    let ways = (0..size)
        .try_fold(1_u128, |ways, chosen| Some(ways.checked_mul(u128::from(all - chosen))? / u128::from(chosen + 1)));
    ways.and_then(|ways| ways.try_into().ok()).filter(|&ways| ways < u64::MAX)
}

/// The set of this number, in lexicographic order.
fn set_of(number: u64, all: u64, size: u64) -> Vec<u32> {
    let (mut left, mut set) = (number, Vec::with_capacity(size as usize));
    let mut next = 0;
    for missing in (0..size).rev() {
        // The sets that go on with `next` come before those that go on with a larger member.
        loop {
            let with_next = choices(all - next - 1, missing).unwrap_or(u64::MAX);
            next += 1;
            if left < with_next {
                break;
            }
            left -= with_next;
        }
        set.push((next - 1) as u32);
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_all_sets_in_order() {
        for (all, size) in [(6, 3), (5, 1), (5, 5), (7, 2)] {
            let sets: Vec<Vec<u32>> =
                (0..choices(all, size).unwrap()).map(|number| set_of(number, all, size)).collect();
            assert!(sets.is_sorted_by(|one, next| one < next), "{sets:?}");
            assert!(sets.iter().all(|set| set.is_sorted_by(|one, next| one < next) && set.len() == size as usize));
            assert!(sets.iter().all(|set| set.iter().all(|&member| u64::from(member) < all)));
        }
    }

    /// All pairs of cables of 4x4x4 but one: one draw each, where repeated draws would take ten for each pair.
    #[test]
    fn nearly_all_sets_are_drawn_once() {
        let sets = drawn(192, 2, choices(192, 2).unwrap() - 1, 7);
        assert_eq!(sets.len(), 18_335);
        assert!(sets.is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn every_set_is_as_likely() {
        let mut times = std::collections::BTreeMap::new();
        for seed in 0..4000 {
            for set in drawn(6, 2, 5, seed) {
                *times.entry(set).or_insert(0_u32) += 1;
            }
        }
        // A third of 4000, give or take 5 standard deviations.
        assert_eq!(times.len(), 15);
        assert!(times.values().all(|&times| times.abs_diff(1333) < 150), "{times:?}");
    }

    #[test]
    fn where_there_are_too_many_to_count_sets_are_different_too() {
        assert_eq!(choices(3000, 10), None);
        let sets = drawn(3000, 10, 50, 3);
        assert!(sets.len() == 50 && sets.is_sorted_by(|one, next| one < next));
    }
}
