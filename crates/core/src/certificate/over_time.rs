//! What weights of links in some units of time prove: a bound on the volume that knows of the way chunks have before
//! them.
//!
//! # Idea
//!
//! Number the units of width of a schedule from 1 to `W`: a step of width `w` is `w` units, and of the chunks that
//! cross a link of capacity `c` in the step, let `c` cross in each of its units. A chunk that takes several links takes
//! them in different steps, so in ever later units. Hence every way is one through the network expanded in time, in
//! which whatever crosses a link in a unit goes on in a later one, and a link has room for `c` chunks in each.
//!
//! ```text
//!   unit        1        2        3
//!   rank 0  o-------+--------+--------       two chunks from 0 to 2 through 1 have no room in two units:
//!   rank 1  --------+--\-----+---\----       the second crosses 0 -> 1 in unit 2, and 1 -> 2 in unit 3
//!   rank 2  --------+--------o--------o
//! ```
//!
//! Give links lengths in some of the units `1..=R`. If the distances that all chunks have to cover in this network sum
//! to more than the lengths times the room that the links offer, not all of them can be done in `R` units: `W` is at
//! least `R + 1`. The same if some way does not end in `R` units at all.
//!
//! # What counts
//!
//! Every chunk that goes from one rank to one rank. Where chunks are copied or added up on the way, only what has to
//! come to (or go out from) one rank, which the evidence names: each of these contributions is on a chunk of its own.
//!
//! # All-reduce
//!
//! Every rank must end with the contribution of every other to each of the `P` parts. Fix two ranks `f` and `r`. Follow
//! the contribution of `f` to part `p` backwards from what `r` ends with: it came by a way from `f` through the network
//! expanded in time. Ways of different parts are moves of different chunks, so `P` ways share the room of the links,
//! and with lengths on links and units
//!
//! ```text
//!   P * d(f, r) <= room in W units
//! ```
//!
//! however sums are formed and copied. The contributions of several ranks to a part may come to `r` in one chunk, so
//! only one of them counts: that of the rank from which `d` is largest. What must go out from a rank must come to
//! another, so naming `r` loses nothing.
//!
//! Length 1 on the links into `r` (of capacity `c` in all) from unit `h` on, `h` being the hops from the farthest rank,
//! gives `P <= c * (W - h + 1)`: the volume of a rank cut, `P / c`, and `h - 1` units until the pipeline is filled. A
//! rank of a torus that has lost all but a few of its cables is as slow as that.
//!
//! ```text
//!   unit            1  2  3  4  5  ...           r has one cable left; f is 4 hops away: what enters r in the
//!   into r          -  -  -  p  p  p  p          units 1 to 3 cannot have anything of f in it
//! ```
//!
//! # References
//!
//! Ford and Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6, 1958: for one
//! origin and destination some lengths 0 and 1, a cut over time, prove the best such bound.

use super::search::{INFINITE, Search, Way};
use super::{CertificateError, Rational, Window};
use crate::collective::Pattern;
use crate::problem::Problem;
use crate::topology::{LinkId, RankId, Topology};

/// The volume that weights prove, exactly: `(width + 1) / parts` if no schedule has so small a total width, else 0.
///
/// Units without a change of weights are passed over once distances settle: O(N * links) time for each change, times N
/// for kinds in which every rank sends what is its own.
pub(super) fn value(
    problem: &Problem,
    width: u32,
    rank: Option<RankId>,
    weights: &[Window],
) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let journeys = Journeys::new(problem, rank)?;
    let lengths = Lengths::new(topology, width, weights)?;
    let covered = match journeys.covered(problem, &lengths, |ends| ends) {
        Ok(covered) => covered,
        Err(ends) => return out_of_reach(problem, width, ends),
    };
    let proven = if covered > lengths.room { i128::from(width) + 1 } else { 0 };
    Ok(Rational::new(proven, i128::from(problem.parts())))
}

/// A way that does not end in so many units: so be it, unless it never ends.
fn out_of_reach(problem: &Problem, width: u32, ends: (RankId, RankId)) -> Result<Rational, CertificateError> {
    let topology = problem.topology();
    let hops = vec![1; topology.links().len()];
    match Search::new(topology, &hops, Way::Out).from(ends.0)[ends.1.index()] {
        INFINITE => {
            let (from, to) = (topology.rank_label(ends.0), topology.rank_label(ends.1));
            Err(CertificateError::Unreachable { from, to })
        }
        _ => Ok(Rational::new(i128::from(width) + 1, i128::from(problem.parts()))),
    }
}

/// What is counted: chunks from, or to, some ranks.
pub(super) struct Journeys {
    way: Way,
    centres: Vec<RankId>,
    /// The only rank at the other end that counts, if it is only one.
    other_end: Option<RankId>,
    /// May what goes to a centre from several ranks come in one chunk, so that only the longest way counts?
    only_the_longest: bool,
}

impl Journeys {
    pub(super) fn new(problem: &Problem, rank: Option<RankId>) -> Result<Self, CertificateError> {
        let topology = problem.topology();
        let kind = &problem.collective().kind;
        let one = |wanted: bool| match rank {
            Some(rank) if wanted && !topology.is_alive(rank) => {
                Err(CertificateError::DeadRank { rank: topology.rank_label(rank), set: "the evidence" })
            }
            _ if wanted != rank.is_some() => Err(CertificateError::OneRank { kind: kind.name(), wanted }),
            _ => Ok(rank.into_iter().collect()),
        };
        if !kind.has_volume() {
            return Err(CertificateError::wrong_evidence("a metric over time", kind));
        }
        let pattern = kind.pattern();
        let named = one(pattern != Pattern::OneToOne)?;
        let inwards = match kind.root() {
            Some(_) => kind.is_to_root(),
            None => matches!(pattern, Pattern::OneToEvery | Pattern::EveryToEvery),
        };
        Ok(Self {
            way: if inwards { Way::In } else { Way::Out },
            centres: match (kind.root(), pattern) {
                // Of a rank that is named, too: one chunk for each part, between two ranks.
                (Some(root), _) => vec![root],
                (None, Pattern::OneToOne) => topology.live_ranks().collect(),
                (None, _) => named,
            },
            other_end: rank.filter(|_| kind.root().is_some()),
            only_the_longest: pattern == Pattern::EveryToEvery,
        })
    }

    /// The sum of the distances that all chunks cover; or what `unreached` makes of a pair without a way in time.
    pub(super) fn covered<E>(
        &self,
        problem: &Problem,
        lengths: &Lengths,
        unreached: impl Fn((RankId, RankId)) -> E,
    ) -> Result<i128, E> {
        let topology = problem.topology();
        let mut covered = 0;
        for &centre in &self.centres {
            let distance = lengths.distances(topology, centre, self.way);
            let (mut all, mut longest) = (0_i128, 0_i128);
            for far in topology.live_ranks() {
                let chunks = self.chunks(problem, centre, far);
                if chunks > 0 && distance[far.index()] == INFINITE {
                    return Err(unreached(self.ends(centre, far)));
                }
                if chunks > 0 {
                    let length = i128::from(chunks) * i128::from(distance[far.index()]);
                    (all, longest) = (all + length, longest.max(length));
                }
            }
            covered += if self.only_the_longest { longest } else { all };
        }
        Ok(covered)
    }

    fn ends(&self, centre: RankId, far: RankId) -> (RankId, RankId) {
        if self.way == Way::Out { (centre, far) } else { (far, centre) }
    }

    fn chunks(&self, problem: &Problem, centre: RankId, far: RankId) -> u32 {
        let (origin, dest) = self.ends(centre, far);
        match self.other_end.is_none_or(|only| only == far) {
            true => problem.owed(origin, dest),
            false => 0,
        }
    }
}

/// The lengths of links, unit by unit.
pub(super) struct Lengths {
    units: u32,
    /// Before this unit the length of this link changes by so much; ascending.
    changes: Vec<(u32, LinkId, i64)>,
    /// The sum of all lengths times capacities.
    room: i128,
}

impl Lengths {
    pub(super) fn new(topology: &Topology, units: u32, weights: &[Window]) -> Result<Self, CertificateError> {
        let (mut changes, mut room, mut longest) = (Vec::new(), 0_i128, 0_i128);
        for window in weights {
            let labels = || (topology.rank_label(window.from), topology.rank_label(window.to));
            if window.first == 0 || window.first > window.last || window.last > units {
                let (from, to) = labels();
                return Err(CertificateError::WrongWindow { first: window.first, last: window.last, units, from, to });
            }
            let span = i128::from(window.last - window.first + 1) * i128::from(window.weight);
            longest += span;
            let mut known = false;
            for id in topology.links_between(window.from, window.to) {
                let link = topology.link(id);
                known = true;
                if link.alive {
                    room += span * i128::from(link.capacity);
                    changes.push((window.first, id, i64::from(window.weight)));
                    changes.push((window.last.saturating_add(1), id, -i64::from(window.weight)));
                }
            }
            if !known {
                let (from, to) = labels();
                return Err(CertificateError::UnknownLink { from, to });
            }
        }
        // No distance is longer than that, so none comes near the largest number there is.
        if longest >= i128::from(i64::MAX) {
            return Err(CertificateError::TooMuchWeight);
        }
        changes.sort_unstable();
        Ok(Self { units, changes, room })
    }

    /// The largest sum of lengths times capacities in a unit.
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

    /// The distance between the centre and every rank through all units, by rank; [`INFINITE`] where there is no way.
    fn distances(&self, topology: &Topology, centre: RankId, way: Way) -> Vec<u64> {
        let mut length = vec![0_i64; topology.links().len()];
        let mut distance = vec![INFINITE; topology.rank_count()];
        distance[centre.index()] = 0;
        let backwards = way == Way::In;
        // Backwards in time, lengths of a unit are what they were after it, less what changed.
        let mut changes: Vec<(u32, LinkId, i64)> = match backwards {
            false => self.changes.clone(),
            true => self.changes.iter().rev().map(|&(unit, link, by)| (unit - 1, link, -by)).collect(),
        };
        changes.retain(|&(unit, ..)| unit >= 1 && unit <= self.units);
        let mut changes = changes.into_iter().peekable();
        let mut unit = if backwards { self.units } else { 1 };
        let mut left = self.units;
        while left > 0 {
            while let Some((_, link, by)) = changes.next_if(|&(at, ..)| at == unit) {
                length[link.index()] += by;
            }
            let before = distance.clone();
            for id in topology.live_links() {
                let link = topology.link(id);
                let (near, far) = if backwards { (link.to, link.from) } else { (link.from, link.to) };
                if before[near.index()] != INFINITE {
                    let there = before[near.index()] + length[id.index()].unsigned_abs();
                    distance[far.index()] = distance[far.index()].min(there);
                }
            }
            // Once nothing moves, nothing moves until lengths change.
            let next = changes.peek().map_or(left, |&(at, ..)| at.abs_diff(unit)).min(left);
            let by = if distance == before { next.max(1) } else { 1 };
            (unit, left) = (if backwards { unit - by } else { unit.saturating_add(by) }, left - by);
        }
        distance
    }
}
