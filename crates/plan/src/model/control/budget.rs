//! The work that searches may do in vain: a search for one problem has a budget of its own; where many searches want to
//! improve one plan, they share what the gain is worth.

use std::sync::atomic::{AtomicU64, Ordering};

/// The work in vain after which a search ends. A unit of work is a link or slot examined, about 8e7 of them a second;
/// so a budget is seconds, and nothing depends on a clock.
const MOST_WORK: u64 = 5_000_000_000;
/// The share of it that repeated tries of one point may take.
const FOR_TRIES: (u64, u64) = (2, 5);
/// The work in vain that a large gain is worth, and what a large gain is, as a share of what there is; less is worth
/// less.
const FOR_LARGE_GAIN: u64 = 1_500_000_000;
const LARGE_GAIN: f64 = 0.05;

/// Work that may be done in vain, and what has been.
#[derive(Debug)]
pub struct Budget {
    most: u64,
    spent: AtomicU64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { most: MOST_WORK, spent: AtomicU64::new(0) }
    }
}

impl Budget {
    /// Allows, from now on, what it is worth to save at most this share of the time of the best plan.
    pub fn allow(&mut self, gain: f64) {
        let share = (gain / LARGE_GAIN).clamp(0.0, 1.0);
        self.most = (FOR_LARGE_GAIN as f64 * share) as u64;
    }

    /// Counts work that was in vain.
    pub fn spend(&self, work: u64) {
        let add = |spent: u64| Some(spent.saturating_add(work));
        self.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).expect("there is always a sum");
    }

    /// Is all of it spent, if this search may have one part in `share` of it?
    pub fn is_spent(&self, share: u64) -> bool {
        self.spent() >= self.most / share
    }

    /// What repeated tries may still spend.
    pub fn left_for_tries(&self, share: u64) -> u64 {
        (self.most / FOR_TRIES.1 * FOR_TRIES.0 / share).saturating_sub(self.spent())
    }

    fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_gain_is_worth_little_work() {
        let mut budget = Budget::default();
        budget.allow(0.02);
        assert_eq!(budget.left_for_tries(1), 240_000_000);
        budget.spend(500_000_000);
        assert_eq!((budget.left_for_tries(1), budget.is_spent(1), budget.is_spent(2)), (0, false, true));
        budget.allow(0.01);
        assert!(budget.is_spent(1));
        budget.allow(1.0);
        assert!(!budget.is_spent(1));
        budget.spend(u64::MAX);
        assert!(budget.is_spent(1));
    }
}
