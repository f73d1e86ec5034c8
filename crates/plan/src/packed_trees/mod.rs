//! Packed trees.

mod cables;
mod packing;
mod scheduling;

use crate::error::check_kind;
use crate::moves::Moves;
use crate::{Control, Outcome, PlanError, Planner, StopReason, Task};
use cables::Cables;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use packing::Packing;
use scheduling::{Hops, Timetable};

pub struct PackedTrees;

impl Planner for PackedTrees {
    fn name(&self) -> &'static str {
        "packed_trees"
    }

    fn summary(&self) -> &'static str {
        "all_reduce on any network of cables: trees packed evenly, then scheduled forward and backward"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        check_kind(self.name(), problem, &["all_reduce"])
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        if problem.is_trivial() {
            return Ok(Outcome::new(Schedule::default(), StopReason::Finished));
        }
        let topology = problem.topology();
        let cables = Cables::new(topology);
        let live: Vec<u32> = topology.live_ranks().map(|rank| rank.0).collect();
        if !cables.connect(&live) {
            let limit = "cables whole in both directions".to_owned();
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let stop = || control.stop().is_some();
        let t0 = std::time::Instant::now();
        let least = task.bounds.least_width(problem.parts());
        let mut packing = Packing::grow(&cables, &live, problem.parts());
        let grown = packing.greatest_load();
        let t1 = t0.elapsed();
        packing.repair(least, &stop);
        eprintln!("grown {grown} in {t1:?}, repaired {} (bound {least}) {:?}", packing.greatest_load(), t0.elapsed());
        let hops = Hops::new(&cables, &packing.trees);
        let mut best: Option<Timetable> = None;
        for width in [1, 2, 3, 4, 6, 8] {
            let found = hops.timetable(width, 16, least, task.seed, &stop);
            eprintln!("w {width}: {:?} {:?}", found.figures(), t0.elapsed());
            if best.as_ref().is_none_or(|best| found.figures() < best.figures()) {
                best = Some(found);
            }
        }
        let best = best.unwrap();
        let mut moves = Moves::new(best.widths.len());
        hops.each(&best, |tree, rank, way, step| {
            let (cable, parent) = (packing.trees[tree as usize].cable[rank as usize], packing.trees[tree as usize].parent[rank as usize]);
            let (from, op) = if way == 0 { (rank, Op::Reduce) } else { (parent, Op::Copy) };
            moves.add(step, cables.link_from(cable, from), op, [ChunkId(tree)]);
        });
        let schedule = moves.write(topology, |step, needed| (needed > 0).then_some(best.widths[step]));
        task.check_steps(self.name(), schedule.step_count())?;
        Ok(Outcome::new(schedule, control.stop().unwrap_or(StopReason::Finished)))
    }
}
