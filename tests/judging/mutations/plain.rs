//! Schedules as nested vectors, easy to spoil.

use collsynth::certificate::Bounds;
use collsynth::collective::{ChunkId, Collective, Kind};
use collsynth::problem::Problem;
use collsynth::schedule::{Op, Schedule, Solution};
use collsynth::topology::{Direction, RankId, Topology};

use super::machine::Machine;

/// A machine, a collective and a schedule.
#[derive(Clone, Debug)]
pub struct Case {
    pub machine: Machine,
    pub kind: Kind,
    pub parts: u32,
    pub steps: Vec<PlainStep>,
}

#[derive(Clone, Debug)]
pub struct PlainStep {
    pub width: u32,
    pub transfers: Vec<PlainTransfer>,
}

#[derive(Clone, Debug)]
pub struct PlainTransfer {
    pub from: u32,
    pub to: u32,
    pub via: Option<Direction>,
    pub op: Op,
    pub chunks: Vec<u32>,
}

impl Case {
    pub fn problem(&self) -> Problem {
        let topology = Topology::new(self.machine.spec.clone()).expect("the machine is well-formed");
        Problem::new(topology, Collective { kind: self.kind.clone(), parts: self.parts }).expect("the collective fits")
    }

    pub fn solution(&self) -> Solution {
        let mut builder = Schedule::builder();
        for step in &self.steps {
            builder.step(step.width);
            for transfer in &step.transfers {
                let chunks = transfer.chunks.iter().copied().map(ChunkId);
                builder.transfer(RankId(transfer.from), RankId(transfer.to), transfer.via, transfer.op, chunks);
            }
        }
        Solution { problem: self.problem(), schedule: builder.finish(), bounds: Bounds::default(), origin: None }
    }
}
