//! Orders in which equals are evenly apart: trees in such an order load their links evenly at all times.

/// Orders items so that those with the same key are evenly apart; of those due at once, the least key comes first.
pub(super) fn evenly_apart<T, K: Ord>(mut items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    items.sort_by_key(&key);
    let places: Vec<f64> = items
        .chunk_by(|first, second| key(first) == key(second))
        .flat_map(|same| (0..same.len()).map(|number| (number as f64 + 0.5) / same.len() as f64))
        .collect();
    let mut placed: Vec<(f64, T)> = places.into_iter().zip(items).collect();
    placed.sort_by(|(first, _), (second, _)| first.total_cmp(second));
    placed.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_are_evenly_apart() {
        let items = [(0, 50), (1, 30), (2, 20)].into_iter().flat_map(|(item, count)| vec![item; count]).collect();
        let ordered = evenly_apart(items, |&item| item);
        assert_eq!(ordered.len(), 100);
        for taken in 1..=100 {
            for (item, count) in [(0, 50), (1, 30), (2, 20)] {
                let found = ordered[..taken].iter().filter(|&&other| other == item).count();
                assert!((100 * found).abs_diff(taken * count) <= 150, "{found} of {item} among {taken}");
            }
        }
    }
}
