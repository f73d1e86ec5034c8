//! All-reduce of 64 MiB among 8 ranks in one process, compared with the machine's memory bandwidth and a naive
//! implementation. `cargo bench --bench all_reduce`; run it on an idle machine.
//!
//! Two memory bounds, both measured here by the ranks' threads on their buffers:
//!
//! * *once*: every rank's buffer is read and written once, 1 GiB of traffic. No all-reduce can take less. A group is
//!   expected to reach at least half of this bound.
//! * *moved*: the bytes that a ring's schedule moves, `2*(N-1)` buffers, each copied once. Data that stays in the
//!   caches costs less, so an all-reduce can be faster.
//!
//! The ranks are threads with a communicator each, and then a group, whose ranks are tasks of one thread per core.
//!
//! All variants are measured in turn in every round; shares are taken within a round, and the median is printed, so
//! that other load on the machine slows both sides.

use std::hint::black_box;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use collsynth::collective::Kind;
use collsynth::plan::{Control, Goal, Parts, planner_named, synthesize};
use collsynth::runtime::{Element, Group, RankBuffers, ReduceOp, threads};
use collsynth::schedule::Solution;
use collsynth::topology::Topology;
use collsynth::verify::{Options, Verified};
use half::{bf16, f16};

const RANKS: usize = 8;
const BYTES: usize = 64 << 20;
const ROUNDS: usize = 11;

/// Per round: *once*, *moved*, the all-reduce of threads, and of a group.
const MEASURED: usize = 4;

/// A rank's start and end times in a round.
type Spans = [(Instant, Instant); MEASURED];

/// The times of a round, from the first rank's start to the last one's end.
type Round = [Duration; MEASURED];

fn main() {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!("{RANKS} ranks, {BYTES} bytes each, {cores} cores; milliseconds, the least of {ROUNDS} rounds");
    println!("  {:46} {:>7} {:>7} {:>7} {:>7}   share of once, of moved", "", "once", "moved", "threads", "group");
    let ring = Some("ring_all_reduce");
    show("ring_all_reduce on a ring of 8, f32 sum", &ours::<f32>(ring, &[8], ReduceOp::Sum));
    show("ring_all_reduce on a ring of 8, f32 max", &ours::<f32>(ring, &[8], ReduceOp::Max));
    show("ring_all_reduce on a ring of 8, f64 sum", &ours::<f64>(ring, &[8], ReduceOp::Sum));
    show("ring_all_reduce on a ring of 8, i32 sum", &ours::<i32>(ring, &[8], ReduceOp::Sum));
    show("ring_all_reduce on a ring of 8, f16 sum", &ours::<f16>(ring, &[8], ReduceOp::Sum));
    show("ring_all_reduce on a ring of 8, bf16 sum", &ours::<bf16>(ring, &[8], ReduceOp::Sum));
    show("the default planner's on a ring of 8, f32 sum", &ours::<f32>(None, &[8], ReduceOp::Sum));
    show("the default planner's on 2x2x2, f32 sum", &ours::<f32>(None, &[2, 2, 2], ReduceOp::Sum));
    println!("  {:46} {:26.1}", "naive: rank 0 sums up, the others copy", milliseconds(naive()));
}

fn show(name: &str, rounds: &[Round]) {
    let least = |which: usize| milliseconds(rounds.iter().map(|round| round[which]).min().unwrap_or_default());
    let share = |which: usize, of: usize| {
        let mut shares: Vec<f64> =
            rounds.iter().map(|round| round[of].as_secs_f64() / round[which].as_secs_f64()).collect();
        shares.sort_by(f64::total_cmp);
        100.0 * shares[shares.len() / 2]
    };
    let [once, moved, threads, group] = [0, 1, 2, 3].map(least);
    let shares = [2, 3].map(|which| format!("{:.0}, {:.0} %", share(which, 0), share(which, 1)));
    println!(
        "  {name:46} {once:7.1} {moved:7.1} {threads:7.1} {group:7.1}   threads {}; group {}",
        shares[0], shares[1]
    );
}

/// An all-reduce by a planner (`None`: the default), in turn with the bounds.
fn ours<E: Element>(planner: Option<&str>, extents: &[u32], op: ReduceOp) -> Vec<Round> {
    let topology = Topology::torus(extents).expect("a torus");
    let planner = planner.map(|name| planner_named(name).unwrap());
    let goal = Goal { planner, parts: Parts::Fixed(RANKS as u32), ..Goal::default() };
    let plan = synthesize(&topology, &Kind::AllReduce, &goal, &Control::unlimited()).expect("a plan");
    let schedule = Verified::<Solution>::new(plan.into(), &Options::default()).expect("it holds");
    let barrier = Barrier::new(RANKS);
    let group = Mutex::new(Group::new(&schedule).expect("a group"));
    let buffers: Vec<Mutex<Vec<E>>> = (0..RANKS).map(|_| Mutex::default()).collect();
    let spans = threads::run(&schedule, Duration::from_secs(60), |mut communicator| {
        let rank = communicator.rank().index();
        *buffers[rank].lock().expect("no panic") = vec![E::zeroed(); BYTES / size_of::<E>()];
        let other = vec![1_u64; BYTES / 8];
        let turn = |work: &mut dyn FnMut()| {
            barrier.wait();
            let started = Instant::now();
            work();
            let ended = Instant::now();
            barrier.wait();
            (started, ended)
        };
        let round = |_| -> Spans {
            let mut buffer = buffers[rank].lock().expect("no panic");
            let words = bytemuck::cast_slice_mut::<E, u64>(&mut buffer);
            let once = turn(&mut || words.iter_mut().for_each(|word| *word = word.wrapping_add(1)));
            let moved = turn(&mut || {
                let chunk = words.len() / RANKS;
                for number in 0..2 * (RANKS - 1) {
                    let at = number % RANKS * chunk..(number % RANKS + 1) * chunk;
                    black_box(&mut words[at.clone()]).copy_from_slice(black_box(&other[at]));
                }
            });
            buffer.fill(E::zeroed());
            let time = turn(&mut || communicator.all_reduce(&mut buffer, op).expect("an all-reduce"));
            buffer.fill(E::zeroed());
            drop(buffer);
            let together = turn(&mut || {
                if rank == 0 {
                    let mut all: Vec<_> = buffers.iter().map(|buffer| buffer.lock().expect("no panic")).collect();
                    let of_rank = |output| RankBuffers { input: &[], output };
                    let mut all: Vec<_> = all.iter_mut().map(|buffer| of_rank(&mut buffer[..])).collect();
                    group.lock().expect("no panic").run(&mut all, op).expect("an all-reduce");
                }
            });
            [once, moved, time, together]
        };
        (0..ROUNDS).map(round).collect::<Vec<Spans>>()
    });
    let spans = spans.expect("communicators");
    let time = |round: usize, which: usize| {
        let ranks = || spans.iter().map(|rank| rank[round][which]);
        let ended = ranks().map(|(_, ended)| ended).max();
        ended.zip(ranks().map(|(started, _)| started).min()).map_or(Duration::ZERO, |(ended, started)| ended - started)
    };
    (0..ROUNDS).map(|round| std::array::from_fn(|which| time(round, which))).collect()
}

/// One rank collects all buffers, adds them to its own and hands out the sum.
fn naive() -> Duration {
    let handed_over: Arc<Mutex<Vec<Vec<f32>>>> = Arc::default();
    let barrier = Barrier::new(RANKS);
    let least = thread::scope(|scope| {
        let rank = |rank: usize| {
            let (handed_over, barrier) = (Arc::clone(&handed_over), &barrier);
            scope.spawn(move || {
                let mut buffer = vec![1.0_f32; BYTES / 4];
                let mut times = Vec::new();
                for _ in 0..5 {
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
                times.into_iter().min().unwrap_or_default()
            })
        };
        let handles: Vec<_> = (0..RANKS).map(rank).collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic")).max()
    });
    least.unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
