//! Looks at the clock by counted work: what is short is done whatever the time.

use std::cell::Cell;

/// The work between two looks: some milliseconds, as a unit is a few memory accesses.
const BETWEEN: u64 = 1 << 22;

/// Is it time to stop? Asked with the work done since.
pub struct Pace<'a> {
    stop: &'a dyn Fn() -> bool,
    work: Cell<u64>,
    over: Cell<bool>,
}

impl<'a> Pace<'a> {
    /// With nothing done yet; `stop` looks at the clock.
    pub fn new(stop: &'a dyn Fn() -> bool) -> Self {
        Self { stop, work: Cell::new(0), over: Cell::new(false) }
    }

    /// Adds work; true once it is time to stop, and from then on.
    pub fn is_over(&self, work: u64) -> bool {
        self.work.set(self.work.get().saturating_add(work));
        if self.work.get() >= BETWEEN {
            self.work.set(0);
            self.over.set(self.over.get() || (self.stop)());
        }
        self.over.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_is_done_and_what_is_long_is_not() {
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            true
        };
        let pace = Pace::new(&stop);
        assert!((0..1000).all(|_| !pace.is_over(1)) && asked.get() == 0);
        assert!(pace.is_over(BETWEEN) && asked.get() == 1);
        assert!(pace.is_over(0) && asked.get() == 1, "over is over");
    }
}
