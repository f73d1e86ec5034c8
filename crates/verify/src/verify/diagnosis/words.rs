//! The sentences.

use super::super::Code;
use super::no_link::no_link;
use super::scene::Scene;
use crate::verify::facts::fact::Data;
use crate::verify::run::routes::{Passage, Route};
use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::topology::RankId;

impl Scene<'_> {
    /// About a transfer as a whole.
    pub(super) fn of_transfer(&self, code: Code, index: usize, data: &Data) -> String {
        let transfer = &self.schedule.transfers()[index];
        let topology = self.problem.machine();
        let step = self.routes[index].step;
        match *data {
            Data::Busy(link, other) => {
                format!("link {} is already used in step {step}, by transfers[{other}]", topology.link_label(link))
            }
            Data::Full { link, width, room, chunks } => format!(
                "{chunks} chunks over link {}, which takes {room} in step {step} (width {width}, capacity {})",
                topology.link_label(link),
                topology.link(link).capacity
            ),
            _ if code == Code::W001 => {
                let (from, to) = (self.rank(transfer.from), self.rank(transfer.to));
                format!("the transfer from rank {from} to rank {to} carries no chunk")
            }
            _ => no_link(topology, transfer),
        }
    }

    /// About a chunk of a transfer.
    pub(super) fn of_move(&self, code: Code, transfer: usize, chunk: ChunkId, data: &Data) -> String {
        let route = self.routes[transfer];
        match (code, data) {
            (Code::F005, _) => self.out_of_range(chunk),
            (_, Data::Times(times)) => format!("chunk {} is listed {times} times in this transfer", self.chunk(chunk)),
            (Code::D001, _) => self.not_held(chunk, route),
            (_, Data::Arrivals(arrivals)) => self.several_arrivals(chunk, route, arrivals),
            (_, Data::Ranks(shared)) => self.counted_twice(chunk, route, shared),
            (Code::R003, _) => format!(
                "chunk {} is reduced into rank {}, but chunks of {} are moved as they are: use `copy`",
                self.chunk(chunk),
                self.rank(route.to),
                self.problem.collective().kind.name()
            ),
            (Code::D004, _) => format!(
                "rank {} is not in the group of chunk {}, and relays are forbidden",
                self.rank(route.to),
                self.chunk(chunk)
            ),
            (Code::W001, _) => format!(
                "rank {} holds chunk {} already, and this brings nothing new",
                self.rank(route.to),
                self.chunk(chunk)
            ),
            _ => format!("rank {} neither needs chunk {} nor sends it on", self.rank(route.to), self.chunk(chunk)),
        }
    }

    /// About what a rank has of a chunk after the last step.
    pub(super) fn of_end(&self, chunk: ChunkId, rank: RankId, data: &Data) -> String {
        match data {
            Data::LastArrival(last) => self.missing_chunk(chunk, rank, *last),
            Data::Ranks(missing) => {
                let whose = match missing[..] {
                    [other] => format!("the contribution of rank {}", self.rank(other)),
                    _ => format!("the contributions of {}", self.ranks(missing)),
                };
                format!("at the end rank {} holds chunk {} without {whose}", self.rank(rank), self.chunk(chunk))
            }
            Data::Other(other) => format!(
                "ranks {} and {} add the contributions to chunk {} in different orders: floating-point sums may differ",
                self.rank(*other),
                self.rank(rank),
                self.chunk(chunk)
            ),
            _ => String::new(),
        }
    }

    /// F007, with an example of data needed.
    pub(super) fn moves_nothing(&self) -> String {
        let topology = self.problem.topology();
        let mut pairs = topology.live_ranks().flat_map(|from| topology.live_ranks().map(move |to| (from, to)));
        let example = match pairs.find(|&(from, to)| self.problem.needs(from, to)) {
            Some((from, to)) => format!(": rank {} needs data from rank {}", self.rank(to), self.rank(from)),
            None => String::new(),
        };
        let kind = self.problem.collective().kind.name();
        format!("the schedule moves no chunk, but {kind} must{example}")
    }

    /// F005
    fn out_of_range(&self, chunk: ChunkId) -> String {
        let kind = self.problem.collective().kind.name();
        match self.problem.chunk_count() {
            0 => format!("chunk {chunk} is out of range: this {kind} has no chunks"),
            count => format!("chunk {chunk} is out of range: the chunks of this {kind} are 0 to {}", count - 1),
        }
    }

    /// D001: does the chunk come later, or never?
    fn not_held(&self, chunk: ChunkId, route: Route) -> String {
        let Route { step, from, .. } = route;
        let sender = self.rank(from);
        let later = self
            .moves(chunk)
            .iter()
            .map(|&other| self.route(other))
            .find(|other| other.to == from && other.step >= step && other.passage == Passage::Open);
        let why = match later {
            Some(arrival) if arrival.step == step => {
                format!("it arrives only in this step, from rank {}", self.rank(arrival.from))
            }
            Some(arrival) => format!("it arrives only in step {}, from rank {}", arrival.step, self.rank(arrival.from)),
            None => match self.problem.rule(chunk).before {
                Holders::One(origin) if self.problem.topology().is_alive(origin) => {
                    format!("it never arrives there; it starts at rank {}", self.rank(origin))
                }
                Holders::One(origin) => {
                    format!("no rank does: it would start at rank {}, which failed", self.rank(origin))
                }
                Holders::Every | Holders::Group(_) => "it never arrives there".to_owned(),
            },
        };
        let chunk = self.chunk(chunk);
        format!("rank {sender} does not hold chunk {chunk} at the beginning of step {step}: {why}")
    }

    /// D002: where did the chunk get stuck?
    fn missing_chunk(&self, chunk: ChunkId, rank: RankId, last: Option<usize>) -> String {
        let stuck = match (last, self.problem.rule(chunk).before) {
            (Some(last), _) => {
                let Route { step, to, .. } = self.routes[last];
                format!("it got as far as rank {} in step {step}", self.rank(to))
            }
            (None, Holders::One(origin)) => format!("it never leaves rank {}", self.rank(origin)),
            (None, Holders::Every | Holders::Group(_)) => "it never moves".to_owned(),
        };
        format!("at the end rank {} lacks chunk {}: {stuck}", self.rank(rank), self.chunk(chunk))
    }

    /// D003
    fn several_arrivals(&self, chunk: ChunkId, route: Route, arrivals: &[usize]) -> String {
        let Route { step, to, .. } = route;
        let senders: Vec<RankId> = arrivals.iter().map(|&one| self.routes[one].from).collect();
        format!(
            "rank {} receives chunk {} {} times in step {step}, from {}, and not all are `reduce`: which value stays is \
             undefined",
            self.rank(to),
            self.chunk(chunk),
            arrivals.len(),
            self.ranks(&senders)
        )
    }

    /// R001
    fn counted_twice(&self, chunk: ChunkId, route: Route, shared: &[RankId]) -> String {
        let Route { from, to, .. } = route;
        let (whose, them) = match shared {
            [rank] => (format!("the contribution of rank {}", self.rank(*rank)), "it"),
            _ => (format!("the contributions of {}", self.ranks(shared)), "them"),
        };
        format!(
            "{whose} to chunk {} would count twice: rank {} holds {them} already and rank {} sends {them} again",
            self.chunk(chunk),
            self.rank(to),
            self.rank(from)
        )
    }
}
