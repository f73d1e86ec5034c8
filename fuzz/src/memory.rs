//! Memory in proportion to the input.

use peak_alloc::PeakAlloc;

use crate::targets::Target;

/// Memory that any input may take.
pub const FREE: usize = 64 << 20;

/// Memory that an input may take beyond [`FREE`], for each of its bytes.
pub const PER_BYTE: usize = 40;

/// Runs a target on an input, with the memory it takes counted by `allocator`, the program's global one.
///
/// # Panics
///
/// If the target does, or if it held more than [`FREE`] bytes and [`PER_BYTE`] for each byte of the input at a time.
pub fn survive(target: Target, input: &[u8], allocator: &PeakAlloc) {
    let before = allocator.current_usage();
    allocator.reset_peak_usage();
    target(input);
    let held = allocator.peak_usage().saturating_sub(before);
    let most = FREE + PER_BYTE * input.len();
    assert!(held <= most, "{} bytes of input took {held} bytes of memory, more than {most}", input.len());
}
