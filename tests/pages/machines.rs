//! docs/use/machines.md: twisted tori against plain ones. `SYNTH_UPDATE_RESULTS=1 cargo test --test pages machines`
//! writes it anew.

use std::fmt::Write;

use collsynth::certificate::Rational;
use collsynth::collective::Kind;
use collsynth::topology::{RankId, Topology, Torus};

use crate::support::pages::{decimal, float, hold, name};
use crate::support::plans::{self, intact, without};

const HEAD: &str = "# Tori, twisted tori, slices

| machine | option |
|---|---|
| torus | `--torus 4x4x8` |
| twisted torus | `--torus 4x4x8 --twist` |
| mesh, or a torus with some open dimensions | `--torus 4x4x8 --wrap no`, `--wrap yes,yes,no` |
| slice: a box of a torus, open where it is cut | `--torus 4x4x8 --slice 4x4x4` |
| any directed graph | `--topology FILE`, see [schedule-format.md](../formats/schedule-format.md#the-machine) |

`synth topology` prints a machine with all its links; with `--format json` it writes the file for `--topology`.

**Twisted tori** (Camara et al., IEEE TPDS 2010; offered on TPU v4: Jouppi et al., ISCA 2023) have extents of some `k`
and `2k`. Going once around a short dimension leads `k` positions along each long one:

```text
  4x8:   (3,1) -x+-> (0,5)        three dimensions:  4x4x8  x and y shift z by 4
         (0,5) -x--> (3,1)                           4x8x8  x shifts y and z by 4
```

They look the same from every rank, so the template, and bounds reduced by symmetry, work as on plain tori. A failed
cable is named by its two ranks, as always: `--fail 3.1,0.5`. Planners that work along closed rings of one dimension
refuse twisted tori. Files can have other twists (`twist`).

**Slices** are machines of their own: ranks and failures are numbered within the slice.

Every figure below is that of a verified schedule; `SYNTH_UPDATE_RESULTS=1 cargo test --test pages machines` writes
them, and a test keeps them current. Volumes are in messages (shards, vectors) on one link. **Bold**: equal to the
certified bound, for the given parts.
";

/// Steps and volume, bold where they meet their bounds.
fn planned(topology: &Topology, kind: Kind, parts: u32) -> (String, Rational, String) {
    let plan = plans::plan(None, topology, kind, parts).unwrap();
    let (steps, width) = plans::figures(&plan);
    let bold = |text: String, met: bool| if met { format!("**{text}**") } else { text };
    let volume = Rational::new(width.into(), parts.into());
    let met = (steps == plan.bounds.least_steps(), width == plan.bounds.least_width(parts));
    (bold(steps.to_string(), met.0), volume, bold(decimal(volume), met.1))
}

/// The plain torus, the twisted one, and that without its cable from rank 0 along x.
fn rows(page: &mut String, extents: &[u32], kind: &Kind, parts: [u32; 3]) {
    let torus = Torus::twisted(extents).unwrap();
    let plain = planned(&intact(Torus::new(extents)), kind.clone(), parts[0]);
    let twisted = planned(&intact(torus.clone()), kind.clone(), parts[1]);
    let broken = planned(&without(torus, &[(0, 0)]), kind.clone(), parts[2]);
    writeln!(
        page,
        "| {} | {} | {} | {} | {} | {} | {} | {:.2} | {} | {} | {} |",
        name(extents),
        parts[0],
        plain.0,
        plain.2,
        parts[1],
        twisted.0,
        twisted.2,
        float(plain.1 / twisted.1),
        parts[2],
        broken.0,
        broken.2,
    )
    .unwrap();
}

const COLUMNS: &str = "\
| extents | parts | steps | plain | parts | steps | twisted | gain | parts | steps | twisted, one dead cable |
|---|---|---|---|---|---|---|---|---|---|---|
";

#[test]
fn twisted_tori_against_plain_ones() {
    let mut page = HEAD.to_owned();
    page.push_str("\n## All-to-all\n\nJouppi et al. measured a gain of 1.63 on 4x4x8 and of 1.31 on 4x8x8.\n\n");
    page.push_str(COLUMNS);
    rows(&mut page, &[4, 8], &Kind::AllToAll, [1, 1, 1]);
    rows(&mut page, &[4, 4, 8], &Kind::AllToAll, [1, 3, 1]);
    rows(&mut page, &[4, 8, 8], &Kind::AllToAll, [1, 1, 1]);
    page.push_str("\n## All-gather\n\nWhat a rank receives sets the volume, so a twist only saves steps.\n\n");
    page.push_str(COLUMNS);
    rows(&mut page, &[4, 8], &Kind::AllGather, [4, 4, 3]);
    rows(&mut page, &[4, 4, 8], &Kind::AllGather, [6, 6, 5]);
    page.push_str("\n## All-reduce\n\n");
    page.push_str(COLUMNS);
    rows(&mut page, &[4, 8], &Kind::AllReduce, [96, 96, 96]);
    page.push_str("\n## Broadcast\n\n");
    page.push_str(COLUMNS);
    rows(&mut page, &[4, 8], &Kind::Broadcast(RankId(0)), [8, 8, 8]);
    hold("docs/use/machines.md", &page);
}
