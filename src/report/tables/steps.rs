//! A schedule step by step.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::RangeInclusive;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value, json};

use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Choice, Op, Slot, StepLoads, Timetable};
use collsynth_core::topology::{Direction, LinkId};
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
    /// Only these transfers, and of these only the chunks it states.
    pub choice: Choice,
    /// Long lists of chunks in full.
    pub all: bool,
}

impl Selection {
    /// The selected ones of these steps.
    pub fn steps_of(&self, numbers: RangeInclusive<u32>) -> impl Iterator<Item = u32> + '_ {
        numbers.filter(|step| self.steps.is_empty() || self.steps.contains(step))
    }
}

/// Shows the steps of a schedule, a transfer at a time.
#[derive(Clone, Debug)]
pub struct StepTables<'a, S> {
    problem: &'a Problem,
    schedule: &'a S,
    selection: &'a Selection,
    /// The directions of links, and the capacity of all that are alive.
    directions: Vec<(Option<Direction>, u64)>,
}

impl<'a, S: Timetable> StepTables<'a, S> {
    /// Prepares to show the selected part of a schedule for a problem.
    pub fn new(problem: &'a Problem, schedule: &'a S, selection: &'a Selection) -> Self {
        let mut directions: BTreeMap<Option<Direction>, u64> = BTreeMap::new();
        for link in problem.machine().links() {
            *directions.entry(link.direction).or_default() += if link.alive { u64::from(link.capacity) } else { 0 };
        }
        Self { problem, schedule, selection, directions: directions.into_iter().collect() }
    }

    /// Writes each selected step as text, in order, after a blank line. Steps without a selected transfer are left out
    /// if ranks or chunks are selected; if all are, it says so.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let (mut written, is_open, mut matched) = (Ok(()), Cell::new(true), false);
        let mut steps = self.selection.steps_of(self.schedule.numbers()).take_while(|_| is_open.get());
        self.schedule.for_each_load(self.problem, &mut steps, &mut |step, loads| {
            if let Some(slots) = self.slots(step) {
                matched = true;
                written = self.write_step(out, loads, step, &slots);
                is_open.set(written.is_ok());
            }
        });
        written?;
        if matched || !self.selection.choice.is_stated() { Ok(()) } else { writeln!(out, "\nno transfers match") }
    }

    /// Writes the selected steps as a JSON object, all their chunks included.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// The steps to show and their selected transfers.
    fn shown(&self) -> impl Iterator<Item = (u32, Vec<Slot<'a>>)> + '_ {
        let steps = self.selection.steps_of(self.schedule.numbers());
        steps.filter_map(|step| Some((step, self.slots(step)?)))
    }

    /// The selected transfers of a step, if it is shown.
    fn slots(&self, step: u32) -> Option<Vec<Slot<'a>>> {
        let slots = self.schedule.slots(step, &self.selection.choice);
        // Without a choice, even an empty step is shown.
        (!slots.is_empty() || !self.selection.choice.is_stated()).then_some(slots)
    }

    fn write_step(&self, out: &mut impl Write, loads: &StepLoads, step: u32, slots: &[Slot<'_>]) -> io::Result<()> {
        let totals = loads.totals();
        let (transfers, moves) = (count(totals.transfers, "transfer"), count(totals.moves, "chunk"));
        let (width, busy) = (self.schedule.width(step), self.busy(loads, step));
        writeln!(out, "\nstep {step}, width {width}: {transfers}, {moves}{busy}")?;
        if slots.is_empty() {
            return Ok(());
        }
        let mut headings = vec!["from", "to", "link", "load"];
        if totals.reduces {
            headings.push("op");
        }
        let mut table = Table::new(&headings).indented(2);
        slots.iter().for_each(|slot| table.row(self.row(slot, totals.reduces)));
        // Chunks are named only now: they take far more room than the other columns.
        let mut lines = table.lines();
        writeln!(out, "{}chunks", lines.next().unwrap_or_default())?;
        let most = if self.selection.all { usize::MAX } else { CHUNKS_NAMED };
        for (line, slot) in lines.zip(slots) {
            let named = self.selected(slot).into_iter().map(|chunk| self.problem.chunk_label(chunk));
            writeln!(out, "{}", format!("{line}{}", shortened(named, most, " ")).trim_end())?;
        }
        Ok(())
    }

    /// The cells of a transfer, without its chunks.
    fn row(&self, slot: &Slot<'_>, reduces: bool) -> Vec<String> {
        let topology = self.problem.machine();
        let (direction, room) = self.room(slot);
        let mut row = vec![
            topology.rank_label(slot.from),
            topology.rank_label(slot.to),
            direction.map(|direction| direction.to_string()).unwrap_or("-".to_owned()),
            format!("{}/{room}", self.schedule.count_of(slot)),
        ];
        if reduces {
            row.push(name(slot.op).to_owned());
        }
        row
    }

    /// The selected chunks of a transfer.
    fn selected(&self, slot: &Slot<'_>) -> Vec<ChunkId> {
        let chunks = self.schedule.chunks_of(slot);
        chunks.iter().copied().filter(|&chunk| self.selection.choice.has_chunk(chunk)).collect()
    }

    /// The direction of a transfer, and what its link can carry in the step.
    fn room(&self, slot: &Slot<'_>) -> (Option<Direction>, u64) {
        match self.link(slot) {
            Some(id) => {
                let link = self.problem.machine().link(id);
                (link.direction, u64::from(self.schedule.width(slot.step)) * u64::from(link.capacity))
            }
            None => (slot.via, 0),
        }
    }

    fn transfer_to_json(&self, slot: &Slot<'_>) -> Value {
        let (direction, room) = self.room(slot);
        let chunks = self.selected(slot);
        json!({
            "from": slot.from.0,
            "to": slot.to.0,
            "from_name": self.problem.machine().rank_name(slot.from),
            "to_name": self.problem.machine().rank_name(slot.to),
            "link": direction.map(|direction| direction.to_string()),
            "op": name(slot.op),
            "load": self.schedule.count_of(slot),
            "room": room,
            "chunks": chunks.iter().map(|&chunk| self.problem.chunk_label(chunk)).collect::<Vec<_>>(),
        })
    }

    /// The link a transfer uses, if it names one.
    fn link(&self, slot: &Slot<'_>) -> Option<LinkId> {
        let topology = self.problem.machine();
        topology
            .links_between(slot.from, slot.to)
            .find(|&id| slot.via.is_none() || topology.link(id).direction == slot.via)
    }

    /// How busy the live links of each direction are in a step: `; x- 88 %, x+ 86 %`.
    fn busy(&self, loads: &StepLoads, step: u32) -> String {
        let topology = self.problem.machine();
        let mut used: BTreeMap<Option<Direction>, u64> = BTreeMap::new();
        for (id, chunks) in loads.used().filter(|&(id, _)| topology.link(id).alive) {
            *used.entry(topology.link(id).direction).or_default() += chunks;
        }
        let share = |&(direction, capacity): &(Option<Direction>, u64)| {
            let room = u128::from(capacity) * u128::from(self.schedule.width(step));
            let name = direction.map(|direction| direction.to_string()).unwrap_or("links".to_owned());
            (room > 0)
                .then(|| format!("{name} {}", percent(used.get(&direction).copied().unwrap_or(0) as f64 / room as f64)))
        };
        let shares: Vec<String> = self.directions.iter().filter_map(share).collect();
        if shares.is_empty() { String::new() } else { format!("; {}", shares.join(", ")) }
    }
}

fn name(op: Op) -> &'static str {
    if op == Op::Reduce { "reduce" } else { "copy" }
}

/// The object of [`StepTables::write_json`], made while it is written.
impl<S: Timetable> Serialize for StepTables<'_, S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("problem", &headline(self.problem))?;
        map.serialize_entry("steps", &Steps(self))?;
        map.end()
    }
}

struct Steps<'a, 'b, S>(&'b StepTables<'a, S>);

impl<S: Timetable> Serialize for Steps<'_, '_, S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for (step, slots) in self.0.shown() {
            list.serialize_element(&OneStep { tables: self.0, step, slots })?;
        }
        list.end()
    }
}

struct OneStep<'a, 'b, S> {
    tables: &'b StepTables<'a, S>,
    step: u32,
    slots: Vec<Slot<'a>>,
}

impl<S: Timetable> Serialize for OneStep<'_, '_, S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("step", &self.step)?;
        map.serialize_entry("transfers", &Transfers(self))?;
        map.serialize_entry("width", &self.tables.schedule.width(self.step))?;
        map.end()
    }
}

struct Transfers<'a, 'b, 'c, S>(&'c OneStep<'a, 'b, S>);

impl<S: Timetable> Serialize for Transfers<'_, '_, '_, S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.collect_seq(self.0.slots.iter().map(|slot| self.0.tables.transfer_to_json(slot)))
    }
}
