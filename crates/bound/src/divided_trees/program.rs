//! How trees share links best if they may be divided: a linear program whose columns are trees.
//!
//! ```text
//!   minimize T
//!   sum of x[tree]                        =  chunks          for each sort of chunks, over trees that join its ranks
//!   sum of x[tree] over trees on a link  <=  capacity * T    for each link
//! ```
//!
//! There are too many trees to list. Begin with some; the solution has a price for each link, and under these prices
//! the lightest trees are the only ones that could lower T: add them and solve again, until the lightest are no lighter
//! than those at hand (Gilmore and Gomory, "A linear programming approach to the cutting-stock problem", Operations
//! Research 1961). Some dozens of rounds are enough.

use std::collections::HashMap;

use collsynth_lp::{Allocation, Choice, Limit, LpError, Resource, Share};

use super::demand::{Demand, Wanted};
use super::lightest::Lightest;
use super::tree::{NONE, Tree};

/// The most trees times links, over all rounds, links, and sorts of chunks: a second or two.
const MOST_WORK: usize = 4_000_000;
const MOST_LINKS: usize = 200;
const MOST_SORTS: usize = 64;
/// The share of T that may be left.
const CLOSE: f64 = 1e-3;
/// What hops cost besides, all together, as a share of T: of equals, the shorter tree.
const HOP: f64 = 2e-3;

/// The chunks that want the same trees, and the trees they take.
pub struct Sort {
    /// The tree that each of them wants.
    pub wanted: Wanted,
    /// How many they are.
    pub chunks: u32,
    /// The trees they take.
    pub columns: Vec<Column>,
}

/// A tree that chunks of a sort may take.
pub struct Column {
    /// The tree.
    pub tree: Tree,
    /// Its links, as [`Cables::directed`](super::cables::Cables::directed) numbers them.
    pub links: Vec<usize>,
    /// The chunks that take it.
    pub share: f64,
    /// The hops between each member and the root, in all.
    hops: usize,
}

/// The best trees for all sorts of chunks.
pub struct Divided {
    /// The sorts of chunks, each with its trees.
    pub sorts: Vec<Sort>,
    /// T: the load of the fullest link, for each unit of its capacity.
    pub load: f64,
    /// Prices of links under which the lightest trees cost most, for what all capacity costs.
    pub best_prices: Vec<f64>,
    /// What they cost: no division has less load.
    pub least_load: f64,
    /// What a unit of load on each link adds to T.
    prices: Vec<f64>,
}

impl Divided {
    /// Solves the program; `None` where exact searches take too long, where cables do not join all ranks of a group,
    /// and when the limit is reached.
    pub fn new(demand: &Demand<'_>, limit: &Limit) -> Option<Self> {
        let capacity: Vec<f64> = demand.cables.capacity.iter().flat_map(|&capacity| [f64::from(capacity); 2]).collect();
        let all: f64 = capacity.iter().sum();
        let prices = vec![1.0 / all; capacity.len()];
        let sorts = sorts(demand)?;
        let mut program = Self { sorts, load: f64::INFINITY, best_prices: Vec::new(), least_load: 0.0, prices };
        let mut work = 0;
        while work < MOST_WORK && program.add_lightest(demand, HOP / all)? {
            work += capacity.len() * program.sorts.iter().map(|sort| sort.columns.len()).sum::<usize>();
            let solved = match program.allocation(&capacity).solve(limit) {
                Ok(solved) => solved,
                // Rounding may keep the solver from its last digits: what was found before will do.
                Err(LpError::Solver(_)) if program.load.is_finite() => break,
                Err(_) => return None,
            };
            program.load = solved.total();
            for (sort, shares) in program.sorts.iter_mut().zip(&solved.shares) {
                sort.columns.iter_mut().zip(shares).for_each(|(column, &share)| column.share = share);
            }
            program.prices = solved.prices.iter().map(|price| price.max(0.0)).collect();
        }
        Some(program)
    }

    /// Adds the lightest trees where those at hand are heavier, in all by more than a little. Were there any?
    fn add_lightest(&mut self, demand: &Demand<'_>, hop: f64) -> Option<bool> {
        let prices = &self.prices;
        let price = |links: &[usize]| links.iter().map(|&link| prices[link]).sum::<f64>();
        let weight = |column: &Column| price(&column.links) + hop * column.hops as f64;
        let (mut at_hand, mut lightest, mut least_load, mut found) = (0.0, 0.0, 0.0, Vec::new());
        for (group, members) in demand.groups.iter().enumerate() {
            let of_group = |sort: &Sort| sort.wanted.group == group;
            if !self.sorts.iter().any(of_group) {
                continue;
            }
            let over = |cable, parent| demand.links_below(cable, parent).map(|link| prices[link]).sum::<f64>();
            let table = Lightest::new(demand.cables, members, over, hop);
            for (number, sort) in self.sorts.iter().enumerate().filter(|(_, sort)| of_group(sort)) {
                let tree = table.tree(sort.wanted.root.unwrap_or(members[0]))?;
                let links = demand.links_of(&tree);
                let column = Column { hops: hops(&tree, members), links, tree, share: 0.0 };
                let known = sort.columns.iter().map(weight).fold(f64::INFINITY, f64::min);
                at_hand += known * f64::from(sort.chunks);
                lightest += weight(&column) * f64::from(sort.chunks);
                least_load += price(&column.links) * f64::from(sort.chunks);
                if weight(&column) < known {
                    found.push((number, column));
                }
            }
        }
        let gains = at_hand.is_infinite() || at_hand - lightest > CLOSE * at_hand;
        // Capacities times prices add up to 1.
        if least_load > self.least_load {
            (self.least_load, self.best_prices) = (least_load, self.prices.clone());
        }
        if gains {
            found.into_iter().for_each(|(number, column)| self.sorts[number].columns.push(column));
        }
        Some(gains)
    }

    fn allocation(&self, capacity: &[f64]) -> Allocation {
        let resource = |&capacity: &f64| Resource { phase: 0, capacity, base: 0.0 };
        let share = |column: &Column| Share { loads: column.links.iter().map(|&link| (link, 1.0)).collect() };
        let choice =
            |sort: &Sort| Choice { amount: f64::from(sort.chunks), ways: sort.columns.iter().map(share).collect() };
        Allocation {
            phases: 1,
            resources: capacity.iter().map(resource).collect(),
            choices: self.sorts.iter().map(choice).collect(),
        }
    }
}

/// The sorts of chunks that move, if there are any, and they are few and small enough.
fn sorts(demand: &Demand<'_>) -> Option<Vec<Sort>> {
    let mut known: HashMap<Wanted, usize> = HashMap::new();
    let mut sorts: Vec<Sort> = Vec::new();
    for &wanted in demand.wanted.iter().filter(|wanted| demand.groups[wanted.group].len() > 1) {
        let place = *known.entry(wanted).or_insert(sorts.len());
        if place == sorts.len() {
            sorts.push(Sort { wanted, chunks: 0, columns: Vec::new() });
        }
        sorts[place].chunks += 1;
    }
    let exact = |sort: &Sort| Lightest::applies(demand.cables, demand.groups[sort.wanted.group].len());
    let few = (1..=MOST_SORTS).contains(&sorts.len()) && 2 * demand.cables.count() <= MOST_LINKS;
    (few && sorts.iter().all(exact)).then_some(sorts)
}

/// The hops between each member and the root, in all.
fn hops(tree: &Tree, members: &[u32]) -> usize {
    let above = |&rank: &u32| Some(tree.parent[rank as usize]).filter(|&above| above != NONE);
    members.iter().map(|&member| std::iter::successors(Some(member), above).count() - 1).sum()
}

#[cfg(test)]
mod tests {
    use super::super::cables::Cables;
    use super::super::tree::{BOTH, DOWN};
    use super::*;
    use collsynth_core::topology::Topology;

    /// The values of the linear program as HiGHS found them, with all trees that an exact search found.
    #[test]
    fn groups_share_links_as_a_linear_program_says() {
        let blocks: Vec<Vec<u32>> =
            [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]].map(Vec::from).into();
        let odd = vec![vec![0, 1, 2, 3, 4], vec![9, 15, 12, 7, 8, 10, 13]];
        let planes: Vec<Vec<u32>> = (0..3).map(|plane| (9 * plane..9 * plane + 9).collect()).collect();
        for (extents, dead, groups, broadcast, all_reduce) in [
            (&[4, 4][..], false, &blocks, 2.0 / 5.0, 3.0 / 4.0),
            (&[4, 4], true, &blocks, 4.0 / 9.0, 4.0 / 5.0),
            (&[4, 4], false, &odd, 1.0 / 3.0, 0.47297),
            (&[4, 4], true, &odd, 2.0 / 5.0, 0.5),
            (&[3, 3, 3], false, &planes, 1.0 / 4.0, 4.0 / 9.0),
            (&[3, 3, 3], true, &planes, 3.0 / 11.0, 24.0 / 53.0),
        ] {
            let intact = Topology::torus(extents).unwrap();
            let topology = if dead { intact.fail_cable(0, 1).unwrap() } else { intact };
            let cables = Cables::new(&topology);
            for (ways, load) in [(&[DOWN][..], broadcast), (BOTH, all_reduce)] {
                let root = |group: usize| (ways != BOTH).then_some(groups[group][0]);
                let of_group = |group| [Wanted { group, root: root(group) }; 100];
                let wanted = (0..groups.len()).flat_map(of_group).collect();
                let demand = Demand { cables: &cables, groups: groups.clone(), ways, wanted };
                let divided = Divided::new(&demand, &Limit::NONE).expect("small");
                assert!((divided.load / load / 100.0 - 1.0).abs() < 2e-3, "{extents:?}: {} for {load}", divided.load);
                let mut loads = vec![0.0; 2 * cables.count()];
                for sort in &divided.sorts {
                    assert!((sort.columns.iter().map(|column| column.share).sum::<f64>() - 100.0).abs() < 1e-6);
                    for column in &sort.columns {
                        column.links.iter().for_each(|&link| loads[link] += column.share);
                    }
                }
                assert!(loads.iter().all(|&found| found <= divided.load + 1e-6));
                assert!((divided.best_prices.iter().sum::<f64>() - 1.0).abs() < 1e-6);
                assert!((divided.least_load / load / 100.0 - 1.0).abs() < 4e-3);
            }
        }
    }
}
