//! Conversions between 16-bit and 32-bit floating-point numbers, without branches and tables, so that loops vectorize.
//!
//! `bf16` is the upper half of an `f32`. `f16` has 5 bits of exponent instead of 8, and 10 of fraction instead of 23:
//! its bits, shifted left by 13, are an `f32` that is 2^112 times too small, subnormal numbers included.
//!
//! Narrowing rounds to nearest, ties to even: adding half of the dropped range (less one bit, plus the last bit kept)
//! carries into that bit exactly when it must. The subnormal numbers of `f16` are the multiples of 2^-24, the spacing
//! of `f32` between one half and one: adding one half makes the machine round to them.

use half::{bf16, f16};

/// The exponent of an `f32` that is not finite.
const INFINITE: u32 = 0x7f80_0000;
/// 2^112
const UP: f32 = f32::from_bits((127 + 112) << 23);
/// 2^-14, the least normal `f16`, as the bits of an `f32`.
const LEAST_NORMAL: u32 = (127 - 14) << 23;
/// 2^16, infinite as `f16`, like everything that rounds to it.
const TOO_LARGE: u32 = (127 + 16) << 23;

/// As [`bf16::to_f32`], but NaN keeps its bits.
pub(crate) fn bf16_to_f32(number: bf16) -> f32 {
    f32::from_bits(u32::from(number.to_bits()) << 16)
}

/// As [`bf16::from_f32`].
pub(crate) fn f32_to_bf16(number: f32) -> bf16 {
    let bits = number.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let quiet = bits | 0x40_0000;
    let bits = if number.is_nan() { quiet } else { rounded };
    bf16::from_bits((bits >> 16) as u16)
}

/// As [`f16::to_f32`], but NaN keeps its bits.
pub(crate) fn f16_to_f32(number: f16) -> f32 {
    let bits = i32::from(number.to_bits().cast_signed()).cast_unsigned();
    let moved = (bits & 0x7fff) << 13;
    let infinite = if moved >= 0x1f << 23 { INFINITE } else { 0 };
    f32::from_bits((f32::from_bits(moved) * UP).to_bits() | infinite | bits & 0x8000_0000)
}

/// As [`f16::from_f32`].
pub(crate) fn f32_to_f16(number: f32) -> f16 {
    let bits = number.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let limited = magnitude.min(TOO_LARGE);
    let normal = limited.wrapping_sub(112 << 23).wrapping_add(0xfff + (limited >> 13 & 1)) >> 13;
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    let rounded = if magnitude < LEAST_NORMAL { subnormal } else { normal };
    let quiet = 0x7e00 | magnitude >> 13 & 0x3ff;
    let rounded = if number.is_nan() { quiet } else { rounded };
    f16::from_bits((rounded | bits >> 16 & 0x8000) as u16)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

    #[test]
    fn every_number_of_16_bits_is_widened_as_its_type_says() {
        for bits in 0..=u16::MAX {
            let same = |ours: f32, theirs: f32| ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan();
            assert!(same(bf16_to_f32(bf16::from_bits(bits)), bf16::from_bits(bits).to_f32()), "{bits:x}");
            assert!(same(f16_to_f32(f16::from_bits(bits)), f16::from_bits(bits).to_f32()), "{bits:x}");
        }
    }

    #[test]
    fn numbers_are_rounded_to_16_bits_as_their_type_says() {
        // All signs, exponents and upper bits, with lower bits beside every tie of both types.
        let lower =
            [0, 1, 0x0fff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0x7fff, 0x8000, 0x8001, 0xefff, 0xf000, 0xffff];
        for upper in 0..=u16::MAX {
            for low in lower {
                let number = f32::from_bits(u32::from(upper) << 16 | low);
                assert_eq!(f32_to_bf16(number).to_bits(), bf16::from_f32(number).to_bits(), "{number:e}");
                assert_eq!(f32_to_f16(number).to_bits(), f16::from_f32(number).to_bits(), "{number:e}");
            }
        }
    }
}
