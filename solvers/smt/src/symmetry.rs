//! The group that symmetries generate, and its action on chunks.

use std::collections::{HashMap, HashSet};

use crate::instance::{Chunk, Demand, Instance, Symmetry};

/// Larger groups are cut off: any subset of the maps breaks symmetries as well.
const MOST_MAPS: usize = 400;

/// Maps closed under composition, or the first few of them; the identity is the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    maps: Vec<Symmetry>,
    whole: bool,
}

/// The image of each chunk under a map, if the map keeps the demand.
type ChunkImages<'a> = Box<dyn Fn(&Symmetry) -> Option<Vec<u32>> + 'a>;

/// The images of nodes, arcs and chunks under a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub nodes: Vec<u32>,
    pub arcs: Vec<u32>,
    pub chunks: Vec<u32>,
}

/// The use of symmetries in a formula.
#[derive(Clone, Copy, Debug)]
pub enum Symmetries<'a> {
    /// None.
    Ignore,
    /// Of schedules that are images of each other, only some are models.
    Break(&'a [Action]),
    /// Only schedules that are their own images are models.
    Keep(&'a [Action]),
}

impl Group {
    fn trivial(instance: &Instance) -> Self {
        Self { maps: vec![identity(instance)], whole: true }
    }

    /// The group that the symmetries of an instance generate.
    pub fn of(instance: &Instance) -> Self {
        generate(instance, &instance.symmetries, |_| true).unwrap_or_else(|| Self::trivial(instance))
    }

    /// A subgroup in which only the identity fixes any node, found by adding maps one by one.
    pub fn free_subgroup(&self, instance: &Instance) -> Self {
        let moves_all = |map: &Symmetry| map.nodes.iter().enumerate().all(|(node, &image)| node as u32 != image);
        let mut found = Self::trivial(instance);
        let mut generators: Vec<Symmetry> = Vec::new();
        for map in self.maps.iter().filter(|map| moves_all(map)) {
            if found.maps.contains(map) {
                continue;
            }
            generators.push(map.clone());
            match generate(instance, &generators, moves_all) {
                Some(group) if group.whole => found = group,
                _ => drop(generators.pop()),
            }
        }
        found
    }

    /// The actions of all maps but the identity that keep the demand; parts map to themselves.
    pub fn actions(&self, demand: &Demand) -> Vec<Action> {
        let chunks: ChunkImages<'_> = match demand {
            Demand::Sum(parts) => Box::new(|_| Some((0..*parts).collect())),
            Demand::Move(chunks) => Box::new(images_of(chunks)),
        };
        let action =
            |map: &Symmetry| Some(Action { nodes: map.nodes.clone(), arcs: map.arcs.clone(), chunks: chunks(map)? });
        self.maps[1..].iter().filter_map(action).collect()
    }

    /// The same for sums, with parts permuted as the maps permute each other: each map has a part, and they map to one
    /// another. `None` if the parts are not a multiple of the maps, or there is only one map.
    pub fn actions_on_parts(&self, parts: u32) -> Option<Vec<Action>> {
        let count = self.maps.len();
        if count == 1 || !(parts as usize).is_multiple_of(count) {
            return None;
        }
        let number: HashMap<&[u32], usize> =
            self.maps.iter().enumerate().map(|(number, map)| (&map.arcs[..], number)).collect();
        let action = |map: &Symmetry| {
            let images: Option<Vec<usize>> =
                self.maps.iter().map(|first| number.get(&compose(first, map).arcs[..]).copied()).collect();
            let images = images?;
            let part = |part: u32| (part as usize / count * count + images[part as usize % count]) as u32;
            Some(Action { nodes: map.nodes.clone(), arcs: map.arcs.clone(), chunks: (0..parts).map(part).collect() })
        };
        self.maps[1..].iter().map(action).collect()
    }
}

fn identity(instance: &Instance) -> Symmetry {
    Symmetry { nodes: (0..instance.nodes).collect(), arcs: (0..instance.arcs.len() as u32).collect() }
}

fn compose(first: &Symmetry, then: &Symmetry) -> Symmetry {
    let image = |of: &[u32], by: &[u32]| of.iter().map(|&index| by[index as usize]).collect();
    Symmetry { nodes: image(&first.nodes, &then.nodes), arcs: image(&first.arcs, &then.arcs) }
}

/// The closure of the generators; `None` as soon as a map but the identity is not allowed.
fn generate(instance: &Instance, generators: &[Symmetry], allow: impl Fn(&Symmetry) -> bool) -> Option<Group> {
    let mut maps = vec![identity(instance)];
    let mut known = HashSet::from([maps[0].arcs.clone()]);
    let mut next = 0;
    while next < maps.len() && maps.len() <= MOST_MAPS {
        for generator in generators {
            let map = compose(&maps[next], generator);
            if known.insert(map.arcs.clone()) {
                if !allow(&map) {
                    return None;
                }
                maps.push(map);
            }
        }
        next += 1;
    }
    let whole = next == maps.len();
    Some(Group { maps, whole })
}

/// The image of each chunk under a map, part by part; `None` if a chunk has no image.
fn images_of(chunks: &[Chunk]) -> impl Fn(&Symmetry) -> Option<Vec<u32>> {
    let mut alike: HashMap<&Chunk, Vec<u32>> = HashMap::new();
    let mut part = Vec::with_capacity(chunks.len());
    for (number, chunk) in chunks.iter().enumerate() {
        let alike = alike.entry(chunk).or_default();
        part.push(alike.len());
        alike.push(number as u32);
    }
    move |map| {
        let node = |node: u32| map.nodes[node as usize];
        let image = |chunk: &Chunk| {
            let mut dests: Vec<u32> = chunk.dests.iter().map(|&dest| node(dest)).collect();
            dests.sort_unstable();
            Chunk { source: node(chunk.source), dests }
        };
        chunks.iter().zip(&part).map(|(chunk, &part)| alike.get(&image(chunk))?.get(part).copied()).collect()
    }
}
