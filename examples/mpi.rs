//! An all-reduce of 16 ranks over MPI: `cargo build --release --features mpi --example mpi`, then
//! `mpirun -n 16 target/release/examples/mpi`.

use std::error::Error;
use std::time::Duration;

use collsynth::runtime::mpi::MpiTransport;
use collsynth::runtime::{Communicator, ReduceOp};
use collsynth::{Kind, Request, Topology};
use mpi::environment::Threading;
use mpi::traits::Communicator as _;

fn main() -> Result<(), Box<dyn Error>> {
    let (universe, _) = mpi::initialize_with_threading(Threading::Serialized).ok_or("MPI cannot be initialized")?;
    let world = universe.world();

    // Equal requests give equal schedules, so every process can plan for itself.
    let schedule = Request::new(&Topology::torus(&[4, 4])?, Kind::AllReduce).run()?.verify()?.expand();

    let transport = MpiTransport::new(schedule.problem.topology(), Duration::from_secs(30))?;
    let mut buffer = vec![f64::from(world.rank()); 1000];
    let sum = || Communicator::new(transport, &schedule)?.all_reduce(&mut buffer, ReduceOp::Sum);
    if let Err(error) = sum() {
        eprintln!("{error}");
        world.abort(2);
    }
    assert!(buffer.iter().all(|&sum| sum == 120.0));
    if world.rank() == 0 {
        println!("16 ranks, every sum is 120");
    }
    Ok(())
}
