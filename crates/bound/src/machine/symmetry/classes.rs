//! Failures up to symmetry: sets of things that may fail, and their classes under the symmetries of a machine.
//!
//! Two sets are in one class if a symmetry carries one onto the other; a schedule around one is then, relabelled, a
//! schedule around the other. Of the sets of a class, the *canonical* one is the least: its members ascending, compared
//! from the first on. A class has as many sets as the group has symmetries, over those that keep one of its sets
//! (orbit and stabilizer).

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use thiserror::Error;

use super::group::Group;
use collsynth_core::topology::{
    DimRef, FailedLink, LinkId, RankId, Switch, SwitchError, Topology, TopologyError, TopologySpec,
};

/// The most images of sets that are computed to list classes.
pub(super) const MOST_IMAGES: u128 = 20_000_000_000;

/// What fails together: links and ranks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Unit {
    /// Links, ascending.
    pub links: Vec<LinkId>,
    /// Ranks, ascending.
    pub ranks: Vec<RankId>,
}

/// The cables of a machine, as far as they are live: both directions, or the one that is left; by their lower live
/// links.
pub fn cables(topology: &Topology) -> Vec<Unit> {
    let live = |link: LinkId| {
        let back = topology.opposite(link)?;
        let links = match topology.link(back).alive {
            true if back < link => return None,
            true => vec![link, back],
            false => vec![link],
        };
        Some(Unit { links, ranks: Vec::new() })
    };
    topology.live_links().filter_map(live).collect()
}

/// The live links of a machine.
pub fn links(topology: &Topology) -> Vec<Unit> {
    topology.live_links().map(|link| Unit { links: vec![link], ranks: Vec::new() }).collect()
}

/// The live ranks of a machine.
pub fn ranks(topology: &Topology) -> Vec<Unit> {
    topology.live_ranks().map(|rank| Unit { links: Vec::new(), ranks: vec![rank] }).collect()
}

/// The live cables of a switch.
///
/// # Errors
///
/// If there is no such switch.
pub fn switch(topology: &Topology, switch: &Switch, period: &[u32]) -> Result<Unit, SwitchError> {
    let mut links = Vec::new();
    for cable in switch.cables(topology, period)? {
        let direction = |id: &LinkId| match cable.dim {
            Some(DimRef::Direction(direction)) => topology.link(*id).direction == Some(direction),
            _ => true,
        };
        let one = topology.links_between(cable.from, cable.to).find(direction);
        let both = one.into_iter().flat_map(|one| [Some(one), topology.opposite(one)]).flatten();
        links.extend(both.filter(|&id| topology.link(id).alive));
    }
    links.sort_unstable();
    links.dedup();
    Ok(Unit { links, ranks: Vec::new() })
}

/// The machine after units have failed as well.
///
/// # Errors
///
/// If no rank is left.
pub fn fail<'u>(topology: &Topology, units: impl IntoIterator<Item = &'u Unit>) -> Result<Topology, TopologyError> {
    let mut spec: TopologySpec = topology.spec().clone();
    let mut dead = vec![false; topology.links().len()];
    for unit in units {
        for &id in unit.links.iter().filter(|id| topology.link(**id).alive) {
            if std::mem::replace(&mut dead[id.index()], true) {
                continue;
            }
            let back = topology.opposite(id).filter(|back| unit.links.contains(back) && !dead[back.index()]);
            back.into_iter().for_each(|back| dead[back.index()] = true);
            let link = topology.link(id);
            let dim = link.direction.map(DimRef::Direction);
            spec.failed_links.push(FailedLink { from: link.from, to: link.to, dim, both: back.is_some() });
        }
        let fresh = unit.ranks.iter().filter(|rank| topology.is_alive(**rank) && !spec.failed_ranks.contains(rank));
        let fresh: Vec<RankId> = fresh.copied().collect();
        spec.failed_ranks.extend(fresh);
    }
    Topology::new(spec)
}

/// Why classes cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClassError {
    /// There are too many sets.
    #[error("there are {sets} sets of {size}, too many to sort into classes")]
    TooMany {
        /// The number of sets.
        sets: u128,
        /// The size of each.
        size: usize,
    },
}

/// A class of sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The canonical set: numbers of units, ascending.
    pub set: Vec<u32>,
    /// The number of sets in the class.
    pub size: u64,
}

/// A set carried to the canonical set of its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// The class.
    pub class: Class,
    /// A symmetry that carries the set there.
    pub symmetry: usize,
}

/// Units of a machine, and the symmetries that carry units onto units.
pub struct Units<'a> {
    group: Group<'a>,
    units: Vec<Unit>,
    symmetries: Vec<usize>,
    lookup: Lookup,
}

/// Finds a unit from its members.
enum Lookup {
    /// Units share no members: one member names the unit.
    Disjoint { links: HashMap<LinkId, u32>, ranks: HashMap<RankId, u32> },
    /// All members are needed.
    Any(HashMap<Unit, u32>),
}

impl Lookup {
    fn new(units: &[Unit]) -> Self {
        let (mut links, mut ranks) = (HashMap::new(), HashMap::new());
        let mut is_disjoint = true;
        for (unit, number) in units.iter().zip(0..) {
            for &link in &unit.links {
                is_disjoint &= links.insert(link, number).is_none();
            }
            for &rank in &unit.ranks {
                is_disjoint &= ranks.insert(rank, number).is_none();
            }
        }
        if is_disjoint {
            return Self::Disjoint { links, ranks };
        }
        Self::Any(units.iter().cloned().zip(0..).collect())
    }
}

impl<'a> Units<'a> {
    /// Takes units that every symmetry carries onto units, such as all live cables. O(members).
    pub fn of_all(group: Group<'a>, units: Vec<Unit>) -> Self {
        let (symmetries, lookup) = ((0..group.order()).collect(), Lookup::new(&units));
        Self { group, units, symmetries, lookup }
    }

    /// Takes any units, each not empty, and finds the symmetries that carry units onto units. O(symmetries * members).
    pub fn new(group: Group<'a>, mut units: Vec<Unit>) -> Self {
        for unit in &mut units {
            unit.links.sort_unstable();
            unit.ranks.sort_unstable();
        }
        let all: HashMap<&Unit, ()> = units.iter().map(|unit| (unit, ())).collect();
        let keeps = |&symmetry: &usize| units.iter().all(|unit| all.contains_key(&image(&group, symmetry, unit)));
        let symmetries = (0..group.order()).into_par_iter().filter(keeps).collect();
        let lookup = Lookup::new(&units);
        Self { group, units, symmetries, lookup }
    }

    /// The units, by number.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The symmetries of the machine.
    pub fn group(&self) -> &Group<'a> {
        &self.group
    }

    /// The number of symmetries that carry units onto units.
    pub fn order(&self) -> usize {
        self.symmetries.len()
    }

    /// The canonical set of the class of a set of units, ascending. O(symmetries * size).
    pub fn canonical(&self, set: &[u32]) -> Canonical {
        let (mut best, mut symmetry, mut keeping) = (set.to_vec(), 0, 0_u64);
        let mut image = Vec::with_capacity(set.len());
        for &candidate in &self.symmetries {
            image.clear();
            image.extend(set.iter().map(|&unit| self.image(candidate, unit)));
            image.sort_unstable();
            keeping += u64::from(image == set);
            if image < best {
                (best, symmetry) = (image.clone(), candidate);
            }
        }
        // The identity keeps every set.
        Canonical { class: Class { set: best, size: self.order() as u64 / keeping }, symmetry }
    }

    /// The classes of all sets of `size` units, by their canonical sets. The sizes add up to a binomial coefficient.
    ///
    /// Extends the sets of one unit less by one unit from each orbit under the symmetries that keep them.
    ///
    /// # Errors
    ///
    /// If there are too many sets.
    pub fn classes(&self, size: usize) -> Result<Vec<Class>, ClassError> {
        let sets = binomial(self.units.len(), size);
        if sets.saturating_mul(size as u128) > MOST_IMAGES {
            return Err(ClassError::TooMany { sets, size });
        }
        let mut classes = vec![Class { set: Vec::new(), size: 1 }];
        for _ in 0..size {
            let grown: Vec<Vec<u32>> = classes.par_iter().flat_map_iter(|class| self.extensions(&class.set)).collect();
            let found: BTreeMap<Vec<u32>, u64> = grown
                .par_iter()
                .map(|set| {
                    let Class { set, size } = self.canonical(set).class;
                    (set, size)
                })
                .collect();
            classes = found.into_iter().map(|(set, size)| Class { set, size }).collect();
        }
        Ok(classes)
    }

    /// The set with one unit more: from each orbit of units one.
    fn extensions(&self, set: &[u32]) -> Vec<Vec<u32>> {
        let keeping: Vec<usize> =
            self.symmetries.iter().copied().filter(|&symmetry| self.keeps(symmetry, set)).collect();
        let mut seen = vec![false; self.units.len()];
        set.iter().for_each(|&unit| seen[unit as usize] = true);
        let mut grown = Vec::new();
        for unit in 0..self.units.len() as u32 {
            if seen[unit as usize] {
                continue;
            }
            keeping.iter().for_each(|&symmetry| seen[self.image(symmetry, unit) as usize] = true);
            let mut set = [set, &[unit]].concat();
            set.sort_unstable();
            grown.push(set);
        }
        grown
    }

    fn keeps(&self, symmetry: usize, set: &[u32]) -> bool {
        set.iter().all(|&unit| set.contains(&self.image(symmetry, unit)))
    }

    /// The image of a unit under one of the symmetries that carry units onto units.
    fn image(&self, symmetry: usize, unit: u32) -> u32 {
        let members = &self.units[unit as usize];
        match &self.lookup {
            Lookup::Disjoint { links, ranks } => match (members.links.first(), members.ranks.first()) {
                (Some(&link), _) => links[&self.group.link(symmetry, link)],
                (None, Some(&rank)) => ranks[&self.group.rank(symmetry, rank)],
                (None, None) => unit,
            },
            Lookup::Any(units) => units[&image(&self.group, symmetry, members)],
        }
    }
}

/// The image of a unit, its members in order.
pub(super) fn image(group: &Group<'_>, symmetry: usize, unit: &Unit) -> Unit {
    let mut image = Unit {
        links: unit.links.iter().map(|&link| group.link(symmetry, link)).collect(),
        ranks: unit.ranks.iter().map(|&rank| group.rank(symmetry, rank)).collect(),
    };
    image.links.sort_unstable();
    image.ranks.sort_unstable();
    image
}

/// `n` over `k`; saturates.
pub(super) fn binomial(n: usize, k: usize) -> u128 {
    (0..k as u128).fold(1_u128, |product, i| product.saturating_mul((n as u128).saturating_sub(i)) / (i + 1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use collsynth_core::topology::{Shape, Torus};

    use super::*;

    fn units(topology: &Topology) -> Units<'_> {
        Units::of_all(Group::new(topology, |_| true), cables(topology))
    }

    /// Classes of pairs by brute force: every permutation of ranks that keeps all links, found without symmetries of
    /// tori, and every pair of cables.
    fn by_brute_force(topology: &Topology) -> Vec<u64> {
        let count = topology.rank_count() as u32;
        let joined: BTreeSet<(u32, u32)> = topology.links().iter().map(|link| (link.from.0, link.to.0)).collect();
        let mut maps: Vec<Vec<u32>> = vec![Vec::new()];
        for rank in 0..count {
            let fits = |map: &[u32], image: u32| {
                !map.contains(&image)
                    && (0..rank)
                        .all(|other| joined.contains(&(other, rank)) == joined.contains(&(map[other as usize], image)))
            };
            let longer = |map: Vec<u32>| {
                (0..count)
                    .filter(|&image| fits(&map, image))
                    .map(|image| [&map[..], &[image]].concat())
                    .collect::<Vec<_>>()
            };
            maps = maps.into_iter().flat_map(longer).collect();
        }
        let cables: Vec<(u32, u32)> = joined.iter().copied().filter(|(from, to)| from < to).collect();
        let mut classes: BTreeMap<Vec<(u32, u32)>, u64> = BTreeMap::new();
        for (index, &one) in cables.iter().enumerate() {
            for &other in &cables[..index] {
                let least = maps.iter().map(|map| {
                    let image = |(from, to): (u32, u32)| {
                        let ends = [map[from as usize], map[to as usize]];
                        (ends[0].min(ends[1]), ends[0].max(ends[1]))
                    };
                    let mut set = vec![image(one), image(other)];
                    set.sort_unstable();
                    set
                });
                *classes.entry(least.min().unwrap()).or_default() += 1;
            }
        }
        let mut sizes: Vec<u64> = classes.into_values().collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn pairs_of_cables_are_in_the_classes_that_brute_force_finds() {
        for extents in [&[4, 4][..], &[5, 5], &[3, 5], &[4, 3], &[7], &[3, 2, 2]] {
            let topology = Topology::torus(extents).unwrap();
            let mut sizes: Vec<u64> = units(&topology).classes(2).unwrap().iter().map(|class| class.size).collect();
            sizes.sort_unstable();
            assert_eq!(sizes, by_brute_force(&topology), "{extents:?}");
        }
    }

    #[test]
    fn symmetries_keep_links_and_their_directions_apart() {
        let doubled = Torus { wrap: vec![true, true], ..Torus::new(&[2, 4]) };
        for (torus, order) in [(Torus::new(&[4, 4]), 384), (Torus::new(&[4, 5]), 80), (doubled, 32)] {
            let topology = Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap();
            let group = Group::new(&topology, |_| true);
            assert_eq!(group.order(), order);
            for symmetry in 0..order {
                let all = (0..topology.links().len() as u32).map(LinkId);
                let images: BTreeSet<LinkId> = all.clone().map(|link| group.link(symmetry, link)).collect();
                assert_eq!(images.len(), topology.links().len(), "no two links have one image");
                for link in all {
                    let back = topology.opposite(link).unwrap();
                    let images = [group.link(symmetry, link), group.link(symmetry, back)];
                    assert_eq!(topology.opposite(images[0]), Some(images[1]), "cables stay cables");
                    assert_eq!(topology.link(images[0]).from, group.rank(symmetry, topology.link(link).from));
                }
            }
        }
    }

    #[test]
    fn every_set_is_in_one_class() {
        for (extents, size) in [(&[4, 4][..], 2), (&[4, 4], 3), (&[4, 4, 4], 2), (&[2, 3, 4], 2), (&[6], 4)] {
            let topology = Topology::torus(extents).unwrap();
            for of in [cables, links, ranks] {
                let units = Units::new(Group::new(&topology, |_| true), of(&topology));
                let classes = units.classes(size).unwrap();
                let sum: u128 = classes.iter().map(|class| u128::from(class.size)).sum();
                assert_eq!(sum, binomial(units.units().len(), size), "{extents:?} {size}");
                assert!(classes.iter().all(|class| units.canonical(&class.set).class == *class));
            }
        }
    }

    #[test]
    fn single_cables_of_a_cube_are_alike_and_of_a_longer_torus_of_two_kinds() {
        for (extents, expected) in [(&[4, 4, 4][..], 1), (&[8, 4, 4], 2), (&[8, 4, 2], 2), (&[8, 4, 3], 3)] {
            let topology = Topology::torus(extents).unwrap();
            assert_eq!(units(&topology).classes(1).unwrap().len(), expected, "{extents:?}");
        }
    }

    #[test]
    fn a_set_is_carried_to_the_canonical_one() {
        let topology = Topology::torus(&[4, 4]).unwrap();
        let units = units(&topology);
        let mut dice = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let mut set = dice.choose_multiple(0..units.units().len() as u32, 3);
            set.sort_unstable();
            let Canonical { class, symmetry } = units.canonical(&set);
            let mut image: Vec<u32> = set.iter().map(|&unit| units.image(symmetry, unit)).collect();
            image.sort_unstable();
            assert_eq!(image, class.set);
        }
    }

    #[test]
    fn groups_that_fail_together_keep_only_their_symmetries() {
        let topology = Topology::torus(&[4, 4]).unwrap();
        // Hosts of two ranks side by side along x: in the hypercube that 4x4 is, along one of four dimensions.
        let host = |index: u32| Unit { ranks: vec![RankId(2 * index), RankId(2 * index + 1)], ..Unit::default() };
        let units = Units::new(Group::new(&topology, |_| true), (0..8).map(host).collect());
        assert_eq!((units.order(), units.classes(1).unwrap().len()), (96, 1));
        let sum: u64 = units.classes(2).unwrap().iter().map(|class| class.size).sum();
        assert_eq!(sum, 28);
        // Overlapping ones: each cable with one of its ends.
        let overlapping = |rank: u32| Unit { ranks: vec![RankId(rank), RankId((rank + 1) % 16)], ..Unit::default() };
        let units = Units::new(Group::new(&topology, |_| true), (0..16).map(overlapping).collect());
        let sum: u64 = units.classes(2).unwrap().iter().map(|class| class.size).sum();
        assert_eq!(sum, 120);
    }

    #[test]
    fn what_fails_is_dead_and_stated_once() {
        let topology = Topology::torus(&[4, 4]).unwrap().fail_rank(9).unwrap();
        let (cables, links, ranks) = (cables(&topology), links(&topology), ranks(&topology));
        assert_eq!((cables.len(), links.len(), ranks.len()), (28, 56, 15));
        let broken = fail(&topology, [&cables[0], &links[0], &links[5], &ranks[2]]).unwrap();
        assert_eq!(broken.spec().failed_ranks.len(), 2);
        for unit in [&cables[0], &links[0], &links[5]] {
            assert!(unit.links.iter().all(|&link| !broken.link(link).alive));
        }
    }
}
