//! Tiny schedules written by hand: for each code a violation, next to the nearest schedule without it.

use super::facts::finding::Finding;
use super::facts::report::Report;
use super::options::Options;
use super::run::values::Values;
use super::verified::Verified;
use super::{Code, verify, violations_of};
use crate::verdict::Verdict;
use collsynth_core::certificate::{Bounds, Evidence, JointBound, StepsBound, VolumeBound, Window};
use collsynth_core::collective::{ChunkId, Collective, Demand, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule, Solution};
use collsynth_core::topology::{RankId, Shape, Topology, TopologySpec, Torus};

fn ring(ranks: u32, kind: Kind) -> Problem {
    problem(TopologySpec::torus(&[ranks]), kind)
}

fn problem(spec: TopologySpec, kind: Kind) -> Problem {
    Problem::new(Topology::new(spec).unwrap(), Collective::new(kind)).unwrap()
}

/// A ring of 4 whose cable between 0 and 1 is dead.
fn broken_ring(kind: Kind) -> Problem {
    problem(TopologySpec::torus(&[4]).without_cables(&[(0, 1)]), kind)
}

/// Each step is written `WIDTH| TRANSFER TRANSFER ...`, each transfer `FROM>TO:CHUNK,CHUNK` for copy, `FROM+TO:...` for
/// reduce, with `@x+` after the receiver for `via`; the width is 1 if left out.
fn schedule(steps: &[&str]) -> Schedule {
    let mut builder = Schedule::builder();
    for step in steps {
        let (width, transfers) = step.split_once('|').unwrap_or(("1", step));
        builder.step(width.parse().unwrap());
        for transfer in transfers.split_whitespace() {
            let (ends, chunks) = transfer.split_once(':').unwrap();
            let (ends, via) = ends.split_once('@').map_or((ends, None), |(ends, via)| (ends, Some(via)));
            let op = if ends.contains('>') { Op::Copy } else { Op::Reduce };
            let (from, to) = ends.split_once(['>', '+']).unwrap();
            let chunks = chunks.split(',').filter(|text| !text.is_empty()).map(|text| ChunkId(text.parse().unwrap()));
            let (from, to) = (RankId(from.parse().unwrap()), RankId(to.parse().unwrap()));
            builder.transfer(from, to, via.map(|via| via.parse().unwrap()), op, chunks);
        }
    }
    builder.finish()
}

fn judge_with(problem: &Problem, steps: &[&str], options: &Options) -> Report {
    let solution =
        Solution { problem: problem.clone(), schedule: schedule(steps), bounds: Bounds::default(), origin: None };
    verify(&solution, options)
}

fn judge(problem: &Problem, steps: &[&str]) -> Report {
    judge_with(problem, steps, &Options::default())
}

/// All totals: `D001 D002*3`, empty for a perfect schedule.
fn totals(problem: &Problem, steps: &[&str]) -> String {
    found(&judge(problem, steps))
}

fn found(report: &Report) -> String {
    let words = report.totals().map(|(code, total)| match total {
        1 => code.to_string(),
        _ => format!("{code}*{total}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn violations(problem: &Problem, steps: &[&str]) -> Vec<String> {
    judge(problem, steps).violations.into_iter().map(|finding| finding.message).collect()
}

fn messages(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.message.as_str()).collect()
}

/// All-to-all on a ring of 3, in one step.
const TRIANGLE: &str = "0>1:1 0>2:2 1>0:3 1>2:5 2>0:6 2>1:7";

/// All-to-all on a ring of 4: distance 1 at once, distance 2 clockwise for even origins, anticlockwise for odd ones.
const SQUARE: [&str; 2] =
    ["2| 0>1:1,2 0>3:3 1>2:6 1>0:4,7 2>3:11,8 2>1:9 3>0:12 3>2:14,13", "1| 1>2:2 3>0:8 0>3:7 2>1:13"];

#[test]
fn complete_schedules_hold_for_every_kind() {
    let root = RankId(0);
    for (kind, steps) in [
        (Kind::AllToAll, &[TRIANGLE][..]),
        (Kind::AllToAllV(Demand::new(3, &[5, 0, 2, 0, 0, 0, 1, 0, 0]).unwrap()), &["2| 0>2:5,6 2>0:7"]),
        (Kind::AllGather, &["0>1:0 0>2:0 1>0:1 1>2:1 2>0:2 2>1:2"]),
        (Kind::AllReduceGathered, &["0>1:0 0>2:0 1>0:1 1>2:1 2>0:2 2>1:2"]),
        (Kind::ReduceScatter, &["0+1:1 0+2:2 1+0:0 1+2:2 2+0:0 2+1:1"]),
        (Kind::AllReduce, &["1+0:0 2+0:0", "0>1:0 0>2:0"]),
        (Kind::Broadcast(root), &["0>1:0", "1>2:0"]),
        (Kind::Reduce(root), &["2+1:0", "1+0:0"]),
        (Kind::Scatter(root), &["2| 0>1:1,2", "1>2:2"]),
        (Kind::Gather(root), &["2>1:2", "2| 1>0:1,2"]),
        (Kind::Barrier, &["0+1:0 0+2:0 1+0:0 1+2:0 2+0:0 2+1:0"]),
    ] {
        assert_eq!(totals(&ring(3, kind.clone()), steps), "", "{}", kind.name());
    }
    assert_eq!(totals(&ring(4, Kind::AllToAll), &SQUARE), "");
}

#[test]
fn warnings_are_the_last_codes() {
    assert!(Code::ALL.iter().all(|code| code.is_warning() == code.to_string().starts_with('W')));
    assert!(Code::ALL.iter().enumerate().all(|(index, &code)| code as usize == index));
}

#[test]
fn t001_ranks_that_do_not_exist_or_failed() {
    let line = problem(TopologySpec::torus(&[4]).without_ranks(&[3]), Kind::Broadcast(RankId(1)));
    assert_eq!(totals(&line, &["1>2:0 1>0:0"]), "");
    let report = judge(&line, &["1>2:0 1>0:0", "0>3:0 9>0:0 0>9:0"]);
    let expected = [
        "the receiver is rank 3, which failed",
        "the sender is rank 9, which is out of range: ranks are 0 to 3",
        "the receiver is rank 9, which is out of range: ranks are 0 to 3",
    ];
    assert_eq!((messages(&report.violations), found(&report)), (expected.to_vec(), "T001*3".to_owned()));
}

#[test]
fn t002_links_that_do_not_exist() {
    let square = ring(4, Kind::Broadcast(RankId(0)));
    assert_eq!(totals(&square, &["0>1:0 0>3:0", "1>2:0"]), "");
    let report = judge(&square, &["0>1:0 0>2:0 0>0:0 0>3@x+:0", "2>3:0"]);
    let expected = [
        "there is no link from rank 0 to rank 2; rank 0 has live links to 1, 3",
        "rank 0 sends to itself; chunks move between ranks",
        "there is no link from rank 0 to rank 3 in direction x+: it goes x-",
    ];
    assert_eq!(messages(&report.violations), expected);
    // What came over the missing link went on once and is all that rank 2 has; rank 3 was spoiled by the other
    // transfer.
    assert_eq!(report.violations.iter().map(|finding| finding.consequences).collect::<Vec<_>>(), [2, 0, 1]);
}

#[test]
fn t002_asks_which_of_two_links() {
    let doubled = Torus { wrap: vec![true], ..Torus::new(&[2]) };
    let pair = problem(TopologySpec::new(Shape::Torus(doubled)), Kind::AllToAll).with_parts(2).unwrap();
    assert_eq!(totals(&pair, &["0>1@x+:2 0>1@x-:3 1>0@x+:4 1>0@x-:5"]), "");
    let expected = "two links join rank 0 to rank 1: say which one with `via`, x- or x+";
    assert_eq!(violations(&pair, &["0>1:2 0>1@x-:3 1>0@x+:4 1>0@x-:5"]), [expected]);
}

#[test]
fn t003_failed_links() {
    let path = broken_ring(Kind::Broadcast(RankId(0)));
    assert_eq!(totals(&path, &["0>3:0", "3>2:0", "2>1:0"]), "");
    let report = judge(&path, &["0>3:0 0>1:0", "1>2:0"]);
    assert_eq!(messages(&report.violations), ["link 0 -> 1 x+ has failed; rank 0 has live links to 3"]);
    assert_eq!((report.violations[0].consequences, found(&report).as_str()), (3, "T003"));
}

#[test]
fn l001_one_transfer_on_a_link() {
    let root = ring(3, Kind::Scatter(RankId(0))).with_parts(2).unwrap();
    assert_eq!(totals(&root, &["2| 0>1:2,3 0>2:4,5"]), "");
    let report = judge(&root, &["2| 0>1:2 0>2:4,5 0>1:3"]);
    assert_eq!(messages(&report.violations), ["link 0 -> 1 x+ is already used in step 1, by transfers[0]"]);
    assert_eq!((report.violations[0].step, report.violations[0].transfer), (Some(1), Some(2)));
    // The next step is free to use it again.
    assert_eq!(totals(&root, &["2| 0>1:2 0>2:4,5", "0>1:3"]), "");
}

#[test]
fn l002_width_times_capacity() {
    let wide = Torus { capacity: vec![2], ..Torus::new(&[2]) };
    let pair = problem(TopologySpec::new(Shape::Torus(wide)), Kind::Scatter(RankId(0))).with_parts(4).unwrap();
    assert_eq!(totals(&pair, &["2| 0>1:4,5,6,7"]), "");
    let expected = "4 chunks over link 0 -> 1 x+, which takes 2 in step 1 (width 1, capacity 2)";
    assert_eq!(violations(&pair, &["1| 0>1:4,5,6,7"]), [expected]);
    assert_eq!(totals(&pair, &["0| 0>1:4,5", "0>1:6,7"]), "L002");
}

#[test]
fn d001_not_there_yet_or_never() {
    let line = ring(4, Kind::Broadcast(RankId(0)));
    let report = judge(&line, &["0>1:0 1>2:0", "0>3:0"]);
    let lacks = "rank 1 does not hold chunk 0 at the beginning of step 1: it";
    assert_eq!(messages(&report.violations), [format!("{lacks} arrives only in this step, from rank 0")]);
    assert_eq!(report.violations[0].consequences, 1, "rank 2 ends without it");

    let report = judge(&line, &["1>2:0", "2>3:0", "0>1:0"]);
    assert_eq!(messages(&report.violations), [format!("{lacks} arrives only in step 3, from rank 0")]);
    assert_eq!(report.violations[0].consequences, 3, "one more hop and two ranks");

    let report = judge(&ring(3, Kind::AllToAll), &["0>1:1 0>2:2 1>0:3 1>2:5 2>0:6 1>2:0 2>1:7"]);
    assert_eq!(found(&report), "L001 D001");
    let never = lacks.replace("chunk 0", "chunk 0 (0>0)") + " never arrives there; it starts at rank 0";
    assert_eq!(report.violations[1].message, never);
}

#[test]
fn d002_says_where_a_chunk_got_stuck() {
    let report = judge(&ring(4, Kind::AllToAll), &SQUARE[..1]);
    let expected = "at the end rank 2 lacks chunk 2 (0>2): it got as far as rank 1 in step 1";
    assert_eq!((report.violations[0].message.as_str(), found(&report).as_str()), (expected, "D002*4 W002*4"));
    let report = judge(&ring(3, Kind::AllToAll), &["0>1:1 1>0:3 1>2:5 2>0:6 2>1:7"]);
    assert_eq!(messages(&report.violations), ["at the end rank 2 lacks chunk 2 (0>2): it never leaves rank 0"]);
    let Finding { step, transfer, to, chunk, .. } = report.violations[0];
    assert_eq!((step, transfer, to, chunk), (None, None, Some(RankId(2)), Some(ChunkId(2))));
}

#[test]
fn what_is_lacked_is_traced_to_where_it_is() {
    let trace = |problem: &Problem, steps: &[&str]| {
        let report = judge(problem, steps);
        let trace = report.violations[0].trace.clone().unwrap();
        let path: Vec<_> = trace.path.iter().map(|hop| (hop.step, hop.transfer, hop.from.0, hop.to.0)).collect();
        (trace.text, path)
    };
    let five = ring(5, Kind::Broadcast(RankId(0)));
    let (text, path) = trace(&five, &["0>4:0 0>1:0", "2>3:0", "1>2:0"]);
    assert_eq!(
        text,
        "rank 3 lacks chunk 0: rank 2 was to send it in step 2, but receives it only in step 3; it left \
         rank 0, where it starts, in step 1 and rank 1 in step 3"
    );
    assert_eq!(path, [(1, 1, 0, 1), (3, 0, 1, 2)]);
    let (text, path) = trace(&five, &["0>1:0 0>4:0 2>3:0"]);
    assert_eq!(
        text,
        "rank 3 lacks chunk 0: rank 2 was to send it in step 1, but never receives it; it left rank 0, \
         where it starts, in step 1 and gets no farther than rank 4"
    );
    assert_eq!(path, [(1, 1, 0, 4)]);
    let (text, _) = trace(&five, &["0>1:0 0>4:0", "1>2:0"]);
    assert_eq!(
        text,
        "rank 3 lacks chunk 0: nobody sends it there; it left rank 0, where it starts, in step 1 and rank 1 in step 2 and gets no farther than rank 2"
    );
    // What arrives again brings nothing.
    assert_eq!(trace(&five, &["0>1:0 0>4:0", "1>2:0", "0>1:0"]).0, text);
    let (text, path) = trace(&ring(3, Kind::AllToAll), &["0>1:1 1>0:3 1>2:5 2>0:6 2>1:7"]);
    let never = "rank 2 lacks chunk 2 (0>2): nobody sends it there; it never leaves rank 0, where it starts";
    assert_eq!((text.as_str(), path), (never, vec![]));
    // A transfer without a link brings nothing; a long path is abridged.
    let long = ring(24, Kind::Broadcast(RankId(0)));
    let steps: Vec<String> = (0..11).map(|rank| format!("{rank}>{}:0", rank + 1)).collect();
    let (text, path) = trace(&long, &steps.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(text.contains("rank 3 in step 4, 3 more, rank 7 in step 8"), "{text}");
    assert_eq!(path.len(), 11);
    assert!(judge(&five, &["0>2:0"]).violations[0].trace.is_none());
}

#[test]
fn d003_conflicting_arrivals() {
    let all = ring(3, Kind::AllReduce);
    assert_eq!(totals(&all, &["1+0:0 2+0:0", "0>1:0 0>2:0"]), "");
    for steps in [["1>0:0 2+0:0", "0>1:0 0>2:0"], ["1+0:0 2>0:0", "0>1:0 0>2:0"]] {
        let report = judge(&all, &steps);
        assert_eq!(
            messages(&report.violations),
            ["rank 0 receives chunk 0 2 times in step 1, from ranks 1 and 2, and not all are `reduce`: \
              which value stays is undefined"]
        );
        assert_eq!(report.violations[0].consequences, 2 + 3);
    }
    // Copies of a chunk that has one value only conflict too, but spoil nothing.
    let report = judge(&ring(3, Kind::Broadcast(RankId(0))), &["0>1:0 0>2:0", "1>2:0 0>2:0"]);
    assert_eq!((found(&report).as_str(), report.violations[0].consequences), ("D003", 0));
}

#[test]
fn r001_contributions_that_would_count_twice() {
    let all = ring(3, Kind::AllReduce);
    let report = judge(&all, &["1+0:0 2+0:0", "0+1:0 0>2:0"]);
    assert_eq!(
        messages(&report.violations),
        ["the contribution of rank 1 to chunk 0 would count twice: rank 1 holds it already and rank 0 \
          sends it again"]
    );
    assert_eq!(report.violations[0].consequences, 1);
    // Two arrivals in one step that share a contribution.
    assert_eq!(totals(&ring(4, Kind::Reduce(RankId(0))), &["2+1:0 2+3:0", "1+0:0 3+0:0"]), "R001");
    // Knowing an arrival twice is no harm.
    assert_eq!(totals(&ring(3, Kind::Barrier), &["1+0:0 2+0:0", "0+1:0 0+2:0"]), "");
}

#[test]
fn r002_contributions_that_are_lost() {
    let square = ring(4, Kind::Reduce(RankId(0)));
    assert_eq!(totals(&square, &["2+1:0", "1+0:0 3+0:0"]), "");
    let holds = "at the end rank 0 holds chunk 0 without the contribution";
    assert_eq!(violations(&square, &["2>1:0", "1+0:0 3+0:0"]), [format!("{holds} of rank 1")]);
    let others = format!("{holds}s of ranks 2, 3, 4, 5 and 2 more");
    assert_eq!(violations(&ring(8, Kind::Reduce(RankId(0))), &["1+0:0"]), [others]);
    assert_eq!(totals(&ring(3, Kind::Barrier), &["1+0:0 2>0:0 "]), "D003 R002*2");
}

#[test]
fn r003_reduce_needs_values_that_can_be_added() {
    let report = judge(&ring(3, Kind::AllReduceGathered), &["0+1:0 0>2:0 1>0:1 1>2:1 2>0:2 2>1:2"]);
    assert_eq!(
        messages(&report.violations),
        ["chunk 0 is reduced into rank 1, but chunks of all_reduce_gathered are moved as they are: use `copy`"]
    );
    assert_eq!(report.violations[0].consequences, 1);
}

#[test]
fn f005_f006_f007_wrong_chunks_and_empty_schedules() {
    let triangle = ring(3, Kind::AllToAll);
    let report = judge(&triangle, &["3| 0>1:1,9,1,1 0>2:2 1>0:3 1>2:5 2>0:6 2>1:7"]);
    assert_eq!(found(&report), "F005 F006 L002");
    assert_eq!(messages(&report.violations)[1], "chunk 1 (0>1) is listed 3 times in this transfer");
    assert_eq!(report.violations[1].chunk_index, Some(2));
    let expected = "the schedule moves no chunk, but all_to_all must: rank 1 needs data from rank 0";
    assert_eq!(violations(&triangle, &[]), [expected]);
    assert_eq!(totals(&triangle, &["0>1:"]), "F007 W001");
    assert_eq!(totals(&ring(1, Kind::AllReduce), &[]), "");
    assert_eq!(totals(&ring(2, Kind::AllToAllV(Demand::new(2, &[1, 0, 0, 1]).unwrap())), &[]), "");
}

#[test]
fn c001_bounds_must_be_proven() {
    let judge = |bounds| {
        let (problem, schedule) = (ring(3, Kind::AllToAll), schedule(&[TRIANGLE]));
        Verified::new(Solution { problem, schedule, bounds, origin: None }, &Options::default())
    };
    let separate = |steps_at_least, volume_at_least: i128| {
        let evidence = Evidence::metric(vec![(RankId(0), RankId(1), 1), (RankId(0), RankId(2), 1)]);
        let steps = Some(StepsBound { at_least: steps_at_least, from: RankId(0), to: RankId(1) });
        let volume = Some(VolumeBound { at_least: volume_at_least.into(), evidence });
        judge(Bounds { steps, volume, joint: Vec::new() })
    };
    assert!(separate(1, 1).unwrap().report().totals().next().is_none());
    let rejected = separate(2, 2).unwrap_err();
    let expected = [
        "the bound on the steps: 2 steps are claimed, but the distance from rank 0 to rank 1 is 1",
        "the bound on the volume: a volume of 2 is claimed, but the evidence proves only 1",
    ];
    assert_eq!(messages(&rejected.report.violations), expected);
    assert!(rejected.to_string().starts_with("the schedule has 2 violations; the first: C001 the bound on the steps"));
    let window = |to| Window { from: RankId(0), to: RankId(to), first: 1, last: 1, weight: 1 };
    let weights = vec![window(1), window(2)];
    let joint =
        |at_least: i128| JointBound { steps: 1, at_least: at_least.into(), rank: None, weights: weights.clone() };
    let rejected = judge(Bounds { joint: vec![joint(1), joint(2)], ..Bounds::default() }).unwrap_err();
    let expected = "the bound on the volume in 1 steps: a volume of 2 is claimed, but the evidence proves only 1";
    assert_eq!(messages(&rejected.report.violations), [expected]);
}

#[test]
fn warnings_are_no_refusal() {
    let line = ring(4, Kind::Scatter(RankId(0)));
    let good = ["0>1:2 0>3:3", "0>1:1 1>2:2"];
    assert_eq!(totals(&line, &good), "");
    // Chunk 2 comes to rank 2 a second time; chunk 1 strays to rank 3; a step does nothing.
    let report = judge(&line, &["0>1:2 0>3:3", "2| 0>1:1,2 1>2:2 0>3:1", "", "1>2:2"]);
    assert_eq!(report.verdict(), Verdict::Holds);
    assert_eq!(found(&report), "W001*2 W002 W004");
    let expected = [
        "rank 1 holds chunk 2 already, and this brings nothing new",
        "rank 3 neither needs chunk 1 nor sends it on",
        "step 3 has no transfer, but costs a start-up and its width",
        "rank 2 holds chunk 2 already, and this brings nothing new",
    ];
    assert_eq!(messages(&report.warnings), expected);
}

#[test]
fn w001_for_sums_means_the_same_sum() {
    let all = ring(3, Kind::AllReduce);
    assert_eq!(totals(&all, &["1+0:0 2+0:0", "0>1:0 0>2:0", "1>2:0"]), "W001");
    assert_eq!(totals(&ring(3, Kind::Barrier), &["1+0:0 2+0:0", "0>1:0 0+2:0", "1+2:0"]), "W001");
}

#[test]
fn w003_orders_of_addition() {
    // Every rank adds the other two contributions itself: (0+1)+2, (1+0)+2 and (2+0)+1.
    let all = ring(3, Kind::AllReduce);
    let report = judge(&all, &["0+1:0 0+2:0 1+0:0 1+2:0 2+0:0 2+1:0"]);
    assert_eq!(
        messages(&report.warnings),
        ["ranks 0 and 2 add the contributions to chunk 0 in different orders: floating-point sums may differ"]
    );
    assert_eq!(report.warning_count(), 1);
    // Exchanging pairwise adds a+b on one side and b+a on the other: the same.
    assert_eq!(totals(&ring(4, Kind::AllReduce), &["0+1:0 1+0:0 2+3:0 3+2:0", "0+3:0 3+0:0 1+2:0 2+1:0"]), "");
}

#[test]
fn one_rank_adds_nothing() {
    let observed = judge(&ring(1, Kind::AllReduce), &[]).observed.expect("it holds");
    assert!(observed.sums.is_none());
}

#[test]
fn the_first_findings_are_kept_and_all_are_counted() {
    let square = ring(4, Kind::AllToAll);
    let steps = ["2| 1>0:8,4 2>1:2,3", "2| 3>2:1,2", "0>1:1"];
    let full = judge_with(&square, &steps, &Options { max_errors: 100, ..Options::default() });
    assert!(full.verdict() == Verdict::Refuted && full.violation_count() == full.violations.len() as u64);
    let places: Vec<_> = full.violations.iter().map(|finding| (finding.step.unwrap_or(9), finding.transfer)).collect();
    assert!(places.is_sorted(), "{places:?}");
    for max_errors in 0..full.violations.len() {
        let report = judge_with(&square, &steps, &Options { max_errors, ..Options::default() });
        assert_eq!(report.violations[..], full.violations[..max_errors]);
        assert!(report.totals().eq(full.totals()) && report.verdict() == Verdict::Refuted);
    }
}

#[test]
fn chunks_can_be_judged_on_their_own() {
    let problem = ring(4, Kind::AllToAll);
    let steps = ["2| 1>0:8,4 2>1:2,3", "2| 3>2:1,2", "0>1:1"];
    let solution =
        Solution { problem: problem.clone(), schedule: schedule(&steps), bounds: Bounds::default(), origin: None };
    let all = judge_with(&problem, &steps, &Options { max_errors: usize::MAX, ..Options::default() }).violations;
    assert_eq!(violations_of(&solution, 0..u32::MAX), all);
    let of_8 = violations_of(&solution, 8..9);
    assert!(!of_8.is_empty() && of_8.iter().all(|finding| finding.chunk == Some(ChunkId(8))), "{of_8:?}");
}

#[test]
fn sums_take_memory_and_copies_none() {
    // Chunk 0 has the most moves: 3 additions and 3 copies.
    let steps = ["0+1:0 3+2:0", "1+2:0", "2>1:0 2>3:0", "1>0:0"];
    let most = 2 * 6 * Values::sum_bytes(4);
    // A bit for every rank, and more.
    assert!(Values::sum_bytes(64) > 8 && Values::sum_bytes(65) == Values::sum_bytes(64) + 8);
    let judged = |kind, memory| judge_with(&ring(4, kind), &steps, &Options { memory, ..Options::default() }).verdict();
    assert_eq!(judged(Kind::AllReduce, most), Verdict::Holds);
    assert_eq!(judged(Kind::AllReduce, most - 1), Verdict::NotJudged);
    let copies = judge_with(&ring(3, Kind::AllToAll), &[TRIANGLE], &Options { memory: 0, ..Options::default() });
    assert_eq!(copies.verdict(), Verdict::Holds);
}
