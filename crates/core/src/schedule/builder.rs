//! Writing a schedule down step by step.

use super::{Op, Schedule, StepRecord, Transfer};
use crate::collective::ChunkId;
use crate::topology::{Direction, LinkId, RankId, Topology};

/// Builds a [`Schedule`]: begin a step, add its transfers, begin the next.
#[derive(Clone, Debug, Default)]
pub struct ScheduleBuilder {
    schedule: Schedule,
}

impl Schedule {
    /// Begins an empty schedule.
    pub fn builder() -> ScheduleBuilder {
        ScheduleBuilder::default()
    }
}

impl ScheduleBuilder {
    /// Begins the next step.
    pub fn step(&mut self, width: u32) -> &mut Self {
        let at = self.schedule.transfers.len();
        self.schedule.steps.push(StepRecord { width, transfers: at..at });
        self
    }

    /// Adds a transfer to the step begun last. The order of transfers and chunks is kept.
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

    /// Adds a transfer over a link of a topology; the direction is stated only where two links join the same ranks.
    ///
    /// # Panics
    ///
    /// If no step was begun, or the link is not of the topology.
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

    /// The schedule, as written.
    pub fn finish(self) -> Schedule {
        self.schedule
    }
}
