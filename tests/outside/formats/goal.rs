//! GOAL, read again by its grammar: `num_ranks N`, then `rank k { label: op ... label requires label }`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::slice;

use collsynth::format::goal;
use collsynth::lower::{Target, lower};
use collsynth::program::{Barriers, Program};
use collsynth::report::audit::figures;

use crate::support::machine;

#[derive(Debug)]
enum Op {
    Send { bytes: u64, to: u32, tag: u32 },
    Receive { bytes: u64, from: u32, tag: u32 },
    Calc,
}

#[derive(Default)]
struct Rank {
    ops: HashMap<String, Op>,
    order: Vec<String>,
    requires: Vec<(String, String)>,
}

/// By source, destination and tag: rank, label and length of each, in order.
type Packets = BTreeMap<(u32, u32, u32), Vec<(usize, String, u64)>>;

fn parse(text: &str) -> Vec<Rank> {
    let mut words = text.split_whitespace().peekable();
    let expect = |wanted: &str, words: &mut dyn Iterator<Item = &str>| {
        assert_eq!(words.next(), Some(wanted));
    };
    expect("num_ranks", &mut words);
    let count: usize = words.next().unwrap().parse().unwrap();
    let mut ranks = Vec::new();
    while words.peek().is_some() {
        expect("rank", &mut words);
        assert_eq!(words.next().unwrap().parse::<usize>().unwrap(), ranks.len());
        expect("{", &mut words);
        let mut rank = Rank::default();
        loop {
            let word = words.next().unwrap();
            if word == "}" {
                break;
            }
            let Some(label) = word.strip_suffix(':') else {
                expect("requires", &mut words);
                let other = words.next().unwrap();
                assert!(rank.ops.contains_key(word) && rank.ops.contains_key(other), "{word} {other}");
                rank.requires.push((word.to_owned(), other.to_owned()));
                continue;
            };
            let op = match words.next().unwrap() {
                "calc" => {
                    words.next().unwrap().parse::<u64>().unwrap();
                    Op::Calc
                }
                what => {
                    let bytes = words.next().unwrap().strip_suffix('b').unwrap().parse().unwrap();
                    expect(if what == "send" { "to" } else { "from" }, &mut words);
                    let peer = words.next().unwrap().parse().unwrap();
                    expect("tag", &mut words);
                    let tag = words.next().unwrap().parse().unwrap();
                    match what {
                        "send" => Op::Send { bytes, to: peer, tag },
                        "recv" => Op::Receive { bytes, from: peer, tag },
                        _ => panic!("{what}"),
                    }
                }
            };
            assert!(rank.ops.insert(label.to_owned(), op).is_none(), "{label} is there twice");
            rank.order.push(label.to_owned());
        }
        ranks.push(rank);
    }
    assert_eq!(ranks.len(), count);
    ranks
}

#[test]
fn what_is_written_is_goal_and_comes_to_its_end() {
    for (index, (name, schedule)) in machine::small_schedules().into_iter().enumerate() {
        let goal = Target { barriers: Barriers::ALL[index % 3], ..Target::default() };
        let Ok(program) = lower(&schedule, &goal) else { continue };
        check(&name, slice::from_ref(&program));
        if index % 7 == 0 {
            check(&format!("{name}, twice at once"), &[program.clone(), program]);
        }
    }
}

fn check(name: &str, programs: &[Program]) {
    let ranks = parse(&goal::to_string(programs, 64));
    // Sends and receives match by (source, destination, tag), in order, and have the same length.
    let mut sent: Packets = BTreeMap::new();
    let mut received = sent.clone();
    for (number, rank) in ranks.iter().enumerate() {
        for label in &rank.order {
            match rank.ops[label] {
                Op::Send { bytes, to, tag } => {
                    sent.entry((number as u32, to, tag)).or_default().push((number, label.clone(), bytes));
                }
                Op::Receive { bytes, from, tag } => {
                    received.entry((from, number as u32, tag)).or_default().push((number, label.clone(), bytes));
                }
                Op::Calc => {}
            }
        }
    }
    assert!(sent.keys().eq(received.keys()), "{name}");
    let mut before: HashMap<(usize, String), Vec<(usize, String)>> = HashMap::new();
    for (key, sends) in &sent {
        assert_eq!(sends.len(), received[key].len(), "{name}");
        for (send, receive) in sends.iter().zip(&received[key]) {
            assert_eq!(send.2, receive.2, "{name}");
            before.entry((receive.0, receive.1.clone())).or_default().push((send.0, send.1.clone()));
        }
    }
    let packets = programs.iter().map(figures).map(|figures| figures.packets + figures.tokens);
    assert_eq!(sent.values().map(Vec::len).sum::<usize>(), packets.sum::<usize>(), "{name}");
    for (number, rank) in ranks.iter().enumerate() {
        for (label, other) in &rank.requires {
            before.entry((number, label.clone())).or_default().push((number, other.clone()));
        }
    }
    // Some order completes everything.
    let mut left: Vec<(usize, String)> = Vec::new();
    for (number, rank) in ranks.iter().enumerate() {
        left.extend(rank.order.iter().map(|label| (number, label.clone())));
    }
    let mut done: HashSet<(usize, String)> = HashSet::new();
    while !left.is_empty() {
        let count = left.len();
        left.retain(|one| {
            let ready = before.get(one).is_none_or(|all| all.iter().all(|other| done.contains(other)));
            if ready {
                done.insert(one.clone());
            }
            !ready
        });
        assert!(left.len() < count, "{name}: {} operations wait for each other", left.len());
    }
}
