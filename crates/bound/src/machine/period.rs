//! With which period failures repeat.

use std::collections::BTreeSet;

use collsynth_core::topology::{RankId, Topology, Torus};

/// The least period with which the dead links of a torus repeat: translations by its multiples map them onto each
/// other. `None` without dead links, or where only the whole torus is a period.
///
/// O(dead links * divisors of the extents).
pub fn failure_period(machine: &Topology) -> Option<Vec<u32>> {
    let torus = machine.as_torus().filter(|torus| torus.wrap.iter().all(|&wrap| wrap))?;
    let dead = dead_links(machine);
    let period: Vec<u32> = (0..torus.extents.len()).map(|dim| least(torus, &dead, dim)).collect();
    (!dead.is_empty() && period != torus.extents && torus.check_period(&period).is_ok()).then_some(period)
}

/// A link by its sender and direction.
type Dead = BTreeSet<(RankId, (u8, bool))>;

fn dead_links(machine: &Topology) -> Dead {
    let dead = machine.links().iter().filter(|link| !link.alive);
    dead.filter_map(|link| Some((link.from, link.direction.map(|way| (way.dim, way.positive))?))).collect()
}

/// The least number of positions along a dimension after which the dead links are the same. Those of all dimensions
/// together are a period, as translations can be made one after the other.
fn least(torus: &Torus, dead: &Dead, dim: usize) -> u32 {
    let extent = torus.extents[dim];
    let shifts = |by: u32| torus.twist.iter().all(|row| row[dim].is_multiple_of(by));
    let repeats = |by: u32| {
        let offset = RankId(by * torus.stride(dim));
        dead.iter().all(|&(from, way)| dead.contains(&(torus.translated(from, offset), way)))
    };
    (1..extent).find(|&by| extent.is_multiple_of(by) && shifts(by) && repeats(by)).unwrap_or(extent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::topology::{Switch, TopologySpec};

    fn of(extents: &[u32], switches: &[&str], cables: &[(u32, u32)]) -> Option<Vec<u32>> {
        let mut spec = TopologySpec::torus(extents);
        let intact = Topology::new(spec.clone()).unwrap();
        for switch in switches {
            let switch: Switch = switch.parse().unwrap();
            spec.failed_links.extend(switch.cables(&intact, &vec![4; extents.len()]).unwrap());
        }
        let machine = Topology::new(spec.without_cables(cables)).unwrap();
        failure_period(&machine)
    }

    #[test]
    fn failures_repeat_with_the_least_period() {
        assert_eq!(of(&[8, 8, 8], &["x:1,2"], &[]), Some(vec![4, 4, 4]));
        assert_eq!(of(&[8, 8, 8], &["x:1,2", "x:3,2"], &[]), Some(vec![4, 2, 4]));
        assert_eq!(of(&[8, 8, 12], &["y:0,0", "z:1,2", "x:3,3"], &[]), Some(vec![4, 4, 4]));
        assert_eq!(of(&[8, 8, 8], &["x:1,2"], &[(0, 1)]), None);
        assert_eq!(of(&[8, 8, 8], &[], &[]), None);
        assert_eq!(of(&[4, 4, 8], &["x:1,2"], &[]), Some(vec![4, 4, 4]));
    }
}
