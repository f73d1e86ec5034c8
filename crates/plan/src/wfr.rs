//! WFR, wild-first routing: dimension-ordered routing that takes a step aside before a dead cable.
//!
//! # Idea
//!
//! A message goes as in [`Dor`](super::Dor), dimension after dimension. Where its way along a dimension needs a dead
//! cable, it first makes one *wild* hop in a later dimension, and goes along the parallel ring instead. In the last
//! dimension there is no later one: it goes the other way round.
//!
//! ```text
//!   . + - d          s to d with a dead cable on the way along x:
//!   . |              a wild hop along y, then x; y is done then
//!   . s x .
//! ```
//!
//! The wild hop is in the first later dimension in which there is something left to go, towards the destination; if
//! there is none, up in the next dimension. Where that does not help, since something failed there too, it is the
//! other way, or in another later dimension.
//!
//! # When it applies
//!
//! All-to-all (also with a demand matrix) on a torus whose dimensions of 3 and more all wrap, without failed ranks,
//! unless failures leave a message without such a way: then it is refused, with the message.
//!
//! # Volume and steps
//!
//! Routes do not balance: beside a dead cable the parallel links carry the detours of a whole ring. With one dead
//! cable the static load is 50, 56 or 64 on 4x4x4, for a dead cable in x, y or z, where the bound is 33.03. There is
//! one phase; the volume is above its load by the filling of the pipeline only.
//!
//! # Complexity
//!
//! That of scheduling the hops, O(h log h).
//!
//! # References
//!
//! Zu et al., "Resiliency at Scale: Managing Google's TPUv4 Machine Learning Supercomputer", NSDI 2024; as restated for
//! all-to-all by Qin et al., MICRO 2025, doi 10.1145/3725843.3756057. Which wild hop is taken is our reading.

use super::dor::{Router, routed};
use super::phased::{StatedPhase, plan_walks};
use super::{AutoUse, Control, Outcome, PlanError, Planner, Task};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId};

/// Dimension-ordered routing with wild hops round dead cables.
#[derive(Clone, Copy, Debug)]
pub struct Wfr;

impl Planner for Wfr {
    fn name(&self) -> &'static str {
        "wfr"
    }

    fn summary(&self) -> &'static str {
        "baseline: dor with a hop aside (wild-first routing) before a dead cable; tori"
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        routed(self.name(), problem, wild_first).map(|_| ())
    }

    /// What a message's parts share is their route: more of them only fill the pipeline sooner.
    fn natural_parts(&self, _problem: &Problem) -> Option<u32> {
        Some(8)
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        let walks = routed(self.name(), task.problem, wild_first)?;
        plan_walks(self.name(), task, control, vec![(StatedPhase { name: "routed".to_owned(), startups: 1 }, walks)])
    }
}

/// The route of a message; else the dimension in which it has none.
fn wild_first(router: &Router<'_>, origin: RankId, dest: RankId) -> Result<Vec<LinkId>, usize> {
    let mut route = Vec::new();
    from_dim(router, origin, dest, 0, &mut route).map(|()| route)
}

/// Goes the rest of the way, from the dimension of this number on; else the last dimension in which that fails.
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
            // What lies behind is refused for reasons of its own.
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

/// The hops aside, in the order in which they are tried, as dimension and whether it is up.
fn wild_hops(router: &Router<'_>, at: RankId, dest: RankId, number: usize) -> Vec<(usize, bool)> {
    let mut later = router.dims[number + 1..].to_vec();
    // Stable: those with something left to go come first.
    later.sort_by_key(|&dim| router.offset(at, dest, dim) == 0);
    let ways = |dim: usize| {
        let first = router.offset(at, dest, dim) == 0 || router.shorter_way_is_up(at, dest, dim);
        [(dim, first), (dim, !first)]
    };
    later.into_iter().flat_map(ways).collect()
}
