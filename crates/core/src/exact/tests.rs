#![expect(clippy::arithmetic_side_effects, reason = "a panic is a failed test")]

use super::{Rational, ratio_up, round_up, share_down, sum_of_products};

/// Numbers near the powers of two at which types end, positive.
fn near_powers() -> Vec<i128> {
    let near = |bits: u32| [-1, 0, 1].map(|by: i128| (1_i128 << bits).wrapping_add(by));
    let mut all: Vec<i128> =
        [1, 7, 15, 16, 31, 32, 33, 53, 62, 63, 64, 65, 96, 126].into_iter().flat_map(near).collect();
    all.extend([i128::MAX, i128::MAX - 1, i128::MAX / 2, i128::MAX / 3]);
    all.retain(|&number| number > 0);
    all
}

/// `a * b` as two halves, by the schoolbook.
fn wide(a: u128, b: u128) -> (u128, u128) {
    let half = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((a1, a0), (b1, b0)) = (half(a), half(b));
    let (low, mid1, mid2) = (a0 * b0, a1 * b0, a0 * b1);
    let (mid, carry) = mid1.overflowing_add(mid2);
    let (low, more) = low.overflowing_add(mid << 64);
    (a1 * b1 + (mid >> 64) + (u128::from(carry) << 64) + u128::from(more), low)
}

#[test]
fn rounded_up_is_the_least_whole_number_that_is_enough() {
    for over in near_powers() {
        for under in near_powers() {
            let value = Rational::new(over, under);
            let (over, under) = (value.numer().unsigned_abs(), value.denom().unsigned_abs());
            for factor in [1, 2, 3, 7, 1 << 31, u128::from(u32::MAX), u128::from(u64::MAX)] {
                let product = wide(over, factor);
                match round_up(value, factor) {
                    Some(whole) => {
                        assert!(wide(whole, under) >= product, "{value} * {factor}: {whole} is too small");
                        assert!(whole == 0 || wide(whole - 1, under) < product, "{value} * {factor}: {whole}");
                    }
                    None => assert!(wide(u128::MAX, under) < product, "{value} * {factor} fits"),
                }
            }
        }
    }
    assert_eq!((round_up(0.into(), 9), round_up((-3).into(), 9), round_up(5.into(), 0)), (Some(0), Some(0), Some(0)));
}

/// Never less than the ratio, and not more than it needs to be.
#[test]
fn ratios_are_rounded_up() {
    for value in near_powers().into_iter().filter(|&value| value <= 1 << 64) {
        for over in near_powers() {
            for under in near_powers() {
                let of = Rational::new(over, under);
                let Some(ratio) = ratio_up(value.into(), of, 1000) else { continue };
                // ratio / 1000 >= value / of, that is ratio * over >= 1000 * value * under.
                let (over, under) = (of.numer().unsigned_abs(), of.denom().unsigned_abs());
                let needed = 1000 * value.unsigned_abs();
                assert!(wide(ratio, over) >= wide(needed, under), "{value} over {of}: {ratio}");
                let slack = 2 + (ratio >> 28);
                let less = ratio.checked_sub(slack);
                assert!(less.is_none_or(|less| wide(less, over) < wide(needed, under)), "{value} over {of}: {ratio}");
                // share / 1000 <= of / value, that is share * value * under <= 1000 * over.
                let Some(share) = share_down(of, value.into(), 1000) else { continue };
                let value = value.unsigned_abs();
                let fits = |share: u128| wide(share * value, under) <= wide(1000, over);
                assert!(share > 1 << 40 || fits(share) && !fits(share + 2), "{of} of {value}: {share}");
            }
        }
    }
    assert_eq!(ratio_up(34.into(), Rational::new(1024, 31), 1000), Some(1030));
    assert_eq!(ratio_up(3.into(), Rational::new(1, i128::MAX), 1), None);
    for bound in [0, -1] {
        assert_eq!((ratio_up(3.into(), bound.into(), 1), share_down(bound.into(), 3.into(), 1)), (None, None));
    }
}

#[test]
fn sums_that_do_not_fit_are_none() {
    assert_eq!(sum_of_products([]), Some(0));
    assert_eq!(sum_of_products([(1 << 64, 1 << 63)]), None);
    assert_eq!(sum_of_products([(1 << 63, 1 << 63), (1 << 63, 1 << 63)]), None);
}
