//! Planning several collectives together.

use std::ops::Deref;
use std::time::Duration;

use collsynth_bound::symmetry::carries;
use collsynth_core::certificate::Rational;
use collsynth_core::collective::{Collective, Kind};
use collsynth_core::problem::{Problem, ProblemError};
use collsynth_core::schedule::{Job, Solution};
use collsynth_core::topology::{RankId, Topology};
use collsynth_plan::{
    Control, JobGoal, Parts, PlanError, StopReason, check_job_size, in_pieces, plan_job, plan_job_in_parts,
};
use collsynth_verify::verify::{Options, RejectedJob, VerifiedJob};
use thiserror::Error;

use super::grain::{Grain, Load};

/// How near the bound is near enough, and into how many chunks a job is cut for it: unless parts are stated, and with
/// [`Parts::Auto`].
const NEAR: (f64, u64) = (0.03, 1 << 13);
const CLOSE: (f64, u64) = (0.005, 1 << 14);

/// A request for a job: collectives on a topology that run at once, planned into steps that they share.
///
/// Chunks of all collectives are equally large, so it states how large their messages are beside each other. Unless
/// parts are stated, messages are cut in proportion, until the total width is near its bound; beside very large ones,
/// small messages are padded to a chunk.
///
/// ```
/// use collsynth::{JobRequest, Kind, Size, Topology, grouping};
/// use collsynth::collective::Groups;
///
/// let torus = Topology::torus(&[4, 4])?;
/// let rows = Groups::new(grouping::spanned(&torus, &[0])?)?;
/// let job = JobRequest::new(&torus)
///     .collective(Kind::AllGather.in_groups(rows), Size::Bytes(64 << 10))
///     .collective(Kind::AllToAll, Size::Bytes(4 << 10))
///     .run()?
///     .verify()?;
/// assert_eq!(job.solutions().len(), 2);
/// // What `synth verify` reads.
/// assert!(job.to_json().starts_with('{'));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct JobRequest<'a> {
    topology: &'a Topology,
    collectives: Vec<(Kind, Size)>,
    parts: Parts,
    goal: JobGoal,
    control: Control,
    time_limit: Option<Duration>,
}

/// How large the messages (shards, vectors) of a collective of a job are; for a demand, its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As large as those of the others.
    Equal,
    /// This many chunks, which are as large as chunks of the others; planning cuts them no further.
    Parts(u32),
    /// This many bytes, rounded up to whole chunks; the smallest message of the job has the parts of the request.
    Bytes(u64),
}

impl Size {
    fn bytes(self) -> Option<u64> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

/// A job that has not been verified: [`PlannedJob::verify`] leads to what can be written, lowered or run.
#[derive(Clone, Debug)]
pub struct PlannedJob {
    job: Job,
    chunk: Rational,
    /// Why planning ended.
    pub stopped: StopReason,
}

/// Why there is no job.
#[derive(Clone, Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum JobRequestError {
    #[error("collective {index}: a message is cut in at least 1 part")]
    NoParts { index: usize },
    #[error("collective {index}: it states no `bytes`, but others do, and chunks of all collectives are equally large")]
    NoBytes { index: usize },
    #[error("collective {index}: `bytes` is at least 1")]
    ZeroBytes { index: usize },
    #[error("collective {index}: its messages are too large beside the smallest")]
    TooLarge { index: usize },
    #[error("parts cut the smallest message of a job, but this job states parts itself")]
    PartsTwice,
    #[error("collective {index}: {error}")]
    Problem { index: usize, error: ProblemError },
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl<'a> JobRequest<'a> {
    /// A request for no collective yet.
    pub fn new(topology: &'a Topology) -> Self {
        Self {
            topology,
            collectives: Vec::new(),
            parts: Parts::Enough,
            goal: JobGoal::default(),
            control: Control::unlimited(),
            time_limit: None,
        }
    }

    /// One more collective, and how large its messages are.
    pub fn collective(mut self, kind: Kind, size: Size) -> Self {
        self.collectives.push((kind, size));
        self
    }

    /// The collectives asked for so far.
    pub fn collectives(&self) -> &[(Kind, Size)] {
        &self.collectives
    }

    /// The number of parts of the smallest message.
    pub fn parts(self, parts: Parts) -> Self {
        Self { parts, ..self }
    }

    /// The steps and the seed.
    pub fn goal(self, goal: JobGoal) -> Self {
        Self { goal, ..self }
    }

    /// Wall time, from the start of [`JobRequest::run`], after which the best job found is returned.
    pub fn time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// How to interrupt planning and to follow its progress.
    pub fn control(self, control: Control) -> Self {
        Self { control, ..self }
    }

    /// The collectives in chunks: in as many parts as stated, or in few where planning chooses their number.
    ///
    /// # Errors
    ///
    /// A [`JobRequestError`] if sizes contradict each other or a collective does not fit the topology.
    pub fn problems(&self) -> Result<Vec<Problem>, JobRequestError> {
        self.check_size()?;
        let counts = self.part_counts()?;
        let one = |(index, ((kind, _), parts)): (usize, (&(Kind, Size), u32))| {
            self.problem(kind, parts).map_err(|error| JobRequestError::Problem { index, error })
        };
        self.collectives.iter().zip(counts).enumerate().map(one).collect()
    }

    /// Refuses what is too large whole, before bounds say how to cut it.
    fn check_size(&self) -> Result<(), JobRequestError> {
        let whole: Vec<Problem> = self.collectives.iter().filter_map(|(kind, _)| self.problem(kind, 1).ok()).collect();
        Ok(check_job_size(&whole, &self.goal)?)
    }

    fn problem(&self, kind: &Kind, parts: u32) -> Result<Problem, ProblemError> {
        // Parts of 0 are refused there.
        let kind = in_pieces(kind, parts.max(1))?;
        Problem::new(self.topology.clone(), Collective { kind, parts })
    }

    /// Does a map of the ranks carry the collectives onto themselves, or onto others of the same size?
    pub fn is_kept_by(&self, image: &dyn Fn(RankId) -> RankId) -> bool {
        let mut left: Vec<&(Kind, Size)> = self.collectives.iter().collect();
        self.collectives.iter().all(|(kind, size)| {
            let onto = left.iter().position(|(other, of)| size == of && carries(kind, other, image));
            onto.map(|at| left.swap_remove(at)).is_some()
        })
    }

    /// The bytes of a chunk where sizes are in bytes and planning cuts no further.
    pub fn chunk_bytes(&self) -> Option<u64> {
        self.least_bytes().map(|least| self.grain(least).bytes(least))
    }

    /// The parts of each collective: as stated, or in proportion to its bytes, rounded up to whole chunks.
    fn part_counts(&self) -> Result<Vec<u32>, JobRequestError> {
        for (index, (_, size)) in self.collectives.iter().enumerate() {
            match size {
                Size::Parts(0) => return Err(JobRequestError::NoParts { index }),
                Size::Bytes(0) => return Err(JobRequestError::ZeroBytes { index }),
                _ => {}
            }
        }
        let Some(least) = self.least_bytes() else {
            if self.parts != Parts::Enough && self.states_parts() {
                return Err(JobRequestError::PartsTwice);
            }
            let equal = if let Parts::Fixed(parts) = self.parts { parts } else { 1 };
            let parts = |size: &Size| if let Size::Parts(parts) = *size { parts } else { equal };
            return Ok(self.collectives.iter().map(|(_, size)| parts(size)).collect());
        };
        let grain = self.grain(least);
        let one = |(index, (kind, size)): (usize, &(Kind, Size))| match *size {
            Size::Bytes(bytes) => {
                u32::try_from(grain.parts(bytes, least)).map_err(|_| JobRequestError::TooLarge { index })
            }
            _ if kind.has_volume() => Err(JobRequestError::NoBytes { index }),
            _ => Ok(1),
        };
        self.collectives.iter().enumerate().map(one).collect()
    }

    fn least_bytes(&self) -> Option<u64> {
        self.collectives.iter().filter_map(|(_, size)| size.bytes()).min()
    }

    fn states_parts(&self) -> bool {
        self.collectives.iter().any(|(_, size)| matches!(size, Size::Parts(_)))
    }

    /// How large chunks are before planning cuts them further: as stated, or such that messages are nearly whole
    /// chunks, and these not too many.
    fn grain(&self, least: u64) -> Grain {
        let most_chunks = match self.parts {
            Parts::Fixed(parts) => return Grain::Part(parts),
            Parts::Enough => NEAR.1,
            Parts::Auto => CLOSE.1,
        };
        if least == 0 {
            return Grain::Part(1);
        }
        let in_bytes = || self.collectives.iter().filter_map(|(kind, size)| size.bytes().map(|bytes| (kind, bytes)));
        let load = |(kind, bytes)| {
            let volume = self.control.bounds(&self.problem(kind, 1).ok()?).ok()?.volume?;
            Some(Load { bytes, volume: volume.at_least })
        };
        let loads: Vec<Load> = in_bytes().filter_map(load).collect();
        let chunks = |(kind, bytes): (&Kind, u64), grain: Grain| {
            let parts = u32::try_from(grain.parts(bytes, least)).ok()?;
            Some(u64::from(self.problem(kind, parts).ok()?.chunk_count()))
        };
        let fits = |grain| {
            let all: Option<u64> = in_bytes().map(|one| chunks(one, grain)).sum();
            all.is_some_and(|all| all <= most_chunks)
        };
        let messages: Vec<u64> = in_bytes().map(|(_, bytes)| bytes).collect();
        let links = self.topology.live_links().count();
        Grain::coarse(&loads, least, links).unwrap_or_else(|| Grain::fine(&messages, least, fits))
    }

    /// Plans the collectives together.
    ///
    /// # Errors
    ///
    /// As [`JobRequest::problems`] and [`plan_job`].
    pub fn run(&self) -> Result<PlannedJob, JobRequestError> {
        let control = super::limited(&self.control, self.time_limit);
        let problems = self.problems()?;
        let near = match self.parts {
            Parts::Fixed(_) => None,
            _ if self.states_parts() => None,
            Parts::Auto => Some(CLOSE),
            Parts::Enough => Some(NEAR),
        };
        // A part is at least a byte.
        let most_cut = self.least_bytes().map(|least| self.grain(least).most_cut(least));
        let most_cut = most_cut.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
        let most_cut = most_cut.into_iter().chain(self.goal.most_cut).min();
        let goal = JobGoal { most_cut, ..self.goal };
        let (job, stopped) = match near {
            None => plan_job(problems.clone(), &goal, &control)?,
            Some((gap, most_chunks)) => plan_job_in_parts(&problems, &goal, gap, most_chunks, &control)?,
        };
        let chunk = self.chunk(&problems, &job);
        Ok(PlannedJob { job, chunk, stopped })
    }

    /// The size of a chunk of a planned job; see [`PlannedJob::chunk`]. `problems` are those that it was planned for.
    fn chunk(&self, problems: &[Problem], job: &Job) -> Rational {
        let cut = |(problem, solution): (&Problem, &Solution)| {
            let is_cut = problem.collective().kind.has_volume();
            is_cut.then(|| Rational::new(solution.problem.parts().into(), problem.parts().into()))
        };
        let cut = problems.iter().zip(job.solutions()).find_map(cut).unwrap_or(Rational::from(1));
        let whole = match self.least_bytes() {
            Some(least) => match self.grain(least) {
                Grain::Part(parts) => Rational::new(least.into(), parts.max(1).into()),
                Grain::Times(times) => Rational::from(i128::from(least) * i128::from(times)),
            },
            None if self.states_parts() => Rational::from(1),
            None => Rational::new(1, problems.iter().map(Problem::parts).max().unwrap_or(1).into()),
        };
        whole / cut
    }
}

impl PlannedJob {
    /// Has every schedule executed, and what they share checked, by the judge.
    ///
    /// # Errors
    ///
    /// [`RejectedJob`] if it does not hold: the planner has a bug.
    pub fn verify(self) -> Result<VerifiedJob, Box<RejectedJob>> {
        VerifiedJob::of_job(self.job, &Options::default())
    }

    /// The size of a chunk: in bytes, where the request states them; else in chunks as large as it states them by
    /// parts, or in messages. So jobs in other parts can be compared. Whole bytes are a little more where they do not
    /// divide.
    pub fn chunk(&self) -> Rational {
        self.chunk
    }

    /// The job itself.
    pub fn into_inner(self) -> Job {
        self.job
    }
}

impl Deref for PlannedJob {
    type Target = Job;

    fn deref(&self) -> &Job {
        &self.job
    }
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::Demand;
    use collsynth_core::topology::RankId;

    use super::*;

    fn parts(parts: Parts, sizes: &[(Kind, Size)]) -> Result<Vec<u32>, String> {
        let torus = Topology::torus(&[2, 2]).unwrap();
        let request = JobRequest { collectives: sizes.to_vec(), ..JobRequest::new(&torus) }.parts(parts);
        let problems = request.problems().map_err(|error| error.to_string())?;
        Ok(problems.iter().map(Problem::parts).collect())
    }

    #[test]
    fn parts_are_in_proportion_to_bytes() {
        let sizes =
            [(Kind::AllGather, Size::Bytes(10)), (Kind::AllToAll, Size::Bytes(4)), (Kind::Barrier, Size::Equal)];
        // 10 bytes are two and a half times 4.
        assert_eq!(parts(Parts::Enough, &sizes), Ok(vec![5, 2, 1]));
        assert_eq!(parts(Parts::Fixed(2), &sizes), Ok(vec![5, 2, 1]));
        let demand = Kind::AllToAllV(Demand::new(4, &[1; 16]).unwrap());
        assert_eq!(
            parts(Parts::Fixed(2), &[(demand, Size::Bytes(10)), (Kind::AllToAll, Size::Bytes(4))]),
            Ok(vec![5, 2])
        );
        let equal = [(Kind::AllGather, Size::Equal), (Kind::Broadcast(RankId(3)), Size::Equal)];
        assert_eq!(parts(Parts::Fixed(7), &equal), Ok(vec![7, 7]));
        let stated = [(Kind::AllGather, Size::Parts(2)), (Kind::AllToAll, Size::Equal)];
        assert_eq!(parts(Parts::Enough, &stated), Ok(vec![2, 1]));
    }

    /// What rounding up costs is avoided as long as chunks are few.
    #[test]
    fn messages_are_nearly_whole_chunks_where_these_are_few() {
        let cut = |extents: &[u32], kind: Kind| {
            let torus = Topology::torus(extents).unwrap();
            let sizes = [(Kind::AllGather, Size::Bytes(64 << 10)), (kind, Size::Bytes(20 << 10))];
            let request = JobRequest { collectives: sizes.to_vec(), ..JobRequest::new(&torus) };
            request.problems().unwrap().iter().map(Problem::parts).collect::<Vec<_>>()
        };
        assert_eq!(cut(&[4, 4], Kind::AllToAll), [16, 5]);
        assert_eq!(cut(&[8, 8, 8], Kind::AllGather), [10, 3]);
        assert_eq!(cut(&[8, 8, 8], Kind::AllToAll), [4, 1]);
        // Many chunks are not made for a message that matters little.
        let torus = Topology::torus(&[3, 3]).unwrap();
        let request = JobRequest::new(&torus).collective(Kind::AllGather, Size::Bytes(1 << 10));
        let request = request.collective(Kind::AllToAll, Size::Bytes(64 << 20));
        assert_eq!(request.problems().unwrap().iter().map(Problem::parts).collect::<Vec<_>>(), [1, 1 << 11]);
        assert_eq!(request.chunk_bytes(), Some(32 << 10));
        let torus = Topology::torus(&[2, 2]).unwrap();
        let nothing = JobRequest::new(&torus).collective(Kind::AllGather, Size::Bytes(0));
        assert_eq!((nothing.chunk_bytes(), nothing.problems().is_err()), (Some(0), true));
    }

    #[test]
    fn a_part_is_at_least_a_byte() {
        let torus = Topology::torus(&[2, 2]).unwrap();
        let parts = |bytes: u64| {
            let two = [0, 1].map(|root| (Kind::Broadcast(RankId(root)), Size::Bytes(bytes)));
            let job = JobRequest { collectives: two.to_vec(), ..JobRequest::new(&torus) }.run().unwrap();
            job.solutions()[0].problem.parts()
        };
        assert!(parts(4) <= 4 && parts(1 << 20) > 4, "{} {}", parts(4), parts(1 << 20));
    }

    #[test]
    fn sizes_that_contradict_each_other_are_refused() {
        let refused = |sizes: &[(Kind, Size)], words: &str| {
            let error = parts(Parts::Fixed(2), sizes).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        refused(&[(Kind::AllGather, Size::Bytes(4)), (Kind::AllToAll, Size::Equal)], "collective 1: it states no");
        refused(&[(Kind::AllGather, Size::Parts(0))], "at least 1 part");
        refused(&[(Kind::AllGather, Size::Bytes(0))], "at least 1");
        refused(&[(Kind::AllGather, Size::Parts(4))], "states parts itself");
        refused(&[(Kind::AllGather, Size::Bytes(1)), (Kind::AllToAll, Size::Bytes(u64::MAX))], "too large");
        refused(&[(Kind::Broadcast(RankId(9)), Size::Equal)], "collective 0: root 9 is out of range");
        let much = Kind::AllToAllV(Demand::new(4, &[1 << 20; 16]).unwrap());
        refused(&[(much, Size::Bytes(1 << 10)), (Kind::AllGather, Size::Bytes(1))], "collective 0: more than");
    }
}
