//! The compact form: its verdict is that on the expanded schedule, whatever is wrong with pattern or exceptions.
//!
//! The schedules are made here, at random: a tree for each chunk of rank 0 on the intact machine, trees of their own
//! for exceptions on the machine with its failures, and mutations of both.

use std::collections::BTreeSet;

use fastrand::Rng;

use collsynth::certificate::Bounds;
use collsynth::collective::{ChunkId, Collective, Combining, Kind, Pattern};
use collsynth::form::find_pattern;
use collsynth::format::json::{parse_solution, parse_stated_within, solution_to_string, write_expanded};
use collsynth::limits::Limits;
use collsynth::lower::{Target, lower};
use collsynth::problem::Problem;
use collsynth::renumber::renumber;
use collsynth::schedule::{CompactSchedule, Exceptions, Op, Repeated, Schedule, Solution, Stated, Translation};
use collsynth::topology::{DimRef, Direction, FailedLink, RankId, Shape, Switch, Topology, TopologySpec, Torus};
use collsynth::verdict::Verdict;
use collsynth::verify::{Code, Finding, Options, Report, Verified, verify};

const CASES: u64 = 4000;

/// A move: step from 0, sender, receiver, direction where two links join them, operation, chunk.
type Move = (u32, RankId, RankId, Option<Direction>, Op, ChunkId);

fn random_machine(rng: &mut Rng) -> TopologySpec {
    let extents: &[&[u32]] = &[&[2], &[3], &[4], &[5], &[6], &[2, 3], &[3, 3], &[4, 2], &[6, 2], &[4, 4], &[2, 2, 2]];
    let mut torus = Torus::new(extents[rng.usize(..extents.len())]);
    match rng.u8(..4) {
        // Two cables between the same ranks.
        0 => torus.wrap = vec![true; torus.extents.len()],
        1 => torus = Torus::twisted(&[2, 4]).expect("doubled"),
        _ => {}
    }
    TopologySpec::new(Shape::Torus(torus))
}

fn with_failures(mut spec: TopologySpec, rng: &mut Rng) -> TopologySpec {
    let intact = Topology::new(spec.clone()).expect("a torus");
    for _ in 0..rng.usize(..3) {
        let link = &intact.links()[rng.usize(..intact.links().len())];
        let failed =
            FailedLink { from: link.from, to: link.to, dim: link.direction.map(DimRef::Direction), both: rng.bool() };
        let mut more = spec.clone();
        match rng.u8(..4) {
            0 => more.failed_ranks = [more.failed_ranks, vec![link.from]].concat(),
            _ => more.failed_links.push(failed),
        }
        if Topology::new(more.clone()).is_ok() {
            spec = more;
        }
    }
    spec
}

/// A chunk's moves along random trees, as far as they reach.
fn moves_of(problem: &Problem, chunk: ChunkId, rng: &mut Rng) -> Vec<Move> {
    let machine = problem.topology();
    let rule = problem.rule(chunk);
    let (before, after): (Vec<RankId>, Vec<RankId>) =
        (problem.holders(rule.before).collect(), problem.holders(rule.after).collect());
    let (Some(&center), false) = (if before.len() == 1 { &before } else { &after }.first(), after.is_empty()) else {
        return Vec::new();
    };
    let grow = |needed: &[RankId], rng: &mut Rng| {
        let mut reached = vec![(center, None, 0)];
        loop {
            let mut next: Vec<_> = machine
                .live_links()
                .map(|id| machine.link(id))
                .filter(|link| {
                    let has = |rank| reached.iter().any(|&(reached, ..)| reached == rank);
                    has(link.from) && !has(link.to)
                })
                .collect();
            if next.is_empty() || needed.iter().all(|&rank| reached.iter().any(|&(reached, ..)| reached == rank)) {
                break;
            }
            let link = next.swap_remove(rng.usize(..next.len()));
            let depth = reached.iter().find(|&&(rank, ..)| rank == link.from).expect("reached").2 + 1;
            reached.push((link.to, Some(link), depth));
        }
        // Only what leads to ranks that need it.
        while let Some(leaf) = reached.iter().rposition(|&(rank, link, _)| {
            link.is_some()
                && !needed.contains(&rank)
                && !reached.iter().any(|&(_, other, _)| other.is_some_and(|other| other.from == rank))
        }) {
            reached.remove(leaf);
        }
        reached
    };
    let mut moves = Vec::new();
    let via = |from: RankId, to: RankId, direction: Option<Direction>| {
        direction.filter(|_| machine.links_between(from, to).count() > 1)
    };
    let mut first = rng.u32(..2);
    if problem.collective().kind.combining() == Combining::Sum {
        let tree = grow(&before, rng);
        let depth = tree.iter().map(|&(.., depth)| depth).max().unwrap_or(0);
        for (_, link, at) in tree.iter().filter_map(|&(rank, link, at)| Some((rank, link?, at))) {
            let back = link.direction.map(Direction::opposite);
            moves.push((first + depth - at, link.to, link.from, via(link.to, link.from, back), Op::Reduce, chunk));
        }
        first += depth;
    }
    if problem.collective().kind.pattern() != Pattern::EveryToOne {
        for (_, link, at) in grow(&after, rng).iter().filter_map(|&(rank, link, at)| Some((rank, link?, at))) {
            moves.push((first + at - 1, link.from, link.to, via(link.from, link.to, link.direction), Op::Copy, chunk));
        }
    }
    moves
}

fn schedule(mut moves: Vec<Move>, widths: &[u32]) -> Schedule {
    moves.sort_unstable();
    let mut builder = Schedule::builder();
    for (step, &width) in (0..).zip(widths) {
        builder.step(width);
        let of_step: Vec<Move> = moves.iter().copied().filter(|one| one.0 == step).collect();
        for same in of_step.chunk_by(|a, b| (a.1, a.2, a.3, a.4) == (b.1, b.2, b.3, b.4)) {
            let (_, from, to, via, op, _) = same[0];
            builder.transfer(from, to, via, op, same.iter().map(|one| one.5));
        }
    }
    builder.finish()
}

fn mutate(moves: &mut Vec<Move>, ranks: u32, chunks: u32, rng: &mut Rng) {
    if moves.is_empty() {
        return;
    }
    let at = rng.usize(..moves.len());
    match rng.u8(..6) {
        0 => drop(moves.remove(at)),
        1 => moves[at].0 = moves[at].0.saturating_sub(1),
        2 => moves[at].2 = RankId(rng.u32(..ranks)),
        3 => moves[at].4 = if moves[at].4 == Op::Copy { Op::Reduce } else { Op::Copy },
        4 => moves[at].5 = ChunkId(rng.u32(..chunks)),
        _ => moves.push(moves[at]),
    }
}

/// A period of the torus, and sometimes a dead switch of it.
fn with_period(mut spec: TopologySpec, rng: &mut Rng) -> Option<(TopologySpec, Vec<u32>)> {
    let machine = Topology::new(spec.clone()).expect("a torus");
    let torus = machine.as_torus()?;
    let periods = torus.extents.iter().map(|&extent| {
        let parts: Vec<u32> = (1..=extent).filter(|&part| extent.is_multiple_of(part)).collect();
        parts[rng.usize(..parts.len())]
    });
    let period: Vec<u32> = periods.collect();
    torus.check_period(&period).ok()?;
    for _ in 0..rng.u8(..3) {
        let dim = rng.usize(..period.len());
        let others = period.iter().enumerate().filter(|(other, _)| *other != dim);
        let at: Vec<String> = others.map(|(_, &part)| rng.u32(..part).to_string()).collect();
        let switch: Switch = format!("{}:{}", ["x", "y", "z"][dim], at.join(",")).parse().expect("a switch");
        let mut more = spec.clone();
        more.failed_links.extend(switch.cables(&machine, &period).unwrap_or_default());
        if Topology::new(more.clone()).is_ok() {
            spec = more;
        }
    }
    Some((spec, period))
}

/// What repeats with a period: chunks and moves.
#[derive(Clone, Default)]
struct InCells {
    period: Vec<u32>,
    chunks: BTreeSet<ChunkId>,
    moves: Vec<Move>,
}

impl InCells {
    /// Chunks of the first cell that cross a failed link anywhere, and a few others.
    fn random(problem: &Problem, whole: &Problem, period: Vec<u32>, pattern: &[Move], rng: &mut Rng) -> Self {
        let translation = Translation::new(problem).expect("a torus");
        let torus = problem.machine().as_torus().expect("a torus");
        let dims = 0..period.len();
        let all = |rank: RankId, test: &dyn Fn(u32, u32) -> bool| {
            dims.clone().all(|dim| test(torus.position(rank, dim), period[dim]))
        };
        let ranks = || (0..translation.rank_count()).map(RankId);
        let cell: Vec<RankId> = ranks().filter(|&rank| all(rank, &|at, part| at < part)).collect();
        let multiples: Vec<RankId> = ranks().filter(|&rank| all(rank, &|at, part| at % part == 0)).collect();
        let mut chunks = BTreeSet::new();
        for &(_, from, to, via, _, chunk) in pattern {
            for (&owner, &by) in cell.iter().flat_map(|owner| multiples.iter().map(move |by| (owner, by))) {
                let by = translation.rank(owner, by);
                let (from, to) = (translation.rank(from, by), translation.rank(to, by));
                let is_link = |id: &_| via.is_none() || problem.topology().link(*id).direction == via;
                let mut links = problem.topology().links_between(from, to).filter(is_link);
                if links.all(|id| !problem.topology().link(id).alive) || rng.u8(..30) == 0 {
                    chunks.insert(translation.chunk(chunk, owner));
                }
            }
        }
        // They move around what failed for good, as if nothing else had, at the cell where their sender is first.
        let mut moves: Vec<Move> = Vec::new();
        for &chunk in &chunks {
            let machine = if rng.bool() { problem } else { whole };
            for (step, from, to, via, op, chunk) in moves_of(machine, chunk, rng) {
                let first = cell.iter().copied().find(|&rank| multiples.contains(&translation.between(rank, from)));
                let by = translation.between(from, first.expect("one of its cell"));
                let [from, to] = [from, to].map(|rank| translation.rank(rank, by));
                moves.push((step, from, to, via, op, translation.chunk(chunk, by)));
            }
        }
        Self { period, chunks, moves }
    }

    fn stated(&self, widths: &[u32]) -> Option<Repeated> {
        let (period, chunks) = (self.period.clone(), self.chunks.iter().copied().collect());
        (!period.is_empty()).then(|| Repeated { period, chunks, moves: schedule(self.moves.clone(), widths) })
    }
}

/// What single chunks do.
#[derive(Default)]
struct Single {
    exceptions: BTreeSet<ChunkId>,
    without: Vec<Move>,
    own: Vec<Move>,
}

impl Single {
    /// Makes altered chunks of some exceptions, given the schedule without any: they are without the moves that are not
    /// theirs, and have no others of their own but those that it does not make; or they are without all of them.
    fn alter(&mut self, followed: &Schedule, rng: &mut Rng) {
        for chunk in self.exceptions.clone() {
            if rng.u8(..4) == 0 {
                continue;
            }
            let mut made = Vec::new();
            for step in followed.steps() {
                let with = step.transfers.iter().filter(|one| followed.chunks(one).contains(&chunk));
                made.extend(with.map(|one| (step.number - 1, one.from, one.to, one.via, one.op, chunk)));
            }
            let shares = rng.u8(..4) > 0;
            let shared: Vec<Move> = made.iter().copied().filter(|one| shares && self.own.contains(one)).collect();
            made.retain(|one| !shared.contains(one));
            if made.is_empty() {
                continue;
            }
            self.exceptions.remove(&chunk);
            self.own.retain(|one| !shared.contains(one));
            self.without.extend(made);
        }
    }
}

/// A random schedule in the compact form, right or wrong; `repeats`: with a period.
fn random_case(repeats: bool, rng: &mut Rng) -> Option<Solution<CompactSchedule>> {
    let intact = random_machine(rng);
    let (switched, period) = match repeats {
        true => with_period(intact.clone(), rng)?,
        false => (intact.clone(), Vec::new()),
    };
    let machine = Topology::new(if repeats && rng.bool() { switched } else { with_failures(switched, rng) }).ok()?;
    let intact = Topology::new(intact).expect("a torus");
    let ranks = machine.rank_count() as u32;
    let kinds = [Kind::AllToAll, Kind::AllGather, Kind::ReduceScatter, Kind::AllReduce, Kind::AllReduceGathered];
    let kind = kinds[rng.usize(..kinds.len())].clone();
    let parts = rng.u32(1..=2) * if kind == Kind::AllReduce { ranks } else { 1 };
    let collective = Collective { kind, parts };
    let problem = Problem::new(machine, collective.clone()).ok()?;
    let whole = Problem::new(intact, collective).ok()?;
    let translation = Translation::new(&problem)?;
    let of_rank = translation.chunks_of_rank();
    let mut pattern: Vec<Move> = (0..of_rank).flat_map(|chunk| moves_of(&whole, ChunkId(chunk), rng)).collect();
    let mut cells = match repeats {
        true => InCells::random(&problem, &whole, period, &pattern, rng),
        false => InCells::default(),
    };
    // Exceptions: what crosses failed links, and a few others.
    let mut exceptions = BTreeSet::new();
    // With a period, hardly any: chunks that cross failed links are left to the cells, mostly.
    let few = if repeats { 200 } else { 20 };
    let met = |moves: &[Move], exceptions: &mut BTreeSet<ChunkId>, rng: &mut Rng| {
        for &(_, from, to, via, _, chunk) in moves {
            for by in (0..ranks).map(RankId) {
                let (from, to) = (translation.rank(from, by), translation.rank(to, by));
                let is_link = |id: &_| via.is_none() || problem.topology().link(*id).direction == via;
                let mut links = problem.topology().links_between(from, to).filter(is_link);
                if links.all(|id| !problem.topology().link(id).alive) || rng.u8(..few) == 0 {
                    exceptions.insert(translation.chunk(chunk, by));
                }
            }
        }
    };
    if !repeats || rng.u8(..3) == 0 {
        met(&pattern, &mut exceptions, rng);
    }
    let mut own: Vec<Move> = exceptions.iter().flat_map(|&chunk| moves_of(&problem, chunk, rng)).collect();
    for _ in 0..rng.u8(..3) {
        match rng.u8(..if repeats { 5 } else { 3 }) {
            3 => mutate(&mut cells.moves, ranks, problem.chunk_count(), rng),
            4 => {
                let dropped = cells.chunks.iter().next().copied().filter(|_| rng.bool());
                cells.chunks.retain(|&chunk| Some(chunk) != dropped);
            }
            0 => mutate(&mut pattern, ranks, of_rank, rng),
            1 => mutate(&mut own, ranks, problem.chunk_count(), rng),
            _ => {
                let dropped = exceptions.iter().next().copied().filter(|_| rng.bool());
                exceptions.retain(|&chunk| Some(chunk) != dropped);
                own.retain(|one| Some(one.5) != dropped);
            }
        }
    }
    own.retain(|one| exceptions.contains(&one.5));
    let steps = pattern.iter().chain(&own).chain(&cells.moves).map(|one| one.0 + 1).max().unwrap_or(0);
    let wide = vec![u32::MAX; steps as usize];
    let mut single = Single { exceptions, without: Vec::new(), own };
    if rng.bool() {
        let followed = schedule_of(&problem, &pattern, &cells, &Single::default(), &wide)?.expand();
        single.alter(&followed, rng);
        for _ in 0..rng.u8(..4) / 2 {
            match rng.bool() {
                true => mutate(&mut single.without, ranks, problem.chunk_count(), rng),
                false => mutate(&mut single.own, ranks, problem.chunk_count(), rng),
            }
        }
    }
    // Exactly as wide as needed, or at random.
    let needed = schedule_of(&problem, &pattern, &cells, &single, &wide)?.expand();
    let widths: Vec<u32> = needed
        .steps()
        .map(|step| {
            let fullest = step.transfers.iter().map(|transfer| needed.chunks(transfer).len() as u32).max().unwrap_or(0);
            if rng.u8(..8) == 0 { rng.u32(1..=3) } else { fullest.max(1) }
        })
        .collect();
    let schedule = schedule_of(&problem, &pattern, &cells, &single, &widths)?;
    Some(Solution { problem, schedule, bounds: Bounds::default(), origin: None })
}

fn schedule_of(
    problem: &Problem,
    pattern: &[Move],
    cells: &InCells,
    single: &Single,
    widths: &[u32],
) -> Option<CompactSchedule> {
    let [pattern, without, moves] =
        [pattern, &single.without, &single.own].map(|moves| schedule(moves.to_vec(), widths));
    let exceptions = Exceptions { chunks: single.exceptions.iter().copied().collect(), without, moves };
    CompactSchedule::new(problem, pattern, cells.stated(widths), exceptions).ok()
}

/// The findings but `W003`, which is not looked for in translations, without the places of chunks in transfers.
fn compared(report: &Report) -> (Vec<(Code, u64)>, Vec<Finding>, Vec<Finding>) {
    let without = |findings: &[Finding]| {
        let kept = findings.iter().filter(|found| found.code != Code::W003).cloned();
        kept.map(|found| Finding { chunk_index: None, ..found }).collect()
    };
    let totals = report.totals().filter(|(code, _)| *code != Code::W003).collect();
    (totals, without(&report.violations), without(&report.warnings))
}

#[test]
fn the_verdict_is_that_on_the_expanded_schedule() {
    the_verdicts_agree(false);
}

#[test]
fn with_a_period_the_verdict_is_that_on_the_expanded_schedule() {
    the_verdicts_agree(true);
}

fn the_verdicts_agree(repeats: bool) {
    let options = Options { max_errors: 10_000, ..Options::default() };
    let (mut held, mut refuted, mut altered) = (0, 0, 0);
    for seed in 0..CASES {
        let mut rng = Rng::with_seed(seed);
        let Some(compact) = random_case(repeats, &mut rng) else { continue };
        altered += u64::from(!compact.schedule.altered().is_empty());
        let Solution { problem, schedule, bounds, origin } = compact.clone();
        let explicit = Solution { problem, schedule: schedule.expand(), bounds, origin };
        let (expected, found) = (verify(&explicit, &options), verify(&compact, &options));
        let file = || format!("seed {seed}\n{}\n{}", solution_to_string(&compact), solution_to_string(&explicit));
        assert_eq!(compared(&found), compared(&expected), "{}", file());
        *(if found.verdict() == Verdict::Holds { &mut held } else { &mut refuted }) += 1;
        if let Ok(verified) = Verified::new(compact.clone(), &options) {
            let programs = [lower(&verified, &Target::default()), lower(&verified.expand(), &Target::default())];
            assert!(programs[0].is_ok() && programs[0] == programs[1], "{}", file());
            let renumbered =
                [renumber(&compact), renumber(&explicit)].map(|one| one.map(|one| (one.solution, one.was)));
            assert_eq!(renumbered[0], renumbered[1], "{}", file());
        }

        let mut streamed = Vec::new();
        write_expanded(&mut streamed, &compact).expect("written to memory");
        assert!(streamed == solution_to_string(&explicit).into_bytes(), "{}", file());

        let text = solution_to_string(&compact);
        let read = parse_stated_within(&text, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{}", file()));
        assert!(!read.schedule.is_explicit(), "not read as compact: {}", file());
        assert_eq!(solution_to_string(&read), text);
        assert_eq!(solution_to_string(&parse_solution(&text).expect("read before")), solution_to_string(&explicit));
    }
    let least = CASES / 20;
    assert!(held.min(refuted).min(altered) > least, "{held} hold, {refuted} do not; {altered} with altered chunks");
}

#[test]
fn a_pattern_is_found_again() {
    let departing = |schedule: &CompactSchedule| schedule.exceptions().chunks.len() + schedule.altered().len();
    let (mut found, mut altered) = (0, 0);
    for seed in 0..CASES / 4 {
        let Some(compact) = random_case(seed % 2 == 0, &mut Rng::with_seed(seed)) else { continue };
        let expanded = compact.schedule.expand();
        let again = find_pattern(&compact.problem, &expanded).expect("a torus");
        assert!(again.stated_moves() <= expanded.move_count());
        assert_eq!(again.expand(), expanded);
        altered += u32::from(!again.altered().is_empty());
        found += u32::from(departing(&again) <= departing(&compact.schedule));
    }
    assert!(found > 100 && altered > 100, "{found} as short, {altered} with altered chunks");
}
