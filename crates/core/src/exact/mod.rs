//! Arithmetic for claims. Nothing here wraps: what does not fit is `None`, rounded so that less is claimed, or, of
//! counts and indices, a panic.

#![warn(clippy::arithmetic_side_effects)]

use num_rational::Ratio;

/// An exact number.
pub type Rational = Ratio<i128>;

/// An index or a count in 32 bits, which the limits on sizes keep it in.
///
/// # Panics
///
/// If it does not fit.
#[inline]
pub fn narrow<N>(number: N) -> u32
where
    u32: TryFrom<N>,
{
    let Ok(number) = u32::try_from(number) else { panic!("a count or an index is beyond 2^32") };
    number
}

/// The number of a dimension in 8 bits: a machine has at most 255.
///
/// # Panics
///
/// If it does not fit.
pub fn dimension(number: usize) -> u8 {
    let Ok(number) = u8::try_from(number) else { panic!("a dimension is beyond 2^8") };
    number
}

/// The sum of the products of all pairs; `None` if it does not fit.
///
/// ```
/// use collsynth_core::exact::sum_of_products;
/// assert_eq!(sum_of_products([(2, 3), (4, 5)]), Some(26));
/// assert_eq!(sum_of_products([(i128::MAX, 1), (1, 1)]), None);
/// ```
pub fn sum_of_products(pairs: impl IntoIterator<Item = (i128, i128)>) -> Option<i128> {
    pairs.into_iter().try_fold(0_i128, |sum, (one, other)| sum.checked_add(one.checked_mul(other)?))
}

/// `value * factor`, rounded up to a whole number; 0 for a negative value, and `None` above 2^128 - 1. It alone rounds
/// what bounds claim.
///
/// ```
/// use collsynth_core::exact::{Rational, round_up};
/// assert_eq!(round_up(Rational::new(1024, 31), 1), Some(34));
/// assert_eq!(round_up(Rational::new(i128::MAX, i128::MAX - 1), 3), Some(4));
/// ```
pub fn round_up(value: Rational, factor: u128) -> Option<u128> {
    let (whole, rest) = scaled(value, factor)?;
    whole.checked_add(u128::from(rest))
}

/// How many times a positive bound fits in a value that is not negative, in units of `1 / scale`: rounded up, so never
/// less than it is. `None` if the ratio is too large or too small to be told so.
///
/// Where the products do not fit, the bound is made a little smaller, by about one part in 2^29.
///
/// ```
/// use collsynth_core::exact::{Rational, ratio_up};
/// assert_eq!(ratio_up(51.into(), 25.into(), 10), Some(21)); // 2.04 is at most 2.1
/// assert_eq!(ratio_up(50.into(), 25.into(), 10), Some(20));
/// assert_eq!(ratio_up(1.into(), 0.into(), 10), None);
/// ```
pub fn ratio_up(value: Rational, bound: Rational, scale: u32) -> Option<u128> {
    let over = |over: i128, under: i128| {
        let ratio = Rational::new(value.numer().checked_mul(under)?, value.denom().checked_mul(over)?);
        round_up(ratio, scale.into())
    };
    with_smaller(bound, over).filter(|_| *value.numer() >= 0)
}

/// The share of a positive bound in a positive value, in units of `1 / scale`: rounded down, never more than it is.
/// `None` and smaller bounds as in [`ratio_up`].
///
/// ```
/// use collsynth_core::exact::{Rational, share_down};
/// assert_eq!(share_down(Rational::new(1024, 31), 34.into(), 1000), Some(971)); // at most 2.9 % less
/// ```
pub fn share_down(bound: Rational, value: Rational, scale: u32) -> Option<u128> {
    let under = |over: i128, under: i128| {
        let share = Rational::new(value.denom().checked_mul(over)?, value.numer().checked_mul(under)?);
        scaled(share, scale.into()).map(|(whole, _)| whole)
    };
    with_smaller(bound, under).filter(|_| *value.numer() > 0)
}

/// `value * factor` as a whole number and whether something is left over. Multiplies bit by bit, so that no product
/// overflows, whatever the fraction.
fn scaled(value: Rational, factor: u128) -> Option<(u128, bool)> {
    let (over, under) = (u128::try_from(*value.numer()).unwrap_or(0), value.denom().unsigned_abs());
    let (whole_once, rest_once) = (over.checked_div(under)?, over.checked_rem(under)?);
    let (mut whole, mut rest) = (0_u128, 0_u128);
    for bit in (0..u128::BITS.checked_sub(factor.leading_zeros())?).rev() {
        let (more, part) = if factor >> bit & 1 == 1 { (whole_once, rest_once) } else { (0, 0) };
        whole = whole.checked_mul(2)?.checked_add(more)?;
        for more in [rest, part] {
            // Both are below `under`, which is at most 2^127.
            rest = rest.checked_add(more)?;
            if rest >= under {
                (whole, rest) = (whole.checked_add(1)?, rest.checked_sub(under)?);
            }
        }
    }
    Some((whole, rest > 0))
}

/// What `of` makes of a positive fraction, or of one a little smaller whose terms are small enough for it.
fn with_smaller<T>(bound: Rational, of: impl Fn(i128, i128) -> Option<T>) -> Option<T> {
    let (mut over, mut under) = (*bound.numer(), *bound.denom());
    while over > 0 {
        match of(over, under) {
            Some(result) => return Some(result),
            None if over.min(under) < 1 << 32 => break,
            // The one rounded down, the other up.
            None => (over, under) = (over >> 1, (under >> 1).checked_add(under & 1)?),
        }
    }
    None
}

#[cfg(test)]
mod tests;
