//! Rounds, hop by hop: from exchanges over routes to store-and-forward steps.
//!
//! All sends of a round begin together and advance a hop in every step, so a round takes as many steps as its longest
//! route. A schedule has one value of a chunk at a rank, so a rank can pass on only what it does not hold itself:
//!
//! * *Reducing*, a sum that reaches a rank which has not sent its own yet is added to it and goes on with it: all sums
//!   of a chunk have one destination. At ranks that have sent theirs, it moves through; if two meet there, one waits.
//! * *Gathering*, a chunk that passes a rank stays there too, so ranks on the way need it no more.

use std::collections::HashSet;

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{LinkId, RankId, Topology};

/// Moves of one step.
type Moves = Vec<(LinkId, Op, ChunkId)>;

/// The moves of a round, step by step.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    steps: Vec<Moves>,
}

/// A sum on its way.
struct Traveler<'r> {
    at: RankId,
    route: &'r [LinkId],
}

impl Round {
    fn add(&mut self, step: usize, link: LinkId, op: Op, chunk: ChunkId) {
        if step >= self.steps.len() {
            self.steps.resize_with(step + 1, Vec::new);
        }
        self.steps[step].push((link, op, chunk));
    }

    /// Ranks swap sums with neighbors.
    pub(super) fn swap(&mut self, link: LinkId, chunks: impl IntoIterator<Item = ChunkId>) {
        chunks.into_iter().for_each(|chunk| self.add(0, link, Op::Reduce, chunk));
    }

    /// Sums of a chunk walk these routes; `holds` says which ranks have not sent theirs yet.
    pub(super) fn reduce(&mut self, topology: &Topology, chunk: ChunkId, routes: &[&[LinkId]], holds: &mut [bool]) {
        let mut travelers: Vec<Traveler<'_>> = routes
            .iter()
            .filter_map(|route| Some(Traveler { at: topology.link(*route.first()?).from, route }))
            .filter(|traveler| std::mem::take(&mut holds[traveler.at.index()]))
            .collect();
        for step in 0.. {
            if travelers.is_empty() {
                return;
            }
            let next = |traveler: &Traveler<'_>| topology.link(traveler.route[0]).to;
            // Those that wait for a step, because they would meet another at a rank without a sum of its own.
            let mut waiting = HashSet::new();
            loop {
                let before = waiting.len();
                let occupied: HashSet<RankId> = waiting.iter().map(|&index: &usize| travelers[index].at).collect();
                let mut taken = HashSet::new();
                for (index, traveler) in travelers.iter().enumerate() {
                    let to = next(traveler);
                    let joins = holds[to.index()] || occupied.contains(&to);
                    if !waiting.contains(&index) && !joins && !taken.insert(to) {
                        waiting.insert(index);
                    }
                }
                if waiting.len() == before {
                    break;
                }
            }
            let occupied: HashSet<RankId> = waiting.iter().map(|&index| travelers[index].at).collect();
            let mut index = 0..;
            travelers.retain_mut(|traveler| {
                if waiting.contains(&index.next().unwrap_or_default()) {
                    return true;
                }
                let to = next(traveler);
                let joins = holds[to.index()] || occupied.contains(&to);
                self.add(step, traveler.route[0], if joins { Op::Reduce } else { Op::Copy }, chunk);
                (traveler.at, traveler.route) = (to, &traveler.route[1..]);
                if !joins && traveler.route.is_empty() {
                    holds[to.index()] = true;
                    return false;
                }
                !joins
            });
        }
    }

    /// A chunk walks these routes from ranks that have it; `has` says which do.
    pub(super) fn gather(&mut self, topology: &Topology, chunk: ChunkId, routes: &[&[LinkId]], has: &mut [bool]) {
        let longest = routes.iter().map(|route| route.len()).max().unwrap_or(0);
        // From the last rank on the way that has it.
        let needed =
            |route: &&[LinkId]| route.iter().rposition(|&id| has[topology.link(id).to.index()]).map_or(0, |at| at + 1);
        let begins: Vec<usize> = routes.iter().map(needed).collect();
        for step in 0..longest {
            for (route, begin) in routes.iter().zip(&begins) {
                if let Some(&link) = route.get(begin + step)
                    && !std::mem::replace(&mut has[topology.link(link).to.index()], true)
                {
                    self.add(step, link, Op::Copy, chunk);
                }
            }
        }
    }
}

/// The schedule of rounds one after another, each step as wide as its fullest link needs, and the number of steps of
/// each round. A link either copies or adds in a step, so a step in which one does both becomes two.
pub(super) fn write(topology: &Topology, rounds: Vec<Round>) -> (Schedule, Vec<usize>) {
    let mut builder = Schedule::builder();
    let mut lengths = Vec::with_capacity(rounds.len());
    for round in rounds {
        let mut length = 0;
        for mut moves in round.steps.into_iter().filter(|moves| !moves.is_empty()) {
            moves.sort_unstable_by_key(|&(link, op, chunk)| (link, op, chunk));
            let mixed = moves.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
            let turns: &[&[Op]] = if mixed { &[&[Op::Reduce], &[Op::Copy]] } else { &[&[Op::Copy, Op::Reduce]] };
            for ops in turns {
                let groups =
                    || moves.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|group| ops.contains(&group[0].1));
                let needed =
                    |group: &[(LinkId, Op, ChunkId)]| (group.len() as u32).div_ceil(topology.link(group[0].0).capacity);
                builder.step(groups().map(needed).max().unwrap_or(1));
                length += 1;
                for group in groups() {
                    let chunks = group.iter().map(|&(.., chunk)| chunk);
                    builder.transfer_over(topology, group[0].0, group[0].1, chunks);
                }
            }
        }
        lengths.push(length);
    }
    (builder.finish(), lengths)
}
