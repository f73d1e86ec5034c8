use std::collections::BTreeSet;

use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::Index;

use super::FormatCode::{F001, F002, F003, F004, F005, F008, F009};
use super::locate;
use super::locate::PathItem;
use super::schedule::read::{parse_solution, parse_topology};
use super::schedule::write::{solution_to_string, to_brief_string, topology_to_string};
use collsynth_core::certificate::{Bounds, Evidence, JointBound, Rational, StepsBound, VolumeBound, Window};
use collsynth_core::collective::{ChunkId, Collective, Demand, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Origin, Schedule, Solution};
use collsynth_core::topology::{
    DimRef, Direction, FailedLink, GraphLink, LinkId, RankId, Shape, Topology, TopologySpec, Torus,
};

/// A file with these steps.
fn with_steps(steps: &str) -> String {
    let rest = "\"topology\": {\"torus\": [4, 4]},\n \"collective\": {\"kind\": \"all_to_all\", \"parts\": 2}";
    format!("{{\"steps\": {steps}, \"format\": \"collective-schedule/1\",\n {rest}}}")
}

/// A file with these keys, the last on a line of its own.
fn with(first: &str, last: &str) -> String {
    format!("{{\"format\": \"collective-schedule/1\", {first}, \"steps\": [],\n{last}}}")
}

fn with_topology(topology: &str) -> String {
    with(r#""collective": {"kind": "broadcast", "root": 0}"#, &format!("\"topology\": {topology}"))
}

fn with_collective(collective: &str) -> String {
    with(r#""topology": {"torus": [3], "failed_ranks": [2]}"#, &format!("\"collective\": {collective}"))
}

fn with_bounds(bounds: &str) -> String {
    with(r#""topology": {"torus": [3]}, "collective": {"kind": "barrier"}"#, &format!("\"bounds\": {bounds}"))
}

/// Checks the code, the words, and that the reported place is where the text continues with `place`.
#[track_caller]
fn refused(text: &str, code: super::FormatCode, place: &str, words: &str) {
    let error = parse_solution(text).expect_err("the text is wrong");
    let line = text.lines().nth(error.line - 1).unwrap_or_default();
    let rest: String = line.chars().skip(error.column - 1).collect();
    let right = error.code == code && rest.starts_with(place) && error.message.contains(words);
    assert!(right, "{error}, at `{rest}`, of\n{text}");
}

#[test]
fn ranks_and_chunks_are_read_in_either_form() {
    let text =
        with_steps(r#"[{"transfers": [{"from": "1.0", "to": "5", "via": "y+", "chunks": ["1>7/1", 8, "2>0"]}]}]"#);
    let solution = parse_solution(&text).unwrap();
    let transfer = &solution.schedule.transfers()[0];
    assert_eq!((transfer.from, transfer.to, transfer.op), (RankId(1), RankId(5), Op::Copy));
    assert_eq!(transfer.via, Some(Direction { dim: 1, positive: true }));
    assert_eq!(solution.schedule.chunks(transfer), [ChunkId(47), ChunkId(8), ChunkId(64)]);
    assert_eq!((solution.bounds, solution.origin), (Bounds::default(), None));
}

#[test]
fn broken_json_is_reported_with_its_place() {
    refused("", F001, "", "EOF");
    refused("{\"format\": \"collective-schedule/1\",\n", F001, "", "EOF");
    refused(&(with_steps("[]") + "\n}"), F001, "}", "trailing");
    refused(&with_steps(&"[".repeat(100_000)), F003, "[[[[[[[[", "an object");
    refused(&with_steps(r#"[{"width": 1 "transfers": []}]"#), F001, "\"transfe", "expected `,` or `}`");
}

#[test]
fn wrong_keys_are_reported_with_the_right_ones() {
    let unknown = with_steps(r#"[{"transfers": [{"from": 0, "to": 1, "chunk": [1]}]}]"#);
    refused(&unknown, F002, "\": [1]}]", "unknown field `chunk`, expected one of `from`, `to`, `via`, `op`, `chunks`");
    refused(&with_steps("[{\"width\": 1}]"), F002, "}], \"for", "missing field `transfers`");
    refused(&with_steps(r#"[{"width": 1, "width": 2}]"#), F002, "\": 2}], ", "duplicate field `width`");
    refused(&with_topology("{}"), F002, "{}}", "`torus` or `links`");
    refused(&with_topology(r#"{"torus": [2], "links": []}"#), F002, "[]}}", "exclude each other");
    refused(&with_topology(r#"{"torus": [2], "ranks": 2}"#), F002, "2}}", "belongs to `links`");
    refused(&with_topology(r#"{"links": [], "wrap": [true]}"#), F002, "[true]}}", "belongs to `torus`");
    refused(&with_collective(r#"{"kind": "reduce"}"#), F002, "}}", "missing field `root`");
    refused(&with_collective(r#"{"kind": "barrier", "root": 0}"#), F002, "}}", "unknown field `root`");
    refused(&with_bounds(r#"{"volume": {"kind": "cut", "at_least": 1}}"#), F002, "}}}", "`ranks`");
}

#[test]
fn wrong_values_are_reported_with_their_place() {
    refused(&with_steps(r#"[{"width": 0, "transfers": []}]"#), F003, "0, \"tran", "at least 1");
    refused(&with_steps("[[1, []]]"), F003, "[[1, []]", "an object");
    refused(&with_steps("null"), F003, "l, \"form", "null");
    let torus = r#"{"format": "collective-schedule/1", "topology": {"torus": "4x4"}, "collective": {}, "steps": []}"#;
    refused(torus, F003, "\"}, \"coll", "string \"4x4\", expected an array, such as [4, 4]");
    let transfer = |keys: &str| with_steps(&format!(r#"[{{"transfers": [{{"from": 0, "to": 1, {keys}}}]}}]"#));
    refused(&transfer(r#""op": "add", "chunks": []"#), F003, "\", \"chun", "`copy` or `reduce`");
    refused(&transfer(r#""via": "x", "chunks": []"#), F003, "\", \"chun", "directions are x+ and x-");
    refused(&transfer(r#""via": null, "chunks": []"#), F003, "l, \"chun", "null");
    refused(&transfer("\"chunks\": [-1]"), F003, "1]}]}], ", "its label");
    refused(&transfer("\"chunks\": [1.0]"), F003, "0]}]}], ", "its label");
    refused(&with_steps(r#"[{"transfers": [{"from": "4.0", "to": 0, "chunks": []}]}]"#), F003, "\"4.0\", \"", "4x4");
    refused(&with_steps(r#"[{"transfers": [{"from": "a", "to": 0, "chunks": []}]}]"#), F003, "\", \"to\":", "a rank");
    refused(&with_collective(r#"{"kind": "broadcast", "root": 0, "parts": 0}"#), F003, "}}", "at least 1");
    refused(&with_collective(r#"{"kind": "alltoall"}"#), F003, "\"}}", "did you mean `all_to_all`?");
    refused(
        &with_collective(r#"{"kind": "shuffle"}"#),
        F003,
        "\"}}",
        "unknown name `shuffle`, expected one of `all_to_all`",
    );
    for at_least in ["-1", "\"1/0\"", "\"+1\"", "1.5", "\"1/2/3\"", "\"\"", &format!("\"{}\"", "9".repeat(40))] {
        let text = with_bounds(&format!(r#"{{"volume": {{"kind": "cut", "ranks": [], "at_least": {at_least}}}}}"#));
        assert_eq!(parse_solution(&text).unwrap_err().code, F003, "{at_least}");
    }
}

#[test]
fn another_version_is_reported_before_anything_else() {
    refused("{}", F004, "{}", "missing");
    refused("{\"rounds\": [],\n \"format\": \"collective-schedule/2\"}", F004, "\"collect", "collective-schedule/1");
    refused("{\"format\": 1}", F004, "1}", "`format` is 1");
}

#[test]
fn chunks_out_of_range_are_found_in_the_text() {
    let steps = |chunks: &str| {
        with_steps(&format!(
            "[{{\"transfers\": []}}, {{\"transfers\": [\n{{\"from\": 0, \"to\": 1, \"chunks\": {chunks}}}]}}]"
        ))
    };
    refused(
        &steps("[511, 512]"),
        F005,
        "512]}]}]",
        "chunk 512 is out of range: the chunks of this all_to_all are 0 to 511",
    );
    refused(&steps("[99999999999]"), F005, "99999999", "0 to 511");
    refused(&steps("[0, \"3>16\"]"), F005, "\"3>16\"]}", "rank 16");
    refused(&steps("[\"3>5/2\"]"), F005, "\"3>5/2\"]", "part 2");
    refused(&steps("[\"3\"]"), F005, "\"3\"]}]}]", "origin>dest");
}

#[test]
fn what_makes_no_machine_is_found_in_the_text() {
    refused(&with_topology("{\"torus\": [4, 0]}"), F008, "[4, 0]}}", "extent 0");
    refused(&with_topology("{\"torus\": []}"), F008, "[]}}", "dimensions");
    refused(&with_topology(r#"{"torus": [4, 4], "wrap": [true]}"#), F008, "[true]}}", "`wrap` has 1 entries");
    refused(&with_topology(r#"{"torus": [4], "wrap": []}"#), F008, "[]}}", "`wrap` has 0 entries");
    refused(&with_topology(r#"{"torus": [4], "capacity": [0]}"#), F008, "[0]}}", "capacity 0");
    refused(&with_topology("{\"torus\": [4000000000, 4000000000]}"), F008, "[4000000", "ranks");
    refused(&with_topology(r#"{"torus": [4], "failed_ranks": [1, 2, 2]}"#), F008, "2]}}", "twice");
    refused(&with_topology(r#"{"torus": [4], "failed_ranks": [1, 9]}"#), F008, "9]}}", "0 to 3");
    refused(&with_topology(r#"{"torus": [4], "failed_ranks": ["0.0"]}"#), F008, "\"0.0\"]}}", "4 torus");
    let links = "{\"torus\": [4, 4], \"failed_links\": [{\"from\": 0, \"to\": 1},\n{\"from\": 2, \"to\": 4}, \
                 {\"from\": 3, \"to\": 2}]}";
    refused(&with_topology(links), F008, "{\"from\":", "not neighbors");
    refused(&with_topology("{\"links\": []}"), F008, "{\"links\"", "no rank");
    refused(&with_topology(r#"{"links": [], "ranks": 4000000000}"#), F008, "40000000", "ranks");
    refused(&with_topology(r#"{"links": [{"from": 0, "to": 4294967295}]}"#), F008, "[{\"from\"", "ranks");
    refused(&with_topology(r#"{"links": [{"from": "0.0", "to": 1}]}"#), F008, "\"0.0\", \"", "no");
}

#[test]
fn a_collective_that_does_not_fit_is_found_in_the_text() {
    refused(&with_collective(r#"{"kind": "broadcast", "root": 3}"#), F009, "3}}", "out of range");
    refused(&with_collective(r#"{"kind": "broadcast", "root": 2}"#), F009, "2}}", "failed");
    refused(&with_collective(r#"{"kind": "broadcast", "root": "0.1"}"#), F009, "\"0.1\"}}", "torus");
    refused(&with_collective(r#"{"kind": "all_to_all", "parts": 4000000000}"#), F009, "40000000", "chunks");
    refused(&with_collective(r#"{"kind": "all_to_allv", "demand": [[1]]}"#), F009, "[[1]]}}", "1 rows");
    let uneven = r#"{"kind": "all_to_allv", "demand": [[1, 1, 1], [1, 1], [1]]}"#;
    refused(&with_collective(uneven), F009, "[1, 1], ", "2 entries");
}

#[test]
fn topology_files_are_read_in_normal_form() {
    let text = r#"{"failed_links": [{"from": "3.0", "to": 2}], "torus": [4, 2], "wrap": [true, false]}"#;
    let spec = parse_topology(text).unwrap();
    assert_eq!(spec.failed_links[0].dim, Some(DimRef::Dim(0)));
    let written =
        "{\n  \"torus\": [4, 2],\n  \"failed_links\": [\n    {\"from\": 2, \"to\": 3, \"dim\": \"x\"}\n  ]\n}\n";
    assert_eq!(topology_to_string(&spec), written);
    assert_eq!(parse_topology("{\"format\": 1}").unwrap_err().code, F002);
}

#[test]
fn locate_follows_any_path_and_refuses_what_is_not_there() {
    let text = "{\"a\\u0062\": [\"x]\", {\"é\": \"é\", \"k\": 7}, [[], 1e3 ]] , \"z\": null}";
    let place = |path: &[PathItem<'_>]| {
        locate(text, path).map(|(_, column)| &text[text.char_indices().nth(column - 1).unwrap().0..])
    };
    let (key, index) = (PathItem::Key, PathItem::Index);
    assert_eq!(place(&[]).unwrap(), text);
    assert!(place(&[key("ab"), index(1), key("k")]).unwrap().starts_with("7}"));
    assert!(place(&[key("ab"), index(2), index(1)]).unwrap().starts_with("1e3 ]"));
    assert!(place(&[key("z")]).unwrap().starts_with("null"));
    for path in [&[key("q")][..], &[key("ab"), index(3)], &[key("ab"), key("k")], &[index(0)], &[key("z"), index(0)]] {
        assert_eq!(place(path), None, "{path:?}");
    }
}

#[test]
fn a_step_says_the_op_where_all_its_transfers_reduce() {
    let problem = {
        let torus = TopologySpec::new(Shape::Torus(Torus::new(&[3])));
        Problem::new(Topology::new(torus).unwrap(), Collective { kind: Kind::ReduceScatter, parts: 1 }).unwrap()
    };
    let mut builder = Schedule::builder();
    for (step, second) in [Op::Reduce, Op::Copy].into_iter().enumerate() {
        builder.step(1);
        builder.transfer(RankId(0), RankId(1), None, Op::Reduce, [ChunkId(1)]);
        builder.transfer(RankId(0), RankId(2), None, second, (step == 0).then_some(ChunkId(2)));
    }
    let solution = Solution { problem, schedule: builder.finish(), bounds: Bounds::default(), origin: None };
    let text = to_brief_string(&solution);
    let steps: Vec<&str> = text.split("\"transfers\"").collect();
    assert!(steps[0].ends_with("{\"op\": \"reduce\", ") && !steps[1].contains("\"op\": \"reduce\", \"chunks\""));
    assert_eq!(steps[2].matches("\"op\": \"reduce\", \"chunks\"").count(), 1, "{text}");
    let read = parse_solution(&text).unwrap();
    assert_eq!(in_order(&read.schedule), in_order(&solution.schedule));
}

#[test]
fn the_order_of_additions_survives_writing() {
    let problem = Problem::new(Topology::torus(&[3]).unwrap(), Collective::new(Kind::Reduce(RankId(0)))).unwrap();
    let written = |ops: [Op; 2]| {
        let mut builder = Schedule::builder();
        builder.step(1).transfer(RankId(2), RankId(0), None, ops[0], [ChunkId(0)]);
        builder.transfer(RankId(1), RankId(0), None, ops[1], [ChunkId(0)]);
        let schedule = builder.finish();
        let solution = Solution { problem: problem.clone(), schedule, bounds: Bounds::default(), origin: None };
        let read = parse_solution(&solution_to_string(&solution)).unwrap();
        read.schedule.transfers().iter().map(|transfer| transfer.from.0).collect::<Vec<_>>()
    };
    assert_eq!(written([Op::Reduce, Op::Reduce]), [2, 1]);
    assert_eq!(written([Op::Copy, Op::Reduce]), [1, 2]);
}

/// Machines of every kind, in normal form.
fn topologies() -> impl Strategy<Value = Topology> {
    let torus = |extents: &[u32], wrap: &[bool], capacity: &[u32]| {
        TopologySpec::new(Shape::Torus(Torus {
            extents: extents.into(),
            wrap: wrap.into(),
            capacity: capacity.into(),
            ..Torus::new(&[])
        }))
    };
    let failed = |from, to, dim, both| FailedLink { from: RankId(from), to: RankId(to), dim, both };
    let link = |from, to, capacity| GraphLink { from: RankId(from), to: RankId(to), capacity };
    let mut broken = torus(&[4, 2], &[true, true], &[1, 3]);
    broken.failed_links = vec![failed(2, 3, None, true), failed(1, 5, Some("y+".parse().unwrap()), false)];
    broken.failed_ranks = vec![RankId(7)];
    let mut graph =
        TopologySpec::new(Shape::Graph { ranks: 5, links: vec![link(0, 1, 2), link(1, 2, 1), link(2, 0, 1)] });
    graph.failed_links = vec![failed(1, 2, None, true)];
    let exact = TopologySpec::new(Shape::Graph { ranks: 3, links: vec![link(0, 1, 1), link(1, 2, 1), link(2, 0, 1)] });
    let all = [torus(&[3, 3], &[], &[]), torus(&[5], &[false], &[]), broken, graph, exact];
    proptest::sample::select(all.map(|spec| Topology::new(spec).unwrap()).to_vec())
}

fn kinds(ranks: u32) -> impl Strategy<Value = Kind> {
    let demand = proptest::collection::vec(0_u32..3, (ranks * ranks) as usize)
        .prop_map(move |counts| Kind::AllToAllV(Demand::new(ranks, &counts).unwrap()));
    let root = (0..ranks.min(3)).prop_map(RankId);
    prop_oneof![
        proptest::sample::select(vec![Kind::AllToAll, Kind::AllGather, Kind::ReduceScatter, Kind::AllReduce]),
        proptest::sample::select(vec![Kind::Barrier, Kind::AllReduceGathered]),
        demand,
        root.clone().prop_map(Kind::Broadcast),
        root.clone().prop_map(Kind::Reduce),
        root.clone().prop_map(Kind::Scatter),
        root.prop_map(Kind::Gather),
    ]
}

fn windows() -> impl Strategy<Value = Vec<Window>> {
    let rank = || (0_u32..9).prop_map(RankId);
    let ends = (rank(), rank(), 0_u32..9, 0_u32..9, 0_u32..5);
    let window = |(from, to, first, last, weight)| Window { from, to, first, last, weight };
    proptest::collection::vec(ends.prop_map(window), 0..4)
}

fn evidence() -> impl Strategy<Value = Evidence> {
    let rank = || (0_u32..9).prop_map(RankId);
    let set = || proptest::collection::vec(rank(), 0..4);
    prop_oneof![
        (
            proptest::option::of(proptest::collection::vec(0_u32..9, 0..4)),
            proptest::collection::vec((rank(), rank(), 0_u32..5), 0..4),
        )
            .prop_map(|(period, weights)| Evidence::Metric { period, weights }),
        set().prop_map(|ranks| Evidence::Cut { ranks }),
        (0_u32..9, proptest::option::of(rank()), windows())
            .prop_map(|(width, rank, weights)| Evidence::MetricOverTime { width, rank, weights }),
        proptest::collection::vec(set(), 0..3).prop_map(|blocks| Evidence::Partition { blocks }),
    ]
}

prop_compose! {
    fn joint_bound()(
        steps in 0_u32..9,
        (over, under) in (0_i128..1 << 70, 1_i128..1 << 70),
        rank in proptest::option::of((0_u32..9).prop_map(RankId)),
        weights in windows(),
    ) -> JointBound {
        JointBound { steps, at_least: Rational::new(over, under), rank, weights }
    }
}

prop_compose! {
    fn any_bounds()(
        steps in proptest::option::of((0_u32..9, 0_u32..9, 0_u32..9)),
        volume in proptest::option::of((0_i128..1 << 70, 1_i128..1 << 70, evidence())),
        joint in proptest::collection::vec(joint_bound(), 0..3),
    ) -> Bounds {
        let steps = steps.map(|(at_least, from, to)| StepsBound { at_least, from: RankId(from), to: RankId(to) });
        let claim = |(over, under, evidence)| VolumeBound { at_least: Rational::new(over, under), evidence };
        let volume = volume.map(claim);
        Bounds { steps, volume, joint }
    }
}

prop_compose! {
    fn origins()(
        (tool, planner, command, seed) in (of(".*"), of("[a-z]+"), of(".*"), of(any::<u64>())),
    ) -> Origin {
        Origin { tool, planner, command, seed }
    }
}

/// A step: its width and its transfers (from, to, direction, reduce, chunks).
type StepData = (u32, Vec<(u32, u32, Option<bool>, bool, Vec<u32>)>);

fn solutions() -> impl Strategy<Value = Solution> {
    let problems = topologies().prop_flat_map(|topology| {
        let kinds = kinds(topology.rank_count().try_into().unwrap());
        (Just(topology), kinds, 1_u32..4)
            .prop_map(|(topology, kind, parts)| Problem::new(topology, Collective { kind, parts }).unwrap())
    });
    let chunks = proptest::collection::vec(any::<u32>(), 0..4);
    let transfer = (any::<u32>(), any::<u32>(), any::<Option<bool>>(), any::<bool>(), chunks);
    let steps = proptest::collection::vec((1_u32..4, proptest::collection::vec(transfer, 0..5)), 0..4);
    (problems, steps, any_bounds(), proptest::option::of(origins())).prop_map(|(problem, steps, bounds, origin)| {
        let schedule = schedule(problem.chunk_count(), &steps);
        Solution { problem, schedule, bounds, origin }
    })
}

fn schedule(chunk_count: u32, steps: &[StepData]) -> Schedule {
    let mut builder = Schedule::builder();
    for (width, transfers) in steps {
        builder.step(*width);
        for (from, to, positive, reduce, chunks) in transfers {
            let op = if *reduce { Op::Reduce } else { Op::Copy };
            let via = positive.map(|positive| Direction { dim: 0, positive });
            let chunks = chunks.iter().filter_map(|chunk| chunk.checked_rem(chunk_count)).map(ChunkId);
            builder.transfer(RankId(*from), RankId(*to), via, op, chunks);
        }
    }
    builder.finish()
}

proptest! {
    #[test]
    fn writing_and_reading_give_the_same_back(solution in solutions()) {
        let text = solution_to_string(&solution);
        let read = parse_solution(&text).unwrap();
        prop_assert_eq!(&solution_to_string(&read), &text);
            // Read back, transfers are in the order of the text; nothing else may have changed.
        let again = parse_solution(&solution_to_string(&read)).unwrap();
        prop_assert_eq!(&again, &read);
        prop_assert_eq!(in_order(&solution.schedule), in_order(&read.schedule));
        let bare = |solution| Solution { schedule: Schedule::default(), ..solution };
        prop_assert_eq!(bare(read), bare(solution));
    }

    #[test]
    fn in_brief_the_same_is_read(solution in solutions()) {
        let plain = parse_solution(&solution_to_string(&solution)).unwrap();
        let read = parse_solution(&to_brief_string(&plain)).unwrap();
        prop_assert_eq!(in_order(&read.schedule), in_order(&plain.schedule));
    }

    #[test]
    fn trees_are_read_as_they_were_written(
        (extents, wrap) in prop_oneof![
            Just((vec![5], vec![true])), Just((vec![3, 2], vec![true, true])), Just((vec![2, 3, 2], vec![false; 3])),
        ],
        moves in proptest::collection::vec((0_u32..3, any::<Index>(), 1_u32..4, any::<bool>()), 1..40),
        mirrored in any::<bool>(),
    ) {
        let torus = TopologySpec::new(Shape::Torus(Torus { wrap, ..Torus::new(&extents) }));
        let collective = Collective { kind: Kind::AllReduce, parts: 3 };
        let problem = Problem::new(Topology::new(torus).unwrap(), collective).unwrap();
        let links = problem.machine().links().len();
        // By step, link, operation and chunk.
        let moves: BTreeSet<_> = moves
            .into_iter()
            .map(|(chunk, link, step, copies)| (step, link.index(links), !mirrored && copies, chunk))
            .collect();
        let mut builder = Schedule::builder();
        for step in 1..4 {
            builder.step(step);
            let of_step: Vec<_> = moves.iter().filter(|one| one.0 == step).collect();
            for same in of_step.chunk_by(|a, b| (a.1, a.2) == (b.1, b.2)) {
                let &&(_, link, copies, _) = &same[0];
                let (link, op) = (LinkId(u32::try_from(link).unwrap()), if copies { Op::Copy } else { Op::Reduce });
                builder.transfer_over(problem.machine(), link, op, same.iter().map(|one| ChunkId(one.3)));
            }
        }
        let half = builder.finish();
        let schedule = if mirrored { half.mirrored() } else { half };
        let (bounds, origin) = (Bounds::default(), None);
        let solution = Solution { problem, schedule, bounds, origin };
        let text = to_brief_string(&solution);
        prop_assert_eq!(text.contains("\"mirrored\": true"), mirrored);
        let read = parse_solution(&text).unwrap();
        prop_assert_eq!(in_order(&read.schedule), in_order(&solution.schedule));
        if text.contains("\"trees\"") {
            prop_assert_eq!(to_brief_string(&read), text);
        }
    }

    #[test]
    fn topologies_survive_writing(topology in topologies()) {
        prop_assert_eq!(&parse_topology(&topology_to_string(topology.spec())).unwrap(), topology.spec());
    }

    #[test]
    fn no_text_makes_the_reader_panic(
        solution in solutions(),
        edits in proptest::collection::vec((any::<Index>(), 0..5_u8, any::<Index>()), 1..6),
    ) {
        const PIECES: [&str; 16] = [
            "{", "}", "[", "]", ",", ":", "\"", "0", "-1", "4294967295", "99999999999999999999", "1e400", "null",
            "\\", "\"0.0\"", "true",
        ];
        let mut text: Vec<char> = solution_to_string(&solution).chars().collect();
        for (place, edit, piece) in edits {
            let place = place.index(text.len().max(1));
            let piece: Vec<char> = PIECES[piece.index(PIECES.len())].chars().collect();
            let end = text.len().min(place + usize::from(edit));
            text.splice(place.min(end)..end, piece);
        }
        let text: String = text.into_iter().collect();
        if let Err(error) = parse_solution(&text) {
            prop_assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
        }
        let _ = parse_topology(&text);
    }

    #[test]
    fn any_text_at_all_is_refused_without_panic(text in ".*") {
        prop_assert!(parse_solution(&text).is_err());
        locate(&text, &[PathItem::Key("a"), PathItem::Index(1)]);
    }
}

type PlainTransfer = (RankId, RankId, Option<Direction>, Op, Vec<ChunkId>);

/// The steps with their transfers and chunks sorted.
fn in_order(schedule: &Schedule) -> Vec<(u32, Vec<PlainTransfer>)> {
    let steps = schedule.steps().map(|step| {
        let mut transfers: Vec<_> = step
            .transfers
            .iter()
            .map(|transfer| {
                let mut chunks = schedule.chunks(transfer).to_vec();
                chunks.sort_unstable();
                (transfer.from, transfer.to, transfer.via, transfer.op, chunks)
            })
            .collect();
        transfers.sort_unstable();
        (step.width, transfers)
    });
    steps.collect()
}
