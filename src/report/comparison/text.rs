//! The comparison as tables for people, in pieces: a row can be shown before the planners after it have answered.
//!
//! So columns are as wide as what is usual in them, not as their widest cell, and nothing in a row depends on those
//! below it.

use std::collections::HashSet;

use super::rates::describe_rates;
use super::{Comparison, Entry, Machine, Phased, Refusal};
use collsynth_core::certificate::Bounds;
use collsynth_core::topology::Topology;
use collsynth_plan::StopReason;
use collsynth_plan::cost::Rates;
use collsynth_verify::report::figures::{about_bytes, bytes, count, exact_and_decimal, seconds};
use collsynth_verify::report::overview::headline;
use collsynth_verify::report::table::Table;

/// The columns between the planner and the times, and their usual widths.
const FIGURES: [(&str, usize); 5] = [("parts", 5), ("steps", 5), ("volume", 18), ("ratio", 6), ("held", 6)];
/// `12.50 us`, and ` 12.50x`.
const TIME: usize = 8;
const SPEEDUP: usize = 7;

/// The tables of a comparison: for one machine a heading, rows, and what is known when all planners have answered; for
/// several, one table.
pub struct Tables {
    rates: Rates,
    sizes: Vec<u64>,
    /// The widths of the columns before the figures.
    widths: Vec<usize>,
}

impl Tables {
    /// Tables with these names of planners; of several machines, with their [places](place) and the names of what
    /// speed-ups are over.
    pub fn new<'a>(
        rates: &Rates,
        sizes: &[u64],
        planners: impl IntoIterator<Item = &'a str>,
        several: Option<(&[String], usize)>,
    ) -> Self {
        let width = |text: &str| text.chars().count();
        let planner = planners.into_iter().map(width).max().unwrap_or(0).max(width("planner"));
        let mut widths = Vec::new();
        if let Some((places, over)) = several {
            let place = places.iter().map(|place| width(place)).max().unwrap_or(0);
            widths.extend([place.max(width("machine")), width("16 steps, volume 1024/31 = 33.032"), over]);
        }
        widths.push(planner);
        Self { rates: rates.clone(), sizes: sizes.to_vec(), widths }
    }

    fn is_of_one(&self) -> bool {
        self.widths.len() == 1
    }

    /// What is above the rows of several machines; nothing for one.
    pub fn opening(&self) -> String {
        if self.is_of_one() {
            return String::new();
        }
        format!("times: {}\n{}", describe_rates(&self.rates), self.headings(&["machine", "bound", "over"], true))
    }

    /// What is above the rows of a machine, if there is one.
    pub fn heading(&self, machine: &Machine) -> String {
        if !self.is_of_one() {
            return String::new();
        }
        let mut text = format!("{}\n", headline(&machine.problem));
        if !machine.failures.is_empty() {
            text.push_str(&format!("  failed: {}\n", machine.failures));
        }
        if let Some(bound) = bound(&machine.bounds) {
            text.push_str(&format!("  bound: {bound}\n"));
        }
        text.push_str(&format!("  times: {}\n", describe_rates(&self.rates)));
        text.push_str(&match &machine.baseline {
            Ok(baseline) => format!("  speed-ups: over {}\n", baseline.name),
            Err(why) => format!("  speed-ups: none: {why}\n"),
        });
        text.push_str(&self.headings(&[], machine.base().is_some()));
        text
    }

    /// Rows of a machine.
    pub fn rows<'a>(&self, machine: &Machine, entries: impl IntoIterator<Item = &'a Entry>) -> String {
        let before = match self.is_of_one() {
            true => Vec::new(),
            false => vec![
                place(machine.problem.topology(), &machine.failures),
                bound(&machine.bounds).unwrap_or_default(),
                machine.base().map_or("-", |base| &base.name).to_owned(),
            ],
        };
        let row = |entry: &Entry| {
            let ratio = machine.ratio(entry).map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
            let held = entry.held.map_or("-".to_owned(), |held| held.chunks.to_string());
            let mut cells = before.clone();
            cells.extend([entry.planner.clone(), entry.parts.to_string(), entry.steps.to_string()]);
            cells.extend([exact_and_decimal(entry.volume), ratio, held]);
            cells.extend(self.sizes.iter().map(|&size| {
                let speedup = machine.speedup(entry, size);
                format!("{}{}", seconds(entry.time.seconds(size)), times(speedup))
            }));
            self.line(&cells, machine.base().is_some() || !self.is_of_one())
        };
        entries.into_iter().map(row).collect()
    }

    /// What is below the rows of a machine, if there is one; `shown` are the bounds above them.
    pub fn ending(&self, machine: &Machine, shown: &Bounds) -> String {
        if !self.is_of_one() {
            return String::new();
        }
        let volume = |bounds: &Bounds| bounds.volume.as_ref().map(|bound| bound.at_least);
        let mut text = match volume(&machine.bounds) {
            Some(sharper) if Some(sharper) != volume(shown) => {
                format!(
                    "bound found in planning: volume {}; ratios above are over the first\n",
                    exact_and_decimal(sharper)
                )
            }
            _ => String::new(),
        };
        text.push_str(&fastest(machine));
        text.push_str(&self.averages(&machine.averages(&self.sizes)));
        text.push_str(&self.phases(machine));
        if !machine.refusals.is_empty() {
            let mut table = Table::new(&[]).indented(2);
            for Refusal { planner, reason, .. } in machine.refusals.iter().filter(|refusal| !refusal.brief) {
                table.remark(planner, reason.replace('\n', " "));
            }
            text.push_str(&format!("no schedule:\n{table}"));
            text.push_str(&brief(&machine.refusals));
        }
        text
    }

    /// What is below the last machine.
    pub fn closing(&self, comparison: &Comparison) -> String {
        let mut text = String::new();
        if !self.is_of_one() {
            let refusals = comparison.machines.iter().flat_map(|machine| {
                machine.refusals.iter().filter(|refusal| !refusal.brief).map(move |refusal| (machine, refusal))
            });
            for (index, (machine, Refusal { planner, reason, .. })) in refusals.enumerate() {
                let heading = if index == 0 { "no schedule:\n" } else { "" };
                let place = place(machine.problem.topology(), &machine.failures);
                text.push_str(&format!("{heading}  {place}: {planner}: {}\n", reason.replace('\n', " ")));
            }
        }
        let mut cut: Vec<&str> = Vec::new();
        for planner in comparison.machines.iter().flat_map(|machine| &machine.cut) {
            if !cut.contains(&&**planner) {
                cut.push(planner);
            }
        }
        let cut = cut.join(", ");
        match (comparison.stopped, comparison.limit) {
            (StopReason::Finished, _) => {}
            (StopReason::TimeLimit, Some(limit)) => text.push_str(&format!(
                "cut short by the time limit of {}s, so better schedules may exist: {cut}; --time-limit TIME sets it\n",
                limit.as_secs_f64()
            )),
            (StopReason::TimeLimit, None) => {
                text.push_str(&format!("cut short, so better schedules may exist: {cut}\n"));
            }
            (StopReason::Interrupted, _) => {
                text.push_str(&format!("interrupted, so better schedules may exist: {cut}\n"));
            }
        }
        text
    }

    fn headings(&self, before: &[&str], is_faster: bool) -> String {
        let names = before.iter().copied().chain(["planner"]).chain(FIGURES.map(|(name, _)| name));
        let cells: Vec<String> = names.map(str::to_owned).chain(self.sizes.iter().map(|&size| bytes(size))).collect();
        self.line(&cells, is_faster)
    }

    /// Aligned cells; `is_faster`: times have speed-ups beside them.
    fn line(&self, cells: &[String], is_faster: bool) -> String {
        let time = if is_faster { TIME + SPEEDUP } else { TIME };
        let widths = self.widths.iter().copied().chain(FIGURES.map(|(_, width)| width));
        let mut line = if self.is_of_one() { "  ".to_owned() } else { String::new() };
        for (cell, width) in cells.iter().zip(widths.chain(std::iter::repeat(time))) {
            line.push_str(&format!("{cell:width$}  "));
        }
        format!("{}\n", line.trim_end())
    }

    /// `average speed-up over these sizes: negotiated 2.31x, ring 1.00x`.
    fn averages(&self, averages: &[(&str, f64)]) -> String {
        if averages.is_empty() || self.sizes.len() < 2 {
            return String::new();
        }
        let words: Vec<String> = averages.iter().map(|(planner, average)| format!("{planner} {average:.2}x")).collect();
        format!("average speed-up over these sizes: {}\n", words.join(", "))
    }

    /// The times of phased algorithms by the rule of their papers, also of those without a schedule.
    fn phases(&self, machine: &Machine) -> String {
        let mut phased: Vec<_> = machine.entries.iter().filter_map(|entry| Some((entry, entry.phased?))).collect();
        // To papers, schedules that differ only in their steps are the same.
        let mut seen = HashSet::new();
        phased.retain(|(entry, phased)| seen.insert((&entry.planner, entry.parts, phased.startups, phased.load)));
        if phased.is_empty() && machine.charged.is_empty() {
            return String::new();
        }
        let names = ["planner", "parts", "phases", "start-ups", "load"].map(str::to_owned).into_iter();
        let mut table = Table::of(names.chain(self.sizes.iter().map(|&size| bytes(size))).collect()).indented(2);
        let charged = machine.charged.iter().map(|charged| (charged.planner, "-".to_owned(), charged.phased));
        let phased = phased.into_iter().map(|(entry, phased)| (&*entry.planner, entry.parts.to_string(), phased));
        for (planner, parts, phased) in phased.chain(charged) {
            let Phased { phases, startups, load, time } = phased;
            let figures = [parts, phases.to_string(), startups.to_string(), exact_and_decimal(load)];
            let cells = self
                .sizes
                .iter()
                .map(|&size| format!("{}{}", seconds(time.seconds(size)), times(machine.phase_speedup(&phased, size))));
            table.row([planner.to_owned()].into_iter().chain(figures).chain(cells));
        }
        let averages = self.averages(&machine.phase_averages(&self.sizes));
        let over = match machine.base() {
            Some(base) if base.entries.iter().any(|entry| entry.phased.is_some()) => {
                format!(", speed-ups over {} charged likewise", base.name)
            }
            Some(base) => format!(" ({} has no phases, so there are no speed-ups)", base.name),
            None => String::new(),
        };
        format!("charged by phases, as in their papers{over}:\n{table}{averages}")
    }
}

impl Comparison {
    /// For one machine, a heading, a table of schedules with their times and speed-ups, the fastest from each size on,
    /// and planners without a schedule; for several, one table.
    pub fn to_text(&self) -> String {
        let places: Vec<String> =
            self.machines.iter().map(|machine| place(machine.problem.topology(), &machine.failures)).collect();
        let over = self.machines.iter().filter_map(Machine::base).map(|base| base.name.len()).max().unwrap_or(0);
        let several = (places.len() != 1).then_some((&*places, over));
        let tables = Tables::new(&self.rates, &self.sizes, self.machines.iter().flat_map(Machine::planners), several);
        let machine = |machine: &Machine| {
            let (heading, rows) = (tables.heading(machine), tables.rows(machine, &machine.entries));
            [heading, rows, tables.ending(machine, &machine.bounds)].concat()
        };
        let machines: String = self.machines.iter().map(machine).collect();
        [tables.opening(), machines, tables.closing(self)].concat()
    }
}

/// ` 1.32x`.
fn times(speedup: Option<f64>) -> String {
    speedup.map_or(String::new(), |speedup| format!(" {speedup:.2}x"))
}

/// The planners that do not apply, in a line.
fn brief(refusals: &[Refusal]) -> String {
    let names: Vec<&str> =
        refusals.iter().filter(|refusal| refusal.brief).map(|refusal| refusal.planner.as_str()).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("  do not apply (--planners NAME says why): {}\n", names.join(", ")),
    }
}

/// `6 steps, volume 1024/31 = 33.032`.
fn bound(bounds: &Bounds) -> Option<String> {
    let steps = bounds.steps.as_ref().map(|bound| count(bound.at_least as usize, "step"));
    let least = bounds.volume.as_ref().map(|bound| format!("volume {}", exact_and_decimal(bound.at_least)));
    let words: Vec<String> = steps.into_iter().chain(least).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// `fastest: negotiated (1 part, 4 steps) from 1B, negotiated (7 parts, 5 steps) from 800B`.
fn fastest(machine: &Machine) -> String {
    let words: Vec<String> = machine
        .fastest()
        .iter()
        .map(|stretch| {
            let entry = &machine.entries[stretch.line];
            let parts = count(entry.parts as usize, "part");
            let steps = count(entry.steps, "step");
            format!("{} ({parts}, {steps}) from {}", entry.planner, about_bytes(stretch.from_bytes))
        })
        .collect();
    if words.is_empty() { String::new() } else { format!("fastest: {}\n", words.join(", ")) }
}

/// A machine, with its failures as they would be typed.
pub fn place(topology: &Topology, failures: &str) -> String {
    format!("{topology} {failures}").trim_end().to_owned()
}

/// The machine in a few words.
pub(super) fn name(machine: &Machine) -> String {
    machine.problem.topology().to_string()
}
