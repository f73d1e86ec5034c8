//! Files of 512 ranks and more: what they leave out, trees and the way back, is read as it was planned.

use collsynth::format::json::parse_stated_within;
use collsynth::limits::Limits;
use collsynth::plan::Parts;
use collsynth::schedule::{AnySchedule, Schedule};
use collsynth::topology::{RankId, Topology};
use collsynth::{Kind, Request};

/// Transfers sorted, with their chunks sorted.
fn in_order(schedule: AnySchedule) -> Vec<(u32, Vec<String>)> {
    let schedule: Schedule = schedule.into_expanded();
    let steps = schedule.steps().map(|step| {
        let listed = |transfer: &_| {
            let mut chunks = schedule.chunks(transfer).to_vec();
            chunks.sort_unstable();
            format!("{} {} {:?} {:?} {chunks:?}", transfer.from, transfer.to, transfer.via, transfer.op)
        };
        let mut transfers: Vec<String> = step.transfers.iter().map(listed).collect();
        transfers.sort_unstable();
        (step.width, transfers)
    });
    steps.collect()
}

#[test]
fn what_is_written_in_brief_is_read_as_it_was_planned() {
    let intact = Topology::torus(&[8, 8, 8]).unwrap();
    let cable = intact.clone().fail_cable(2, 3).unwrap();
    let one_way = intact.clone().fail_link(2, 3).unwrap();
    let switch = intact.fail_switch(&"x:1,2".parse().unwrap(), &[4; 3]).unwrap();
    let all_reduce = |machine| Request::new(machine, Kind::AllReduce);
    let (half, trees) = ("\"mirrored\": true", "\"trees\": [");
    for (what, request, words, no_words) in [
        ("trees and a way back", all_reduce(&cable), &[half, trees][..], &["\"exceptions\""][..]),
        ("altered chunks and a way back", all_reduce(&cable).max_steps(24), &[half, "\"without\""], &[trees]),
        ("cells and a way back", all_reduce(&switch), &[half, "\"cell\": ["], &[trees]),
        ("no way back over one link", all_reduce(&one_way).parts(Parts::Fixed(12)), &[trees], &[half]),
        ("trees of copies", Request::new(&cable, Kind::Broadcast(RankId(5))), &[trees], &[half]),
        ("no trees", Request::new(&cable, Kind::AllToAll), &[], &[half, trees]),
    ] {
        let verified = request.run().unwrap().verify().unwrap();
        let text = verified.to_json();
        assert!(words.iter().all(|word| text.contains(word)), "{what}: {}", &text[..500]);
        assert!(!no_words.iter().any(|word| text.contains(word)), "{what}");
        let read = parse_stated_within(&text, &Limits::default()).unwrap();
        assert!(in_order(read.schedule) == in_order(verified.schedule.clone()), "{what}");
    }
}
