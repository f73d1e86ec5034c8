//! The row that must be shown: `negotiated` beside MATEe on 4x4x4 with one dead cable.

use synth::certificate::Rational;
use synth::collective::Kind;
use synth::plan::{Control, Parts, Phase, Plan, Wish, synthesise};
use synth::schedule::Solution;
use synth::topology::{FailedLink, RankId, Shape, Topology, TopologySpec, Torus};
use synth::verify::{Options, Verified};

use super::page::Page;

/// What is shown of a plan: steps, volume, loads of the phases.
type Figures = (usize, Rational, Rational);

fn plan(planner: &str, parts: u32) -> Figures {
    let dead = FailedLink { from: RankId(0), to: RankId(1), dim: None, both: true };
    let spec = TopologySpec::new(Shape::Torus(Torus::new(&[4, 4, 4])));
    let torus = Topology::new(TopologySpec { failed_links: vec![dead], ..spec }).unwrap();
    let wish = Wish { planner: Some(planner.to_owned()), parts: Parts::Fixed(parts), ..Wish::default() };
    let plan = synthesise(&torus, &Kind::AllToAll, &wish, &Control::unlimited()).unwrap();
    let load = Phase::total_load(&plan.phases);
    let Plan { problem, schedule, bounds, .. } = plan;
    let solution = Solution { problem, schedule, bounds, origin: None };
    let verified = Verified::<Solution>::new(solution, &Options::default()).expect("planners are right");
    let volume = Rational::new(verified.schedule.total_width().into(), parts.into());
    (verified.schedule.step_count(), volume, load)
}

pub fn write(page: &mut Page) {
    page.text(
        "\n## 4x4x4 with one dead cable\n\n\
         Volumes in messages, the block one rank owes another, on one link; no schedule is below 1024/31 = 33.032. *Load*: the\n\
         paper's volume, what the fullest link carries in each phase.\n",
    );
    page.table(&["planner", "parts", "load", "steps", "volume"]);
    let (mate_e, negotiated) = (plan("mate_e", 21), plan("negotiated", 1));
    assert!(mate_e.2 == Rational::new(288, 7) && negotiated.1 <= Rational::from(34), "{mate_e:?} {negotiated:?}");
    for (name, parts, (steps, volume, load)) in [("mate_e", 21, mate_e), ("negotiated", 1, negotiated)] {
        let load = if name == "mate_e" { load.to_string() } else { "-".to_owned() };
        page.row([name.to_owned(), parts.to_string(), load, steps.to_string(), volume.to_string()]);
    }
}
