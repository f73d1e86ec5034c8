//! The calls of `synth run`, by one rank alone or by those of a group together.

use std::time::{Duration, Instant};

use collsynth::runtime::{Buffers, Mismatch, Sample, Trial};
use collsynth::topology::RankId;

/// The outcome on one rank.
pub struct Outcome {
    pub rank: RankId,
    pub time: Duration,
    pub steps: Vec<Duration>,
    pub mismatch: Option<Mismatch>,
    pub repeated: bool,
}

/// Makes one call to compare, one to warm up, `repeat` timed ones, and the first one again. A call returns the times of
/// each rank's steps.
pub fn outcomes<E: Sample, F>(
    trial: &Trial<E>,
    ranks: &[RankId],
    repeat: u32,
    mut call: impl FnMut(&mut [Buffers<E>]) -> Result<Vec<Vec<Duration>>, F>,
) -> Result<Vec<Outcome>, F> {
    let buffers = || ranks.iter().map(|&rank| trial.buffers(rank)).collect::<Vec<Buffers<E>>>();
    let mut first = buffers();
    call(&mut first)?;
    let mut again = buffers();
    let mut steps = call(&mut again)?;
    steps.iter_mut().flatten().for_each(|step| *step = Duration::ZERO);
    let started = Instant::now();
    for _ in 0..repeat {
        for (total, step) in steps.iter_mut().flatten().zip(call(&mut again)?.into_iter().flatten()) {
            *total += step;
        }
    }
    let time = started.elapsed() / repeat;
    again = buffers();
    call(&mut again)?;
    let outcome = |(at, steps): (usize, Vec<Duration>)| Outcome {
        rank: ranks[at],
        time,
        steps: steps.into_iter().map(|total| total / repeat).collect(),
        mismatch: trial.check(ranks[at], &first[at].output).err(),
        repeated: trial.same_bits(&first[at].output, &again[at].output),
    };
    Ok(steps.into_iter().enumerate().map(outcome).collect())
}
