//! A collective in words.

use collsynth_core::collective::Kind;
use collsynth_core::problem::Problem;

/// What a volume of 1 is, and what is cut in parts: a `message`, a `shard` or a `vector`.
pub fn unit(kind: &Kind) -> &'static str {
    match kind {
        Kind::AllToAll | Kind::AllToAllV(_) | Kind::Broadcast(_) | Kind::Scatter(_) | Kind::Gather(_) => "message",
        Kind::AllGather | Kind::ReduceScatter | Kind::AllReduceGathered => "shard",
        Kind::AllReduce | Kind::Reduce(_) | Kind::Barrier => "vector",
    }
}

/// How the units are cut: `whole messages`, `shards in 5 parts`; of a demand matrix, `messages of 5 chunks`.
pub fn cut(problem: &Problem) -> String {
    let kind = &problem.collective().kind;
    match (problem.parts(), kind) {
        (1, _) => format!("whole {}s", unit(kind)),
        (parts, Kind::AllToAllV(_)) => format!("messages of {parts} chunks"),
        (parts, _) => format!("{}s in {parts} parts", unit(kind)),
    }
}

/// The collective with its root: `all_gather`, `broadcast from 5 (1,1,0)`, `gather to 0 (0,0)`.
pub fn name_collective(problem: &Problem) -> String {
    let kind = &problem.collective().kind;
    let way = match kind {
        Kind::Reduce(_) | Kind::Gather(_) => "to",
        _ => "from",
    };
    match kind.root() {
        Some(root) => format!("{} {way} {}", kind.name(), problem.topology().rank_label(root)),
        None => kind.name().to_owned(),
    }
}
