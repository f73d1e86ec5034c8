//! `synth fallbacks get`: the schedule around a failure, from that of its class.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use collsynth::collective::{Demand, Kind};
use collsynth::format::json;
use collsynth::relabel::{RelabelError, relabel, relabel_compact};
use collsynth::report::figures::count;
use collsynth::schedule::{AnySchedule, AnySolution, Origin, Solution};
use collsynth::symmetry::{Automorphism, Unit};
use collsynth::topology::{LinkId, RankId, Topology, TopologySpec};
use collsynth::verify::Verified;

use super::{Entry, FORMAT, INDEX, Index};
use crate::cli::arguments::failures::FailureOptions;
use crate::cli::arguments::topology::read_spec;
use crate::cli::commands::files::lower::{LowerOptions, Lowered, SlotOptions};
use crate::cli::commands::surveys::sets::Family;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::reading::Reading;
use crate::cli::io::{input, output, reading};
use crate::cli::options::words::{quoted, typed_again};

/// What relabelling takes for each move, roughly.
const MOVE_BYTES: u64 = 60;

/// The schedule around a failure: that of its class, relabelled by a symmetry and verified again
#[derive(Args)]
pub struct GetCommand {
    /// The folder that `synth fallbacks build` wrote
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// The machine as it is now (a topology file, or a file that states one), with what failed in it
    #[arg(long, value_name = "FILE", help_heading = "Machine")]
    topology: Option<PathBuf>,
    #[command(flatten)]
    failures: FailureOptions,
    /// Lower the schedule to a rank program
    #[arg(long)]
    lower: bool,
    #[command(flatten)]
    lowering: LowerOptions,
    #[command(flatten)]
    slots: SlotOptions,
    /// Write to this file (.gz: compressed) instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl GetCommand {
    pub fn run(&self) -> Result<Ending, Failure> {
        let index = self.index()?;
        let wrong =
            |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", self.set.join(INDEX).display()));
        let spec = json::parse_topology(&index.topology.to_string()).map_err(|error| wrong(&error.message))?;
        let machine = Topology::new(spec.clone()).map_err(|error| wrong(&error))?;
        let failures = self.failures.clone().in_cells(index.period.as_deref());
        let now = match &self.topology {
            Some(path) => self.now(path, &machine)?,
            None => spec,
        };
        let (broken, notes) = failures.apply(now, |error| Failure::usage(error))?;
        notes.iter().for_each(|line| note(&format!("note: {line}")));
        self.check_repaired(&index, &machine, &broken)?;
        let period = failures.states_switch().then(|| failures.period(&machine));
        let Found { entry, symmetry } = self.found(&index, &machine, &broken, index.period.clone().or(period))?;
        let Some(file) = &entry.file else {
            return Err(Failure::new(Ending::Impossible, "this failure disconnects the machine: there is no schedule"));
        };
        let path = self.set.join(file);
        let reading = Reading::of(&path)?;
        let stated = reading.stated()?;
        let kind = &stated.problem.collective().kind;
        if Kind::named(&index.collective, RankId(0), Demand::default()).as_ref() != Some(kind) {
            return Err(Failure::usage(format!("{} is of another collective than this set", path.display())).hint(
                format!(
                    "the set is of {}; `{} -o {}` builds it anew",
                    index.collective,
                    index.command,
                    self.beside("anew")
                ),
            ));
        }
        let held = reading.hold(stated, "relabelled")?;
        let mut solution = relabelled(&reading, held, &symmetry, broken)?.map_err(|error| wrong(&error))?;
        solution.origin = Some(Origin { command: Some(self.line()), ..solution.origin.unwrap_or_default() });
        let verified = reading::verified(solution, "relabelled", reading.made())?;
        if self.lower {
            let Lowered { program, map } = self.lowering.lower(verified, &reading, self.slots)?;
            let text = json::program_to_string(&program);
            output::deliver_file_with(self.output.as_deref(), &text, "rank program", map)?;
            return Ok(Ending::Success);
        }
        output::deliver_file(self.output.as_deref(), &json::solution_to_string(&verified), "schedule")?;
        Ok(Ending::Success)
    }

    /// The command line that gives the same schedule.
    fn line(&self) -> String {
        let mut words = ["synth", "fallbacks", "get", &self.set.display().to_string()].map(str::to_owned).to_vec();
        words.extend(self.topology.iter().flat_map(|path| ["--topology".to_owned(), path.display().to_string()]));
        words.extend(self.failures.words());
        typed_again(words)
    }

    /// A folder beside that of the set, as a shell reads it.
    fn beside(&self, ending: &str) -> String {
        quoted(&format!("{}-{ending}", self.set.display()))
    }

    /// The machine as a file states it now: that of the set, but for what failed since.
    fn now(&self, path: &Path, machine: &Topology) -> Result<TopologySpec, Failure> {
        let spec = read_spec(path)?;
        if spec.shape != machine.spec().shape {
            let now = Topology::new(spec).map_err(Failure::usage)?;
            let (file, set) = (path.display(), self.set.display());
            let whole = |machine: &Topology| Topology::new(TopologySpec::new(machine.spec().shape.clone())).ok();
            let are_named_alike = whole(&now).map(|one| one.to_string()) == Some(machine.to_string());
            return Err(Failure::usage(match are_named_alike {
                true => format!("{file} and {set} are for a {machine}, but with other capacities"),
                false => format!("{file} is a {now}, and {set} is for a {machine}"),
            }));
        }
        Ok(spec)
    }

    /// Refuses a machine on which something lives that failed in the machine of the set: schedules around it hold, but
    /// their bounds need not.
    fn check_repaired(&self, index: &Index, machine: &Topology, broken: &Topology) -> Result<(), Failure> {
        let live = broken.live_links().find(|&link| !machine.link(link).alive);
        let Some((file, link)) = self.topology.as_ref().zip(live) else { return Ok(()) };
        let (file, set, link) = (file.display(), self.set.display(), machine.link(link));
        let ends = [link.from, link.to].map(|rank| machine.rank_label(rank));
        let message =
            format!("{file} is not the machine of {set}, where the link from {} to {} has failed", ends[0], ends[1]);
        let (command, anew) = (&index.command, self.beside("anew"));
        Err(Failure::usage(message).hint(format!(
            "`{command} -o {anew}` builds a set for it, once the failures that are left take the place of those stated"
        )))
    }

    /// The class of what failed on the machine since, and the symmetry that carries its canonical set there.
    fn found<'a>(
        &self,
        index: &'a Index,
        machine: &Topology,
        broken: &Topology,
        period: Option<Vec<u32>>,
    ) -> Result<Found<'a>, Failure> {
        let dead = Dead::of(machine, broken)?;
        let mut missing = None;
        for family in [Family::Switch, Family::Cable, Family::Link, Family::Rank] {
            let period = match (family, &period) {
                (Family::Switch, None) => continue,
                (_, period) => period.as_deref().unwrap_or_default(),
            };
            let (names, units): (Vec<String>, Vec<Unit>) = family.units(machine, period)?.into_iter().unzip();
            let Some(set) = dead.as_set(&units) else { continue };
            let sorted = family.sorted(machine, period, units, None);
            let canonical = sorted.canonical(&set);
            let names = || canonical.class.set.iter().map(|&unit| &names[unit as usize]);
            let is_it = |entry: &&Entry| entry.unit == family.name() && entry.set.iter().eq(names());
            if let Some(entry) = index.classes.iter().find(is_it) {
                return Ok(Found { entry, symmetry: sorted.group().inverse(canonical.symmetry) });
            }
            missing.get_or_insert((family, set.len()));
        }
        let (family, size) = missing.ok_or_else(together)?;
        Err(self.not_covered(index, family, size))
    }

    fn index(&self) -> Result<Index, Failure> {
        let path = self.set.join(INDEX);
        if !path.exists() {
            let set = self.set.display();
            return Err(Failure::usage(format!("{set} is no set of fallbacks"))
                .hint(format!("`synth fallbacks build --torus 4x4 --cables 1 -o {set}` writes one")));
        }
        let index: Result<Index, _> = serde_json::from_str(&input::read_text(&path)?);
        let index = index.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        match index.format == FORMAT {
            true => Ok(index),
            false => Err(Failure::usage(format!("{}: `{}` is not {FORMAT}", path.display(), index.format))),
        }
    }
    /// What the set has, and which would cover the failure.
    fn not_covered(&self, index: &Index, family: Family, size: usize) -> Failure {
        let mut covered: Vec<String> = Vec::new();
        for entry in &index.classes {
            let words = match entry.set.len() {
                1 => format!("any single {}", entry.unit),
                several => format!("any {}", count(several, &entry.unit)),
            };
            if !covered.contains(&words) {
                covered.push(words);
            }
        }
        if covered.is_empty() {
            covered.push("nothing".to_owned());
        }
        let stated = count(size, family.name());
        let command = covering(&index.command, family, size);
        let family = family.option().trim_start_matches('-');
        let folder = self.beside(&format!("{size}-{family}"));
        Failure::usage(format!("the set covers {}, not {stated}", covered.join(", ")))
            .hint(format!("`{command} -o {folder}` builds one that does"))
    }
}

/// A class of a set, and the symmetry from its canonical set to what failed.
struct Found<'a> {
    entry: &'a Entry,
    symmetry: Automorphism,
}

/// What failed on a machine since it was described: links whose ends live, and ranks.
struct Dead {
    links: BTreeSet<LinkId>,
    ranks: BTreeSet<RankId>,
}

impl Dead {
    fn of(machine: &Topology, broken: &Topology) -> Result<Self, Failure> {
        let ranks: BTreeSet<RankId> = machine.live_ranks().filter(|&rank| !broken.is_alive(rank)).collect();
        let is_own = |&link: &LinkId| {
            let ends = machine.link(link);
            !broken.link(link).alive && broken.is_alive(ends.from) && broken.is_alive(ends.to)
        };
        let links: BTreeSet<LinkId> = machine.live_links().filter(is_own).collect();
        match (links.is_empty(), ranks.is_empty()) {
            (true, true) => Err(Failure::usage(
                "nothing failed: use --fail, --fail-link, --fail-rank or --fail-switch, or --topology",
            )),
            (false, false) => Err(together()),
            _ => Ok(Self { links, ranks }),
        }
    }

    /// The units that it is made of, which share nothing; `None` if it is not.
    fn as_set(&self, units: &[Unit]) -> Option<Vec<u32>> {
        let is_dead = |unit: &Unit| {
            unit.links.iter().all(|link| self.links.contains(link))
                && unit.ranks.iter().all(|rank| self.ranks.contains(rank))
        };
        let dead: Vec<(u32, &Unit)> = (0..).zip(units).filter(|(_, unit)| is_dead(unit)).collect();
        let members: usize = dead.iter().map(|(_, unit)| unit.links.len() + unit.ranks.len()).sum();
        (members == self.links.len() + self.ranks.len()).then(|| dead.into_iter().map(|(number, _)| number).collect())
    }
}

fn together() -> Failure {
    Failure::usage("cables, single directions and ranks that fail together are in no set")
        .hint("`synth --topology FILE ...` plans for them; ranks at the ends of a cable take it along")
}

/// The schedule under a symmetry: in the compact form as it is, where the symmetry keeps patterns.
fn relabelled(
    reading: &Reading<'_>,
    held: Verified<AnySolution>,
    symmetry: &Automorphism,
    broken: Topology,
) -> Result<Result<AnySolution, RelabelError>, Failure> {
    if let AnySchedule::Compact(compact) = &held.schedule {
        let Solution { problem, bounds, origin, .. } = &*held;
        let compact = Solution {
            problem: problem.clone(),
            schedule: (**compact).clone(),
            bounds: bounds.clone(),
            origin: origin.clone(),
        };
        match relabel_compact(&compact, symmetry, broken.clone()) {
            Err(RelabelError::NotAffine) => {}
            moved => return Ok(moved.map(|moved| moved.map(Into::into))),
        }
    }
    let expanded = reading.expand(held, MOVE_BYTES)?;
    Ok(relabel(&expanded, symmetry, broken).map(|moved| moved.map(Into::into)))
}

/// The command that built a set, for sets of this size of a family too.
fn covering(command: &str, family: Family, size: usize) -> String {
    let option = family.option();
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    match words.iter().position(|word| word == option) {
        Some(at) => words[at + 1] += &format!(",{size}"),
        None => words.extend([option.to_owned(), size.to_string()]),
    }
    words.join(" ")
}
