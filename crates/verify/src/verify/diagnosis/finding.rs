//! From facts to findings.

use super::super::Code;
use super::scene::Scene;
use crate::verify::facts::fact::{Data, Fact, Place};
use crate::verify::facts::finding::Finding;
use collsynth_core::collective::ChunkId;

impl Scene<'_> {
    /// The finding of a fact.
    pub(in crate::verify) fn finding(&self, fact: Fact) -> Finding {
        let Fact { code, place, data, consequences } = fact;
        let message = self.message(code, place, &data);
        let mut finding = Finding {
            code,
            step: None,
            transfer: None,
            chunk_index: None,
            from: None,
            to: None,
            chunk: None,
            message,
            consequences,
            trace: None,
        };
        match place {
            Place::InStep { step, transfer, chunk } => {
                finding.step = Some(step);
                finding.chunk = chunk;
                if let Some(transfer) = transfer {
                    let route = self.routes[transfer];
                    finding.transfer = Some(route.number as usize);
                    (finding.from, finding.to) = (Some(route.from), Some(route.to));
                    finding.chunk_index = chunk
                        .filter(|_| self.is_whole)
                        .and_then(|chunk| self.chunk_index(code, transfer, chunk, &data));
                    finding.trace = chunk
                        .filter(|_| code == Code::D001)
                        .map(|chunk| self.trace_of_send(chunk, route, self.moves(chunk)));
                }
            }
            Place::AtEnd { chunk, rank } => {
                (finding.to, finding.chunk) = (Some(rank), Some(chunk));
                finding.trace = (code == Code::D002).then(|| self.trace_of_lack(chunk, rank, self.moves(chunk)));
            }
            Place::Schedule | Place::StepsBound | Place::VolumeBound | Place::JointBounds => {}
        }
        finding
    }

    fn message(&self, code: Code, place: Place, data: &Data) -> String {
        match place {
            Place::InStep { step, transfer: None, .. } => {
                format!("step {step} has no transfer, but costs a start-up and its width")
            }
            Place::InStep { transfer: Some(transfer), chunk: None, .. } => self.of_transfer(code, transfer, data),
            Place::InStep { transfer: Some(transfer), chunk: Some(chunk), .. } => {
                self.of_move(code, transfer, chunk, data)
            }
            Place::AtEnd { chunk, rank } => self.of_end(chunk, rank, data),
            Place::Schedule => self.moves_nothing(),
            Place::StepsBound => unproven("steps", data),
            Place::VolumeBound | Place::JointBounds => unproven("volume", data),
        }
    }

    /// The chunk's index in the transfer: its second occurrence for a repetition, otherwise its first.
    fn chunk_index(&self, code: Code, transfer: usize, chunk: ChunkId, data: &Data) -> Option<usize> {
        if let Data::Index(index) = data {
            return Some(*index);
        }
        let chunks = self.schedule.chunks(&self.schedule.transfers()[transfer]);
        let mut places = (0..chunks.len()).filter(|&index| chunks[index] == chunk);
        places.nth(usize::from(code == Code::F006))
    }
}

/// C001, C002
fn unproven(what: &str, data: &Data) -> String {
    match data {
        Data::Unproven(None, error) => format!("the bound on the {what}: {error}"),
        Data::Unproven(Some(steps), error) => format!("the bound on the {what} in {steps} steps: {error}"),
        _ => String::new(),
    }
}
