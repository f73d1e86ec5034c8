"""Plans whose parts are whole tiles: what permutes send is what the plan says.

A TPU sends rows of 128 elements, one, two, four or a multiple of eight at a time (`_tiles`). Parts that are not whole
tiles are filled up: an all_reduce of 1 MiB in bfloat16 in 382 parts sends half as much again.

**Given** a machine, a collective, and the shape and type of its operand. **Sought** the plan of least time, where a
step takes `alpha` for every five permutes, which is as many as XLA has under way at once, and the bytes of the fullest
link, filled up, take their share of `bandwidth`.

**Method.** The default is taken as it is where it sends hardly more than its message, in few steps. Otherwise the next
candidates have the numbers of parts whose rows are the whole tiles just below, just above, and twice that. Where the
default is cut in parts, as vectors are, its steps may be many: more candidates have about 64 and 128 parts and at most
two or three times the least number of steps. **Cost.** At most eight plans.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

from .._answer.plan import Plan
from .._errors import Impossible, Stopped, UsageError
from .._planning import plan as planned
from .._question.topology import Topology
from .._question.words import quantity
from .._running.tables import RankTables, tables_of
from ._tiles import LANES, element_type, sublanes

#: Bytes a second that a link carries, each way, as Google Cloud states for the chip (docs/use/pods.md).
LINKS = {"v4": 50e9, "v5e": 50e9, "v5p": 100e9, "v6e": 100e9}
#: Permutes that XLA has under way at once, unless told otherwise.
UNDER_WAY = 5
#: A default that sends at most as many times its message, in at most as many times the least steps, is taken as it is.
FILLED, FEW = 1.05, 3


def plan(
    topology: Topology | Sequence[int],
    collective: str,
    shape: Sequence[int],
    dtype: Any,
    *,
    machine: str = "v5p",
    alpha: float | str = 5e-6,
    bandwidth: float | str | None = None,
    **options: Any,
) -> Plan:
    """Plans a collective of operands of this shape and type at each rank, in parts that are whole tiles.

    `machine` is v4, v5e, v5p or v6e, for the bandwidth of its links; `bandwidth` states it for others. A step takes
    `alpha` seconds: Google's compiler reckons with 4 to 5 us for a permute. All other options are those of `cs.plan`.

    Raises what `cs.plan` raises, and `UsageError` for a shape that the collective does not take.
    """
    for name in ("parts", "message_bytes"):
        if options.get(name) is not None:
            raise UsageError(f"{name} follows from the operand here", f"cs.plan takes {name}")
    if bandwidth is None:
        if machine not in LINKS:
            raise UsageError(f"machine is one of {', '.join(LINKS)}, not {machine!r}", "state bandwidth= for others")
        bandwidth = LINKS[machine]
    step, link = quantity("alpha", "seconds", alpha), quantity("bandwidth", "bandwidth", bandwidth)
    itemsize = element_type("dtype", dtype).itemsize
    if not isinstance(shape, Sequence):
        raise UsageError(f"shape is that of the operand at each rank, as in (8, 128), not {shape!r}")
    first = planned(topology, collective, **options)
    tables = tables_of(first)
    elements = math.prod(RankTables(tables, 0).block_shape(tuple(shape)))
    if tables.block_slots != tables.parts:
        # Chunks of an all_to_allv are messages.
        return first

    def sent(one: Plan) -> int:
        """Elements of a message, filled up."""
        return one.parts * sublanes(math.ceil(elements / one.parts), itemsize) * LANES

    def time(one: Plan) -> float:
        rounds = sum(math.ceil(count / UNDER_WAY) for count in _permutes(one))
        seconds: float = rounds * step + float(one.volume) * sent(one) * itemsize / link
        return seconds

    least = first.steps_bound or first.steps
    if sent(first) <= FILLED * max(elements, 1) and first.steps <= FEW * least:
        return first

    wishes: list[dict[str, Any]] = [
        {"parts": parts} for parts in sorted(_suitable(elements, first.parts, itemsize) - {first.parts})
    ]
    if first.parts > 1 and elements and not {"steps", "max_steps"} & options.keys():
        wishes += [
            {"parts": _whole(elements, parts, itemsize), "max_steps": times * least}
            for parts in (64, 128)
            for times in (2, 3)
        ]
    plans = [first, *_planned(topology, collective, wishes, options)]
    return min(plans, key=time)


def _planned(
    topology: Topology | Sequence[int], collective: str, wishes: list[dict[str, Any]], options: dict[str, Any]
) -> Iterator[Plan]:
    """The plans there are for these wishes."""
    for wish in wishes:
        # So few steps may be too few.
        with contextlib.suppress(Impossible, Stopped):
            yield planned(topology, collective, **{**options, **wish})


def _suitable(elements: int, parts: int, itemsize: int) -> set[int]:
    """Numbers of parts near one, whose rows are whole tiles."""
    if elements == 0:
        return set()
    above = sublanes(math.ceil(elements / parts), itemsize)
    below = max(above - 8, 4) if above > 4 else max(above // 2, 1)
    return {math.ceil(math.ceil(elements / LANES) / rows) for rows in (below, above, 2 * above)}


def _whole(elements: int, parts: int, itemsize: int) -> int:
    """The number of parts near one, whose rows are whole tiles."""
    return math.ceil(math.ceil(elements / LANES) / sublanes(math.ceil(elements / parts), itemsize))


def _permutes(one: Plan) -> list[int]:
    """The number of permutes of each step."""
    return [len({transfer.group for transfer in transfers}) for transfers in tables_of(one).steps]
