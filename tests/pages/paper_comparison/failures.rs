//! One dead cable on 4x4x4, open rings instead of folded ones, and the paper's three types of two dead cables.

use collsynth::certificate::Rational;
use collsynth::plan::PlanError;

use crate::support::pages::{decimal, float, name};
use crate::support::plans::Cable;

use super::closed_forms::load;
use super::page::Page;
use super::planned::{places, plan, torus};

pub fn write(page: &mut Page) {
    one_cable(page);
    open_rings(page);
    two_cables(page);
}

fn one_cable(page: &mut Page) {
    page.text(
        "\n## 4x4x4 with one dead cable\n\n\
         Volumes in messages, the block one rank owes another, on one link; no schedule is below 1024/31 =\n\
         33.032. *Load*: the paper's volume, the load of the fullest link in each phase. *Of MATEe*: the load\n\
         (`negotiated`: the volume) over that of `mate_e`.\n",
    );
    page.table(&["planner", "parts", "load", "steps", "volume", "of MATEe"]);
    let mate_e = load("mate_e", &[4, 4, 4], 0).unwrap();
    assert_eq!(mate_e, Rational::new(288, 7));
    for (planner, parts) in [
        ("wfr", 1),
        ("folded_ring", 3),
        ("open_ring", 3),
        ("mate", 21),
        ("mate_open", 15),
        ("mate_e", 21),
        ("mate_e_open", 15),
        ("negotiated", 1),
        ("negotiated", 31),
    ] {
        let planned = plan(planner, &torus(&[4, 4, 4], &[(0, 0)]), parts).unwrap();
        assert!(load(planner, &[4, 4, 4], 0).is_none_or(|closed| closed == planned.load), "{planner}");
        let of_mate_e = planned.load / mate_e;
        assert!(planner != "negotiated" || of_mate_e <= Rational::new(34 * 7, 288), "{planner}");
        page.row([
            format!("`{planner}`"),
            parts.to_string(),
            planned.of_phases(decimal(planned.load)),
            planned.steps.to_string(),
            decimal(planned.volume),
            format!("{:.3}", float(of_mate_e)),
        ]);
    }
}

/// The shortest path along the rest of the ring, instead of FoldedRing.
fn open_rings(page: &mut Page) {
    page.text(
        "\n## Folded and open rings\n\n\
         The paper calls FoldedRing bandwidth-optimal. It is not: messages that take the only path along the\n\
         rest of the ring (`open_ring`) load its fullest link with `floor(k/2) ceil(k/2)` where FoldedRing\n\
         needs `k (k-1) / 2`, so `r` is 1/2 instead of about 1/4, and MATE and MATEe gain with it. Closed\n\
         forms, with the dead cable along x; [phased.md](phased.md) has verified schedules with exactly these\n\
         loads. In parts that their shares are whole in, `synth compare` shows them *charged by phases*, here\n\
         those of 5x5. *Gain*: of `mate_e_open` over `mate_e`.\n\n\
         ```sh\n\
         synth compare --torus 5x5 --fail 0,1 --parts 12,26 --planners folded_ring,open_ring,mate,mate_open,\
         mate_e,mate_e_open\n\
         ```\n",
    );
    let planners = ["folded_ring", "open_ring", "mate", "mate_open", "mate_e", "mate_e_open"];
    page.table(&[&["torus"][..], &planners, &["gain"]].concat());
    for extents in [&[4, 4][..], &[5, 5], &[8, 8], &[4, 4, 4], &[5, 5, 5], &[8, 4, 4]] {
        let loads = planners.map(|planner| load(planner, extents, 0).unwrap());
        assert!(loads.chunks(2).all(|pair| pair[1] < pair[0]), "{extents:?}");
        let gain = format!("{:.1} %", 100.0 * (float(loads[4] / loads[5]) - 1.0));
        page.row([name(extents)].into_iter().chain(loads.map(decimal)).chain([gain]));
    }
}

/// A type of two dead cables, and the cables.
type Type = (&'static str, &'static [Cable]);
const TYPES: &[Type] = &[
    ("1: the same ring", &[(0, 1), (8, 1)]),
    ("2: the same dimension, apart", &[(0, 1), (2, 1)]),
    ("3: the same dimension, shared links", &[(0, 1), (49, 1)]),
    ("3: different dimensions", &[(0, 1), (38, 2)]),
    ("3: different dimensions, one rank", &[(0, 1), (0, 2)]),
];

/// The three types of section 5.7.
fn two_cables(page: &mut Page) {
    page.text(
        "\n## Two dead cables on 4x4x4: the paper's three types\n\n\
         Section 5.7 of the paper. Type 1, both on one ring: it is in pieces, FoldedRing and therefore MATEe\n\
         are refused, MATE runs on the virtual rings alone (`T0 (1 + 1 / (D-1))` = 48). Type 2, two rings of\n\
         one dimension: one acceleration phase for both if they share no acceleration links. Type 3,\n\
         different dimensions or shared links: an acceleration phase for each (`mate_e2`); one phase for both\n\
         with its links divided by the allocation (`mate_e`) takes less. Loads; for `negotiated`, whole\n\
         messages, the volume and the steps. *Of the paper's best*: that volume over the least load of\n\
         `mate`, `mate_e` and `mate_e2`. The paper's averages over simulated wild-first routing are 1.43\n\
         (MATE), 1.14 (MATE) and 1.55 (MATEe) for the types 1 to 3, second-hand as below; we do not know its\n\
         volumes.\n",
    );
    let phased = [("mate", 21), ("mate_e", 21), ("mate_e2", 21), ("mate_e_open", 15)];
    let names = phased.map(|(planner, _)| planner);
    let ours = ["`negotiated`", "steps", "bound", "of the paper's best"];
    page.table(&[&["type", "dead cables from"][..], &names, &ours].concat());
    for &(kind, cables) in TYPES {
        let topology = torus(&[4, 4, 4], cables);
        let loads = phased.map(|(planner, parts)| match plan(planner, &topology, parts) {
            Ok(planned) => Some(planned.load),
            Err(PlanError::NotApplicable { .. }) => None,
            Err(error) => panic!("{planner}: {error}"),
        });
        let planned = plan("negotiated", &topology, 1).unwrap();
        assert!(planned.volume == planned.bound.ceil(), "{cables:?}");
        let of_paper = names.iter().zip(&loads).filter(|(planner, _)| !planner.ends_with("open"));
        let best = of_paper.filter_map(|(_, &load)| load).min().unwrap();
        let cells = loads.map(|load| load.map_or("refused".to_owned(), decimal));
        let figures = [decimal(planned.volume), planned.steps.to_string(), decimal(planned.bound)];
        let of_best = format!("{:.3}", float(planned.volume / best));
        page.row([kind.to_owned(), places(cables)].into_iter().chain(cells).chain(figures).chain([of_best]));
    }
}
