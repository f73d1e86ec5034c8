//! docs/results/paper-comparison.md: the figures of Qin et al., MICRO 2025, and those of verified schedules.
//! `SYNTH_UPDATE_RESULTS=1 cargo test --test pages paper_comparison` renews it. Plans that take minutes, and measured
//! times, are constants here; ignored tests plan and measure them again.

mod answers;
mod averages;
mod closed_forms;
mod commands;
mod failures;
mod page;
mod planned;
mod routing;
mod speedups;

use crate::support::pages::{hold, sections};

const HEAD: &str = "# The paper, and what `synth` reaches

Qin, Cui, Cai, Niu, Yang, Huang: *Optimizing All-to-All Collective Communication with Fault Tolerance on Torus
Networks*, MICRO 2025, doi 10.1145/3725843.3756057. `SYNTH_UPDATE_RESULTS=1 cargo test --test pages paper_comparison`
writes this page; without the variable, the same test keeps it current.

The algorithms as verified schedules, on more tori and with several dead cables, are in [phased.md](phased.md), what
planning reaches is in [results.md](results.md), and `synth compare` sets any of them side by side, charged by steps and
by phases.

Of a row with a planner and parts, `synth --torus 4x4x4 --fail 0,x+ --planner mate_e --parts 21` prints the steps, the
volume, the bound and the loads of the phases, added up, with the torus, the dead cables (from rank 0 along x), the
planner and the parts of the row. `--message-bytes 64KiB --alpha 100ns --bandwidth 56GB/s` plans for a size, and
`synth compare` with these options prints times. Tests run the commands of this page.
";

#[test]
fn the_page_is_current() {
    let page = sections(&[averages::write, speedups::write, failures::write, routing::write, answers::write]);
    hold("docs/results/paper-comparison.md", &(HEAD.to_owned() + &page));
}
