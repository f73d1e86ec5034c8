//! A schedule in either form, as files have it.

use std::borrow::Cow;

use super::{Choice, CompactSchedule, Schedule, Slot, StepLoads, Timetable};
use crate::collective::ChunkId;
use crate::problem::Problem;

/// A schedule whose moves are all stated, or one in the compact form.
#[derive(Clone, Debug, PartialEq)]
pub enum AnySchedule {
    /// Every move.
    Explicit(Schedule),
    /// A pattern and exceptions.
    Compact(Box<CompactSchedule>),
}

/// A schedule in a form. Who only asks for steps, transfers and loads need not know which: [`Timetable`] is enough.
///
/// Only the schedules of this module have it: what the judge saw in a view is what others see later.
pub trait Stated: Timetable + sealed::Sealed {
    /// The schedule by its form.
    fn view(&self) -> View<'_>;

    /// Is every transfer stated, so that one may be shown by its place in the file?
    fn is_explicit(&self) -> bool {
        matches!(self.view(), View::Explicit(_))
    }
}

/// A schedule, by its form.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// Every move.
    Explicit(&'a Schedule),
    /// A pattern and exceptions.
    Compact(&'a CompactSchedule),
}

mod sealed {
    use super::{AnySchedule, CompactSchedule, Schedule};

    pub trait Sealed {}

    impl Sealed for AnySchedule {}
    impl Sealed for CompactSchedule {}
    impl Sealed for Schedule {}
}

impl AnySchedule {
    /// The number of steps S.
    pub fn step_count(&self) -> usize {
        self.inner().step_count()
    }

    /// The sum of the widths; divided by the parts per message, the volume V.
    pub fn total_width(&self) -> u64 {
        self.inner().total_width()
    }

    /// An upper bound on the bytes that it takes to state every move, and `each` more for every move; of a schedule
    /// that states them, nothing. See [`CompactSchedule::expanded_bytes`].
    pub fn expanded_bytes(&self, each: u64) -> u64 {
        match self {
            Self::Explicit(_) => 0,
            Self::Compact(schedule) => schedule.expanded_bytes(each),
        }
    }

    /// Every move. O(moves), and sorting the chunks of each transfer; nothing if they are stated.
    pub fn into_expanded(self) -> Schedule {
        match self {
            Self::Explicit(schedule) => schedule,
            Self::Compact(schedule) => schedule.expand(),
        }
    }

    fn inner(&self) -> &dyn Timetable {
        match self {
            Self::Explicit(schedule) => schedule,
            Self::Compact(schedule) => &**schedule,
        }
    }
}

impl From<Schedule> for AnySchedule {
    fn from(schedule: Schedule) -> Self {
        Self::Explicit(schedule)
    }
}

impl From<CompactSchedule> for AnySchedule {
    fn from(schedule: CompactSchedule) -> Self {
        Self::Compact(Box::new(schedule))
    }
}

impl Stated for Schedule {
    fn view(&self) -> View<'_> {
        View::Explicit(self)
    }
}

impl Stated for CompactSchedule {
    fn view(&self) -> View<'_> {
        View::Compact(self)
    }
}

impl Stated for AnySchedule {
    fn view(&self) -> View<'_> {
        match self {
            Self::Explicit(schedule) => View::Explicit(schedule),
            Self::Compact(schedule) => View::Compact(schedule),
        }
    }
}

impl Timetable for AnySchedule {
    fn step_count(&self) -> usize {
        self.inner().step_count()
    }

    fn total_width(&self) -> u64 {
        self.inner().total_width()
    }

    fn width(&self, step: u32) -> u32 {
        self.inner().width(step)
    }

    fn slots(&self, step: u32, choice: &Choice) -> Vec<Slot<'_>> {
        self.inner().slots(step, choice)
    }

    fn chunks_of<'a>(&self, slot: &'a Slot<'_>) -> Cow<'a, [ChunkId]> {
        self.inner().chunks_of(slot)
    }

    fn count_of(&self, slot: &Slot<'_>) -> usize {
        self.inner().count_of(slot)
    }

    fn for_each_load(
        &self,
        problem: &Problem,
        steps: &mut dyn Iterator<Item = u32>,
        visit: &mut dyn FnMut(u32, &StepLoads),
    ) {
        self.inner().for_each_load(problem, steps, visit);
    }
}
