"""Machines: tori, meshes and graphs, with what failed in them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from .._collsynth import Machine
from .._errors import UsageError

Rank = int | tuple[int, ...]
"""A rank: its number, or its coordinates. Coordinates are a tuple: a list is one of ranks."""

_Self = TypeVar("_Self", bound="Topology")


class Link(NamedTuple):
    """A directed link."""

    start: int
    end: int
    capacity: int
    #: `x+`, `x-`, `y+`, ...; None on a graph
    direction: str | None
    #: False if it failed, or the rank at either end
    alive: bool


class Topology:
    """A machine. Immutable: what fails, fails in the machine that is returned.

    Ranks are `0..N`; on a torus, rank = x + X*(y + Y*(z + ...)). Failed ranks keep their numbers.
    """

    _machine: Machine
    # The words of the command line that describe the machine, by option; None: no command line does.
    _words: tuple[tuple[str, str], ...] | None

    def __init__(self) -> None:
        raise TypeError("use Torus(4, 4, 4), Topology.mesh(4, 4), Topology.graph(...) or Topology.from_json(...)")

    @classmethod
    def _of(cls: type[_Self], machine: Machine, words: tuple[tuple[str, str], ...] | None) -> _Self:
        topology = cls.__new__(cls)
        topology._machine, topology._words = machine, words
        return topology

    @staticmethod
    def mesh(*extents: int | Sequence[int]) -> Torus:
        """A mesh: a torus none of whose dimensions wraps."""
        return Torus(*extents, wrap=False)

    @staticmethod
    def graph(ranks: int, links: Iterable[tuple[int, int] | tuple[int, int, int]]) -> Topology:
        """A graph of directed links: (from, to) or (from, to, capacity)."""
        whole = [_link(link) for link in links]
        for start, end, capacity in whole:
            numbers = {"a rank": start, "the end of a link": end, "a capacity": capacity}
            for what, number in numbers.items():
                whole_number(what, number)
        return Topology._of(Machine.graph(whole_number("ranks", ranks), whole), None)

    @staticmethod
    def from_json(text: str | bytes | dict[str, Any]) -> Topology:
        """The machine of a topology file: its text, or the object in it."""
        if isinstance(text, dict):
            text = json.dumps(text)
        if isinstance(text, bytes):
            text = text.decode(errors="replace")
        if not isinstance(text, str):
            raise UsageError(f"a topology file is text or an object, not {text!r}")
        return _typed(Machine.parse(text, "topology"), None)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Topology:
        """The machine in a topology file, or that a schedule, a job or a rank program states."""
        from .._answer.plan import text_of

        name, text = text_of(path)
        is_file = isinstance(path, (str, os.PathLike))
        return _typed(Machine.parse(text, name), (("--topology", name),) if is_file else None)

    def fail_cable(self: _Self, start: Rank, end: Rank | str, dim: str | None = None) -> _Self:
        """The same with both links of a cable failed; `dim` (`x`, or `x+` from `start`) where two join them.

        `end` may be the direction in which the cable leaves `start`: `fail_cable(2, "x+")`. What has failed before
        counts once: a cable raises an alarm at both ends.
        """
        return self._fail("--fail", start, end, dim, both=True)

    def fail_link(self: _Self, start: Rank, end: Rank | str, dim: str | None = None) -> _Self:
        """The same with the link from `start` to `end` failed; the opposite one stays alive."""
        return self._fail("--fail-link", start, end, dim, both=False)

    def fail_rank(self: _Self, rank: Rank | Iterable[Rank]) -> _Self:
        """The same with a rank and all its links failed, or with each of a list of ranks.

        `fail_rank((0, 1))` fails the rank at these coordinates, `fail_rank([0, 1])` fails ranks 0 and 1.
        """
        failed = self
        for one in _listed(rank):
            word = self._rank_word(one)
            if failed._machine.rank(word) in failed._machine.live_ranks:
                failed = self._of(failed._machine.fail_rank(word), failed._with("--fail-rank", word))
        return failed

    def fail_switch(self: _Self, switch: str, period: Iterable[int] | None = None) -> _Self:
        """The same with a switch between the cells of a torus dead: `fail_switch("x:1,2")`.

        That is, in every cell, the cable that leads up x at y=1, z=2 to the next cell. Cells have the extents `period`:
        4 along every dimension unless stated, as the cubes of a TPU pod.
        """
        if not isinstance(switch, str):
            raise UsageError(f'a switch is written as in "x:1,2", not {switch!r}')
        if period is not None and not isinstance(period, Iterable):
            raise UsageError(f"period is an extent for each dimension, as in (4, 4, 4), not {period!r}")
        extents = None if period is None else [whole_number("a period", number) for number in period]
        if extents is None:
            return self._of(self._machine.fail_switch(switch, None), self._with("--fail-switch", switch))
        # The command has one period for all of its switches.
        machine = self._machine.fail_switch(switch, "x".join(map(str, extents)))
        return self._of(machine, None)

    def _fail(self: _Self, option: str, start: Rank, end: Rank | str, dim: str | None, both: bool) -> _Self:
        end = end if isinstance(end, str) else self._rank_word(end)
        stated = ",".join((self._rank_word(start), end) + (() if dim is None else (dim,)))
        try:
            machine = self._machine.fail(stated, both)
        except UsageError as error:
            if "failed twice" not in error.message:
                raise
            # A cable of which one link alone has failed takes its place; all else counts once.
            whole = self._widened(stated) if both else None
            if whole is None:
                return self
            machine = whole
        return self._of(machine, self._with(option, stated))

    def _widened(self, cable: str) -> Machine | None:
        """The machine with this cable failed instead of links of it that had; None if it had as a whole."""
        spec = json.loads(self.to_json())
        intact = Machine.parse(json.dumps(spec | {"failed_links": [], "failed_ranks": []}), "topology")

        def dead(stated: str, both: bool) -> set[tuple[int, int, str | None]]:
            failed = intact.fail(stated, both).links
            return {(start, end, direction) for start, end, _, direction, alive in failed if not alive}

        def words(link: dict[str, Any]) -> str:
            return ",".join(str(link[key]) for key in ("from", "to", "dim") if link.get(key) is not None)

        ours, links = dead(cable, True), spec["failed_links"]
        others = [link for link in links if link.get("both", True) or not dead(words(link), False) <= ours]
        if len(others) == len(links):
            return None
        return Machine.parse(json.dumps(spec | {"failed_links": others}), "topology").fail(cable, True)

    def _with(self, option: str, value: str) -> tuple[tuple[str, str], ...] | None:
        return None if self._words is None else (*self._words, (option, value))

    @property
    def command_words(self) -> list[str] | None:
        """The options of the command that describe this machine; None if only a topology file does."""
        if self._words is None:
            return None
        # The command writes the options of a kind together.
        order = [
            "--torus",
            "--topology",
            "--wrap",
            "--capacity",
            "--fail",
            "--fail-link",
            "--fail-rank",
            "--fail-switch",
        ]
        words = sorted(self._words, key=lambda word: order.index(word[0]))
        return [word for pair in words for word in pair]

    @property
    def ranks(self) -> int:
        """The number of ranks, failed ones included."""
        return self._machine.rank_count

    @property
    def live_ranks(self) -> list[int]:
        """The ranks that did not fail, ascending."""
        return self._machine.live_ranks

    @property
    def links(self) -> list[Link]:
        """Every directed link, failed ones included."""
        return [Link(*link) for link in self._machine.links]

    def rank(self, rank: Rank) -> int:
        """The number of a rank."""
        return self._machine.rank(self._rank_word(rank))

    def _rank_word(self, rank: Rank) -> str:
        """A rank as the command line has it, where one coordinate is no number of a rank."""
        shape = self._machine.torus_shape
        if isinstance(rank, tuple) and len(rank) == 1 and (shape is None or len(shape[0]) > 1):
            dimensions = "a graph has none" if shape is None else f"this torus has {len(shape[0])}"
            raise UsageError(
                f"{rank!r} has a coordinate for one dimension, and {dimensions}", "a rank is a number, too"
            )
        return _word(rank)

    def to_json(self) -> str:
        """The topology file, byte for byte as `synth topology --format json` writes it."""
        return self._machine.to_json()

    def __str__(self) -> str:
        return self._machine.describe()

    def __repr__(self) -> str:
        capacities = self._capacities()
        unusual = f", capacity {','.join(map(str, capacities))}" if set(capacities) - {1} else ""
        return f"<{type(self).__name__}: {self}{unusual}>"

    def _capacities(self) -> Sequence[int]:
        """Those that there are; of a torus, by dimension."""
        return sorted({link.capacity for link in self.links})

    def _repr_html_(self) -> str:
        from .._answer.pages import machine_svg

        return f"<p>{self}</p>{machine_svg(self)}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Topology) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.to_json(), self._words))


class Torus(Topology):
    """A torus of these extents, the dimension that runs fastest first: `Torus(4, 4)`, or `Torus((4, 4))`.

    `wrap`: which dimensions close to rings, for all or one per dimension (default: extents of 3 and more do).
    `capacity`: chunks a link carries in a step of width 1, for all or one per dimension (default: 1).
    """

    def __init__(
        self,
        *extents: int | Sequence[int],
        wrap: bool | Sequence[bool] | None = None,
        capacity: int | Sequence[int] | None = None,
    ) -> None:
        sizes = extents_of(extents)
        words = [("--torus", "x".join(map(str, sizes)))]
        wraps: list[bool] = []
        if wrap is not None:
            stated = _each("wrap", wrap, bool)
            if not all(isinstance(one, bool) for one in stated):
                raise UsageError(f"wrap is True or False, or a list of them, not {wrap!r}")
            wraps = stated * len(sizes) if isinstance(wrap, bool) else stated
            words.append(("--wrap", ",".join("yes" if one else "no" for one in stated)))
        capacities: list[int] = []
        if capacity is not None:
            given = [whole_number("a capacity", one) for one in _each("capacity", capacity, int)]
            capacities = given * len(sizes) if isinstance(capacity, int) else given
            words.append(("--capacity", ",".join(map(str, given))))
        self._machine = Machine.torus(sizes, wraps, capacities)
        self._words = tuple(words)

    def capacities(self, *capacity: int) -> Torus:
        """The same torus with these capacities, one per dimension; before anything failed."""
        if any(option.startswith("--fail") for option, _ in self._words or (("--fail", ""),)):
            raise UsageError("state the capacities before what failed")
        return Torus(*self.extents, wrap=self.wrap, capacity=capacity)

    @property
    def extents(self) -> tuple[int, ...]:
        """Positions per dimension."""
        return tuple(self._shape()[0])

    @property
    def wrap(self) -> tuple[bool, ...]:
        """Per dimension: does the last position join the first?"""
        return tuple(self._shape()[1])

    @property
    def capacity(self) -> tuple[int, ...]:
        """Per dimension: chunks a link carries in a step of width 1."""
        return tuple(self._shape()[2])

    def _capacities(self) -> Sequence[int]:
        return self.capacity

    def _shape(self) -> tuple[list[int], list[bool], list[int]]:
        shape = self._machine.torus_shape
        assert shape is not None, "a Torus is made of tori only"
        return shape

    def coordinates(self, rank: Rank) -> tuple[int, ...]:
        """The coordinates of a rank."""
        number, coordinates = self.rank(rank), []
        for extent in self.extents:
            coordinates.append(number % extent)
            number //= extent
        return tuple(coordinates)


def whole_number(what: str, value: Any, hint: str | None = None) -> int:
    """The value, if it is a whole number that 32 bits can hold."""
    try:
        # Truth values count as 0 and 1 in Python, and are slips here.
        number = None if isinstance(value, bool) else value.__index__()
    except (AttributeError, TypeError):
        number = None
    if number is None:
        raise UsageError(f"{what} is a whole number, not {value!r}", hint)
    if not 0 <= number < 2**32:
        raise UsageError(f"{what} is {number}: it lies between 0 and 2^32 - 1")
    return int(number)


def extents_of(extents: Sequence[Any]) -> list[int]:
    """Extents that were stated one by one, or as one tuple."""
    if len(extents) == 1 and isinstance(extents[0], Sequence) and not isinstance(extents[0], str):
        extents = extents[0]
    return [whole_number("an extent", extent, "state extents one by one, as in cs.Torus(4, 4)") for extent in extents]


def topology_of(stated: Topology | Sequence[int], what: str = "topology") -> Topology:
    """The machine that somebody stated: a topology, or the extents of a torus."""
    if isinstance(stated, Topology):
        return stated
    if isinstance(stated, Sequence) and not isinstance(stated, (str, bytes)) and stated:
        return Torus(*stated)
    hint = "cs.Topology.load(path) reads a topology file" if isinstance(stated, (str, os.PathLike)) else None
    raise UsageError(f"{what} is a machine, such as cs.Torus(4, 4) or (4, 4), not {stated!r}", hint)


def _typed(machine: Machine, words: tuple[tuple[str, str], ...] | None) -> Topology:
    return (Topology if machine.torus_shape is None else Torus)._of(machine, words)


def _restored(text: str, words: tuple[tuple[str, str], ...] | None) -> Topology:
    return _typed(Machine.parse(text, "topology"), words)


def _link(stated: Any) -> tuple[int, int, int]:
    """A link of a graph: both ends, and its capacity."""
    numbers = list(stated) if isinstance(stated, Iterable) and not isinstance(stated, str) else []
    if len(numbers) not in (2, 3):
        raise UsageError(f"a link is (from, to) or (from, to, capacity), not {stated!r}")
    return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 1


def _each(what: str, stated: Any, single: type) -> list[Any]:
    """What was stated once for all dimensions, or for each."""
    if isinstance(stated, single):
        return [stated]
    if isinstance(stated, str) or not isinstance(stated, Iterable):
        raise UsageError(f"{what} is stated once, or for each dimension in a list, not as {stated!r}")
    each = list(stated)
    if not each:
        raise UsageError(f"{what} is stated once, or for each dimension in a list, and this one is empty")
    return each


def _listed(rank: Any) -> list[Any]:
    """A rank, or each of a list of them."""
    if isinstance(rank, (str, tuple)) or not isinstance(rank, Iterable) or getattr(rank, "ndim", 1) == 0:
        return [rank]
    return list(rank)


def _word(rank: Rank) -> str:
    """A rank as the command line has it: `5` or `1.1.0`."""
    if isinstance(rank, tuple):
        return ".".join(str(whole_number("a coordinate", one)) for one in rank)
    if isinstance(rank, list):
        coordinates = ", ".join(map(str, rank))
        raise UsageError(f"a rank is a number or a tuple of coordinates, not {rank!r}", f"write ({coordinates})")
    return str(whole_number("a rank", rank))
