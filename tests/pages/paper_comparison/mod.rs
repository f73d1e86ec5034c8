//! docs/results/paper-comparison.md: the figures of Qin et al., MICRO 2025, and those of verified schedules.
//! `SYNTH_UPDATE_RESULTS=1 cargo test --test pages paper_comparison` renews it. Plans that take minutes, and measured
//! times, are constants here; ignored tests plan and measure them again.

mod answers;
mod averages;
mod closed_forms;
mod failures;
mod page;
mod planned;
mod routing;
mod speedups;

use crate::support::pages::{hold, sections};

const HEAD: &str = "# The paper, and what `synth` reaches

Qin, Cui, Cai, Niu, Yang, Huang: *Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks*,
MICRO 2025, doi 10.1145/3725843.3756057. `SYNTH_UPDATE_RESULTS=1 cargo test --test pages paper_comparison` writes this
page; without the variable, the same test keeps it current.

The algorithms as verified schedules, on more tori and with several dead cables, are in [phased.md](phased.md), what
planning reaches is in [results.md](results.md), and `synth compare` sets any of them side by side, charged by steps and
by phases.
";

#[test]
fn the_page_is_current() {
    let page = sections(&[averages::write, speedups::write, failures::write, routing::write, answers::write]);
    hold("docs/results/paper-comparison.md", &(HEAD.to_owned() + &page));
}
