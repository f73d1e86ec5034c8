//! From divided trees to whole ones: a tree for each chunk.
//!
//! Each tree is taken as often as its share says, rounded down. Chunks left over, and then all chunks in turn, take the
//! tree whose links have the most room, under prices that rise ever more steeply with the load.

use collsynth_lp::Limit;
use fastrand::Rng;

use super::interleaving::evenly_apart;
use super::joining::Joining;
use collsynth_bound::divided_trees::{Column, Divided, Sort, Tree, Wanted};

/// Rounds in all, and those before the power of the price doubles.
const ROUNDS: u32 = 48;
const ROUNDS_PER_POWER: u32 = 8;
/// The power of the first rounds is two to this.
const FIRST_POWER: u32 = 3;

/// How far below a whole number a share is still rounded up.
const NOISE: f64 = 1e-6;

/// The share of a linear program's load that is noise.
const ROUNDING: f64 = 1e-3;

/// A sort's tree for one of its chunks.
#[derive(Clone, Copy)]
struct Pick {
    sort: usize,
    column: usize,
}

/// Trees for these chunks with as little load on the fullest link as a linear program and rounding find; `None`
/// where that would take too long, and where [`Joining::pack`] has none.
pub(super) fn pack_exactly(
    joining: &Joining<'_>,
    rng: &mut Rng,
    limit: &Limit,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Tree>> {
    let Divided { sorts, load, .. } = Divided::new(joining.demand, limit)?;
    let most = joining.most.max((load - ROUNDING * load).ceil() as u32);
    let mut trees = pick(&Joining { most, ..*joining }, &sorts, rng, stop);
    let alone = |wanted: &Wanted| {
        let root = wanted.root.or(joining.demand.groups[wanted.group].first().copied());
        Tree::alone(root.unwrap_or(0), joining.demand.cables.rank_count())
    };
    let of_sort = |wanted: &Wanted| sorts.iter().position(|sort| sort.wanted == *wanted);
    let tree = |wanted: &Wanted| of_sort(wanted).and_then(|sort| trees[sort].pop()).unwrap_or_else(|| alone(wanted));
    Some(joining.demand.wanted.iter().map(tree).collect())
}

/// Trees for the chunks of each sort, in as many as it has chunks, with little more load on any link than the shares
/// have, until `stop` becomes true.
fn pick(joining: &Joining<'_>, sorts: &[Sort], rng: &mut Rng, stop: &dyn Fn() -> bool) -> Vec<Vec<Tree>> {
    let links = |pick: Pick| &sorts[pick.sort].columns[pick.column].links;
    let mut load = vec![0_u32; 2 * joining.demand.cables.count()];
    let mut picks: Vec<Pick> = Vec::new();
    for (number, sort) in sorts.iter().enumerate() {
        for (column, tree) in sort.columns.iter().enumerate() {
            let whole = (tree.share + NOISE).floor() as usize;
            picks.extend(std::iter::repeat_n(Pick { sort: number, column }, whole));
        }
    }
    picks.iter().for_each(|&pick| links(pick).iter().for_each(|&link| load[link] += 1));
    let cheapest = |sort: usize, load: &[u32], power: u32| {
        let price = |column: &Column| column.links.iter().map(|&link| joining.price(link, load, power)).sum::<f64>();
        let prices = sorts[sort].columns.iter().map(price).enumerate();
        let least = prices.min_by(|(_, first), (_, second)| first.total_cmp(second));
        Pick { sort, column: least.map_or(0, |(column, _)| column) }
    };
    for (number, sort) in sorts.iter().enumerate() {
        let taken = picks.iter().filter(|pick| pick.sort == number).count();
        for _ in taken..sort.chunks as usize {
            let pick = cheapest(number, &load, FIRST_POWER);
            links(pick).iter().for_each(|&link| load[link] += 1);
            picks.push(pick);
        }
    }
    let mut best = (joining.figures(&load), picks.clone());
    let mut order: Vec<usize> = (0..picks.len()).collect();
    for round in 0..ROUNDS {
        if best.0.0 <= joining.most || stop() {
            break;
        }
        rng.shuffle(&mut order);
        for &number in &order {
            let pick = picks[number];
            links(pick).iter().for_each(|&link| load[link] -= 1);
            let pick = cheapest(pick.sort, &load, FIRST_POWER + round / ROUNDS_PER_POWER);
            links(pick).iter().for_each(|&link| load[link] += 1);
            picks[number] = pick;
        }
        let figures = joining.figures(&load);
        if figures < best.0 {
            best = (figures, picks.clone());
        }
    }
    let picks = evenly_apart(best.1, |pick| (pick.sort, pick.column));
    let mut trees: Vec<Vec<Tree>> = sorts.iter().map(|_| Vec::new()).collect();
    picks.into_iter().for_each(|pick| trees[pick.sort].push(sorts[pick.sort].columns[pick.column].tree.clone()));
    trees
}

#[cfg(test)]
mod tests {
    use collsynth_core::topology::Topology;

    use super::*;
    use collsynth_bound::divided_trees::{Cables, DOWN, Demand};

    #[test]
    fn every_chunk_has_a_tree_and_links_hardly_more_than_their_share() {
        let topology = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
        let cables = Cables::new(&topology);
        let groups: Vec<Vec<u32>> = [0, 2, 8, 10].map(|first| [0, 1, 4, 5].map(|rank| first + rank).to_vec()).into();
        for chunks in [1, 7, 90, 361] {
            let of_group = |group: usize| (0..chunks).map(move |_| group);
            let wanted =
                (0..4).flat_map(of_group).map(|group| Wanted { group, root: Some(groups[group][0]) }).collect();
            let demand = Demand { cables: &cables, groups: groups.clone(), ways: &[DOWN], wanted };
            let divided = Divided::new(&demand, &Limit::NONE).unwrap();
            let most = divided.load.ceil() as u32;
            let joining = Joining { demand: &demand, most };
            let trees = pick(&joining, &divided.sorts, &mut Rng::with_seed(1), &|| false);
            let mut load = vec![0; 2 * cables.count()];
            for (sort, trees) in divided.sorts.iter().zip(&trees) {
                assert_eq!(trees.len(), chunks);
                assert!(trees.iter().all(|tree| Some(tree.root) == sort.wanted.root));
                trees.iter().for_each(|tree| demand.visit(tree, |link| load[link] += 1));
            }
            let fullest = load.iter().max().unwrap();
            assert!(*fullest <= most + 2, "{chunks} chunks: {fullest}, divided {most}");
        }
    }
}
