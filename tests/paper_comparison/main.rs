//! docs/paper-comparison.md: the averages of Qin et al., MICRO 2025, from its own cost model, and the row that must be
//! shown. `SYNTH_UPDATE_RESULTS=1 cargo test --test paper_comparison` writes it anew.

mod averages;
mod closed_forms;
mod page;
mod planned;

const HEAD: &str = "# The paper, and what `synth` reaches

Qin, Cui, Cai, Niu, Yang, Huang: *Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks*,
MICRO 2025, doi 10.1145/3725843.3756057. A test writes this page and keeps it current (`tests/paper_comparison`). Its
algorithms as verified schedules, on more tori and with several dead cables, are in [phased.md](phased.md), what planning
reaches is in [results.md](results.md), and `synth compare` sets any of them side by side, charged by steps and by phases.
";

const ANSWERS: &str = "
## What critics asked

* **How is the offline bandwidth allocation computed, and at what cost?** As a linear program for each normal phase
  (`src/plan/broken_rings/allocation.rs`): a variable for each way of each broken ring, so `D + 1` a ring for MATEe, and a row
  for each link they use. Its size grows with failures and dimensions, not with the torus.
* **Is MATEe with two acceleration phases free of conflicts?** Neither the paper nor its artifact moves data. `mate_e2`
  writes down every transfer of every step, and a verifier that knows nothing of it executes them: see
  [phased.md](phased.md), several dead cables.
* **Mixed radix?** The allocation assumes nothing of the extents: 8x4x4 is in [phased.md](phased.md).
* **Store-and-forward against cut-through?** The paper charges a start-up for each phase, these schedules pay one for each
  step. `synth compare` prints both times for each algorithm, and the most chunks a rank holds at a time.
* **Other traffic at the same time?** `--capacity` says what of each dimension's links is left: planners, bounds and the
  verifier keep to it.
";

#[test]
fn the_page_is_current() {
    let mut page = page::Page::new();
    page.text(HEAD);
    averages::write(&mut page);
    planned::write(&mut page);
    page.text(ANSWERS);
    page.finish();
}
