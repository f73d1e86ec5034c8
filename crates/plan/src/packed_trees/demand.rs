//! What a collective in groups wants of trees.

use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::problem::Problem;
use collsynth_core::topology::RankId;
use collsynth_lp::Limit;

use super::cables::Cables;
use super::fractional::Divided;
use super::joining::{Joining, Wanted};
use super::ways;

/// The groups, and the tree that each chunk wants.
pub(super) struct Demand {
    /// The live members of each group; the last has none, for the chunks of failed ranks.
    pub groups: Vec<Vec<u32>>,
    /// In the order of the chunks.
    pub wanted: Vec<Wanted>,
}

impl Demand {
    pub fn new(problem: &Problem) -> Self {
        let live = |members: &Vec<RankId>| -> Vec<u32> {
            let live = members.iter().filter(|&&rank| problem.topology().is_alive(rank));
            live.map(|rank| rank.0).collect()
        };
        let mut groups: Vec<Vec<u32>> =
            problem.groups().map_or(Vec::new(), |groups| groups.members().iter().map(live).collect());
        groups.push(Vec::new());
        let nobody = Wanted { group: groups.len() - 1, root: None };
        let wanted = |chunk: ChunkId| {
            let group = problem.collective().group_of(chunk).map_or(nobody.group, |group| group as usize);
            let rule = problem.rule(chunk);
            match (rule.before, rule.after) {
                (Holders::One(root), _) | (_, Holders::One(root)) if problem.topology().is_alive(root) => {
                    Wanted { group, root: Some(root.0) }
                }
                (Holders::One(_), _) | (_, Holders::One(_)) => nobody,
                _ => Wanted { group, root: None },
            }
        };
        Self { wanted: (0..problem.chunk_count()).map(|chunk| wanted(ChunkId(chunk))).collect(), groups }
    }
}

/// Prices of links, as `(from, to, price)`, under which the lightest trees of a collective in groups cost most for
/// what all links cost together: the dual solution of the program of divided trees. Links without an opposite have none.
///
/// `None` where the program is too large, and when the limit is reached.
pub(crate) fn link_prices(problem: &Problem, limit: &Limit) -> Option<Vec<(RankId, RankId, f64)>> {
    problem.groups()?;
    let cables = Cables::new(problem.topology());
    let Demand { groups, wanted } = Demand::new(problem);
    let joining = Joining { cables: &cables, groups: &groups, ways: ways(problem), most: 1 };
    let divided = Divided::new(&joining, &wanted, limit)?;
    let price = |(link, &price): (usize, &f64)| {
        let [first, second] = cables.ends[link / 2].map(RankId);
        if link % 2 == 0 { (first, second, price) } else { (second, first, price) }
    };
    Some(divided.best_prices.iter().enumerate().map(price).collect())
}
