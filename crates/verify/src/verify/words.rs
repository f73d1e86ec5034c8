//! Sentences for what the execution finds, with coordinates, chunk labels and first causes.

use super::execute::{Cell, Held, Move};
use super::routes::{Passage, Route};
use super::{Code, Finding};
use collsynth_core::collective::{ChunkId, Holders};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Schedule;
use collsynth_core::topology::RankId;

/// What a sentence may speak of.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) problem: &'a Problem,
    pub(super) schedule: &'a Schedule,
    pub(super) routes: &'a [Route],
}

/// How many ranks a sentence lists before it breaks off.
const LISTED: usize = 4;

impl Scene<'_> {
    /// A finding about one chunk of a transfer.
    pub(super) fn finding(&self, code: Code, chunk: ChunkId, one: Move, message: String) -> Finding {
        let Route { step, number, from, to, .. } = self.route(one);
        let chunks = self.schedule.chunks(&self.schedule.transfers()[one.transfer()]);
        let first = chunks.iter().position(|&other| other == chunk);
        let chunk_index = match code {
            Code::F006 => {
                first.and_then(|first| Some(first + 1 + chunks[first + 1..].iter().position(|&c| c == chunk)?))
            }
            _ => first,
        };
        Finding {
            code,
            step: Some(step),
            transfer: Some(number as usize),
            chunk_index,
            from: Some(from),
            to: Some(to),
            chunk: Some(chunk),
            message,
            consequences: 0,
            trace: None,
        }
    }

    /// F006
    pub(super) fn repeated_chunk(&self, chunk: ChunkId, times: usize) -> String {
        format!("chunk {} is listed {times} times in this transfer", self.chunk(chunk))
    }

    /// D001: does the chunk come later, or never?
    pub(super) fn not_held(&self, chunk: ChunkId, one: Move, moves: &[Move]) -> String {
        let Route { step, from, .. } = self.route(one);
        let sender = self.rank(from);
        let later = moves
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
                    format!("nobody does: it would start at rank {}, which failed", self.rank(origin))
                }
                Holders::Every => "it never arrives there".to_owned(),
            },
        };
        let chunk = self.chunk(chunk);
        format!("rank {sender} does not hold chunk {chunk} at the beginning of step {step}: {why}")
    }

    /// D002: where did the chunk get stuck?
    pub(super) fn missing_chunk(&self, chunk: ChunkId, rank: RankId, cells: &[Cell], moves: &[Move]) -> Finding {
        let held = |rank: RankId| matches!(cells[rank.index()].held, Held::Value(_));
        let last = moves.iter().rev().find(|&&one| {
            let to = self.route(one).to;
            to.index() < cells.len() && held(to) && cells[to.index()].brought_by == Some(one)
        });
        let stuck = match (last, self.problem.rule(chunk).before) {
            (Some(&one), _) => {
                let Route { step, to, .. } = self.route(one);
                format!("it got as far as rank {} in step {step}", self.rank(to))
            }
            (None, Holders::One(origin)) => format!("it never leaves rank {}", self.rank(origin)),
            (None, Holders::Every) => "it never moves".to_owned(),
        };
        let message = format!("at the end rank {} lacks chunk {}: {stuck}", self.rank(rank), self.chunk(chunk));
        Finding {
            trace: Some(self.trace_of_lack(chunk, rank, moves)),
            ..self.end_finding(Code::D002, chunk, rank, message)
        }
    }

    /// D003
    pub(super) fn several_arrivals(&self, chunk: ChunkId, arrivals: &[Move]) -> String {
        let Route { step, to, .. } = self.route(arrivals[0]);
        let senders: Vec<RankId> = arrivals.iter().map(|&one| self.route(one).from).collect();
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
    pub(super) fn counted_twice(&self, chunk: ChunkId, one: Move, shared: &[RankId]) -> String {
        let Route { from, to, .. } = self.route(one);
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

    /// R002
    pub(super) fn missing_contributions(&self, chunk: ChunkId, rank: RankId, missing: &[RankId]) -> Finding {
        let whose = match missing {
            [other] => format!("the contribution of rank {}", self.rank(*other)),
            _ => format!("the contributions of {}", self.ranks(missing)),
        };
        let message = format!("at the end rank {} holds chunk {} without {whose}", self.rank(rank), self.chunk(chunk));
        self.end_finding(Code::R002, chunk, rank, message)
    }

    /// R003
    pub(super) fn not_combinable(&self, chunk: ChunkId, one: Move) -> String {
        format!(
            "chunk {} is reduced into rank {}, but chunks of {} are moved as they are: use `copy`",
            self.chunk(chunk),
            self.rank(self.route(one).to),
            self.problem.collective().kind.name()
        )
    }

    /// W001
    pub(super) fn nothing_new(&self, chunk: ChunkId, one: Move) -> String {
        let Route { to, .. } = self.route(one);
        format!("rank {} holds chunk {} already, and this brings nothing new", self.rank(to), self.chunk(chunk))
    }

    /// W002
    pub(super) fn dead_end(&self, chunk: ChunkId, one: Move) -> String {
        let Route { to, .. } = self.route(one);
        format!("rank {} neither needs chunk {} nor sends it on", self.rank(to), self.chunk(chunk))
    }

    /// W003
    pub(super) fn different_orders(&self, chunk: ChunkId, one: RankId, other: RankId) -> Finding {
        let message = format!(
            "ranks {} and {} add the contributions to chunk {} in different orders: floating-point sums may differ",
            self.rank(one),
            self.rank(other),
            self.chunk(chunk)
        );
        self.end_finding(Code::W003, chunk, other, message)
    }

    fn end_finding(&self, code: Code, chunk: ChunkId, rank: RankId, message: String) -> Finding {
        Finding {
            code,
            step: None,
            transfer: None,
            chunk_index: None,
            from: None,
            to: Some(rank),
            chunk: Some(chunk),
            message,
            consequences: 0,
            trace: None,
        }
    }

    pub(super) fn route(&self, one: Move) -> Route {
        self.routes[one.transfer()]
    }

    pub(super) fn rank(&self, rank: RankId) -> String {
        self.problem.topology().rank_label(rank)
    }

    /// "ranks 1 (1,0), 2 (2,0) and 13 others"
    fn ranks(&self, ranks: &[RankId]) -> String {
        let names: Vec<String> = ranks.iter().take(LISTED).map(|&rank| self.rank(rank)).collect();
        match (ranks.len().saturating_sub(LISTED), &names[..]) {
            (0, [one]) => format!("rank {one}"),
            (0, [most @ .., last]) => format!("ranks {} and {last}", most.join(", ")),
            (0, []) => "no rank".to_owned(),
            (more, _) => format!("ranks {} and {more} more", names.join(", ")),
        }
    }

    /// The chunk's number, with its label where that says more.
    pub(super) fn chunk(&self, chunk: ChunkId) -> String {
        let label = self.problem.chunk_label(chunk);
        if label == chunk.to_string() { label } else { format!("{chunk} ({label})") }
    }
}
