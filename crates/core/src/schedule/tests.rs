use super::{Op, Schedule, Timetable};
use crate::collective::{ChunkId, Collective, Kind};
use crate::problem::Problem;
use crate::topology::{LinkId, RankId, Topology};

#[test]
fn a_schedule_gives_back_what_was_written() {
    let mut builder = Schedule::builder();
    builder.step(2).transfer(RankId(0), RankId(1), None, Op::Copy, [ChunkId(4), ChunkId(1)]);
    builder.step(1);
    builder.step(3).transfer(RankId(1), RankId(2), None, Op::Reduce, [ChunkId(7)]);
    let schedule = builder.finish();
    let steps: Vec<_> = schedule.steps().map(|step| (step.number, step.width, step.transfers.len())).collect();
    assert_eq!(steps, [(1, 2, 1), (2, 1, 0), (3, 3, 1)]);
    assert_eq!(schedule.chunks(&schedule.transfers()[0]), [ChunkId(4), ChunkId(1)]);
    assert_eq!(schedule.chunks(&schedule.transfers()[1]), [ChunkId(7)]);
    assert_eq!((schedule.total_width(), schedule.move_count()), (6, 3));
}

#[test]
fn loads_and_busy_shares_count_chunks() {
    let problem = Problem::new(Topology::torus(&[3]).unwrap(), Collective::new(Kind::AllToAll)).unwrap();
    let mut builder = Schedule::builder();
    let clockwise: Vec<LinkId> = problem
        .topology()
        .live_links()
        .filter(|&id| problem.topology().link(id).direction.is_some_and(|direction| direction.positive))
        .collect();
    builder.step(2);
    for &link in &clockwise {
        builder.transfer_over(problem.topology(), link, Op::Copy, [ChunkId(1)]);
    }
    let schedule = builder.finish();
    let carried = schedule.carried(&problem, &mut schedule.numbers());
    assert!(clockwise.iter().all(|&link| carried[link.index()] == 1) && carried.iter().sum::<u64>() == 3);
    let busy = schedule.statistics(&problem).busy;
    let shares: Vec<_> =
        busy.iter().map(|(direction, share)| (direction.unwrap().to_string(), share.unwrap())).collect();
    assert_eq!(shares, [("x-".to_owned(), 0.0), ("x+".to_owned(), 0.5)]);
}
