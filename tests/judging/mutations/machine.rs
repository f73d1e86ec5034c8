//! Random small machines, with their links listed by code of this test's own.

use collsynth::topology::{DimRef, Direction, FailedLink, GraphLink, RankId, Shape, TopologySpec, Torus};

use super::dice::Dice;

/// A machine as the reference sees it.
#[derive(Clone, Debug)]
pub struct Machine {
    pub spec: TopologySpec,
    pub ranks: u32,
    pub alive: Vec<bool>,
    pub wires: Vec<Wire>,
}

/// A directed link.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    pub from: u32,
    pub to: u32,
    pub way: Option<Direction>,
    pub capacity: u32,
    pub alive: bool,
}

impl Machine {
    /// A machine whose live ranks can all reach each other.
    pub fn random(dice: &mut Dice) -> Self {
        let whole = if dice.once_in(5) { random_graph(dice) } else { random_torus(dice) };
        for failures in [dice.roll(4), 1, 0] {
            let broken = whole.clone().with_failures(failures, dice);
            if broken.is_connected() {
                return broken;
            }
        }
        unreachable!("a machine without failures is connected")
    }

    pub fn live_ranks(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.ranks).filter(|&rank| self.alive[rank as usize])
    }

    /// The live wires that leave a rank.
    pub fn live_wires_from(&self, rank: u32) -> impl Iterator<Item = usize> + '_ {
        (0..self.wires.len()).filter(move |&wire| self.wires[wire].alive && self.wires[wire].from == rank)
    }

    /// True if more than one wire leads from the one rank to the other.
    pub fn is_doubled(&self, wire: usize) -> bool {
        let Wire { from, to, .. } = self.wires[wire];
        self.wires.iter().filter(|other| (other.from, other.to) == (from, to)).count() > 1
    }

    fn with_failures(mut self, failures: usize, dice: &mut Dice) -> Self {
        for _ in 0..failures {
            if self.wires.is_empty() {
                break;
            }
            if dice.once_in(4) && self.live_ranks().count() > 2 {
                let rank = dice.roll(self.ranks as usize);
                if std::mem::replace(&mut self.alive[rank], false) {
                    self.spec.failed_ranks.push(RankId(rank as u32));
                }
                continue;
            }
            let first = dice.roll(self.wires.len());
            let wire = self.wires[first];
            let both = dice.once_in(2);
            let back = self.wires.iter().position(|other| {
                (other.from, other.to, other.way) == (wire.to, wire.from, wire.way.map(Direction::opposite))
            });
            let dead: Vec<usize> = std::iter::once(first).chain(back.filter(|_| both)).collect();
            if dead.iter().any(|&wire| !self.wires[wire].alive) {
                continue;
            }
            for wire in dead {
                self.wires[wire].alive = false;
            }
            let (from, to) = (RankId(wire.from), RankId(wire.to));
            self.spec.failed_links.push(FailedLink { from, to, dim: wire.way.map(DimRef::Direction), both });
        }
        for wire in &mut self.wires {
            wire.alive &= self.alive[wire.from as usize] && self.alive[wire.to as usize];
        }
        self
    }

    fn is_connected(&self) -> bool {
        self.live_ranks().all(|start| {
            let (mut seen, mut queue) = (vec![start], vec![start]);
            while let Some(rank) = queue.pop() {
                for wire in self.live_wires_from(rank) {
                    let next = self.wires[wire].to;
                    if !seen.contains(&next) {
                        seen.push(next);
                        queue.push(next);
                    }
                }
            }
            seen.len() == self.live_ranks().count()
        })
    }
}

fn random_torus(dice: &mut Dice) -> Machine {
    let all: &[&[u32]] = &[&[1], &[2], &[3], &[4], &[5], &[1, 3], &[2, 2], &[2, 3], &[3, 3], &[4, 2], &[2, 2, 2]];
    let extents = *dice.pick(all);
    let mut torus = Torus::new(extents);
    if dice.once_in(3) {
        torus.wrap = extents.iter().map(|_| dice.once_in(2)).collect();
    }
    if dice.once_in(3) {
        torus.capacity = extents.iter().map(|_| 1 + dice.roll(2) as u32).collect();
    }
    let ranks: u32 = extents.iter().product();
    let mut wires = Vec::new();
    let mut stride = 1;
    for (dim, &extent) in extents.iter().enumerate() {
        let wraps = extent >= 2 && torus.wrap.get(dim).copied().unwrap_or(extent >= 3);
        let capacity = torus.capacity.get(dim).copied().unwrap_or(1);
        for from in 0..ranks {
            let position = from / stride % extent;
            let mut wire = |next: u32, positive: bool| {
                let to = from - position * stride + next * stride;
                let way = Some(Direction { dim: dim as u8, positive });
                wires.push(Wire { from, to, way, capacity, alive: true });
            };
            if position + 1 < extent {
                wire(position + 1, true);
            } else if wraps {
                wire(0, true);
            }
            if position > 0 {
                wire(position - 1, false);
            } else if wraps {
                wire(extent - 1, false);
            }
        }
        stride *= extent;
    }
    Machine { spec: TopologySpec::new(Shape::Torus(torus)), ranks, alive: vec![true; ranks as usize], wires }
}

/// A directed ring with random chords.
fn random_graph(dice: &mut Dice) -> Machine {
    let ranks = 2 + dice.roll(4) as u32;
    let mut ends: Vec<(u32, u32)> = (0..ranks).map(|rank| (rank, (rank + 1) % ranks)).collect();
    for _ in 0..dice.roll(6) {
        let chord = (dice.roll(ranks as usize) as u32, dice.roll(ranks as usize) as u32);
        if chord.0 != chord.1 && !ends.contains(&chord) {
            ends.push(chord);
        }
    }
    let wires: Vec<Wire> = ends
        .into_iter()
        .map(|(from, to)| Wire { from, to, way: None, capacity: 1 + dice.roll(2) as u32, alive: true })
        .collect();
    let links = wires
        .iter()
        .map(|wire| GraphLink { from: RankId(wire.from), to: RankId(wire.to), capacity: wire.capacity })
        .collect();
    Machine { spec: TopologySpec::new(Shape::Graph { ranks, links }), ranks, alive: vec![true; ranks as usize], wires }
}
