//! Twisted tori and slices against the values of a flow LP and closed forms of the lattice.

use collsynth::bound;
use collsynth::collective::Kind;
use collsynth::symmetry::symmetries;
use collsynth::topology::{Distances, RankId, Torus};

use crate::support::plans::{self, intact, plan, problem, ratio, steps_and_volume, without};

fn twisted(extents: &[u32]) -> Torus {
    Torus::twisted(extents).unwrap()
}

/// The flow LP of one origin (HiGHS): a twisted torus, its diameter, the messages per link of an all-to-all, and parts
/// that divide evenly; too many ranks for a test have none.
type Oracle = (&'static [u32], u16, (i128, i128), Option<u32>);

const ORACLE: [Oracle; 5] = [
    (&[4, 8], 4, (21, 1), Some(1)),
    (&[4, 4, 8], 6, (220, 3), Some(3)),
    (&[4, 8, 8], 6, (184, 1), Some(1)),
    (&[8, 8, 16], 12, (3568, 3), None),
    (&[8, 16, 16], 12, (2976, 1), None),
];

#[test]
fn all_to_all_is_planned_in_diameter_steps_on_the_values_of_the_linear_program() {
    for (extents, diameter, (volume, over), parts) in ORACLE {
        let topology = intact(twisted(extents));
        let distances = Distances::new(&topology);
        assert_eq!(distances.row(RankId(0)).iter().max(), Some(&diameter), "{extents:?}");
        // All links are alike, so the volume is the sum of the distances, spread over the links of a rank.
        let hops: i128 = distances.row(RankId(0)).iter().map(|&hops| i128::from(hops)).sum();
        assert_eq!(ratio(hops, 2 * extents.len() as i128), ratio(volume, over), "{extents:?}");
        let Some(parts) = parts else { continue };
        let plan = plan("template", &topology, Kind::AllToAll, parts).unwrap();
        assert_eq!(steps_and_volume(&plan), (u32::from(diameter), ratio(volume, over)), "{extents:?}");
        assert_eq!(plan.bounds.volume.as_ref().unwrap().at_least, ratio(volume, over), "{extents:?}");
    }
}

#[test]
fn a_dead_cable_costs_no_more_than_its_bound() {
    // All cables of these machines are alike, whatever their dimension.
    for (extents, whole) in [(&[4, 8][..], 22), (&[4, 4, 8], 74)] {
        for dim in 0..extents.len() as u8 {
            let topology = without_cable(extents, dim);
            let plan = plan(None, &topology, Kind::AllToAll, 1).unwrap();
            let (_, width) = plans::figures(&plan);
            assert_eq!((width, plan.bounds.least_width(1)), (whole, whole), "{extents:?} in {dim}");
        }
    }
}

fn without_cable(extents: &[u32], dim: u8) -> collsynth::topology::Topology {
    let torus = twisted(extents);
    // A cable inside the dimension: (0, ...) to (1, ...).
    without(torus, &[(0, dim)])
}

#[test]
fn gathering_takes_what_a_rank_must_receive() {
    for (extents, parts) in [(&[4, 8][..], 4), (&[4, 4, 8], 6), (&[3, 6], 4), (&[2, 4], 4)] {
        let torus = twisted(extents);
        let (ranks, links) = (i128::from(extents.iter().product::<u32>()), 2 * extents.len() as i128);
        let topology = intact(torus);
        let diameter = *Distances::new(&topology).row(RankId(0)).iter().max().unwrap();
        for kind in [Kind::AllGather, Kind::ReduceScatter] {
            let plan = plan("template", &topology, kind, parts).unwrap();
            assert_eq!(steps_and_volume(&plan), (diameter.into(), ratio(ranks - 1, links)), "{extents:?}");
        }
    }
}

#[test]
fn all_reduce_meets_its_bound_within_three_percent() {
    let topology = intact(twisted(&[4, 8]));
    let plan = plan(None, &topology, Kind::AllReduce, 96).unwrap();
    let (_, volume) = steps_and_volume(&plan);
    // 2 (N - 1) vectors over 2 D N links.
    assert!(volume >= ratio(31, 64) && volume * 100 <= ratio(31, 64) * 103, "{volume}");
}

#[test]
fn every_translation_is_a_symmetry_and_phased_planners_refuse() {
    for extents in [&[4, 8][..], &[4, 4, 8], &[4, 8, 8]] {
        let topology = intact(twisted(extents));
        let found = symmetries(&topology, |_| true);
        assert_eq!(found.count % topology.rank_count(), 0, "{extents:?}");
        for name in ["ring", "half_ring", "dim_rotation", "mate", "dor", "wfr"] {
            let planner = collsynth::plan::planner_named(name).unwrap();
            let refused = planner.applies(&problem(topology.clone(), Kind::AllToAll)).unwrap_err().to_string();
            assert!(refused.contains("twisted"), "{name}: {refused}");
        }
    }
}

#[test]
fn slices_have_the_values_of_meshes() {
    // 4x4x2 of 4x4x4: z is a single cable.
    let slice = Torus { wrap: vec![true, true, false], ..Torus::new(&[4, 4, 2]) };
    let problem = problem(intact(slice.clone()), Kind::AllToAll);
    assert_eq!(bound::find(&problem).unwrap().volume.unwrap().at_least, ratio(16, 1));
    let plan = plan(None, &intact(slice), Kind::AllToAll, 1).unwrap();
    assert_eq!(steps_and_volume(&plan), (5, ratio(16, 1)));
}
