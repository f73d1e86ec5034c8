//! Runs a verified all-to-all around a dead cable on real buffers, one thread per rank.

use std::error::Error;
use std::time::Duration;

use collsynth::runtime::threads;
use collsynth::{Kind, Request, Topology};

fn main() -> Result<(), Box<dyn Error>> {
    let torus = Topology::torus(&[4, 4])?.fail_cable(0, 1)?;
    let schedule = Request::new(&torus, Kind::AllToAll).run()?.verify()?.expand();

    let received = threads::run(&schedule, Duration::from_secs(10), |mut communicator| {
        // Each message is two numbers: its sender and its receiver.
        let me = communicator.rank().0 as i32;
        let input: Vec<i32> = (0..16).flat_map(|to| [me, to]).collect();
        let mut output = vec![0; input.len()];
        communicator.all_to_all(&input, &mut output).map(|()| output)
    })?;
    for (rank, output) in received.into_iter().enumerate() {
        let output = output?;
        assert!(output.chunks(2).enumerate().all(|(from, message)| message == [from as i32, rank as i32]));
        println!("rank {rank} received {output:?}");
    }
    Ok(())
}
