//! A custom planner: broadcasts along a tree of shortest paths, a level per step.
//!
//! Its schedules are verified like any other. docs/internals/planner-guide.md shows how to register the same planner.

use std::error::Error;

use collsynth::collective::ChunkId;
use collsynth::plan::{Outcome, Scope, StopReason, Task};
use collsynth::schedule::{Op, Schedule};
use collsynth::topology::LinkId;
use collsynth::{Control, Kind, PlanError, Planner, RankId, Request, Topology};

struct BreadthFirst;

impl Planner for BreadthFirst {
    fn name(&self) -> &'static str {
        "breadth_first"
    }

    fn summary(&self) -> &'static str {
        "broadcast on any connected network: along a tree of shortest paths, whole messages"
    }

    fn scope(&self) -> Scope {
        Scope::of(&["broadcast"])
    }

    fn plan(&self, task: &Task<'_>, _control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let topology = task.problem.topology();
        let root = task.problem.collective().kind.root().expect("a broadcast has a root");
        let mut has = vec![false; topology.rank_count()];
        has[root.index()] = true;
        let mut builder = Schedule::builder();
        loop {
            // For each rank without the message, one link that reaches it.
            let mut reached = has.clone();
            let level: Vec<LinkId> = topology
                .live_links()
                .filter(|&id| has[topology.link(id).from.index()])
                .filter(|&id| !std::mem::replace(&mut reached[topology.link(id).to.index()], true))
                .collect();
            if level.is_empty() {
                break;
            }
            builder.step(task.problem.parts());
            for id in level {
                let chunks = (0..task.problem.chunk_count()).map(ChunkId);
                builder.transfer_over(topology, id, Op::Copy, chunks);
            }
            has = reached;
        }
        let schedule = builder.finish();
        task.check_steps(self.name(), schedule.step_count())?;
        Ok(Outcome::new(schedule, StopReason::Finished))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let torus = Topology::torus(&[4, 4])?.fail_cable(0, 1)?;
    let plan = Request::new(&torus, Kind::Broadcast(RankId(0))).planner(&BreadthFirst).run()?;
    let verified = plan.verify()?;
    let (steps, width) = (verified.schedule.step_count(), verified.schedule.total_width());
    println!("{steps} steps, volume {width}; no schedule has fewer than {} steps", verified.bounds.least_steps());
    assert_eq!(steps, 4);
    Ok(())
}
