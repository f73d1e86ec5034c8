"""Many plans, on as many machines as an executor has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ._errors import Error
from ._plan import Plan, plan
from ._topology import Topology

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


@dataclass(frozen=True)
class Job:
    """A plan to be made: the arguments of `plan`."""

    topology: Topology
    collective: str = "all_to_all"
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What became of a job: a plan, or why there is none."""

    job: Job
    plan: Plan | None
    error: Error | None


def survey(jobs: Iterable[Job | Topology], executor: Executor | None = None, **options: Any) -> Iterator[Outcome]:
    """Plans every job, and yields the outcomes in the order of the jobs.

    `options` are those of `plan`, for every job that does not state its own. An executor (of processes or threads,
    `mpi4py.futures.MPIPoolExecutor`, dask's `client.get_executor()`, ...) plans many at a time; plans travel as
    schedule files and are judged where they arrive. Errors of planning are outcomes; all others are raised.
    """
    whole = [job if isinstance(job, Job) else Job(job) for job in jobs]
    whole = [Job(job.topology, job.collective, options | job.options) for job in whole]
    if executor is None:
        return (_outcome(job) for job in whole)
    waiting: list[Future[Outcome]] = [executor.submit(_outcome, job) for job in whole]
    return (one.result() for one in waiting)


def _outcome(job: Job) -> Outcome:
    try:
        return Outcome(job, plan(job.topology, job.collective, **job.options), None)
    except Error as error:
        return Outcome(job, None, error)
