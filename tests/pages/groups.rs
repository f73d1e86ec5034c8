//! docs/use/groups.md: collectives in groups of ranks. `SYNTH_UPDATE_RESULTS=1 cargo test --test pages groups`
//! writes it anew.

use std::fmt::Write;

use collsynth::bound::{self, Claim, FlowLimit, Limit};
use collsynth::certificate::{Rational, Scope};
use collsynth::collective::{Groups, Kind};
use collsynth::plan::{Goal, Parts, Plan};
use collsynth::topology::{RankId, Topology};
use rayon::prelude::*;

use crate::support::pages::{decimal, float, hold};
use crate::support::plans::{self, torus};

const HEAD: &str = r#"# Groups of ranks

Training jobs rarely run a collective over the whole machine. Tensor-, expert- and data-parallel groups each use part of
it, at the same time. A grouped collective runs in several disjoint groups at once, over shared links. Any rank may
relay, even one outside every group.

| groups | option |
|---|---|
| all planes, all rows | `--groups xy`, `--groups x` |
| boxes of a torus | `--blocks 2x2x4` |
| some ranks, the others as relays | `--group 0-15,20`, once for each group |
| any | `--groups FILE`, a list of lists of ranks: `[[0,1,2,3],[4,5]]` |
| only members may hold a group's chunks | `--relays no`, with any of these |

```sh
synth --torus 4x4x4 --groups xy --fail 0,1 -o planes.json
```

The order of a group's members numbers their chunks, and `--root` counts them, from 0. A failed member keeps its place.
[schedule-format.md](../formats/schedule-format.md#groups) has every rule.

Planners of groups: `negotiated` (all_to_all, scatter, gather); `trees`, in few parts and steps, and `packed_trees`, in
many parts near the bound (all_gather, reduce_scatter, broadcast, reduce, all_reduce); `spanning_trees` (all_reduce);
`flood` (barrier); and `smt`, which proves the optimum of small ones (not of all_reduce). On some 30 ranks a linear
program of trees proves a bound: `synth bound --lp`.

Where no planner is named, groups that share no link, such as rows and planes, are planned each by itself, with the
planners of whole machines: for broadcast, reduce and all_reduce always, for other kinds where there are many messages.
Where a group is short of links, the trees of all groups are packed together, in few parts, over each other's links.

Unless parts are stated, a plan more than 3 % above its bound (broadcast and reduce: 5 %) is cut further: its chunks
take the same routes, a piece after another, so that less is lost at both ends. That takes more steps, some dozens to a
thousand; `--max-steps` and `--message-bytes` ask for fewer.

Bounds and `synth verify` know groups; so do [`synth run`](runtimes.md#groups-of-ranks), `lower`, the exports to GOAL,
Chakra, CSV and traces, `view`, and [Python](python.md#groups). Not supported, and refused: MSCCL XML, relabeling and
renumbering, `polish` of an all_reduce, and all_reduce_gathered in `run`. A [survey](survey.md#jobs) takes groups in the
file of a job, be it of one collective.

## Several collectives at once

A step of training has an all-gather in one set of groups under way while another set exchanges tokens. `--job FILE`
plans such collectives together, into one contention-free schedule of the machine:

```sh
cat > job.json <<EOF
[{"collective": "all_gather", "groups": "x",  "bytes": "64KiB"},
 {"collective": "all_to_all", "groups": "yz", "bytes": "16KiB"}]
EOF
synth --torus 4x4x4 --fail 0,1 --job job.json -o both.json
synth verify both.json
synth run both.json                                       # both at once, on random data, every element checked
synth convert both.json --schedule 1 -o exchange.json     # the schedule of one, for every other command
```

Each collective has `collective` and, optionally, `groups` (dimensions, or lists of ranks), `blocks` (`"2x2x4"`),
`relays` (`true` or `false`), `root`, and `bytes` of a message (shard, vector) or `parts` in place of it. An all_to_allv
has a `demand`: a matrix, or the file of one, named from the folder of the job's file; `bytes` are those of a unit.
Chunks of all collectives are equally large, so messages are rounded up to whole chunks. The smallest message is cut in
`--parts` parts: by default, in the fewest with which no message is rounded up by more than 1 % (up to 16; if there are
none, those that round up least), and then in more, until the total width is within 3 % of its bound, with `auto` within
0.5 %, but at most 8192 or 16 384 chunks in all. Messages a thousandth as large as others are padded to a larger chunk,
as long as that adds 1 % to what links carry, or where there would be too many chunks. `--steps`, `--max-steps`,
`--seed` and `--time-limit` are as always.

One verdict covers the job: every schedule holds on its own, all have the same number of steps, and no link is
overloaded in any step. The bound is on the total width, for what all must move over the same links.
[schedule-format.md](../formats/schedule-format.md#jobs) has the format, the rules, and what a bound proves.

On 4x4x4, with 64 KiB and 16 KiB as above (total widths in chunks of 4 KiB; 16 KiB in the first row, 2 KiB in the last):

| failed | all_gather alone | all_to_all alone | together | bound | steps |
|---|---|---|---|---|---|
| nothing, `--parts auto` | 6 | 8 | **8** | 8 | 4 |
| cable 0-1 | 25 | 32 | 33 | 32 | 4 |
| cable 0-1, `--parts auto` | 50 | 64 | 65 | 64 | 5 |

Whole messages of up to 200 ranks negotiate for the links, all chunks at once. Where that stays more than 3 % above the
bound (with `--parts auto`: 0.5 %), and first of all where it would take a minute and more, each collective is planned
alone; chunks then leave links that too many share, and the moves of all are put together, or run one after
another where that is better. On 8x8x8, an all_to_all beside an all_gather comes to its bound in 19 steps after 9 s; a
reduce in the rows, an all_gather in the columns and an all_reduce of 8x8 without the cables 0-1 and 20-21 to 2 % above
it after 5 s.

A job of one all_reduce collects in the first half of the steps and spreads in the second, so `packed_trees` alone does
better. `synth show` and `polish` take one schedule of a job at a time (`synth convert --schedule`). `synth run` carries
out all at once, `lower` writes a program for each, `convert` a CSV table, a trace, GOAL or Chakra of all, and `view`
draws them side by side; `synth survey --job FILE` says [what failures cost a job](survey.md#jobs). Programs have no
common clock, so those of two collectives may want a link at the same time.

## All-to-all in all groups of 4x4x4 at once

A dead cable in a group costs the group little if others can carry its data. Every value is that of a flow LP of the
whole machine, met by a verified schedule in the given parts, and proven by its certificate.
`SYNTH_UPDATE_RESULTS=1 cargo test --test pages groups` writes this page; without the variable, the same test keeps it
current.

| groups | dead cable | with relays | parts | steps | without relays | parts | steps |
|---|---|---|---|---|---|---|---|
"#;

const TABLE: &str = "
The eight blocks of 4x4x4 of an 8x8x8 torus (`--torus 8x8x8 --blocks 4x4x4 --fail 0,1`), each an all-to-all among 64
ranks, with a dead cable in one: volume **64**, certified optimal, in 10 steps.

## Every kind

In the parts that `--parts auto` chooses. Dead: nothing; the cable from rank 0 to rank 1; rank 6, which relays or is a
member of its group, never a root. Steps and volumes are **bold** where they equal a certified bound for the given
parts; the gap is that of the volume to the best bound for any number of parts. No certificate accounts for the trees
of an all_reduce: for the odd groups below, the best division among trees takes 0.473, 0.5 and 0.518.
";

type Members = Vec<Vec<RankId>>;

/// Groups by name, a dead cable, and the parts with and without relays.
type Cube = (&'static str, Members, (u32, u32), [u32; 2]);

/// Cables and ranks.
type Failed = (&'static [(u32, u32)], &'static [u32]);

fn classes(ranks: u32, key: impl Fn(u32) -> u32) -> Members {
    let mut groups: std::collections::BTreeMap<u32, Vec<RankId>> = Default::default();
    (0..ranks).for_each(|rank| groups.entry(key(rank)).or_default().push(RankId(rank)));
    groups.into_values().collect()
}

fn of(kind: Kind, members: Members, relays: bool) -> Kind {
    kind.in_groups(Groups::new(members).unwrap().with_relays(relays))
}

/// The best bound on the volume that holds for any number of parts.
fn for_any_parts(plan: &Plan) -> Option<Rational> {
    let of_plan = plan.bounds.volume.clone().filter(|bound| bound.scope() == Scope::AnyParts);
    let of_cuts = bound::find(&plan.problem).unwrap().volume;
    let flow = bound::flow_bound(&plan.problem, &FlowLimit { variables: 100_000, solver: Limit::NONE });
    let program = flow.ok().and_then(|flow| flow.finding).or_else(|| bound::tree_bound(&plan.problem, &Limit::NONE));
    let of_program = program.and_then(|finding| match finding.claim {
        Claim::Volume(bound) => Some(bound),
        Claim::Steps(_) => None,
    });
    [of_plan, of_cuts, of_program].into_iter().flatten().map(|bound| bound.at_least).max()
}

/// Parts, steps and volume, bold where they meet their bounds, and the gap.
fn planned(topology: &Topology, kind: &Kind, parts: Parts) -> [String; 4] {
    let plan = plans::plan_for(topology, kind, &Goal { parts, ..Goal::default() }).unwrap();
    let (steps, width) = plans::figures(&plan);
    let parts = plan.problem.parts();
    let bold = |text: String, met: bool| if met { format!("**{text}**") } else { text };
    let volume = Rational::new(width.into(), parts.into());
    let gap =
        for_any_parts(&plan).map_or("-".to_owned(), |bound| format!("{:.1} %", 100.0 * (float(volume / bound) - 1.0)));
    let met = (steps == plan.bounds.least_steps(), width == plan.bounds.least_width(parts));
    let volume =
        if plan.problem.collective().kind.has_volume() { bold(decimal(volume), met.1) } else { "-".to_owned() };
    [parts.to_string(), bold(steps.to_string(), met.0), volume, gap]
}

fn relays(page: &mut String) {
    let cubes: [Cube; 4] = [
        ("planes (`--groups xy`)", classes(64, |rank| rank / 16), (0, 1), [31, 7]),
        ("rows (`--groups x`)", classes(64, |rank| rank / 4), (0, 1), [31, 1]),
        ("`--blocks 2x2x2`", classes(64, |rank| rank >> 1 & 1 | rank >> 2 & 2 | rank >> 3 & 4), (0, 1), [31, 3]),
        ("`--blocks 2x2x2`", classes(64, |rank| rank >> 1 & 1 | rank >> 2 & 2 | rank >> 3 & 4), (1, 2), [1, 1]),
    ];
    for (name, members, cable, parts) in cubes {
        let machine = torus(&[4, 4, 4], &[cable], &[]);
        let [with, without] = [true, false].map(|relays| {
            let parts = parts[usize::from(!relays)];
            planned(&machine, &of(Kind::AllToAll, members.clone(), relays), Parts::Fixed(parts))
        });
        let (a, b) = cable;
        let [with, without] = [with, without].map(|[parts, steps, volume, _]| [volume, parts, steps].join(" | "));
        writeln!(page, "| {name} | {a}-{b} | {with} | {without} |").unwrap();
    }
}

fn every_kind(page: &mut String) {
    let odd =
        [&[0, 1, 2, 3, 4][..], &[9, 15, 12, 7, 8, 10, 13]].map(|ranks| ranks.iter().copied().map(RankId).collect());
    let layouts: [(&str, &[u32], Members); 4] = [
        ("Rows of 4x4", &[4, 4], classes(16, |rank| rank / 4)),
        ("Planes of 3x3x3", &[3, 3, 3], classes(27, |rank| rank / 9)),
        ("Blocks 2x2 of 4x4", &[4, 4], classes(16, |rank| rank >> 1 & 1 | rank >> 2 & 2)),
        ("Ranks 0 to 4, and 9, 15, 12, 7, 8, 10, 13, of 4x4", &[4, 4], odd.to_vec()),
    ];
    let failures: [Failed; 3] = [(&[], &[]), (&[(0, 1)], &[]), (&[], &[6])];
    for (name, extents, members) in layouts {
        writeln!(page, "\n### {name}\n").unwrap();
        let columns = ["", "one cable: ", "dead rank 6: "].map(|of| format!("{of}parts | steps | volume | gap"));
        writeln!(page, "| collective | {} |", columns.join(" | ")).unwrap();
        page.push_str("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        let kinds: Vec<Kind> = Kind::every(RankId(0), Default::default()).into_iter().collect();
        let kinds: Vec<Kind> = kinds.into_iter().filter(|kind| kind.demand().is_none()).collect();
        let lines: Vec<String> = kinds
            .par_iter()
            .map(|kind| {
                let kind = of(kind.clone(), members.clone(), true);
                let cells = failures.iter().flat_map(|(cables, dead)| {
                    let t = std::time::Instant::now();
                    if std::env::var("ONLY").is_ok_and(|only| !only.split(',').any(|k| k == kind.name())) {
                        return ["", "", "", ""].map(str::to_owned);
                    }
                    let c = planned(&torus(extents, cables, dead), &kind, Parts::Auto);
                    eprintln!("{name} {} {cables:?} {dead:?} {c:?} {:?}", kind.name(), t.elapsed());
                    c
                });
                format!("| {} | {} |\n", kind.name(), cells.collect::<Vec<_>>().join(" | "))
            })
            .collect();
        page.push_str(&lines.concat());
    }
}

#[test]
fn collectives_in_groups() {
    let mut page = HEAD.to_owned();
    if std::env::var("ONLY").is_err() {
        relays(&mut page);
    }
    page.push_str(TABLE);
    every_kind(&mut page);
    hold("docs/use/groups.md", &page);
}
