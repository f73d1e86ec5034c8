//! What weights of links, different from step to step, prove of all schedules of so many steps.
//!
//! Give every link a length in every step. A chunk that crosses links in some of the steps covers lengths that sum to
//! at least its distance in the *time-expanded* network, where what arrives in a step moves on in a later one. A link
//! of capacity `c` carries at most `c * w[t]` chunks in step `t`, so the sum of all distances is at most
//!
//! ```text
//!   sum over t of w[t] * (sum over links of length[t] * c)   <=   W * max over t of (sum over links of length[t] * c)
//! ```
//!
//! with `W` the sum of the widths. So the distances over that maximum bound the volume of every schedule of so many
//! steps, or fewer: a bound on steps and volume *jointly*, which no bound on either alone can be.

use super::over_time::{Journeys, Lengths};
use super::{CertificateError, Rational, Window};
use crate::collective::Pattern;
use crate::problem::Problem;

/// The volume, in messages, below which no schedule of `steps` steps or fewer can go, exactly. Windows are counted in
/// steps. For all_to_all, all_to_allv, scatter and gather.
///
/// Steps without a change of weights are passed over once distances settle: O(N * links) time for each change, times N
/// for all_to_all and all_to_allv.
///
/// # Errors
///
/// A [`CertificateError`] for another kind of collective, if weights name links or steps that do not exist, if no link
/// has a weight, or if some rank cannot be reached in so many steps.
pub fn stepped_value(problem: &Problem, steps: u32, weights: &[Window]) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let kind = &problem.collective().kind;
    if kind.pattern() != Pattern::OneToOne {
        return Err(CertificateError::NoJointEvidence { kind: kind.name() });
    }
    let journeys = Journeys::new(problem, None)?;
    let lengths = Lengths::new(topology, steps, weights)?;
    let scale = lengths.greatest_room(topology);
    if scale == 0 {
        return Err(CertificateError::NoWeight);
    }
    let covered = journeys.covered(problem, &lengths, |(from, to)| {
        let (from, to) = (topology.rank_label(from), topology.rank_label(to));
        CertificateError::OutOfReach { steps, from, to }
    })?;
    let scale = scale.checked_mul(i128::from(problem.parts())).ok_or(CertificateError::TooMuchWeight)?;
    Ok(Rational::new(covered, scale))
}
