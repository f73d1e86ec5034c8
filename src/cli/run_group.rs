//! `synth run --transport group`: all ranks in this process, whose calls are made at once.

use std::time::{Duration, Instant};

use collsynth::runtime::{Buffers, Group, RunError, Runnable, Sample, Trial};
use collsynth::topology::RankId;

use super::run::Outcome;

/// Does on all ranks together what each does by itself elsewhere: a call that is compared, one to warm up, `repeat`
/// that are timed, and the first one again.
pub(super) fn run<E: Sample>(runnable: Runnable<'_>, trial: &Trial<E>, repeat: u32) -> Result<Vec<Outcome>, RunError> {
    let mut group = Group::new(runnable)?;
    let live: Vec<RankId> = runnable.problem().topology().live_ranks().collect();
    let buffers = || live.iter().map(|&rank| trial.buffers(rank)).collect::<Vec<Buffers<E>>>();
    let mut call = |all: &mut [Buffers<E>]| {
        trial.call_group(&mut group, all)?;
        Ok::<Vec<Vec<Duration>>, RunError>(group.step_times().collect())
    };
    let mut first = buffers();
    let mut steps = call(&mut first)?;
    let mut again = buffers();
    call(&mut again)?;
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
    let outcome = |at: usize| Outcome {
        rank: live[at],
        time,
        steps: steps[at].iter().map(|&total| total / repeat).collect(),
        mismatch: trial.check(live[at], &first[at].output).err(),
        repeated: trial.same_bits(&first[at].output, &again[at].output),
    };
    Ok((0..live.len()).map(outcome).collect())
}
