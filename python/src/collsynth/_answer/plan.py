"""Planning, and verified schedules."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from .. import _collsynth
from .._errors import UsageError, of_file
from .._question.names import Barriers
from .._question.topology import Topology, _typed, whole_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._running.tables import Tables
    from .pages import Page

#: `op` in `Plan.moves`: the chunk replaces the receiver's value
COPY = 0
#: `op` in `Plan.moves`: the chunk is added to the receiver's value
REDUCE = 1


class Plan:
    """A verified schedule. Immutable; only `plan` and `load` make one, and only of what the judge vouches for."""

    def __init__(self, schedule: _collsynth.Schedule, told: Mapping[str, str] | None = None) -> None:
        self._schedule = schedule
        # What planning reported in another process; no file states it.
        self._told = told
        # What the adapters run; see `_running`.
        self._tables: Tables | None = None

    @cached_property
    def topology(self) -> Topology:
        """The machine."""
        return _typed(self._schedule.machine, None)

    @property
    def collective(self) -> str:
        """The kind of collective: `all_to_all`, ..."""
        return self._schedule.collective[0]

    @property
    def parts(self) -> int:
        """Parts of each message."""
        return self._schedule.collective[1]

    @property
    def root(self) -> int | None:
        """The root, for the kinds that have one: a rank or, in groups, the place of a member."""
        return self._schedule.collective[2]

    @cached_property
    def groups(self) -> list[list[int]] | None:
        """The members of each group, in the order that numbers their chunks; None: all ranks take part together."""
        groups = self._schedule.groups
        return None if groups is None else groups[0]

    @property
    def relays(self) -> bool:
        """May ranks outside a group hold its chunks on their way? True without groups."""
        groups = self._schedule.groups
        return groups is None or groups[1]

    @property
    def form(self) -> str:
        """How the schedule is stated: `explicit`, every move, or `compact`, a pattern and exceptions."""
        return self._schedule.form

    def expand(self) -> Plan:
        """The same with every move stated, as `synth convert --to explicit` writes it.

        Raises `UsageError` if that takes more memory than the judge grants (2 GiB, or what SYNTH_MAX_MEMORY states).
        """
        return self if self.form == "explicit" else Plan(self._schedule.expanded(), self._told)

    def compact(self) -> Plan:
        """The same in the compact form, as `synth convert --to compact` has it. Raises `UsageError` if it has none."""
        return self if self.form == "compact" else Plan(self._schedule.compact(), self._told)

    @cached_property
    def demand(self) -> NDArray[np.int64] | None:
        """Chunks of each rank for each rank, for an all_to_allv: shape (ranks, ranks), origin first."""
        import numpy as np

        counts = self._schedule.demand
        return None if counts is None else np.array(counts, np.int64).reshape(self.topology.ranks, self.topology.ranks)

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self._schedule.widths)

    @property
    def widths(self) -> list[int]:
        """The width of each step: chunks a link of capacity 1 may carry in it."""
        return self._schedule.widths

    @property
    def volume(self) -> Fraction:
        """The sum of the widths over the parts: messages that a link of capacity 1 has time for. Exact."""
        return Fraction(*self._schedule.volume)

    @property
    def bound(self) -> Fraction | None:
        """The best lower bound on the volume that the judge has checked. Exact."""
        bound = self._schedule.volume_bound
        return None if bound is None else Fraction(*bound)

    @property
    def steps_bound(self) -> int:
        """The best lower bound on the steps that the judge has checked."""
        return self._schedule.steps_bound

    @property
    def gap(self) -> Fraction | None:
        """By which share the volume exceeds its bound: 0 is optimal. Exact."""
        if self.volume == 0:
            return Fraction(0)
        return self.volume / self.bound - 1 if self.bound else None

    @property
    def stopped(self) -> str:
        """Why planning stopped: `finished` or `time limit`."""
        return self._told["stopped"] if self._told else self._schedule.stopped

    @cached_property
    def planner(self) -> str | None:
        """The planner that found it, if it was planned here or the file says so."""
        planner: str | None = self.figures.get("planner") or self.origin.get("planner")
        return planner

    @property
    def time(self) -> float | None:
        """Seconds that it takes by the cost model, if it was planned for `message_bytes`."""
        seconds: float | None = self.figures.get("predicted_seconds")
        return seconds

    @cached_property
    def figures(self) -> dict[str, Any]:
        """All figures, as `synth --format json` prints them."""
        figures: dict[str, Any] = json.loads(self._told["figures"] if self._told else self._schedule.figures)
        return figures

    @cached_property
    def origin(self) -> dict[str, Any]:
        """Who made the file, how: tool, planner, command, seed."""
        origin: dict[str, Any] = self.to_dict().get("origin", {})
        return origin

    @cached_property
    def moves(self) -> NDArray[np.void]:
        """Every chunk move, in order: a read-only structured array of step (from 1), from, to, chunk, op.

        A plan in the compact form is expanded for this, once, as it is to be lowered or run; see `expand`.
        """
        import numpy as np

        names = ["step", "from", "to", "chunk", "op"]
        return np.frombuffer(self._schedule.moves(), np.dtype([(name, np.uint32) for name in names]))

    def chunk_label(self, chunk: int) -> str:
        """What a chunk is called: `2>3`, or `2>3.1` for a part."""
        return self._schedule.chunk_label(whole_number("a chunk", chunk))

    def to_json(self) -> str:
        """The schedule file, byte for byte as the command writes it."""
        return self._schedule.to_json()

    def to_dict(self) -> dict[str, Any]:
        """The object in the schedule file."""
        whole: dict[str, Any] = json.loads(self.to_json())
        return whole

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the schedule file, whole or not at all (`.gz`: compressed).

        Raises `UsageError` if the name ends like another form than JSON, such as `.csv`.
        """
        self._schedule.save(path)

    def view(
        self, path: str | os.PathLike[str] | None = None, *, topology: Topology | Sequence[int] | None = None
    ) -> Page:
        """The schedule as a page to look at, as `synth view` draws it; with a path, written there too.

        A notebook shows the page of the last line of a cell. `topology` is another machine to judge it on, as it is
        after a failure, say: the page marks the moves that break there.
        """
        from .pages import Page

        return Page._of_file(self.to_json(), path, topology)

    def lower(
        self,
        barriers: Barriers | Literal["neighbour"] = "none",
        in_place: bool = False,
        slots: int | None = None,
    ) -> Program:
        """The program of each rank, without a step clock: what `synth lower` writes. Judged in every interleaving."""
        if not isinstance(barriers, str):
            raise UsageError(f"barriers are none, neighbor or global, not {barriers!r}")
        return Program(
            self._schedule.lower(barriers, in_place, None if slots is None else whole_number("slots", slots))
        )

    def renumbered(self) -> tuple[Plan, list[int]]:
        """The schedule among the live ranks alone, numbered without gaps, and the number that each had before."""
        schedule, was = self._schedule.renumbered()
        return Plan(schedule), was

    def __str__(self) -> str:
        return self._told["text"] if self._told else self._schedule.text

    def __repr__(self) -> str:
        figures = f"{self.steps} steps (bound {self.steps_bound}), volume {self.volume} (bound {self.bound})"
        return f"<Plan: {self._schedule.headline}, {figures}>"

    def _repr_html_(self) -> str:
        from .pages import plan_html

        return plan_html(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        one = self._schedule
        told = self._told or {"stopped": one.stopped, "figures": one.figures, "text": one.text}
        return (_restored, (self.to_json(), told))


class Program:
    """A rank program that the judge vouches for."""

    def __init__(self, lowered: _collsynth.Lowered) -> None:
        self._lowered = lowered

    def to_json(self) -> str:
        """The rank program file, byte for byte as `synth lower` writes it."""
        return self._lowered.to_json()

    @cached_property
    def figures(self) -> dict[str, Any]:
        """Its figures."""
        figures: dict[str, Any] = json.loads(self._lowered.figures)
        return figures

    def view(
        self, path: str | os.PathLike[str] | None = None, *, topology: Topology | Sequence[int] | None = None
    ) -> Page:
        """The program as a page to look at, as `synth view` draws it; with a path, written there too.

        `topology` is another machine to judge it on, as it is after a failure, say.
        """
        from .pages import Page

        return Page._of_file(self.to_json(), path, topology)

    def __str__(self) -> str:
        return self._lowered.text

    def __repr__(self) -> str:
        figures = self.figures
        sizes = f"{figures['workers']} workers, {figures['channels']} channels, barriers {figures['barriers']}"
        return f"<Program: {self._lowered.text.splitlines()[0]}, {sizes}>"


def load(file: str | os.PathLike[str] | bytes | Mapping[str, Any]) -> Plan:
    """The schedule in a file (a path), in its bytes or as its object. Raises `Refuted` if it does not hold."""
    name, text = text_of(file)
    return Plan(_collsynth.holding(name, text))


def is_json(file: object) -> bool:
    """Is it the text of a file where its path is wanted?"""
    return isinstance(file, str) and file.lstrip().startswith("{")


def text_of(file: str | os.PathLike[str] | bytes | Mapping[str, Any]) -> tuple[str, str]:
    """The name and the text of a file."""
    if isinstance(file, Mapping):
        return "object", json.dumps(dict(file))
    if not isinstance(file, (str, bytes, os.PathLike)):
        raise UsageError(f"a file is a path, its bytes or its object, not {file!r}")
    if is_json(file):
        raise UsageError("a file is stated by its path, not by its text", "json.loads(text) is the object in it")
    name = "bytes" if isinstance(file, bytes) else os.fspath(file)
    if not isinstance(file, bytes):
        try:
            with open(file, "rb") as opened:
                file = opened.read()
        except OSError as error:
            raise of_file(error, name) from None
        except ValueError:
            raise UsageError(f"a path has no zero byte: {name!r}") from None
    try:
        return name, (gzip.decompress(file) if file[:2] == b"\x1f\x8b" else file).decode()
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UsageError(f"{name}: {error}") from None


def _restored(text: str, told: Mapping[str, str] | None = None) -> Plan:
    return Plan(_collsynth.holding("pickle", text), told)
