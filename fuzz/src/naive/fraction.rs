//! Fractions compared exactly, whatever their size.

use std::cmp::Ordering;

use serde_json::Value;

use super::reader::Faults;

/// A fraction that is not negative; its denominator is not 0.
#[derive(Clone, Copy, Debug)]
pub struct Fraction {
    /// Above the line.
    pub top: u128,
    /// Below the line.
    pub bottom: u128,
}

impl Fraction {
    /// Reads the `at_least` of a volume: an integer, or a text `"1024/31"`.
    pub fn read(value: &Value, faults: &mut Faults) -> Option<Self> {
        let limit = |number: u128| (number < 1 << 127).then_some(number);
        let number = |text: &str| match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().ok().and_then(limit),
            false => None,
        };
        let read = match value {
            Value::Number(integer) => integer.as_u64().map(|top| (u128::from(top), 1)),
            Value::String(text) => match text.split_once('/') {
                Some((top, bottom)) => number(top).zip(number(bottom)),
                None => number(text).map(|top| (top, 1)),
            },
            _ => None,
        };
        match read {
            Some((top, bottom)) if bottom > 0 => Some(Self { top, bottom }),
            _ => faults.note("F003"),
        }
    }

    /// Compares by whole parts, then by the inverses of what is left (Euclid), so that nothing overflows.
    pub fn compare(self, other: Self) -> Ordering {
        let (whole, others) = (self.top / self.bottom, other.top / other.bottom);
        let (rest, others_rest) = (self.top % self.bottom, other.top % other.bottom);
        whole.cmp(&others).then_with(|| match (rest, others_rest) {
            (0, _) => 0.cmp(&others_rest),
            (_, 0) => Ordering::Greater,
            _ => {
                let inverse = Self { top: self.bottom, bottom: rest };
                Self { top: other.bottom, bottom: others_rest }.compare(inverse)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Fraction;

    #[test]
    fn compares_like_products() {
        let all = || (0..12u128).flat_map(|top| (1..12u128).map(move |bottom| Fraction { top, bottom }));
        for left in all() {
            for right in all() {
                let products = (left.top * right.bottom).cmp(&(right.top * left.bottom));
                assert_eq!(left.compare(right), products, "{left:?} {right:?}");
            }
        }
    }
}
