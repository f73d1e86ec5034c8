//! Shares of a broken ring's data, rounded to whole chunks.

use std::cmp::Reverse;

use super::allocation::Portion;
use super::machine::Errand;
use super::routings::BrokenRing;
use collsynth_core::collective::ChunkId;
use collsynth_plan::phased::Walks;

/// Anything this close to a whole number of chunks counts as that number.
const NEAR: f64 = 1e-5;

/// Sends all chunks of a broken ring. Between any two positions each routing takes its share, rounded; the next pair
/// makes up for the rounding. Pairs whose data crosses the same links at the end of the line come in sequence, so that
/// these links carry their exact share, rounded once.
pub(super) fn send(ring: &BrokenRing, portions: &[Portion<'_>], mut errands: Vec<Errand>, walks: &mut [Walks]) {
    errands.sort_by_key(|errand| {
        let [from, to] = [errand.from, errand.to].map(|position| ring.place_in_line(position));
        (from < to, Reverse(from.max(to)), from, to)
    });
    let mut owed = vec![0.0; portions.len()];
    for errand in &errands {
        let mut chunks = errand.chunks.as_slice();
        let counts = round(portions, chunks.len(), &mut owed);
        for (portion, count) in portions.iter().zip(counts) {
            let (mut taken, rest) = chunks.split_at(count);
            chunks = rest;
            // Of two routes, even positions give the first the larger half, odd ones the second.
            let routes = portion.routing.routes(errand.from, errand.to);
            for (index, route) in routes.iter().enumerate() {
                let left = routes.len() - index;
                let share = if errand.from.is_multiple_of(2) { taken.len().div_ceil(left) } else { taken.len() / left };
                let (these, rest): (&[ChunkId], _) = taken.split_at(share);
                taken = rest;
                walks[portion.phase].send(route, these.iter().copied());
            }
        }
    }
}

/// The number of chunks on each routing: rounded down, with the rest to the routings owed most.
fn round(portions: &[Portion<'_>], chunks: usize, owed: &mut [f64]) -> Vec<usize> {
    let due: Vec<f64> = portions.iter().zip(&*owed).map(|(of, owed)| of.share * chunks as f64 + owed).collect();
    let mut left = chunks;
    let mut counts = vec![0; portions.len()];
    for (count, due) in counts.iter_mut().zip(&due) {
        *count = ((due + NEAR).floor().max(0.0) as usize).min(left);
        left -= *count;
    }
    let mut by_rest: Vec<usize> = (0..portions.len()).filter(|&of| portions[of].share > 0.0).collect();
    by_rest.sort_by(|&a, &b| (due[b] - counts[b] as f64).total_cmp(&(due[a] - counts[a] as f64)).then(a.cmp(&b)));
    by_rest.iter().cycle().take(left).for_each(|&of| counts[of] += 1);
    for ((owed, due), count) in owed.iter_mut().zip(due).zip(&counts) {
        *owed = due - *count as f64;
    }
    counts
}
