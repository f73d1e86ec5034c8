//! The hot loops: negotiation, the template, the verifier, the reader. `cargo bench`.

use std::hint::black_box;

use collsynth::collective::Kind;
use collsynth::format::json::{parse_solution, solution_to_string};
use collsynth::plan::{Control, Goal, Parts, Plan, synthesize};
use collsynth::schedule::Solution;
use collsynth::topology::{FailedLink, RankId, Shape, Topology, TopologySpec, Torus};
use collsynth::verify::{Options, verify};
use criterion::{Criterion, criterion_group, criterion_main};

fn torus(extents: &[u32], cable: Option<(u32, u32)>) -> Topology {
    let failed = cable.map(|(from, to)| FailedLink::cable(RankId(from), RankId(to)));
    let shape = Shape::Torus(Torus::new(extents));
    Topology::new(TopologySpec { failed_links: failed.into_iter().collect(), ..TopologySpec::new(shape) })
        .expect("the cables of the benchmarks exist")
}

fn plan(topology: &Topology, parts: u32) -> Plan {
    let goal = Goal { parts: Parts::Fixed(parts), ..Goal::default() };
    synthesize(topology, &Kind::AllToAll, &goal, &Control::unlimited()).expect("the benchmarks can be planned")
}

fn planning(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    group.sample_size(10);
    for (name, extents, cable, parts) in [
        ("4x4x4, one cable", &[4, 4, 4][..], Some((2, 3)), 1),
        ("4x4x4, one cable, 31 parts", &[4, 4, 4], Some((2, 3)), 31),
        ("8x8x8", &[8, 8, 8], None, 1),
        ("8x8x8, one cable", &[8, 8, 8], Some((2, 3)), 1),
    ] {
        let topology = torus(extents, cable);
        group.bench_function(name, |bencher| bencher.iter(|| plan(black_box(&topology), parts)));
    }
}

fn judging(criterion: &mut Criterion) {
    let solution = Solution::from(plan(&torus(&[8, 8, 8], None), 1));
    let text = solution_to_string(&solution);
    let mut group = criterion.benchmark_group("8x8x8, 1.57 M chunk moves");
    group.sample_size(10);
    group.bench_function("verify", |bencher| bencher.iter(|| verify(black_box(&solution), &Options::default())));
    group.bench_function("read", |bencher| bencher.iter(|| parse_solution(black_box(&text))));
    group.bench_function("write", |bencher| bencher.iter(|| solution_to_string(black_box(&solution))));
}

criterion_group!(benches, planning, judging);
criterion_main!(benches);
