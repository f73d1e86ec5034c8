//! The verdict on a rank program.

use std::fmt::Write;

use serde_json::{Value, json};

use super::collective::{cut, name_collective};
use super::excerpt::{excerpt, marked};
use super::figures::count;
use super::table::Table;
use crate::audit::{AuditReport, ProgramViolation};
use crate::guard::shown::shown;
use crate::json::{PathItem, locate};
use crate::verdict::Verdict;
use collsynth_core::program::{Channel, Operation, Program};
use collsynth_core::topology::RankId;

/// A program that was read and judged.
#[derive(Clone, Copy, Debug)]
pub struct Audited<'a> {
    /// The name of the file, as given.
    pub name: &'a str,
    /// The text of the file, to locate operations in.
    pub source: Source<'a>,
    /// The program in it.
    pub program: &'a Program,
    /// The audit's verdict.
    pub report: &'a AuditReport,
}

/// Where operations are in a file.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// There is no file.
    None,
    /// In the text of a rank program file.
    Program(&'a str),
    /// In a text, each at its line and column.
    Listed(&'a str, &'a [(usize, usize)]),
}

/// The size of a program. For people and scripts; decides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Workers that have operations.
    pub workers: usize,
    /// Operations of all workers.
    pub operations: usize,
    /// Packets with slots.
    pub packets: usize,
    /// Slots of all packets.
    pub slots: u64,
    /// Waits between workers.
    pub waits: usize,
    /// Packets without slots.
    pub tokens: usize,
    /// The most slots of scratch of any rank.
    pub peak_scratch: u32,
    /// The most slots of any channel.
    pub channel_slots: u32,
}

/// Measures a program. O(operations).
pub fn figures(program: &Program) -> Figures {
    let sent = program.operations().iter().filter_map(|operation| match *operation {
        Operation::Send { count, .. } | Operation::Receive { forward: Some(_), count, .. } => Some(count),
        _ => None,
    });
    let packets = sent.clone().filter(|&count| count > 0);
    Figures {
        workers: (0..program.worker_count()).filter(|&worker| !program.range(worker).is_empty()).count(),
        operations: program.operations().len(),
        packets: packets.clone().count(),
        slots: packets.map(u64::from).sum(),
        waits: program.operations().iter().filter(|operation| matches!(operation, Operation::Wait { .. })).count(),
        tokens: sent.filter(|&count| count == 0).count(),
        peak_scratch: program.peak_scratch(),
        channel_slots: program.channels.iter().map(|channel| channel.slots).max().unwrap_or(0),
    }
}

/// `all_gather among 16 ranks, shards in 2 parts, as a rank program, in place`.
pub fn headline(program: &Program) -> String {
    let ranks = count(program.problem.topology().live_rank_count(), "rank");
    let place = if program.in_place { "in place" } else { "out of place" };
    format!(
        "{} among {ranks}, {}, as a rank program, {place}",
        name_collective(&program.problem),
        cut(&program.problem)
    )
}

/// The figures in lines for people.
pub fn table(program: &Program) -> Table {
    table_of(program, program.channels.iter())
}

/// The figures of a program in which only one rank has operations, in lines for people.
pub fn rank_table(program: &Program, rank: RankId) -> Table {
    table_of(program, program.channels.iter().filter(|channel| rank == channel.from || rank == channel.to))
}

fn table_of<'a>(program: &Program, channels: impl Iterator<Item = &'a Channel>) -> Table {
    let Figures { workers, operations, packets, slots, waits, tokens, peak_scratch, channel_slots } = figures(program);
    let mut table = Table::new(&[]);
    let shared = if program.contention_free { "no link is shared" } else { "links may be shared" };
    for (name, text) in [
        ("workers", workers.to_string()),
        ("operations", format!("{operations} ({waits} of them waits)")),
        ("packets", format!("{packets} of {}, {}", count(slots as usize, "slot"), count(tokens, "token"))),
        ("scratch", format!("{} at most at a rank", count(peak_scratch as usize, "slot"))),
        ("channels", format!("{} of at most {}", channels.count(), count(channel_slots as usize, "slot"))),
        ("barriers", format!("{}: {shared}", program.barriers.name())),
    ] {
        table.row([name.to_owned(), text]);
    }
    table
}

/// The figures as a JSON object.
pub fn figures_to_json(program: &Program) -> Value {
    let figures = figures(program);
    json!({
        "collective": program.problem.collective().kind.name(),
        "ranks": program.rank_count(),
        "parts": program.problem.parts(),
        "in_place": program.in_place,
        "barriers": program.barriers.name(),
        "contention_free": program.contention_free,
        "workers": figures.workers,
        "operations": figures.operations,
        "packets": figures.packets,
        "slots": figures.slots,
        "waits": figures.waits,
        "tokens": figures.tokens,
        "peak_scratch": figures.peak_scratch,
        "channels": program.channels.len(),
        "channel_slots": figures.channel_slots,
    })
}

impl Audited<'_> {
    /// The verdict in lines for people.
    pub fn to_text(&self) -> String {
        let verdict = self.report.verdict();
        let in_any = if verdict == Verdict::Holds { " in every interleaving" } else { "" };
        let name = shown(self.name);
        let mut text = format!("{name}: {verdict}{in_any}\n");
        let _ = writeln!(text, "  {}", headline(self.program));
        if verdict == Verdict::Holds {
            text.push_str(&table(self.program).to_string());
        }
        for finding in &self.report.violations {
            let place = self.place(finding);
            let at = place.map(|(line, column)| format!("{name}:{line}:{column}: ")).unwrap_or_default();
            let _ = writeln!(text, "  {at}{}: {}", finding.code, finding.message);
            text.push_str(&place.map(|place| marked(self.text(), place)).unwrap_or_default());
        }
        if let Some(first) = self.report.violations.first() {
            let codes: Vec<String> = self.report.totals().map(|(code, total)| format!("{code} {total}")).collect();
            let total = count(self.report.violation_count() as usize, "violation");
            let _ = writeln!(text, "  {total}: {}", codes.join(", "));
            let _ = writeln!(text, "  `synth explain {}` says more", first.code);
        }
        text
    }

    /// The verdict as a JSON object.
    pub fn to_json(&self) -> Value {
        let finding = |finding: &ProgramViolation| {
            let place = self.place(finding);
            let at = finding.operation.map(|number| self.address(number));
            json!({
                "code": finding.code.to_string(),
                "line": place.map(|(line, _)| line),
                "column": place.map(|(_, column)| column),
                "rank": at.map(|(rank, ..)| rank),
                "worker": at.map(|(_, worker, _)| worker),
                "operation": at.map(|(.., operation)| operation),
                "message": finding.message,
                "excerpt": place.and_then(|place| excerpt(self.text(), place)).map(|(text, _)| text),
            })
        };
        let totals: serde_json::Map<String, Value> =
            self.report.totals().map(|(code, total)| (code.to_string(), json!(total))).collect();
        json!({
            "file": self.name,
            "verdict": self.report.verdict().to_string(),
            "violations": self.report.violations.iter().map(finding).collect::<Vec<_>>(),
            "totals": totals,
            "figures": figures_to_json(self.program),
        })
    }

    /// The rank, the worker in it, and the operation of that worker.
    fn address(&self, number: usize) -> (usize, usize, usize) {
        let worker = self.program.worker_of(number);
        let rank = self.program.rank_of(worker);
        (rank.index(), worker - self.program.workers(rank).start, number - self.program.range(worker).start)
    }

    fn place(&self, finding: &ProgramViolation) -> Option<(usize, usize)> {
        use PathItem::{Index, Key};
        let number = finding.operation?;
        match self.source {
            Source::None => None,
            Source::Program(text) => {
                let (rank, worker, operation) = self.address(number);
                locate(text, &[Key("programs"), Index(rank), Key("workers"), Index(worker), Index(operation)])
            }
            Source::Listed(_, places) => places.get(number).copied(),
        }
    }

    fn text(&self) -> &str {
        match self.source {
            Source::None => "",
            Source::Program(text) | Source::Listed(text, _) => text,
        }
    }
}
