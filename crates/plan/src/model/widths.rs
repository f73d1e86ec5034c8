//! The distribution of a total width over steps.

/// Distributes `total` over `steps` as evenly as possible, the wider steps first; every step has at least width 1, so
/// the sum exceeds `total` if that is less than `steps`. Empty for 0 steps.
///
/// ```
/// # use collsynth_plan::even_widths;
/// assert_eq!(even_widths(34, 6), [6, 6, 6, 6, 5, 5]);
/// assert_eq!(even_widths(2, 3), [1, 1, 1]);
/// ```
pub fn even_widths(total: u32, steps: u32) -> Vec<u32> {
    (0..steps).map(|step| (total / steps + u32::from(step < total % steps)).max(1)).collect()
}

/// Distributes `total` over `steps` as evenly as the limits allow: at most `early[t]` in the first `t + 1` steps, at
/// most `late[t]` in the last `t + 1` (no limit beyond their ends), and at least 1 in every step, which takes
/// precedence over the limits. `total` must be at least `steps`.
///
/// ```
/// # use collsynth_plan::bounded_widths;
/// assert_eq!(bounded_widths(15, 5, &[1], &[1]), [1, 4, 4, 5, 1]);
/// ```
pub fn bounded_widths(total: u32, steps: u32, early: &[u32], late: &[u32]) -> Vec<u32> {
    let mut sum = 0;
    (1..=steps)
        .map(|step| {
            let after = steps - step;
            let most = early.get(step as usize - 1).map_or(total, |&most| most.min(total));
            let last = after.checked_sub(1).and_then(|after| late.get(after as usize));
            let least = last.map_or(0, |&most| total.saturating_sub(most));
            let even = sum + (total - sum).div_ceil(after + 1);
            let target = if after == 0 { total } else { even.min(most).max(least) };
            let width = target.saturating_sub(sum).clamp(1, total - sum - after);
            sum += width;
            width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{bounded_widths, even_widths};

    proptest! {
        #[test]
        fn widths_add_up_and_none_is_zero(
            steps in 1_u32..20,
            more in 0_u32..200,
            early in prop::collection::vec(0_u32..50, 0..6),
            late in prop::collection::vec(0_u32..50, 0..6),
        ) {
            let total = steps + more;
            for widths in [even_widths(total, steps), bounded_widths(total, steps, &early, &late)] {
                prop_assert_eq!(widths.iter().sum::<u32>(), total);
                prop_assert!(widths.len() == steps as usize && !widths.contains(&0));
            }
        }
    }
}
