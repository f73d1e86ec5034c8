//! Verified schedules and audited rank programs.

use std::collections::BTreeSet;

use super::digest;
use super::error::RunError;
use crate::playing::role;
use crate::playing::role::Role;
use collsynth_core::problem::Problem;
use collsynth_core::program::{Layout, Operation};
use collsynth_core::schedule::Solution;
use collsynth_core::topology::RankId;
use collsynth_verify::audit::AuditedProgram;
use collsynth_verify::verify::Verified;

/// Something proven to hold, which may therefore be run.
///
/// Functions of this crate take `impl Into<Runnable>`: give them a reference to either.
#[derive(Clone, Copy, Debug)]
pub enum Runnable<'a> {
    /// A schedule.
    Schedule(&'a Verified<Solution>),
    /// A rank program. Its workers are interleaved in a fixed order that keeps ranks in step where possible.
    Program(&'a AuditedProgram),
}

impl<'a> Runnable<'a> {
    /// The problem solved.
    pub fn problem(self) -> &'a Problem {
        match self {
            Self::Schedule(schedule) => &schedule.problem,
            Self::Program(program) => &program.problem,
        }
    }

    /// The pairs of ranks that exchange packets, lower rank first. O(transfers or operations), as all of these.
    pub fn pairs(self) -> BTreeSet<(RankId, RankId)> {
        let ends = |from: RankId, to: RankId| (from.min(to), from.max(to));
        match self {
            Self::Schedule(schedule) => {
                schedule.schedule.transfers().iter().map(|transfer| ends(transfer.from, transfer.to)).collect()
            }
            Self::Program(program) => {
                let sends = program.operations().iter().filter_map(|operation| match *operation {
                    Operation::Send { channel, .. } => Some(channel),
                    Operation::Receive { forward, .. } => forward,
                    _ => None,
                });
                let channels = sends.map(|channel| program.channels[channel as usize]);
                channels.map(|channel| ends(channel.from, channel.to)).collect()
            }
        }
    }

    /// The ranks that a rank exchanges packets with, ascending.
    pub fn peers(self, rank: RankId) -> Vec<RankId> {
        let others = self.pairs().into_iter().filter_map(|(one, other)| match rank {
            rank if rank == one => Some(other),
            rank if rank == other => Some(one),
            _ => None,
        });
        others.collect()
    }

    /// Refuses a schedule if running it takes more than `most` bytes, as estimated, without the data. A few words can
    /// ask for the parts of a hundred million chunks. A program is no larger than its audit allowed.
    ///
    /// # Errors
    ///
    /// [`RunError::TooLarge`] if so.
    pub fn check_size(self, most: u64) -> Result<(), RunError> {
        /// What a move takes at both of its ranks, and a part that a rank owes itself.
        const MOVE: u64 = 250;
        const OWN: u64 = 40;
        let Self::Schedule(schedule) = self else { return Ok(()) };
        let own = |rank| {
            let layout = Layout::of_call(&schedule.problem, rank);
            layout.own_blocks().map_or(0, |(blocks, _)| blocks.len() as u64 * layout.parts() as u64)
        };
        let own: u64 = schedule.problem.topology().live_ranks().map(own).sum();
        let needed = own * OWN + schedule.schedule.move_count() as u64 * MOVE;
        match needed > most {
            true => Err(RunError::TooLarge { needed: needed.div_ceil(1 << 20), most: most >> 20 }),
            false => Ok(()),
        }
    }

    pub(crate) fn role(self, rank: RankId) -> Role {
        match self {
            Self::Schedule(schedule) => role::of_schedule(&schedule.problem, &schedule.schedule, rank),
            Self::Program(program) => role::of_program(program, rank),
        }
    }

    /// Equal for ranks that run the same schedule or program, and different otherwise, up to collisions.
    pub(crate) fn digest(self) -> u64 {
        match self {
            Self::Schedule(schedule) => digest::of_solution(schedule),
            Self::Program(program) => digest::of_program(program),
        }
    }
}

impl<'a> From<&'a Verified<Solution>> for Runnable<'a> {
    fn from(schedule: &'a Verified<Solution>) -> Self {
        Self::Schedule(schedule)
    }
}

impl<'a> From<&'a AuditedProgram> for Runnable<'a> {
    fn from(program: &'a AuditedProgram) -> Self {
        Self::Program(program)
    }
}
