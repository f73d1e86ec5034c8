//! Planners side by side: their schedules, the time of each by message size, and who is fastest when.
//!
//! Every schedule here was verified before it became an [`Entry`]. A planner that was asked for several numbers of
//! parts has several entries; for a given size, the fastest counts.

mod csv;
mod json;
mod rates;
mod svg;
mod text;

use collsynth_core::certificate::{Bounds, Rational};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Solution;
use collsynth_plan::cost::{Line, Rates, Stretch, fastest};
use collsynth_plan::{Phase, StopReason};
use collsynth_verify::verify::{Peak, Verified};

use std::time::Duration;

use super::bandwidth::{bandwidths, blocks};
use collsynth_verify::claim::volume;
use collsynth_verify::report::figures::decimal;

pub(crate) use csv::quoted;
pub use json::schema;
pub(super) use rates::describe_price;
pub use svg::{Plot, PlotError};
pub use text::{Tables, place};

/// A verified schedule, reduced to the figures compared.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Who planned it: a planner, or the file that holds it.
    pub planner: String,
    /// Parts per message.
    pub parts: u32,
    /// Steps S.
    pub steps: usize,
    /// The volume V, exactly.
    pub volume: Rational,
    /// The best bound on the volume for as many parts: some bounds hold for no others.
    bound: Option<Rational>,
    /// The most chunks a rank holds at a time.
    pub held: Option<Peak>,
    /// Its time.
    pub time: Line,
    /// Its figures by the rule of its paper, if its algorithm works in phases.
    pub phased: Option<Phased>,
    /// The command that plans it again, or judges the file.
    pub command: String,
}

/// An algorithm of phases by the rule of its paper: see [`Rates::phased`].
#[derive(Clone, Copy, Debug)]
pub struct Phased {
    /// The number of phases.
    pub phases: usize,
    /// Start-ups that are charged.
    pub startups: u32,
    /// The loads of the fullest link of each phase, added up, in messages.
    pub load: Rational,
    /// Its time.
    pub time: Line,
}

/// A planner without a schedule whose algorithm has a price all the same, by the rule of its paper.
#[derive(Clone, Copy, Debug)]
pub struct Charged {
    /// The planner.
    pub planner: &'static str,
    /// Its figures.
    pub phased: Phased,
}

/// A planner without a schedule, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The planner.
    pub planner: String,
    /// Why.
    pub reason: String,
    /// Do people get its name alone? Of planners that nobody named and that do not apply.
    pub brief: bool,
}

/// What speed-ups are over.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// Its planner, and where it ran: `ring`, `ring without failures`.
    pub name: String,
    /// Its schedules.
    pub entries: Vec<Entry>,
}

/// One machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The collective and the machine.
    pub problem: Problem,
    /// The failures, as they would be typed: `--fail 0,1,x`.
    pub failures: String,
    /// The best bounds known that hold for any number of parts.
    pub bounds: Bounds,
    /// Schedules, by planner, then steps.
    pub entries: Vec<Entry>,
    /// Planners without one.
    pub refusals: Vec<Refusal>,
    /// Those of them with a price by the rule of their papers.
    pub charged: Vec<Charged>,
    /// What speed-ups are over, or why there are none.
    pub baseline: Result<Baseline, String>,
    /// Planners that were stopped before they were done.
    pub cut: Vec<String>,
}

/// All of it.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The machines, in the order asked for.
    pub machines: Vec<Machine>,
    /// What time costs.
    pub rates: Rates,
    /// Bytes of a message, ascending.
    pub sizes: Vec<u64>,
    /// Why the search ended.
    pub stopped: StopReason,
    /// The time limit.
    pub limit: Option<Duration>,
}

impl Entry {
    /// The figures of a verified solution, with the phases that its planner reported.
    pub fn new(solution: &Verified<Solution>, planner: &str, phases: &[Phase], rates: &Rates, command: String) -> Self {
        let (problem, schedule) = (&solution.problem, &solution.schedule);
        Self {
            planner: planner.to_owned(),
            parts: problem.parts(),
            steps: schedule.step_count(),
            volume: volume(problem, schedule),
            bound: solution.bounds.volume.as_ref().map(|bound| bound.at_least),
            held: solution.report().observed.as_ref().map(|observed| observed.held),
            time: rates.line(problem, schedule),
            phased: (!phases.is_empty()).then(|| {
                let (startups, load) = (Phase::total_startups(phases), Phase::total_load(phases));
                Phased { phases: phases.len(), startups, load, time: rates.phased(startups, decimal(load)) }
            }),
            command,
        }
    }
}

/// A speed-up; none over what takes no time, as it moves nothing.
fn over(base: f64, time: f64) -> Option<f64> {
    (time > 0.0).then(|| base / time)
}

impl Charged {
    /// The price of an algorithm of as many phases as start-ups.
    pub fn new(planner: &'static str, startups: u32, load: Rational, rates: &Rates) -> Self {
        let time = rates.phased(startups, decimal(load));
        Self { planner, phased: Phased { phases: startups as usize, startups, load, time } }
    }
}

impl Machine {
    /// The volume of an entry over the best bound for as many parts; `None` without a bound.
    fn ratio(&self, entry: &Entry) -> Option<f64> {
        let bound = self.bounds.volume.as_ref().map(|bound| bound.at_least).max(entry.bound)?;
        (bound > Rational::from(0)).then(|| decimal(entry.volume / bound))
    }

    /// Which entry is fastest for messages of each size, from 1 byte up.
    fn fastest(&self) -> Vec<Stretch> {
        fastest(&self.entries.iter().map(|entry| entry.time).collect::<Vec<Line>>())
    }

    /// What speed-ups are over.
    fn base(&self) -> Option<&Baseline> {
        self.baseline.as_ref().ok()
    }

    /// The time of the baseline over that of an entry.
    fn speedup(&self, entry: &Entry, bytes: u64) -> Option<f64> {
        over(least_seconds(&self.base()?.entries, bytes), entry.time.seconds(bytes))
    }

    /// The same, both by the rule of their papers, where the baseline has a price by it.
    fn phase_speedup(&self, phased: &Phased, bytes: u64) -> Option<f64> {
        let phases = self.base()?.entries.iter().filter_map(|entry| entry.phased);
        let least = phases.map(|base| base.time.seconds(bytes)).reduce(f64::min)?;
        over(least, phased.time.seconds(bytes))
    }

    /// The average speed-up of each planner over messages of these sizes, its fastest schedule for each.
    fn averages(&self, sizes: &[u64]) -> Vec<(&str, f64)> {
        let of = |planner: &str, bytes: u64| {
            self.of(planner).filter_map(|entry| self.speedup(entry, bytes)).reduce(f64::max)
        };
        self.averages_of(&self.planners(), sizes, of)
    }

    /// The same by the rule of their papers.
    fn phase_averages(&self, sizes: &[u64]) -> Vec<(&str, f64)> {
        let planners = self.planners().into_iter().chain(self.charged.iter().map(|charged| charged.planner));
        let of = |planner: &str, bytes: u64| {
            let charged = self.charged.iter().filter(|charged| charged.planner == planner);
            let phased = self.of(planner).filter_map(|entry| entry.phased).chain(charged.map(|charged| charged.phased));
            phased.filter_map(|phased| self.phase_speedup(&phased, bytes)).reduce(f64::max)
        };
        self.averages_of(&planners.collect::<Vec<_>>(), sizes, of)
    }

    fn averages_of<'a>(
        &self,
        planners: &[&'a str],
        sizes: &[u64],
        best: impl Fn(&str, u64) -> Option<f64>,
    ) -> Vec<(&'a str, f64)> {
        let average = |&planner: &&'a str| {
            let speedups = sizes.iter().map(|&bytes| best(planner, bytes)).collect::<Option<Vec<f64>>>()?;
            Some((planner, speedups.iter().sum::<f64>() / speedups.len() as f64))
        };
        planners.iter().filter_map(average).collect()
    }

    /// The planners with schedules, each once.
    fn planners(&self) -> Vec<&str> {
        let mut planners: Vec<&str> = Vec::new();
        for entry in &self.entries {
            if !planners.contains(&&*entry.planner) {
                planners.push(&entry.planner);
            }
        }
        planners
    }

    /// The schedules of a planner.
    fn of(&self, planner: &str) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.planner == planner)
    }

    /// Algorithm and bus bandwidth of an entry, where the collective has one.
    fn bandwidths(&self, entry: &Entry, message_bytes: u64) -> Option<(f64, f64)> {
        // For a demand, blocks are chunks.
        let blocks_a_message = self.problem.collective().kind.demand().map_or(1, |_| entry.parts);
        let per_block = message_bytes as f64 / f64::from(blocks_a_message);
        bandwidths(&self.problem, blocks(&self.problem) as f64 * per_block, entry.time.seconds(message_bytes))
    }
}

/// The time of the fastest of these, for messages of this many bytes.
fn least_seconds<'a>(entries: impl IntoIterator<Item = &'a Entry>, bytes: u64) -> f64 {
    entries.into_iter().map(|entry| entry.time.seconds(bytes)).fold(f64::INFINITY, f64::min)
}
