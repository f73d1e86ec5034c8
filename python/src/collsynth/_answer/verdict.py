"""Verdicts of the judge on schedules and rank programs from any source."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _collsynth
from .._command.jobs import PlannedJob
from .._errors import Refuted, Unreadable, UsageError, check_readable, in_python
from .._question.topology import Topology, topology_of, whole_number
from .plan import Plan, Program, is_json, text_of


@dataclass(frozen=True)
class Violation:
    """One violation of a rule, or a warning."""

    #: `C001`, ...; `synth explain CODE` says more
    code: str
    message: str
    #: all that the judge says of it: step, link, chunk, line, ...
    details: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(frozen=True, repr=False)
class Verdict:
    """What the judge says of a file."""

    name: str
    holds: bool
    #: The first violations, as many as were asked for; `totals` counts them all
    violations: list[Violation]
    warnings: list[Violation]
    #: By code: how often it is violated
    totals: Mapping[str, int]
    #: All of it, as `synth verify --format json` prints it
    json: Mapping[str, Any]

    def raise_for_violations(self) -> Verdict:
        """The verdict itself; raises `Refuted` if the file does not hold."""
        if self.holds:
            return self
        lines = [f"{self.name}: refuted", *(f"  {violation}" for violation in self.violations)]
        raise Refuted("\n".join(lines), None, self.violations[0].code if self.violations else None)

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        words = f"{self.name} holds"
        if not self.holds:
            counts = ", ".join(f"{code} {count}x" for code, count in self.totals.items())
            words = f"{self.name} is refuted, {counts}" + (f"; {self.violations[0]}" if self.violations else "")
        return f"<Verdict: {words}{f', {len(self.warnings)} warnings' if self.warnings else ''}>"


def verify(
    file: str | os.PathLike[str] | bytes | Mapping[str, Any] | Plan | Program | PlannedJob,
    *,
    max_errors: int = 20,
    contention_free: bool = False,
    bounds: bool = False,
    topology: Topology | Sequence[int] | None = None,
    rank_map: Sequence[int] = (),
) -> Verdict:
    """Judges a schedule, a rank program or a job: a path (gzip accepted), bytes, the object of a JSON file, or a plan.

    `bounds` finds bounds for schedules that state none. `topology` is the machine to judge it on instead of its own, as
    it is after another failure, say; the bounds that it states are left out there. Of rank programs, `rank_map` has the
    machine's rank for each rank, and `contention_free` refuses those in which two transfers may share a link. Raises
    `Unreadable` if it is no such file, and `UsageError` if it does not fit the machine or judging it would take too
    much time or memory.
    """
    judging = {
        "max_errors": whole_number("max_errors", max_errors),
        "contention_free": contention_free,
        "rank_map": [whole_number("a rank", rank) for rank in rank_map],
        "bounds": bounds,
    }
    if rank_map and topology is None:
        raise UsageError("rank_map needs a topology")
    machine = None if topology is None else topology_of(topology)._machine
    if isinstance(file, (str, os.PathLike)) and not is_json(file):
        name = os.fspath(file)
        check_readable(name)
        ruling, text = _collsynth.judge_file(file, judging, machine)
    else:
        if isinstance(file, (Plan, Program, PlannedJob)):
            name, content = "plan", file.to_json()
        else:
            name, content = text_of(file)
        ruling, text = _collsynth.judge(name, content, judging, machine)
    verdict = json.loads(text)
    if ruling == 2:
        # Without a place: it can be read, but judging it would take too much.
        if "line" in verdict:
            raise Unreadable(name, verdict["code"], verdict["line"], verdict["column"], verdict["message"])
        raise UsageError(in_python(verdict["message"]))

    def listed(key: str) -> list[Violation]:
        return [Violation(one["code"], one["message"], one) for one in verdict.get(key, [])]

    return Verdict(name, ruling == 0, listed("violations"), listed("warnings"), verdict.get("totals", {}), verdict)
