//! When a solver gives up before it is done.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::LpError;

/// A time at which a solver gives up, a question that makes it give up when answered with yes, both, or neither.
///
/// Both are looked at before the solver begins and, by Clarabel, once in each of its iterations (of which even large
/// programs take some dozens). HiGHS knows of the time alone once it runs.
#[derive(Clone, Default)]
pub struct Limit {
    deadline: Option<Instant>,
    stop: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Limit {
    /// As long as it takes.
    pub const NONE: Self = Self { deadline: None, stop: None };

    /// Give up at this time.
    pub fn until(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Give up so long from now; never, if no clock goes that far.
    pub fn within(self, time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), ..self }
    }

    /// Give up once this says so. It must be quick.
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

    /// What is left of the time, if there is an end to it.
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
