//! Bandwidths, as collective benchmarks print them.
//!
//! As in NVIDIA's nccl-tests (`doc/PERFORMANCE.md`): the size `S` is that of the larger of a rank's two buffers, the
//! *algorithm bandwidth* is `S / time`, and the *bus bandwidth* multiplies it by the bytes that must cross a rank's
//! links per byte of `S`, so that it compares with the speed of the hardware, whatever the collective and the number of
//! ranks `n`: `2(n-1)/n` for an all-reduce, `(n-1)/n` where every rank keeps one block of `n`, 1 for broadcast and
//! reduce.

use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

/// Blocks in the larger of a rank's two buffers (chunks, for a demand), without those of failed ranks.
pub(super) fn blocks(problem: &Problem) -> usize {
    let kind = problem.collective().kind.called();
    match kind.demand() {
        Some(demand) => {
            let all = || problem.topology().live_ranks();
            let sent = |from| all().map(|to| demand.chunks(from, to).len()).sum::<usize>();
            let received = |to| all().map(|from| demand.chunks(from, to).len()).sum::<usize>();
            all().map(|rank| sent(rank).max(received(rank))).max().unwrap_or(0)
        }
        None if !kind.has_volume() => 0,
        None if kind.owners() == 0 => 1,
        None => largest(problem),
    }
}

/// The live ranks of the largest group, or all.
fn largest(problem: &Problem) -> usize {
    let live = |members: &Vec<RankId>| members.iter().filter(|&&rank| problem.topology().is_alive(rank)).count();
    let groups = problem.groups().map(|groups| groups.members().iter().map(live).max().unwrap_or(0));
    groups.unwrap_or_else(|| problem.topology().live_rank_count())
}

/// Algorithm and bus bandwidth in bytes per second, for a buffer of this many bytes; `None` if there are none.
pub(super) fn bandwidths(problem: &Problem, bytes: f64, seconds: f64) -> Option<(f64, f64)> {
    let live = largest(problem) as f64;
    let kept = (live - 1.0) / live;
    let kind = problem.collective().kind.called();
    let factor = match kind.pattern() {
        Pattern::EveryToEvery => 2.0 * kept,
        _ if kind.owners() == 0 => 1.0,
        _ => kept,
    };
    let algorithm = bytes / seconds;
    (kind.has_volume() && algorithm.is_finite() && bytes > 0.0).then_some((algorithm, algorithm * factor))
}
