use super::{ChunkId, Collective, Combining, Demand, Holders, Kind};
use crate::topology::RankId;

fn kinds() -> [Kind; 11] {
    Kind::every(RankId(1), Demand::new(3, &[0, 2, 1, 0, 0, 0, 3, 0, 1]).unwrap())
}

#[test]
fn labels_read_back_for_every_kind() {
    for kind in kinds() {
        for parts in [1, 3] {
            let collective = Collective { kind: kind.clone(), parts };
            for chunk in (0..collective.chunk_count(3).unwrap()).map(ChunkId) {
                let label = collective.chunk_label(3, chunk);
                assert_eq!(collective.parse_chunk(3, &label), Ok(chunk), "{} {label}", collective.kind.name());
            }
        }
    }
}

#[test]
fn labels_out_of_range_or_of_the_wrong_form_are_refused() {
    for kind in kinds() {
        let collective = Collective { kind, parts: 2 };
        for text in
            ["", ">", "/", "3", "0>3", "3>0", "0>1/9", "9/0", "0/9", "a", "0>1>2", "0/1/2", "-1", "+1", "99999999999"]
        {
            let read = collective.parse_chunk(3, text);
            assert!(read.is_err(), "{} {text} {read:?}", collective.kind.name());
        }
    }
}

#[test]
fn demand_numbers_chunks_row_by_row() {
    let demand = Demand::new(2, &[1, 2, 0, 3]).unwrap();
    assert_eq!((demand.chunks(RankId(0), RankId(1)), demand.chunks(RankId(1), RankId(1))), (1..3, 3..6));
    let collective = Collective::new(Kind::AllToAllV(demand));
    let pairs: Vec<_> = (0..6)
        .map(|chunk| match collective.rule(2, ChunkId(chunk)) {
            rule if rule.combining == Combining::Never => (rule.before, rule.after),
            rule => panic!("{rule:?}"),
        })
        .collect();
    let one = |rank| Holders::One(RankId(rank));
    let expected = [(0, 0), (0, 1), (0, 1), (1, 1), (1, 1), (1, 1)].map(|(a, b)| (one(a), one(b)));
    assert_eq!(pairs, expected);
    assert!(Demand::new(2, &[1, 2, 3]).is_none());
    assert!(Demand::new(1, &[1]).is_some() && Demand::new(2, &[u32::MAX, 1, 0, 0]).is_none());
}

#[test]
fn too_many_chunks_are_noticed() {
    assert_eq!(Collective::new(Kind::AllToAll).chunk_count(65_535), Some(65_535 * 65_535));
    assert_eq!(Collective::new(Kind::AllToAll).chunk_count(65_536), None);
    assert_eq!(Collective { kind: Kind::AllToAll, parts: 2 }.chunk_count(65_535), None);
}
