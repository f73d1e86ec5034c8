//! Checking a claimed bound: exact arithmetic, no solver, no search for anything better.
//!
//! Why each kind of evidence is valid, for every schedule the verifier accepts. Let `W` be the sum of all widths. A
//! link of capacity `c` carries at most `c * W` chunks in total, and the volume is `W / parts`.
//!
//! * **Steps.** A step moves a contribution over at most one link, so a rank `d` hops away needs `d` steps.
//! * **Metric.** Give each link a length. A chunk with one origin and one destination crosses links whose lengths sum
//!   to at least their distance. Over all chunks, that is at most the sum of `length * c * W` over all live links. A
//!   chunk that must reach several ranks crosses links that hold a path to each, hence a tree from its origin; sums of
//!   contributions to a part that must reach one rank, links that hold a path from each contributor, hence a tree to
//!   it. Either way their lengths sum to at least those of the lightest such tree, however often data is copied or
//!   combined, and through whichever ranks: see `trees`.
//! * **Cut.** For each message that some rank of the set needs and none in it has, every part crosses into the set at
//!   least once, as one chunk. Where values are reduced, the reverse holds: for each message wanted outside, the set's
//!   contributions to every part must leave it, at best added up in one chunk.
//! * **Metric over time.** A metric in the time-expanded network: see `over_time`. For steps and volume jointly, in the
//!   step-expanded network: see `stepped`.
//! * **Partition.** Fix a part of the vector, and say that a block *knows* another once a chunk move has brought any
//!   contribution of the other into it. Moves within a block are free, so count only moves between blocks, one by one
//!   (moves of one step in any order; that can only spread knowledge sooner). Consider the move that first makes some
//!   block know all `b` blocks. By then, each of the other `b - 1` has sent at least once. A move informs only its
//!   receiver, so `b - 1` blocks do not know all yet, and each must still receive at least once. Hence `2 * (b - 1)`
//!   moves per part. (The one-way gossip bound of Harary and Schwenk, 1974.)
//!
//! In groups, each group's data counts as that of a collective of its own: for a cut, the messages of all groups on
//! both sides of it; for a partition, `b` is the number of blocks with members of the group. Relays are like any other
//! rank, and a block of relays that first knows all `b` only adds to the moves. Where relays are forbidden, the links
//! between ranks of different groups count as failed.
//!
//! Evidence about failed ranks is refused.

use super::search::{INFINITE, hops};
use super::stepped::stepped_value_within;
use super::work::size;
use super::{CertificateError, Evidence, JointBound, Rational, StepsBound, VolumeBound, Work, metric, over_time};
use crate::collective::{Pattern, Who};
use crate::problem::Problem;
use crate::topology::{Link, RankId, Topology};

/// Checks a bound on the number of steps; see [`Work::check_steps`].
///
/// # Errors
///
/// A [`CertificateError`] that says what the claim lacks.
pub fn check_steps(problem: &Problem, bound: &StepsBound) -> Result<(), CertificateError> {
    Work::default().check_steps(problem, bound)
}

/// Checks a bound on the volume; see [`Work::check_volume`].
///
/// # Errors
///
/// A [`CertificateError`] that says what the claim lacks.
pub fn check_volume(problem: &Problem, bound: &VolumeBound) -> Result<(), CertificateError> {
    Work::default().check_volume(problem, bound)
}

/// Checks a bound on steps and volume jointly; see [`Work::check_joint`].
///
/// # Errors
///
/// A [`CertificateError`] that says what the claim lacks.
pub fn check_joint(problem: &Problem, bound: &JointBound) -> Result<(), CertificateError> {
    Work::default().check_joint(problem, bound)
}

impl Work {
    /// Checks a bound on the number of steps: the ranks must be that far apart, and one must need the other's data.
    /// O(links).
    ///
    /// # Errors
    ///
    /// A [`CertificateError`] that says what the claim lacks.
    pub fn check_steps(&mut self, problem: &Problem, bound: &StepsBound) -> Result<(), CertificateError> {
        let topology = problem.topology();
        let (from, to) = (topology.rank_label(bound.from), topology.rank_label(bound.to));
        if !problem.needs(bound.from, bound.to) {
            return Err(CertificateError::NoNeed { from, to });
        }
        self.take(size(topology))?;
        match hops(topology, bound.from, bound.to) {
            INFINITE => Err(CertificateError::Unreachable { from, to }),
            distance if u64::from(bound.at_least) > distance => {
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
    pub fn check_volume(&mut self, problem: &Problem, bound: &VolumeBound) -> Result<(), CertificateError> {
        covers(value_within(problem, &bound.evidence, self)?, bound.at_least)
    }

    /// Checks a bound on steps and volume jointly. Costs what [`stepped_value`](super::stepped_value) costs.
    ///
    /// # Errors
    ///
    /// A [`CertificateError`] that says what the claim lacks.
    pub fn check_joint(&mut self, problem: &Problem, bound: &JointBound) -> Result<(), CertificateError> {
        covers(stepped_value_within(problem, bound, self)?, bound.at_least)
    }
}

fn covers(proven: Rational, claimed: Rational) -> Result<(), CertificateError> {
    if claimed <= proven { Ok(()) } else { Err(CertificateError::TooMuchVolume { claimed, proven }) }
}

/// The volume in messages that a piece of evidence proves, exactly; 0 if nothing needs to cross a cut.
///
/// A metric takes one Dijkstra search per origin: a single one for scatter and gather; for an all_to_all whose machine
/// repeats with the period of the weights, one for each rank of a cell. Where messages go to, or come from, several
/// ranks, it takes `O(3^k * N + 2^k * links * log N)` time and `O(2^k * N)` memory for each group of `k` live ones, and
/// is refused if that is too much. A cut or partition takes O(links).
///
/// # Errors
///
/// A [`CertificateError`] if the evidence is of the wrong kind for this collective, names links, ranks or blocks that
/// do not fit the topology, or if no schedule exists at all.
pub fn value(problem: &Problem, evidence: &Evidence) -> Result<Rational, CertificateError> {
    value_within(problem, evidence, &mut Work::default())
}

fn value_within(problem: &Problem, evidence: &Evidence, work: &mut Work) -> Result<Rational, CertificateError> {
    work.take(size(problem.topology()))?;
    match evidence {
        Evidence::Metric { period, weights } => metric::value(problem, period.as_deref(), weights, work),
        Evidence::Cut { ranks } => cut(problem, ranks),
        Evidence::MetricOverTime { width, rank, weights } => over_time::value(problem, *width, *rank, weights, work),
        Evidence::Partition { blocks } => partition(problem, blocks),
    }
}

fn cut(problem: &Problem, ranks: &[RankId]) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let block = block_of(topology, std::slice::from_ref(&ranks), "the cut")?;
    let inside = |rank: RankId| block[rank.index()].is_some();
    let kind = &problem.collective().kind;
    let messages = |who: Who| sides(problem, ranks).iter().map(|sides| sides.crossing(who, inside)).sum::<i128>();
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

#[expect(clippy::arithmetic_side_effects, reason = "counts: fewer than 2^20 ranks")]
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
    let exchanged = |members: &[RankId]| {
        let mut met: Vec<_> = members.iter().filter_map(|rank| block[rank.index()]).collect();
        met.sort_unstable();
        met.dedup();
        2 * (met.len().max(1) as i128 - 1)
    };
    let vectors = match problem.groups() {
        Some(groups) => groups.members().iter().map(|members| exchanged(members)).sum(),
        None => 2 * (blocks.len() as i128 - 1),
    };
    over_capacity(topology, vectors, crosses, "joins two blocks")
}

/// How the live members of a group, or all live ranks, lie about a set of ranks.
struct Sides {
    inside: usize,
    outside: usize,
    root: Option<RankId>,
}

impl Sides {
    /// The messages that ranks on one side of the set have for those on the other, if there are any on both.
    fn crossing(&self, who: Who, inside: impl Fn(RankId) -> bool) -> i128 {
        match who {
            _ if self.inside == 0 || self.outside == 0 => 0,
            Who::Owner => self.outside as i128,
            Who::Every => 1,
            Who::Root(_) => self.root.map_or(0, |root| i128::from(!inside(root))),
        }
    }
}

/// The sides of every group about a set of live ranks.
#[expect(clippy::arithmetic_side_effects, reason = "counts of ranks; those inside are among all")]
fn sides(problem: &Problem, set: &[RankId]) -> Vec<Sides> {
    let topology = problem.topology();
    let roots = problem.collective().kind.roots();
    match problem.groups() {
        None => {
            let inside = set.len();
            vec![Sides { inside, outside: topology.live_rank_count() - inside, root: roots.first().copied() }]
        }
        Some(groups) => {
            let count = |members: &[RankId]| members.iter().filter(|&&rank| topology.is_alive(rank)).count();
            let mut inside = vec![0; groups.members().len()];
            set.iter().filter_map(|&rank| groups.place(rank)).for_each(|(group, _)| inside[group as usize] += 1);
            let of = |(group, members): (usize, &Vec<RankId>)| {
                let inside = inside[group];
                Sides { inside, outside: count(members) - inside, root: roots.get(group).copied() }
            };
            groups.members().iter().enumerate().map(of).collect()
        }
    }
}

/// `messages` over the capacity of the live links that `crosses` picks.
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

/// For each rank, the set it is in; sets must be disjoint and hold live ranks only.
pub(super) fn block_of(
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
