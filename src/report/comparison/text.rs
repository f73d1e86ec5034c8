//! The comparison as tables for people.

use super::rates::describe_rates;
use super::{Comparison, Entry, Machine, Phased, Refusal, least_seconds};
use collsynth_plan::StopReason;
use collsynth_verify::report::figures::{about_bytes, bytes, count, exact_and_decimal, seconds};
use collsynth_verify::report::machine::describe;
use collsynth_verify::report::overview::headline;
use collsynth_verify::report::table::Table;

impl Comparison {
    /// For one machine, a heading, a table of schedules with their times and speed-ups, the fastest from each size on,
    /// and planners without a schedule; for several, one table. The fastest time for each size has a star.
    pub fn to_text(&self) -> String {
        let mut text = match &self.machines[..] {
            [machine] => self.one_to_text(machine),
            machines => self.many_to_text(machines),
        };
        match self.stopped {
            StopReason::Finished => {}
            StopReason::TimeLimit => {
                text.push_str("some planners were cut short by the time limit: better schedules may exist\n")
            }
            StopReason::Interrupted => text.push_str("interrupted: better schedules may exist\n"),
        }
        text
    }

    fn one_to_text(&self, machine: &Machine) -> String {
        let mut text = format!("{}\n", headline(&machine.problem));
        if !machine.failures.is_empty() {
            text.push_str(&format!("  failed: {}\n", machine.failures));
        }
        if let Some(bound) = bound(machine) {
            text.push_str(&format!("  bound: {bound}\n"));
        }
        text.push_str(&format!("  times: {}\n", describe_rates(&self.rates)));
        if let Some((name, _)) = machine.base(self.largest()) {
            text.push_str(&format!("  speed-ups: over {name}\n"));
        }
        let mut table = Table::of(self.headings(&[])).indented(2);
        self.rows(machine).into_iter().for_each(|row| table.row(row));
        text.push_str(&table.to_string());
        text.push_str(&fastest(machine));
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

    fn many_to_text(&self, machines: &[Machine]) -> String {
        let mut text = format!("times: {}\n", describe_rates(&self.rates));
        let mut table = Table::of(self.headings(&["machine", "bound", "over"]));
        for machine in machines {
            let bound = bound(machine).unwrap_or_default();
            let over = machine.base(self.largest()).map_or("", |(name, _)| name);
            let place =
                [format!("{} {}", name(machine), machine.failures).trim_end().to_owned(), bound, over.to_owned()];
            self.rows(machine).into_iter().for_each(|row| table.row(place.iter().cloned().chain(row)));
        }
        text.push_str(&table.to_string());
        let refusals = machines.iter().flat_map(|machine| {
            machine.refusals.iter().filter(|refusal| !refusal.brief).map(move |refusal| (machine, refusal))
        });
        for (index, (machine, Refusal { planner, reason, .. })) in refusals.enumerate() {
            let heading = if index == 0 { "no schedule:\n" } else { "" };
            let place = format!("{} {}", name(machine), machine.failures);
            text.push_str(&format!("{heading}  {}: {planner}: {}\n", place.trim_end(), reason.replace('\n', " ")));
        }
        text
    }

    /// The times of phased algorithms by the rule of their papers, also of those without a schedule.
    fn phases(&self, machine: &Machine) -> String {
        let mut phased: Vec<_> = machine.entries.iter().filter_map(|entry| Some((entry, entry.phased?))).collect();
        // To papers, schedules that differ only in their steps are the same.
        phased.dedup_by_key(|(entry, phased)| (entry.planner.clone(), entry.parts, phased.load));
        if phased.is_empty() && machine.charged.is_empty() {
            return String::new();
        }
        let names = ["planner", "parts", "phases", "start-ups", "load"].map(str::to_owned).into_iter();
        let mut table = Table::of(names.chain(self.sizes.iter().map(|&size| bytes(size))).collect()).indented(2);
        let charged = machine.charged.iter().map(|charged| (charged.planner, "-".to_owned(), charged.phased));
        let phased = phased.into_iter().map(|(entry, phased)| (&*entry.planner, entry.parts.to_string(), phased));
        for (planner, parts, Phased { phases, startups, load, time }) in phased.chain(charged) {
            let figures = [parts, phases.to_string(), startups.to_string(), exact_and_decimal(load)];
            let times = self.sizes.iter().map(|&size| seconds(time.seconds(size)));
            table.row([planner.to_owned()].into_iter().chain(figures).chain(times));
        }
        format!("charged by phases, as in their papers:\n{table}")
    }

    fn headings(&self, before: &[&str]) -> Vec<String> {
        let names = ["planner", "parts", "steps", "volume", "ratio", "held"];
        let names = before.iter().chain(&names).map(|&name| name.to_owned());
        names.chain(self.sizes.iter().map(|&size| bytes(size))).collect()
    }

    /// A row for each schedule.
    fn rows(&self, machine: &Machine) -> Vec<Vec<String>> {
        let fastest = machine.fastest();
        let base = machine.base(self.largest()).map(|(_, base)| base);
        let time = |index: usize, entry: &Entry, size: u64| {
            let time = entry.time.seconds(size);
            let over = |base: &Vec<&Entry>| least_seconds(base.iter().copied(), size) / time;
            let speedup = base.as_ref().map_or(String::new(), |base| format!(" {:.2}x", over(base)));
            let best = fastest.iter().rfind(|stretch| stretch.from_bytes <= size);
            let star = if best.is_some_and(|best| best.line == index) { " *" } else { "" };
            format!("{}{speedup}{star}", seconds(time))
        };
        let row = |(index, entry): (usize, &Entry)| {
            let ratio = machine.ratio(entry).map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
            let held = entry.held.map_or(String::new(), |held| held.chunks.to_string());
            let mut cells = vec![entry.planner.clone(), entry.parts.to_string(), entry.steps.to_string()];
            cells.extend([exact_and_decimal(entry.volume), ratio, held]);
            cells.extend(self.sizes.iter().map(|&size| time(index, entry, size)));
            cells
        };
        machine.entries.iter().enumerate().map(row).collect()
    }
}

/// `6 steps, volume 1024/31 = 33.032`.
/// The planners that do not apply, in a line.
fn brief(refusals: &[Refusal]) -> String {
    let names: Vec<&str> =
        refusals.iter().filter(|refusal| refusal.brief).map(|refusal| refusal.planner.as_str()).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("  do not apply (--planners NAME says why): {}\n", names.join(", ")),
    }
}

fn bound(machine: &Machine) -> Option<String> {
    let steps = machine.bounds.steps.as_ref().map(|bound| format!("{} steps", bound.at_least));
    let least = machine.bounds.volume.as_ref().map(|bound| format!("volume {}", exact_and_decimal(bound.at_least)));
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

/// The machine in a few words.
pub(super) fn name(machine: &Machine) -> String {
    describe(machine.problem.topology())
}
