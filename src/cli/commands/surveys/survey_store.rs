//! The folder of a survey: what was found so far, what is found at the end.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use collsynth::collective::{Collective, Kind};
use collsynth::format::json;
use collsynth::problem::Problem;
use collsynth::report::survey::{Head, Record, Survey, page};
use collsynth::schedule::{Schedule, Solution};
use collsynth::symmetry;
use collsynth::topology::Topology;
use collsynth::view::picture::{self, Subject};

use super::sets::Family;
use crate::cli::ending::Failure;
use crate::cli::io::{clock, output};

/// What is known of a survey, on disk as soon as it is known.
pub struct Store {
    folder: PathBuf,
    progress: Mutex<File>,
}

impl Store {
    /// Opens a folder, and reads what an earlier run found. A line that was not finished is left out, and so is what is
    /// not of the survey.
    pub fn open(folder: &Path, head: &Head, is_of: impl Fn(&Record) -> bool) -> Result<(Self, Vec<Record>), Failure> {
        let failed = |error| Failure::usage(format!("cannot write in {}: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(failed)?;
        let mut records = Vec::new();
        if let Some(survey) = read(folder)? {
            same(folder, head, &survey.head)?;
            records = survey.records;
        }
        let path = folder.join("progress.jsonl");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut lines = text.lines();
        // A head that was not finished stands for nothing found.
        if let Some(Ok(known)) = lines.next().map(serde_json::from_str::<Head>) {
            same(folder, head, &known)?;
            records.extend(lines.filter_map(|line| serde_json::from_str(line).ok()));
        }
        records.retain(is_of);
        records.sort_by_key(|record| record.number);
        records.dedup_by_key(|record| record.number);
        let mut kept = line(head);
        records.iter().for_each(|record| kept += &line(record));
        output::write_file(&path, kept.as_bytes())?;
        let progress = File::options().append(true).open(&path).map_err(failed)?;
        Ok((Self { folder: folder.to_owned(), progress: Mutex::new(progress) }, records))
    }

    /// Keeps a record, whatever happens next.
    pub fn keep(&self, record: &Record) -> Result<(), Failure> {
        let mut progress = self.progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let written = progress.write_all(line(record).as_bytes()).and_then(|()| progress.flush());
        clock::answered();
        written.map_err(|error| Failure::usage(format!("cannot write in {}: {error}", self.folder.display())))
    }

    /// Writes the survey, which takes the place of what was kept.
    pub fn finish(self, survey: &Survey) -> Result<(), Failure> {
        write(&self.folder, survey)?;
        let _ = fs::remove_file(self.folder.join("progress.jsonl"));
        Ok(())
    }
}

/// Writes a survey; if it is complete, with its table and its page.
pub fn write(folder: &Path, survey: &Survey) -> Result<(), Failure> {
    let failed = |error| Failure::usage(format!("cannot write in {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    if survey.records.len() == survey.expected() {
        let draw = |unit: &str, set: &[String]| draw(survey, unit, set);
        output::write_file(&folder.join("table.csv"), survey.to_csv().as_bytes())?;
        output::write_file(&folder.join("index.html"), page(survey, draw).as_bytes())?;
    }
    let text = serde_json::to_string_pretty(survey).expect("a survey is plain data") + "\n";
    output::write_file(&folder.join("survey.json"), text.as_bytes())
}

/// Reads the survey of a folder, if it has one.
pub fn read(folder: &Path) -> Result<Option<Survey>, Failure> {
    let path = folder.join("survey.json");
    if !path.exists() {
        return Ok(None);
    }
    let text = crate::cli::io::input::read_text(&path)?;
    let survey = serde_json::from_str(&text);
    survey.map(Some).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// Refuses what belongs to another survey.
pub fn same(folder: &Path, head: &Head, other: &Head) -> Result<(), Failure> {
    match head == other {
        true => Ok(()),
        false => Err(Failure::usage(format!("{} holds another survey, of {}", folder.display(), other.command))
            .hint("choose another folder with -o")),
    }
}

/// The machine with a set of failures, if they are of a family.
fn draw(survey: &Survey, unit: &str, set: &[String]) -> Option<String> {
    let spec = json::parse_topology(&survey.head.topology.to_string()).ok()?;
    let topology = Topology::new(spec).ok()?;
    let family = Family::ALL.into_iter().find(|family| family.name() == unit)?;
    let units = family.units(&topology, survey.head.period.as_deref().unwrap_or_default()).ok()?;
    let failed = units.iter().filter(|(name, _)| set.contains(name)).map(|(_, unit)| unit);
    let broken = symmetry::fail(&topology, failed).ok()?;
    let problem = Problem::new(broken, Collective::new(Kind::Barrier)).ok()?;
    let solution = Solution { problem, schedule: Schedule::default(), bounds: Default::default(), origin: None };
    Some(picture::svg(&solution, &Subject::Machine))
}

fn line(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data") + "\n"
}
