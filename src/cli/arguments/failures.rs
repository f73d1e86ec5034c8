//! The options that state what failed on a machine.

use std::collections::BTreeSet;
use std::str::FromStr;

use clap::Args;
use collsynth::report::figures::{count, shortened};
use collsynth::topology::{
    DimRef, Direction, FailedLink, RankId, Switch, SwitchError, Topology, TopologyError, TopologySpec, Torus, dim_name,
};

use super::extents::{Extents, join};
use super::meant::cables_meant;
use crate::cli::ending::Failure;

/// The most ranks listed in a note.
const LISTED: usize = 8;
/// How a failed cable is written.
const HOW: &str = "write two ranks and the dimension of the cable between them, as in 2,3,x, or a rank and a direction, \
                   2,x+; coordinates are written with dots, as in 2.0.0,3.0.0,x";

/// What failed. Stated twice, a failure counts once: a cable raises an alarm at both ends.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Machine")]
pub struct FailureOptions {
    /// A failed cable, both directions: two neighbors and their dimension, 2,3,x or 2.0.0,3.0.0,x or by their names;
    /// the dimension can be left out where one cable joins them. Or a rank and a direction: 2,x+. Repeatable
    #[arg(long, allow_negative_numbers = true, value_name = "U,V[,DIM]")]
    fail: Vec<Ends>,
    /// Like --fail, but only the link from U to V failed, or the one that leaves U in this direction. Repeatable
    #[arg(long, allow_negative_numbers = true, value_name = "U,V[,DIM]")]
    fail_link: Vec<Ends>,
    /// Failed ranks: numbers and ranges (4-7,12), coordinates (2.2.0,3.2.0) or names. They leave the collective, the
    /// others keep their numbers. Repeatable
    #[arg(long, allow_negative_numbers = true, value_name = "RANK[-RANK],..")]
    fail_rank: Vec<String>,
    /// Failed ranks: a box of coordinates, from one corner to the opposite one (2.2.0..3.3.0). Where the second lies
    /// before the first, the box goes around the ring. Repeatable
    #[arg(long, allow_negative_numbers = true, value_name = "RANK..RANK")]
    fail_box: Vec<Corners>,
    /// A dead switch between the cells of a torus (the 4x4x4 cubes of a pod): the dimension of its cables, and their
    /// position in the others within a cell. x:1,2 is, in every cell, the cable that leads up x at y=1, z=2 to the next
    /// cell. Repeatable
    #[arg(long, allow_negative_numbers = true, value_name = "DIM:AT,..", value_parser = switch)]
    fail_switch: Vec<Switch>,
    /// The extents of the cells that switches join; they divide those of the torus [default: 4 along every dimension]
    #[arg(long, allow_negative_numbers = true, value_name = "EXTENTS")]
    period: Option<Extents>,
}

/// `U,V`, `U,V,DIM`, `U,DIRECTION` or `U-V`; read when the machine is known, for names may have a `-` and look like a
/// direction.
#[derive(Clone)]
struct Ends(String);

/// `U..V`
#[derive(Clone)]
struct Corners {
    from: String,
    to: String,
}

impl FailureOptions {
    /// The machine with these failures as well, and a line about each that was stated before; `explain` puts what is
    /// wrong with a machine into words.
    pub fn apply(
        &self,
        mut spec: TopologySpec,
        explain: impl Fn(&TopologyError) -> Failure,
    ) -> Result<(Topology, Vec<String>), Failure> {
        let built = Topology::new(spec.clone()).map_err(|error| explain(&error))?;
        let mut notes = Vec::new();
        let mut failed: BTreeSet<RankId> = spec.failed_ranks.iter().copied().collect();
        let lists = self.fail_rank.iter().map(|text| ("--fail-rank", text.clone(), listed(text, &built)));
        let boxes = self.fail_box.iter().map(|corners| ("--fail-box", corners.to_string(), corners.ranks(&built)));
        for (option, text, ranks) in lists.chain(boxes) {
            let ranks = ranks.map_err(|wrong| wrong.explained(&explain))?;
            notes.extend(coordinates_meant(&text, &built).map(|meant| {
                format!("{option} {text}: {} ranks; the rank at these coordinates is {meant}", ranks.len())
            }));
            let again: Vec<RankId> = ranks.into_iter().filter(|&rank| !failed.insert(rank)).collect();
            if !again.is_empty() {
                let ranks = shortened(again.iter().map(|&rank| built.rank_label(rank)), LISTED, ", ");
                notes.push(format!("{option} {text}: stated before, and counted once: {ranks}"));
            }
        }
        spec.failed_ranks = failed.into_iter().collect();

        let mut links = Vec::new();
        for switch in &self.fail_switch {
            let cables = self.through(switch, &built).map_err(|error| explain(&error.into()))?;
            notes.push(format!("switch {switch}: {}", count(cables.len(), "cable")));
            links.extend(cables.into_iter().map(|cable| (format!("--fail-switch {switch}"), cable)));
        }
        let cables = self.fail.iter().map(|ends| (ends, true));
        for (ends, both) in cables.chain(self.fail_link.iter().map(|ends| (ends, false))) {
            let failed = ends.on(&built, both).map_err(|wrong| wrong.explained(&explain))?;
            let option = if both { "--fail" } else { "--fail-link" };
            links.push((format!("{option} {ends}"), failed));
        }
        let mut all = spec.clone();
        all.failed_links.extend(links.iter().map(|(_, failed)| *failed));
        match Topology::new(all) {
            Err(TopologyError::LinkFailedTwice { .. }) => {
                let topology = one_by_one(spec, &links, &mut notes).map_err(|error| explain(&error))?;
                Ok((topology, notes))
            }
            other => Ok((other.map_err(|error| explain(&error))?, notes)),
        }
    }

    /// True if nothing is stated as failed.
    pub fn is_empty(&self) -> bool {
        let Self { fail, fail_link, fail_rank, fail_box, fail_switch, period: _ } = self;
        let links = fail.is_empty() && fail_link.is_empty() && fail_switch.is_empty();
        links && fail_rank.is_empty() && fail_box.is_empty()
    }

    /// The same, with switches of cells of this period, unless one is stated.
    pub fn in_cells(mut self, period: Option<&[u32]>) -> Self {
        self.period = self.period.or_else(|| period.map(|period| Extents(period.to_vec())));
        self
    }

    /// Is a switch stated?
    pub fn states_switch(&self) -> bool {
        !self.fail_switch.is_empty()
    }

    /// The extents of the cells that switches join.
    pub fn period(&self, built: &Topology) -> Vec<u32> {
        let period = self.period.as_ref().map(|Extents(period)| period.clone());
        period.unwrap_or_else(|| built.as_torus().map(Torus::default_period).unwrap_or_default())
    }

    /// The cables through a switch.
    fn through(&self, switch: &Switch, built: &Topology) -> Result<Vec<FailedLink>, SwitchError> {
        switch.cables(built, &self.period(built))
    }

    /// The options, as typed.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, values: Vec<String>| {
            words.extend(values.into_iter().flat_map(|value| [option.to_owned(), value]));
        };
        add("--fail", self.fail.iter().map(Ends::to_string).collect());
        add("--fail-link", self.fail_link.iter().map(Ends::to_string).collect());
        add("--fail-rank", self.fail_rank.clone());
        add("--fail-box", self.fail_box.iter().map(Corners::to_string).collect());
        add("--fail-switch", self.fail_switch.iter().map(Switch::to_string).collect());
        add("--period", self.period.iter().map(|Extents(period)| join(period, "x")).collect());
        words
    }
}

/// The failed link, or with `both` the cable, of `U,V`, `U,V,DIM`, `U,DIRECTION` or `U-V` on a machine.
///
/// # Errors
///
/// What is wrong with the words, or with a machine on which this fails.
pub fn failed_link(built: &Topology, text: &str, both: bool) -> Result<FailedLink, Failure> {
    let ends: Ends = text.parse().map_err(|message| Failure::usage(format!("`{text}`: {message}")))?;
    ends.on(built, both).map_err(|wrong| wrong.explained(|error| Failure::usage(error)))
}

/// A machine with a dead switch as well: of cells of a period, `4x4x4`, or of 4 ranks along every dimension.
///
/// # Errors
///
/// What is wrong with the words, or why there is no such switch.
pub fn failed_switch(built: &Topology, text: &str, period: Option<&str>) -> Result<Topology, Failure> {
    let period =
        period.map(|text| text.parse().map_err(|message| Failure::usage(format!("period `{text}`: {message}"))));
    let dead = FailureOptions {
        fail_switch: vec![switch(text).map_err(Failure::usage)?],
        period: period.transpose()?,
        ..FailureOptions::default()
    };
    Ok(dead.apply(built.spec().clone(), |error| Failure::usage(error))?.0)
}

/// What is wrong with ranks that were stated.
pub(crate) enum WrongRanks {
    /// They do not fit the machine.
    Misfit(TopologyError),
    /// The words mean nothing.
    Words(String),
}

impl WrongRanks {
    pub(crate) fn explained(self, explain: impl Fn(&TopologyError) -> Failure) -> Failure {
        match self {
            Self::Misfit(error) => explain(&error),
            Self::Words(message) => Failure::usage(message),
        }
    }
}

impl From<TopologyError> for WrongRanks {
    fn from(error: TopologyError) -> Self {
        Self::Misfit(error)
    }
}

/// The ranks of a list: `4-7,12`.
pub(crate) fn listed(text: &str, built: &Topology) -> Result<Vec<RankId>, WrongRanks> {
    let mut ranks = Vec::new();
    for word in text.split(',').map(str::trim) {
        // A rank by itself comes first: names may have a `-`.
        match (built.parse_rank(word), range(word, built)) {
            (Ok(rank), _) => ranks.push(rank),
            (Err(_), Some((from, to))) if from.contains('.') && to.contains('.') => {
                let message = format!("`{word}` is no range: ranges are of rank numbers, as in 4-7");
                return Err(WrongRanks::Words(format!("{message}; of coordinates, --fail-box {from}..{to} is a box")));
            }
            (Err(_), Some((from, to))) => {
                let (from, to) = (built.parse_rank(from)?, built.parse_rank(to)?);
                if from > to {
                    return Err(WrongRanks::Words(format!("`{word}` goes down: write {to}-{from}")));
                }
                ranks.extend((from.0..=to.0).map(RankId));
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
    Ok(ranks)
}

/// The rank whose coordinates a list of as many numbers as there are dimensions may be.
fn coordinates_meant(text: &str, built: &Topology) -> Option<String> {
    let dims = built.as_torus()?.extents.len();
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let are_numbers = words.iter().all(|word| word.parse::<u32>().is_ok());
    let meant = words.join(".");
    (dims > 1 && words.len() == dims && are_numbers && built.parse_rank(&meant).is_ok()).then_some(meant)
}

/// The ends of a range, if the word may be one.
fn range<'a>(word: &'a str, built: &Topology) -> Option<(&'a str, &'a str)> {
    let mut cuts = word.match_indices('-').map(|(at, _)| (&word[..at], &word[at + 1..]));
    let known = cuts.find(|(from, to)| built.parse_rank(from).is_ok() && built.parse_rank(to).is_ok());
    known.or_else(|| word.split_once('-').filter(|(from, _)| from.starts_with(|letter: char| letter.is_ascii_digit())))
}

/// The machine with failures that repeat each other; cables come before the links that are parts of them.
fn one_by_one(
    mut spec: TopologySpec,
    stated: &[(String, FailedLink)],
    notes: &mut Vec<String>,
) -> Result<Topology, TopologyError> {
    let known = std::mem::take(&mut spec.failed_links).into_iter().map(|failed| (None, failed));
    let stated = stated.iter().map(|(words, failed)| (Some(words), *failed));
    let mut all: Vec<(Option<&String>, FailedLink)> = known.chain(stated).collect();
    all.sort_by_key(|(_, failed)| !failed.both);
    let mut topology = Topology::new(spec.clone())?;
    for (words, failed) in all {
        spec.failed_links.push(failed);
        match Topology::new(spec.clone()) {
            Ok(built) => topology = built,
            Err(TopologyError::LinkFailedTwice { .. }) => {
                spec.failed_links.pop();
                let note = words.map(|words| format!("{words}: stated before, and counted once"));
                // The cables of a switch make one note.
                notes.extend(note.filter(|note| notes.last() != Some(note)));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(topology)
}

impl Ends {
    /// The failure on a machine on which ranks can be read.
    fn on(&self, built: &Topology, both: bool) -> Result<FailedLink, WrongRanks> {
        let corrected = |cable| WrongRanks::Words(format!("`{self}`: {}", did_you_mean(&[cable], both)));
        let read = self.read(built, both);
        if let Some(cable) = read
            .as_ref()
            .ok()
            .filter(|ends| built.links_between(ends.from, ends.to).next().is_none())
            .and_then(|_| self.meant(built))
        {
            return Err(corrected(cable));
        }
        read.map_err(|wrong| {
            if let Some(cable) = self.meant(built) {
                return corrected(cable);
            }
            let Some(cables) = other(&self.0).filter(|_| !self.may_be_names(built)) else { return wrong };
            let unread = |cable: &String| Self(cable.clone()).read(built, both).err();
            match cables.iter().find_map(unread) {
                None => WrongRanks::Words(format!("`{self}`: {}", did_you_mean(&cables, both))),
                Some(WrongRanks::Words(why)) => WrongRanks::Words(why),
                Some(WrongRanks::Misfit(_)) => wrong,
            }
        })
    }

    /// The cable between two ranks named in another case, or whose coordinates are written with commas; or the one that
    /// leaves such coordinates in a direction.
    fn meant(&self, built: &Topology) -> Option<String> {
        let split = |at: &[char]| -> Vec<&str> { self.0.split(at).filter(|word| !word.is_empty()).collect() };
        let words = split(&[',', ';', ':', '/', ' ']);
        let names = built.spec().names.iter();
        let named =
            |word: &&str| names.clone().find(|name| name.eq_ignore_ascii_case(word)).map(|name| name.to_string());
        let by_name = || words.iter().map(named).collect::<Option<Vec<String>>>();
        let dims = built.as_torus().map_or(0, |torus| torus.extents.len());
        let numbers = split(&[',', ';', ':', '/', ' ', '-']);
        let by_place =
            || (dims > 1 && numbers.len() == 2 * dims).then(|| numbers.chunks(dims).map(|at| at.join(".")).collect());
        let leaving = || {
            let (direction, at) = words.split_last()?;
            let place = at.join(".");
            let is_one = dims > 1 && at.len() == dims && matches!(dimension(direction), Ok(DimRef::Direction(_)));
            (is_one && built.parse_rank(&place).is_ok()).then(|| format!("{place},{direction}"))
        };
        let between = [by_name(), by_place()].into_iter().flatten().find_map(|ends| {
            let [from, to] = &ends[..] else { return None };
            let (from, to) = (built.parse_rank(from).ok()?, built.parse_rank(to).ok()?);
            built.links_between(from, to).next().map(|_| ends.join(","))
        });
        between.or_else(leaving)
    }

    /// On a machine with names, letters that are no dimension are part of one.
    fn may_be_names(&self, built: &Topology) -> bool {
        let is_dim = |word: &str| dimension(word.trim_matches(['+', '-'])).is_ok();
        let mut words = self.0.split(|letter: char| !letter.is_ascii_alphanumeric());
        !built.spec().names.is_empty() && words.any(|word| word.contains(char::is_alphabetic) && !is_dim(word))
    }

    fn read(&self, built: &Topology, both: bool) -> Result<FailedLink, WrongRanks> {
        let words: Vec<&str> = self.0.split(',').map(str::trim).collect();
        let (from, to, dim) = match words[..] {
            [from, to, dim] => (from, to, Some(dimension(dim)?)),
            [from, to] => match (built.parse_rank(to), dimension(to)) {
                (Err(_), Ok(DimRef::Direction(direction))) => return self.leaving(built, from, direction, both),
                (Err(_), Ok(DimRef::Dim(dim))) => {
                    let dim = dim_name(dim);
                    let message =
                        format!("`{self}`: a rank has two cables in {dim}: write {from},{dim}+ or {from},{dim}-");
                    return Err(WrongRanks::Words(message));
                }
                _ => (from, to, None),
            },
            [cable] if built.parse_rank(cable).is_err() => match range(cable, built) {
                Some((from, to)) => (from, to, None),
                None => return Err(WrongRanks::Words(format!("`{self}`: {HOW}"))),
            },
            _ => return Err(WrongRanks::Words(format!("`{self}`: {HOW}"))),
        };
        Ok(FailedLink { from: built.parse_rank(from)?, to: built.parse_rank(to)?, dim, both })
    }

    /// The failure of what leaves a rank in a direction.
    fn leaving(
        &self,
        built: &Topology,
        from: &str,
        direction: Direction,
        both: bool,
    ) -> Result<FailedLink, WrongRanks> {
        let from = built.parse_rank(from)?;
        let Some(torus) = built.as_torus() else {
            return Err(WrongRanks::Words(format!(
                "`{self}`: an explicit graph has no directions: write two ranks, 2,3"
            )));
        };
        let dim = usize::from(direction.dim);
        let to = (dim < torus.extents.len()).then(|| torus.neighbor(from, dim, direction.positive)).flatten();
        let to = to.ok_or_else(|| {
            WrongRanks::Words(format!("`{self}`: no cable leaves rank {} in {direction}", built.rank_label(from)))
        })?;
        Ok(FailedLink { from, to, dim: Some(DimRef::Direction(direction)), both })
    }
}

/// A switch, in either case.
fn switch(text: &str) -> Result<Switch, SwitchError> {
    text.to_ascii_lowercase().replace(' ', "").parse()
}

/// A dimension or a direction, in either case.
fn dimension(text: &str) -> Result<DimRef, TopologyError> {
    text.to_ascii_lowercase().parse().map_err(|_| TopologyError::UnknownDimension { text: text.to_owned() })
}

impl Corners {
    /// The ranks of the box.
    fn ranks(&self, built: &Topology) -> Result<Vec<RankId>, WrongRanks> {
        let Some(torus) = built.as_torus() else {
            return Err(TopologyError::NoCoordinates { text: self.to_string() }.into());
        };
        let (from, to) = (built.parse_rank(&self.from)?, built.parse_rank(&self.to)?);
        let mut ranks = vec![0];
        for (dim, &extent) in torus.extents.iter().enumerate() {
            let (first, last) = (torus.position(from, dim), torus.position(to, dim));
            if first > last && !torus.wrap[dim] {
                let name = dim_name(dim as u8);
                let message = format!("--fail-box {self}: {first} lies behind {last} in {name}, which is open");
                return Err(WrongRanks::Words(format!("{message}: write the smaller one first")));
            }
            let length = (last + extent - first) % extent + 1;
            let positions = (0..length).map(|step| (first + step) % extent * torus.stride(dim));
            ranks = positions.flat_map(|offset| ranks.iter().map(move |rank| rank + offset)).collect();
        }
        ranks.sort_unstable();
        Ok(ranks.into_iter().map(RankId).collect())
    }
}

impl std::fmt::Display for Ends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Corners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.from, self.to)
    }
}

/// The cables that were probably meant, if they are written otherwise.
fn other(text: &str) -> Option<Vec<String>> {
    cables_meant(text).filter(|cables| *cables != [text] && cables.iter().all(|cable| shape(cable).is_ok()))
}

fn did_you_mean(cables: &[String], both: bool) -> String {
    let option = if both { "--fail" } else { "--fail-link" };
    let words: Vec<String> = cables.iter().map(|cable| format!("{option} {cable}")).collect();
    format!("did you mean {}?", words.join(" "))
}

/// Has the text the form of a cable?
fn shape(text: &str) -> Result<(), String> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    if words.len() > 3 || words.iter().any(|word| word.is_empty()) || (words.len() == 1 && !text.contains('-')) {
        return Err(HOW.to_owned());
    }
    match words[..] {
        [_, _, dim] => dimension(dim).map(|_| ()).map_err(|error| error.to_string()),
        _ => Ok(()),
    }
}

impl FromStr for Ends {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match shape(text) {
            // The machine tells whether that is one of its cables.
            Err(wrong) if other(text).is_none() => Err(wrong),
            _ => Ok(Self(text.to_owned())),
        }
    }
}

impl FromStr for Corners {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let corners = text.split_once("..").filter(|(from, to)| !from.is_empty() && !to.is_empty());
        let (from, to) = corners.ok_or_else(|| "write two opposite corners, as in 2.2.0..3.3.0".to_owned())?;
        Ok(Self { from: from.trim().to_owned(), to: to.trim().to_owned() })
    }
}
