//! The cases of the table: small tori without up to two cables, one of each symmetry class, and every collective.

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use collsynth::collective::{Demand, Kind};
use collsynth::symmetry::symmetries;
use collsynth::topology::{RankId, Topology};

use crate::support::pages::name;
use crate::support::plans::torus;

const TORI: [&[u32]; 11] = [&[3], &[4], &[5], &[6], &[7], &[8], &[2, 2], &[2, 3], &[3, 3], &[2, 2, 2], &[4, 4]];

/// The most pairs of cables per torus, spread evenly over all.
const MOST_PAIRS: usize = 5;

/// A torus without these cables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    pub extents: &'static [u32],
    pub dead: Vec<(u32, u32)>,
}

/// What is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub machine: Machine,
    pub kind: Kind,
    pub parts: u32,
}

/// Every case, by collective, parts and machine.
pub fn cases() -> Vec<Case> {
    let machines = machines();
    let kinds = kinds(1).into_iter().map(|kind| kind.name());
    let mut cases = Vec::new();
    for (number, name) in kinds.enumerate() {
        // The parts of a demand are a unit, and a barrier has no message to cut.
        let most_parts = if ["all_to_allv", "barrier"].contains(&name) { 1 } else { 2 };
        for machine in &machines {
            for parts in 1..=most_parts {
                let kind = kinds_of(machine)[number].clone();
                cases.push(Case { machine: machine.clone(), kind, parts });
            }
        }
    }
    cases
}

impl Machine {
    pub fn topology(&self) -> Topology {
        torus(self.extents, &self.dead, &[])
    }

    /// The extents: `4x4`.
    pub fn name(&self) -> String {
        name(self.extents)
    }

    /// The dead cables: `0-1,4-5`.
    pub fn damage(&self) -> String {
        let cables: Vec<String> = self.dead.iter().map(|(from, to)| format!("{from}-{to}")).collect();
        if cables.is_empty() { "-".to_owned() } else { cables.join(",") }
    }
}

impl Case {
    /// The case with the same optimum. With both directions of a cable dead, reversal maps the machine to itself; so a
    /// sum at a rank is a broadcast or an all-gather, and a gather is a scatter, with links and time reversed.
    pub fn judged(&self) -> Self {
        let kind = match &self.kind {
            Kind::ReduceScatter | Kind::AllReduceGathered => Kind::AllGather,
            Kind::Reduce(root) => Kind::Broadcast(*root),
            Kind::Gather(root) => Kind::Scatter(*root),
            kind => kind.clone(),
        };
        Self { kind, ..self.clone() }
    }

    /// Do chunks only move? Then a step of width 2 or more can be split in two.
    pub fn moves(&self) -> bool {
        self.kind != Kind::AllReduce
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.machine.name(), self.machine.damage(), self.kind.name(), self.parts)
    }
}

fn kinds_of(machine: &Machine) -> [Kind; 11] {
    kinds(machine.extents.iter().product())
}

fn kinds(ranks: u32) -> [Kind; 11] {
    let counts: Vec<u32> =
        (0..ranks * ranks).map(|pair| ((pair * 5 + pair / ranks * 3) % 7).saturating_sub(4)).collect();
    Kind::every(RankId(0), Demand::new(ranks, &counts).unwrap())
}

fn machines() -> Vec<Machine> {
    let mut machines = Vec::new();
    for extents in TORI {
        for count in 0..=2 {
            let all = damages(extents, count);
            let taken = all.len().min(if count == 2 { MOST_PAIRS } else { usize::MAX });
            machines.extend((0..taken).map(|n| Machine { extents, dead: all[n * all.len() / taken].clone() }));
        }
    }
    machines
}

/// Every set of `count` cables whose loss leaves the torus connected; of symmetric sets, the first.
fn damages(extents: &'static [u32], count: usize) -> Vec<Vec<(u32, u32)>> {
    let intact = Machine { extents, dead: Vec::new() }.topology();
    let positive = intact.links().iter().filter(|link| link.direction.is_some_and(|direction| direction.positive));
    let cables: Vec<(u32, u32)> = positive.map(|link| (link.from.0, link.to.0)).collect();
    let maps = symmetries(&intact, |_| true).generators;
    let image = |map: &[RankId], of: &BTreeSet<usize>| -> BTreeSet<usize> {
        let moved = |cable: &usize| {
            let (from, to) = (map[cables[*cable].0 as usize].0, map[cables[*cable].1 as usize].0);
            cables.iter().position(|&ends| ends == (from, to) || ends == (to, from)).unwrap()
        };
        of.iter().map(moved).collect()
    };
    let mut known: HashSet<BTreeSet<usize>> = HashSet::new();
    let mut classes = Vec::new();
    for chosen in subsets(cables.len(), count) {
        if !known.insert(chosen.clone()) {
            continue;
        }
        let mut open = vec![chosen.clone()];
        while let Some(set) = open.pop() {
            let images = maps.iter().map(|map| image(&map.ranks, &set));
            open.extend(images.filter(|image| known.insert(image.clone())).collect::<Vec<_>>());
        }
        let dead: Vec<(u32, u32)> = chosen.iter().map(|&cable| cables[cable]).collect();
        if (Machine { extents, dead: dead.clone() }).topology().components().len() == 1 {
            classes.push(dead);
        }
    }
    classes
}

/// Every set of `count` (at most two) numbers below `of`, in order.
fn subsets(of: usize, count: usize) -> Vec<BTreeSet<usize>> {
    match count {
        0 => vec![BTreeSet::new()],
        1 => (0..of).map(|one| BTreeSet::from([one])).collect(),
        _ => (0..of).flat_map(|one| (one + 1..of).map(move |other| BTreeSet::from([one, other]))).collect(),
    }
}
