//! Plans an all-to-all around a dead cable, has it verified, and runs it among threads.

use std::error::Error;
use std::time::Duration;

use collsynth::collective::Kind;
use collsynth::plan::{Control, Goal, synthesize};
use collsynth::runtime::threads;
use collsynth::schedule::Solution;
use collsynth::topology::{Topology, TopologySpec};
use collsynth::verify::{Options, Verified};

fn main() -> Result<(), Box<dyn Error>> {
    let torus = Topology::new(TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1)]))?;
    let plan = synthesize(&torus, &Kind::AllToAll, &Goal::default(), &Control::unlimited())?;
    let schedule = Verified::<Solution>::new(plan.into(), &Options::default())?;

    let received = threads::run(&schedule, Duration::from_secs(10), |mut communicator| {
        // For every rank, a message of two numbers: who sends it, and who is to receive it.
        let me = communicator.rank().0 as i32;
        let input: Vec<i32> = (0..16).flat_map(|to| [me, to]).collect();
        let mut output = vec![0; input.len()];
        communicator.all_to_all(&input, &mut output).map(|()| output)
    })?;
    for (rank, output) in received.into_iter().enumerate() {
        println!("rank {rank} received {:?}", output?);
    }
    Ok(())
}
