//! Jobs: random collectives in random groups around random failures, planned together; bounds against schedules one
//! after another, and against those of one collective.

use fastrand::Rng;

use collsynth::bound;
use collsynth::certificate::Rational;
use collsynth::collective::{Collective, Demand, Groups, Kind};
use collsynth::grouping;
use collsynth::plan::{
    Control, Goal, JobGoal, Parts, PlanError, in_pieces, least_job_width, plan_job, plan_job_in_parts, synthesize,
};
use collsynth::problem::Problem;
use collsynth::topology::{RankId, Topology};
use collsynth::verdict::Verdict;
use collsynth::verify::{Options, verify_job};

fn torus(extents: &[u32]) -> Topology {
    Topology::torus(extents).unwrap()
}

fn problem(topology: &Topology, kind: Kind, parts: u32) -> Problem {
    Problem::new(topology.clone(), Collective { kind, parts }).unwrap()
}

fn unlimited(problems: Vec<Problem>) -> collsynth::schedule::Job {
    plan_job(problems, &JobGoal::default(), &Control::unlimited()).unwrap().0
}

/// A collective in all ranks, in the rows or columns, or in two odd groups.
fn random_problem(topology: &Topology, rng: &mut Rng) -> Problem {
    let ranks = topology.rank_count() as u32;
    let counts: Vec<u32> = (0..ranks * ranks).map(|_| rng.u32(0..3)).collect();
    let demand = Demand::new(ranks, &counts).unwrap();
    let kind = rng.choice(Kind::every(RankId(0), demand)).unwrap();
    let parts = rng.u32(1..4);
    if kind.demand().is_some() {
        return problem(topology, in_pieces(&kind, parts).unwrap(), parts);
    }
    let odd = || vec![vec![RankId(0), RankId(3), RankId(4)], vec![RankId(5), RankId(2)]];
    let groups = match rng.usize(..4) {
        0 => None,
        1 => Some(grouping::spanned(topology, &[0]).unwrap()),
        2 => Some(grouping::spanned(topology, &[1]).unwrap()),
        _ => Some(odd()),
    };
    // Members of the odd groups are not neighbors.
    let relays = rng.bool() || groups == Some(odd()) || topology.live_links().count() < topology.links().len();
    let kind = groups.map_or(kind.clone(), |members| kind.in_groups(Groups::new(members).unwrap().with_relays(relays)));
    problem(topology, kind, parts)
}

#[test]
fn random_jobs_hold_and_gain_over_one_after_another() {
    let mut rng = Rng::with_seed(21);
    for round in 0..40 {
        let mut topology = torus(if round % 2 == 0 { &[3, 3] } else { &[4, 2] });
        if round % 4 > 1 {
            topology = topology.fail_cable(0, 1).unwrap();
        }
        let problems: Vec<Problem> = (0..rng.usize(2..4)).map(|_| random_problem(&topology, &mut rng)).collect();
        let names: Vec<&str> = problems.iter().map(|problem| problem.collective().kind.name()).collect();
        let goal = JobGoal { seed: round, ..JobGoal::default() };
        let (job, _) = plan_job(problems.clone(), &goal, &Control::unlimited()).unwrap();
        let report = verify_job(&job, &Options::default());
        assert_eq!(report.verdict(), Verdict::Holds, "{round} {names:?}: {report:#?}");
        assert!(job.total_width() >= least_job_width(&job).into(), "{round} {names:?}");
        // One after another is a schedule of the job too, so the bound must not be above it.
        let alone: u64 = problems.iter().map(|of| unlimited(vec![of.clone()]).total_width()).sum();
        assert!(u64::from(least_job_width(&job)) <= alone && job.total_width() <= alone, "{round} {names:?}");
        assert_eq!(plan_job(problems, &goal, &Control::unlimited()).unwrap().0, job, "{round}: same seed, same job");
    }
}

/// Two collectives alike are one in twice the parts, which other planners plan, and other certificates bound.
#[test]
fn two_alike_are_one_of_twice_the_size() {
    for topology in [torus(&[4, 4]), torus(&[4, 4]).fail_cable(0, 1).unwrap(), torus(&[2, 3, 3])] {
        for kind in [Kind::AllToAll, Kind::AllGather, Kind::ReduceScatter, Kind::Gather(RankId(1))] {
            let one = problem(&topology, kind.clone(), 2);
            let job = unlimited(vec![problem(&topology, kind.clone(), 1); 2]);
            let whole = bound::find(&one).unwrap().volume.unwrap().at_least * Rational::from(2);
            let together = job.bound.as_ref().map_or(Rational::from(0), |bound| bound.at_least);
            assert!(together <= whole, "{}: {together} {whole}", kind.name());
            let goal = Goal { parts: Parts::Fixed(2), ..Goal::default() };
            let plan = synthesize(&topology, &kind, &goal, &Control::unlimited()).unwrap();
            let (job_width, width) = (job.total_width(), plan.schedule.total_width());
            assert!(job_width >= width.min(u64::from(plan.bounds.least_width(2))), "{}", kind.name());
            assert!(job_width * 10 <= width * 11 + 10, "{}: {job_width} {width}", kind.name());
        }
    }
}

/// An all-gather in the rows and an all-to-all in the planes across them, around a dead cable: both together take
/// hardly more than the all-to-all alone.
#[test]
fn crossing_collectives_share_the_machine() {
    for topology in [torus(&[4, 4, 4]), torus(&[4, 4, 4]).fail_cable(0, 1).unwrap()] {
        let groups = |dims: &[u8]| Groups::new(grouping::spanned(&topology, dims).unwrap()).unwrap();
        let gather = problem(&topology, Kind::AllGather.in_groups(groups(&[0])), 4);
        let exchange = problem(&topology, Kind::AllToAll.in_groups(groups(&[1, 2])), 1);
        let alone: u64 = [&gather, &exchange].map(|of| unlimited(vec![of.clone()]).total_width()).iter().sum();
        let problems = [gather, exchange];
        let (job, _) = plan_job_in_parts(&problems, &JobGoal::default(), 0.02, 1 << 14, &Control::unlimited()).unwrap();
        let cut = u64::from(job.solutions()[1].problem.parts());
        assert_eq!(verify_job(&job, &Options::default()).verdict(), Verdict::Holds);
        assert!(job.total_width() < alone * cut, "{} {alone} {cut}", job.total_width());
        let least = f64::from(least_job_width(&job));
        assert!(job.total_width() as f64 <= 1.02 * least, "{} above {least}", job.total_width());
    }
}

/// Among more than 200 ranks, collectives are planned one by one, and their moves put together.
#[test]
fn among_many_ranks_moves_are_put_together() {
    let topology = torus(&[6, 6, 6]).fail_cable(0, 1).unwrap();
    let planes = Groups::new(grouping::spanned(&topology, &[0, 1]).unwrap()).unwrap();
    let problems = [
        problem(&topology, Kind::AllToAll, 1),
        problem(&topology, Kind::AllGather, 2),
        problem(&topology, Kind::ReduceScatter.in_groups(planes), 2),
    ];
    let (job, _) = plan_job_in_parts(&problems, &JobGoal::default(), 0.05, 1 << 13, &Control::unlimited()).unwrap();
    assert_eq!(verify_job(&job, &Options::default()).verdict(), Verdict::Holds);
    let above = job.total_width() as f64 / f64::from(least_job_width(&job)) - 1.0;
    assert!(above <= 0.05, "{above}");
}

/// Routes leveled in few parts are leveled further in more: from the routes as planned, the job ends 10 % above its
/// bound.
#[test]
fn what_is_leveled_is_cut_and_leveled_further() {
    let topology = torus(&[6, 6, 6]).fail_cable(0, 1).unwrap();
    let along = |dims: &[u8]| Groups::new(grouping::spanned(&topology, dims).unwrap()).unwrap();
    let problems = [
        problem(&topology, Kind::Reduce(RankId(0)).in_groups(along(&[0, 1])), 8),
        problem(&topology, Kind::AllGather.in_groups(along(&[0])), 1),
    ];
    let (job, _) = plan_job_in_parts(&problems, &JobGoal::default(), 0.05, 1 << 16, &Control::unlimited()).unwrap();
    assert_eq!(verify_job(&job, &Options::default()).verdict(), Verdict::Holds);
    let above = job.total_width() as f64 / f64::from(least_job_width(&job)) - 1.0;
    assert!(above <= 0.05, "{above}");
}

/// The links into the root of the one are those that the other, planned alone, uses too: chunks give way to each other,
/// to where they may go.
#[test]
fn collectives_leave_links_that_others_need() {
    let intact = torus(&[4, 4]);
    for topology in [intact.clone().fail_cable(9, 13).unwrap(), intact] {
        let rows = |relays| Groups::new(grouping::spanned(&topology, &[0]).unwrap()).unwrap().with_relays(relays);
        let sum = problem(&topology, Kind::AllReduce, 1);
        let reduce = problem(&topology, Kind::Reduce(RankId(7)), 4);
        let gather = |relays| problem(&topology, Kind::AllGather.in_groups(rows(relays)), 2);
        // Planned alone and put together, they are 12 to 22 % above their bound with the sum, and 6 % without.
        for (problems, most) in
            [([sum, reduce.clone()], 0.09), ([gather(true), reduce.clone()], 0.05), ([gather(false), reduce], 0.05)]
        {
            let (job, _) =
                plan_job_in_parts(&problems, &JobGoal::default(), 0.05, 1 << 13, &Control::unlimited()).unwrap();
            assert_eq!(verify_job(&job, &Options::default()).verdict(), Verdict::Holds);
            let above = job.total_width() as f64 / f64::from(least_job_width(&job)) - 1.0;
            assert!(above <= most, "{:?}: {above}", problems[0].collective());
        }
    }
}

/// Each of the 12 steps takes a unit of width, far more than the bound of few parts: more parts share it.
#[test]
fn messages_are_cut_while_steps_outnumber_the_width() {
    let topology = torus(&[6, 6]);
    let columns = Groups::new(grouping::spanned(&topology, &[1]).unwrap()).unwrap();
    let broadcast = problem(&topology, Kind::Broadcast(RankId(0)).in_groups(columns), 1);
    let problems = [broadcast, problem(&topology, Kind::AllReduce, 1)];
    let (job, _) = plan_job_in_parts(&problems, &JobGoal::default(), 0.05, 1 << 13, &Control::unlimited()).unwrap();
    assert_eq!(verify_job(&job, &Options::default()).verdict(), Verdict::Holds);
    let (width, bound) = (Rational::from(i128::from(job.total_width())), job.bound.as_ref().unwrap().at_least);
    assert!(width <= bound * Rational::new(5, 4), "{width} {bound}");
}

/// Alone, ranks exchange parts of an all_reduce; beside others, it moves in trees that can give way.
#[test]
fn what_ranks_exchange_gives_way_in_trees() {
    let torus = torus(&[4, 4]);
    let root = RankId(0);
    let problems = [(Kind::Scatter(root), 4), (Kind::Broadcast(root), 32), (Kind::AllReduce, 4), (Kind::AllGather, 1)];
    let problems = problems.map(|(kind, parts)| problem(&torus, kind, parts));
    let (job, _) = plan_job_in_parts(&problems, &JobGoal::default(), 0.03, 1 << 13, &Control::unlimited()).unwrap();
    assert!(job.total_width() * 100 <= 104 * u64::from(least_job_width(&job)), "{}", job.total_width());
}

#[test]
fn what_cannot_be_planned_together_is_refused() {
    let (torus, other) = (torus(&[4, 4]), torus(&[4, 2]));
    let plan = |problems: Vec<Problem>, goal: JobGoal| plan_job(problems, &goal, &Control::unlimited());
    assert!(matches!(plan(vec![], JobGoal::default()), Err(PlanError::NotApplicable { .. })));
    let two = vec![problem(&torus, Kind::AllToAll, 1), problem(&other, Kind::AllToAll, 1)];
    assert!(matches!(plan(two, JobGoal::default()), Err(PlanError::NotApplicable { .. })));
    let all_reduce = vec![problem(&torus, Kind::AllReduce, 1), problem(&torus, Kind::AllToAll, 1)];
    for goal in [JobGoal { steps: Some(7), ..JobGoal::default() }, JobGoal { max_steps: Some(7), ..JobGoal::default() }]
    {
        assert!(matches!(plan(all_reduce.clone(), goal), Err(PlanError::NotFound { .. })));
    }
    let exact = plan(all_reduce, JobGoal { steps: Some(9), ..JobGoal::default() }).unwrap().0;
    assert_eq!(exact.widths().len(), 9);
}

/// Whole messages are kept where cutting them gains nothing.
#[test]
fn messages_stay_whole_where_parts_gain_nothing() {
    let in_parts = |kind| {
        let whole = [problem(&torus(&[4, 4]), kind, 1)];
        let (job, _) = plan_job_in_parts(&whole, &JobGoal::default(), 0.05, 1 << 16, &Control::unlimited()).unwrap();
        (job.solutions()[0].problem.parts(), job.total_width())
    };
    assert_eq!(in_parts(Kind::AllToAll), (1, 8));
    // Four links into a rank bring 15 shards: 3.75 messages.
    let (parts, width) = in_parts(Kind::AllGather);
    assert!(parts > 1 && width < 4 * u64::from(parts), "{parts} {width}");
}
