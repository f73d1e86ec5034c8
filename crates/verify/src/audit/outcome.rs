//! Does the output of every rank hold what the collective asks for?

use super::run::Outcome;
use super::structure::NOBODY;
use super::values::{FaultKind, Value};
use super::words::describe;
use super::{Code, Report};
use collsynth_core::collective::{ChunkId, Combining, Holders};
use collsynth_core::program::{Program, Slot};
use collsynth_core::topology::RankId;

/// Compares the output of every rank with what the collective asks for.
pub(super) fn check(program: &Program, outcome: &Outcome<'_>, report: &mut Report) {
    let problem = &program.problem;
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        let rule = problem.rule(chunk);
        let contributions = match rule.before {
            Holders::One(origin) if !problem.is_holder(rule.before, origin) => continue,
            Holders::One(_) => 1,
            Holders::Every => problem.topology().live_rank_count() as u32,
        };
        for rank in problem.holders(rule.after) {
            let layout = &outcome.layouts[rank.index()];
            let Some(slot) = layout.after(chunk) else { continue };
            let place = outcome.first_place[rank.index()] + layout.place(slot);
            let value = outcome.places[place];
            let end = End { program, outcome, chunk, rank, slot, writer: outcome.written_by[place] };
            end.check(value, contributions, rule.combining, report);
        }
    }
}

/// A slot of the output, and who wrote it last.
struct End<'a> {
    program: &'a Program,
    outcome: &'a Outcome<'a>,
    chunk: ChunkId,
    rank: RankId,
    slot: Slot,
    writer: u32,
}

impl End<'_> {
    fn check(&self, value: Value, contributions: u32, combining: Combining, report: &mut Report) {
        let values = &self.outcome.values;
        let writer = (self.writer != NOBODY).then_some(self.writer as usize);
        if let Some(fault) = values.fault(value) {
            let program = self.program;
            let (code, what) = match fault.kind {
                FaultKind::Unset => (Code::D002, "added to or from a slot that was never written".to_owned()),
                FaultKind::Mixed(a, b) => {
                    let (a, b) = (program.problem.chunk_label(a), program.problem.chunk_label(b));
                    (Code::P007, format!("added chunks {a} and {b}"))
                }
                FaultKind::Uncombinable(chunk) => {
                    let chunk = program.problem.chunk_label(chunk);
                    (Code::R003, format!("added values of chunk {chunk}, which cannot be combined"))
                }
            };
            report.add(code, Some(fault.operation), || {
                format!("{}: {} {what}", self.demand(), describe(program, fault.operation))
            });
        } else if let Some(chunk) = values.chunk(value) {
            if chunk != self.chunk {
                report.add(Code::P007, writer, || {
                    let other = self.program.problem.chunk_label(chunk);
                    format!("{}, but it holds chunk {other}{}", self.demand(), self.written(writer))
                });
            } else if let Some((operation, counts)) = values.repeats(value).filter(|_| combining == Combining::Sum) {
                report.add(Code::R001, Some(operation), || {
                    let mut counts: Vec<_> = counts.iter().collect();
                    counts.sort_unstable();
                    let shown: Vec<String> =
                        counts.iter().take(8).map(|(rank, count)| format!("rank {rank}'s {count} times")).collect();
                    let more =
                        if counts.len() > 8 { format!(", and {} more", counts.len() - 8) } else { String::new() };
                    let first = describe(self.program, operation);
                    format!("{}, but counts {}{more}; first at {first}", self.demand(), shown.join(", "))
                });
            } else if combining != Combining::Never && values.rank_count(value) < contributions {
                report.add(Code::R002, writer, || {
                    let live = self.program.problem.topology().live_ranks();
                    let missing: Vec<String> =
                        live.filter(|&rank| values.count(value, rank) == 0).map(|rank| rank.to_string()).collect();
                    let shown = missing.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
                    let more =
                        if missing.len() > 8 { format!(" and {} more", missing.len() - 8) } else { String::new() };
                    let written = self.written(writer);
                    format!("{}, but lacks what ranks {shown}{more} contribute{written}", self.demand())
                });
            }
        } else {
            report.add(Code::D002, writer, || match writer {
                None => format!("{}, but is never written", self.demand()),
                Some(_) => format!("{}, but holds what was never written{}", self.demand(), self.written(writer)),
            });
        }
    }

    /// `rank 3 must have chunk 17 in output 4`.
    fn demand(&self) -> String {
        let chunk = self.program.problem.chunk_label(self.chunk);
        format!("rank {} must have chunk {chunk} in {}", self.rank, self.slot)
    }

    /// `; written last by ...`.
    fn written(&self, writer: Option<usize>) -> String {
        writer.map(|writer| format!("; written last by {}", describe(self.program, writer))).unwrap_or_default()
    }
}
