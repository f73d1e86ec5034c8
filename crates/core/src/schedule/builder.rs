//! Building a schedule step by step.

use super::{Op, Schedule, StepRecord, Transfer};
use crate::collective::ChunkId;
use crate::topology::{Direction, LinkId, RankId, Topology};

/// Builds a [`Schedule`]: begin a step, add its transfers, begin the next.
#[derive(Clone, Debug, Default)]
pub struct ScheduleBuilder {
    pub(super) schedule: Schedule,
}

impl Schedule {
    /// Begins an empty schedule.
    pub fn builder() -> ScheduleBuilder {
        ScheduleBuilder::default()
    }

    /// Goes on after the last step of this schedule.
    pub fn into_builder(self) -> ScheduleBuilder {
        ScheduleBuilder { schedule: self }
    }

    /// Steps of these widths, without transfers.
    pub fn of_widths(widths: impl IntoIterator<Item = u32>) -> Self {
        let mut builder = Self::builder();
        for width in widths {
            builder.step(width);
        }
        builder.finish()
    }
}

impl ScheduleBuilder {
    /// Begins the next step.
    pub fn step(&mut self, width: u32) -> &mut Self {
        let at = self.schedule.transfers.len();
        self.schedule.steps.push(StepRecord { width, transfers: at..at });
        self
    }

    /// Adds a transfer to the current step. Transfers and chunks keep their order.
    ///
    /// # Panics
    ///
    /// If no step was begun.
    pub fn transfer(
        &mut self,
        from: RankId,
        to: RankId,
        via: Option<Direction>,
        op: Op,
        chunks: impl IntoIterator<Item = ChunkId>,
    ) -> &mut Self {
        let schedule = &mut self.schedule;
        let start = schedule.chunks.len();
        schedule.chunks.extend(chunks);
        schedule.transfers.push(Transfer { from, to, via, op, chunks: start..schedule.chunks.len() });
        schedule.steps.last_mut().expect("a step is begun before its first transfer").transfers.end += 1;
        self
    }

    /// Adds a transfer over a link of a topology, with the direction only where two links join the same ranks.
    ///
    /// # Panics
    ///
    /// If no step was begun, or the link is not in the topology.
    pub fn transfer_over(
        &mut self,
        topology: &Topology,
        link: LinkId,
        op: Op,
        chunks: impl IntoIterator<Item = ChunkId>,
    ) -> &mut Self {
        let link = topology.link(link);
        let doubled = topology.links_between(link.from, link.to).count() > 1;
        self.transfer(link.from, link.to, link.direction.filter(|_| doubled), op, chunks)
    }

    /// The finished schedule.
    pub fn finish(self) -> Schedule {
        self.schedule
    }
}
