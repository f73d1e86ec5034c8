//! Sharing a total width out over steps.

/// `total` shared out over `steps` as evenly as can be, the wider steps first; every step has at least width 1, so the
/// sum is larger than `total` where there are more steps than that. None for 0 steps.
///
/// ```
/// # use synth::plan::even_widths;
/// assert_eq!(even_widths(34, 6), [6, 6, 6, 6, 5, 5]);
/// assert_eq!(even_widths(2, 3), [1, 1, 1]);
/// ```
pub fn even_widths(total: u32, steps: u32) -> Vec<u32> {
    (0..steps).map(|step| (total / steps + u32::from(step < total % steps)).max(1)).collect()
}
