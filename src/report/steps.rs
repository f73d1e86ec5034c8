//! A schedule step by step.

use serde_json::{Value, json};

use collsynth_core::collective::{ChunkId, ChunkLabelError};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{LinkLoads, Op, Schedule, Step, Transfer};
use collsynth_core::topology::{Direction, Link, LinkId, RankId};
use collsynth_verify::report::figures::{count, percent, shortened};
use collsynth_verify::report::overview::headline;
use collsynth_verify::report::table::Table;

/// The most chunks listed for a transfer, unless all are asked for.
const CHUNKS_NAMED: usize = 12;

/// The part of a schedule to show.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only these steps; empty: all.
    pub steps: Vec<u32>,
    /// Only transfers from or to this rank.
    pub rank: Option<RankId>,
    /// Only what goes from one rank to another.
    pub link: Option<(RankId, RankId)>,
    /// Only transfers of these chunks; indexed by chunk.
    pub chunks: Option<Vec<bool>>,
    /// Long lists of chunks in full.
    pub all: bool,
}

impl Selection {
    /// Is the step selected?
    pub fn has_step(&self, number: u32) -> bool {
        self.steps.is_empty() || self.steps.contains(&number)
    }

    /// Is this link?
    pub fn has_link(&self, link: &Link) -> bool {
        self.joins(link.from, link.to)
    }

    /// Is what goes from this rank to that one?
    fn joins(&self, from: RankId, to: RankId) -> bool {
        self.rank.is_none_or(|rank| from == rank || to == rank) && self.link.is_none_or(|link| link == (from, to))
    }

    /// Are transfers selected, and not only steps?
    fn is_of_transfers(&self) -> bool {
        self.rank.is_some() || self.link.is_some() || self.chunks.is_some()
    }
}

/// Shows the steps of a schedule, one at a time.
#[derive(Clone, Debug)]
pub struct StepTables<'a> {
    problem: &'a Problem,
    schedule: &'a Schedule,
    selection: &'a Selection,
    loads: LinkLoads,
    directions: Vec<Option<Direction>>,
}

impl<'a> StepTables<'a> {
    /// Prepares to show the selected part of a schedule for a problem.
    pub fn new(problem: &'a Problem, schedule: &'a Schedule, selection: &'a Selection) -> Self {
        let mut directions: Vec<Option<Direction>> =
            problem.topology().links().iter().map(|link| link.direction).collect();
        directions.sort_unstable();
        directions.dedup();
        Self { problem, schedule, selection, loads: LinkLoads::new(problem, schedule), directions }
    }

    /// The text of each selected step, in order. Steps without a selected transfer are left out if ranks or chunks are
    /// selected.
    pub fn texts(&self) -> impl Iterator<Item = String> + '_ {
        self.schedule.steps().filter(|step| self.selection.has_step(step.number)).filter_map(|step| self.step(step))
    }

    fn step(&self, step: Step<'_>) -> Option<String> {
        let reduces = step.transfers.iter().any(|transfer| transfer.op == Op::Reduce);
        let mut headings = vec!["from", "to", "link", "load"];
        if reduces {
            headings.push("op");
        }
        headings.push("chunks");
        let mut table = Table::new(&headings).indented(2);
        let (mut shown, mut moves) = (0, 0);
        for transfer in step.transfers {
            moves += self.schedule.chunks(transfer).len();
            if let Some(row) = self.row(step, transfer, reduces) {
                table.row(row);
                shown += 1;
            }
        }
        if self.selection.is_of_transfers() && shown == 0 {
            return None;
        }
        let head = format!(
            "step {}, width {}: {}, {}{}",
            step.number,
            step.width,
            count(step.transfers.len(), "transfer"),
            count(moves, "chunk"),
            self.busy(step)
        );
        let table = if shown > 0 { table.to_string() } else { String::new() };
        Some(format!("{head}\n{table}"))
    }

    /// The cells of a transfer; `None` if it is not selected.
    fn row(&self, step: Step<'_>, transfer: &Transfer, reduces: bool) -> Option<Vec<String>> {
        let selected = self.selected(transfer)?;
        let chunks = self.schedule.chunks(transfer);
        let topology = self.problem.topology();
        let (direction, room) = self.room(step, transfer);
        let mut row = vec![
            topology.rank_label(transfer.from),
            topology.rank_label(transfer.to),
            direction.map(|direction| direction.to_string()).unwrap_or("-".to_owned()),
            format!("{}/{room}", chunks.len()),
        ];
        if reduces {
            row.push(if transfer.op == Op::Reduce { "reduce" } else { "copy" }.to_owned());
        }
        let most = if self.selection.all { usize::MAX } else { CHUNKS_NAMED };
        row.push(shortened(selected.iter().map(|&chunk| self.problem.chunk_label(chunk)), most, " "));
        Some(row)
    }

    /// The selected chunks of a transfer; `None` if it is not selected.
    fn selected(&self, transfer: &Transfer) -> Option<Vec<ChunkId>> {
        let chunks = self.schedule.chunks(transfer).iter().copied();
        if !self.selection.joins(transfer.from, transfer.to) {
            return None;
        }
        let Some(wanted) = &self.selection.chunks else { return Some(chunks.collect()) };
        let chunks: Vec<ChunkId> = chunks.filter(|chunk| wanted[chunk.index()]).collect();
        (!chunks.is_empty()).then_some(chunks)
    }

    /// The direction of a transfer, and what its link can carry in the step.
    fn room(&self, step: Step<'_>, transfer: &Transfer) -> (Option<Direction>, u64) {
        match self.link(transfer) {
            Some(id) => {
                let link = self.problem.topology().link(id);
                (link.direction, u64::from(step.width) * u64::from(link.capacity))
            }
            None => (transfer.via, 0),
        }
    }

    /// The selected steps as a JSON object, all their chunks included.
    pub fn to_json(&self) -> Value {
        let transfer = |step: Step<'_>, transfer: &Transfer| {
            let chunks = self.selected(transfer)?;
            let (direction, room) = self.room(step, transfer);
            Some(json!({
                "from": transfer.from.0,
                "to": transfer.to.0,
                "from_name": self.problem.topology().rank_name(transfer.from),
                "to_name": self.problem.topology().rank_name(transfer.to),
                "link": direction.map(|direction| direction.to_string()),
                "op": if transfer.op == Op::Reduce { "reduce" } else { "copy" },
                "load": self.schedule.chunks(transfer).len(),
                "room": room,
                "chunks": chunks.iter().map(|&chunk| self.problem.chunk_label(chunk)).collect::<Vec<_>>(),
            }))
        };
        let one = |step: Step<'_>| {
            let transfers: Vec<Value> = step.transfers.iter().filter_map(|it| transfer(step, it)).collect();
            let is_shown = !transfers.is_empty() || !self.selection.is_of_transfers();
            is_shown.then(|| json!({ "step": step.number, "width": step.width, "transfers": transfers }))
        };
        let steps = self.schedule.steps().filter(|step| self.selection.has_step(step.number));
        json!({ "problem": headline(self.problem), "steps": steps.filter_map(one).collect::<Vec<Value>>() })
    }

    /// The link a transfer uses, if it names one.
    fn link(&self, transfer: &Transfer) -> Option<LinkId> {
        let topology = self.problem.topology();
        topology
            .links_between(transfer.from, transfer.to)
            .find(|&id| transfer.via.is_none() || topology.link(id).direction == transfer.via)
    }

    /// How busy the live links of each direction are in a step: `; x- 88 %, x+ 86 %`.
    fn busy(&self, step: Step<'_>) -> String {
        let topology = self.problem.topology();
        let shares: Vec<String> = self
            .directions
            .iter()
            .filter_map(|direction| {
                let (mut used, mut room) = (0, 0);
                for id in topology.live_links().filter(|&id| topology.link(id).direction == *direction) {
                    used += self.loads.get(step.number, id);
                    room += u64::from(topology.link(id).capacity) * u64::from(step.width);
                }
                let name = direction.map(|direction| direction.to_string()).unwrap_or("links".to_owned());
                (room > 0).then(|| format!("{name} {}", percent(used as f64 / room as f64)))
            })
            .collect();
        if shares.is_empty() { String::new() } else { format!("; {}", shares.join(", ")) }
    }
}

/// The chunks a label names: one of them, or, where the part is left out, every part of a message.
///
/// # Errors
/// If the label does not have the form of this collective's chunks, or a number in it is out of range.
pub fn chunks_named(problem: &Problem, label: &str) -> Result<Vec<bool>, ChunkLabelError> {
    let chunk = problem.collective().parse_chunk(problem.topology().rank_count() as u32, label)?;
    let mut wanted = vec![false; problem.chunk_count() as usize];
    wanted[chunk.index()] = true;
    if !label.contains('/') {
        // The parts of a message are numbered on from the first.
        let prefix = format!("{label}/");
        let next = (chunk.0 + 1..problem.chunk_count()).map(ChunkId);
        for part in next.take_while(|&part| problem.chunk_label(part).starts_with(&prefix)) {
            wanted[part.index()] = true;
        }
    }
    Ok(wanted)
}
