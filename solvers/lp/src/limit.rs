//! When a solver gives up early.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::LpError;

/// A deadline, a stop condition, both, or neither.
///
/// Both are checked before the solver begins and, by Clarabel, once per iteration (even large programs take only
/// dozens). Once HiGHS runs, only the deadline counts.
#[derive(Clone, Default)]
pub struct Limit {
    deadline: Option<Instant>,
    stop: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Limit {
    /// No limit.
    pub const NONE: Self = Self { deadline: None, stop: None };

    /// Gives up at this time.
    pub fn until(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Gives up this long from now; never, if no clock goes that far.
    pub fn within(self, time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), ..self }
    }

    /// Gives up once this returns true. It must be quick.
    pub fn unless(self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { stop: Some(Arc::new(stop)), ..self }
    }

    /// Is it time to give up?
    ///
    /// # Errors
    ///
    /// [`LpError::Interrupted`] or [`LpError::TimeLimit`] if so.
    pub fn check(&self) -> Result<(), LpError> {
        match () {
            () if self.stop.as_ref().is_some_and(|stop| stop()) => Err(LpError::Interrupted),
            () if self.remaining().is_some_and(|left| left.is_zero()) => Err(LpError::TimeLimit),
            () => Ok(()),
        }
    }

    /// The time left, if there is a deadline.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (deadline, stop) = (self.deadline, self.stop.is_some());
        f.debug_struct("Limit").field("deadline", &deadline).field("stop", &stop).finish()
    }
}
