//! Dead switches: failures that repeat with a period.
//!
//! In pods the cables between cells of `p x q x ...` ranks run through optical switches: one switch for each position
//! on the faces of a dimension serves all cells. *Switch `x:a,b`* is all cables from the last `x` of a cell to the next
//! cell, at the positions `a`, `b` of the other dimensions within their cell. If it dies, the same cable is gone at
//! every cell.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::{
    DimRef, Direction, FailedLink, Link, PeriodError, RankId, SwitchError, Topology, TopologyError, Torus, dim_name,
};
use crate::exact::dimension;

/// The positions of a cell along a dimension, unless stated: those of the cubes of a TPU pod.
const CELL: u32 = 4;
/// The most divisors listed in an error.
const LISTED: usize = 12;

/// A switch: the dimension whose cables run through it, and the position of these in the other dimensions of their
/// cell, in the order of the dimensions.
///
/// ```
/// # use collsynth_core::topology::{Switch, Topology};
/// let switch: Switch = "x:1,2".parse()?;
/// assert_eq!(switch.cables(&Topology::torus(&[8, 8, 8])?, &[4, 4, 4])?.len(), 8);
/// # Ok::<(), collsynth_core::topology::TopologyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Switch {
    dim: u8,
    position: Vec<u32>,
}

impl Torus {
    /// The period unless one is stated: cells of 4 along every dimension.
    pub fn default_period(&self) -> Vec<u32> {
        vec![CELL; self.extents.len()]
    }

    /// Do translations by multiples of this period map the torus onto itself, cells onto cells?
    ///
    /// # Errors
    ///
    /// A [`PeriodError`] if not: it has to divide the extents and what wraps shift.
    pub fn check_period(&self, period: &[u32]) -> Result<(), PeriodError> {
        let (words, dims) = (extents_of(period), self.extents.len());
        if period.len() != dims {
            return Err(PeriodError::Length { period: words, length: period.len(), dims });
        }
        let divides = |part: u32, whole: u32| part > 0 && whole.is_multiple_of(part);
        for (dim, (&part, &whole)) in period.iter().zip(&self.extents).enumerate() {
            if !divides(part, whole) {
                let mut all = (1..=whole).filter(|&part| divides(part, whole));
                let mut divisors: Vec<String> = all.by_ref().take(LISTED).map(|part| part.to_string()).collect();
                divisors.extend(all.next().map(|_| "..".to_owned()));
                let (extents, divisors) = (extents_of(&self.extents), divisors.join(", "));
                return Err(PeriodError::Divide { period: words, extents, dim: name(dim), divisors });
            }
        }
        for (dim, row) in self.twist.iter().enumerate() {
            if let Some(shifted) = (0..dims).find(|&shifted| !divides(period[shifted], row[shifted])) {
                let (dim, shift) = (name(dim), row[shifted]);
                return Err(PeriodError::Twist { dim, shifted: name(shifted), shift, period: words });
            }
        }
        Ok(())
    }
}

impl Switch {
    /// All switches of a torus, by dimension and position.
    ///
    /// # Errors
    ///
    /// If the machine is no torus, or has no such period.
    pub fn all(machine: &Topology, period: &[u32]) -> Result<Vec<Self>, SwitchError> {
        let torus = machine.as_torus().ok_or(SwitchError::NotATorus)?;
        torus.check_period(period)?;
        let dims = || 0..period.len();
        let lower = (0..machine.rank_count)
            .map(RankId)
            .filter(|&rank| dims().all(|dim| torus.position(rank, dim) < period[dim]));
        let mut all = Vec::new();
        for rank in lower {
            for dim in dims().filter(|&dim| torus.position(rank, dim) == period[dim] - 1) {
                let position = dims().filter(|&other| other != dim).map(|other| torus.position(rank, other)).collect();
                all.push(Self { dim: dimension(dim), position });
            }
        }
        all.retain(|switch| switch.cables(machine, period).is_ok());
        all.sort();
        Ok(all)
    }

    /// The cables through this switch, each by the rank from which it leads up the dimension.
    ///
    /// # Errors
    ///
    /// A [`SwitchError`] that says which switches there are.
    pub fn cables(&self, machine: &Topology, period: &[u32]) -> Result<Vec<FailedLink>, SwitchError> {
        let torus = machine.as_torus().ok_or(SwitchError::NotATorus)?;
        torus.check_period(period)?;
        let dims = torus.extents.len();
        let dim = usize::from(self.dim);
        let (switch, words) = (self.to_string(), extents_of(period));
        if dim >= dims {
            let dims = (0..dims).map(name).collect::<Vec<_>>().join(", ");
            return Err(SwitchError::NoDimension { switch, dims });
        }
        let others: Vec<usize> = (0..dims).filter(|&other| other != dim).collect();
        if self.position.len() != others.len() {
            let example = Self { dim: self.dim, position: others.iter().map(|&other| period[other] / 2).collect() };
            let (stated, others) = (self.position.len(), others.iter().map(|&other| name(other)).collect::<Vec<_>>());
            let (others, example) = (others.join(", "), example.to_string());
            return Err(SwitchError::Positions { switch, stated, others, example });
        }
        let mut wanted = vec![period[dim] - 1; dims];
        for (&other, &position) in others.iter().zip(&self.position) {
            if position >= period[other] {
                let (dim, most) = (name(other), period[other] - 1);
                return Err(SwitchError::OutOfRange { switch, dim, most, period: words });
            }
            wanted[other] = position;
        }
        let is_wanted = |rank: &RankId| (0..dims).all(|dim| torus.position(*rank, dim) % period[dim] == wanted[dim]);
        let up = Direction { dim: self.dim, positive: true };
        let cable = |from: RankId| {
            let to = torus.neighbor(from, dim, true)?;
            Some(FailedLink { from, to, dim: Some(DimRef::Direction(up)), both: true })
        };
        let cables: Vec<FailedLink> = (0..machine.rank_count).map(RankId).filter(is_wanted).filter_map(cable).collect();
        match cables.is_empty() {
            true => Err(SwitchError::NoCable { switch, dim: name(dim), period: words }),
            false => Ok(cables),
        }
    }

    /// The switch that a failed cable of a torus may belong to.
    fn of_cable(torus: &Torus, period: &[u32], failed: &FailedLink) -> Option<Self> {
        let (dim, up) = match failed.dim? {
            DimRef::Dim(dim) => (dim, torus.neighbor(failed.from, usize::from(dim), true) == Some(failed.to)),
            DimRef::Direction(direction) => (direction.dim, direction.positive),
        };
        let lower = if up { failed.from } else { failed.to };
        let within = |dim: usize| torus.position(lower, dim) % period[dim];
        let this = usize::from(dim);
        let others = (0..period.len()).filter(|&other| other != this);
        (within(this) + 1 == period[this]).then(|| Self { dim, position: others.map(within).collect() })
    }
}

impl Topology {
    /// The same with a switch between the cells of a torus dead: all its cables fail that had not before. Cells have
    /// the extents `period`.
    ///
    /// # Errors
    ///
    /// There is no such switch, or of one of its cables a single link has failed before.
    ///
    /// ```
    /// # use collsynth_core::topology::Topology;
    /// let pod = Topology::torus(&[8, 8, 8])?.fail_cable(139, 140)?.fail_switch(&"x:1,2".parse()?, &[4, 4, 4])?;
    /// assert_eq!(pod.to_string(), "8x8x8 torus with 8 failed cables (switch x:1,2)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fail_switch(self, switch: &Switch, period: &[u32]) -> Result<Self, TopologyError> {
        let mut spec = self.spec().clone();
        let of_cable = |cable: &FailedLink, link: &Link| {
            let up = Direction { dim: switch.dim, positive: true };
            let ends = if link.direction == Some(up) { (link.from, link.to) } else { (link.to, link.from) };
            ends == (cable.from, cable.to) && link.direction.is_some_and(|direction| direction.dim == switch.dim)
        };
        let works = |cable: &FailedLink| self.live_links().any(|id| of_cable(cable, self.link(id)));
        spec.failed_links.extend(switch.cables(&self, period)?.into_iter().filter(works));
        Self::new(spec)
    }

    /// The switches of cells of 4 all of whose cables have failed, at least two for each, with the number of these.
    pub fn dead_switches(&self) -> Vec<(Switch, usize)> {
        let Some(torus) = self.as_torus() else { return Vec::new() };
        let period = torus.default_period();
        if torus.check_period(&period).is_err() {
            return Vec::new();
        }
        let mut dead: BTreeMap<Switch, usize> = BTreeMap::new();
        for failed in self.spec().failed_links.iter().filter(|failed| failed.both) {
            if let Some(switch) = Switch::of_cable(torus, &period, failed) {
                *dead.entry(switch).or_default() += 1;
            }
        }
        let is_whole = |switch: &Switch, failed: usize| {
            failed > 1 && switch.cables(self, &period).is_ok_and(|cables| cables.len() == failed)
        };
        dead.into_iter().filter(|(switch, failed)| is_whole(switch, *failed)).collect()
    }

    /// The failed cables and links that belong to none of these switches.
    pub fn failed_beside(&self, switches: &[(Switch, usize)]) -> impl Iterator<Item = &FailedLink> {
        let torus = self.as_torus().filter(|_| !switches.is_empty());
        self.spec().failed_links.iter().filter(move |failed| {
            let switch = torus.and_then(|torus| Switch::of_cable(torus, &torus.default_period(), failed));
            let is_one = |switch: &Switch| failed.both && switches.iter().any(|(dead, _)| dead == switch);
            !switch.as_ref().is_some_and(is_one)
        })
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position: Vec<String> = self.position.iter().map(u32::to_string).collect();
        write!(f, "{}:{}", dim_name(self.dim), position.join(","))
    }
}

impl FromStr for Switch {
    type Err = SwitchError;

    fn from_str(text: &str) -> Result<Self, SwitchError> {
        let read = || {
            let (dim, position) = text.split_once(':')?;
            let Ok(DimRef::Dim(dim)) = dim.parse() else { return None };
            let numbers = position.split(',').filter(|_| !position.is_empty());
            let digits = numbers.map(|word| Some(word).filter(|word| word.bytes().all(|byte| byte.is_ascii_digit())));
            let position = digits.map(|word| word?.parse().ok()).collect::<Option<Vec<u32>>>()?;
            Some(Self { dim, position })
        };
        read().ok_or_else(|| SwitchError::NotASwitch { text: text.to_owned() })
    }
}

fn extents_of(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

fn name(dim: usize) -> String {
    dim_name(dimension(dim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::TopologySpec;

    fn cables(extents: &[u32], period: &[u32], switch: &str) -> Result<Vec<(u32, u32)>, String> {
        let switch: Switch = switch.parse().map_err(|error: SwitchError| error.to_string())?;
        let cables = switch.cables(&Topology::torus(extents).expect("a torus"), period);
        let ends = |cables: Vec<FailedLink>| cables.iter().map(|cable| (cable.from.0, cable.to.0)).collect();
        cables.map(ends).map_err(|error| error.to_string())
    }

    #[test]
    fn what_failed_before_its_switch_counts_once() {
        let torus = || Topology::torus(&[4, 6]).expect("a torus");
        let (switch, period) = ("x:1".parse().expect("a switch"), [2, 3]);
        let dead = torus().fail_switch(&switch, &period).expect("a switch");
        let cable_by_cable = [(5, 6), (7, 4), (17, 18), (19, 16)];
        let mut stated = torus();
        for (from, to) in cable_by_cable {
            let before = torus().fail_cable(to, from).expect("a cable");
            assert_eq!(before.fail_switch(&switch, &period).as_ref(), Ok(&dead), "{from}-{to}");
            stated = stated.fail_cable(from, to).expect("a cable");
        }
        let alive = |machine: &Topology| machine.links().iter().map(|link| link.alive).collect::<Vec<_>>();
        assert_eq!(alive(&dead), alive(&stated));
        assert_eq!(dead.clone().fail_switch(&switch, &period), Ok(dead));
        let half = torus().fail_link(6, 5).expect("a link").fail_switch(&switch, &period);
        assert!(matches!(half, Err(TopologyError::LinkFailedTwice { .. })), "{half:?}");
    }

    #[test]
    fn a_switch_is_the_same_cable_of_every_cell() {
        assert_eq!(cables(&[4, 6], &[2, 3], "x:1"), Ok(vec![(5, 6), (7, 4), (17, 18), (19, 16)]));
        assert_eq!(cables(&[4, 6], &[2, 3], "y:0"), Ok(vec![(8, 12), (10, 14), (20, 0), (22, 2)]));
        assert_eq!(cables(&[8], &[4], "x:"), Ok(vec![(3, 4), (7, 0)]));
        assert_eq!(cables(&[4, 4], &[1, 4], "x:3").map(|all| all.len()), Ok(4));
        // All 48 switches of a pod are all cables between its cubes.
        let torus = Topology::torus(&[8, 8, 12]).expect("a torus");
        let mut ends = Vec::new();
        for (dim, (first, second)) in (0..3).flat_map(|dim| (0..16).map(move |at| (dim, (at % 4, at / 4)))) {
            let all = Switch { dim, position: vec![first, second] }.cables(&torus, &[4; 3]).expect("a switch");
            ends.extend(all.iter().map(|cable| (cable.from, cable.to)));
        }
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(ends.len(), 3 * 16 * 12);
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let wrong = |extents: &[u32], period: &[u32], switch: &str| cables(extents, period, switch).unwrap_err();
        assert!(wrong(&[8, 8], &[4, 4], "x").contains("as in x:1,2"));
        assert!(wrong(&[8, 8], &[4, 4], "x+:1").contains("as in x:1,2"));
        for text in ["x:+1", "X:1", "x: 1", "x:1,", "x:,"] {
            assert!(wrong(&[8, 8], &[4, 4], text).contains("as in x:1,2"), "{text}");
        }
        assert!(wrong(&[8, 8], &[4, 4], "x:99999999999").contains("as in x:1,2"));
        assert!(wrong(&[8, 8], &[4], "x:1").contains("the period 4 has 1 of the 2 extents"));
        assert!(wrong(&[8, 6], &[4, 4], "x:1").contains("along y it is one of 1, 2, 3, 6"));
        assert!(wrong(&[8, 6], &[4, 0], "x:1").contains("along y it is one of 1, 2, 3, 6"));
        assert!(wrong(&[8, 6], &[u32::MAX, 2], "x:1").contains("along x it is one of 1, 2, 4, 8"));
        assert!(wrong(&[8, 8], &[4, 4], "z:1").contains("the dimensions x, y"));
        assert!(wrong(&[8, 8], &[4, 4], "x:1,2").contains("write those in y, as in x:2"));
        assert!(wrong(&[8, 8], &[4, 4], "y:4").contains("in x the positions are 0 to 3"));
        assert!(wrong(&[8, 1], &[4, 1], "y:2").contains("no cable in y"));
        let twisted = Torus::twisted(&[4, 8]).expect("doubled");
        assert!(twisted.check_period(&[4, 4]).is_ok());
        let error = twisted.check_period(&[4, 8]).unwrap_err().to_string();
        assert!(error.contains("x shifts y by 4"), "{error}");
    }

    #[test]
    fn dead_switches_are_found_among_failures() {
        let torus = Topology::torus(&[8, 8, 8]).expect("a torus");
        let switches: Vec<Switch> = ["x:1,2", "z:0,3"].map(|text| text.parse().expect("a switch")).into();
        let mut spec = TopologySpec::torus(&[8, 8, 8]).without_cables(&[(0, 1), (3, 4)]);
        for switch in &switches {
            spec.failed_links.extend(switch.cables(&torus, &[4; 3]).expect("a switch"));
        }
        let machine = Topology::new(spec.clone()).expect("a machine");
        let dead = machine.dead_switches();
        assert_eq!(dead, switches.iter().map(|switch| (switch.clone(), 8)).collect::<Vec<_>>());
        assert_eq!(machine.failed_beside(&dead).count(), 2);
        // One cable of a switch, or one link of a cable, is alive.
        let last = spec.failed_links.len() - 1;
        spec.failed_links[last].both = false;
        let machine = Topology::new(spec).expect("a machine");
        assert_eq!(machine.dead_switches(), dead[..1]);
    }
}
