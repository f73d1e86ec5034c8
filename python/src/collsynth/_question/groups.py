"""Groups of ranks: as people state them, as lists, and as words of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .._errors import UsageError
from .topology import Rank, Topology, extents_of

#: What helps whoever stated something else.
FORMS = 'dimensions as in "xy", cs.Blocks(2, 2), or a list of lists of ranks as in [[0, 1], [2, 3]]'


class Blocks:
    """Groups that cut a torus in boxes of these extents, one for each dimension: `Blocks(2, 2, 4)`."""

    def __init__(self, *extents: int | Sequence[int]) -> None:
        self.extents = tuple(extents_of(extents))

    def __repr__(self) -> str:
        return f"Blocks({', '.join(map(str, self.extents))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blocks) and self.extents == other.extents

    def __hash__(self) -> int:
        return hash(self.extents)


if TYPE_CHECKING:
    from numpy.typing import NDArray

    Groups = str | Blocks | Sequence[Sequence[Rank]] | NDArray[Any]
    """Dimensions (`"xy"`: the planes), boxes of a torus, or lists of ranks; their order numbers the chunks."""


def members_of(topology: Topology, groups: Groups) -> list[list[int]]:
    """The members of each group, in their order."""
    machine = topology._machine
    if isinstance(groups, str):
        return machine.spanned(groups)
    if isinstance(groups, Blocks):
        return machine.boxes(list(groups.extents))
    lists = _items(groups, "groups are lists of ranks")
    return [[topology.rank(rank) for rank in _items(group, "a group is a list of ranks")] for group in lists]


def group_words(topology: Topology, groups: Groups | None, relays: bool) -> list[str]:
    """The options of the command that state these groups."""
    check_relays(groups, relays)
    if groups is None:
        return []
    if isinstance(groups, str):
        members_of(topology, groups)
        words = ["--groups", groups]
    elif isinstance(groups, Blocks):
        words = ["--blocks", "x".join(map(str, groups.extents))]
    else:
        lists = members_of(topology, groups)
        if not lists or not all(lists):
            raise UsageError("a group has no member" if lists else "no group is given", f"state {FORMS}")
        words = [word for ranks in lists for word in ("--group", _listed(ranks))]
    return words if relays else [*words, "--relays", "no"]


def check_relays(groups: Groups | None, relays: bool) -> None:
    """Refuses relays without groups, and anything but a yes or no."""
    if not isinstance(relays, bool):
        raise UsageError(f"relays is True or False, not {relays!r}")
    if groups is None and not relays:
        raise UsageError("relays=False is about groups, and none are stated", f"state groups: {FORMS}")


def _items(value: Any, what: str) -> list[Any]:
    # The order of members numbers their chunks: a set has none. What is read once cannot be looked at again.
    if isinstance(value, (str, bytes, set, frozenset, dict, Iterator)) or not isinstance(value, Iterable):
        raise UsageError(f"{what}, not {value!r}", f"state {FORMS}")
    return list(value)


def _listed(ranks: Sequence[int]) -> str:
    """The ranks in their order, three or more in a row as a range: `0-15,20`."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    words = [[f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run) for run in runs]
    return ",".join(word for run in words for word in run)
