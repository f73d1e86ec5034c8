//! Does the output of every rank hold what the collective asks?

use super::execute::Interleaving;
use super::structure::NOBODY;
use crate::audit::facts::code::ProgramCode;
use crate::audit::facts::fact::{Fact, Output, Wrong};
use crate::audit::facts::ledger::Ledger;
use crate::audit::facts::values::{FaultKind, SlotValue};
use collsynth_core::collective::{ChunkId, Combining, Holders};
use collsynth_core::exact::narrow;
use collsynth_core::program::Program;

pub(in crate::audit) fn check(program: &Program, run: &Interleaving<'_>, ledger: &mut Ledger) {
    let problem = &program.problem;
    for chunk in (0..problem.chunk_count()).map(ChunkId) {
        let rule = problem.rule(chunk);
        let contributions = match rule.before {
            Holders::One(origin) if !problem.is_holder(rule.before, origin) => continue,
            Holders::One(_) => 1,
            holders => narrow(problem.holder_count(holders)),
        };
        for rank in problem.holders(rule.after) {
            let layout = &run.layouts[rank.index()];
            let Some(slot) = layout.after(chunk) else { continue };
            let place = run.first_place[rank.index()] + layout.place(slot);
            let writer = Some(run.written_by[place]).filter(|&writer| writer != NOBODY).map(|writer| writer as usize);
            let output = Output { chunk, rank, slot, writer };
            check_output(program, run, output, run.places[place], contributions, rule.combining, ledger);
        }
    }
}

fn check_output(
    program: &Program,
    run: &Interleaving<'_>,
    output: Output,
    value: SlotValue,
    contributions: u32,
    combining: Combining,
    ledger: &mut Ledger,
) {
    let values = &run.values;
    let mut add = |code, operation, wrong: &dyn Fn() -> Wrong| {
        ledger.add(code, operation, || Fact::Output { output, wrong: wrong() });
    };
    if let Some(fault) = values.fault(value) {
        let code = match fault.kind {
            FaultKind::Unset => ProgramCode::D002,
            FaultKind::Mixed(..) => ProgramCode::P007,
            FaultKind::Uncombinable(_) => ProgramCode::R003,
        };
        return add(code, Some(fault.operation), &|| Wrong::Fault(fault.operation, fault.kind));
    }
    let Some(chunk) = values.chunk(value) else {
        return add(ProgramCode::D002, output.writer, &|| Wrong::Unset);
    };
    if chunk != output.chunk {
        add(ProgramCode::P007, output.writer, &|| Wrong::OtherChunk(chunk));
    } else if let Some((operation, counts)) = values.repeats(value).filter(|_| combining == Combining::Sum) {
        add(ProgramCode::R001, Some(operation), &|| {
            let mut counts: Vec<_> = counts.iter().map(|(&rank, &count)| (rank, count)).collect();
            counts.sort_unstable();
            Wrong::Repeated(operation, counts)
        });
    } else if combining != Combining::Never && values.rank_count(value) < contributions {
        add(ProgramCode::R002, output.writer, &|| {
            let problem = &program.problem;
            let members = problem.holders(problem.rule(output.chunk).before);
            Wrong::Lacks(members.filter(|&rank| values.count(value, rank) == 0).collect())
        });
    }
}
