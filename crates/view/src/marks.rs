//! What the evidence of a bound says of ranks and links, to be drawn. `page/js/data/evidence.js` does the same for a
//! page.

use collsynth_core::certificate::{Evidence, StepsBound, every_weight};
use collsynth_core::topology::{LinkId, RankId, Topology};

/// Marks on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Marks {
    /// The side of each rank, or the number of its block: from 1; 0 where there is none.
    pub ranks: Vec<usize>,
    /// A weight for each link; 0: not marked.
    pub links: Vec<u64>,
    /// What is drawn, in a sentence.
    pub words: String,
}

impl Marks {
    fn none(topology: &Topology) -> Self {
        Self { ranks: vec![0; topology.rank_count()], links: vec![0; topology.links().len()], words: String::new() }
    }

    /// A shortest path between two ranks; O(ranks + links).
    pub fn of_steps(topology: &Topology, bound: &StepsBound) -> Self {
        let mut marks = Self::none(topology);
        marks.ranks[bound.from.index()] = 1;
        marks.ranks[bound.to.index()] = 2;
        let path = shortest(topology, bound.from, bound.to);
        for link in &path {
            marks.links[link.index()] = 1;
        }
        let (from, to) = (topology.rank_label(bound.from), topology.rank_label(bound.to));
        marks.words = format!("rank {to} needs data of rank {from}, {} hops away", path.len());
        marks
    }

    /// The sides of a cut, the weights of a metric, the blocks of a partition; of evidence over time the weights that
    /// are in force at any time.
    pub fn of_volume(topology: &Topology, evidence: &Evidence) -> Self {
        let mut marks = Self::none(topology);
        match evidence {
            Evidence::Metric { period, weights } => {
                let every = every_weight(topology, period.as_deref(), weights);
                marks.weigh(topology, every.unwrap_or(weights.into()).iter().copied());
                marks.words =
                    "links with weights: no message covers less than its distance, or its lightest tree".to_owned();
                marks.split(topology);
            }
            Evidence::MetricOverTime { weights, rank, .. } => {
                marks.weigh(topology, weights.iter().map(|window| (window.from, window.to, window.weight)));
                if let Some(rank) = rank {
                    marks.ranks[rank.index()] = 1;
                }
                marks.words = "links that have a weight at some time".to_owned();
            }
            Evidence::Cut { ranks } => {
                marks.ranks.fill(2);
                marks.block(ranks, 1);
                marks.cross(topology);
                let (inside, links) = (ranks.len(), marks.marked());
                marks.words = format!("{inside} ranks and all others: {links} links join them");
            }
            Evidence::Partition { blocks } => {
                for (index, block) in blocks.iter().enumerate() {
                    marks.block(block, index + 1);
                }
                marks.cross(topology);
                marks.words = format!("{} blocks: {} links join them", blocks.len(), marks.marked());
            }
        }
        marks
    }

    fn weigh(&mut self, topology: &Topology, weights: impl Iterator<Item = (RankId, RankId, u32)>) {
        for (from, to, weight) in weights {
            for link in topology.links_between(from, to).filter(|&link| topology.link(link).alive) {
                self.links[link.index()] += u64::from(weight);
            }
        }
    }

    fn block(&mut self, ranks: &[RankId], number: usize) {
        for rank in ranks {
            self.ranks[rank.index()] = number;
        }
    }

    /// Marks the links between blocks.
    fn cross(&mut self, topology: &Topology) {
        for id in topology.live_links() {
            let link = topology.link(id);
            self.links[id.index()] = u64::from(self.ranks[link.from.index()] != self.ranks[link.to.index()]);
        }
    }

    fn marked(&self) -> usize {
        self.links.iter().filter(|&&weight| weight > 0).count()
    }

    /// Where the weighted links are all links from some ranks to the others, marks these two sides.
    fn split(&mut self, topology: &Topology) {
        let weighted: Vec<LinkId> = topology.live_links().filter(|link| self.links[link.index()] > 0).collect();
        let Some(first) = weighted.first() else { return };
        let mut inside = vec![false; topology.rank_count()];
        let mut queue = vec![topology.link(*first).from];
        inside[queue[0].index()] = true;
        while let Some(rank) = queue.pop() {
            for id in topology.links_from(rank) {
                let link = topology.link(id);
                if link.alive && self.links[id.index()] == 0 && !inside[link.to.index()] {
                    inside[link.to.index()] = true;
                    queue.push(link.to);
                }
            }
        }
        let leaves = |link: &LinkId| {
            let link = topology.link(*link);
            inside[link.from.index()] && !inside[link.to.index()]
        };
        if weighted.iter().all(leaves) {
            self.ranks = inside.iter().map(|&inside| if inside { 1 } else { 2 }).collect();
            let count = topology.live_ranks().filter(|rank| inside[rank.index()]).count();
            self.words = format!("all that {count} ranks send to the others crosses these {} links", weighted.len());
        }
    }
}

/// The links of a shortest path; empty if there is none.
fn shortest(topology: &Topology, from: RankId, to: RankId) -> Vec<LinkId> {
    let mut entered: Vec<Option<LinkId>> = vec![None; topology.rank_count()];
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(rank) = queue.pop_front() {
        for id in topology.links_from(rank) {
            let link = topology.link(id);
            if link.alive && link.to != from && entered[link.to.index()].is_none() {
                entered[link.to.index()] = Some(id);
                queue.push_back(link.to);
            }
        }
    }
    let mut path = Vec::new();
    let mut rank = to;
    while let Some(link) = entered[rank.index()] {
        path.push(link);
        rank = topology.link(link).from;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn torus() -> Topology {
        Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap()
    }

    #[test]
    fn a_distance_is_a_path_of_live_links() {
        let topology = torus();
        let bound = StepsBound { at_least: 4, from: RankId(0), to: RankId(10) };
        let marks = Marks::of_steps(&topology, &bound);
        assert_eq!((marks.marked(), marks.ranks[0], marks.ranks[10]), (4, 1, 2));
        let dead = topology.links_between(RankId(0), RankId(1)).next().unwrap();
        assert_eq!(marks.links[dead.index()], 0);
    }

    #[test]
    fn a_metric_that_is_a_cut_has_two_sides() {
        let topology = torus();
        let sides = |rank: RankId| [0, 3].contains(&(rank.0 % 4));
        let crossing =
            topology.live_links().map(|id| topology.link(id)).filter(|link| sides(link.from) && !sides(link.to));
        let weights: Vec<_> = crossing.map(|link| (link.from, link.to, 1)).collect();
        assert_eq!(weights.len(), 7);
        let marks = Marks::of_volume(&topology, &Evidence::metric(weights.clone()));
        assert!(topology.live_ranks().all(|rank| marks.ranks[rank.index()] == if sides(rank) { 1 } else { 2 }));
        assert_eq!(marks.words, "all that 8 ranks send to the others crosses these 7 links");
        let marks = Marks::of_volume(&topology, &Evidence::metric(weights[1..].to_vec()));
        assert!(marks.ranks.iter().all(|&side| side == 0), "one link less is no cut");
    }

    #[test]
    fn weights_with_a_period_mark_the_links_of_every_cell() {
        let topology = torus();
        let weights = vec![(RankId(1), RankId(2), 3), (RankId(5), RankId(1), 2)];
        let marks = Marks::of_volume(&topology, &Evidence::Metric { period: Some(vec![4, 2]), weights });
        let weight = |from, to| {
            let mut links = topology.links_between(RankId(from), RankId(to));
            links.next().map(|link| marks.links[link.index()])
        };
        assert_eq!([weight(1, 2), weight(9, 10), weight(5, 1), weight(13, 9)], [Some(3), Some(3), Some(2), Some(2)]);
        assert_eq!((marks.marked(), weight(0, 4)), (4, Some(0)));
    }
}
