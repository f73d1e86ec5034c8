"""Many plans, on as many machines as an executor has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._answer.plan import Plan
from ._errors import Error, UsageError
from ._planning import check_plan, plan
from ._question.names import Kind, SurveyOptions, check_options
from ._question.signature import with_options
from ._question.topology import Topology, topology_of

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from typing_extensions import Unpack


@dataclass(frozen=True, init=False)
class Job:
    """A plan to be made: the arguments of `plan`. What is not stated is that of the survey."""

    topology: Topology
    collective: Kind | str | None
    options: Mapping[str, Any]

    def __init__(
        self,
        topology: Topology | Sequence[int],
        collective: Kind | str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if options is not None and not isinstance(options, Mapping):
            raise UsageError(f"options are a dict of the options of plan, not {options!r}")
        # Frozen: what a job is does not change any more.
        object.__setattr__(self, "topology", topology_of(topology))
        object.__setattr__(self, "collective", collective)
        object.__setattr__(self, "options", dict(options or {}))


@dataclass(frozen=True)
class Outcome:
    """What became of a job: a plan, or why there is none."""

    job: Job
    plan: Plan | None
    error: Error | None


@with_options(SurveyOptions)
def survey(
    jobs: Iterable[Job | Topology | Sequence[int]],
    executor: Executor | None = None,
    *,
    collective: Kind | str = "all_to_all",
    **options: Unpack[SurveyOptions],
) -> Iterator[Outcome]:
    """Plans every job, and yields the outcomes in the order of the jobs.

    `collective` and `options` are those of `plan`, for every job that does not state its own. An executor (of processes
    or threads, `mpi4py.futures.MPIPoolExecutor`, dask's `client.get_executor()`, ...) plans many at a time; plans
    travel as schedule files and are judged where they arrive. Wrong arguments raise `UsageError` at the call; errors of
    planning are outcomes; all others are raised.
    """
    if isinstance(jobs, Topology) or not isinstance(jobs, Iterable):
        raise UsageError(f"jobs are several machines, as in [cs.Torus(4, 4)], not {jobs!r}")
    if executor is not None and not hasattr(executor, "submit"):
        raise UsageError(f"executor is a concurrent.futures.Executor, not {executor!r}")
    whole = [_whole(number, job, collective, options) for number, job in enumerate(jobs)]
    if executor is None:
        return (_outcome(job) for job in whole)
    waiting: list[Future[Outcome]] = [executor.submit(_outcome, job) for job in whole]
    return (one.result() for one in waiting)


def _whole(number: int, stated: Any, collective: str, options: Mapping[str, Any]) -> Job:
    """The job with what the survey states, checked as far as that takes no planning."""
    job = stated if isinstance(stated, Job) else Job(topology_of(stated, f"jobs[{number}]"))
    job = Job(job.topology, job.collective or collective, {**options, **job.options})
    check_options("plan", job.options, SurveyOptions)
    check_plan(job.topology, job.collective or collective, job.options)
    return job


def _outcome(job: Job) -> Outcome:
    try:
        return Outcome(job, plan(job.topology, job.collective or "all_to_all", **job.options), None)
    except Error as error:
        return Outcome(job, None, error)
