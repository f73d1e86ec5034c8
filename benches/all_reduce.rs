//! All-reduce of 64 MiB among 8 ranks in one process, beside what the memory of the machine allows and a naive
//! implementation. `cargo bench --bench all_reduce`; run it on an idle machine.
//!
//! Two bounds of the memory, both measured here with a thread for each core: every buffer read and written once, which
//! no all-reduce can do without; and the bytes that the schedule moves, each copied once.

use std::hint::black_box;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use synth::collective::Kind;
use synth::plan::{Control, Parts, Wish, synthesise};
use synth::runtime::{Operation, threads};
use synth::schedule::Solution;
use synth::topology::Topology;
use synth::verify::{Options, Verified};

const RANKS: usize = 8;
const ELEMENTS: usize = 16 << 20;
const ROUNDS: usize = 7;

fn main() {
    let bytes = ELEMENTS * size_of::<f32>();
    let once = bound(|buffer, _| buffer.iter_mut().for_each(|element| *element += 1.0), RANKS as f64);
    let moved = bound(|buffer, other| buffer.copy_from_slice(other), 2.0 * (RANKS - 1) as f64);
    println!("{RANKS} ranks, {bytes} bytes each");
    println!("  memory, every buffer read and written once   {:7.1} ms", milliseconds(once));
    println!("  memory, every byte moved by a ring copied     {:7.1} ms", milliseconds(moved));
    for (planner, parts) in [("ring_all_reduce", 8), ("spanning_trees", 8)] {
        let time = ours(planner, parts);
        let share = 100.0 * once.as_secs_f64() / time.as_secs_f64();
        let of_moved = 100.0 * moved.as_secs_f64() / time.as_secs_f64();
        let name = format!("{planner} in {parts} parts");
        println!("  {name:44} {:7.1} ms  {share:.0} % and {of_moved:.0} % of the bounds", milliseconds(time));
    }
    println!("  naive: rank 0 adds all up, the others copy    {:7.1} ms", milliseconds(naive()));
}

/// The least time for so many buffers to be worked through, by a thread for each core.
fn bound(work: fn(&mut [f32], &[f32]), buffers: f64) -> Duration {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let barrier = Barrier::new(cores);
    let least = thread::scope(|scope| {
        let measure = || {
            let (mut buffer, other) = (vec![1.0_f32; ELEMENTS], vec![2.0_f32; ELEMENTS]);
            let rounds = (0..ROUNDS).map(|_| {
                barrier.wait();
                let started = Instant::now();
                work(black_box(&mut buffer), black_box(&other));
                barrier.wait();
                started.elapsed()
            });
            rounds.min().unwrap_or_default()
        };
        let handles: Vec<_> = (0..cores).map(|_| scope.spawn(measure)).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).max().unwrap_or_default()
    });
    least.mul_f64(buffers / cores as f64)
}

fn ours(planner: &str, parts: u32) -> Duration {
    let topology = Topology::torus(&[RANKS as u32]).expect("a ring");
    let wish = Wish { planner: Some(planner.to_owned()), parts: Parts::Fixed(parts), ..Wish::default() };
    let plan = synthesise(&topology, &Kind::AllReduce, &wish, &Control::unlimited()).expect("a plan");
    let solution = Solution { problem: plan.problem, schedule: plan.schedule, bounds: plan.bounds, origin: None };
    let schedule = Verified::<Solution>::new(solution, &Options::default()).expect("it holds");
    let barrier = Barrier::new(RANKS);
    let times = threads::run(&schedule, Duration::from_secs(60), |mut communicator| {
        let mut buffer = vec![1.0_f32; ELEMENTS];
        let rounds = (0..ROUNDS).map(|_| {
            barrier.wait();
            let started = Instant::now();
            communicator.all_reduce(&mut buffer, Operation::Max).expect("an all-reduce");
            started.elapsed()
        });
        rounds.collect::<Vec<_>>()
    });
    slowest(&times.expect("communicators"))
}

/// One rank takes the buffers of all others, adds them to its own and hands the sum to everyone.
fn naive() -> Duration {
    let handed_over: Arc<Mutex<Vec<Vec<f32>>>> = Arc::default();
    let barrier = Barrier::new(RANKS);
    let times = thread::scope(|scope| {
        let rank = |rank: usize| {
            let (handed_over, barrier) = (Arc::clone(&handed_over), &barrier);
            scope.spawn(move || {
                let mut buffer = vec![1.0_f32; ELEMENTS];
                let mut times = Vec::new();
                for _ in 0..ROUNDS {
                    barrier.wait();
                    let started = Instant::now();
                    let copy = buffer.clone();
                    handed_over.lock().expect("no panic").push(copy);
                    barrier.wait();
                    if rank == 0 {
                        let mut all = handed_over.lock().expect("no panic");
                        let mut sum = all.pop().expect("one for each rank");
                        for other in all.drain(..) {
                            sum.iter_mut().zip(&other).for_each(|(sum, other)| *sum = sum.max(*other));
                        }
                        all.push(sum);
                    }
                    barrier.wait();
                    let sum = handed_over.lock().expect("no panic")[0].clone();
                    buffer.copy_from_slice(&sum);
                    barrier.wait();
                    times.push(started.elapsed());
                    if rank == 0 {
                        handed_over.lock().expect("no panic").clear();
                    }
                }
                times
            })
        };
        let handles: Vec<_> = (0..RANKS).map(rank).collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic")).collect::<Vec<_>>()
    });
    slowest(&times)
}

/// The least, over the rounds, of the time of the slowest rank.
fn slowest(times: &[Vec<Duration>]) -> Duration {
    let round = |round: usize| times.iter().map(|rank| rank[round]).max().unwrap_or_default();
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
