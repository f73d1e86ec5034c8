//! The comparison as JSON, and the schema of it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use super::{Comparison, Machine, Phased, Refusal, text};
use collsynth_plan::cost::{Bandwidth, Stretch};
use collsynth_verify::report::figures::{decimal, exact};

/// Planners side by side, by machine.
#[derive(Serialize, JsonSchema)]
struct ComparisonJson {
    /// Seconds a step takes to start.
    alpha: f64,
    /// Seconds a rank takes to set up each transfer that it sends in a step.
    transfer_setup: f64,
    /// Bytes per second over a link of capacity 1: one for all, or one for each dimension.
    bandwidth: Vec<f64>,
    /// Bytes of a message, ascending: lists named `times` have an element for each.
    message_bytes: Vec<u64>,
    /// "finished", "time limit" or "interrupted".
    stopped: &'static str,
    /// The machines compared.
    machines: Vec<MachineJson>,
}

/// One machine.
#[derive(Serialize, JsonSchema)]
struct MachineJson {
    /// The collective.
    collective: &'static str,
    /// Its root.
    root: Option<u32>,
    /// What a volume of 1 is: "message", "shard" or "vector".
    unit: &'static str,
    /// The machine, for people.
    machine: String,
    /// What failed, as it would be typed.
    failures: String,
    /// Ranks, failed ones too.
    ranks: usize,
    /// What no schedule can beat.
    bound: BoundJson,
    /// What speed-ups are over.
    baseline: Option<String>,
    /// Why there are no speed-ups.
    no_baseline: Option<String>,
    /// Planners that the time limit, or Ctrl-C, stopped before they were done.
    cut: Vec<String>,
    /// Verified schedules, by planner, then steps.
    schedules: Vec<EntryJson>,
    /// Who is fastest from which message size on, up to the next.
    fastest: Vec<StretchJson>,
    /// Planners without a schedule.
    refusals: Vec<RefusalJson>,
    /// Those of them that have a price by the rule of their papers.
    charged: Vec<ChargedJson>,
    /// The average speed-up of each planner over the sizes, its fastest schedule for each of them.
    averages: Vec<AverageJson>,
    /// The same by the rule of their papers.
    phase_averages: Vec<AverageJson>,
}

/// An average over the sizes.
#[derive(Serialize, JsonSchema)]
struct AverageJson {
    planner: String,
    speedup: f64,
}

/// The best bounds known.
#[derive(Serialize, JsonSchema)]
struct BoundJson {
    /// Steps.
    steps: Option<u32>,
    /// Volume, a fraction: "1024/31".
    volume: Option<String>,
    /// The same as a decimal.
    volume_decimal: Option<f64>,
}

/// A verified schedule.
#[derive(Serialize, JsonSchema)]
struct EntryJson {
    planner: String,
    /// Parts per message.
    parts: u32,
    steps: usize,
    /// A fraction: "1024/31".
    volume: String,
    volume_decimal: f64,
    /// The volume over the best bound for as many parts.
    ratio: Option<f64>,
    /// The most chunks a rank holds at a time.
    held: Option<u64>,
    /// Seconds for messages of no size; each byte of a message adds `seconds_per_byte`.
    seconds_fixed: f64,
    seconds_per_byte: f64,
    /// Of algorithms of phases, what their papers say.
    phases: Option<PhasesJson>,
    /// For each of the sizes.
    times: Vec<TimeJson>,
    /// The command that plans it again.
    command: String,
}

/// An algorithm of phases: its paper charges a start-up for each link of the longest logical edge of a phase.
#[derive(Serialize, JsonSchema)]
struct PhasesJson {
    number: usize,
    startups: u32,
    /// What the fullest link of each phase carries, added up, in messages; a fraction.
    load: String,
    load_decimal: f64,
}

/// What messages of one size take.
#[derive(Serialize, JsonSchema)]
struct TimeJson {
    seconds: f64,
    /// Bytes per second: the larger of a rank's two buffers over the time.
    algbw: Option<f64>,
    /// The same, times the collective's factor.
    busbw: Option<f64>,
    /// The time of the baseline over this time.
    speedup: Option<f64>,
    /// Of algorithms of phases, seconds by the rule of their papers.
    phase_seconds: Option<f64>,
    /// The same of the baseline over these.
    phase_speedup: Option<f64>,
}

/// A range of message sizes.
#[derive(Serialize, JsonSchema)]
struct StretchJson {
    /// From this size on.
    from_bytes: u64,
    /// The fastest schedule, an index into `schedules`.
    schedule: usize,
}

/// No schedule, but a price.
#[derive(Serialize, JsonSchema)]
struct ChargedJson {
    planner: String,
    phases: PhasesJson,
    /// Seconds for each of the sizes.
    phase_seconds: Vec<f64>,
    /// Those of the baseline over these, if it has a price by the same rule.
    phase_speedups: Vec<Option<f64>>,
}

/// No schedule.
#[derive(Serialize, JsonSchema)]
struct RefusalJson {
    planner: String,
    reason: String,
}

/// The schema of [`Comparison::to_json`], draft 2020-12.
pub fn schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<ComparisonJson>();
    schema.insert("title".to_owned(), "What `synth compare --format json` prints".into());
    schema.to_value()
}

impl Comparison {
    /// The same as a JSON object.
    pub fn to_json(&self) -> Value {
        let json = ComparisonJson {
            alpha: self.rates.alpha,
            transfer_setup: self.rates.transfer_setup,
            bandwidth: match &self.rates.bandwidth {
                Bandwidth::Uniform(bandwidth) => vec![*bandwidth],
                Bandwidth::PerDimension(bandwidths) => bandwidths.clone(),
            },
            message_bytes: self.sizes.clone(),
            stopped: self.stopped.name(),
            machines: self.machines.iter().map(|machine| self.machine_to_json(machine)).collect(),
        };
        serde_json::to_value(json).unwrap_or(Value::Null)
    }

    fn machine_to_json(&self, machine: &Machine) -> MachineJson {
        let kind = &machine.problem.collective().kind;
        let volume = machine.bounds.volume.as_ref().map(|bound| bound.at_least);
        let schedules = machine.entries.iter().map(|entry| EntryJson {
            planner: entry.planner.clone(),
            parts: entry.parts,
            steps: entry.steps,
            volume: exact(entry.volume),
            volume_decimal: decimal(entry.volume),
            ratio: machine.ratio(entry),
            held: entry.held.map(|held| held.chunks),
            seconds_fixed: entry.time.fixed,
            seconds_per_byte: entry.time.per_byte,
            phases: entry.phased.map(phases),
            times: self
                .sizes
                .iter()
                .map(|&size| {
                    let (seconds, both) = (entry.time.seconds(size), machine.bandwidths(entry, size));
                    TimeJson {
                        seconds,
                        algbw: both.map(|both| both.0),
                        busbw: both.map(|both| both.1),
                        speedup: machine.speedup(entry, size),
                        phase_seconds: entry.phased.map(|phased| phased.time.seconds(size)),
                        phase_speedup: entry.phased.and_then(|phased| machine.phase_speedup(&phased, size)),
                    }
                })
                .collect(),
            command: entry.command.clone(),
        });
        let charged = machine.charged.iter().map(|charged| ChargedJson {
            planner: charged.planner.to_owned(),
            phases: phases(charged.phased),
            phase_seconds: self.sizes.iter().map(|&size| charged.phased.time.seconds(size)).collect(),
            phase_speedups: self.sizes.iter().map(|&size| machine.phase_speedup(&charged.phased, size)).collect(),
        });
        let average = |(planner, speedup): (&str, f64)| AverageJson { planner: planner.to_owned(), speedup };
        let refusal =
            |refusal: &Refusal| RefusalJson { planner: refusal.planner.clone(), reason: refusal.reason.clone() };
        let stretch = |stretch: &Stretch| StretchJson { from_bytes: stretch.from_bytes, schedule: stretch.line };
        MachineJson {
            collective: kind.name(),
            root: kind.root().map(|root| root.0),
            unit: kind.unit().name(),
            machine: text::name(machine),
            failures: machine.failures.clone(),
            ranks: machine.problem.topology().rank_count(),
            bound: BoundJson {
                steps: machine.bounds.steps.as_ref().map(|bound| bound.at_least),
                volume: volume.map(exact),
                volume_decimal: volume.map(decimal),
            },
            baseline: machine.base().map(|base| base.name.clone()),
            no_baseline: machine.baseline.as_ref().err().cloned(),
            cut: machine.cut.clone(),
            schedules: schedules.collect(),
            fastest: machine.fastest().iter().map(stretch).collect(),
            refusals: machine.refusals.iter().map(refusal).collect(),
            charged: charged.collect(),
            averages: machine.averages(&self.sizes).into_iter().map(average).collect(),
            phase_averages: machine.phase_averages(&self.sizes).into_iter().map(average).collect(),
        }
    }
}

fn phases(phased: Phased) -> PhasesJson {
    PhasesJson {
        number: phased.phases,
        startups: phased.startups,
        load: exact(phased.load),
        load_decimal: decimal(phased.load),
    }
}
