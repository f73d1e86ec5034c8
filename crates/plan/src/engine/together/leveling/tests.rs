use std::collections::BTreeMap;

use collsynth_core::collective::{ChunkId, Collective, Groups, Holders, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{LinkId, RankId, Topology};
use fastrand::Rng;

use super::level;
use super::loads::Loads;
use super::tree::{Tree, lower_root};
use crate::engine::together::hops::Hop;
use crate::model::control::Control;

fn problem(topology: &Topology, kind: Kind, parts: u32) -> Problem {
    Problem::new(topology.clone(), Collective { kind, parts }).unwrap()
}

/// Each of two ranks adds what the other has: no tree leads to one of them.
#[test]
fn an_exchange_is_no_tree() {
    let problem = problem(&Topology::torus(&[2]).unwrap(), Kind::AllReduce, 1);
    let hop = |id: LinkId| {
        let (from, to) = (problem.machine().link(id).from, problem.machine().link(id).to);
        Hop { chunk: ChunkId(0), step: 1, from, to, op: Op::Reduce, link: id, share: 0 }
    };
    let hops: Vec<Hop> = problem.machine().live_links().map(hop).collect();
    assert!(hops.len() == 2 && !super::is_trees(&problem, &hops) && super::is_trees(&problem, &hops[..1]));
}

/// Links that join a root to all who need a chunk, each that a random search comes upon, with how deep they lead.
fn random_tree(problem: &Problem, root: RankId, op: Op, ends: Holders, rng: &mut Rng) -> Vec<(LinkId, u32)> {
    let machine = problem.machine();
    let ends_of = |link: LinkId| {
        let link = machine.link(link);
        if op == Op::Copy { (link.from, link.to) } else { (link.to, link.from) }
    };
    let mut depth: BTreeMap<RankId, u32> = [(root, 0)].into();
    let mut tree = Vec::new();
    while depth.len() < machine.live_rank_count() {
        let leads_on = |&link: &LinkId| depth.contains_key(&ends_of(link).0) && !depth.contains_key(&ends_of(link).1);
        let links: Vec<LinkId> = machine.live_links().filter(leads_on).collect();
        let link = links[rng.usize(..links.len())];
        let below = depth[&ends_of(link).0] + 1;
        depth.insert(ends_of(link).1, below);
        tree.push((link, below));
    }
    // Nobody relays to nobody.
    while let Some(at) = tree.iter().position(|&(link, _)| {
        let below = ends_of(link).1;
        !problem.is_holder(ends, below) && tree.iter().all(|&(other, _)| ends_of(other).0 != below)
    }) {
        tree.remove(at);
    }
    tree
}

/// Every chunk along random trees.
fn random_route(problem: &Problem, rng: &mut Rng) -> Vec<Hop> {
    let machine = problem.machine();
    let mut hops = Vec::new();
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        let rule = problem.rule(chunk);
        let only = |of| (0..).map(RankId).find(|&rank| problem.is_holder(of, rank)).unwrap();
        let (adds, copies) = match problem.collective().kind.name() {
            "all_reduce" => (true, true),
            "reduce" | "reduce_scatter" => (true, false),
            _ => (false, true),
        };
        let root = only(if copies { rule.before } else { rule.after });
        let mut after = 0;
        for op in [Op::Reduce, Op::Copy].into_iter().filter(|op| if *op == Op::Reduce { adds } else { copies }) {
            let ends = if op == Op::Copy { rule.after } else { rule.before };
            let tree = random_tree(problem, root, op, ends, rng);
            let deepest = tree.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
            for (link, depth) in tree {
                let step = after + if op == Op::Copy { depth } else { deepest + 1 - depth };
                let (from, to) = (machine.link(link).from, machine.link(link).to);
                hops.push(Hop { chunk, step, from, to, op, link, share: u64::from(step) });
            }
            after = deepest;
        }
    }
    hops.sort_unstable();
    hops
}

/// Carries out the moves of a chunk in their order, and checks that contributions arrive once and where they must.
fn check_route(problem: &Problem, hops: &[Hop]) {
    let machine = problem.machine();
    let rule = problem.rule(hops[0].chunk);
    let ranks = machine.live_ranks();
    let mut held: BTreeMap<RankId, u64> =
        ranks.filter(|&rank| problem.is_holder(rule.before, rank)).map(|rank| (rank, 1 << rank.0)).collect();
    let all = held.values().sum::<u64>();
    for of_step in hops.chunk_by(|one, other| one.step == other.step) {
        let before = held.clone();
        for hop in of_step {
            assert_eq!((machine.link(hop.link).from, machine.link(hop.link).to), (hop.from, hop.to));
            assert!(machine.link(hop.link).alive && problem.may_hold(hop.chunk, hop.to));
            let value = before[&hop.from];
            let there = held.entry(hop.to).or_insert(0);
            assert!(hop.op == Op::Copy || *there & value == 0, "a contribution twice: {hop:?}");
            *there = if hop.op == Op::Copy { value } else { *there | value };
        }
    }
    for rank in machine.live_ranks().filter(|&rank| problem.is_holder(rule.after, rank)) {
        assert_eq!(held.get(&rank), Some(&all), "{rank} lacks {:?}", hops[0].chunk);
    }
}

/// What all chunks pay, each as the last of those before it.
fn paid(machine: &Topology, routes: &[Vec<Hop>], least: u64) -> f64 {
    let loads = Loads::new(machine, routes, least);
    let paid = |link: LinkId| (1..=loads.load[link.index()]).map(|load| loads.price_with(link, load)).sum::<f64>();
    machine.live_links().map(paid).sum()
}

#[test]
fn leveled_routes_reach_all_who_need_them_and_cost_less() {
    let mut rng = Rng::with_seed(5);
    for round in 0..60 {
        let machine = Topology::torus(if round % 2 == 0 { &[3, 3] } else { &[4, 2, 2] }).unwrap();
        let machine = if round % 3 == 0 { machine.fail_cable(0, 1).unwrap() } else { machine };
        let row = || Groups::new(vec![vec![RankId(0), RankId(2), RankId(5)], vec![RankId(4), RankId(3)]]).unwrap();
        let kinds = [
            Kind::Broadcast(RankId(1)),
            Kind::Reduce(RankId(2)),
            Kind::AllReduce,
            Kind::AllGather,
            Kind::ReduceScatter,
            Kind::AllGather.in_groups(row()),
            Kind::ReduceScatter.in_groups(row()),
        ];
        let one = |rng: &mut Rng| problem(&machine, rng.choice(&kinds).unwrap().clone(), rng.u32(1..4));
        let problems = [one(&mut rng), one(&mut rng)];
        let mut routes: Vec<_> = problems.iter().map(|problem| random_route(problem, &mut rng)).collect();
        let least = rng.u64(1..8);
        let before = paid(&machine, &routes, least);
        let first = routes.clone();
        level(&problems, &mut routes, least, round, &Control::unlimited());
        for (problem, hops) in problems.iter().zip(&routes) {
            assert!(hops.is_sorted());
            hops.chunk_by(|one, other| one.chunk == other.chunk).for_each(|hops| check_route(problem, hops));
        }
        let is_same = first == routes;
        assert!(is_same || paid(&machine, &routes, least) < before, "round {round}");
        let mut again = first;
        level(&problems, &mut again, least, round, &Control::unlimited());
        assert!(again == routes, "round {round}: same seed, same routes");
    }
}

/// Both parts leave the root the same way round; then one goes the other way.
#[test]
fn two_chunks_take_both_ways_round_a_ring() {
    let machine = Topology::torus(&[5]).unwrap();
    let problem = problem(&machine, Kind::Broadcast(RankId(0)), 2);
    let hop = |chunk: u32, to: u32| {
        let (from, to) = (RankId(to - 1), RankId(to));
        let link = machine.links_between(from, to).next().unwrap();
        Hop { chunk: ChunkId(chunk), step: to.0, from, to, op: Op::Copy, link, share: 0 }
    };
    let mut routes = vec![(0..2).flat_map(|chunk| (1..5).map(move |to| (chunk, to))).map(|(c, t)| hop(c, t)).collect()];
    level(std::slice::from_ref(&problem), &mut routes, 1, 0, &Control::unlimited());
    routes[0].chunk_by(|one, other| one.chunk == other.chunk).for_each(|hops| check_route(&problem, hops));
    assert_eq!(Loads::new(&machine, &routes, 1).load.iter().max(), Some(&1));
}

/// Relays are no roots of one branch: nobody receives a sum that it has.
#[test]
fn a_relay_that_one_branch_brings_the_sum_to_is_no_root() {
    let machine = Topology::torus(&[4]).unwrap();
    let lowered = |members: &[u32], up: &[(u32, u32)], down: &[(u32, u32)]| {
        let group = members.iter().copied().map(RankId).collect();
        let problem = problem(&machine, Kind::AllReduce.in_groups(Groups::new(vec![group]).unwrap()), 1);
        let rule = problem.rule(ChunkId(0));
        let tree = |op, ends, ways: &[(u32, u32)]| {
            let link = |&(from, to): &(u32, u32)| machine.links_between(RankId(from), RankId(to)).next().unwrap();
            let links = ways.iter().map(link).collect();
            Tree { problem: 0, chunk: ChunkId(0), op, root: RankId(2), ends, links, has_moved: true }
        };
        let mut trees = [tree(Op::Reduce, rule.before, up), tree(Op::Copy, rule.after, down)];
        lower_root(&problem, &mut trees);
        trees.map(|tree| {
            let ends = |&link: &LinkId| (machine.link(link).from.0, machine.link(link).to.0);
            (tree.root.0, tree.links.iter().map(ends).collect::<Vec<_>>())
        })
    };
    // All that was beyond rank 1 goes; or the copies go there from rank 1.
    let [up, down] = lowered(&[0, 1], &[(0, 1), (1, 2)], &[(2, 1), (1, 0)]);
    assert_eq!((up, down), ((1, vec![(0, 1)]), (1, vec![(1, 0)])));
    let [up, down] = lowered(&[0, 1, 3], &[(3, 0), (0, 1), (1, 2)], &[(2, 1), (2, 3), (3, 0)]);
    assert_eq!((up, down), ((1, vec![(3, 0), (0, 1)]), (1, vec![(2, 3), (3, 0), (1, 2)])));
    // Two branches meet at a relay.
    let meeting: [(u32, u32); 2] = [(1, 2), (3, 2)];
    let [up, _] = lowered(&[1, 3], &meeting, &[(2, 1), (2, 3)]);
    assert_eq!(up, (2, meeting.to_vec()));
}
