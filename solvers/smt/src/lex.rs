//! Symmetry breaking: of schedules that are images of each other, the lexicographically greatest is looked for.
//!
//! All variables are put in one order. A schedule `x` whose every image `g(x)` is no greater exists in every class of
//! images; so `x >= g(x)` may be asked for every symmetry `g` at once, and also only for the first few variables of each
//! (Crawford, Ginsberg, Luks, Roy, KR 1996). What matters is that the order is the same for all of them.

use crate::cnf::{Cnf, FALSE, TRUE};

/// So many variables of each image are compared.
pub const PREFIX: usize = 24;

/// Asks that the first components, as a word, are not lexicographically below the second ones; compares so many pairs that
/// differ.
pub fn not_below(cnf: &mut Cnf, pairs: impl IntoIterator<Item = (i32, i32)>, most: usize) {
    // Holds while all before is equal.
    let mut equal = TRUE;
    let differing = pairs.into_iter().filter(|(own, image)| own != image).take(most);
    let mut differing = differing.peekable();
    while let Some((own, image)) = differing.next() {
        cnf.clause([-equal, own, -image]);
        if differing.peek().is_none() || equal == FALSE {
            break;
        }
        // Given `own >= image`, they are equal unless `own` holds alone.
        let still = cnf.variable();
        cnf.clause([-equal, -own, image, still]);
        cnf.clause([-equal, own, still]);
        equal = still;
    }
}
