//! The elements of buffers, and operations that combine them.

use std::fmt;
use std::str::FromStr;

use bytemuck::Pod;
use half::{bf16, f16};
use thiserror::Error;

use super::vector::{combine, combine_bf16, combine_f16};

/// How a `reduce` combines values.
///
/// Integers wrap around (sums and products modulo 2^bits). Floating-point results are rounded after every operation;
/// `f16` and `bf16` are computed in `f32` and rounded back. Minimum and maximum ignore a NaN if the other value is a
/// number. The bits of a NaN, and the sign of the minimum or maximum of two zeros, depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// a + b
    Sum,
    /// a * b
    Product,
    /// The lesser
    Min,
    /// The greater
    Max,
}

/// The type of an element.
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

/// No operation or element type has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}` is none of {known}")]
pub struct UnknownName {
    name: String,
    known: String,
}

/// A type that collectives work on: `f32`, `f64`, `f16`, `bf16`, `i32`, `i64`, `u8`. Its bytes travel as they are in
/// memory.
pub trait Element: Pod + PartialEq + fmt::Debug + Send + Sync {
    /// Its name.
    const DTYPE: Dtype;

    /// `into[i] = own[i] op into[i]`, for all `i` below the shorter length.
    fn combine(op: ReduceOp, own: &[Self], into: &mut [Self]);
}

macro_rules! names {
    ($($type:ty, $count:literal: $($variant:ident => $name:literal $(or $alias:literal)?),*;)*) => {$(
        impl $type {
            /// All values.
            pub const ALL: [Self; $count] = [$(Self::$variant),*];

            /// The name on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                let known = || Self::ALL.map(Self::name).join(", ");
                match &*text.to_ascii_lowercase() {
                    $($name $(| $alias)? => Ok(Self::$variant),)*
                    _ => Err(UnknownName { name: text.to_owned(), known: known() }),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )*};
}

names! {
    ReduceOp, 4: Sum => "sum", Product => "product" or "prod", Min => "min", Max => "max";
    Dtype, 7: F32 => "f32", F64 => "f64", F16 => "f16", Bf16 => "bf16", I32 => "i32", I64 => "i64", U8 => "u8";
}

impl Dtype {
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

macro_rules! integers {
    ($($element:ty => $dtype:ident),*) => {$(
        impl Element for $element {
            const DTYPE: Dtype = Dtype::$dtype;

            fn combine(op: ReduceOp, own: &[Self], into: &mut [Self]) {
                match op {
                    ReduceOp::Sum => combine(own, into, Self::wrapping_add),
                    ReduceOp::Product => combine(own, into, Self::wrapping_mul),
                    ReduceOp::Min => combine(own, into, Self::min),
                    ReduceOp::Max => combine(own, into, Self::max),
                }
            }
        }
    )*};
}

macro_rules! floats {
    ($($element:ty => $dtype:ident, $combine:ident;)*) => {$(
        impl Element for $element {
            const DTYPE: Dtype = Dtype::$dtype;

            fn combine(op: ReduceOp, own: &[Self], into: &mut [Self]) {
                match op {
                    ReduceOp::Sum => $combine(own, into, |a, b| a + b),
                    ReduceOp::Product => $combine(own, into, |a, b| a * b),
                    ReduceOp::Min => $combine(own, into, |a, b| a.min(b)),
                    ReduceOp::Max => $combine(own, into, |a, b| a.max(b)),
                }
            }
        }
    )*};
}

integers!(i32 => I32, i64 => I64, u8 => U8);
floats! {
    f32 => F32, combine;
    f64 => F64, combine;
    f16 => F16, combine_f16;
    bf16 => Bf16, combine_bf16;
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::{Dtype, Element, ReduceOp};

    fn combined<E: Element>(op: ReduceOp, own: E, other: E) -> E {
        let mut into = [other];
        E::combine(op, &[own], &mut into);
        into[0]
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(combined(ReduceOp::Sum, 200_u8, 100), 44);
        assert_eq!(combined(ReduceOp::Product, i32::MAX, 2), -2);
        assert_eq!((combined(ReduceOp::Min, -3_i64, 2), combined(ReduceOp::Max, -3_i64, 2)), (-3, 2));
    }

    #[test]
    fn floats_round_and_leave_nan_out() {
        assert_eq!(combined(ReduceOp::Sum, 1.5_f32, 2.25), 3.75);
        assert_eq!(combined(ReduceOp::Max, f64::NAN, 2.0), 2.0);
        assert_eq!(combined(ReduceOp::Min, 2.0, f64::NAN), 2.0);
        assert_eq!(combined(ReduceOp::Sum, f16::from_f32(2048.0), f16::from_f32(1.0)), f16::from_f32(2048.0));
        assert_eq!(combined(ReduceOp::Product, bf16::from_f32(3.0), bf16::from_f32(5.0)), bf16::from_f32(15.0));
        assert_eq!(combined(ReduceOp::Min, f16::from_f32(-1.0), f16::NAN), f16::from_f32(-1.0));
    }

    #[test]
    fn vectors_are_combined_as_single_numbers() {
        fn check<E: Element>(own: &[E], other: &[E]) {
            for op in ReduceOp::ALL {
                let mut into = other.to_vec();
                E::combine(op, own, &mut into);
                let singly = own.iter().zip(other).map(|(&own, &other)| combined(op, own, other));
                let bytes = bytemuck::cast_slice::<E, u8>;
                assert_eq!(bytes(&into), bytes(&singly.collect::<Vec<E>>()), "{op}, {:?}", E::DTYPE);
            }
        }
        /// Replaces every `step`-th number by a special one.
        fn with(mut numbers: Vec<f32>, special: &[f32], step: usize) -> Vec<f32> {
            numbers.iter_mut().step_by(step).zip(special.iter().cycle()).for_each(|(one, &other)| *one = other);
            numbers
        }
        let mut random = fastrand::Rng::with_seed(7);
        for length in [0, 1, 31, 64, 1021] {
            let mut floats = || (0..length).map(|_| random.f32() * 2e5 - 1e5).collect::<Vec<f32>>();
            let (own, other) = (floats(), floats());
            let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 6e-8, -3e-5, 65504.0, -0.0];
            let (own, other) = (with(own, &special, 3), with(other, &special, 5));
            let pick = |floats: &[f32]| floats.iter().map(|&one| f16::from_f32(one)).collect::<Vec<f16>>();
            check(&pick(&own), &pick(&other));
            let pick = |floats: &[f32]| floats.iter().map(|&one| bf16::from_f32(one)).collect::<Vec<bf16>>();
            check(&pick(&own), &pick(&other));
            let pick = |floats: &[f32]| floats.iter().map(|&one| one as i64).collect::<Vec<i64>>();
            check(&pick(&own), &pick(&other));
            check(&own, &other);
        }
    }

    #[test]
    fn names_are_read_back() {
        assert!(Dtype::ALL.iter().all(|dtype| dtype.name().parse() == Ok(*dtype)));
        assert!(ReduceOp::ALL.iter().all(|op| op.name().parse() == Ok(*op)));
        assert_eq!("prod".parse(), Ok(ReduceOp::Product), "as in nccl-tests");
        assert_eq!(("SUM".parse(), "F32".parse()), (Ok(ReduceOp::Sum), Ok(Dtype::F32)));
        assert!("products".parse::<ReduceOp>().is_err());
        let error = "f8".parse::<Dtype>().unwrap_err();
        assert_eq!(error.to_string(), "`f8` is none of f32, f64, f16, bf16, i32, i64, u8");
    }
}
