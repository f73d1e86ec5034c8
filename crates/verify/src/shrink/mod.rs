//! Reducing something wrong to a small part that is wrong in the same respect, for people who look for the mistake.
//!
//! Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 2002): parts
//! are left out, large ones first, as long as the verdict stays the same.
//!
//! ```text
//! 1 2 3 4 5 6 7 8        wrong
//! 1 2 3 4 . . . .        right       a half alone?
//! . . . . 5 6 7 8        right
//! . . 3 4 5 6 7 8        wrong       without a quarter?
//! . . . . 5 6 7 8        right
//! . . 3 4 . . 7 8        wrong
//! . . 3 . . . . 8        wrong       and so on, until no single item can be left out
//! ```
//!
//! The result is 1-minimal: without any one of its items the violation is gone. It need not be the smallest possible.
//! Every trial is a run of the verifier or the audit. If k of n items remain, there are O(k log n) trials if each of
//! the k is needed on its own, and O(n^2) at worst. Deterministic.

mod program;
mod schedule;

pub use program::shrink_program;
pub use schedule::shrink_solution;

/// What is left of something wrong.
#[derive(Clone, Debug)]
pub struct Shrunk<T, F> {
    /// What is left.
    pub smallest: T,
    /// The violation in it.
    pub finding: F,
    /// The numbers of items before and after: chunk moves of a schedule, operations of a program.
    pub items: (usize, usize),
    /// No single item can be left out; false if the search was stopped before that was known.
    pub is_minimal: bool,
}

/// Why there is nothing to leave out.
#[derive(Clone, Debug)]
pub enum Whole<F> {
    /// Nothing is violated.
    Holds,
    /// The violation is not about transfers: an empty schedule, a certificate.
    Elsewhere(Box<F>),
}

/// Leaves out items of `0..count`, which fail together, as long as the rest still `fails`. True if no single item can
/// be left out of the result; false if `stop` became true before.
fn ddmin(count: usize, stop: &dyn Fn() -> bool, mut fails: impl FnMut(&[usize]) -> bool) -> (Vec<usize>, bool) {
    let mut kept: Vec<usize> = (0..count).collect();
    let mut pieces = 2;
    'again: while kept.len() >= 2 {
        let size = kept.len().div_ceil(pieces);
        for piece in kept.chunks(size) {
            if stop() {
                return (kept, false);
            }
            if fails(piece) {
                (kept, pieces) = (piece.to_vec(), 2);
                continue 'again;
            }
        }
        // Two halves are each other's rest.
        for start in (0..kept.len()).step_by(size).filter(|_| pieces > 2) {
            if stop() {
                return (kept, false);
            }
            let rest = [&kept[..start], &kept[kept.len().min(start + size)..]].concat();
            if fails(&rest) {
                (kept, pieces) = (rest, pieces - 1);
                continue 'again;
            }
        }
        if size == 1 {
            break;
        }
        pieces = (2 * pieces).min(kept.len());
    }
    if kept.len() == 1 && fails(&[]) {
        kept.clear();
    }
    (kept, true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::ddmin;

    #[test]
    fn what_is_needed_is_left() {
        for needed in [&[][..], &[0], &[7], &[3, 4], &[0, 99], &[5, 17, 18, 60]] {
            let mut trials = 0;
            let fails = |items: &[usize]| {
                trials += 1;
                needed.iter().all(|one| items.contains(one))
            };
            assert_eq!(ddmin(100, &|| false, fails), (needed.to_vec(), true));
            assert!(trials < 300, "{needed:?}: {trials} trials");
        }
        assert_eq!(ddmin(4, &|| true, |_| true), (vec![0, 1, 2, 3], false));
    }

    proptest! {
        /// Wrong is what has all of one of some groups.
        #[test]
        fn nothing_single_can_be_left_out(
            groups in prop::collection::vec(prop::collection::vec(0..40_usize, 0..5), 1..4)
        ) {
            let fails = |items: &[usize]| groups.iter().any(|group| group.iter().all(|one| items.contains(one)));
            let (kept, is_minimal) = ddmin(40, &|| false, fails);
            assert!(is_minimal && fails(&kept));
            for left_out in 0..kept.len() {
                let mut rest = kept.clone();
                rest.remove(left_out);
                assert!(!fails(&rest), "{kept:?} without {}", kept[left_out]);
            }
        }
    }
}
