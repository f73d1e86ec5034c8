//! Where a program runs: on the machine of its file, on another one, or on any.

use serde_json::Value;

use super::file::ProgramFile;
use crate::naive::problem::machine::Machine;
use crate::naive::reader::Faults;
use crate::naive::schedule::judge::link;

/// What the options of `synth verify` state beside the file.
#[derive(Clone, Debug, Default)]
pub struct Placing {
    /// `--topology`.
    pub machine: Option<Value>,
    /// `--rank-map`.
    pub map: Option<Vec<u64>>,
    /// `--contention-free`.
    pub contention_free: bool,
}

/// The machine that a program runs on, if it is known, and the rank of it for each rank of the program.
pub struct Site {
    /// The machine.
    pub machine: Option<Machine>,
    map: Vec<usize>,
    stated: bool,
}

/// The code of what is wrong with the options themselves.
pub const USAGE: &str = "usage";

impl Placing {
    /// Where a program runs; an error says why a map is none.
    pub fn of(&self, file: &ProgramFile) -> Result<Site, &'static str> {
        let ranks = file.machine.ranks();
        let identity: Vec<usize> = (0..ranks).collect();
        let Some(topology) = &self.machine else {
            return Ok(Site { machine: file.links_known.then(|| file.machine.clone()), map: identity, stated: false });
        };
        let machine = Machine::read(topology, &mut Faults::default()).expect("the machine is one");
        let map: Vec<usize> = self.map.as_ref().map_or(identity, |map| map.iter().map(|&at| at as usize).collect());
        let mut places = map.clone();
        places.sort();
        places.dedup();
        match () {
            () if map.len() < ranks => Err("too short"),
            () if map.len() > ranks => Err("too long"),
            () if places.iter().any(|&at| at >= machine.ranks()) => Err("out of range"),
            () if places.len() < ranks => Err("a place twice"),
            () => Ok(Site { machine: Some(machine), map, stated: true }),
        }
    }
}

impl Site {
    /// The rank where a rank of the program stands.
    pub fn rank(&self, rank: usize) -> usize {
        self.map.get(rank).copied().unwrap_or(usize::MAX)
    }

    /// Every rank stands where its number says.
    pub fn is_identity(&self) -> bool {
        self.map.iter().enumerate().all(|(rank, &at)| rank == at)
    }

    /// A machine is stated beside the file, on which the rank stands on one that failed.
    pub fn is_on_a_failed_rank(&self, rank: usize) -> bool {
        self.stated && self.failed(rank)
    }

    /// The rank stands on one that failed.
    pub fn failed(&self, rank: usize) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.live.get(self.rank(rank)) == Some(&false))
    }

    /// The links that a channel may take.
    pub fn links(&self, from: usize, to: usize, via: Option<(usize, bool)>) -> Vec<usize> {
        self.machine.as_ref().map_or(Vec::new(), |machine| link(machine, self.rank(from), self.rank(to), via))
    }
}
