use super::{
    DimRef, Direction, Distances, FailedLink, GraphLink, RankId, Shape, Topology, TopologyError, TopologySpec, Torus,
};

fn cable(from: u32, to: u32, dim: Option<&str>) -> FailedLink {
    FailedLink { from: RankId(from), to: RankId(to), dim: dim.map(|text| text.parse().unwrap()), both: true }
}

fn torus_with(extents: &[u32], failed: Vec<FailedLink>) -> Result<Topology, TopologyError> {
    Topology::new(TopologySpec { failed_links: failed, ..TopologySpec::torus(extents) })
}

#[test]
fn link_counts_follow_from_the_extents() {
    for (extents, links) in
        [(&[1][..], 0), (&[2], 2), (&[3], 6), (&[4, 4, 4], 384), (&[2, 3, 4], 24 * 5), (&[1, 5], 10), (&[2, 2, 2], 24)]
    {
        assert_eq!(Topology::torus(extents).unwrap().links().len(), links, "{extents:?}");
    }
}

#[test]
fn an_extent_of_two_can_have_a_doubled_cable() {
    let doubled = Torus { wrap: vec![true], ..Torus::new(&[2]) };
    let topology = Topology::new(TopologySpec::new(Shape::Torus(doubled.clone()))).unwrap();
    assert_eq!(topology.links_between(RankId(0), RankId(1)).count(), 2);

    let spec = |dim| TopologySpec {
        failed_links: vec![cable(0, 1, Some(dim))],
        ..TopologySpec::new(Shape::Torus(doubled.clone()))
    };
    assert!(matches!(Topology::new(spec("x")), Err(TopologyError::AmbiguousCable { .. })));
    let broken = Topology::new(spec("x-")).unwrap();
    let left: Vec<String> = broken.live_links().map(|id| broken.link_label(id)).collect();
    assert_eq!(left, ["0 -> 1 x+", "1 -> 0 x-"]);
}

#[test]
fn a_failed_cable_removes_both_links_however_it_is_stated() {
    for failed in [cable(2, 3, Some("x")), cable(3, 2, Some("x")), cable(3, 2, None), cable(3, 2, Some("x-"))] {
        let topology = torus_with(&[4, 4, 4], vec![failed]).unwrap();
        assert_eq!(topology.live_links().count(), 382);
        let stated = &topology.spec().failed_links;
        assert_eq!(stated[..], [FailedLink { dim: Some(DimRef::Dim(0)), ..cable(2, 3, None) }]);
    }
}

#[test]
fn the_wrap_of_a_twisted_torus_shifts_other_dimensions() {
    let torus = Torus::twisted(&[4, 4, 8]).unwrap();
    let topology = Topology::new(TopologySpec::new(Shape::Torus(torus.clone()))).unwrap();
    assert_eq!(topology.links().len(), 128 * 6);
    for (from, direction, to) in [("3.1.2", "x+", "0.1.6"), ("0.1.2", "x-", "3.1.6"), ("1.3.7", "y+", "1.0.3")] {
        let (from, to) = (topology.parse_rank(from).unwrap(), topology.parse_rank(to).unwrap());
        let direction: Direction = direction.parse().unwrap();
        let link = topology.links_between(from, to).next().unwrap();
        assert_eq!(topology.link(link).direction, Some(direction));
        assert_eq!(topology.link(topology.opposite(link).unwrap()).to, from);
        assert_eq!(torus.neighbor(to, direction.dim.into(), !direction.positive), Some(from));
    }
    // Around x twice and y once is once and a half around z.
    assert_eq!(torus.rank_at(&[8, 4, -4]), RankId(0));
    assert_eq!([[4, 4], [4, 12], [1, 2]].map(|extents| Torus::twisted(&extents)), [None, None, None]);
}

#[test]
fn twists_that_make_no_torus_are_refused() {
    let message = |wrap: &[bool], twist: &[&[u32]]| {
        let twist = twist.iter().map(|row| row.to_vec()).collect();
        let torus = Torus { wrap: wrap.to_vec(), twist, ..Torus::new(&[4, 8]) };
        Topology::new(TopologySpec::new(Shape::Torus(torus))).unwrap_err().to_string()
    };
    assert_eq!(
        message(&[], &[&[0, 8], &[0, 0]]),
        "the wrap of x cannot shift y: a shift is below the extent of the dimension it shifts"
    );
    assert_eq!(message(&[], &[&[0, 4], &[2, 0]]), "the wrap of x cannot shift y: its own wrap shifts another one");
    assert_eq!(message(&[], &[&[1, 0], &[0, 0]]), "the wrap of x cannot shift x: a wrap shifts other dimensions");
    assert_eq!(message(&[false, true], &[&[0, 4], &[0, 0]]), "the wrap of x cannot shift y: both must wrap");
    assert_eq!(
        message(&[], &[&[0, 4]]),
        "`twist` has 1 entries, but the torus has 2 dimensions: give one entry per dimension"
    );
}

#[test]
fn a_single_direction_can_fail() {
    let topology = torus_with(&[4], vec![FailedLink { both: false, ..cable(1, 0, None) }]).unwrap();
    let dead: Vec<_> =
        topology.links().iter().filter(|link| !link.alive).map(|link| (link.from.0, link.to.0)).collect();
    assert_eq!(dead, [(1, 0)]);
}

#[test]
fn wrong_failures_are_explained() {
    let message = |failed| torus_with(&[4, 4, 4], vec![failed]).unwrap_err().to_string();
    assert_eq!(
        message(cable(2, 4, Some("x"))),
        "ranks 2 (2,0,0) and 4 (0,1,0) are not neighbors; neighbors of 2 (2,0,0) are 1 (1,0,0) over x-, \
         3 (3,0,0) over x+, 6 (2,1,0) over y+, 14 (2,3,0) over y-, 18 (2,0,1) over z+, 50 (2,0,3) over z-"
    );
    assert_eq!(message(cable(2, 3, Some("y"))), "ranks 2 (2,0,0) and 3 (3,0,0) are not neighbors in y: they are in x");
    // Of a cable between neighbors, the direction may be the wrong one alone.
    let down = FailedLink { dim: Some("x+".parse().unwrap()), both: false, ..cable(3, 2, None) };
    assert_eq!(message(down), "ranks 3 (3,0,0) and 2 (2,0,0) are not neighbors in x+: they are in x-");
    assert_eq!(message(cable(2, 64, None)), "rank 64 is out of range: ranks are 0 to 63");
    let twice = torus_with(&[4], vec![cable(0, 1, None), cable(1, 0, None)]);
    assert!(matches!(twice, Err(TopologyError::LinkFailedTwice { .. })));
}

#[test]
fn a_failed_rank_takes_its_links_along() {
    let topology = Topology::new(TopologySpec::torus(&[3, 3]).without_ranks(&[5])).unwrap();
    assert_eq!((topology.live_rank_count(), topology.live_links().count()), (8, 28));
    assert!(!topology.is_alive(RankId(5)) && topology.is_alive(RankId(4)) && !topology.is_alive(RankId(9)));
}

#[test]
fn ranks_are_read_as_numbers_or_coordinates() {
    let topology = Topology::torus(&[4, 4, 4]).unwrap();
    assert_eq!(topology.parse_rank("2.0.0").unwrap(), RankId(2));
    assert_eq!(topology.parse_rank("1.2.3").unwrap(), RankId(57));
    assert_eq!(topology.rank_label(RankId(57)), "57 (1,2,3)");
    for text in ["", "x", "1.2", "4.0.0", "64", "-1", "1..2", "99999999999"] {
        assert!(topology.parse_rank(text).is_err(), "{text}");
    }
}

#[test]
fn ranks_have_names() {
    let named = |names: &[&str]| Topology::new(TopologySpec::torus(&[3]).with_names(names.iter().copied()));
    let topology = named(&["a", "rack-1/node17:2", "4-b"]).unwrap();
    assert_eq!(topology.parse_rank("rack-1/node17:2").unwrap(), RankId(1));
    assert_eq!(topology.parse_rank("2").unwrap(), RankId(2));
    assert_eq!(topology.rank_label(RankId(2)), "2 4-b");
    assert_eq!(topology.fail_rank(2).unwrap().rank_label(RankId(2)), "2 4-b");
    let long = "n".repeat(254);
    for wrong in ["", "7", "4-7", "1.0", "-a", "a,b", "a b", "a\u{1b}[2J", "nöde", "a\u{202e}", &long] {
        let error = named(&["a", "b", wrong]).unwrap_err();
        assert!(matches!(error, TopologyError::NotAName { rank: RankId(2), .. }), "{wrong}: {error}");
        assert!(!error.to_string().contains(['\u{1b}', '\u{202e}']), "{error}");
    }
    let error = named(&["a", "b", "a"]).unwrap_err();
    assert_eq!(error, TopologyError::NameTwice { rank: RankId(2), first: RankId(0), name: "a".to_owned() });
    for count in [&["a"][..], &["a", "b", "c", "d"]] {
        assert!(matches!(named(count), Err(TopologyError::WrongNameCount { ranks: 3, .. })));
    }
}

#[test]
fn distances_on_a_torus_are_sums_of_ring_distances() {
    let topology = Topology::torus(&[3, 4, 2]).unwrap();
    let distances = Distances::new(&topology);
    let torus = topology.as_torus().unwrap();
    for a in topology.live_ranks() {
        for b in topology.live_ranks() {
            let expected: u32 = (0..3)
                .map(|dim| {
                    let apart = torus.position(a, dim).abs_diff(torus.position(b, dim));
                    apart.min(torus.extents[dim] - apart)
                })
                .sum();
            assert_eq!(u32::from(distances.get(a, b)), expected);
        }
    }
}

#[test]
fn components_name_the_parts_of_a_broken_machine() {
    let topology = torus_with(&[4], vec![cable(0, 1, None), cable(2, 3, None)]).unwrap();
    assert_eq!(topology.components(), [[RankId(0), RankId(3)], [RankId(1), RankId(2)]]);
    let one_way = Shape::Graph { ranks: 2, links: vec![GraphLink { from: RankId(0), to: RankId(1), capacity: 1 }] };
    assert_eq!(Topology::new(TopologySpec::new(one_way)).unwrap().components().len(), 2);
}

#[test]
fn dimension_names_read_back() {
    for dim in [0, 3, 5, 6, 17] {
        for positive in [false, true] {
            let direction = Direction { dim, positive };
            assert_eq!(direction.to_string().parse::<Direction>().unwrap(), direction);
        }
    }
    for text in ["", "+", "q", "d", "xx", "d999"] {
        assert!(text.parse::<DimRef>().is_err(), "{text}");
    }
}
