//! The table of docs/formats/rank-program.md and `Layout` agree on where chunks sit in buffers, for every kind.

use std::collections::BTreeSet;

use collsynth::collective::{ChunkId, Collective, Demand, Holders, Kind};
use collsynth::problem::Problem;
use collsynth::program::{Alias, Buffer, Layout};
use collsynth::topology::{RankId, Topology};

const RANKS: u32 = 3;
const PARTS: u32 = 2;
const ROOT: RankId = RankId(1);

/// A row: input slot, output slot and, with `in_place`, the shared places.
fn row(kind: &Kind) -> [String; 3] {
    let page = include_str!("../../../docs/formats/rank-program.md");
    let table =
        page.split("## Where chunks stand").nth(1).expect("the section").split("\n## ").next().expect("its end");
    let named = format!("`{}`", kind.name());
    let row = table.lines().find(|line| line.split('|').nth(1).is_some_and(|cell| cell.contains(&named)));
    let cells: Vec<&str> = row.expect("a row for every kind").split('|').map(str::trim).collect();
    [cells[2], cells[3], cells[4]].map(str::to_owned)
}

/// The slot of a chunk by a cell; `None` if this rank has none.
fn slot(cell: &str, (origin, dest, part): (u32, u32, u32), rank: RankId) -> Option<u32> {
    let cell = match cell.strip_prefix("at the root ") {
        Some(_) if rank != ROOT => return None,
        Some(there) => there,
        None => cell,
    };
    Some(match cell {
        "`p`" => part,
        "`origin*P + p`" => origin * PARTS + part,
        "`dest*P + p`" => dest * PARTS + part,
        other => panic!("a cell of another form: {other}"),
    })
}

fn problem(kind: Kind) -> Problem {
    Problem::new(Topology::torus(&[RANKS]).unwrap(), Collective { kind, parts: PARTS }).unwrap()
}

fn demand() -> Demand {
    Demand::new(RANKS, &[1, 2, 0, 3, 0, 1, 0, 2, 2]).unwrap()
}

fn ranks() -> impl Iterator<Item = RankId> {
    (0..RANKS).map(RankId)
}

#[test]
fn chunks_stand_where_the_page_says() {
    for kind in Kind::every(ROOT, demand()).into_iter().filter(|kind| kind.demand().is_none()) {
        let (problem, [input, output, _]) = (problem(kind.clone()), row(&kind));
        for (chunk, rank) in
            (0..problem.chunk_count()).map(ChunkId).flat_map(|chunk| ranks().map(move |at| (chunk, at)))
        {
            let layout = Layout::of_program(&problem, false, rank, 0);
            let rule = problem.rule(chunk);
            let one = |holders| if let Holders::One(rank) = holders { rank.0 } else { u32::MAX };
            let what = (one(rule.before), one(rule.after), if kind.can_be_cut() { chunk.0 % PARTS } else { 0 });
            let expected =
                |cell: &str, holders| problem.is_holder(holders, rank).then(|| slot(cell, what, rank)).flatten();
            let found = [layout.before(chunk), layout.after(chunk)].map(|slot| slot.map(|slot| slot.offset));
            assert_eq!(
                found,
                [expected(&input, rule.before), expected(&output, rule.after)],
                "{} {chunk} {rank}",
                kind.name()
            );
            let call = Layout::of_call(&problem, rank);
            assert_eq!(call.block_after(chunk), found[1].map(|slot| slot / call.parts() as u32));
            assert_eq!(call.block_before(chunk).is_some(), found[0].is_some());
        }
    }
}

#[test]
fn chunks_of_a_demand_stand_in_order() {
    let problem = problem(Kind::AllToAllV(demand()));
    let [input, output, _] = row(&problem.collective().kind);
    assert_eq!(
        [input.as_str(), output.as_str()],
        ["its chunks in order of (dest, part)", "the same by (origin, part)"]
    );
    for rank in ranks() {
        let layout = Layout::of_program(&problem, false, rank, 0);
        let slots = |of: &dyn Fn(ChunkId) -> Option<u32>| -> Vec<u32> {
            (0..problem.chunk_count()).filter_map(|chunk| of(ChunkId(chunk))).collect()
        };
        // Chunks are numbered by (origin, dest, part).
        let sent = slots(&|chunk| layout.before(chunk).map(|slot| slot.offset));
        let received = slots(&|chunk| layout.after(chunk).map(|slot| slot.offset));
        assert_eq!(sent, (0..layout.len(Buffer::Input)).collect::<Vec<_>>());
        assert_eq!(received, (0..layout.len(Buffer::Output)).collect::<Vec<_>>());
    }
}

#[test]
fn buffers_share_room_as_the_page_says() {
    for kind in Kind::every(ROOT, demand()) {
        let (problem, [.., in_place]) = (problem(kind.clone()), row(&kind));
        for rank in ranks() {
            let rule = match in_place.strip_prefix("at the root, ") {
                Some(_) if rank != ROOT => "not allowed",
                Some(rule) => rule,
                None => in_place.as_str(),
            };
            let expected = match rule {
                "not allowed" => Alias::Apart,
                "the output is the input" => Alias::InputInOutput(0),
                rule if rule.starts_with("the input is the output from") => Alias::InputInOutput(rank.0 * PARTS),
                rule if rule.starts_with("the output is the input from") => Alias::OutputInInput(rank.0 * PARTS),
                other => panic!("a rule of another form: {other}"),
            };
            assert_eq!(Layout::of_program(&problem, true, rank, 0).alias(), expected, "{} {rank}", kind.name());
        }
    }
}

#[test]
fn every_block_of_an_output_has_a_source_that_has_it() {
    for kind in Kind::every(ROOT, demand()) {
        let problem = problem(kind.clone());
        for rank in ranks() {
            let layout = Layout::of_call(&problem, rank);
            let mut blocks = 0;
            for (holders, first, count) in layout.sources() {
                for origin in problem.holders(holders) {
                    let there = Layout::of_program(&problem, false, origin, 0);
                    assert!((first + count) * there.parts() as u32 <= there.len(Buffer::Input), "{}", kind.name());
                }
                blocks += count as usize;
            }
            assert_eq!(blocks, layout.blocks().1, "{} {rank}", kind.name());
        }
    }
}

#[test]
fn every_kind_has_a_name_of_its_own() {
    let kinds = Kind::every(ROOT, demand());
    assert_eq!(kinds.iter().map(Kind::name).collect::<BTreeSet<_>>().len(), kinds.len());
    assert!(kinds.iter().all(|kind| Kind::named(kind.name(), ROOT, demand()).as_ref() == Some(kind)));
}
