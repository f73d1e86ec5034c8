//! Plans around dead cables and a dead rank, and lowers the schedule to a program for each rank.

use std::error::Error;

use collsynth::audit::{AuditOptions, AuditedProgram};
use collsynth::lower::{Target, lower};
use collsynth::{Kind, RankId, Request, Topology};

fn main() -> Result<(), Box<dyn Error>> {
    let torus = Topology::torus(&[4, 4])?.fail_cable(0, 1)?.fail_cable(5, 9)?.fail_rank(15)?;
    let schedule = Request::new(&torus, Kind::AllGather).run()?.verify()?;
    println!("{} steps, width {}", schedule.schedule.step_count(), schedule.schedule.total_width());

    // Real runtimes do not run in lockstep: the audit judges the program in every interleaving.
    let program = lower(&schedule, &Target::default())?;
    let audited = AuditedProgram::new(program, &AuditOptions::default())?;
    for rank in [RankId(0), RankId(1)] {
        let workers = audited.workers(rank);
        let operations: usize = workers.map(|worker| audited.range(worker).len()).sum();
        println!("rank {rank}: {operations} operations");
    }
    Ok(())
}
