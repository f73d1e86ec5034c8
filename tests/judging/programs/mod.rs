//! Rank programs: every schedule lowered, judged and read again; wrong programs refused for the right reason.
//!
//! That the audit agrees with the judging kit's naive judge, on changed lowered programs too, is a test of the kit.

mod contention;
mod edit;
mod layout;
mod wrong;

use collsynth::audit::{AuditOptions, AuditReport, Machine, ProgramCode, audit};
use collsynth::collective::{Collective, Kind};
use collsynth::format::json::{is_program, parse_program, program_schema, program_to_string, rank_program_to_string};
use collsynth::lower::{LowerError, Target, lower, lower_rank};
use collsynth::problem::Problem;
use collsynth::program::{Barriers, Layout, Program};
use collsynth::topology::{RankId, Topology, TopologySpec};
use collsynth::verdict::Verdict;
use collsynth_judging_kit::dice::Dice;
use collsynth_judging_kit::naive::program::judge::runs_well;

use crate::support::machine;

fn judge(program: &Program) -> AuditReport {
    audit(program, &AuditOptions::default())
}

fn codes(report: &AuditReport) -> Vec<ProgramCode> {
    report.totals().map(|(code, _)| code).collect()
}

/// A small planned program.
fn program(extents: &[u32], kind: Kind, parts: u32, goal: Target) -> Program {
    lower(&machine::verified(&machine::problem(extents, kind, parts)), &goal).expect("it can be lowered")
}

#[test]
fn every_schedule_holds_when_lowered() {
    let schema = jsonschema::validator_for(&program_schema()).unwrap();
    let mut lowered = 0;
    for (name, schedule) in machine::small_schedules() {
        let kind = &schedule.problem.collective().kind;
        for barriers in Barriers::ALL {
            for in_place in [false, true] {
                let goal = Target { barriers, in_place, ..Target::default() };
                let program = match lower(&schedule, &goal) {
                    Ok(program) => program,
                    Err(LowerError::NotInPlace { .. }) => {
                        assert!(in_place && (!Layout::has_in_place(kind) || *kind == Kind::AllToAll), "{name}");
                        continue;
                    }
                    Err(error @ LowerError::TooLarge { .. }) => panic!("{name}: {error}"),
                    Err(LowerError::OneWay { .. }) => {
                        assert!(barriers == Barriers::Neighbor && name.contains("both: false"), "{name}");
                        continue;
                    }
                    Err(LowerError::NotConnected) => {
                        assert!(barriers == Barriers::Global && name.contains("both: false"), "{name}");
                        continue;
                    }
                };
                let report = judge(&program);
                assert_eq!(report.verdict(), Verdict::Holds, "{name}, {goal:?}: {report:#?}");
                let rank = RankId(lowered as u32 % program.rank_count() as u32);
                let one = lower_rank(&schedule, rank, &goal).expect("lowered before");
                let one = rank_program_to_string(&one, rank);
                assert_eq!(one, rank_program_to_string(&program, rank), "{name}, {goal:?}, rank {rank}");
                let refused = parse_program(&one).expect_err("it is not whole").to_string();
                assert!(refused.contains(&format!("the program of rank {rank} alone")), "{refused}");
                let text = program_to_string(&program);
                assert!(is_program(&text));
                assert_eq!(parse_program(&text).as_ref(), Ok(&program), "{name}, {goal:?}");
                if lowered % 50 == 0 {
                    for text in [&text, &one] {
                        assert!(schema.is_valid(&serde_json::from_str(text).unwrap()), "{name}");
                    }
                    let file = serde_json::from_str(&text).unwrap();
                    assert!(runs_well(&file, &mut Dice::from_seed(1)), "{name}, {goal:?}");
                }
                lowered += 1;
            }
        }
    }
    assert!(lowered > 1000, "{lowered}");
}

#[test]
fn scratch_is_used_again() {
    let schedule = machine::verified(&machine::problem(&[16], Kind::AllToAll, 1));
    let program = lower(&schedule, &Target::default()).unwrap();
    // Every rank of a ring passes on as many packets as every other; fewer slots suffice.
    let passed = schedule.schedule.move_count() / 16 - 15;
    assert!(
        program.peak_scratch() > 0 && (program.peak_scratch() as usize) < passed,
        "{passed}: {}",
        program.peak_scratch()
    );
    let ring = self::program(&[8], Kind::AllGather, 1, Target::default());
    assert_eq!(ring.peak_scratch(), 0, "shards go where they belong");
}

#[test]
fn barriers_keep_steps_apart() {
    let count = |barriers| {
        let goal = Target { barriers, ..Target::default() };
        let program = program(&[4, 4], Kind::AllGather, 1, goal);
        collsynth::report::audit::figures(&program).tokens
    };
    let steps = machine::verified(&machine::problem(&[4, 4], Kind::AllGather, 1)).schedule.step_count();
    assert_eq!(count(Barriers::None), 0);
    assert_eq!(count(Barriers::Neighbor), (steps - 1) * 64, "one over each link");
    assert_eq!(count(Barriers::Global), (steps - 1) * 30, "up one tree, down another");
}

#[test]
fn links_are_checked_against_the_machine_that_is_given() {
    let program = program(&[4, 4], Kind::AllGather, 1, Target::default());
    let on = |topology: &Topology, map: &[u32]| {
        let rank_map: Vec<RankId> = map.iter().copied().map(RankId).collect();
        let machine = Machine::new(&program, topology, &rank_map).unwrap();
        codes(&audit(&program, &AuditOptions { machine: Some(&machine), ..AuditOptions::default() }))
    };
    let same: Vec<u32> = (0..16).collect();
    let turned: Vec<u32> = (0..16).map(|rank| rank % 4 * 4 + rank / 4).collect();
    let torus = Topology::torus(&[4, 4]).unwrap();
    assert_eq!(on(&torus, &same), []);
    assert_eq!(on(&torus, &turned), [], "a torus is the same when turned over");
    assert_eq!(on(&Topology::torus(&[4, 5]).unwrap(), &same), [ProgramCode::T002]);
    let spec = TopologySpec::torus(&[4, 4]).without_cables(&[(0, 1)]);
    assert_eq!(on(&Topology::new(spec).unwrap(), &same), [ProgramCode::T003]);
    let spec = TopologySpec::torus(&[4, 4]).without_ranks(&[5]);
    assert_eq!(on(&Topology::new(spec).unwrap(), &same), [ProgramCode::T001]);
}

#[test]
fn a_program_without_a_machine() {
    let text = r#"{
      "format": "rank-program/1",
      "ranks": 2,
      "collective": {"kind": "broadcast", "root": 0},
      "channels": [{"from": 0, "to": 1, "slots": 1}],
      "programs": [
        {"workers": [
          [{"op": "copy", "src": ["i", 0], "dst": ["o", 0]}],
          [{"op": "send", "channel": 0, "src": ["i", 0]}]]},
        {"workers": [[{"op": "recv", "channel": 0, "dst": ["o", 0]}]]}
      ]
    }"#;
    let program = parse_program(text).unwrap();
    assert_eq!(judge(&program).verdict(), Verdict::Holds);
    let vast =
        text.replace("{\"workers\": [[{\"op\": \"recv\"", "{\"scratch\": 4294967295, \"workers\": [[{\"op\": \"recv\"");
    assert_eq!(
        codes(&judge(&parse_program(&vast).unwrap())),
        [ProgramCode::P006],
        "refused before memory is asked for"
    );
    let problem = Problem::new(Topology::torus(&[2]).unwrap(), Collective::new(Kind::Broadcast(RankId(0)))).unwrap();
    assert_eq!(program.problem.collective(), problem.collective());
    for (wrong, right, line, words) in [
        ("rank-program/1", "rank-program/2", 2, "only \"rank-program/1\""),
        ("\"ranks\": 2", "\"ranks\": 3", 6, "2 programs for 3 ranks"),
        ("\"copy\", \"src\"", "\"copy\", \"forward\": 1, \"src\"", 8, "no key `forward`"),
        ("\"send\", \"channel\": 0, ", "\"send\", ", 9, "missing field `channel`"),
        ("\"channel\": 0, \"dst\": [\"o\", 0]", "\"channel\": 0", 10, "missing field `dst`"),
        ("\"slots\": 1", "\"slots\": 0", 5, "at least 1"),
        ("\"slots\": 1", "\"slots\": 1, \"transfers\": [0]", 5, "at least 1"),
        ("\"slots\": 1", "\"slots\": 1, \"number\": 0", 5, "belongs to the program of one `rank`"),
        ("\"ranks\": 2,", "\"ranks\": 2, \"rank\": 1,", 3, "the program of rank 1 alone"),
        ("\"ranks\": 2,", "\"ranks\": 2, \"contention_free\": 1,", 3, "invalid type"),
    ] {
        let error = parse_program(&text.replace(wrong, right)).unwrap_err();
        assert!(error.message.contains(words), "{error}");
        assert_eq!(error.line, line, "{error}");
    }
}

/// How packets make up transfers is a fact about a program, whether or not it claims that no link is shared.
#[test]
fn transfers_may_be_stated_without_a_claim() {
    let text = r#"{"format": "rank-program/1", "ranks": 2, "collective": {"kind": "broadcast", "root": 0, "parts": 2},
        "channels": [{"from": 0, "to": 1, "slots": 2, "transfers": [2]}], "programs": [
        {"workers": [[{"op": "send", "channel": 0, "src": ["i", 0]}, {"op": "send", "channel": 0, "src": ["i", 1]}],
                     [{"op": "copy", "src": ["i", 0], "dst": ["o", 0], "count": 2}]]},
        {"workers": [[{"op": "recv", "channel": 0, "dst": ["o", 0]}, {"op": "recv", "channel": 0, "dst": ["o", 1]}]]}
        ]}"#;
    let program = parse_program(text).unwrap();
    assert!(!program.contention_free && judge(&program).verdict() == Verdict::Holds);
    let back = parse_program(&program_to_string(&program)).unwrap();
    assert_eq!(back.transfers, [[2]]);
    // Asked for, freedom from contention is judged by them: as two transfers, the packets would share their link.
    let asked = AuditOptions { contention_free: true, ..AuditOptions::default() };
    assert_eq!(audit(&program, &asked).verdict(), Verdict::Holds);
    let apart = parse_program(&text.replace(", \"transfers\": [2]", "")).unwrap();
    assert_eq!(codes(&audit(&apart, &asked)), [ProgramCode::P008]);
    let miscounted = parse_program(&text.replace("[2]}]", "[3]}]")).unwrap();
    assert_eq!(codes(&audit(&miscounted, &asked)), [ProgramCode::P008]);
}

#[test]
fn the_published_format_reads_as_it_says() {
    let page = include_str!("../../../docs/formats/rank-program.md");
    let example = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let program = parse_program(example).unwrap();
    assert_eq!(judge(&program).verdict(), Verdict::Holds);
    for code in ProgramCode::ALL {
        assert!(page.contains(&format!("`{code}`")), "docs/formats/rank-program.md does not tell of {code}");
    }
    let published: serde_json::Value =
        serde_json::from_str(include_str!("../../../docs/schemas/rank-program.schema.json")).unwrap();
    assert_eq!(
        published,
        program_schema(),
        "docs/schemas/rank-program.schema.json is old: write `synth util schema program`"
    );
    let schema = jsonschema::validator_for(&published).unwrap();
    assert!(schema.is_valid(&serde_json::from_str(example).unwrap()));
    let wrong = example.replace("\"op\": \"copy\"", "\"op\": \"send\"");
    assert!(!schema.is_valid(&serde_json::from_str(&wrong).unwrap()));
}
