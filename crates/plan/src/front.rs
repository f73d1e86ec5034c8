//! Pareto fronts of steps and volume.

use collsynth_core::certificate::Rational;

/// Points that do not dominate one another in steps and volume, by ascending steps.
///
/// ```
/// # use collsynth_plan::Front;
/// # use collsynth_core::certificate::Rational;
/// let mut front = Front::default();
/// assert!(front.insert(6, Rational::from(13), "a") && front.insert(7, Rational::from(12), "b"));
/// assert!(!front.insert(7, Rational::from(13), "dominated"));
/// assert!(front.insert(6, Rational::from(12), "better than both"));
/// assert_eq!(front.into_points(), [(6, Rational::from(12), "better than both")]);
/// ```
#[derive(Clone, Debug)]
pub struct Front<T> {
    points: Vec<(usize, Rational, T)>,
}

impl<T> Default for Front<T> {
    fn default() -> Self {
        Self { points: Vec::new() }
    }
}

impl<T> Front<T> {
    /// True if some point has at most these steps and at most this volume.
    pub fn covers(&self, steps: usize, volume: Rational) -> bool {
        self.points.iter().any(|(other, by, _)| *other <= steps && *by <= volume)
    }

    /// Adds a point and drops those it dominates. False if another point covers it.
    pub fn insert(&mut self, steps: usize, volume: Rational, what: T) -> bool {
        if self.covers(steps, volume) {
            return false;
        }
        self.points.retain(|(other, by, _)| *other < steps || *by < volume);
        let at = self.points.partition_point(|(other, ..)| *other < steps);
        self.points.insert(at, (steps, volume, what));
        true
    }

    /// True if there is no point.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The points: steps, volume, and the value stored with them.
    pub fn into_points(self) -> Vec<(usize, Rational, T)> {
        self.points
    }
}
