//! The calls of `synth run`, by one rank alone or by those of a group together.

use std::time::{Duration, Instant};

use collsynth::problem::Problem;
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

/// Bytes over all links that the timed calls of a run move together, if nobody states how many there are: about a
/// second's work of one core.
const TIMED_BYTES: u64 = 4 << 30;
/// The most timed calls of such a run.
const MOST_TIMED: u64 = 20;

/// The number of timed calls unless it is stated, the same on every rank.
pub fn repeats(problem: &Problem, moves: usize, block_bytes: u64) -> u32 {
    let chunk_bytes = block_bytes / u64::from(problem.chunks_per_block());
    let moved = (moves as u64).saturating_mul(chunk_bytes).max(1);
    (TIMED_BYTES / moved).clamp(1, MOST_TIMED) as u32
}

/// Makes one call to compare, one to warm up, `repeat` timed ones, and the first one again; `say` hears what comes
/// next. A call returns the times of each rank's steps.
pub fn outcomes<E: Sample, F>(
    trial: &Trial<E>,
    ranks: &[RankId],
    repeat: u32,
    say: impl Fn(&str),
    mut call: impl FnMut(&mut [Buffers<E>]) -> Result<Vec<Vec<Duration>>, F>,
) -> Result<Vec<Outcome>, F> {
    say("drawing data");
    let buffers = || ranks.iter().map(|&rank| trial.buffers(rank)).collect::<Vec<Buffers<E>>>();
    let mut next = 0;
    let mut call = |buffers: &mut [Buffers<E>]| {
        next += 1;
        say(&format!("call {next} of {}", repeat + 3));
        call(buffers)
    };
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
    say("comparing");
    let outcome = |(at, steps): (usize, Vec<Duration>)| Outcome {
        rank: ranks[at],
        time,
        steps: steps.into_iter().map(|total| total / repeat).collect(),
        mismatch: trial.check(ranks[at], &first[at].output).err(),
        repeated: trial.same_bits(&first[at].output, &again[at].output),
    };
    Ok(steps.into_iter().enumerate().map(outcome).collect())
}

#[cfg(test)]
mod tests {
    use collsynth::collective::{Collective, Demand, Kind};
    use collsynth::topology::Topology;

    use super::*;

    #[test]
    fn a_block_of_a_demand_is_one_chunk() {
        let problem = |kind, parts| {
            Problem::new(Topology::torus(&[2]).unwrap(), Collective { kind, parts }).expect("a problem of two ranks")
        };
        let demand = Kind::AllToAllV(Demand::new(2, &[0, 64, 64, 0]).expect("a matrix"));
        // 128 moves of 4 MiB are half a GiB.
        assert_eq!(repeats(&problem(demand, 64), 128, 4 << 20), 8);
        assert_eq!(repeats(&problem(Kind::AllToAll, 64), 128, 256 << 20), 8);
    }
}
