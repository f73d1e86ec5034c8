//! What link weights in units of time prove: a bound on the volume that accounts for the latency of paths.
//!
//! # Idea
//!
//! Number the units of width of a schedule from 1 to `W`: a step of width `w` is `w` units, and of the chunks that
//! cross a link of capacity `c` in the step, let `c` cross in each unit. A chunk crosses its links in different steps,
//! so in ever later units. Hence every path is a path in the time-expanded network, where a chunk that crosses a link
//! in one unit moves on in a later one, and a link has room for `c` chunks per unit.
//!
//! ```text
//!   unit        1        2        3
//!   rank 0  o-------+--------+--------       two chunks from 0 to 2 through 1 have no room in two units:
//!   rank 1  --------+--\-----+---\----       the second crosses 0 -> 1 in unit 2, and 1 -> 2 in unit 3
//!   rank 2  --------+--------o--------o
//! ```
//!
//! Give links lengths in some of the units `1..=R`. If the distances that all chunks must cover in this network sum to
//! more than the lengths times the room that the links offer, the chunks do not fit in `R` units: `W` is at least
//! `R + 1`. Likewise if some path does not end within `R` units.
//!
//! # What counts
//!
//! Every chunk with one origin and one destination. Where chunks are copied or added up on the way, only what must
//! reach (or leave) one rank, which the evidence names: each of these contributions is in a separate chunk.
//!
//! # All-reduce
//!
//! Every rank must end with the contribution of every other to each of the `P` parts. Fix two ranks `f` and `r`. Follow
//! the contribution of `f` to part `p` backward from what `r` ends with: it took a path from `f` through the
//! time-expanded network. Different parts move in different chunks, so `P` paths share the room of the links, and with
//! lengths on links and units
//!
//! ```text
//!   P * d(f, r) <= room in W units
//! ```
//!
//! however sums are formed and copied. The contributions of several ranks to a part may reach `r` in one chunk, so only
//! one of them counts: that of the rank with the largest `d`. What must leave a rank must reach another, so naming `r`
//! loses nothing.
//!
//! Length 1 on the links into `r` (of total capacity `c`) from unit `h` on, `h` being the hops from the farthest rank,
//! gives `P <= c * (W - h + 1)`: the volume of a rank cut, `P / c`, plus `h - 1` units until the pipeline is full. A
//! torus rank that has lost all but a few of its cables is that slow.
//!
//! ```text
//!   unit            1  2  3  4  5  ...           r has one cable left; f is 4 hops away: what enters r in units
//!   into r          -  -  -  p  p  p  p          1 to 3 cannot include anything from f
//! ```
//!
//! # References
//!
//! Ford and Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6, 1958: for one
//! origin and destination some lengths 0 and 1, a cut over time, prove the best such bound.

use super::search::{INFINITE, Orientation, hops};
use super::work::size;
use super::{CertificateError, Rational, Window, Work};
use crate::collective::Pattern;
use crate::problem::Problem;
use crate::topology::{LinkId, RankId, Topology};

/// The volume that weights prove, exactly: `(width + 1) / parts` if no schedule has a total width this small, else 0.
///
/// In each unit only links from ranks that came nearer are followed, once their lengths stay: O(N * links) time per
/// change at most, times N for kinds in which every rank sends data of its own.
pub(super) fn value(
    problem: &Problem,
    width: u32,
    rank: Option<RankId>,
    weights: &[Window],
    work: &mut Work,
) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let journeys = Journeys::new(problem, rank, "a metric over time")?;
    let lengths = Lengths::new(topology, width, weights)?;
    let is_too_small = match journeys.covered(problem, &lengths, work)? {
        Ok(covered) => covered > lengths.room,
        // A path that does not end within `width` units is proof enough, unless there is none.
        Err((from, to)) if hops(topology, from, to) == INFINITE => {
            let (from, to) = (topology.rank_label(from), topology.rank_label(to));
            return Err(CertificateError::Unreachable { from, to });
        }
        Err(_) => true,
    };
    let proven = if is_too_small { i128::from(width).saturating_add(1) } else { 0 };
    Ok(Rational::new(proven, i128::from(problem.parts())))
}

/// The chunks that count: those from, or to, the centers.
pub(super) struct Journeys {
    orientation: Orientation,
    centers: Vec<RankId>,
    /// The only rank at the other end that counts, if there is only one.
    other_end: Option<RankId>,
    /// May contributions of several ranks reach a center in one chunk, so that only the longest path counts?
    only_the_longest: bool,
}

impl Journeys {
    pub(super) fn new(
        problem: &Problem,
        rank: Option<RankId>,
        evidence: &'static str,
    ) -> Result<Self, CertificateError> {
        let topology = problem.topology();
        let kind = &problem.collective().kind;
        let one = |wanted: bool| match rank {
            Some(rank) if wanted && !topology.is_alive(rank) => {
                Err(CertificateError::DeadRank { rank: topology.rank_label(rank), set: "the evidence" })
            }
            _ if wanted != rank.is_some() => Err(CertificateError::OneRank { evidence, kind: kind.name(), wanted }),
            _ => Ok(rank.into_iter().collect()),
        };
        if !kind.has_volume() {
            return Err(CertificateError::wrong_evidence(evidence, kind));
        }
        let pattern = kind.pattern();
        let named = one(pattern != Pattern::OneToOne)?;
        let inward = match kind.root() {
            Some(_) => kind.is_to_root(),
            None => matches!(pattern, Pattern::OneToEvery | Pattern::EveryToEvery),
        };
        Ok(Self {
            orientation: if inward { Orientation::In } else { Orientation::Out },
            centers: match (kind.root(), pattern) {
                // Even if a rank is named: then one chunk per part counts, between the two.
                (Some(root), _) => vec![root],
                (None, Pattern::OneToOne) => topology.live_ranks().collect(),
                (None, _) => named,
            },
            other_end: rank.filter(|_| kind.root().is_some()),
            only_the_longest: pattern == Pattern::EveryToEvery,
        })
    }

    /// The sum of the distances that all chunks cover, or else a pair of ranks without a path in time.
    #[expect(clippy::arithmetic_side_effects, reason = "at most 2^27 chunks in all, each of a length below 2^63")]
    pub(super) fn covered(
        &self,
        problem: &Problem,
        lengths: &Lengths,
        work: &mut Work,
    ) -> Result<Result<i128, (RankId, RankId)>, CertificateError> {
        let topology = problem.topology();
        let mut covered = 0;
        for &center in &self.centers {
            let distance = lengths.distances(topology, center, self.orientation, work)?;
            let (mut all, mut longest) = (0_i128, 0_i128);
            for far in topology.live_ranks().filter(|&far| self.other_end.is_none_or(|only| only == far)) {
                let (origin, dest) = if self.orientation == Orientation::Out { (center, far) } else { (far, center) };
                match (problem.owed(origin, dest), distance[far.index()]) {
                    (0, _) => {}
                    (_, INFINITE) => return Ok(Err((origin, dest))),
                    (chunks, distance) => {
                        let length = i128::from(chunks) * i128::from(distance);
                        (all, longest) = (all + length, longest.max(length));
                    }
                }
            }
            covered += if self.only_the_longest { longest } else { all };
        }
        Ok(Ok(covered))
    }
}

/// The lengths of links, unit by unit.
pub(super) struct Lengths {
    units: u64,
    /// Before a unit, the length of a link changes by some amount; ascending.
    changes: Vec<(u64, LinkId, i64)>,
    /// The sum of all lengths times capacities.
    room: i128,
}

impl Lengths {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "spans are below 2^64, their sum below 2^63, and times two capacities of 32 bits below 2^96"
    )]
    pub(super) fn new(topology: &Topology, units: u32, weights: &[Window]) -> Result<Self, CertificateError> {
        let (mut changes, mut room, mut longest) = (Vec::new(), 0_i128, 0_i128);
        for window in weights {
            let &Window { from, to, first, last, weight } = window;
            let label = |rank| topology.rank_label(rank);
            if first == 0 || first > last || last > units {
                return Err(CertificateError::WrongWindow { first, last, units, from: label(from), to: label(to) });
            }
            if topology.links_between(from, to).next().is_none() {
                return Err(CertificateError::UnknownLink { from: label(from), to: label(to) });
            }
            let span = i128::from(last - first + 1) * i128::from(weight);
            longest += span;
            // No distance is longer, so none overflows or reaches INFINITE.
            if longest >= i128::from(i64::MAX) {
                return Err(CertificateError::TooMuchWeight);
            }
            for id in topology.links_between(from, to).filter(|&id| topology.link(id).alive) {
                room += span * i128::from(topology.link(id).capacity);
                changes.push((first.into(), id, i64::from(weight)));
                changes.push((u64::from(last) + 1, id, -i64::from(weight)));
            }
        }
        changes.sort_unstable();
        Ok(Self { units: units.into(), changes, room })
    }

    /// The largest sum of lengths times capacities in a unit.
    #[expect(clippy::arithmetic_side_effects, reason = "no more than the room of all units, below 2^96")]
    pub(super) fn greatest_room(&self, topology: &Topology) -> i128 {
        let (mut room, mut greatest) = (0, 0);
        for changes in self.changes.chunk_by(|a, b| a.0 == b.0) {
            room += changes
                .iter()
                .map(|&(_, link, by)| i128::from(by) * i128::from(topology.link(link).capacity))
                .sum::<i128>();
            greatest = room.max(greatest);
        }
        greatest
    }

    /// The distance between the center and every rank through all units, by rank; [`INFINITE`] where there is no path.
    ///
    /// In a unit, only those ranks bring others nearer that came nearer themselves in the unit before, or one of whose
    /// links changed its length.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "units are below 2^33, lengths and their sums below 2^63; see `new`"
    )]
    fn distances(
        &self,
        topology: &Topology,
        center: RankId,
        orientation: Orientation,
        work: &mut Work,
    ) -> Result<Vec<u64>, CertificateError> {
        work.take(size(topology) + topology.rank_count() as u64 + self.changes.len() as u64)?;
        let mut length = vec![0_i64; topology.links().len()];
        let mut distance = vec![INFINITE; topology.rank_count()];
        distance[center.index()] = 0;
        let backward = orientation == Orientation::In;
        // Backward in time, the lengths in a unit are those after it, less what changed.
        let mut changes: Vec<(u64, LinkId, i64)> = match backward {
            false => self.changes.clone(),
            true => self.changes.iter().rev().map(|&(unit, link, by)| (unit - 1, link, -by)).collect(),
        };
        changes.retain(|&(unit, ..)| unit >= 1 && unit <= self.units);
        let mut changes = changes.into_iter().peekable();
        let mut unit = if backward { self.units } else { 1 };
        let mut left = self.units;
        let mut active = vec![center];
        let mut before = Vec::new();
        while left > 0 {
            while let Some((_, id, by)) = changes.next_if(|&(at, ..)| at == unit) {
                length[id.index()] += by;
                let link = topology.link(id);
                active.push(if backward { link.to } else { link.from });
            }
            active.sort_unstable();
            active.dedup();
            let reached = active.drain(..).map(|rank| (rank, distance[rank.index()]));
            before.extend(reached.filter(|&(_, there)| there != INFINITE));
            let mut steps = 1;
            for (near, here) in before.drain(..) {
                let mut follow = |id: LinkId| {
                    steps += 1;
                    let link = topology.link(id);
                    let far = if backward { link.from } else { link.to };
                    let there = here + length[id.index()].unsigned_abs();
                    if link.alive && there < distance[far.index()] {
                        distance[far.index()] = there;
                        active.push(far);
                    }
                };
                match backward {
                    false => topology.links_from(near).for_each(&mut follow),
                    true => topology.links_into(near).for_each(&mut follow),
                }
            }
            work.take(steps)?;
            // Once distances settle, they stay until lengths change.
            let next = changes.peek().map_or(left, |&(at, ..)| at.abs_diff(unit)).min(left);
            let by = if active.is_empty() { next.max(1) } else { 1 };
            (unit, left) = (if backward { unit - by } else { unit + by }, left - by);
        }
        Ok(distance)
    }
}
