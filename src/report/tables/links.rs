//! How much each link carries over a whole schedule, the hottest first.

use serde_json::{Value, json};

use collsynth_core::problem::Problem;
use collsynth_core::schedule::Timetable;
use collsynth_core::topology::{Link, LinkId};
use collsynth_verify::report::figures::fine_percent;
use collsynth_verify::report::overview::headline;
use collsynth_verify::report::table::Table;

use super::steps::Selection;

/// The loads of the selected links in the selected steps.
#[derive(Clone, Debug)]
pub struct LinkTable<'a> {
    problem: &'a Problem,
    /// The sum of the widths of the selected steps.
    width: u64,
    lines: Vec<Line>,
}

/// What a link carries.
#[derive(Clone, Copy, Debug)]
struct Line {
    id: LinkId,
    chunks: u64,
    /// The step in which it carries most, the first of them; and how much.
    peak: Option<(u32, u64)>,
}

impl<'a> LinkTable<'a> {
    /// Adds up what the selected links carry: those that are alive, and dead ones that a wrong schedule uses.
    pub fn new(problem: &'a Problem, schedule: &impl Timetable, selection: &Selection) -> Self {
        let topology = problem.machine();
        let ids = (0..topology.links().len() as u32).map(LinkId);
        let mut lines: Vec<Line> = ids.map(|id| Line { id, chunks: 0, peak: None }).collect();
        let mut width = 0;
        schedule.for_each_load(problem, &mut selection.steps_of(schedule.numbers()), &mut |step, loads| {
            width += u64::from(schedule.width(step));
            for (id, chunks) in loads.used() {
                let line = &mut lines[id.index()];
                line.chunks += chunks;
                if line.peak.is_none_or(|(_, most)| chunks > most) {
                    line.peak = Some((step, chunks));
                }
            }
        });
        lines.retain(|line| {
            let link = topology.link(line.id);
            selection.choice.joins(link.from, link.to) && (line.chunks > 0 || link.alive)
        });
        let share = |line: &Line| line.chunks as f64 / f64::from(topology.link(line.id).capacity);
        lines.sort_by(|a, b| share(b).total_cmp(&share(a)).then(a.id.cmp(&b.id)));
        Self { problem, width, lines }
    }

    /// A line for each link.
    pub fn to_text(&self) -> String {
        let mut table = Table::new(&["from", "to", "link", "chunks", "busy", "most in a step"]).indented(2);
        for line in &self.lines {
            let Link { from, to, direction, alive, .. } = *self.problem.machine().link(line.id);
            let direction = direction.map_or("-".to_owned(), |direction| direction.to_string());
            table.row([
                self.problem.machine().rank_label(from),
                self.problem.machine().rank_label(to),
                if alive { direction } else { format!("{direction} failed") },
                format!("{}/{}", line.chunks, self.room(line)),
                fine_percent(self.busy(line)),
                line.peak.map_or(String::new(), |(step, chunks)| format!("{chunks} in step {step}")),
            ]);
        }
        table.to_string()
    }

    /// Columns `from`, `to`, `link`, `capacity`, `alive`, `chunks`, `room`, `busy`, `peak_step`, `peak_chunks`; where
    /// ranks have names, also `from_name` and `to_name`.
    pub fn to_csv(&self) -> String {
        let topology = self.problem.machine();
        let names = |rank| topology.rank_name(rank).map(|name| format!(",{name}")).unwrap_or_default();
        let mut text = "from,to,link,capacity,alive,chunks,room,busy,peak_step,peak_chunks".to_owned();
        text += if topology.spec().names.is_empty() { "\n" } else { ",from_name,to_name\n" };
        for line in &self.lines {
            let Link { from, to, direction, capacity, alive } = *self.problem.machine().link(line.id);
            let direction = direction.map_or(String::new(), |direction| direction.to_string());
            let (chunks, room, busy) = (line.chunks, self.room(line), self.busy(line));
            let peak = line.peak.map_or(",".to_owned(), |(step, chunks)| format!("{step},{chunks}"));
            text += &format!(
                "{from},{to},{direction},{capacity},{alive},{chunks},{room},{busy},{peak}{}{}\n",
                names(from),
                names(to)
            );
        }
        text
    }

    /// The same as a JSON object.
    pub fn to_json(&self) -> Value {
        let one = |line: &Line| {
            let Link { from, to, direction, capacity, alive } = *self.problem.machine().link(line.id);
            json!({
                "from": from.0,
                "to": to.0,
                "from_name": self.problem.machine().rank_name(from),
                "to_name": self.problem.machine().rank_name(to),
                "link": direction.map(|direction| direction.to_string()),
                "capacity": capacity,
                "alive": alive,
                "chunks": line.chunks,
                "room": self.room(line),
                "busy": self.busy(line),
                "peak_step": line.peak.map(|(step, _)| step),
                "peak_chunks": line.peak.map(|(_, chunks)| chunks),
            })
        };
        let links: Vec<Value> = self.lines.iter().map(one).collect();
        json!({ "problem": headline(self.problem), "total_width": self.width, "links": links })
    }

    /// What the link could carry.
    fn room(&self, line: &Line) -> u64 {
        self.width.saturating_mul(u64::from(self.problem.machine().link(line.id).capacity))
    }

    /// The used share of its room.
    fn busy(&self, line: &Line) -> f64 {
        if self.room(line) == 0 { 0.0 } else { line.chunks as f64 / self.room(line) as f64 }
    }
}
