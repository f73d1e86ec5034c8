//! Stars: what one rank must receive from others, or send to them.

use collsynth_core::collective::Pattern;
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;

use crate::machine::hops::Hops;

/// The traffic from one rank to others, or to it from others.
pub struct Star {
    pub center: RankId,
    pub inward: bool,
    /// The other ranks, with their numbers of chunks.
    pub amounts: Vec<(RankId, u32)>,
    /// The rank that the evidence names.
    pub named: Option<RankId>,
    /// How slow it is, by the measure that it was made with.
    pub slowness: u64,
}

/// The capacity of the live links into or out of a rank, at least 1.
pub fn capacity(problem: &Problem, rank: RankId, into: bool) -> u32 {
    let topology = problem.topology();
    let live = |id| if topology.link(id).alive { topology.link(id).capacity } else { 0 };
    let sum = if into { topology.links_into(rank).map(live).sum() } else { topology.links_from(rank).map(live).sum() };
    u32::max(sum, 1)
}

/// The slowness of a star, of its chunks, the capacity of its links, and the hops to its farthest rank.
pub type Measure = fn(chunks: u32, capacity: u32, hops: u32) -> u64;

/// The stars of a problem; none for kinds without evidence of this form. Where contributions of several ranks may
/// arrive in one chunk, each rank has one star: that of the rank slowest to reach it, of equals the first.
pub fn stars(problem: &Problem, distances: &Hops, measure: Measure) -> Vec<Star> {
    let topology = problem.topology();
    let star = |center: RankId, inward: bool, only: Option<RankId>, named: Option<RankId>| {
        let others = only.map_or_else(|| topology.live_ranks().collect(), |only| vec![only]);
        let chunks = |far: RankId| {
            let (origin, dest) = if inward { (far, center) } else { (center, far) };
            problem.owed(origin, dest)
        };
        let amounts: Vec<(RankId, u32)> =
            others.into_iter().map(|far| (far, chunks(far))).filter(|&(_, amount)| amount > 0).collect();
        let all: u32 = amounts.iter().map(|&(_, amount)| amount).sum();
        let far_end = only.map_or(u32::MAX, |only| capacity(problem, only, !inward));
        let hops = |far: RankId| {
            if inward { distances.to(center.0)[far.index()] } else { distances.from(center.0)[far.index()] }
        };
        let farthest = amounts.iter().map(|&(far, _)| u32::from(hops(far))).max().unwrap_or(0);
        let slowness = measure(all, capacity(problem, center, inward).min(far_end), farthest);
        Star { center, inward, amounts, named, slowness }
    };
    let each = |make: &dyn Fn(RankId) -> Star| topology.live_ranks().map(make).collect::<Vec<_>>();
    let kind = &problem.collective().kind;
    match (kind.pattern(), kind.root()) {
        _ if !kind.has_volume() => Vec::new(),
        (Pattern::OneToOne, Some(root)) => vec![star(root, kind.is_to_root(), None, None)],
        (_, Some(root)) => each(&|rank| star(root, kind.is_to_root(), Some(rank), Some(rank))),
        (Pattern::OneToEvery, None) => each(&|rank| star(rank, true, None, Some(rank))),
        (Pattern::EveryToOne, None) => each(&|rank| star(rank, false, None, Some(rank))),
        (Pattern::EveryToEvery, None) => {
            let leaving: Vec<u32> =
                (0..topology.rank_count() as u32).map(|far| capacity(problem, RankId(far), false)).collect();
            each(&|rank| {
                let entering = capacity(problem, rank, true);
                let slowness = |far: RankId| match problem.owed(far, rank) {
                    0 => 0,
                    owed => measure(owed, entering.min(leaving[far.index()]), distances.to(rank.0)[far.index()].into()),
                };
                let slower = |a: (u64, RankId), b: (u64, RankId)| if b.0 > a.0 { b } else { a };
                let slowest = topology.live_ranks().map(|far| (slowness(far), far)).reduce(slower);
                star(rank, true, Some(slowest.map_or(rank, |(_, far)| far)), Some(rank))
            })
        }
        (Pattern::OneToOne, None) if kind.demand().is_some() => {
            let both = |inward: bool| each(&|rank| star(rank, inward, None, None));
            both(false).into_iter().chain(both(true)).collect()
        }
        (Pattern::OneToOne, None) => Vec::new(),
    }
}
