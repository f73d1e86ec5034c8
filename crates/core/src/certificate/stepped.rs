//! What link weights that differ from step to step prove about all schedules with a limited number of steps.
//!
//! Give every link a length in every step. A chunk covers lengths that sum to at least its distance in the
//! *time-expanded* network, where what arrives in a step moves on in a later one. A link of capacity `c` carries at
//! most `c * w[t]` chunks in step `t`, so the sum of all distances is at most
//!
//! ```text
//!   sum over t of w[t] * (sum over links of length[t] * c)   <=   W * max over t of (sum over links of length[t] * c)
//! ```
//!
//! with `W` the sum of the widths. So the distances over that maximum bound the volume of every schedule of that many
//! steps or fewer: a *joint* bound on steps and volume, which separate bounds cannot express.
//!
//! Which chunks count is as for a metric over time, see `over_time`: all of those that go from one rank to one rank; of
//! those that are copied or added up, the ones that must reach (or leave) one rank, which the evidence names; of an
//! all-reduce, those with the contribution of the rank farthest from it.

use super::over_time::{Journeys, Lengths};
use super::work::size;
use super::{CertificateError, JointBound, Rational, Window, Work};
use crate::problem::Problem;
use crate::topology::RankId;

/// The volume, in messages, that no schedule of `steps` steps or fewer can beat, exactly. Windows count steps. Names a
/// `rank` for the kinds in which chunks are copied or added up.
///
/// In each step only links from ranks that came nearer are followed, once their lengths stay: O(N * links) time per
/// change at most, times N for all_to_all and all_to_allv.
///
/// # Errors
///
/// A [`CertificateError`] for a barrier, if a rank is missing or one too many, if weights name links or steps that do
/// not exist, if no link has a weight, or if some rank cannot be reached in `steps` steps.
pub fn stepped_value(
    problem: &Problem,
    steps: u32,
    rank: Option<RankId>,
    weights: &[Window],
) -> Result<Rational, CertificateError> {
    let bound = JointBound { steps, at_least: 0.into(), rank, weights: weights.to_vec() };
    stepped_value_within(problem, &bound, &mut Work::default())
}

/// What a joint bound proves; its claim is not looked at.
pub(super) fn stepped_value_within(
    problem: &Problem,
    bound: &JointBound,
    work: &mut Work,
) -> Result<Rational, CertificateError> {
    let &JointBound { steps, rank, ref weights, .. } = bound;
    let topology = problem.topology();
    work.take(size(topology))?;
    let journeys = Journeys::new(problem, rank, "a joint bound")?;
    let lengths = Lengths::new(topology, steps, weights)?;
    let scale = lengths.greatest_room(topology);
    if scale == 0 {
        return Err(CertificateError::NoWeight);
    }
    let covered = journeys.covered(problem, &lengths, work)?.map_err(|(from, to)| {
        let (from, to) = (topology.rank_label(from), topology.rank_label(to));
        CertificateError::OutOfReach { steps, from, to }
    })?;
    let scale = scale.checked_mul(i128::from(problem.parts())).ok_or(CertificateError::TooMuchWeight)?;
    Ok(Rational::new(covered, scale))
}
