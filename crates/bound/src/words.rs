//! Bounds in words, with coordinates.

use crate::cuts::best::{Cut, Family};
use crate::cuts::count::Count;
use crate::cuts::hop_count::HopCount;
use crate::cuts::partition::Partition;
use crate::cuts::region::{Crossing, Side};
use collsynth_core::certificate::{Evidence, Rational, StepsBound};
use collsynth_core::collective::{Combining, Pattern, Unit};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, dim_name};

/// Ranks listed one by one before the rest are only counted.
const LISTED: usize = 4;

/// "rank 42 (2,2,2) is 6 hops from rank 0 (0,0,0), whose data it needs".
pub fn distance(problem: &Problem, bound: &StepsBound) -> String {
    let label = |rank| problem.topology().rank_label(rank);
    let hops = counted(bound.at_least.into(), "hop");
    format!("rank {} is {hops} from rank {}, whose data it needs", label(bound.to), label(bound.from))
}

/// "all messages together make 8064 hops over 382 links: 21.10".
pub fn hop_count(problem: &Problem, found: &HopCount) -> String {
    let (what, over) = (Count::of(problem).word, over(found.links, found.capacity));
    format!("all {what}s together make {} hops {over}: {}", found.hops, decimal(found.volume(problem)))
}

/// "in 13 steps of width 1, not all of it can come to rank 5 (1,1)".
pub fn over_time(problem: &Problem, evidence: &Evidence) -> String {
    let Evidence::MetricOverTime { width, rank, weights } = evidence else { return String::new() };
    let in_steps = format!("in {width} steps of width 1, ");
    match rank {
        Some(rank) => {
            let outward = problem.collective().kind.pattern() == Pattern::EveryToOne;
            let verb = if outward { "go out from" } else { "come to" };
            format!("{in_steps}not all of it can {verb} rank {}", problem.topology().rank_label(*rank))
        }
        None => format!(
            "{in_steps}the links chosen between {} pairs of ranks cannot carry all that must cross them",
            weights.len()
        ),
    }
}

/// "all messages together must cross 16 chosen links 294 times, over a capacity of 16: 18.38".
pub fn metric(problem: &Problem, weights: &[(RankId, RankId, u32)], volume: Rational) -> String {
    let topology = problem.topology();
    let (mut links, mut capacity) = (0, 0);
    for &(from, to, weight) in weights {
        for link in topology.links_between(from, to).map(|id| topology.link(id)).filter(|link| link.alive) {
            links += 1;
            capacity += i128::from(weight) * i128::from(link.capacity);
        }
    }
    let Count { word, a_message, .. } = Count::of(problem);
    let word = match problem.collective().kind.unit() {
        Unit::Message => word,
        unit => unit.name(),
    };
    let crossings = volume * capacity * a_message;
    let counted = match weights.iter().map(|&(.., weight)| weight).max() {
        Some(greatest @ 2..) => format!(", counted 1 to {greatest}-fold"),
        _ => String::new(),
    };
    format!(
        "all {word}s together must cross {links} chosen links {crossings} times{counted}, over a capacity of {capacity}: {}",
        decimal(volume)
    )
}

/// "the 32 ranks with x in 1..=2 send 1024 messages out over 31 links: 33.03".
pub fn cut(problem: &Problem, cut: &Cut) -> String {
    let one = cut.ranks.len() == 1;
    let Crossing { side, amount, capacity, links } = cut.crossing;
    let kind = &problem.collective().kind;
    let what = match kind.unit() {
        Unit::Message => Count::of(problem).word,
        Unit::Shard if kind.combining() == Combining::Sum => "partial sum",
        unit => unit.name(),
    };
    let (verb, direction) = match side {
        Side::Out => ("send", "out"),
        Side::Into => ("take", "in"),
    };
    let verb = if one { format!("{verb}s") } else { verb.to_owned() };
    let (what, over) = (counted(amount, what), over(links, capacity));
    format!("{} {verb} {what} {direction} {over}: {}", set(problem, cut), decimal(cut.crossing.volume(problem)))
}

/// "between the live ranks one by one, 126 vectors cross 382 links: 0.32".
pub fn partition(partition: &Partition) -> String {
    let (vectors, over) = (counted(partition.vectors(), "vector"), over(partition.links, partition.capacity));
    format!("between {}, {vectors} cross {over}: {}", partition.words, decimal(partition.volume()))
}

fn set(problem: &Problem, cut: &Cut) -> String {
    let count = cut.ranks.len();
    let label = |&rank: &RankId| problem.topology().rank_label(rank);
    let named = match cut.family {
        Family::Slab { dim, first, last, group } => {
            let name = dim_name(dim as u8);
            let positions =
                if first == last { format!("{name} = {first}") } else { format!("{name} in {first}..={last}") };
            let group = group.map_or(String::new(), |group| format!("of group {group} "));
            Some(format!("{group}with {positions}"))
        }
        Family::Ball(center) => Some(format!("nearest to {}", label(&center))),
        Family::Rank | Family::Neighbors | Family::Improved => None,
    };
    match named {
        Some(named) if count == 1 => format!("the rank {named}"),
        Some(named) => format!("the {count} ranks {named}"),
        None => {
            let listed: Vec<String> = cut.ranks.iter().take(LISTED).map(label).collect();
            match count.saturating_sub(LISTED) {
                0 if count == 1 => format!("rank {}", listed[0]),
                0 => format!("ranks {}", listed.join(" and ")),
                more => format!("ranks {} and {more} more", listed.join(", ")),
            }
        }
    }
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn over(links: u64, capacity: u64) -> String {
    let links_text = counted(links, "link");
    if links == capacity { format!("over {links_text}") } else { format!("over {links_text} of capacity {capacity}") }
}

/// Integers as they are, others rounded to two digits.
fn decimal(value: Rational) -> String {
    if value.is_integer() {
        return value.to_integer().to_string();
    }
    let hundredths = (value * 100).round().to_integer();
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
