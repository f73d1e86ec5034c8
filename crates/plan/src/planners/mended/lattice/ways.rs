//! The ways to every offset: how many hops in each direction, whatever their order.

use collsynth_core::collective::ChunkId;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::{RankId, Torus};

use super::quotient::{WAIT, extents};
use crate::planners::template::shortest_ways;

/// Directions with the number of hops in each, all at least 1.
pub(super) type Way = Vec<(usize, usize)>;

/// Ways of the messages of a rank, by offset.
pub(super) struct Ways {
    shortest: Vec<Vec<Way>>,
    /// By dimension: does its wrap lead elsewhere in others?
    is_twisted: Vec<bool>,
    pub extents: Vec<usize>,
    parts: usize,
}

impl Ways {
    pub fn new(torus: &Torus, parts: u32) -> Self {
        let directed = |way: &Vec<i32>| -> Way {
            let hops = way.iter().enumerate().filter(|(_, hops)| **hops != 0);
            hops.map(|(dim, &hops)| (2 * dim + usize::from(hops < 0), hops.unsigned_abs() as usize)).collect()
        };
        let shortest = shortest_ways(torus).iter().map(|ways| ways.iter().map(directed).collect()).collect();
        let is_twisted = |dim: usize| torus.twist.get(dim).is_some_and(|row| row.iter().any(|&shift| shift > 0));
        let is_twisted = (0..torus.extents.len()).map(is_twisted).collect();
        Self { shortest, is_twisted, extents: extents(torus), parts: parts as usize }
    }

    /// The number of chunks of a rank.
    pub fn chunks(&self) -> usize {
        self.shortest.len() * self.parts
    }

    /// The hops of all chunks of a rank on their shortest ways.
    pub fn hops(&self) -> u64 {
        let length = |ways: &Vec<Way>| ways.first().map_or(0, |way| way.iter().map(|hops| hops.1 as u64).sum());
        self.shortest.iter().map(length).sum::<u64>() * self.parts as u64
    }

    /// The shortest ways of a chunk.
    pub fn shortest(&self, chunk: usize) -> &[Way] {
        &self.shortest[chunk / self.parts]
    }

    /// Ways of two hops more: one out of the way and one back, or around a ring the longer way.
    pub fn detours(&self, chunk: usize) -> Vec<Way> {
        let mut detours = Vec::new();
        for dim in 0..self.extents.len() {
            detours.extend(self.around(chunk, dim));
            for way in self.shortest(chunk) {
                detours.push(match way.iter().position(|hops| hops.0 / 2 == dim) {
                    None => [&way[..], &[(2 * dim, 1), (2 * dim + 1, 1)]].concat(),
                    Some(at) => {
                        let (direction, hops) = way[at];
                        let mut way = [&way[..], &[(direction ^ 1, 1)]].concat();
                        way[at].1 = hops + 1;
                        way
                    }
                });
            }
        }
        detours
    }

    /// Ways of two hops more around a dimension the longer way.
    pub fn around(&self, chunk: usize, dim: usize) -> Vec<Way> {
        let around = |way: &Way| {
            let at = way.iter().position(|hops| hops.0 / 2 == dim)?;
            let (direction, hops) = way[at];
            let mut way = way.clone();
            way[at] = (direction ^ 1, hops + 2);
            (self.extents[dim] == 2 * hops + 2 && !self.is_twisted[dim]).then_some(way)
        };
        self.shortest(chunk).iter().filter_map(around).collect()
    }

    /// May a chunk go either way along a dimension in about as many hops?
    pub fn is_either(&self, chunk: usize, dim: usize) -> bool {
        let hops = self.shortest(chunk).first().and_then(|way| way.iter().find(|hops| hops.0 / 2 == dim));
        2 * hops.map_or(0, |hops| hops.1) + 2 >= self.extents[dim]
    }

    /// The paths of a pattern's chunks, `[chunk * steps + step]`: a direction or [`WAIT`].
    pub fn paths_of(&self, torus: &Torus, pattern: &Schedule) -> Vec<u8> {
        let steps = pattern.step_count();
        let mut paths = vec![WAIT; self.chunks() * steps];
        let leads = |from: RankId, to: RankId, direction: usize| {
            torus.neighbor(from, direction / 2, direction.is_multiple_of(2)) == Some(to)
        };
        for step in pattern.steps() {
            for transfer in step.transfers {
                let mut directions = 0..2 * self.extents.len();
                let direction = directions.find(|&direction| leads(transfer.from, transfer.to, direction));
                let direction = direction.expect("a pattern moves along links") as u8;
                for &ChunkId(chunk) in pattern.chunks(transfer) {
                    paths[chunk as usize * steps + step.number as usize - 1] = direction;
                }
            }
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::topology::Topology;
    use std::collections::BTreeSet;

    #[test]
    fn detours_lead_to_the_same_place_in_two_hops_more() {
        let extents = [6, 8, 5];
        let machine = Topology::torus(&extents).expect("a torus");
        let ways = Ways::new(machine.as_torus().expect("a torus"), 1);
        let lengths = |way: &Way| way.iter().map(|hops| hops.1).sum::<usize>();
        let place = |way: &Way| -> Vec<i64> {
            let along = |dim: usize, (direction, hops): (usize, usize)| match direction {
                up if up == 2 * dim => hops as i64,
                down if down == 2 * dim + 1 => -(hops as i64),
                _ => 0,
            };
            let moved = |dim: usize| way.iter().map(|&hops| along(dim, hops)).sum::<i64>();
            (0..extents.len()).map(|dim| moved(dim).rem_euclid(i64::from(extents[dim]))).collect()
        };
        let mut turned = BTreeSet::new();
        for chunk in 0..ways.chunks() {
            let shortest = &ways.shortest(chunk)[0];
            let around =
                (0..extents.len()).flat_map(|dim| ways.around(chunk, dim).into_iter().map(move |way| (dim, way)));
            for (dim, way) in around {
                assert!(ways.detours(chunk).contains(&way));
                turned.insert((dim, way.iter().find(|hops| hops.0 / 2 == dim).expect("it turns there").1));
            }
            for way in ways.detours(chunk) {
                assert_eq!((place(&way), lengths(&way)), (place(shortest), lengths(shortest) + 2));
            }
        }
        // One hop less than halfway around: an odd ring has no such place.
        assert_eq!(turned, BTreeSet::from([(0, 4), (1, 5)]));
    }
}
