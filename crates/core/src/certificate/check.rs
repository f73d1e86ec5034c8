//! Checking a claimed bound: exact arithmetic, no search for anything better, no solver.
//!
//! Why each kind of evidence is valid, for every schedule the verifier accepts. Write `W` for the sum of the widths of
//! all steps. A link of capacity `c` carries at most `c * W` chunks in all, and the volume is `W / parts`.
//!
//! * **Steps.** A step moves a contribution over one link at most, so a rank `d` hops away needs `d` steps.
//! * **Metric.** Give each link a length. A chunk that goes from one rank to one rank crosses links whose lengths sum
//!   to at least the distance of the two. Summed over all chunks this is at most `sum of length * c * W`, the sum taken
//!   over all live links.
//! * **Cut.** For each message that some rank of the set needs and none in it has, every part crosses into the set at
//!   least once, as one chunk. Where values are reduced, the same holds of the way out: for each message wanted
//!   outside, the set's contributions to every part must leave it, added up in one chunk at best.
//! * **Metric over time.** As a metric, in the network expanded in time: see `over_time`. For steps and volume jointly,
//!   in the network expanded in steps: see `stepped`.
//! * **Partition.** Fix a part of the vector and say that a block *knows* another once a chunk move has brought any
//!   contribution of the other's into it. Moves within a block are free, so only moves between blocks are counted, one
//!   after another (moves of the same step in any order; that can only spread knowledge sooner). Look at the move that
//!   first makes some block know all `b` blocks. By then each of the other `b - 1` has sent at least once. A move
//!   teaches its receiver alone, so `b - 1` blocks do not know all yet, and each must still receive at least once.
//!   Hence `2 * (b - 1)` moves a part. (The one-way gossip bound of Harary and Schwenk, 1974.)
//!
//! Evidence about ranks that failed is refused rather than guessed at.

use super::search::{INFINITE, Search, Way};
use super::{CertificateError, Evidence, JointBound, Rational, StepsBound, VolumeBound, over_time, stepped_value};
use crate::collective::{Pattern, Who};
use crate::problem::Problem;
use crate::topology::{Link, RankId, Topology};

/// Checks a bound on the number of steps: the two ranks must be so far apart, and one must need the other's data.
/// O(links).
///
/// # Errors
///
/// A [`CertificateError`] that says what the claim lacks.
pub fn check_steps(problem: &Problem, bound: &StepsBound) -> Result<(), CertificateError> {
    let topology = problem.topology();
    let (from, to) = (bound.from, bound.to);
    let labels = || (topology.rank_label(from), topology.rank_label(to));
    if !problem.needs(from, to) {
        let (from, to) = labels();
        return Err(CertificateError::NoNeed { from, to });
    }
    let hops = vec![1; topology.links().len()];
    let distance = Search::new(topology, &hops, Way::Out).from(from)[to.index()];
    let (from, to) = labels();
    match distance {
        INFINITE => Err(CertificateError::Unreachable { from, to }),
        _ if u64::from(bound.at_least) > distance => {
            Err(CertificateError::TooManySteps { claimed: bound.at_least, distance, from, to })
        }
        _ => Ok(()),
    }
}

/// Checks a bound on the volume: its evidence must prove at least what it claims. Costs what [`value`] costs.
///
/// # Errors
///
/// A [`CertificateError`] that says what the claim lacks.
pub fn check_volume(problem: &Problem, bound: &VolumeBound) -> Result<(), CertificateError> {
    let proven = value(problem, &bound.evidence)?;
    match bound.at_least <= proven {
        true => Ok(()),
        false => Err(CertificateError::TooMuchVolume { claimed: bound.at_least, proven }),
    }
}

/// Checks a bound on steps and volume jointly. Costs what [`stepped_value`] costs.
///
/// # Errors
///
/// A [`CertificateError`] that says what the claim lacks.
pub fn check_joint(problem: &Problem, bound: &JointBound) -> Result<(), CertificateError> {
    let proven = stepped_value(problem, bound.steps, &bound.weights)?;
    match bound.at_least <= proven {
        true => Ok(()),
        false => Err(CertificateError::TooMuchVolume { claimed: bound.at_least, proven }),
    }
}

/// The volume that a piece of evidence proves, exactly, in messages. Where nothing needs to cross a cut, that is 0.
///
/// A metric takes one Dijkstra search per origin (one in all for scatter and gather), a cut or partition O(links).
///
/// # Errors
///
/// A [`CertificateError`] if the evidence is of the wrong kind for this collective, names links, ranks or blocks that
/// do not fit the topology, or if no schedule exists at all.
pub fn value(problem: &Problem, evidence: &Evidence) -> Result<Rational, CertificateError> {
    match evidence {
        Evidence::Metric { weights } => metric(problem, weights),
        Evidence::Cut { ranks } => cut(problem, ranks),
        Evidence::MetricOverTime { width, rank, weights } => over_time::value(problem, *width, *rank, weights),
        Evidence::Partition { blocks } => partition(problem, blocks),
    }
}

fn metric(problem: &Problem, weights: &[(RankId, RankId, u32)]) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let kind = &problem.collective().kind;
    if kind.pattern() != Pattern::OneToOne {
        return Err(CertificateError::wrong_evidence("a metric", kind));
    }
    let (way, centre) = (if kind.is_to_root() { Way::In } else { Way::Out }, kind.root());
    let weight = link_weights(topology, weights)?;
    let scale: i128 =
        topology.live_links().map(|id| i128::from(weight[id.index()]) * i128::from(topology.link(id).capacity)).sum();
    if scale == 0 {
        return Err(CertificateError::NoWeight);
    }
    let mut search = Search::new(topology, &weight, way);
    let mut total = 0;
    for near in topology.live_ranks().filter(|&rank| centre.is_none_or(|centre| centre == rank)) {
        let distance = search.from(near);
        for far in topology.live_ranks() {
            let (origin, dest) = if way == Way::Out { (near, far) } else { (far, near) };
            let chunks = problem.owed(origin, dest);
            if chunks > 0 && distance[far.index()] == INFINITE {
                let (from, to) = (topology.rank_label(origin), topology.rank_label(dest));
                return Err(CertificateError::Unreachable { from, to });
            }
            if chunks > 0 {
                total += i128::from(chunks) * i128::from(distance[far.index()]);
            }
        }
    }
    Ok(Rational::new(total, scale * i128::from(problem.parts())))
}

fn cut(problem: &Problem, ranks: &[RankId]) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let block = block_of(topology, std::slice::from_ref(&ranks), "the cut")?;
    let inside = |rank: RankId| block[rank.index()].is_some();
    let outside = (topology.live_rank_count() - ranks.len()) as i128;
    let kind = &problem.collective().kind;
    let messages = |who: Who| match who {
        Who::Owner => outside,
        Who::Root(root) => i128::from(!inside(root)),
        Who::Every => outside.min(1),
    };
    let (outwards, messages) = match kind.pattern() {
        Pattern::EveryToOne => (true, messages(kind.after())),
        Pattern::OneToEvery | Pattern::EveryToEvery if kind.has_volume() => (false, messages(kind.before())),
        _ => return Err(CertificateError::wrong_evidence("a cut", kind)),
    };
    if messages == 0 || ranks.is_empty() {
        return Ok(Rational::from(0));
    }
    let crosses = |link: &Link| inside(link.from) == outwards && inside(link.to) != outwards;
    let between = if outwards { "leaves the set" } else { "enters the set" };
    over_capacity(topology, messages, crosses, between)
}

fn partition(problem: &Problem, blocks: &[Vec<RankId>]) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let kind = &problem.collective().kind;
    if kind.pattern() != Pattern::EveryToEvery || !kind.has_volume() {
        return Err(CertificateError::wrong_evidence("a partition", kind));
    }
    if blocks.len() < 2 || blocks.iter().any(Vec::is_empty) {
        return Err(CertificateError::TooFewBlocks { blocks: blocks.iter().filter(|block| !block.is_empty()).count() });
    }
    let block = block_of(topology, blocks, "the blocks")?;
    if let Some(rank) = topology.live_ranks().find(|rank| block[rank.index()].is_none()) {
        return Err(CertificateError::UncoveredRank { rank: topology.rank_label(rank) });
    }
    let crosses = |link: &Link| block[link.from.index()] != block[link.to.index()];
    over_capacity(topology, 2 * (blocks.len() as i128 - 1), crosses, "joins two blocks")
}

/// So many messages over the capacity of the live links that `crosses` picks.
fn over_capacity(
    topology: &Topology,
    messages: i128,
    crosses: impl Fn(&Link) -> bool,
    between: &'static str,
) -> Result<Rational, CertificateError> {
    let links = topology.live_links().map(|id| topology.link(id));
    match links.filter(|link| crosses(link)).map(|link| i128::from(link.capacity)).sum() {
        0 => Err(CertificateError::NoCapacity { between }),
        room => Ok(Rational::new(messages, room)),
    }
}

/// The weight of each link; of a pair joined by two links, the weight of each.
pub(super) fn link_weights(
    topology: &Topology,
    weights: &[(RankId, RankId, u32)],
) -> Result<Vec<u32>, CertificateError> {
    let labels = |from, to| (topology.rank_label(from), topology.rank_label(to));
    let mut stated: Vec<Option<u32>> = vec![None; topology.links().len()];
    for &(from, to, weight) in weights {
        let mut known = false;
        for id in topology.links_between(from, to) {
            if stated[id.index()].replace(weight).is_some() {
                let (from, to) = labels(from, to);
                return Err(CertificateError::RepeatedLink { from, to });
            }
            known = true;
        }
        if !known {
            let (from, to) = labels(from, to);
            return Err(CertificateError::UnknownLink { from, to });
        }
    }
    Ok(stated.into_iter().map(|weight| weight.unwrap_or(0)).collect())
}

/// For each rank, which of the sets it is in; each must hold live ranks only and share none with another.
fn block_of(
    topology: &Topology,
    sets: &[impl AsRef<[RankId]>],
    set: &'static str,
) -> Result<Vec<Option<usize>>, CertificateError> {
    let mut block = vec![None; topology.rank_count()];
    for (index, ranks) in sets.iter().enumerate() {
        for &rank in ranks.as_ref() {
            if !topology.is_alive(rank) {
                return Err(CertificateError::DeadRank { rank: topology.rank_label(rank), set });
            }
            if block[rank.index()].replace(index).is_some() {
                return Err(CertificateError::RepeatedRank { rank: topology.rank_label(rank), set });
            }
        }
    }
    Ok(block)
}
