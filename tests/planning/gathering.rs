//! all_gather and its reversal on intact tori, by the template: closed forms, on verified schedules.

use collsynth::collective::Kind;
use collsynth::topology::Torus;
use proptest::prelude::*;

use crate::support::plans::{self, intact};

/// Steps and total width of the template's schedule; it verifies, as do its certificates.
fn figures(torus: Torus, kind: Kind, parts: u32) -> (u32, u32) {
    plans::figures(&plans::plan("template", &intact(torus), kind, parts).unwrap())
}

/// The diameter, and a rank's incoming chunks over the capacity of its links; at least 1 for every step.
fn closed_form(torus: &Torus, parts: u32) -> (u32, u32) {
    let ranks: u32 = torus.extents.iter().product();
    let mut room = 0;
    for (dim, &extent) in torus.extents.iter().enumerate() {
        let wraps = torus.wrap.get(dim).copied().unwrap_or(extent >= 3);
        let links = if extent == 1 { 0 } else { 1 + u32::from(wraps) };
        room += links * torus.capacity.get(dim).copied().unwrap_or(1);
    }
    let diameter = torus.extents.iter().map(|extent| extent / 2).sum::<u32>();
    (diameter, (parts * (ranks - 1)).div_ceil(room).max(diameter))
}

const KINDS: [Kind; 3] = [Kind::AllGather, Kind::ReduceScatter, Kind::AllReduceGathered];

#[test]
fn intact_tori_are_planned_in_diameter_steps_at_the_cut_of_a_rank() {
    let tori: [(&[u32], &[u32]); 20] = [
        (&[2], &[1, 3]),
        (&[3], &[1, 2]),
        (&[8], &[1, 2, 3]),
        (&[17], &[1, 2]),
        (&[2, 2], &[1, 2, 4]),
        (&[3, 3], &[1, 2]),
        (&[4, 4], &[1, 2, 4]),
        (&[1, 5, 1], &[1]),
        (&[2, 8], &[1, 2]),
        (&[2, 16], &[1, 3]),
        (&[3, 20], &[1, 4]),
        (&[2, 3, 4], &[1, 5]),
        (&[4, 4, 4], &[1, 2, 4, 400]),
        (&[5, 5, 5], &[1, 3]),
        (&[8, 4, 4], &[1, 6]),
        (&[6, 4, 2], &[1, 5]),
        (&[2, 2, 2, 2, 2], &[1, 5]),
        (&[3, 3, 3, 3], &[1]),
        (&[4, 3, 2, 3], &[1, 7]),
        (&[8, 8, 8], &[1, 6]),
    ];
    for (extents, parts) in tori {
        let torus = Torus::new(extents);
        for (&parts, kind) in parts.iter().zip(KINDS.iter().cycle()) {
            assert_eq!(
                figures(torus.clone(), kind.clone(), parts),
                closed_form(&torus, parts),
                "{extents:?} in {parts}"
            );
        }
    }
}

/// 63 messages over 6 links: 6 steps and a volume of 10.5, both the least there can be.
#[test]
fn two_parts_of_a_cubic_torus_meet_both_bounds() {
    for kind in KINDS {
        assert_eq!(figures(Torus::new(&[4, 4, 4]), kind, 2), (6, 21));
    }
}

#[test]
fn doubled_cables_and_capacities_are_all_used() {
    let doubled = |extents: &[u32]| Torus { wrap: vec![true; extents.len()], ..Torus::new(extents) };
    let capable = |extents: &[u32], capacity: &[u32]| Torus { capacity: capacity.to_vec(), ..Torus::new(extents) };
    let tori = [
        doubled(&[2]),
        doubled(&[2, 2]),
        doubled(&[2, 2, 2]),
        doubled(&[4, 2]),
        capable(&[4, 4], &[2, 1]),
        capable(&[8], &[3]),
        capable(&[3, 2, 4], &[2, 2, 1]),
    ];
    for torus in tori {
        for parts in [4, 8, 12] {
            let (steps, width) = figures(torus.clone(), Kind::AllGather, parts);
            let (least_steps, least_width) = closed_form(&torus, parts);
            assert_eq!(width, least_width, "{torus:?}");
            // Both cables of a pair lead to the same rank: at first, one of them may have nothing to carry.
            assert!(steps <= least_steps + 1, "{torus:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_torus_is_planned_at_the_closed_form(
        extents in prop::collection::vec(1_u32..8, 1..5)
            .prop_filter("small", |e| (2..400).contains(&e.iter().product::<u32>())),
        parts in 1_u32..7,
        kind in prop::sample::select(KINDS.to_vec()),
    ) {
        let torus = Torus::new(&extents);
        prop_assert_eq!(figures(torus.clone(), kind, parts), closed_form(&torus, parts));
    }
}
