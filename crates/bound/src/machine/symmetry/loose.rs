//! Classes of sets of units that not every symmetry carries onto units.
//!
//! The switches of a pod stand between cells: a translation by a whole cell carries switches onto switches, one by less
//! carries those of one dimension onto switches and those of another into the middle of cells. Both carry a schedule
//! around some of them onto a schedule around others, if these are switches too. So two sets are in one class if any
//! symmetry carries one onto the other, whatever it does to the rest.

use std::collections::{BTreeSet, HashMap, HashSet};

use rayon::prelude::*;

use super::classes::{Canonical, Class, ClassError, MOST_IMAGES, Unit, binomial, image};
use super::group::Group;

/// Units of a machine, and what its symmetries do to them.
pub struct LooseUnits<'a> {
    group: Group<'a>,
    units: Vec<Unit>,
    /// Of all symmetries that do the same to the units, the first, with the image of each unit that is a unit.
    actions: Vec<(usize, Vec<Option<u32>>)>,
}

impl<'a> LooseUnits<'a> {
    /// Takes any units, each not empty. O(symmetries * members).
    pub fn new(group: Group<'a>, mut units: Vec<Unit>) -> Self {
        for unit in &mut units {
            unit.links.sort_unstable();
            unit.ranks.sort_unstable();
        }
        let numbers: HashMap<&Unit, u32> = units.iter().zip(0..).collect();
        // Most images are no units, and one of their members tells.
        let links: HashSet<_> = units.iter().flat_map(|unit| &unit.links).collect();
        let may_be =
            |symmetry, unit: &Unit| unit.links.first().is_none_or(|&one| links.contains(&group.link(symmetry, one)));
        let of = |symmetry: usize| {
            let one = |unit| {
                let image = may_be(symmetry, unit).then(|| image(&group, symmetry, unit))?;
                numbers.get(&image).copied()
            };
            units.iter().map(one).collect::<Vec<Option<u32>>>()
        };
        let all: Vec<Vec<Option<u32>>> = (0..group.order()).into_par_iter().map(of).collect();
        let mut seen = HashSet::new();
        let actions = all.into_iter().enumerate().filter(|(_, images)| seen.insert(images.clone())).collect();
        Self { group, units, actions }
    }

    /// The units, by number.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The symmetries of the machine.
    pub fn group(&self) -> &Group<'a> {
        &self.group
    }

    /// The canonical set of the class of a set of units, ascending. O(actions * size).
    pub fn canonical(&self, set: &[u32]) -> Canonical {
        let images = self.images(set);
        let class = Class { set: set.to_vec(), size: images.len() as u64 };
        // The identity, which comes first, keeps every set.
        let least = images.into_iter().min().unwrap_or((class.set.clone(), 0));
        Canonical { class: Class { set: least.0, ..class }, symmetry: least.1 }
    }

    /// The classes of all sets of `size` units, by their canonical sets. The sizes add up to a binomial coefficient.
    ///
    /// # Errors
    ///
    /// If there are too many sets.
    pub fn classes(&self, size: usize) -> Result<Vec<Class>, ClassError> {
        let sets = binomial(self.units.len(), size);
        if sets.saturating_mul((size * self.actions.len()) as u128) > MOST_IMAGES {
            return Err(ClassError::TooMany { sets, size });
        }
        let mut classes = Vec::new();
        let mut seen: BTreeSet<Vec<u32>> = BTreeSet::new();
        for_each_set(self.units.len() as u32, size, &mut |set| {
            // In their order, the first set of a class is the least.
            if !seen.remove(set) {
                let images = self.images(set);
                classes.push(Class { set: set.to_vec(), size: images.len() as u64 });
                seen.extend(images.into_keys().filter(|image| image != set));
            }
        });
        Ok(classes)
    }

    /// The sets of units onto which symmetries carry a set, each with the first that does.
    fn images(&self, set: &[u32]) -> HashMap<Vec<u32>, usize> {
        let mut found = HashMap::new();
        for (symmetry, images) in &self.actions {
            let image: Option<Vec<u32>> = set.iter().map(|&unit| images[unit as usize]).collect();
            let Some(mut image) = image else { continue };
            image.sort_unstable();
            found.entry(image).or_insert(*symmetry);
        }
        found
    }
}

/// Visits all sets of `size` of the numbers below `count`, each ascending, in lexicographic order.
fn for_each_set(count: u32, size: usize, visit: &mut impl FnMut(&[u32])) {
    fn extend(count: u32, size: usize, set: &mut Vec<u32>, visit: &mut impl FnMut(&[u32])) {
        if set.len() == size {
            return visit(set);
        }
        let first = set.last().map_or(0, |last| last + 1);
        for number in first..count {
            set.push(number);
            extend(count, size, set, visit);
            set.pop();
        }
    }
    extend(count, size, &mut Vec::new(), visit);
}

#[cfg(test)]
mod tests {
    use collsynth_core::topology::{Switch, Topology};

    use super::*;

    /// The switches of a torus.
    fn switches(topology: &Topology, period: &[u32]) -> Vec<Unit> {
        let all = Switch::all(topology, period).unwrap();
        all.iter().map(|switch| super::super::switch(topology, switch, period).unwrap()).collect()
    }

    fn loose<'a>(topology: &'a Topology, period: &[u32]) -> LooseUnits<'a> {
        LooseUnits::new(Group::affine(topology, |_| true), switches(topology, period))
    }

    /// Of 8x8 by hand: two switches of one dimension are 1 or 2 apart; of one in each dimension, either is at the rim
    /// of its cell or within it, in any order. The others are from a program of its own.
    #[test]
    fn classes_of_switches_are_few() {
        for (extents, period, expected) in [
            (&[16, 16, 16][..], &[4, 4, 4][..], [1, 14]),
            (&[8, 16, 16], &[4, 4, 4], [2, 34]),
            (&[8, 8, 8], &[4, 4, 4], [1, 14]),
            (&[8, 8], &[4, 4], [1, 5]),
        ] {
            let topology = Topology::torus(extents).unwrap();
            let units = loose(&topology, period);
            let count = |size| units.classes(size).unwrap().len();
            assert_eq!([count(1), count(2)], expected, "{extents:?}");
        }
    }

    #[test]
    fn every_set_is_in_one_class_and_carried_to_its_canonical_set() {
        for (extents, period) in
            [(&[8, 8][..], &[4, 4][..]), (&[6, 4], &[2, 4]), (&[4, 4, 4], &[2, 2, 2]), (&[9], &[3])]
        {
            let topology = Topology::torus(extents).unwrap();
            let units = loose(&topology, period);
            for size in 1..=2_usize.min(units.units().len()) {
                let classes = units.classes(size).unwrap();
                let mut sets = Vec::new();
                for_each_set(units.units().len() as u32, size, &mut |set| sets.push(set.to_vec()));
                assert_eq!(classes.iter().map(|class| class.size).sum::<u64>(), sets.len() as u64);
                for set in sets {
                    let Canonical { class, symmetry } = units.canonical(&set);
                    assert!(classes.contains(&class), "{extents:?}: {set:?}");
                    let mut images: Vec<Unit> =
                        set.iter().map(|&unit| image(&units.group, symmetry, &units.units[unit as usize])).collect();
                    let mut canonical: Vec<Unit> =
                        class.set.iter().map(|&unit| units.units[unit as usize].clone()).collect();
                    images.sort();
                    canonical.sort();
                    assert_eq!(images, canonical);
                }
            }
        }
    }
}
