//! Bounds and their evidence under a symmetry.

use collsynth_bound::symmetry::Automorphism;
use collsynth_core::certificate::{
    Bounds, Evidence, JointBound, LinkWeight, StepsBound, VolumeBound, Window, every_weight,
};
use collsynth_core::topology::{LinkId, RankId, Topology};

/// Images under a symmetry of a machine.
pub struct Images<'a> {
    /// The machine.
    pub machine: &'a Topology,
    /// The symmetry.
    pub symmetry: &'a Automorphism,
}

impl Images<'_> {
    /// The image of a rank; one that does not exist, as bounds may name, is left for the judge to refuse.
    pub fn rank(&self, rank: RankId) -> RankId {
        self.symmetry.ranks.get(rank.index()).copied().unwrap_or(rank)
    }

    fn ranks(&self, ranks: &[RankId]) -> Vec<RankId> {
        let mut images: Vec<RankId> = ranks.iter().map(|&rank| self.rank(rank)).collect();
        images.sort_unstable();
        images
    }

    fn weights(&self, weights: &[LinkWeight]) -> Vec<LinkWeight> {
        let image = |&(from, to, weight): &LinkWeight| (self.rank(from), self.rank(to), weight);
        let mut weights: Vec<LinkWeight> = weights.iter().map(image).collect();
        weights.sort_unstable();
        weights
    }

    /// The period whose dimensions are swapped as those of the machine.
    pub fn period(&self, period: &[u32]) -> Vec<u32> {
        let mut swapped = vec![1; period.len()];
        for id in self.machine.links_from(RankId(0)) {
            let direction = |id: LinkId| self.machine.link(id).direction.map(|direction| usize::from(direction.dim));
            if let (Some(dim), Some(image)) = (direction(id), direction(self.symmetry.links[id.index()])) {
                swapped[image] = period[dim];
            }
        }
        swapped
    }

    /// Weights that repeat, by the swapped period if they repeat with that; else one by one.
    fn repeated(&self, period: &[u32], weights: &[LinkWeight]) -> Evidence {
        let every = |period: &[u32], weights: &[LinkWeight]| {
            every_weight(self.machine, Some(period), weights).map(|every| every.into_owned())
        };
        // What the judge refuses of the old, it refuses of the image.
        let Ok(old) = every(period, weights) else {
            return Evidence::Metric { period: Some(period.to_vec()), weights: self.weights(weights) };
        };
        let (images, swapped) = (self.weights(&old), self.period(period));
        let torus = self.machine.as_torus();
        let is_first = |&(from, ..): &LinkWeight| {
            torus.is_some_and(|torus| (0..swapped.len()).all(|dim| torus.position(from, dim) < swapped[dim]))
        };
        let first: Vec<LinkWeight> = images.iter().copied().filter(is_first).collect();
        let again = every(&swapped, &first).map(|mut again| {
            again.sort_unstable();
            again
        });
        match again {
            Ok(again) if again == images => Evidence::Metric { period: Some(swapped), weights: first },
            _ => Evidence::metric(images),
        }
    }

    fn windows(&self, windows: &[Window]) -> Vec<Window> {
        let image = |window: &Window| Window { from: self.rank(window.from), to: self.rank(window.to), ..*window };
        let mut images: Vec<Window> = windows.iter().map(image).collect();
        images.sort_unstable_by_key(|window| (window.from, window.to, window.first, window.last));
        images
    }

    pub fn bounds(&self, bounds: &Bounds) -> Bounds {
        let steps = bounds.steps.as_ref();
        let volume = bounds.volume.as_ref();
        let joint = |bound: &JointBound| JointBound {
            rank: bound.rank.map(|rank| self.rank(rank)),
            weights: self.windows(&bound.weights),
            ..bound.clone()
        };
        Bounds {
            steps: steps.map(|bound| StepsBound { from: self.rank(bound.from), to: self.rank(bound.to), ..*bound }),
            volume: volume.map(|bound| VolumeBound { evidence: self.evidence(&bound.evidence), ..bound.clone() }),
            joint: bounds.joint.iter().map(joint).collect(),
        }
    }

    fn evidence(&self, evidence: &Evidence) -> Evidence {
        match evidence {
            Evidence::Metric { period: None, weights } => Evidence::metric(self.weights(weights)),
            Evidence::Metric { period: Some(period), weights } => self.repeated(period, weights),
            Evidence::Cut { ranks } => Evidence::Cut { ranks: self.ranks(ranks) },
            Evidence::MetricOverTime { width, rank, weights } => Evidence::MetricOverTime {
                width: *width,
                rank: rank.map(|rank| self.rank(rank)),
                weights: self.windows(weights),
            },
            Evidence::Partition { blocks } => {
                Evidence::Partition { blocks: blocks.iter().map(|block| self.ranks(block)).collect() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use collsynth_bound::symmetry::{self, Group, Unit};
    use collsynth_core::certificate::value;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::problem::Problem;

    use super::*;

    /// Weights that repeat prove the same around the image of a switch; with a period where translations are kept.
    #[test]
    fn weights_that_repeat_are_carried_with_their_period() {
        let (machine, period) = (Topology::torus(&[4, 4]).unwrap(), [2, 4]);
        let dead = symmetry::switch(&machine, &"x:1".parse().unwrap(), &period).unwrap();
        let around = |dead: Unit| symmetry::fail(&machine, &[dead]).unwrap();
        let problem = |machine: Topology| Problem::new(machine, Collective::new(Kind::AllToAll)).unwrap();
        let torus = machine.as_torus().unwrap();
        let first = machine.links().iter().filter(|link| torus.position(link.from, 0) < period[0]);
        let weights = first.map(|link| (link.from, link.to, 1 + (link.from.0 * 7 + link.to.0) % 5)).collect();
        let evidence = Evidence::Metric { period: Some(period.to_vec()), weights };
        let broken = problem(around(dead.clone()));
        let proven = value(&broken, &evidence);
        assert!(proven.is_ok());
        for (group, with_period) in [(Group::affine(&machine, |_| true), 128), (Group::new(&machine, |_| true), 128)] {
            let mut repeating = 0;
            for number in 0..group.order() {
                let map = group.inverse(number);
                let links = dead.links.iter().map(|link| map.links[link.index()]).collect();
                let image = Images { machine: broken.machine(), symmetry: &map }.evidence(&evidence);
                assert_eq!(value(&problem(around(Unit { links, ranks: Vec::new() })), &image), proven);
                repeating += usize::from(matches!(image, Evidence::Metric { period: Some(_), .. }));
            }
            assert!(repeating >= with_period, "{repeating} of {}", group.order());
        }
    }
}
