//! What weights of links, different from step to step, prove of all schedules of so many steps.
//!
//! Give every link a length in every step. A chunk that crosses links in some of the steps covers lengths that sum to
//! at least its distance in the *time-expanded* network, where what arrives in a step moves on in a later one. A link of
//! capacity `c` carries at most `c * w[t]` chunks in step `t`, so the sum of all distances is at most
//!
//! ```text
//!   sum over t of w[t] * (sum over links of length[t] * c)   <=   W * max over t of (sum over links of length[t] * c)
//! ```
//!
//! with `W` the sum of the widths. So the distances over that maximum bound the volume of every schedule of so many
//! steps, or fewer: a bound on steps and volume *jointly*, which no bound on either alone can be.

use super::check::{capacity, chunks_between, link_weights, wrong_evidence};
use super::search::INFINITE;
use super::{CertificateError, Rational};
use crate::collective::Kind;
use crate::problem::Problem;
use crate::topology::{Link, RankId};

/// The volume, in messages, below which no schedule of `weights.len()` steps or fewer can go, exactly. The weights of a
/// step are as those of a metric. For all_to_all, all_to_allv, scatter and gather.
///
/// Takes O(N * links * steps) time.
///
/// # Errors
///
/// A [`CertificateError`] for another kind of collective, if weights name links that do not exist, if no link has a
/// weight, or if some rank cannot be reached in so many steps.
pub fn stepped_value(problem: &Problem, weights: &[Vec<(RankId, RankId, u32)>]) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let kind = &problem.collective().kind;
    if !matches!(kind, Kind::AllToAll | Kind::AllToAllV(_) | Kind::Scatter(_) | Kind::Gather(_)) {
        return Err(wrong_evidence("a metric", kind));
    }
    let links: Vec<(usize, &Link)> = topology.live_links().map(|id| (id.index(), topology.link(id))).collect();
    let mut steps = Vec::with_capacity(weights.len());
    for weights in weights {
        steps.push(link_weights(topology, weights)?);
    }
    let sum =
        |weight: &Vec<u32>| -> i128 { links.iter().map(|&(id, link)| i128::from(weight[id]) * capacity(link)).sum() };
    let scale = steps.iter().map(sum).max().filter(|&scale| scale > 0).ok_or(CertificateError::NoWeight)?;
    let mut total = 0;
    for origin in topology.live_ranks() {
        let mut before = vec![INFINITE; topology.rank_count()];
        before[origin.index()] = 0;
        for weight in &steps {
            let mut after = before.clone();
            for &(id, link) in &links {
                let there = before[link.from.index()].saturating_add(u64::from(weight[id]));
                after[link.to.index()] = after[link.to.index()].min(there);
            }
            before = after;
        }
        for dest in topology.live_ranks().filter(|&dest| problem.needs(origin, dest)) {
            if before[dest.index()] == INFINITE {
                let (from, to) = (topology.rank_label(origin), topology.rank_label(dest));
                return Err(CertificateError::OutOfReach { steps: weights.len(), from, to });
            }
            total += i128::from(chunks_between(problem, origin, dest)) * i128::from(before[dest.index()]);
        }
    }
    Ok(Rational::new(total, scale * i128::from(problem.parts())))
}
