//! How deep sums are nested.

use std::collections::HashMap;

use collsynth_core::collective::{ChunkId, Combining};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::RankId;

/// The most additions that a contribution goes through on its way into a final value, over all chunks and all ranks
/// that end with one: rounding errors grow with it. 0 for collectives that add nothing.
///
/// For choosing between schedules. What a report says comes from the verifier, which finds the same of every schedule
/// that holds. O(moves).
pub fn addition_depth(problem: &Problem, schedule: &Schedule) -> u32 {
    if problem.collective().kind.combining() != Combining::Sum {
        return 0;
    }
    // What a rank holds of a chunk where it is no longer, or more than, its own contribution.
    let mut depths: HashMap<(RankId, ChunkId), u32> = HashMap::new();
    let held = |depths: &HashMap<(RankId, ChunkId), u32>, rank, chunk| {
        let own = || problem.is_holder(problem.rule(chunk).before, rank).then_some(0);
        depths.get(&(rank, chunk)).copied().or_else(own)
    };
    let mut arrivals = Vec::new();
    for step in schedule.steps() {
        for transfer in step.transfers {
            let sent = schedule.chunks(transfer).iter();
            arrivals.extend(sent.map(|&chunk| (transfer.to, transfer.op, chunk, held(&depths, transfer.from, chunk))));
        }
        for (to, op, chunk, sent) in arrivals.drain(..) {
            let depth = match (op, held(&depths, to, chunk), sent) {
                (Op::Reduce, Some(here), Some(sent)) => here.max(sent) + 1,
                (_, here, sent) => sent.or(here).unwrap_or(0),
            };
            depths.insert((to, chunk), depth);
        }
    }
    let ends = |(rank, chunk): &(RankId, ChunkId)| problem.is_holder(problem.rule(*chunk).after, *rank);
    depths.iter().filter(|(at, _)| ends(at)).map(|(_, &depth)| depth).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cost::Price;
    use crate::model::task::Task;
    use collsynth_bound as bound;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::Topology;

    /// A reduce to rank 0 on a ring of four: 3 and 2 send in the first step or not, 1 in the second.
    fn reduces(topology: &Topology) -> [Schedule; 2] {
        let link = |from, to| topology.links_between(RankId(from), RankId(to)).next().unwrap();
        let build = |steps: [&[(u32, u32)]; 2]| {
            let mut builder = Schedule::builder();
            for step in steps {
                builder.step(1);
                for &(from, to) in step {
                    builder.transfer_over(topology, link(from, to), Op::Reduce, [ChunkId(0)]);
                }
            }
            builder.finish()
        };
        // 0 + 3 + (1 + 2), and 0 + (1 + 2) + 3.
        [build([&[(3, 0), (2, 1)], &[(1, 0)]]), build([&[(2, 1)], &[(1, 0), (3, 0)]])]
    }

    #[test]
    fn of_equals_the_shallower_is_preferred() {
        let topology = Topology::torus(&[4]).unwrap();
        let [shallow, deep] = reduces(&topology);
        let problem = Problem::new(topology, Collective::new(Kind::Reduce(RankId(0)))).unwrap();
        assert_eq!([&shallow, &deep].map(|schedule| addition_depth(&problem, schedule)), [2, 3]);
        let bounds = bound::find(&problem).unwrap();
        let price = Price { message_bytes: 1 << 20, alpha: 1e-6, bandwidth: 1e9 };
        for price in [None, Some(price)] {
            let task = Task { price, ..Task::new(&problem, &bounds) };
            assert!(task.prefers(&shallow, &deep) && !task.prefers(&deep, &shallow), "{price:?}");
            assert!(!task.prefers(&shallow, &shallow));
        }
        let other = Problem::new(problem.topology().clone(), Collective::new(Kind::AllGather)).unwrap();
        assert_eq!(addition_depth(&other, &shallow), 0);
    }
}
