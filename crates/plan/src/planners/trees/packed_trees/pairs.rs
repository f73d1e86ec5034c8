//! Pairs of trees, one up and one down, where links differ from their opposites.
//!
//! The two trees of a pair share their root, but not their cables. Prices of links rise exponentially with their load;
//! a pair takes the lightest branchings into and out of a root under these prices, and hangs ranks higher where that
//! costs little. All pairs are chosen anew in turn, in rounds, under prices that rise ever more steeply (Plotkin,
//! Shmoys and Tardos 1995, for prices that pack; Edmonds 1967, for branchings).

use collsynth_core::problem::Problem;
use fastrand::Rng;

use super::branching::Branchings;
use super::hops::Hops;
use super::interleaving::evenly_apart;
use super::pair::Pair;
use crate::model::network::{Network, WAIT};
use collsynth_bound::divided_trees::{DOWN, NONE, Tree, UP};

/// How many times fewer parts are balanced first, in turn.
const FEWER: [u32; 3] = [4, 2, 1];
/// Trees times links to look at while they are balanced: some seconds.
const MOST_WORK: usize = 3_000_000;
/// Links beyond which searches take long, and unused opposites of failed links hardly count.
const MOST_LINKS: usize = 1024;
/// Rounds that balance hardly more than they disturb, of as few parts as are balanced first.
const FEW_ROUNDS: usize = 10;

/// Rounds in all, those before prices rise twice as steeply, and those without gain before it ends.
const ROUNDS: usize = 60;
const ROUNDS_PER_STEEPNESS: usize = 4;
const VAIN_ROUNDS: u32 = 12;
/// The power of e by which prices rise for each unit of load, at first, and that of the highest price.
const STEEPNESS: f64 = 0.3;
const HIGHEST: f64 = 300.0;
/// What a hop between the root and the farthest rank costs, where the fullest link costs 1.
const DEPTH: f64 = 0.1;
/// What hanging a rank higher may cost: shallow trees are easier to schedule, others to pack.
const HIGHER: [f64; 2] = [0.2, 0.05];
/// What shallow trees may weigh more than others, as a share.
const SHALLOW: f64 = 0.01;

/// Is there time to balance pairs, so that they are better than trees of cables?
pub(super) fn are_worth_their_time(problem: &Problem) -> bool {
    let links = problem.topology().live_links().count();
    links <= MOST_LINKS && rounds(problem.parts().div_ceil(FEWER[0]) as usize, links) >= FEW_ROUNDS
}

/// The hops of pairs for all parts, with little more load on any link than need be; `most` for each unit of capacity
/// ends it early. `None` if `abandon` becomes true before there are some for all.
///
/// Shallow trees are taken if they are about as light as others. Fewer parts are balanced first, as they take less
/// time, and each of their pairs is then taken several times.
pub(super) fn pack(
    problem: &Problem,
    live: &[u32],
    most: u32,
    rng: &mut Rng,
    abandon: &dyn Fn() -> bool,
    stop: &dyn Fn() -> bool,
) -> Option<Hops> {
    let few = |higher: f64, rng: &mut Rng| {
        let mut pairs = Pairs::grow(problem, live, problem.parts().div_ceil(FEWER[0]), higher, abandon)?;
        pairs.balance(most.div_ceil(FEWER[0]), rng, stop);
        Some(pairs)
    };
    let [shallow, light] = HIGHER.map(|higher| few(higher, rng));
    let (shallow, light) = shallow.zip(light)?;
    let is_light = f64::from(shallow.figures().0) <= f64::from(light.figures().0) * (1.0 + SHALLOW);
    let mut pairs = if is_light { shallow } else { light };
    for fewer in &FEWER[1..] {
        pairs.multiply(problem.parts().div_ceil(*fewer));
        pairs.balance(most.div_ceil(*fewer), rng, stop);
    }
    (!abandon()).then(|| pairs.hops())
}

fn rounds(chunks: usize, links: usize) -> usize {
    ROUNDS.min(MOST_WORK / (chunks * links).max(1)).max(1)
}

/// Pairs of trees over live links, one for each chunk.
struct Pairs<'a> {
    /// Reversed for trees up, so that both ways lead away from the root.
    networks: [Network; 2],
    live: &'a [u32],
    pairs: Vec<Pair>,
    /// The trees on each link.
    load: Vec<u32>,
    /// What hanging a rank higher may cost.
    higher: f64,
    branchings: Branchings,
}

impl<'a> Pairs<'a> {
    /// Pairs for this many chunks; `None` if `abandon` becomes true before.
    fn grow(problem: &Problem, live: &'a [u32], chunks: u32, higher: f64, abandon: &dyn Fn() -> bool) -> Option<Self> {
        let networks = [Network::reversed(problem), Network::new(problem)];
        let load = vec![0; networks[DOWN].link_count()];
        let mut all = Self { networks, live, pairs: Vec::new(), load, higher, branchings: Branchings::default() };
        for &root in live.iter().cycle().take(chunks as usize) {
            if abandon() {
                return None;
            }
            let prices = all.prices(all.figures().0, STEEPNESS);
            let pair = all.choose(root, &prices).1;
            pair.links().for_each(|link| all.load[link] += 1);
            all.pairs.push(pair);
        }
        Some(all)
    }

    /// Takes every pair several times, evenly, so that there are this many.
    fn multiply(&mut self, chunks: u32) {
        let (few, many) = (self.pairs.len(), chunks as usize);
        self.pairs = (0..many).map(|number| self.pairs[number * few / many].clone()).collect();
        self.load.fill(0);
        self.pairs.iter().flat_map(Pair::links).for_each(|link| self.load[link] += 1);
    }

    /// Chooses pairs anew until no link has more than `most` for each unit of capacity, or `stop` becomes true, or it
    /// no longer helps.
    fn balance(&mut self, most: u32, rng: &mut Rng, stop: &dyn Fn() -> bool) {
        let mut best = (self.figures(), self.pairs.clone(), self.load.clone());
        let mut order: Vec<usize> = (0..self.pairs.len()).collect();
        let mut vain = 0;
        for round in 0..rounds(self.pairs.len(), self.load.len()) {
            if best.0.0 <= most || vain == VAIN_ROUNDS || stop() {
                break;
            }
            rng.shuffle(&mut order);
            let steepness = STEEPNESS * f64::from(1 << (round / ROUNDS_PER_STEEPNESS));
            for &number in &order {
                self.pairs[number].links().for_each(|link| self.load[link] -= 1);
                let prices = self.prices(best.0.0 - 1, steepness);
                let (root, other) = (self.pairs[number].root, self.live[rng.usize(..self.live.len())]);
                let (cost, mut found) = self.choose(root, &prices);
                if other != root {
                    let (other_cost, other) = self.choose(other, &prices);
                    if other_cost < cost {
                        found = other;
                    }
                }
                found.links().for_each(|link| self.load[link] += 1);
                self.pairs[number] = found;
            }
            let figures = self.figures();
            vain = if figures.0 < best.0.0 { 0 } else { vain + 1 };
            if figures < best.0 {
                best = (figures, self.pairs.clone(), self.load.clone());
            }
        }
        (self.pairs, self.load) = (best.1, best.2);
    }

    /// The hops of all pairs, those of each root evenly apart.
    fn hops(&self) -> Hops {
        let pairs = evenly_apart(self.pairs.iter().collect(), |pair: &&Pair| pair.root);
        Hops::of_pairs(&self.networks[DOWN], &pairs)
    }

    /// The load of the fullest link for each unit of capacity, and the links that have it.
    fn figures(&self) -> (u32, usize) {
        let capacity = &self.networks[DOWN].capacity;
        let full = || self.load.iter().zip(capacity).map(|(load, &capacity)| load.div_ceil(capacity));
        let most = full().max().unwrap_or(0);
        (most, full().filter(|&load| load == most).count())
    }

    /// The price of one more tree on each link: 1 for a load of `target`, and by this power of e less for each unit
    /// less.
    fn prices(&self, target: u32, steepness: f64) -> Vec<f64> {
        let filled = self.load.iter().zip(&self.networks[DOWN].capacity);
        let over = filled.map(|(&load, &capacity)| f64::from(load) / f64::from(capacity) - f64::from(target));
        over.map(|over| (over * steepness).min(HIGHEST).exp()).collect()
    }

    /// The lightest trees up and down of a root, made shallower, and what they cost.
    fn choose(&mut self, root: u32, prices: &[f64]) -> (f64, Pair) {
        let mut cost = 0.0;
        let trees = [UP, DOWN].map(|way| {
            let network = &self.networks[way];
            let mut entering = self.branchings.lightest(network, root, prices);
            let tall = hang_higher(network, root, prices, self.higher, &mut entering);
            let links = entering.iter().filter(|&&link| link != WAIT);
            cost += DEPTH * f64::from(tall) + links.map(|&link| prices[link as usize]).sum::<f64>();
            let parent = |&link: &u32| if link == WAIT { NONE } else { network.from[link as usize] };
            Tree { root, parent: entering.iter().map(parent).collect(), cable: entering }
        });
        (cost, Pair { root, trees })
    }
}

/// Hangs ranks from others nearer to the root where that costs little; returns the hops to the farthest.
fn hang_higher(network: &Network, root: u32, prices: &[f64], higher: f64, entering: &mut [u32]) -> u32 {
    let mut below = vec![Vec::new(); entering.len()];
    for (rank, &link) in (0_u32..).zip(entering.iter()).filter(|&(_, &link)| link != WAIT) {
        below[network.from[link as usize] as usize].push(rank);
    }
    let mut depth = vec![0_u32; entering.len()];
    let mut order = vec![root];
    let mut done = 0;
    while let Some(&rank) = order.get(done) {
        done += 1;
        below[rank as usize].iter().for_each(|&next| depth[next as usize] = depth[rank as usize] + 1);
        order.append(&mut below[rank as usize]);
    }
    let mut tall = 0;
    for &rank in &order[1..] {
        // Ranks below this one are deeper than its parent.
        let old = entering[rank as usize];
        let most = prices[old as usize] + higher;
        let above = |link: u32| depth[network.from[link as usize] as usize];
        let cheap = network.entering(rank).iter().copied().filter(|&link| prices[link as usize] <= most);
        let new = cheap.min_by_key(|&link| (above(link), link != old)).unwrap_or(old);
        entering[rank as usize] = new;
        depth[rank as usize] = above(new) + 1;
        tall = tall.max(depth[rank as usize]);
    }
    tall
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::Topology;

    use super::*;

    /// Both trees of each pair lead to all ranks, and links have hardly more than the packing needs: the value of a
    /// linear program of flows from free roots (Frank 1978), as HiGHS found it.
    #[test]
    fn pairs_span_and_share_the_links_as_evenly_as_branchings_can() {
        for (extents, links, cables, parts, load) in [
            (&[4, 4][..], &[(0, 1), (5, 6)][..], &[][..], 200, 1.0 / 2.0),
            (&[3, 3], &[(0, 6), (3, 5), (0, 1)], &[(8, 7), (3, 6)], 116, 16.0 / 29.0),
            (&[3, 3, 3], &[(24, 21), (17, 16)], &[], 200, 13.0 / 40.0),
            (&[5, 5], &[(17, 12)], &[(0, 1), (17, 18)], 190, 48.0 / 95.0),
        ] {
            let mut topology = Topology::torus(extents).unwrap();
            for &(from, to) in links {
                topology = topology.fail_link(from, to).unwrap();
            }
            for &(from, to) in cables {
                topology = topology.fail_cable(from, to).unwrap();
            }
            let live: Vec<u32> = topology.live_ranks().map(|rank| rank.0).collect();
            let problem = Problem::new(topology, Collective { kind: Kind::AllReduce, parts }).unwrap();
            let mut pairs = Pairs::grow(&problem, &live, parts / 2, HIGHER[0], &|| false).unwrap();
            pairs.multiply(parts);
            pairs.balance(0, &mut Rng::with_seed(6), &|| false);
            assert_eq!(pairs.pairs.len(), parts as usize);
            let mut found = vec![0; pairs.load.len()];
            for (pair, way) in pairs.pairs.iter().flat_map(|pair| [(pair, UP), (pair, DOWN)]) {
                let (tree, network) = (&pair.trees[way], &pairs.networks[way]);
                for &rank in &live {
                    let up = |&rank: &u32| Some(tree.parent[rank as usize]).filter(|&parent| parent != NONE);
                    assert_eq!(std::iter::successors(Some(rank), up).take(live.len()).last(), Some(pair.root));
                    if rank != pair.root {
                        let link = tree.cable[rank as usize] as usize;
                        assert_eq!((network.from[link], network.to[link]), (tree.parent[rank as usize], rank));
                        found[link] += 1;
                    }
                }
            }
            assert_eq!(found, pairs.load);
            let fullest = f64::from(*found.iter().max().unwrap());
            let least = (load * f64::from(parts)).ceil();
            assert!((least..=least + 2.0).contains(&fullest), "{extents:?}: {fullest}, at least {least}");
        }
    }
}
