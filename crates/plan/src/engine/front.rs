//! Pareto fronts of steps and volume.

use collsynth_core::certificate::Rational;

/// Points that do not dominate one another in steps and volume, by ascending steps. Of points equal in both, the one
/// whose sums are less deep.
///
/// ```
/// # use collsynth_plan::Front;
/// # use collsynth_core::certificate::Rational;
/// let mut front = Front::default();
/// assert!(front.insert(6, Rational::from(13), 5, "a") && front.insert(7, Rational::from(12), 5, "b"));
/// assert!(!front.insert(7, Rational::from(13), 2, "dominated"));
/// assert!(front.insert(6, Rational::from(12), 5, "better than both"));
/// assert!(front.insert(6, Rational::from(12), 4, "shallower") && !front.insert(6, Rational::from(12), 4, "equal"));
/// assert_eq!(front.into_points(), [(6, Rational::from(12), "shallower")]);
/// ```
#[derive(Clone, Debug)]
pub struct Front<T> {
    /// Steps, volume, depth, and the value stored with them.
    points: Vec<(usize, Rational, u32, T)>,
}

impl<T> Default for Front<T> {
    fn default() -> Self {
        Self { points: Vec::new() }
    }
}

impl<T> Front<T> {
    /// True if some point has at most these steps and at most this volume.
    pub fn covers(&self, steps: usize, volume: Rational) -> bool {
        self.points.iter().any(|(other, by, ..)| *other <= steps && *by <= volume)
    }

    /// Adds a point and drops those it dominates. False if another point covers it, unless that one is equal and its
    /// sums are deeper; see [`addition_depth`](crate::addition_depth).
    pub fn insert(&mut self, steps: usize, volume: Rational, depth: u32, what: T) -> bool {
        let equal =
            |(other, by, deep, _): &(usize, Rational, u32, T)| (*other, *by) == (steps, volume) && *deep > depth;
        if self.covers(steps, volume) && !self.points.iter().any(equal) {
            return false;
        }
        self.points.retain(|(other, by, ..)| *other < steps || *by < volume);
        let at = self.points.partition_point(|(other, ..)| *other < steps);
        self.points.insert(at, (steps, volume, depth, what));
        true
    }

    /// True if there is no point.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The points: steps, volume, and the value stored with them.
    pub fn into_points(self) -> Vec<(usize, Rational, T)> {
        self.points.into_iter().map(|(steps, volume, _, what)| (steps, volume, what)).collect()
    }
}
