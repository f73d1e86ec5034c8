//! Formats of schedules: SCCL, TE-CCL, CSV, traces.

use std::collections::BTreeSet;
use std::slice;

use collsynth::collective::{Collective, Groups, Kind};
use collsynth::format::{csv, forestcoll, sccl, teccl, trace};
use collsynth::problem::Problem;
use collsynth::schedule::Choice;
use collsynth::topology::{Shape, Topology, TopologySpec, Torus};
use collsynth::verify::{Code, Options, Report, verify};
use collsynth::{JobRequest, Size, grouping};
use serde_json::{Value, json};

use crate::support::machine;

fn codes(report: &Report) -> Vec<Code> {
    report.totals().map(|(code, _)| code).filter(|code| !code.is_warning()).collect()
}

/// An algorithm on two nodes joined by a cable.
fn algorithm(runtime_name: &str, chunks: &[(&[u32], &[u32], u32)], steps: &[&[[u32; 3]]]) -> String {
    let chunks: Vec<Value> = chunks
        .iter()
        .map(|(pre, post, addr)| json!({"msccl_type": "chunk", "pre": pre, "post": post, "addr": addr}))
        .collect();
    let steps: Vec<Value> =
        steps.iter().map(|sends| json!({"msccl_type": "step", "rounds": 1, "sends": sends})).collect();
    json!({
        "msccl_type": "algorithm",
        "name": "two",
        "instance": {"msccl_type": "instance", "steps": steps.len(), "extra_rounds": 0, "chunks": 1, "pipeline": null,
            "extra_memory": null, "allow_exchange": false},
        "input_map": {}, "output_map": {},
        "steps": steps,
        "collective": {"msccl_type": "collective", "name": "two", "nodes": 2, "chunks": chunks, "triggers": {},
            "runtime_name": runtime_name},
        "topology": {"msccl_type": "topology", "name": "cable", "switches": [], "links": [[0, 1], [1, 0]]},
    })
    .to_string()
}

#[test]
fn sccl_algorithms_mean_what_they_mean() {
    let judge = |text: &str| codes(&verify(&sccl::parse(text).unwrap(), &Options::default()));
    let all: &[u32] = &[0, 1];
    let gather = |steps: &[&[[u32; 3]]]| algorithm("allgather", &[(&[0], all, 0), (&[1], all, 1)], steps);
    assert_eq!(judge(&gather(&[&[[0, 0, 1], [1, 1, 0]]])), []);
    assert_eq!(judge(&gather(&[&[[0, 0, 1]]])), [Code::D002]);
    let exchange = |steps: &[&[[u32; 3]]]| {
        let chunks: &[(&[u32], &[u32], u32)] = &[(&[0], &[0], 0), (&[1], &[0], 1), (&[0], &[1], 2), (&[1], &[1], 3)];
        algorithm("alltoall", chunks, steps)
    };
    assert_eq!(judge(&exchange(&[&[[2, 0, 1], [1, 1, 0]]])), []);
    let reduce = |steps: &[&[[u32; 3]]]| algorithm("allreduce", &[(&[0], all, 0), (&[1], all, 0)], steps);
    assert_eq!(judge(&reduce(&[&[[0, 0, 1], [0, 1, 0]]])), []);
    // Reduced to node 1, then sent back: node 0 has its own part already, and counts it twice. A check that ors the
    // contributions together does not see it.
    let composed = sccl::parse(&reduce(&[&[[0, 0, 1]], &[[0, 1, 0]]])).unwrap();
    let report = verify(&composed, &Options::default());
    assert_eq!(codes(&report), [Code::R001]);
    let text = gather(&[&[[5, 0, 1]]]);
    assert!(sccl::parse(&text).unwrap_err().message.contains("address 5"));
    for (key, words) in [("\"rounds\"", "unknown field"), ("\"allgather\"", "is not read")] {
        let error = sccl::parse(&text.replace(key, "\"other\"")).unwrap_err();
        assert!(error.message.contains(words), "{error}");
    }
}

#[test]
fn te_ccl_flows_are_a_schedule() {
    let problem = |extents: &[u32], wrap| {
        let torus = Torus { wrap: vec![wrap; extents.len()], ..Torus::new(extents) };
        let topology = Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap();
        Problem::new(topology, Collective::new(Kind::AllGather)).unwrap()
    };
    let text = r#"{"1-Epoch_Duration": 1.0, "7-Flows": [
      "Chunk 0 from 0 traveled over 0->1 in epoch 0",
      "Chunk 0 from 1 traveled over 1->2 with volume 1.0 in epoch 0",
      "Chunk 0 from 2 traveled over 2->0 in epoch 0",
      "Chunk 0 from 0 traveled over 1->2 in epoch 1",
      "Chunk 0 from 1 traveled over 2->0 in epoch 1",
      "Chunk 0 from 2 traveled over 0->1 in epoch 1"]}"#;
    let judge = |wrap| codes(&verify(&teccl::parse(text, problem(&[3], wrap)).unwrap(), &Options::default()));
    assert_eq!(judge(true), []);
    assert_eq!(judge(false), [Code::T002], "a line has no link from 2 to 0");
    let error = teccl::parse(&text.replace("over 2->0 in epoch 1", "over 2->0 in week 1"), problem(&[3], true));
    assert_eq!(error.unwrap_err().line, 6);
    assert!(teccl::parse(&text.replace("1-Epoch_Duration", "1-Era"), problem(&[3], true)).is_err());
}

/// Trees on a ring of three: those of roots 1 and 2 share the links of the first.
const TREES: &str = r#"<Algo nchunkspernode="1">
  <tree root="0" index="0" nchunks="1" height="1">
    <send src="0" dst="1" path="0,1"/>
    <send src="0" dst="2" path="0,2"/>
  </tree>
  <tree root="1" index="0" nchunks="1" height="2">
    <send src="1" dst="2" path="1,2"/>
    <send src="2" dst="0" path="2,0"/>
  </tree>
  <tree root="2" index="0" nchunks="1" height="2">
    <send src="0" dst="1" path="0,1"/>
    <send src="2" dst="0" path="2,0"/>
  </tree>
</Algo>
"#;

#[test]
fn forestcoll_trees_get_steps() {
    let torus = || Topology::torus(&[3]).unwrap();
    let solution = forestcoll::parse(TREES, torus()).unwrap();
    assert_eq!(codes(&verify(&solution, &Options::default())), []);
    // Rank 2 sends its own shard to rank 0 before that of rank 1.
    assert_eq!(solution.schedule.step_count(), 2);
    let missing = TREES.replace("    <send src=\"0\" dst=\"2\" path=\"0,2\"/>\n", "");
    let report = verify(&forestcoll::parse(&missing, torus()).unwrap(), &Options::default());
    assert_eq!(codes(&report), [Code::D002]);
    for (right, wrong, line, words) in [
        ("path=\"0,2\"", "path=\"0,5,2\"", 4, "crosses switches"),
        ("path=\"0,2\"", "path=\"0,1\"", 4, "does not lead from 0 to 2"),
        (
            "src=\"2\" dst=\"0\" path=\"2,0\"/>\n  </tree>\n  <tree root=\"2\"",
            "src=\"2\" dst=\"1\" path=\"2,1\"/>\n  </tree>\n  <tree root=\"2\"",
            8,
            "reached twice",
        ),
        ("root=\"2\" index=\"0\" nchunks=\"1\"", "root=\"2\" index=\"0\" nchunks=\"2\"", 10, "more than its shard"),
        ("<Algo", "<algo", 1, ""),
    ] {
        let error = forestcoll::parse(&TREES.replacen(right, wrong, 1), torus()).unwrap_err();
        assert!(error.message.contains(words) && (error.line == line || words.is_empty()), "{error}");
    }
}

#[test]
fn tables_and_traces_tell_of_every_move() {
    for (name, schedule) in machine::small_schedules().into_iter().step_by(7) {
        let mut table = Vec::new();
        csv::write(&mut table, slice::from_ref(&*schedule), &Choice::default()).unwrap();
        let table = String::from_utf8(table).unwrap();
        assert_eq!(table.lines().count(), 1 + schedule.schedule.move_count(), "{name}");
        let columns: BTreeSet<usize> = table.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, BTreeSet::from([7]), "{name}");
        let trace: Value = serde_json::from_str(&trace::to_string(slice::from_ref(&*schedule), None)).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let count = |kind: &str| events.iter().filter(|event| event["ph"] == kind).count();
        assert_eq!(count("X"), schedule.schedule.transfers().len(), "{name}");
        assert_eq!(count("s"), count("f"), "{name}");
        assert_eq!(count("C"), schedule.schedule.step_count() + 1, "{name}");
        let ends: u64 =
            events.iter().filter_map(|event| Some(event["ts"].as_u64()? + event["dur"].as_u64()?)).max().unwrap_or(0);
        assert!(ends <= 1000 * schedule.schedule.total_width(), "{name}");
    }
}

/// By prices, the last counter stands at the time of the cost model, and no link is busy longer than its step.
#[test]
fn traces_run_by_prices() {
    let prices = trace::Prices { alpha: 1.5e-6, bandwidth: 25e9, message_bytes: 1 << 20 };
    for (name, schedule) in machine::small_schedules().into_iter().step_by(7) {
        let trace: Value = serde_json::from_str(&trace::to_string(slice::from_ref(&*schedule), Some(&prices))).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let of = |kind: &'static str| events.iter().filter(move |event| event["ph"] == kind);
        let number = |event: &Value, key: &str| event[key].as_f64().unwrap();
        let volume = schedule.schedule.total_width() as f64 / f64::from(schedule.problem.parts());
        let total = 1.5 * schedule.schedule.step_count() as f64 + volume * (1 << 20) as f64 / 25e3;
        let ends: Vec<f64> = of("C").map(|event| number(event, "ts")).collect();
        assert!((ends.last().unwrap() - total).abs() < 1e-3, "{name}: {ends:?}, {total}");
        for slice in of("X") {
            let (start, end) = (number(slice, "ts"), number(slice, "ts") + number(slice, "dur"));
            let step = ends.windows(2).find(|step| step[0] < start && start < step[1]).unwrap();
            assert!(start >= step[0] + 1.5 - 1e-3 && end <= step[1] + 1e-3, "{name}: {slice}");
        }
    }
}

/// A job is one table, and one trace in which transfers follow one another on a link and none outlasts its step.
#[test]
fn a_job_is_one_table_and_one_trace() {
    let torus = Topology::torus(&[4, 4]).unwrap().fail_cable(0, 1).unwrap();
    let rows = Groups::new(grouping::spanned(&torus, &[0]).unwrap()).unwrap();
    let request = JobRequest::new(&torus)
        .collective(Kind::AllGather.in_groups(rows), Size::Parts(2))
        .collective(Kind::AllReduce, Size::Parts(4));
    let job = request.run().unwrap().verify().unwrap();
    let moves: Vec<usize> = job.solutions().iter().map(|solution| solution.schedule.move_count()).collect();
    let mut table = Vec::new();
    csv::write(&mut table, job.solutions(), &Choice::default()).unwrap();
    let table = String::from_utf8(table).unwrap();
    assert!(table.starts_with("schedule,step,from,to,via,op,chunk,label\n"));
    let numbers = |line: &str| line.split(',').take(2).map(|cell| cell.parse().unwrap()).collect::<Vec<usize>>();
    let lines: Vec<Vec<usize>> = table.lines().skip(1).map(numbers).collect();
    assert_eq!([0, 1].map(|schedule| lines.iter().filter(|line| line[0] == schedule).count()), moves[..]);
    assert!(lines.is_sorted_by_key(|line| line[1]), "in the order of the steps");

    let chunk = 1e6 * 4096.0 / 25e9;
    let prices = trace::Prices { alpha: 1e-6, bandwidth: 25e9, message_bytes: 4 * 4096 };
    for (prices, alpha, unit) in [(None, 0.0, 1000.0), (Some(&prices), 1.0, chunk)] {
        let trace: Value = serde_json::from_str(&trace::to_string(job.solutions(), prices)).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let mut begins = vec![0.0];
        for width in job.widths() {
            begins.push(begins[begins.len() - 1] + alpha + f64::from(width) * unit);
        }
        let mut slices: Vec<(u64, f64, f64)> = Vec::new();
        for slice in events.iter().filter(|event| event["ph"] == "X") {
            let start = slice["ts"].as_f64().unwrap();
            let end = start + slice["dur"].as_f64().unwrap();
            let (kind, of) = slice["name"].as_str().unwrap().split_once(", step ").unwrap();
            assert!(["all_gather", "all_reduce"].contains(&kind));
            let step: usize = of.split_once(':').unwrap().0.parse().unwrap();
            assert!(start >= begins[step - 1] + alpha - 1e-3 && end <= begins[step] + 1e-3, "step {step}: {start}");
            slices.push((slice["tid"].as_u64().unwrap(), start, end));
        }
        assert_eq!(slices.len(), job.solutions().iter().map(|one| one.schedule.transfers().len()).sum::<usize>());
        slices.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert!(slices.windows(2).all(|two| two[0].0 != two[1].0 || two[0].2 <= two[1].1 + 1e-3));
    }
}
