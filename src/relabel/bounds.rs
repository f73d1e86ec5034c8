//! Bounds and their evidence under a symmetry.

use collsynth_bound::symmetry::Automorphism;
use collsynth_core::certificate::{Bounds, Evidence, JointBound, StepsBound, VolumeBound, Window};
use collsynth_core::topology::RankId;

/// Images under a symmetry.
pub struct Images<'a>(pub &'a Automorphism);

impl Images<'_> {
    /// The image of a rank; one that does not exist, as bounds may name, is left for the judge to refuse.
    pub fn rank(&self, rank: RankId) -> RankId {
        self.0.ranks.get(rank.index()).copied().unwrap_or(rank)
    }

    fn ranks(&self, ranks: &[RankId]) -> Vec<RankId> {
        let mut images: Vec<RankId> = ranks.iter().map(|&rank| self.rank(rank)).collect();
        images.sort_unstable();
        images
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
            Evidence::Metric { weights } => {
                let image = |&(from, to, weight): &(RankId, RankId, u32)| (self.rank(from), self.rank(to), weight);
                let mut weights: Vec<_> = weights.iter().map(image).collect();
                weights.sort_unstable();
                Evidence::Metric { weights }
            }
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
