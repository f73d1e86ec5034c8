//! `synth compare --sweep`: many tori, with failed cables drawn by a seed.

use collsynth::report::figures::{count, with_article};
use collsynth::topology::{DimRef, FailedLink, Link, Topology, TopologySpec};

use crate::cli::arguments::extents::Extents;
use crate::cli::ending::Failure;

/// Draws of failed cables before a torus is taken to fall apart under any.
const DRAWS: u32 = 1000;

/// A machine to compare planners on.
pub struct Place {
    /// The machine.
    pub topology: Topology,
    /// The options that describe it.
    pub words: Vec<String>,
    /// Those of them that state failures.
    pub failures: String,
}

/// `dims=4x4,5x5 faults=0,1`
#[derive(Debug, PartialEq, Eq)]
pub struct Sweep {
    dims: Vec<Vec<u32>>,
    faults: Vec<usize>,
}

impl Sweep {
    /// Reads the words of the option.
    pub fn parse(words: &[String]) -> Result<Self, Failure> {
        let form = "write --sweep dims=4x4,5x5 faults=0,1";
        let wrong = |message: String| Failure::usage(message).hint(form);
        let mut sweep = Self { dims: Vec::new(), faults: Vec::new() };
        for word in words {
            let (key, values) = word.split_once('=').ok_or_else(|| wrong(format!("--sweep: `{word}` has no `=`")))?;
            let values = values.split(',').map(str::trim);
            match key {
                "dims" if sweep.dims.is_empty() => {
                    let extents = |text: &str| text.parse::<Extents>().map(|Extents(extents)| extents).map_err(wrong);
                    sweep.dims = values.map(extents).collect::<Result<_, _>>()?;
                }
                "faults" if sweep.faults.is_empty() => {
                    let number =
                        |text: &str| text.parse().map_err(|_| wrong(format!("`{text}` is no number of cables")));
                    sweep.faults = values.map(number).collect::<Result<_, _>>()?;
                }
                "dims" | "faults" => return Err(wrong(format!("--sweep states {key} twice"))),
                _ => return Err(wrong(format!("--sweep knows dims and faults, not `{key}`"))),
            }
        }
        if sweep.dims.is_empty() {
            return Err(wrong("--sweep needs dims".to_owned()));
        }
        if sweep.faults.is_empty() {
            sweep.faults.push(0);
        }
        Ok(sweep)
    }

    /// The machines: each torus with each number of failed cables.
    pub fn places(&self, seed: u64) -> Result<Vec<Place>, Failure> {
        let each = self.dims.iter().flat_map(|dims| self.faults.iter().map(move |&faults| (dims, faults)));
        each.map(|(dims, faults)| place(dims, faults, seed)).collect()
    }
}

/// A torus with this many failed cables, drawn by the seed alone, that is still connected.
fn place(dims: &[u32], faults: usize, seed: u64) -> Result<Place, Failure> {
    let name = dims.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
    let spec = TopologySpec::torus(dims);
    let sound = Topology::new(spec.clone()).map_err(Failure::usage)?;
    let machine = with_article(&sound.to_string());
    let cables: Vec<&Link> =
        sound.links().iter().filter(|link| link.direction.is_some_and(|direction| direction.positive)).collect();
    if faults > cables.len() {
        return Err(Failure::usage(format!("{machine} has {}, not {faults}", count(cables.len(), "cable"))));
    }
    let mut dice = fastrand::Rng::with_seed(seed);
    for _ in 0..DRAWS {
        let mut drawn = dice.choose_multiple(cables.iter().copied(), faults);
        drawn.sort_by_key(|link| (link.direction, link.from));
        let failed_links: Vec<FailedLink> = drawn.iter().map(|link| failed(&sound, link)).collect();
        let words = |failed: &FailedLink| {
            let dim = failed.dim.map(|dim| format!(",{dim}")).unwrap_or_default();
            ["--fail".to_owned(), format!("{},{}{dim}", failed.from, failed.to)]
        };
        let failures: Vec<String> = failed_links.iter().flat_map(words).collect();
        let topology = Topology::new(TopologySpec { failed_links, ..spec.clone() }).map_err(Failure::usage)?;
        if topology.components().len() <= 1 {
            let mut words = vec!["--torus".to_owned(), name];
            words.extend(failures.iter().cloned());
            return Ok(Place { topology, words, failures: failures.join(" ") });
        }
    }
    Err(Failure::usage(format!("each of {DRAWS} draws of {} disconnects {machine}", count(faults, "cable")))
        .hint("choose fewer faults, or another --seed"))
}

/// The cable as a failure; of two cables that join the same ranks, the direction names one.
fn failed(topology: &Topology, link: &Link) -> FailedLink {
    let direction = link.direction.filter(|_| topology.links_between(link.from, link.to).count() > 1);
    let dim = direction.map(DimRef::Direction).or(link.direction.map(|direction| DimRef::Dim(direction.dim)));
    FailedLink { from: link.from, to: link.to, dim, both: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Sweep, Failure> {
        Sweep::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_words_of_a_sweep() {
        let sweep = parse(&["faults=0,2", "dims=4x4,5"]).unwrap();
        assert_eq!(sweep, Sweep { dims: vec![vec![4, 4], vec![5]], faults: vec![0, 2] });
        assert_eq!(parse(&["dims=3"]).unwrap().faults, [0]);
        for wrong in [&["faults=1"][..], &["dims=4x"], &["dims=3", "dims=4"], &["3x3"], &["dims=3", "faults=-1"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn failures_are_drawn_by_the_seed_and_leave_the_torus_whole() {
        let places = |seed| parse(&["dims=4,2x2", "faults=0,1"]).unwrap().places(seed).unwrap();
        let failures = |seed| places(seed).iter().map(|place| place.failures.clone()).collect::<Vec<_>>();
        assert_eq!(failures(7), failures(7));
        assert!((1..40).any(|seed| failures(seed) != failures(7)));
        assert!(places(3).iter().all(|place| place.topology.components().len() == 1));
        assert!(parse(&["dims=4", "faults=2"]).unwrap().places(0).is_err());
        assert!(parse(&["dims=4", "faults=5"]).unwrap().places(0).is_err());
    }
}
