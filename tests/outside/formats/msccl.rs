//! MSCCL XML: there and back, limits, and what generators write.

use std::fmt::Write;

use collsynth::audit::{AuditOptions, AuditReport, ProgramCode, audit};
use collsynth::certificate::Bounds;
use collsynth::collective::{ChunkId, Collective, Kind};
use collsynth::format::json::ParseError;
use collsynth::format::msccl::{self, Dialect, ExportError, Form, Unsaid, to_string};
use collsynth::lower::{Target, lower};
use collsynth::problem::Problem;
use collsynth::program::{Barriers, Channel, Operation, Program, ProgramBuilder, Slot};
use collsynth::schedule::{Op, Schedule, Solution};
use collsynth::topology::{GraphLink, RankId, Shape, Topology, TopologySpec};
use collsynth::verdict::Verdict;
use collsynth::verify::Verified;

use crate::support::machine;

/// The program of a file that claims one form.
fn parse(text: &str, unsaid: &Unsaid) -> Result<Program, ParseError> {
    let mut programs = msccl::parse(text, unsaid)?.programs;
    assert_eq!(programs.len(), 1);
    Ok(programs.remove(0).1)
}

fn judge(program: &Program) -> AuditReport {
    audit(program, &AuditOptions::default())
}

fn codes(report: &AuditReport) -> Vec<ProgramCode> {
    report.totals().map(|(code, _)| code).collect()
}

#[test]
fn there_and_back() {
    let mut exported = 0;
    for (name, schedule) in machine::small_schedules() {
        let collective = schedule.problem.collective();
        for barriers in Barriers::ALL {
            for (in_place, dialect) in [(false, Dialect::Msccl), (true, Dialect::Rccl)] {
                let Ok(program) = lower(&schedule, &Target { barriers, in_place, ..Target::default() }) else {
                    continue;
                };
                let text = match to_string(&program, dialect) {
                    Ok(text) => text,
                    Err(ExportError::FailedRank { .. } | ExportError::Kind { .. }) => continue,
                    Err(error) => panic!("{name}: {error}"),
                };
                let root = collective.kind.root().map_or(0, |root| root.0);
                let back = parse(&text, &Unsaid { root: Some(root), ..Unsaid::default() });
                let back = back.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
                let report = judge(&back);
                assert_eq!(report.verdict(), Verdict::Holds, "{name}, {barriers:?}: {report:#?}\n{text}");
                assert_eq!(back.problem.collective(), collective, "{name}");
                if barriers == Barriers::None {
                    // The only rank that can be the root is it; tokens of barriers come from everyone to everyone.
                    let found = parse(&text, &Unsaid::default()).unwrap();
                    assert_eq!(found.problem.collective(), collective, "{name}");
                }
                exported += 1;
                if exported % 8 > 0 {
                    continue;
                }
                let again =
                    parse(&to_string(&back, dialect).unwrap(), &Unsaid { root: Some(root), ..Unsaid::default() })
                        .unwrap();
                assert_eq!(judge(&again).verdict(), Verdict::Holds, "{name}");
            }
        }
    }
    assert!(exported > 500, "{exported}");
}

/// Two ranks that exchange a long vector, slot by slot.
fn long(parts: u32) -> Program {
    let problem = Problem::new(Topology::torus(&[2]).unwrap(), Collective { kind: Kind::AllReduce, parts }).unwrap();
    let mut builder = ProgramBuilder::new(problem, true, false);
    for (from, to) in [(0, 1), (1, 0)] {
        builder.channel(Channel { from: RankId(from), to: RankId(to), via: None, slots: 2 });
    }
    for rank in 0..2 {
        builder.rank(0).worker();
        for part in 0..parts {
            builder.operation(Operation::Send { channel: rank, src: Slot::input(part), count: 1 });
        }
        builder.worker();
        for part in 0..parts {
            let (add, dst) = (Some(Slot::input(part)), Some(Slot::output(part)));
            builder.operation(Operation::Receive { channel: 1 - rank, add, dst, forward: None, count: 1 });
        }
    }
    builder.finish(Barriers::None)
}

#[test]
fn long_workers_are_split() {
    let text = to_string(&long(600), Dialect::Msccl).unwrap();
    assert_eq!(text.matches("<tb ").count(), 2 * 2 * 3);
    assert!(text.contains("nchannels=\"3\""));
    assert_eq!(judge(&parse(&text, &Unsaid::default()).unwrap()).verdict(), Verdict::Holds);
    let error = to_string(&long(256 * 40), Dialect::Msccl).unwrap_err();
    assert!(matches!(error, ExportError::Channels { count: 41 }), "{error}");
}

#[test]
fn long_packets_are_sent_in_pieces() {
    let schedule = machine::verified(&machine::problem(&[4], Kind::AllGather, 100));
    let text = to_string(&lower(&schedule, &Target::default()).unwrap(), Dialect::Msccl).unwrap();
    assert!(text.contains("cnt=\"71\"") && !text.contains("cnt=\"100\""));
    assert_eq!(judge(&parse(&text, &Unsaid::default()).unwrap()).verdict(), Verdict::Holds);
}

/// A ring all-reduce as generators write it: in place, all in `o`, reduced and sent on without storing.
pub fn ring(ranks: u32, channels: u32) -> String {
    let chunks = ranks * channels;
    let mut out = format!(
        "<algo name=\"ring\" proto=\"Simple\" nchannels=\"{channels}\" nchunksperloop=\"{chunks}\" ngpus=\"{ranks}\" \
         coll=\"allreduce\" inplace=\"1\">\n"
    );
    for rank in 0..ranks {
        let _ = writeln!(out, "<gpu id=\"{rank}\" i_chunks=\"0\" o_chunks=\"{chunks}\" s_chunks=\"0\">");
        for channel in 0..channels {
            let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            let _ = writeln!(out, "<tb id=\"{channel}\" send=\"{next}\" recv=\"{before}\" chan=\"{channel}\">");
            let mut types = vec!["s"];
            types.extend(std::iter::repeat_n("rrs", ranks as usize - 2));
            types.push("rrcs");
            types.extend(std::iter::repeat_n("rcs", ranks as usize - 2));
            types.push("r");
            for (step, kind) in types.iter().enumerate() {
                let at = channel * ranks + (rank + 2 * ranks - 1 - step as u32) % ranks;
                let _ = writeln!(
                    out,
                    "<step s=\"{step}\" type=\"{kind}\" srcbuf=\"o\" srcoff=\"{at}\" dstbuf=\"o\" dstoff=\"{at}\" \
                     cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>"
                );
            }
            out.push_str("</tb>\n");
        }
        out.push_str("</gpu>\n");
    }
    out.push_str("</algo>\n");
    out
}

#[test]
fn a_ring_as_generators_write_it() {
    let text = ring(8, 2);
    assert_eq!(judge(&parse(&text, &Unsaid::default()).unwrap()).verdict(), Verdict::Holds);
    // Reduced where it should be stored: the last rank counts its own part twice.
    let doubled = text.replacen("type=\"rcs\"", "type=\"rrcs\"", 1);
    assert_eq!(codes(&judge(&parse(&doubled, &Unsaid::default()).unwrap())), [ProgramCode::R001]);
    let shifted = text.replacen("srcoff=\"3\" dstbuf=\"o\" dstoff=\"3\"", "srcoff=\"4\" dstbuf=\"o\" dstoff=\"4\"", 1);
    assert_ne!(codes(&judge(&parse(&shifted, &Unsaid::default()).unwrap())), []);
}

/// Rank 0 copies what it received, in another block that waits for the flag.
const FLAGGED: &str = r#"<?xml version="1.0"?>
<!-- two gpus -->
<algo name="gather" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="0">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="1">
    <tb id="7" send="1" recv="1" chan="0"><!-- a remark -->
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
    </tb>
    <tb id="9" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="cpy" srcbuf="s" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="7" deps="0" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"#;

#[test]
fn a_dependency_waits_for_the_next_flag() {
    let program = parse(FLAGGED, &Unsaid::default()).unwrap();
    assert_eq!(judge(&program).verdict(), Verdict::Holds, "step 0 has no flag, but step 1 has");
    let race = FLAGGED.replace("depid=\"7\" deps=\"0\"", "depid=\"-1\" deps=\"-1\"");
    assert_eq!(codes(&judge(&parse(&race, &Unsaid::default()).unwrap())), [ProgramCode::P004]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (right, wrong, line, words) in [
        ("hasdep=\"1\"", "hasdep=\"0\"", 11, "waits forever"),
        ("depid=\"7\"", "depid=\"8\"", 11, "no thread block"),
        ("type=\"cpy\" srcbuf=\"s\"", "type=\"ra\" srcbuf=\"s\"", 11, "\"ra\" are not executed"),
        ("<gpu id=\"1\"", "<gpu id=\"2\"", 14, "gpu 2, but `ngpus` is 2"),
        ("dstbuf=\"s\"", "dstbuf=\"t\"", 7, "i, o or s"),
        ("send=\"1\" recv", "speed=\"1\" recv", 5, "unknown attribute `speed`"),
        ("coll=\"allgather\"", "coll=\"custom\"", 3, "say which collective is meant"),
        ("coll=\"allgather\"", "coll=\"alltoallv\"", 3, "its counts come with the call"),
        ("coll=\"allgather\"", "coll=\"send\"", 3, "a single message is no collective"),
        ("coll=\"allgather\"", "coll=\"allmix\"", 3, "\"allmix\" is not known"),
        (
            "name=\"gather\"",
            "name=\"a gather of all that anybody may ever have had, and still more of it\"",
            3,
            "63 letters",
        ),
        ("nchunksperloop=\"2\"", "nchunksperloop=\"3\"", 3, "no multiple"),
        ("proto=\"LL\"", "proto=\"XL\"", 3, "Simple, LL or LL128"),
        ("s_chunks=\"1\"", "s_chunks=\"x\"", 4, "no such number"),
        ("cnt=\"1\" depid=\"7\"", "cnt=\"72\" depid=\"7\"", 11, "1 to 71"),
        ("</gpu>\n</algo>", "</gpu>", 21, "not closed"),
        ("chan=\"0\"><!--", "chan=\"1\"><!--", 5, "thread block 7 uses channel 1, but `nchannels` is 1"),
        ("send=\"1\" recv", "send=\"0\" recv", 5, "`send` of thread block 7 is 0, its own gpu"),
        ("send=\"1\" recv", "send=\"2\" recv", 5, "`send` of thread block 7 is 2, no gpu of the file"),
        ("inplace=\"0\"", "inplace=\"2\"", 3, "`inplace` is 2: expected 0 or 1"),
        ("inplace=\"0\"", "inplace=\"0\" redop=\"xor\"", 3, "`redop` is \"xor\": expected sum, prod"),
        ("inplace=\"0\"", "inplace=\"0\" nthreads=\"100\"", 3, "`nthreads` is 100: expected a multiple of 32"),
        ("inplace=\"0\"", "inplace=\"0\" nthreads=\"2048\"", 3, "up to 1024"),
        ("inplace=\"0\"", "inplace=\"0\" minBytes=\"-1\"", 3, "no such number"),
        ("inplace=\"0\"", "inplace=\"0\" minBytes=\"9\" maxBytes=\"8\"", 3, "`minBytes` is 9, more than `maxBytes`, 8"),
        ("inplace=\"0\"", "inplace=\"0\" minBytes=\"9\" maxBytes=\"0\"", 3, "`minBytes` is 9, more than"),
        ("inplace=\"0\"", "inplace=\"0\" maxcount=\"1\"", 3, "`maxcount` belongs to RCCL's dialect"),
        ("inplace=\"0\"", "inplace=\"0\" nthreadblocks=\"1\"", 3, "`nthreadblocks` belongs to RCCL's dialect"),
        ("inplace=\"0\"", "inplace=\"0\" outofplace=\"1\"", 3, "no attribute `minBytes`"),
        (
            "inplace=\"0\"",
            "inplace=\"0\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\"",
            3,
            "`inplace` and `outofplace` are both 0",
        ),
        (
            "coll=\"allgather\" inplace=\"0\"",
            "coll=\"reduce_scatter\" inplace=\"0\" outofplace=\"1\" minBytes=\"0\" maxBytes=\"0\"",
            3,
            "\"reduce_scatter\" is not known to RCCL: expected \"reducescatter\"",
        ),
        ("coll=\"allgather\"", "coll=\"gather\"", 3, "\"gather\" is not known to MSCCL"),
    ] {
        let text = FLAGGED.replace(right, wrong);
        assert_ne!(text, FLAGGED);
        let error = parse(&text, &Unsaid::default()).unwrap_err();
        assert!(error.message.contains(words), "{error}");
        assert_eq!(error.line, line, "{error}");
    }
}

#[test]
fn each_claimed_form_is_a_program() {
    let forms = |attributes: &str| {
        let text = FLAGGED.replace("inplace=\"0\"", attributes);
        let programs = msccl::parse(&text, &Unsaid::default()).unwrap().programs;
        programs.into_iter().map(|(form, program)| (form, program.in_place)).collect::<Vec<_>>()
    };
    let (inside, outside) = ((Form::InPlace, true), (Form::OutOfPlace, false));
    assert_eq!(forms("inplace=\"0\""), [outside]);
    assert_eq!(forms("inplace=\"1\""), [inside]);
    for (attributes, expected) in [
        ("inplace=\"1\" outofplace=\"0\"", vec![inside]),
        ("inplace=\"0\" outofplace=\"1\"", vec![outside]),
        ("inplace=\"1\" outofplace=\"1\"", vec![inside, outside]),
    ] {
        assert_eq!(forms(&format!("{attributes} minBytes=\"0\" maxBytes=\"0\"")), expected, "{attributes}");
    }
}

#[test]
fn what_rccl_does_not_read_may_be_there() {
    let more = "inplace=\"0\" outofplace=\"1\" minBytes=\"9\" maxBytes=\"0\" maxcount=\"1\" nthreadblocks=\"24\" \
                redop=\"nop\" nthreads=\"256\"";
    assert_eq!(
        judge(&parse(&FLAGGED.replace("inplace=\"0\"", more), &Unsaid::default()).unwrap()).verdict(),
        Verdict::Holds
    );
    let error = parse(&FLAGGED.replace("inplace=\"0\"", &more.replace("\"24\"", "\"many\"")), &Unsaid::default());
    assert!(error.unwrap_err().message.contains("`nthreadblocks` of <algo> is \"many\""));
}

#[test]
fn what_custom_means_can_be_said() {
    let custom = FLAGGED.replace("coll=\"allgather\"", "coll=\"custom\"");
    let meant = |name| parse(&custom, &Unsaid { custom: Some(name), ..Unsaid::default() });
    assert_eq!(judge(&meant("allgather").unwrap()).verdict(), Verdict::Holds);
    let error = meant("alltoall").unwrap_err();
    assert!(error.message.contains("`i_chunks` is 1"), "another collective has other buffers: {error}");
    let error = parse(FLAGGED, &Unsaid { custom: Some("alltoall"), ..Unsaid::default() }).unwrap_err();
    assert!(error.message.contains("only \"custom\" can be given a meaning"), "{error}");
}

#[test]
fn operations_are_found_in_the_file() {
    let race = FLAGGED.replace("depid=\"7\" deps=\"0\"", "depid=\"-1\" deps=\"-1\"");
    let msccl::Algorithm { programs, places } = msccl::parse(&race, &Unsaid::default()).unwrap();
    assert_eq!(places.len(), programs[0].1.operations().len());
    let report = judge(&programs[0].1);
    let (line, column) = places[report.violations[0].operation.unwrap()];
    let found = race.lines().nth(line - 1).unwrap();
    assert!(found.contains("hasdep=\"1\"") && found[column - 1..].starts_with("<step s=\"1\""), "{found}");
    assert!(report.violations[0].message.contains("worker 1, operation 1 (copy scratch 0"), "{report:#?}");
    // A wait has the place of its step.
    let msccl::Algorithm { programs, places } = msccl::parse(FLAGGED, &Unsaid::default()).unwrap();
    let waits = programs[0].1.operations().iter().zip(&places);
    let wait: Vec<usize> = waits.filter(|(one, _)| matches!(one, Operation::Wait { .. })).map(|(_, at)| at.0).collect();
    assert_eq!(wait, [line + 4]);
}

/// Every rank sends its shard to every other, over a link of their own.
fn complete(ranks: u32) -> Program {
    let pairs = || (0..ranks).flat_map(move |from| (0..ranks).filter(move |&to| to != from).map(move |to| (from, to)));
    let links = pairs().map(|(from, to)| GraphLink { from: RankId(from), to: RankId(to), capacity: 1 }).collect();
    let topology = Topology::new(TopologySpec::new(Shape::Graph { ranks, links })).unwrap();
    let problem = Problem::new(topology, Collective::new(Kind::AllGather)).unwrap();
    let mut builder = Schedule::builder();
    builder.step(1);
    for (from, to) in pairs() {
        builder.transfer(RankId(from), RankId(to), None, Op::Copy, [ChunkId(from)]);
    }
    let solution = Solution { problem, schedule: builder.finish(), bounds: Bounds::default(), origin: None };
    lower(&Verified::<Solution>::new(solution, &collsynth::verify::Options::default()).unwrap(), &Target::default())
        .unwrap()
}

#[test]
fn a_channel_has_a_limited_number_of_blocks() {
    let text = to_string(&complete(40), Dialect::Msccl).unwrap();
    assert!(text.contains("nchannels=\"4\""), "79 blocks at a rank need three channels; found are four");
    for gpu in text.split("<gpu ").skip(1) {
        for chan in 0..4 {
            let count = gpu.matches(&format!("chan=\"{chan}\"")).count();
            assert!(count <= 32, "{count} on channel {chan}");
        }
    }
    assert_eq!(judge(&parse(&text, &Unsaid::default()).unwrap()).verdict(), Verdict::Holds);
    let crowded = text.replace("chan=\"1\"", "chan=\"0\"").replace("chan=\"2\"", "chan=\"0\"");
    let error = parse(&crowded, &Unsaid::default()).unwrap_err();
    assert!(error.message.contains("more than 32 thread blocks on a channel"), "{error}");
    assert!(matches!(to_string(&complete(110), Dialect::Msccl), Err(ExportError::Blocks { count: 219, .. })));
}
