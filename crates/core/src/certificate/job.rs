//! A bound on a job: what several collectives on one machine take of its links together.
//!
//! # Why it holds
//!
//! Every link has a weight: one of its own, and that of each cut it enters and of each partition it crosses. A chunk
//! that moves over a link pays the link's weight. In steps of total width `W` a link of capacity `c` carries at most
//! `c * W` chunks, so all moves pay at most `W` times the sum of weight times capacity over all live links. They pay at
//! least, collective by collective:
//!
//! * a chunk with one origin and one destination, their distance in these weights;
//! * the chunks of any other kind, for each cut the number of them that must enter it, and for each partition
//!   `2 * (b - 1)` chunks for each part of a vector that every member has and needs, `b` being the blocks with members
//!   (see `check`), or else what must enter its blocks (of sums that go to one rank: leave them).
//!
//! Chunks of the second sort pay nothing for the weights that links have of their own: their lightest trees (see
//! `trees`) are not looked for, since a job may have more of them, and larger ones, than can be weighed.
//!
//! The quotient bounds `W`. It grows with the parts, so the bound is for the parts of the job or any common multiple.

use std::collections::{BTreeMap, BTreeSet};

use super::check::block_of;
use super::metric::{capacity, link_weights, owed_distance};
use super::work::size;
use super::{CertificateError, Rational, Work, whole_width};
use crate::collective::{Kind, Pattern, Who};
use crate::exact::sum_of_products;
use crate::problem::Problem;
use crate::topology::{Link, LinkId, RankId, Topology};

/// No schedule of the job has a smaller total width than `at_least`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobBound {
    /// The sum of the widths claimed, in chunks.
    pub at_least: Rational,
    /// `(from, to, weight)`, at most one entry per pair; if two links join it, each has this weight.
    pub weights: Vec<(RankId, RankId, u32)>,
    /// Sets of live ranks; the weight goes to the links that enter a set.
    pub cuts: Vec<(Vec<RankId>, u32)>,
    /// Disjoint blocks that together hold every live rank; the weight goes to the links between blocks.
    pub partitions: Vec<(Vec<Vec<RankId>>, u32)>,
}

impl JobBound {
    /// The least sum of widths that it allows. What is above the largest width claims that width.
    pub fn least_width(&self) -> u32 {
        whole_width(self.at_least, 1)
    }
}

/// Checks a bound on a job; see [`Work::check_job`].
///
/// # Errors
///
/// A [`CertificateError`] that says what the claim lacks.
pub fn check_job(problems: &[&Problem], bound: &JobBound) -> Result<(), CertificateError> {
    Work::default().check_job(problems, bound)
}

impl Work {
    /// Checks a bound on a job: its evidence must prove at least what it claims. Costs what [`job_value`] costs.
    ///
    /// # Errors
    ///
    /// A [`CertificateError`] that says what the claim lacks.
    pub fn check_job(&mut self, problems: &[&Problem], bound: &JobBound) -> Result<(), CertificateError> {
        match job_value_within(problems, bound, self)? {
            proven if bound.at_least <= proven => Ok(()),
            proven => Err(CertificateError::TooMuchWidth { claimed: bound.at_least, proven }),
        }
    }
}

/// The total width that the evidence proves for collectives on one machine, exactly; `at_least` is not looked at.
///
/// One Dijkstra search per origin for each collective with a chunk for each pair, and otherwise O(collectives *
/// evidence + links * partitions).
///
/// # Errors
///
/// A [`CertificateError`] if the evidence names links or ranks that do not fit the machine, its weights are too large,
/// or no link has any.
pub fn job_value(problems: &[&Problem], bound: &JobBound) -> Result<Rational, CertificateError> {
    job_value_within(problems, bound, &mut Work::default())
}

fn job_value_within(problems: &[&Problem], bound: &JobBound, work: &mut Work) -> Result<Rational, CertificateError> {
    let Some(first) = problems.first() else { return Err(CertificateError::NoWeight) };
    let machine = first.machine();
    let demands: Vec<Demand<'_>> = problems.iter().map(|problem| Demand::new(problem)).collect();
    // Each collective, and the machine, looks at every rank of a cut or partition.
    let looks = (demands.len() as u64).saturating_add(1);
    work.take_times(size(machine), looks)?;
    let mut weight = link_weights(machine, &bound.weights)?;
    let mut paid = Some(0_i128);
    for (ranks, of) in &bound.cuts {
        work.take_times(ranks.len() as u64, looks)?;
        let inside = live_set(machine, ranks)?;
        let entering = ranks.iter().flat_map(|&rank| machine.links_into(rank));
        add_weight(machine, &mut weight, *of, entering.filter(|&id| !inside.contains(&machine.link(id).from)))?;
        let chunks: i128 = demands.iter().map(|demand| demand.entering(ranks)).sum();
        paid = paid.and_then(|sum| sum_of_products([(sum, 1), ((*of).into(), chunks)]));
    }
    for (blocks, of) in &bound.partitions {
        work.take_times(size(machine), looks)?;
        let block = block_of(machine, blocks, "the blocks")?;
        if let Some(rank) = machine.live_ranks().find(|rank| block[rank.index()].is_none()) {
            return Err(CertificateError::UncoveredRank { rank: machine.rank_label(rank) });
        }
        let crosses = |link: &Link| block[link.from.index()] != block[link.to.index()];
        add_weight(machine, &mut weight, *of, machine.live_links().filter(|&id| crosses(machine.link(id))))?;
        let chunks: i128 = demands.iter().map(|demand| demand.crossing(blocks, &block)).sum();
        paid = paid.and_then(|sum| sum_of_products([(sum, 1), ((*of).into(), chunks)]));
    }
    let scale = capacity(machine, &weight)?;
    for problem in problems.iter().filter(|problem| problem.collective().kind.pattern() == Pattern::OneToOne) {
        let owed = owed_distance(problem, &weight, work)?;
        paid = paid.and_then(|sum| sum.checked_add(owed));
    }
    Ok(Rational::new(paid.ok_or(CertificateError::TooLarge)?, scale))
}

/// The ranks of a cut. Of many small cuts each must cost little.
fn live_set(machine: &Topology, ranks: &[RankId]) -> Result<BTreeSet<RankId>, CertificateError> {
    let mut set = BTreeSet::new();
    for &rank in ranks {
        if !machine.is_alive(rank) {
            return Err(CertificateError::DeadRank { rank: machine.rank_label(rank), set: "a cut" });
        }
        if !set.insert(rank) {
            return Err(CertificateError::RepeatedRank { rank: machine.rank_label(rank), set: "a cut" });
        }
    }
    Ok(set)
}

fn add_weight(
    machine: &Topology,
    weight: &mut [u32],
    more: u32,
    links: impl Iterator<Item = LinkId>,
) -> Result<(), CertificateError> {
    for id in links.filter(|&id| machine.link(id).alive) {
        let of = &mut weight[id.index()];
        *of = of.checked_add(more).ok_or(CertificateError::TooMuchWeight)?;
    }
    Ok(())
}

/// What a collective whose chunks are copied or combined must bring across borders.
struct Demand<'a> {
    problem: &'a Problem,
    /// Of each group, or of all ranks as one: the live members, and the root.
    live: Vec<usize>,
    roots: Vec<RankId>,
}

#[expect(clippy::arithmetic_side_effects, reason = "counts: fewer than 2^20 ranks, at most 2^27 chunks")]
impl<'a> Demand<'a> {
    fn new(problem: &'a Problem) -> Self {
        let topology = problem.topology();
        let count = |members: &Vec<RankId>| members.iter().filter(|&&rank| topology.is_alive(rank)).count();
        let live = match problem.groups() {
            None => vec![topology.live_rank_count()],
            Some(groups) => groups.members().iter().map(count).collect(),
        };
        Self { problem, live, roots: problem.collective().kind.roots() }
    }

    /// Chunks of a message, shard or vector; a barrier has one.
    fn parts(&self) -> i128 {
        if self.problem.collective().kind.has_volume() { self.problem.parts().into() } else { 1 }
    }

    fn group_of(&self, rank: RankId) -> Option<usize> {
        match self.problem.groups() {
            None => Some(0),
            Some(groups) => groups.place(rank).map(|(group, _)| group as usize),
        }
    }

    /// The chunks that must enter a set of live ranks. O(ranks of the set * log groups).
    fn entering(&self, set: &[RankId]) -> i128 {
        self.over_border(set, |kind, inside, outside, has_root| match (kind.pattern(), kind.before(), kind.after()) {
            (Pattern::OneToOne, ..) => 0,
            (Pattern::EveryToEvery, ..) => 1,
            (Pattern::OneToEvery, Who::Owner, _) => outside,
            (Pattern::OneToEvery, ..) => usize::from(!has_root),
            (Pattern::EveryToOne, _, Who::Owner) => inside,
            (Pattern::EveryToOne, ..) => usize::from(has_root),
        })
    }

    /// The chunks of sums that must leave a set of live ranks.
    fn leaving(&self, set: &[RankId]) -> i128 {
        self.over_border(set, |kind, _, outside, has_root| match kind.after() {
            Who::Owner => outside,
            _ => usize::from(!has_root),
        })
    }

    /// The chunks of the messages that `of` counts for each group with members on both sides of a set: given the kind,
    /// the live members inside and outside, and whether its root is inside.
    fn over_border(&self, set: &[RankId], of: impl Fn(&Kind, usize, usize, bool) -> usize) -> i128 {
        // Of each group: how many members are inside, and whether its root is.
        let mut inside: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
        for (group, rank) in set.iter().filter_map(|&rank| Some((self.group_of(rank)?, rank))) {
            let (members, has_root) = inside.entry(group).or_default();
            *members += 1;
            *has_root |= self.roots.get(group) == Some(&rank);
        }
        let messages = |(&group, &(inside, has_root)): (&usize, &(usize, bool))| match self.live[group] - inside {
            0 => 0,
            outside => of(&self.problem.collective().kind, inside, outside, has_root) as i128,
        };
        inside.iter().map(messages).sum::<i128>() * self.parts()
    }

    /// The chunks that must cross between blocks; `block` says which each live rank is in.
    fn crossing(&self, blocks: &[Vec<RankId>], block: &[Option<usize>]) -> i128 {
        match self.problem.collective().kind.pattern() {
            Pattern::OneToOne | Pattern::OneToEvery => return blocks.iter().map(|ranks| self.entering(ranks)).sum(),
            Pattern::EveryToOne => return blocks.iter().map(|ranks| self.leaving(ranks)).sum(),
            Pattern::EveryToEvery => {}
        }
        let mut met: Vec<(usize, usize)> =
            self.problem.members().filter_map(|rank| Some((self.group_of(rank)?, block[rank.index()]?))).collect();
        met.sort_unstable();
        met.dedup();
        let groups = met.chunk_by(|one, other| one.0 == other.0);
        groups.map(|blocks| 2 * (blocks.len() as i128 - 1)).sum::<i128>() * self.parts()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::arithmetic_side_effects, reason = "a panic is a failed test")]

    use super::{JobBound, check_job, job_value};
    use crate::certificate::{CertificateError, Rational};
    use crate::collective::{Collective, Groups, Kind};
    use crate::problem::Problem;
    use crate::topology::{RankId, Topology};

    fn problem(kind: Kind, parts: u32) -> Problem {
        Problem::new(Topology::torus(&[4, 4]).unwrap(), Collective { kind, parts }).unwrap()
    }

    fn rows() -> Groups {
        Groups::new((0..4).map(|row| (0..4).map(|x| RankId(4 * row + x)).collect()).collect()).unwrap()
    }

    fn singletons(weight: u32) -> JobBound {
        let blocks = (0..16).map(|rank| vec![RankId(rank)]).collect();
        JobBound { at_least: 0.into(), weights: vec![], cuts: vec![], partitions: vec![(blocks, weight)] }
    }

    /// Every link weighs the same, so the bound is the least number of moves over the 64 links.
    #[test]
    fn moves_add_up() {
        let all_to_all = problem(Kind::AllToAll, 1); // 16 * 32 hops
        let all_gather = problem(Kind::AllGather.in_groups(rows()), 2); // 4 rows * 4 shards * 3 members * 2 parts
        let all_reduce = problem(Kind::AllReduce, 5); // 2 * 15 * 5
        let reduce = problem(Kind::Reduce(RankId(3)), 1); // 15 ranks send once
        let of = |problems: &[&Problem]| job_value(problems, &singletons(3)).unwrap();
        assert_eq!(of(&[&all_to_all]), Rational::new(512, 64));
        assert_eq!(of(&[&all_gather]), Rational::new(96, 64));
        assert_eq!(of(&[&all_reduce]), Rational::new(150, 64));
        assert_eq!(of(&[&reduce]), Rational::new(15, 64));
        assert_eq!(of(&[&all_to_all, &all_gather, &all_reduce, &reduce]), Rational::new(512 + 96 + 150 + 15, 64));
    }

    #[test]
    fn cuts_count_what_enters() {
        let row = (vec![RankId(0), RankId(1), RankId(2), RankId(3)], 2);
        let cut = JobBound { at_least: 0.into(), weights: vec![], cuts: vec![row], partitions: vec![] };
        let of = |kind: Kind| job_value(&[&problem(kind, 1)], &cut).unwrap();
        assert_eq!(of(Kind::AllGather), Rational::new(12, 8));
        assert_eq!(of(Kind::ReduceScatter), Rational::new(4, 8));
        assert_eq!(of(Kind::Broadcast(RankId(1))), Rational::from(0));
        assert_eq!(of(Kind::Reduce(RankId(1))), Rational::new(1, 8));
        assert_eq!(of(Kind::AllReduce), Rational::new(1, 8));
        // 12 ranks outside have a message for each of 4 inside.
        assert_eq!(of(Kind::AllToAll), Rational::new(48, 8));
        assert_eq!(of(Kind::AllGather.in_groups(rows())), Rational::from(0));
        // Weights of their own count for messages from one rank to one rank alone.
        let weights = [1, 3, 4, 12].map(|from| (RankId(from), RankId(0), 1)).to_vec();
        let weighted = JobBound { weights, cuts: vec![], ..cut.clone() };
        let own = |kind: Kind| job_value(&[&problem(kind, 1)], &weighted);
        assert_eq!(own(Kind::AllToAll), Ok(Rational::new(15, 4)));
        assert_eq!(own(Kind::AllGather), Ok(Rational::from(0)));
    }

    /// Fractions whose numerator and denominator add up to more than 127 bits.
    #[test]
    fn widths_are_rounded_up_near_the_largest_numbers() {
        let width = |at_least| JobBound { at_least, ..singletons(1) }.least_width();
        let most = i128::MAX;
        let near = [most / 8 * 3, most / 3 * 2, most - 1].map(|under| width(Rational::new(most, under)));
        assert_eq!(near, [3, 2, 2]);
        assert_eq!([Rational::new(1, most), Rational::new(7, 2), most.into()].map(width), [1, 4, u32::MAX]);
    }

    #[test]
    fn claims_beyond_the_evidence_are_refused() {
        let all_reduce = problem(Kind::AllReduce, 5);
        let claim = |at_least| check_job(&[&all_reduce], &JobBound { at_least, ..singletons(1) });
        assert_eq!(claim(Rational::new(150, 64)), Ok(()));
        assert!(matches!(claim(Rational::new(151, 64)), Err(CertificateError::TooMuchWidth { .. })));
        assert!(matches!(job_value(&[], &singletons(1)), Err(CertificateError::NoWeight)));
        assert!(matches!(job_value(&[&all_reduce], &singletons(0)), Err(CertificateError::NoWeight)));
        let mut twice = singletons(u32::MAX);
        twice.partitions.push(twice.partitions[0].clone());
        assert_eq!(job_value(&[&all_reduce], &twice), Err(CertificateError::TooMuchWeight));
        let mut short = singletons(1);
        short.partitions[0].0.pop();
        assert!(matches!(job_value(&[&all_reduce], &short), Err(CertificateError::UncoveredRank { .. })));
    }
}
