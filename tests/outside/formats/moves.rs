//! Tables of moves: what is written is read again, what is typed by hand means what it says, and the rest is refused.

use std::slice;

use collsynth::Request;
use collsynth::collective::{Collective, Demand, Groups, Kind};
use collsynth::format::csv;
use collsynth::format::json::{FormatCode, ParseError};
use collsynth::plan::Parts;
use collsynth::problem::Problem;
use collsynth::schedule::{Choice, Solution};
use collsynth::topology::{RankId, Topology, Torus};
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify};

use crate::support::plans::intact;

fn table(solution: &Solution) -> String {
    let mut table = Vec::new();
    csv::write(&mut table, slice::from_ref(solution), &Choice::default()).unwrap();
    String::from_utf8(table).unwrap()
}

fn holds(solution: &Solution) -> bool {
    verify(solution, &Options::default()).verdict() == Verdict::Holds
}

fn problem(topology: Topology, kind: Kind, parts: u32) -> Problem {
    Problem::new(topology, Collective { kind, parts }).unwrap()
}

#[test]
fn what_is_written_is_read_again() {
    let torus = Topology::torus(&[3, 2]).unwrap();
    let doubled = intact(Torus { wrap: vec![true, true], ..Torus::new(&[3, 2]) });
    let broken = Topology::torus(&[4, 3]).unwrap().fail_cable(0, 1).unwrap();
    let demand = || Demand::new(6, &(0..36).map(|pair| pair % 4).collect::<Vec<u32>>()).unwrap();
    let rows = Groups::new(vec![vec![RankId(0), RankId(1), RankId(2)], vec![RankId(3), RankId(4), RankId(5)]]).unwrap();
    let mut cases = vec![(broken.clone(), Kind::AllReduce, 3), (broken, Kind::AllToAll, 2)];
    for machine in [torus, doubled] {
        cases.extend(Kind::every(RankId(1), demand()).map(|kind| (machine.clone(), kind, 1)));
        cases.push((machine.clone(), Kind::AllGather, 4));
        cases.push((machine, Kind::AllToAll.in_groups(rows.clone()), 2));
    }
    for (machine, kind, parts) in cases {
        let planned = Request::new(&machine, kind.clone()).parts(Parts::Fixed(parts)).run().unwrap();
        let planned = planned.verify().unwrap().expand();
        let written = table(&planned);
        let read = csv::parse(&written, planned.problem.clone()).unwrap();
        let case = format!("{kind:?} in {parts} parts");
        assert!(holds(&read), "{case}");
        assert_eq!(table(&read), written, "{case}");
        assert_eq!(read.schedule.step_count(), planned.schedule.step_count(), "{case}");
        assert!(read.schedule.total_width() <= planned.schedule.total_width(), "{case}");
        // Lines in another order are the same table.
        let (heading, lines) = written.split_once('\n').unwrap();
        let mut lines: Vec<&str> = lines.lines().collect();
        lines.reverse();
        let read = csv::parse(&format!("{heading}\r\n{}\r\n", lines.join("\r\n")), planned.problem.clone()).unwrap();
        assert!(holds(&read), "{case}, in reverse");
    }
}

#[test]
fn what_is_typed_by_hand_means_what_it_says() {
    let ring = || Topology::torus(&[3]).unwrap();
    let gather =
        "\u{feff}Step, From, To, Chunk\n# round the ring\n1,0,1,0\n1,1,2,1\n\n1,2,0,2\n2,0,1,2\n2,1,2,0\n2,2,0,1\n";
    let read = csv::parse(gather, problem(ring(), Kind::AllGather, 1)).unwrap();
    assert!(holds(&read));
    assert_eq!((read.schedule.step_count(), read.schedule.total_width()), (2, 2));
    // As other tools call the ends.
    let other = gather.replacen("From, To", "src, DST", 1);
    assert_eq!(csv::parse(&other, problem(ring(), Kind::AllGather, 1)).unwrap(), read);
    // Without a part, all parts move; widths follow.
    let whole = csv::parse(gather, problem(ring(), Kind::AllGather, 4)).unwrap();
    assert!(holds(&whole));
    assert_eq!(whole.schedule.total_width(), 8);
    // Coordinates, and the names of `synth show --chunk`.
    let square = problem(Topology::torus(&[2, 2]).unwrap(), Kind::AllToAll, 2);
    let one = csv::parse("chunk,to,from,step\n0-1/1,1.0,0.0,1\n0-1/0,1,0,1\n", square).unwrap();
    assert_eq!(table(&one), "step,from,to,via,op,chunk,label\n1,0,1,x+,copy,3,0>1/1\n1,0,1,x+,copy,2,0>1/0\n");
    let sum = "step,from,to,chunk,op\n1,0,1,0,reduce\n2,1,0,0,copy\n";
    assert!(holds(&csv::parse(sum, problem(Topology::torus(&[2]).unwrap(), Kind::AllReduce, 1)).unwrap()));
    // A link that is not there, or failed, is for the judge.
    let line = Topology::torus(&[4]).unwrap().fail_cable(0, 1).unwrap();
    for moves in ["1,0,1,,0", "1,0,1,x+,0", "1,0,2,,0"] {
        let text = format!("step,from,to,via,chunk\n{moves}\n");
        assert!(!holds(&csv::parse(&text, problem(line.clone(), Kind::AllGather, 1)).unwrap()), "{moves}");
    }
}

#[test]
fn what_contradicts_itself_is_refused_with_its_place() {
    use FormatCode::{F001, F002, F003, F009};
    let gather = || problem(Topology::torus(&[4, 2]).unwrap(), Kind::AllGather, 1);
    let refused = |text: &str, expected: FormatCode, place: (usize, usize), words: &str| {
        let ParseError { code, line, column, message } = csv::parse(text, gather()).unwrap_err();
        assert_eq!((code, line, column), (expected, place.0, place.1), "{text}: {message}");
        assert!(message.contains(words), "{text}: {message}");
    };
    refused("", F001, (1, 1), "the table is empty");
    refused("1,0,1,0\n", F002, (1, 1), "the heading is missing");
    refused("step,from,to\n", F002, (1, 1), "no column `chunk`");
    refused("step,from,to,chunk,lane\n", F002, (1, 20), "unknown column `lane`");
    refused("step,from,to,step,chunk\n", F002, (1, 14), "two columns `step`");
    let of = |line: &str| format!("step,from,to,chunk,op,via\n{line}\n");
    refused(&of("1,0,1,0,copy,x+,7"), F001, (2, 17), "more cells than columns: 6");
    refused(&of("1,0,1"), F002, (2, 1), "no chunk");
    refused(&of("0,0,1,0"), F003, (2, 1), "`0` is not a step");
    refused(&of("-1,0,1,0"), F003, (2, 1), "`-1` is not a step");
    refused(&of("4294967296,0,1,0"), F003, (2, 1), "is not a step");
    refused(&of("4294967295,0,1,0"), F003, (2, 1), "step 4294967295 follows step 0");
    refused(&of("1,0,1,0\n3,1,2,0"), F003, (3, 1), "step 3 follows step 1");
    refused(&of("1, 8,1,0"), F003, (2, 4), "8");
    refused(&of("1,0,9.9,0"), F003, (2, 5), "9.9");
    refused(&of("1,0,1,8"), F003, (2, 7), "out of range");
    refused(&of("1,0,1,0-1"), F003, (2, 7), "no chunk of all_gather");
    refused(&of("1,0,1,0,add"), F003, (2, 9), "write copy or reduce");
    refused(&of("1,0,1,0,,x"), F003, (2, 10), "write x+ or x-");
    refused(&of("1,0,1,0,,x-"), F003, (2, 10), "x- leads from rank 0 to rank 3, not to rank 1");
    refused(&of("1,0,1,0,,z+"), F003, (2, 10), "z+ leads nowhere");
    refused(&of("1,4,0,0,,y+"), F003, (2, 10), "y+ leads nowhere from rank 4");
    let labelled = |line: &str| format!("step,from,to,chunk,label\n{line}\n");
    refused(&labelled("1,0,1,1,0"), F003, (2, 7), "`1` is not the number of chunk 0, which is 0");
    refused(&labelled("1,0,1,0,8"), F003, (2, 9), "out of range");
    // Where the collective adds, a copy and a reduce move different values.
    let sum = problem(Topology::torus(&[2]).unwrap(), Kind::AllReduce, 1);
    let error = csv::parse("step,from,to,chunk\n1,0,1,0\n", sum).unwrap_err();
    assert!(error.message.contains("all_reduce adds"), "{}", error.message);
    let graph = crate::support::plans::graph(2, &[(0, 1, 1), (1, 0, 1)]);
    let error = csv::parse("step,from,to,chunk,via\n1,0,1,0,x+\n", problem(graph, Kind::AllGather, 1)).unwrap_err();
    assert!(error.message.contains("have no directions"), "{}", error.message);
    // A small file may not move chunks without end.
    let parts = problem(Topology::torus(&[2]).unwrap(), Kind::AllGather, 1 << 20);
    let error = csv::parse("step,from,to,chunk\n1,0,1,0\n1,1,0,1\n", parts).unwrap_err();
    assert_eq!((error.code, error.line), (F009, 2), "{}", error.message);
}

#[test]
fn mutilated_tables_are_read_or_refused() {
    let square = problem(Topology::torus(&[2, 2]).unwrap(), Kind::AllToAll, 2);
    let planned = Request::new(square.topology(), Kind::AllToAll).parts(Parts::Fixed(2)).run().unwrap();
    let written = table(&planned.verify().unwrap().expand());
    for at in 0..written.len() {
        for cut in ["", ",", "\n", "\"", "9", "-", "\u{e9}", "/", ">"] {
            let text = format!("{}{cut}{}", &written[..at], &written[at + 1..]);
            if let Ok(read) = csv::parse(&text, square.clone()) {
                verify(&read, &Options::default());
            }
        }
    }
}
