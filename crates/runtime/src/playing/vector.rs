//! Loops that combine two rows of elements with the machine's widest vector instructions, chosen at run time. Results
//! have the same bits on all machines, except for the bits of a NaN and the sign of the minimum or maximum of zeros of
//! both signs.

use half::{bf16, f16};
use pulp::Arch;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V4;

use super::sixteen::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// `into[i] = combined(own[i], into[i])`, for all `i` below the shorter length.
pub(crate) fn combine<E: Copy>(own: &[E], into: &mut [E], combined: impl Fn(E, E) -> E) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (into, &own) in into.iter_mut().zip(own) {
                *into = combined(own, *into);
            }
        },
    );
}

/// As [`combine`], but computed in `f32` and rounded back.
pub(crate) fn combine_bf16(own: &[bf16], into: &mut [bf16], combined: impl Fn(f32, f32) -> f32) {
    combine(own, into, |own, other| f32_to_bf16(combined(bf16_to_f32(own), bf16_to_f32(other))));
}

/// As [`combine_bf16`], with AVX-512 conversions where the machine has them.
pub(crate) fn combine_f16(own: &[f16], into: &mut [f16], combined: impl Fn(f32, f32) -> f32) {
    let length = own.len().min(into.len());
    let (own, into) = (&own[..length], &mut into[..length]);
    #[cfg(target_arch = "x86_64")]
    let (own, into) = match V4::try_new() {
        Some(machine) => combine_whole(machine, own, into, &combined),
        None => (own, into),
    };
    combine(own, into, |own, other| f32_to_f16(combined(f16_to_f32(own), f16_to_f32(other))));
}

/// Combines 16 numbers at a time; returns the rest.
#[cfg(target_arch = "x86_64")]
fn combine_whole<'a>(
    machine: V4,
    own: &'a [f16],
    into: &'a mut [f16],
    combined: impl Fn(f32, f32) -> f32,
) -> (&'a [f16], &'a mut [f16]) {
    const NEAREST: i32 = 0;
    let (own, rest_of_own) = own.as_chunks::<16>();
    let (into, rest) = into.as_chunks_mut::<16>();
    machine.vectorize(
        #[inline(always)]
        || {
            let widened =
                |numbers: [f16; 16]| -> [f32; 16] { pulp::cast(machine.avx512f._mm512_cvtph_ps(pulp::cast(numbers))) };
            for (into, &own) in into.iter_mut().zip(own) {
                let (own, other) = (widened(own), widened(*into));
                let results: [f32; 16] = std::array::from_fn(|at| combined(own[at], other[at]));
                *into = pulp::cast(machine.avx512f._mm512_cvtps_ph::<NEAREST>(pulp::cast(results)));
            }
        },
    );
    (rest_of_own, rest)
}
