//! Fractions of any size.

use std::cmp::Ordering;

use num_bigint::BigUint;
use serde_json::Value;

use super::reader::{Faults, text};

/// A fraction that is not negative; its denominator is not 0.
#[derive(Clone, Debug)]
pub struct Fraction {
    /// Above the line.
    pub top: BigUint,
    /// Below the line.
    pub bottom: BigUint,
}

impl Fraction {
    /// A fraction; its denominator must not be 0.
    pub fn new(top: impl Into<BigUint>, bottom: impl Into<BigUint>) -> Self {
        let (top, bottom) = (top.into(), bottom.into());
        assert!(bottom > BigUint::ZERO, "a fraction has a denominator");
        Self { top, bottom }
    }

    /// Reads the `at_least` of a volume: an integer below 2^64, or a text `"1024/31"`.
    pub fn read(value: &Value, faults: &mut Faults) -> Option<Self> {
        let number = |text: &str| match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().ok().filter(|number: &BigUint| number.bits() <= 127),
            false => None,
        };
        let read = match (value.as_u64(), text(value)) {
            (Some(top), _) => Some((top.into(), 1u8.into())),
            (_, Some(text)) => match text.split_once('/') {
                Some((top, bottom)) => number(top).zip(number(bottom)),
                None => number(text).map(|top| (top, 1u8.into())),
            },
            _ => None,
        };
        match read {
            Some((top, bottom)) if bottom > BigUint::ZERO => Some(Self { top, bottom }),
            _ => faults.note("F003"),
        }
    }

    /// Compares by products.
    pub fn compare(&self, other: &Self) -> Ordering {
        (&self.top * &other.bottom).cmp(&(&other.top * &self.bottom))
    }

    /// The least whole number that is not below this times a factor.
    pub fn rounded_up(&self, factor: u64) -> BigUint {
        (&self.top * factor + &self.bottom - 1u8) / &self.bottom
    }

    /// How many times as large it is as another, which is not 0.
    pub fn over(&self, other: &Self) -> Self {
        Self::new(&self.top * &other.bottom, &self.bottom * &other.top)
    }

    /// Less something that is not larger.
    pub fn less(&self, other: &Self) -> Self {
        Self::new(&self.top * &other.bottom - &other.top * &self.bottom, &self.bottom * &other.bottom)
    }

    /// About as large.
    pub fn decimal(&self) -> f64 {
        let float = |number: &BigUint| number.to_string().parse::<f64>().expect("digits are a number");
        float(&self.top) / float(&self.bottom)
    }
}
