"""Planning: what is asked for, checked at the call, and the plan for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _collsynth
from ._answer.plan import Plan
from ._errors import UsageError
from ._question.groups import check_relays, group_words, members_of
from ._question.names import Form, Kind, Minimize, Planner, PlanOptions, Progress, SmtBackend, one_of
from ._question.topology import Rank, Topology, topology_of, whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._question.groups import Groups

#: The most steps or threads that can be asked for, as on the command line.
MOST = 2**16 - 1


def plan(
    topology: Topology | Sequence[int],
    collective: Kind | str = "all_to_all",
    *,
    root: Rank | None = None,
    demand: Sequence[Sequence[int]] | NDArray[Any] | None = None,
    groups: Groups | None = None,
    relays: bool = True,
    parts: int | Literal["auto"] | None = None,
    steps: int | None = None,
    max_steps: int | None = None,
    planner: Planner | str | None = None,
    message_bytes: int | str | None = None,
    alpha: float | str | None = None,
    bandwidth: float | str | None = None,
    time_limit: float | str | None = None,
    seed: int = 0,
    threads: int | None = None,
    width: int | None = None,
    minimize: Minimize | None = None,
    smt_backend: SmtBackend | None = None,
    form: Form | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Plans a collective, and has the plan judged. The options are those of the command, as are the defaults.

    A tuple is a torus of these extents: `plan((4, 4), "all_reduce")`.

    With `groups`, it is one in each group, all at once: `"xy"` (the planes of a torus), `Blocks(2, 2, 4)`, or lists of
    ranks, whose order numbers their chunks. `root` is then the place of a member, from 0. Other ranks pass chunks on
    unless `relays` is False.

    `parts` is a number or `auto`. Unless stated, vectors of all_reduce, broadcast and reduce are cut in as many
    parts as bring the volume within 5 % of its bound, everything else is whole, except in groups where that is not
    as near. With `message_bytes`, the least time is planned for: `alpha` seconds a step (100 ns unless stated),
    `bandwidth` bytes a second (32 GB/s). Quantities are numbers, or text as on the command line: "64KiB", "1us",
    "50GB/s". At the `time_limit`, the best plan so far is returned. Same options and seed: same plan, on any number
    of threads. `form` is `compact` or `explicit`; unless stated, plans of 512 ranks and more are compact where that
    is shorter.

    The interpreter lock is free while planning; Ctrl-C interrupts it.

    Raises `UsageError`, `Impossible` if no such schedule can exist, `Stopped` if the limit came before the first plan.
    """
    machine = topology_of(topology)
    options = PlanOptions(
        root=root,
        demand=demand,
        groups=groups,
        relays=relays,
        parts=parts,
        steps=steps,
        max_steps=max_steps,
        planner=planner,
        message_bytes=message_bytes,
        alpha=alpha,
        bandwidth=bandwidth,
        time_limit=time_limit,
        seed=seed,
        threads=threads,
        width=width,
        minimize=minimize,
        smt_backend=smt_backend,
        form=form,
    )
    wish = wish_of(machine, collective, options)
    return Plan(_collsynth.synthesize(machine._machine, wish, progress))


def wish_of(topology: Topology, collective: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What `plan` asks for, checked as far as that takes no planning."""
    wanted = options.get
    groups, relays, root, demand = wanted("groups"), wanted("relays", True), wanted("root"), wanted("demand")
    parts, minimize, smt_backend = wanted("parts"), wanted("minimize"), wanted("smt_backend")
    planner, form, time_limit = wanted("planner"), wanted("form"), wanted("time_limit")
    if isinstance(parts, str) and parts != "auto":
        raise UsageError(f"parts is a number or 'auto', not {parts!r}")
    collective = collective_of(collective)
    check_relays(groups, relays)
    number = None if root is None else topology.rank(root) if groups is None else _place(root)
    counts = None if demand is None else counts_of(demand)
    if planner is not None:
        planner = one_of("planner", planner, ["auto", *_collsynth.planners()])
    limits = {"parts": None if parts == "auto" else parts}
    limits |= {name: wanted(name) for name in ("steps", "max_steps", "width", "threads")}
    for name, limit in limits.items():
        most = MOST if name in ("steps", "max_steps", "threads") else 2**32 - 1
        if limit is not None and not 1 <= whole_number(name, limit) <= most:
            raise UsageError(f"{name} is {limit}: it lies between 1 and {most}")
    return limits | {
        "auto_parts": parts == "auto",
        "collective": collective,
        "root": number,
        "demand": counts,
        "groups": None if groups is None else members_of(topology, groups),
        "relays": relays,
        "planner": None if planner == "auto" else planner,
        "price": _price(wanted("message_bytes"), wanted("alpha"), wanted("bandwidth")),
        "seed": _seed(wanted("seed", 0)),
        "time_limit": None if time_limit is None else quantity("time_limit", "seconds", time_limit),
        "minimize": None if minimize is None else one_of("minimize", minimize, Minimize),
        "smt_backend": None if smt_backend is None else one_of("smt_backend", smt_backend, SmtBackend),
        "form": None if form is None else one_of("form", form, Form),
        "words": None if counts is not None else _words(topology, collective, number, groups, relays),
    }


def _price(message_bytes: Any, alpha: Any, bandwidth: Any) -> tuple[int, float | None, float | None] | None:
    if message_bytes is None:
        for name, stated in (("alpha", alpha), ("bandwidth", bandwidth)):
            if stated is not None:
                raise UsageError(f"{name} goes with message_bytes")
        return None
    size = int(quantity("message_bytes", "bytes", message_bytes))
    start = None if alpha is None else quantity("alpha", "seconds", alpha)
    return size, start, None if bandwidth is None else quantity("bandwidth", "bandwidth", bandwidth)


def planners() -> list[str]:
    """The names of all planners; `print(cs.command("planners"))` says what each does."""
    return _collsynth.planners()


def collective_of(stated: str) -> str:
    """The name of a collective, in any spelling."""
    if not isinstance(stated, str):
        raise UsageError(f"collective is a name, such as 'all_reduce', not {stated!r}")
    return _collsynth.collective_name(stated)


def quantity(name: str, kind: str, value: float | str) -> float:
    """The quantity of a parameter, in bytes, seconds or bytes a second."""
    if isinstance(value, str):
        try:
            return _collsynth.quantity(kind, value)
        except UsageError as error:
            raise UsageError(f"{name}: {error.message}", error.hint) from None
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise UsageError(f"{name} is a number, or text such as {_QUANTITIES[kind]!r}, not {value!r}")
    # The least alpha and time limit is 0.
    if not (0 <= value < float("inf")) or (value == 0 and kind != "seconds"):
        raise UsageError(f"{name} is {value}: it must be finite and not negative")
    return float(value)


_QUANTITIES = {"bytes": "64KiB", "seconds": "30s", "bandwidth": "50GB/s"}


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
    if isinstance(root, Sequence) and not isinstance(root, str):
        raise UsageError(f"root is {root!r}: in groups, it is the place of a member, from 0")
    return whole_number("the place of a root", root)


def counts_of(demand: Sequence[Sequence[int]] | NDArray[Any]) -> list[int]:
    """The counts of a demand, row by row."""
    try:
        rows = [list(row) for row in demand]
    except TypeError:
        raise UsageError(f"demand is a matrix of chunk counts, not {demand!r}") from None
    if any(len(row) != len(rows) for row in rows):
        raise UsageError("a demand is a square matrix: a row for each origin, a column for each destination")
    return [whole_number("a count", count) for row in rows for count in row]


def _seed(seed: int) -> int:
    try:
        number = int(seed.__index__())
    except (AttributeError, TypeError):
        raise UsageError(f"seed is a whole number, not {seed!r}") from None
    if not 0 <= number < 2**64:
        raise UsageError(f"seed is {seed}: it lies between 0 and 2^64 - 1")
    return number
