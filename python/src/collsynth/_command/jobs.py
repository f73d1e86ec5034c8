"""Jobs: several collectives that share a machine and its steps."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import _collsynth
from .._answer.plan import Plan, text_of
from .._errors import UsageError
from .._question.groups import Blocks, members_of
from .._question.names import JobCollective, JobOptions, Progress, check_options
from .._question.signature import with_options
from .._question.topology import Topology, topology_of
from .._question.words import option_words, rows_of
from .asking import call, in_place, machine_words

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._answer.pages import Page


class PlannedJob:
    """Schedules that run together, step by step. Immutable; the judge vouches for each and for what they share."""

    def __init__(self, name: str, text: str) -> None:
        self._job = _collsynth.job_holding(name, text)

    @cached_property
    def schedules(self) -> list[Plan]:
        """The schedule of each collective, in the order asked for."""
        return [Plan(held) for held in self._job.schedules()]

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The figures that `synth verify --format json` prints: of the whole, and of each schedule."""
        answer = json.loads(call(["verify", "-", "--format", "json"], {}, self.to_json(), None))
        figures: dict[str, Any] = answer["files"][0]["figures"]
        return figures

    @property
    def topology(self) -> Topology:
        """The machine."""
        return self.schedules[0].topology

    @property
    def steps(self) -> int:
        """The number of steps, the same in every schedule."""
        return self.schedules[0].steps

    @property
    def widths(self) -> list[int]:
        """The width of each step: chunks of all collectives together that a link of capacity 1 may carry in it."""
        return self.schedules[0].widths

    @property
    def total_width(self) -> int:
        """The sum of the widths."""
        return sum(self.widths)

    @property
    def bound(self) -> int:
        """The least total width that the certified bounds allow, in these parts."""
        least: int = self.figures["total_width"]["at_least"]
        return least

    def to_json(self) -> str:
        """The file that `synth verify` reads."""
        return self._job.to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes that file, whole or not at all (`.gz`: compressed)."""
        self._job.save(path)

    def view(
        self, path: str | os.PathLike[str] | None = None, *, topology: Topology | Sequence[int] | None = None
    ) -> Page:
        """All schedules as one page, side by side, as `Plan.view` draws one."""
        from .._answer.pages import Page

        return Page._of_file(self.to_json(), path, topology)

    def __reduce__(self) -> tuple[type[PlannedJob], tuple[str, str]]:
        return PlannedJob, ("pickle", self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlannedJob) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        kinds = ", ".join(one.collective for one in self.schedules)
        return f"<PlannedJob: {kinds} on {self.topology}, {self.steps} steps, total width {self.total_width}>"


@with_options(JobOptions)
def plan_job(
    topology: Topology | Sequence[int],
    collectives: Iterable[JobCollective | Mapping[str, Any]],
    *,
    progress: Progress | None = None,
    **options: Unpack[JobOptions],
) -> PlannedJob:
    """Plans several collectives that run at once, and has the job judged.

    Each is a dict as in the file of `synth --job`: its `collective`, and perhaps `groups` (as `plan` takes them),
    `relays`, `root`, `demand`, and its size beside the others, in `bytes` or `parts`, of a unit of the demand if it
    has one:

    >>> job = plan_job((4, 4), [{"collective": "all_gather", "groups": "x", "bytes": "64KiB"},
    ...                         {"collective": "all_to_all", "groups": "y", "bytes": "4KiB"}])
    >>> [plan.collective for plan in job.schedules]
    ['all_gather', 'all_to_all']

    `parts` cuts the smallest message; the other options are those of `plan`. Raises what `plan` raises.
    """
    from tempfile import TemporaryDirectory

    check_options("plan_job", options, JobOptions)
    machine = topology_of(topology)
    asked = [_asked(machine, number, one) for number, one in enumerate(_mappings(collectives))]
    with TemporaryDirectory() as folder:
        words = [*machine_words(machine, folder), *option_words(options, JobOptions, machine)]
        text = call(["plan", *words, "--job", "-", "-o", "-", "-q"], options, json.dumps(asked), progress)
        text = in_place(text, machine, folder)
    return PlannedJob("the job", text)


def load_job(file: str | os.PathLike[str] | bytes | Mapping[str, Any]) -> PlannedJob:
    """The job in a file (a path), in its bytes or as its object. Raises `Refuted` if it does not hold."""
    return PlannedJob(*text_of(file))


def _mappings(collectives: Any) -> list[Mapping[str, Any]]:
    if isinstance(collectives, (str, Mapping)) or not isinstance(collectives, Iterable):
        raise UsageError(f"collectives are a list of dicts, not {collectives!r}")
    listed = list(collectives)
    for one in listed:
        if not isinstance(one, Mapping):
            raise UsageError(f'a collective of a job is a dict, as in {{"collective": "all_gather"}}, not {one!r}')
    return listed


def _asked(machine: Topology, number: int, stated: Mapping[str, Any]) -> dict[str, Any]:
    """A collective as the file of a job has it."""
    check_options(f"collective {number}", stated, JobCollective)
    one = dict(stated)
    groups, root = one.get("groups"), one.get("root")
    if groups is not None and one.get("blocks") is not None:
        raise UsageError(f"collective {number}: groups and blocks exclude each other", "leave one of them out")
    if isinstance(groups, Blocks):
        one["blocks"] = list(one.pop("groups").extents)
    elif groups is not None and not isinstance(groups, str):
        one["groups"] = members_of(machine, groups)
    if root is not None and groups is None and one.get("blocks") is None:
        one["root"] = machine.rank(root)
    elif isinstance(root, (tuple, list)):
        raise UsageError(f"collective {number}: root is {root!r}: in groups, it is the place of a member, from 0")
    if isinstance(one.get("demand"), os.PathLike):
        one["demand"] = os.fspath(one["demand"])
    elif one.get("demand") is not None and not isinstance(one["demand"], str):
        one["demand"] = rows_of(one["demand"])
    try:
        json.dumps(one)
    except (TypeError, ValueError):
        raise UsageError(f"collective {number} holds what is neither text nor a number: {stated!r}") from None
    return one
