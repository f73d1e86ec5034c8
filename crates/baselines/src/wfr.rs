//! WFR, wild-first routing: dimension-ordered routing that steps aside before a dead cable.
//!
//! # Idea
//!
//! A message goes as in [`Routed::DOR`], dimension after dimension. Where its route along a dimension needs a dead
//! cable, it first makes one *wild* hop in a later dimension, and goes along the parallel ring instead. In the last
//! dimension there is no later one: it goes in the other direction.
//!
//! ```text
//!   . + - d          s to d with a dead cable on the route along x:
//!   . |              a wild hop along y, then x; y is done then
//!   . s x .
//! ```
//!
//! The wild hop is in the first later dimension with hops left, toward the destination; if there is none, up in the
//! next dimension. If another failure is in the way, the other direction follows, then other later dimensions.
//!
//! # Applies
//!
//! All_to_all and all_to_allv on a torus whose dimensions of 3 and more all wrap, without failed ranks. It refuses
//! where failures leave a message without such a route, and names the message.
//!
//! # Steps and volume
//!
//! Routes do not balance: beside a dead cable the parallel links carry the detours of a whole ring. With one dead cable
//! on 4x4x4 the static load is 50, 56 or 64, for a dead cable in x, y or z, where the bound is 33.03. There is one
//! phase; the volume exceeds its load only by filling the pipeline.
//!
//! # Complexity
//!
//! That of scheduling the hops, O(h log h).
//!
//! # Reference
//!
//! Zu et al., "Resiliency at Scale: Managing Google's TPUv4 Machine Learning Supercomputer", NSDI 2024; as restated for
//! all-to-all by Qin et al., MICRO 2025, doi 10.1145/3725843.3756057. Which wild hop is taken is our reading.

use super::router::{Routed, Router};
use collsynth_core::topology::{LinkId, RankId};

impl Routed {
    /// Dimension-ordered routing with wild hops around dead cables.
    pub const WFR: Self = Self {
        name: "wfr",
        summary: "dor with a hop aside (wild-first routing) before a dead cable; tori",
        route: wild_first,
    };
}

/// The route of a message; else the dimension in which it has none.
fn wild_first(router: &Router<'_>, origin: RankId, dest: RankId) -> Result<Vec<LinkId>, usize> {
    let mut route = Vec::new();
    from_dim(router, origin, dest, 0, &mut route).map(|()| route)
}

/// Routes the dimensions from this number on; else returns the last dimension in which that fails.
fn from_dim(
    router: &Router<'_>,
    at: RankId,
    dest: RankId,
    number: usize,
    route: &mut Vec<LinkId>,
) -> Result<(), usize> {
    let Some(&dim) = router.dims.get(number) else { return Ok(()) };
    let begin = route.len();
    let straight = router.leg(at, dest, dim, false, route);
    let mut failed = dim;
    if let Some(next) = straight {
        match from_dim(router, next, dest, number + 1, route) {
            Err(later) => failed = later,
            Ok(()) => return Ok(()),
        }
    } else {
        for (beside, up) in wild_hops(router, at, dest, number) {
            route.truncate(begin);
            let aside = router.hop(at, beside, up, route);
            if let Some(next) = aside.and_then(|aside| router.leg(aside, dest, dim, false, route))
                && from_dim(router, next, dest, number + 1, route).is_ok()
            {
                return Ok(());
            }
        }
        if number + 1 == router.dims.len() {
            route.truncate(begin);
            return router.leg(at, dest, dim, true, route).map(|_| ()).ok_or(dim);
        }
    }
    route.truncate(begin);
    Err(failed)
}

/// The hops aside to try, in order: dimension, and whether it is up.
fn wild_hops(router: &Router<'_>, at: RankId, dest: RankId, number: usize) -> Vec<(usize, bool)> {
    let mut later = router.dims[number + 1..].to_vec();
    // Stable: those with hops left come first.
    later.sort_by_key(|&dim| router.offset(at, dest, dim) == 0);
    let directions = |dim: usize| {
        let first = router.offset(at, dest, dim) == 0 || router.shorter_is_up(at, dest, dim);
        [(dim, first), (dim, !first)]
    };
    later.into_iter().flat_map(directions).collect()
}
