"""Planning, and verified schedules."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _collsynth
from ._errors import UsageError
from ._groups import check_relays, group_words, members_of
from ._topology import Rank, Topology, _typed, whole_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._groups import Groups
    from ._running.tables import Tables

#: `op` in `Plan.moves`: the chunk replaces the receiver's value
COPY = 0
#: `op` in `Plan.moves`: the chunk is added to the receiver's value
REDUCE = 1

#: The most steps or threads that can be asked for, as on the command line.
MOST = 2**16 - 1

Progress = Callable[[str, str, int, int], object]
"""What is called while planning: planner, attempt, round, conflicts that remain."""


class Plan:
    """A verified schedule. Immutable; only `plan` and `load` make one, and only of what the judge vouches for."""

    def __init__(self, schedule: _collsynth.Schedule) -> None:
        self._schedule = schedule
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
        """The same with every move stated, as `synth expand` writes it.

        Raises `UsageError` if that takes more memory than the judge grants (2 GiB, or what SYNTH_MAX_MEMORY states).
        """
        return self if self.form == "explicit" else Plan(self._schedule.expanded())

    def compact(self) -> Plan:
        """The same in the compact form, as `synth compact` writes it. Raises `UsageError` if it has none."""
        return self if self.form == "compact" else Plan(self._schedule.compact())

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
        return self._schedule.stopped

    @cached_property
    def figures(self) -> dict[str, Any]:
        """All figures, as `synth --format json` prints them."""
        figures: dict[str, Any] = json.loads(self._schedule.figures)
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

    def lower(self, barriers: str = "none", in_place: bool = False, slots: int | None = None) -> Program:
        """The program of each rank, without a step clock: what `synth lower` writes. Judged in every interleaving."""
        return Program(
            self._schedule.lower(barriers, in_place, None if slots is None else whole_number("slots", slots))
        )

    def renumbered(self) -> tuple[Plan, list[int]]:
        """The schedule among the live ranks alone, numbered without gaps, and the number that each had before."""
        schedule, was = self._schedule.renumbered()
        return Plan(schedule), was

    def __str__(self) -> str:
        return self._schedule.text

    def __repr__(self) -> str:
        figures = f"{self.steps} steps (bound {self.steps_bound}), volume {self.volume} (bound {self.bound})"
        return f"<Plan: {self._schedule.headline}, {figures}>"

    def _repr_html_(self) -> str:
        from ._html import plan_html

        return plan_html(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.to_json(),))


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

    def __str__(self) -> str:
        return self._lowered.text


def plan(
    topology: Topology,
    collective: str = "all_to_all",
    *,
    root: Rank | None = None,
    demand: Sequence[Sequence[int]] | NDArray[Any] | None = None,
    groups: Groups | None = None,
    relays: bool = True,
    parts: int | str | None = None,
    steps: int | None = None,
    max_steps: int | None = None,
    planner: str | None = None,
    message_bytes: int | str | None = None,
    alpha: float | str | None = None,
    bandwidth: float | str | None = None,
    time_limit: float | str | None = None,
    seed: int = 0,
    threads: int | None = None,
    width: int | None = None,
    minimize: str | None = None,
    smt_backend: str | None = None,
    form: str | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Plans a collective, and has the plan judged. The options are those of the command, as are the defaults.

    With `groups`, it is one in each group, all at once: `"xy"` (the planes of a torus), `Blocks(2, 2, 4)`, or lists of
    ranks, whose order numbers their chunks. `root` is then the place of a member, from 0. Other ranks pass chunks on
    unless `relays` is False.

    `parts` is a number or `auto`. Unless stated, vectors of all_reduce, broadcast and reduce are cut in as many
    parts as bring the volume within 5 % of its bound, everything else is whole. With `message_bytes`, `alpha`
    (seconds) and `bandwidth` (bytes a second), the least time is planned for. Quantities are numbers, or text as on
    the command line: "64KiB", "1us", "50GB/s". At the `time_limit`, the best plan so far is returned. Same options
    and seed: same plan, on any number of threads. `form` is `compact` or `explicit`; unless stated, plans of 512 ranks
    and more are compact where that is shorter.

    The interpreter lock is free while planning; Ctrl-C interrupts it.

    Raises `UsageError`, `Impossible` if no such schedule can exist, `Stopped` if the limit came before the first plan.
    """
    prices = (message_bytes, alpha, bandwidth)
    if any(price is None for price in prices) and any(price is not None for price in prices):
        raise UsageError("message_bytes, alpha and bandwidth belong together: state all three, or none")
    price = None
    if message_bytes is not None and alpha is not None and bandwidth is not None:
        size = int(quantity("bytes", message_bytes))
        price = (size, quantity("seconds", alpha), quantity("bandwidth", bandwidth))
    if isinstance(parts, str) and parts != "auto":
        raise UsageError(f"parts is a number or 'auto', not {parts!r}")
    collective = _collsynth.collective_name(collective)
    check_relays(groups, relays)
    members = None if groups is None else members_of(topology, groups)
    number = None if root is None else topology.rank(root) if groups is None else _place(root)
    counts = None if demand is None else _counts(demand)
    limits = {"parts": None if parts == "auto" else parts, "steps": steps, "max_steps": max_steps, "width": width}
    limits["threads"] = threads
    for name, limit in limits.items():
        most = MOST if name in ("steps", "max_steps", "threads") else 2**32 - 1
        if limit is not None and not 1 <= whole_number(name, limit) <= most:
            raise UsageError(f"{name} is {limit}: it lies between 1 and {most}")
    wish = limits | {
        "auto_parts": parts == "auto",
        "collective": collective,
        "root": number,
        "demand": counts,
        "groups": members,
        "relays": relays,
        "planner": None if planner == "auto" else planner,
        "price": price,
        "seed": _seed(seed),
        "time_limit": None if time_limit is None else quantity("seconds", time_limit),
        "minimize": minimize,
        "smt_backend": smt_backend,
        "form": form,
        "words": None if counts is not None else _words(topology, collective, number, groups, relays),
    }
    return Plan(_collsynth.synthesize(topology._machine, wish, progress))


def load(file: str | os.PathLike[str] | bytes | Mapping[str, Any]) -> Plan:
    """The schedule in a file (a path), in its bytes or as its object. Raises `Refuted` if it does not hold."""
    name, text = text_of(file)
    return Plan(_collsynth.holding(name, text))


def text_of(file: str | os.PathLike[str] | bytes | Mapping[str, Any]) -> tuple[str, str]:
    """The name and the text of a file."""
    if isinstance(file, Mapping):
        return "object", json.dumps(dict(file))
    name = "bytes" if isinstance(file, bytes) else os.fspath(file)
    if not isinstance(file, bytes):
        with open(file, "rb") as opened:
            file = opened.read()
    try:
        return name, (gzip.decompress(file) if file[:2] == b"\x1f\x8b" else file).decode()
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise UsageError(f"{name}: {error}") from None


def planners() -> list[str]:
    """The names of all planners; `synth planners` says what each does."""
    return _collsynth.planners()


def quantity(kind: str, value: float | str) -> float:
    """A quantity in bytes, seconds or bytes a second."""
    if isinstance(value, str):
        return _collsynth.quantity(kind, value)
    # The least alpha and time limit is 0.
    if not (0 <= value < float("inf")) or (value == 0 and kind != "seconds"):
        raise UsageError(f"{value} {kind}: it must be finite and not negative")
    return float(value)


def _words(
    topology: Topology, collective: str, root: int | None, groups: Groups | None, relays: bool
) -> list[str] | None:
    words = topology.command_words
    if words is None:
        return None
    if collective != "all_to_all":
        words += ["--collective", collective]
    if root is not None:
        words += ["--root", str(root)]
    return words + group_words(topology, groups, relays)


def _place(root: Rank) -> int:
    if isinstance(root, Sequence):
        raise UsageError(f"root is {root!r}: in groups, it is the place of a member, from 0")
    return whole_number("the place of a root", root)


def _counts(demand: Sequence[Sequence[int]] | NDArray[Any]) -> list[int]:
    rows = [list(row) for row in demand]
    if any(len(row) != len(rows) for row in rows):
        raise UsageError("a demand is a square matrix: a row for each origin, a column for each destination")
    return [whole_number("a count", count) for row in rows for count in row]


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed is {seed}: it lies between 0 and 2^64 - 1")
    return seed


def _restored(text: str) -> Plan:
    return Plan(_collsynth.holding("pickle", text))
