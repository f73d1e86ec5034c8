//! Symmetry breaking: of schedules that are images of each other, only the lexicographically greatest is sought.
//!
//! In a fixed order of all variables, every class of images has a schedule `x` with no greater image `g(x)`. So the
//! formula may demand `x >= g(x)` for every symmetry `g` at once, and only on the first few variables of each
//! (Crawford, Ginsberg, Luks, Roy, KR 1996). The order must be the same for all of them.

use crate::cnf::{Cnf, FALSE, TRUE};

/// The number of variables of each image to compare.
pub const PREFIX: usize = 24;

/// Demands that the first components, as a word, are not lexicographically below the second ones; compares at most
/// `most` pairs that differ.
pub fn not_below(cnf: &mut Cnf, pairs: impl IntoIterator<Item = (i32, i32)>, most: usize) {
    // Holds while all before is equal.
    let mut equal = TRUE;
    let mut differing = pairs.into_iter().filter(|(own, image)| own != image).take(most).peekable();
    while let Some((own, image)) = differing.next() {
        cnf.clause([-equal, own, -image]);
        if differing.peek().is_none() || equal == FALSE {
            break;
        }
        // Given `own >= image`, they are equal unless `own` holds alone.
        let still = cnf.variable();
        cnf.clause([-equal, -own, -image, still]);
        cnf.clause([-equal, own, still]);
        equal = still;
    }
}

#[cfg(test)]
mod tests {
    use super::not_below;
    use crate::cnf::Cnf;

    /// Every pair of words of three letters: the other variables can be set if and only if the first is not below.
    #[test]
    fn the_order_is_that_of_words() {
        let mut cnf = Cnf::default();
        let words: [Vec<i32>; 2] = [(); 2].map(|()| (0..3).map(|_| cnf.variable()).collect());
        not_below(&mut cnf, words[0].iter().copied().zip(words[1].iter().copied()), 3);
        let letters = |bits: u32, word: u32| (0..3).map(move |index| bits >> (3 * word + index) & 1);
        for bits in 0..1_u32 << 6 {
            let allowed = (0..1_u32 << (cnf.variables() - 6)).any(|others| {
                let all = others << 6 | bits;
                cnf.iter().all(|clause| clause.iter().any(|&of| (all >> (of.abs() - 1) & 1 == 1) == (of > 0)))
            });
            assert_eq!(allowed, letters(bits, 0).ge(letters(bits, 1)), "{bits:06b}");
        }
    }
}
