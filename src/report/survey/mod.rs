//! What failures cost: the records of a survey, as JSON, as a table, in lines for people and as a page.

mod page;

use std::fmt::Write;

use collsynth_core::certificate::Rational;
use collsynth_verify::report::figures::{count, fine_percent};
use serde::{Deserialize, Serialize};

pub use page::page;

/// The columns of a table, and those that it has of a job too.
const COLUMNS: &str = "collective,unit,size,set,sets,outcome,steps,volume,bound,optimal,slower";
const JOB_COLUMNS: &str = ",parts,width,least_width";

/// A survey, whole or in part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survey {
    /// What is surveyed. Only parts of the same survey are put together.
    pub head: Head,
    /// The records, in the order of their numbers.
    pub records: Vec<Record>,
}

/// What is surveyed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// `failure-survey/1`
    pub format: String,
    /// The machine, in words.
    pub machine: String,
    /// The machine, as in topology files.
    pub topology: serde_json::Value,
    /// Of switches: the extents of the cells that they join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Vec<u32>>,
    /// The options that shape the survey.
    pub command: String,
    /// Of a job: its collectives, as the survey took them from its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<serde_json::Value>,
    /// The groups of records: the first of each collective has only the machine as it is.
    pub groups: Vec<Group>,
}

/// Sets of failures of one size, for one collective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The kind of collective; `job` for several at once.
    pub collective: String,
    /// What fails: `cable`, `link`, `rank`, `switch`, or `unit` of a file.
    pub unit: String,
    /// How many of them.
    pub size: usize,
    /// The number of sets.
    pub sets: u64,
    /// How many sets were drawn, if not all were looked at.
    pub drawn: Option<u64>,
    /// The number of classes: that of the group's records.
    pub classes: usize,
}

/// A class of sets of failures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its number among all records of the survey.
    pub number: usize,
    /// One set of the class.
    pub set: Vec<String>,
    /// How many sets are in the class (of those drawn, if sets were).
    pub sets: u64,
    /// What became of the collective.
    pub outcome: Outcome,
}

/// What became of a collective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// There is a schedule, verified.
    Planned {
        /// Its steps.
        steps: usize,
        /// Its volume, exactly: `34` or `1024/31`. Of a job, in bytes where it states them.
        volume: String,
        /// The bound on the volume; of a job, for its parts.
        bound: Option<String>,
        /// Is the volume proven to be the least for these parts, or for any?
        optimal: bool,
        /// Of a job: what its volume is made of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<JobFigures>,
    },
    /// A root of the collective is among the failures.
    RootFailed {
        /// The root.
        root: u32,
    },
    /// The live network is not connected.
    Disconnected {
        /// The parts it falls into.
        parts: usize,
    },
}

/// A job in its chunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFigures {
    /// Its total width.
    pub width: u64,
    /// The bound on the total width in these parts.
    pub least_width: u32,
    /// The parts of a message of each collective.
    pub parts: Vec<u32>,
}

/// The figures of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures<'a> {
    /// The group.
    pub group: &'a Group,
    /// How much slower each class is than the machine as it is, with its number of sets; ascending.
    pub slower: Vec<(f64, &'a Record)>,
    /// Sets that disconnect the machine.
    pub disconnected: u64,
    /// Sets with a root among them.
    pub rootless: u64,
    /// Sets whose schedules are proven optimal.
    pub optimal: u64,
    /// All sets looked at.
    pub sets: u64,
}

impl Survey {
    /// The groups with their figures, those of the whole machine left out.
    pub fn figures(&self) -> Vec<Figures<'_>> {
        let mut intact = None;
        let (mut first, mut all) = (0, Vec::new());
        for group in &self.head.groups {
            let numbers = first..first + group.classes;
            first = numbers.end;
            let records = self.records.iter().filter(move |record| numbers.contains(&record.number));
            if group.size == 0 {
                intact = records.filter_map(|record| record.outcome.volume()).next();
                continue;
            }
            let mut figures = Figures { group, slower: Vec::new(), disconnected: 0, rootless: 0, optimal: 0, sets: 0 };
            for record in records {
                figures.sets += record.sets;
                match (&record.outcome, record.outcome.volume(), intact) {
                    (Outcome::Disconnected { .. }, ..) => figures.disconnected += record.sets,
                    (Outcome::RootFailed { .. }, ..) => figures.rootless += record.sets,
                    (Outcome::Planned { optimal, .. }, Some(volume), Some(intact)) if intact > 0.0 => {
                        figures.optimal += if *optimal { record.sets } else { 0 };
                        figures.slower.push((volume / intact - 1.0, record));
                    }
                    _ => {}
                }
            }
            figures.slower.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.number.cmp(&other.1.number)));
            all.push(figures);
        }
        all
    }

    /// The number of records when the survey is complete.
    pub fn expected(&self) -> usize {
        self.head.groups.iter().map(|group| group.classes).sum()
    }

    /// What is wrong with records that are complete, but not those of its groups.
    pub fn flaw(&self) -> Option<String> {
        if let Some(Record { number, .. }) = self.records.iter().find(|record| record.number >= self.expected()) {
            return Some(format!("a class has the number {number}, and there are {}", self.expected()));
        }
        let mut first = 0;
        self.head.groups.iter().find_map(|group| {
            let numbers = first..first + group.classes;
            first = numbers.end;
            let records = || self.records.iter().filter(|record| numbers.contains(&record.number));
            if let Some(Record { number, set, .. }) = records().find(|record| record.set.len() != group.size) {
                return Some(format!("class {number} has {}, not {}", count(set.len(), "failure"), group.size));
            }
            let (sets, unit) = (records().map(|record| u128::from(record.sets)).sum::<u128>(), &group.unit);
            (sets != u128::from(group.sets)).then(|| {
                let size = count(group.size, unit);
                format!("the classes of {size} have {sets} sets, and there are {}", group.sets)
            })
        })
    }

    /// A line for each group.
    pub fn to_text(&self) -> String {
        self.figures().iter().map(|figures| format!("{}\n", figures.words())).collect()
    }

    /// A line for each record, with the names of columns first. Of a job, its parts and its total width follow.
    pub fn to_csv(&self) -> String {
        let of_job = if self.head.job.is_some() { JOB_COLUMNS } else { "" };
        let mut text = format!("{COLUMNS}{of_job}\n");
        for figures in self.figures() {
            let Group { collective, unit, size, .. } = figures.group;
            let mut rows: Vec<(&Record, String)> = figures
                .slower
                .iter()
                .filter_map(|(slower, record)| Some((*record, record.outcome.cells(*slower)?)))
                .collect();
            rows.extend(self.without_schedule(figures.group).map(|record| {
                let why =
                    if matches!(record.outcome, Outcome::Disconnected { .. }) { "disconnected" } else { "root_failed" };
                (record, format!("{why},,,,,{}", ",".repeat(of_job.matches(',').count())))
            }));
            rows.sort_by_key(|(record, _)| record.number);
            for (record, cells) in rows {
                let _ = writeln!(text, "{collective},{unit},{size},{},{},{cells}", quoted(&record.set), record.sets);
            }
        }
        text
    }

    /// The records of a group that disconnect the machine.
    fn disconnected(&self, wanted: &Group) -> impl Iterator<Item = &Record> {
        self.without_schedule(wanted).filter(|record| matches!(record.outcome, Outcome::Disconnected { .. }))
    }

    fn without_schedule(&self, wanted: &Group) -> impl Iterator<Item = &Record> {
        let before = self.head.groups.iter().take_while(|group| *group != wanted).map(|group| group.classes).sum();
        let numbers = before..before + wanted.classes;
        self.records.iter().filter(move |record| {
            numbers.contains(&record.number) && !matches!(record.outcome, Outcome::Planned { .. })
        })
    }
}

impl Outcome {
    /// The volume as a decimal number.
    fn volume(&self) -> Option<f64> {
        match self {
            Self::Planned { volume, .. } => {
                let exact: Rational = volume.parse().ok()?;
                Some(*exact.numer() as f64 / *exact.denom() as f64)
            }
            Self::Disconnected { .. } | Self::RootFailed { .. } => None,
        }
    }

    /// The cells of a schedule that takes more volume than the one without failures, by this share.
    fn cells(&self, slower: f64) -> Option<String> {
        let Self::Planned { steps, volume, bound, optimal, job } = self else { return None };
        let bound = bound.as_deref().unwrap_or_default();
        let of_job = |JobFigures { width, least_width, parts }: &JobFigures| {
            let parts: Vec<String> = parts.iter().map(u32::to_string).collect();
            format!(",{},{width},{least_width}", parts.join(" "))
        };
        let of_job = job.as_ref().map(of_job).unwrap_or_default();
        Some(format!("planned,{steps},{volume},{bound},{optimal},{slower:.6}{of_job}"))
    }
}

impl Figures<'_> {
    /// `all_to_all, any 2 cables: median 6.2 % slower, worst 19 %; 0 of 18336 sets disconnect`.
    pub fn words(&self) -> String {
        let Group { collective, unit, size, drawn, classes, .. } = self.group;
        let any = if *size == 1 { format!("any single {unit}") } else { format!("any {}", count(*size, unit)) };
        let mut text = format!("{collective}, {any}: ");
        match (self.slower.first(), self.slower.last()) {
            (Some((least, _)), Some((most, _))) if fine_percent(*least) == fine_percent(*most) => {
                let _ = write!(text, "{}", pace(*most));
            }
            (Some(_), Some((most, worst))) => {
                let named = worst.set.join(" ");
                let _ = write!(text, "median {}, worst {} ({named})", pace(self.median()), pace(*most));
            }
            _ => text.push_str("no schedule"),
        }
        let (of, gone) = (self.sets, self.disconnected);
        let _ = write!(text, "; {gone} of {} disconnect; ", count(of as usize, "set"));
        if self.rootless > 0 {
            let _ = write!(
                text,
                "{} a root; ",
                if self.rootless == 1 { "1 takes".to_owned() } else { format!("{} take", self.rootless) }
            );
        }
        text += &self.proven();
        let _ = write!(text, "; {}", if *classes == 1 { "1 class".to_owned() } else { format!("{classes} classes") });
        if let Some(drawn) = drawn {
            // The rule of three: of sets worse than the worst seen, more would have been drawn.
            let hundredths = 30_000_u64.div_ceil(*drawn).min(10_000);
            let (percent, rest) = (hundredths / 100, hundredths % 100);
            let share = format!("{percent}.{rest:02} %");
            let _ = write!(text, "; {drawn} drawn: with 95 % confidence, at most {share} of all sets are worse");
        }
        text
    }

    /// The slowdown that half of the planned sets do not exceed.
    pub fn median(&self) -> f64 {
        let total: u64 = self.slower.iter().map(|(_, record)| record.sets).sum();
        let mut seen = 0;
        let half = self.slower.iter().find(|(_, record)| {
            seen += record.sets;
            2 * seen >= total
        });
        half.map_or(0.0, |(slower, _)| *slower)
    }

    fn proven(&self) -> String {
        let planned = self.sets - self.disconnected - self.rootless;
        match self.optimal {
            _ if planned == 0 => "none planned".to_owned(),
            all if all == planned => "all volumes certified".to_owned(),
            some => format!("{some} volumes certified"),
        }
    }
}

/// `6.2 % slower`
fn pace(slower: f64) -> String {
    match slower {
        same if same.abs() < 5e-5 => "no slower".to_owned(),
        less if less < 0.0 => format!("{} less volume", fine_percent(-less)),
        more => format!("{} slower", fine_percent(more)),
    }
}

/// The names of a set in one cell.
fn quoted(set: &[String]) -> String {
    format!("\"{}\"", set.join(" ").replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(number: usize, sets: u64, volume: &str, optimal: bool) -> Record {
        let outcome = Outcome::Planned { steps: 4, volume: volume.to_owned(), bound: None, optimal, job: None };
        Record { number, set: vec![format!("0-{number}")], sets, outcome }
    }

    fn group(size: usize, sets: u64, classes: usize, drawn: Option<u64>) -> Group {
        Group { collective: "all_to_all".to_owned(), unit: "cable".to_owned(), size, sets, drawn, classes }
    }

    fn survey() -> Survey {
        let groups = vec![group(0, 1, 1, None), group(1, 32, 1, None), group(2, 496, 3, None)];
        let gone = Record { number: 4, set: vec!["a".into()], sets: 6, outcome: Outcome::Disconnected { parts: 2 } };
        let records = vec![
            planned(0, 1, "8", true),
            planned(1, 32, "10", true),
            planned(2, 400, "28/3", false),
            planned(3, 90, "16", true),
            gone,
        ];
        let head = Head {
            format: "failure-survey/1".into(),
            machine: "a 4x4 torus".into(),
            topology: serde_json::Value::Null,
            period: None,
            command: String::new(),
            job: None,
            groups,
        };
        Survey { head, records }
    }

    #[test]
    fn a_line_says_what_failures_cost() {
        let text = survey().to_text();
        let lines: Vec<&str> = text.lines().collect();
        let first =
            "all_to_all, any single cable: 25 % slower; 0 of 32 sets disconnect; all volumes certified; 1 class";
        assert_eq!(lines[0], first);
        assert_eq!(
            lines[1],
            "all_to_all, any 2 cables: median 17 % slower, worst 100 % slower (0-3); 6 of 496 sets disconnect; 90 \
             volumes certified; 3 classes"
        );
    }

    #[test]
    fn draws_say_how_sure_they_are() {
        let mut survey = survey();
        survey.head.groups[1].drawn = Some(1000);
        assert!(survey.to_text().contains("with 95 % confidence, at most 0.30 % of all sets are worse"));
    }

    #[test]
    fn the_table_has_a_row_for_each_class() {
        let table = survey().to_csv();
        let rows: Vec<&str> = table.lines().collect();
        assert_eq!(rows.len(), 5);
        assert_eq!(rows[2], "all_to_all,cable,2,\"0-2\",400,planned,4,28/3,,false,0.166667");
        assert_eq!(rows[4], "all_to_all,cable,2,\"a\",6,disconnected,,,,,");
    }

    #[test]
    fn jobs_say_what_their_volume_is_made_of_and_which_sets_take_a_root() {
        let mut survey = survey();
        survey.head.job = Some(serde_json::json!([{"collective": "broadcast", "root": 3}]));
        for record in &mut survey.records {
            if let Outcome::Planned { job, .. } = &mut record.outcome {
                *job = Some(JobFigures { width: 40, least_width: 39, parts: vec![5, 2] });
            }
        }
        survey.records[3].outcome = Outcome::RootFailed { root: 3 };
        let said = "any 2 cables: 17 % slower; 6 of 496 sets disconnect; 90 take a root; 0 volumes certified";
        assert!(survey.to_text().contains(said), "{}", survey.to_text());
        let table = survey.to_csv();
        let rows: Vec<&str> = table.lines().collect();
        assert_eq!(
            rows[0],
            "collective,unit,size,set,sets,outcome,steps,volume,bound,optimal,slower,parts,width,least_width"
        );
        assert_eq!(rows[2], "all_to_all,cable,2,\"0-2\",400,planned,4,28/3,,false,0.166667,5 2,40,39");
        assert_eq!(rows[3], "all_to_all,cable,2,\"0-3\",90,root_failed,,,,,,,,");
        assert!(rows.iter().all(|row| row.matches(',').count() == rows[0].matches(',').count()));
        let text = serde_json::to_string(&survey).unwrap();
        assert_eq!(serde_json::from_str::<Survey>(&text).unwrap(), survey);
    }

    #[test]
    fn json_is_read_back() {
        let survey = survey();
        let text = serde_json::to_string(&survey).unwrap();
        assert_eq!(serde_json::from_str::<Survey>(&text).unwrap(), survey);
    }
}
