//! What buffers are made of, and how two values become one.

use std::fmt;
use std::str::FromStr;

use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use thiserror::Error;

/// Numbers of type `f16` that are converted at a time.
const CONVERTED: usize = 256;

/// How values are combined where a schedule says `reduce`.
///
/// Integers wrap around (sums and products modulo 2^bits). Floating-point results are rounded after every operation;
/// `f16` and `bf16` are computed in `f32` and rounded back. The least and the greatest leave NaN out where the other
/// value is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// a + b
    Sum,
    /// a * b
    Product,
    /// The lesser
    Min,
    /// The greater
    Max,
}

/// The type of an element, as a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say all")]
pub enum Dtype {
    F32,
    F64,
    F16,
    Bf16,
    I32,
    I64,
    U8,
}

/// No operation, or no type of elements, has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}` is none of {known}")]
pub struct UnknownName {
    name: String,
    known: String,
}

/// A type that collectives work on: `f32`, `f64`, `f16`, `bf16`, `i32`, `i64`, `u8`. Its bytes travel as they stand in
/// memory.
pub trait Element: Pod + PartialEq + fmt::Debug + Send + Sync {
    /// Its name.
    const DTYPE: Dtype;

    /// `into[i] = own[i] op into[i]`, for all `i` below the shorter length.
    fn combine(op: Operation, own: &[Self], into: &mut [Self]);
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 4] = [Self::Sum, Self::Product, Self::Min, Self::Max];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

impl Dtype {
    /// All types.
    pub const ALL: [Self; 7] = [Self::F32, Self::F64, Self::F16, Self::Bf16, Self::I32, Self::I64, Self::U8];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
        }
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }
}

impl FromStr for Operation {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        named(text, &Self::ALL, Self::name)
    }
}

impl FromStr for Dtype {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        named(text, &Self::ALL, Self::name)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn named<T: Copy>(text: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, UnknownName> {
    let known = || all.iter().map(|&one| name(one)).collect::<Vec<_>>().join(", ");
    let found = all.iter().copied().find(|&one| name(one) == text);
    found.ok_or_else(|| UnknownName { name: text.to_owned(), known: known() })
}

fn apply<E: Copy>(own: &[E], into: &mut [E], combined: impl Fn(E, E) -> E) {
    for (into, &own) in into.iter_mut().zip(own) {
        *into = combined(own, *into);
    }
}

macro_rules! integers {
    ($($element:ty => $dtype:ident),*) => {$(
        impl Element for $element {
            const DTYPE: Dtype = Dtype::$dtype;

            fn combine(op: Operation, own: &[Self], into: &mut [Self]) {
                match op {
                    Operation::Sum => apply(own, into, Self::wrapping_add),
                    Operation::Product => apply(own, into, Self::wrapping_mul),
                    Operation::Min => apply(own, into, Self::min),
                    Operation::Max => apply(own, into, Self::max),
                }
            }
        }
    )*};
}

macro_rules! floats {
    ($($element:ty => $dtype:ident),*) => {$(
        impl Element for $element {
            const DTYPE: Dtype = Dtype::$dtype;

            fn combine(op: Operation, own: &[Self], into: &mut [Self]) {
                match op {
                    Operation::Sum => apply(own, into, |a, b| a + b),
                    Operation::Product => apply(own, into, |a, b| a * b),
                    Operation::Min => apply(own, into, Self::min),
                    Operation::Max => apply(own, into, Self::max),
                }
            }
        }
    )*};
}

integers!(i32 => I32, i64 => I64, u8 => U8);
floats!(f32 => F32, f64 => F64);

impl Element for f16 {
    const DTYPE: Dtype = Dtype::F16;

    fn combine(op: Operation, own: &[Self], into: &mut [Self]) {
        // Whole slices are converted many times faster than single numbers.
        let (mut left, mut right) = ([0.0_f32; CONVERTED], [0.0_f32; CONVERTED]);
        for (own, into) in own.chunks(CONVERTED).zip(into.chunks_mut(CONVERTED)) {
            let length = own.len().min(into.len());
            let (own, into) = (&own[..length], &mut into[..length]);
            let (left, right) = (&mut left[..length], &mut right[..length]);
            own.convert_to_f32_slice(left);
            into.convert_to_f32_slice(right);
            f32::combine(op, left, right);
            into.convert_from_f32_slice(right);
        }
    }
}

impl Element for bf16 {
    const DTYPE: Dtype = Dtype::Bf16;

    fn combine(op: Operation, own: &[Self], into: &mut [Self]) {
        match op {
            Operation::Sum => apply(own, into, |a, b| narrowed(widened(a) + widened(b))),
            Operation::Product => apply(own, into, |a, b| narrowed(widened(a) * widened(b))),
            Operation::Min => apply(own, into, |a, b| narrowed(widened(a).min(widened(b)))),
            Operation::Max => apply(own, into, |a, b| narrowed(widened(a).max(widened(b)))),
        }
    }
}

/// As [`bf16::to_f32`], but that NaN stays the NaN it is.
fn widened(number: bf16) -> f32 {
    f32::from_bits(u32::from(number.to_bits()) << 16)
}

/// As [`bf16::from_f32`], to the nearest, ties to even, but without branches: loops of it become vector instructions.
fn narrowed(number: f32) -> bf16 {
    let bits = number.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let quiet = bits | 0x40_0000;
    let bits = if number.is_nan() { quiet } else { rounded };
    bf16::from_bits((bits >> 16) as u16)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::{Dtype, Element, Operation, narrowed, widened};

    fn combined<E: Element>(op: Operation, own: E, other: E) -> E {
        let mut into = [other];
        E::combine(op, &[own], &mut into);
        into[0]
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(combined(Operation::Sum, 200_u8, 100), 44);
        assert_eq!(combined(Operation::Product, i32::MAX, 2), -2);
        assert_eq!((combined(Operation::Min, -3_i64, 2), combined(Operation::Max, -3_i64, 2)), (-3, 2));
    }

    #[test]
    fn floats_round_and_leave_nan_out() {
        assert_eq!(combined(Operation::Sum, 1.5_f32, 2.25), 3.75);
        assert_eq!(combined(Operation::Max, f64::NAN, 2.0), 2.0);
        assert_eq!(combined(Operation::Min, 2.0, f64::NAN), 2.0);
        assert_eq!(combined(Operation::Sum, f16::from_f32(2048.0), f16::from_f32(1.0)), f16::from_f32(2048.0));
        assert_eq!(combined(Operation::Product, bf16::from_f32(3.0), bf16::from_f32(5.0)), bf16::from_f32(15.0));
        assert_eq!(combined(Operation::Min, f16::from_f32(-1.0), f16::NAN), f16::from_f32(-1.0));
    }

    #[test]
    fn numbers_of_16_bits_are_rounded_as_their_type_says() {
        for high in 0..=u16::MAX {
            let number = bf16::from_bits(high);
            assert!(widened(number) == number.to_f32() || number.is_nan() && widened(number).is_nan());
            for low in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff] {
                let number = f32::from_bits(u32::from(high) << 16 | low);
                assert_eq!(narrowed(number).to_bits(), bf16::from_f32(number).to_bits(), "{number}");
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        assert!(Dtype::ALL.iter().all(|dtype| dtype.name().parse() == Ok(*dtype)));
        assert!(Operation::ALL.iter().all(|op| op.name().parse() == Ok(*op)));
        let error = "f8".parse::<Dtype>().unwrap_err();
        assert_eq!(error.to_string(), "`f8` is none of f32, f64, f16, bf16, i32, i64, u8");
    }
}
