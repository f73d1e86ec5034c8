//! Where a missing chunk is instead, and how it got there.
//!
//! ```text
//! rank 3 lacks chunk 17: rank 2 was to send it in step 4, but receives it only in step 5; it left rank 0, where it
//! starts, in step 2 and rank 1 in step 5
//! ```
//!
//! Only chunks that start at one rank can be missing; of the others, every rank has its own contribution.

use std::collections::HashMap;

use super::scene::Scene;
use crate::verify::facts::finding::{Hop, Trace};
use crate::verify::run::moves::Move;
use crate::verify::run::routes::{Passage, Route};
use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::topology::RankId;

/// The most transfers a sentence lists.
const LISTED: usize = 8;

impl Scene<'_> {
    /// D001: of a sender that does not hold the chunk.
    pub(super) fn trace_of_send(&self, chunk: ChunkId, route: Route, moves: &[Move]) -> Trace {
        let Route { step, from, to, .. } = route;
        let brought = self.first_arrivals(chunk, moves);
        let lacks = format!("rank {} lacks chunk {}", self.rank(to), self.chunk(chunk));
        let was = format!("rank {} was to send it in step {step}, but", self.rank(from));
        match brought.get(&from) {
            Some(&Some(arrival)) => {
                let path = self.path(&brought, from);
                let arrives = self.route(arrival).step;
                let left = self.left(&path);
                Trace { text: format!("{lacks}: {was} receives it only in step {arrives}; {left}"), path }
            }
            _ => self.stuck(chunk, &brought, moves, format!("{lacks}: {was} never receives it")),
        }
    }

    /// D002: of a rank that lacks the chunk at the end.
    pub(super) fn trace_of_lack(&self, chunk: ChunkId, rank: RankId, moves: &[Move]) -> Trace {
        let brought = self.first_arrivals(chunk, moves);
        let lacks = format!("rank {} lacks chunk {}: nobody sends it there", self.rank(rank), self.chunk(chunk));
        self.stuck(chunk, &brought, moves, lacks)
    }

    /// The story of a chunk that does not arrive: how far it gets.
    fn stuck(
        &self,
        chunk: ChunkId,
        brought: &HashMap<RankId, Option<Move>>,
        moves: &[Move],
        beginning: String,
    ) -> Trace {
        let last = moves.iter().rev().map(|&one| (one, self.route(one).to));
        let farthest = last.filter(|(one, to)| brought.get(to) == Some(&Some(*one))).map(|(_, to)| to).next();
        let Some(farthest) = farthest else {
            let end = match self.problem.rule(chunk).before {
                Holders::One(origin) if self.problem.topology().is_alive(origin) => {
                    format!("it never leaves rank {}, where it starts", self.rank(origin))
                }
                Holders::One(origin) => format!("it would start at rank {}, which failed", self.rank(origin)),
                Holders::Every | Holders::Group(_) => "it never moves".to_owned(),
            };
            return Trace { text: format!("{beginning}; {end}"), path: Vec::new() };
        };
        let path = self.path(brought, farthest);
        let (left, farthest) = (self.left(&path), self.rank(farthest));
        Trace { text: format!("{beginning}; {left} and gets no farther than rank {farthest}"), path }
    }

    /// For each rank that ever holds the chunk, the move that first brings it; `None` where it starts.
    fn first_arrivals(&self, chunk: ChunkId, moves: &[Move]) -> HashMap<RankId, Option<Move>> {
        let mut brought: HashMap<RankId, Option<Move>> =
            self.problem.holders(self.problem.rule(chunk).before).map(|rank| (rank, None)).collect();
        for step in moves.chunk_by(|&a, &b| self.route(a).step == self.route(b).step) {
            let open = |one: &&Move| {
                let Route { from, passage, .. } = self.route(**one);
                passage == Passage::Open && brought.contains_key(&from)
            };
            for one in step.iter().filter(open).copied().collect::<Vec<_>>() {
                brought.entry(self.route(one).to).or_insert(Some(one));
            }
        }
        brought
    }

    /// The transfers that brought the chunk to a rank, in order of their steps, which are all different.
    fn path(&self, brought: &HashMap<RankId, Option<Move>>, rank: RankId) -> Vec<Hop> {
        let (mut path, mut at) = (Vec::new(), rank);
        while let Some(&Some(one)) = brought.get(&at) {
            let Route { step, number, from, to, .. } = self.route(one);
            path.push(Hop { step, transfer: number as usize, from, to });
            at = from;
        }
        path.reverse();
        path
    }

    /// `it left rank 0, where it starts, in step 2 and rank 1 in step 5`.
    fn left(&self, path: &[Hop]) -> String {
        let one = |(index, hop): (usize, &Hop)| {
            let start = if index == 0 { ", where it starts," } else { "" };
            format!("rank {}{start} in step {}", self.rank(hop.from), hop.step)
        };
        let mut all: Vec<String> = path.iter().enumerate().map(one).collect();
        if all.len() > LISTED {
            let left_out = all.len() - LISTED;
            all.splice(LISTED / 2..LISTED / 2 + left_out, [format!("{left_out} more")]);
        }
        match &all[..] {
            [most @ .., last] if !most.is_empty() => format!("it left {} and {last}", most.join(", ")),
            _ => format!("it left {}", all.concat()),
        }
    }
}
