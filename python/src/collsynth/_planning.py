"""Planning: what is asked for, checked at the call, and the plan for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _collsynth
from ._answer.plan import Plan
from ._question.groups import group_words
from ._question.names import Kind, PlanOptions, Progress, check_options
from ._question.signature import with_options
from ._question.topology import Topology, topology_of
from ._question.words import collective_of, counts_of, is_path, option_words, threads_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._question.groups import Groups


@with_options(PlanOptions)
def plan(
    topology: Topology | Sequence[int],
    collective: Kind | str = "all_to_all",
    *,
    groups: Groups | None = None,
    relays: bool = True,
    progress: Progress | None = None,
    **options: Unpack[PlanOptions],
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
    words, demand = asked(machine, collective, groups, relays, options)
    # A demand in memory has no words.
    stated = machine.command_words if demand is None else None
    return Plan(_collsynth.synthesize(machine._machine, words, demand, stated, threads_of(options), progress))


def check_plan(
    topology: Topology,
    collective: str,
    options: Mapping[str, Any],
) -> None:
    """Raises what `plan` would raise before it plans."""
    plain = dict(options)
    groups, relays = plain.pop("groups", None), plain.pop("relays", True)
    plain.pop("progress", None)
    words, demand = asked(topology, collective, groups, relays, plain)
    threads_of(plain)
    _collsynth.check_plan(topology._machine, words, demand)


def asked(
    topology: Topology, collective: str, groups: Groups | None, relays: bool, options: Mapping[str, Any]
) -> tuple[list[str], list[int] | None]:
    """What is asked for, in the words of the command; and a demand that is no file."""
    check_options("plan", options, PlanOptions)
    kind = ["--collective", collective_of(collective)]
    within = group_words(topology, groups, relays)
    words = option_words(options, PlanOptions, topology, in_groups=bool(within))
    demand = options.get("demand")
    return [*kind, *within, *words], None if demand is None or is_path(demand) else counts_of(demand)


def planners() -> list[str]:
    """The names of all planners; `print(cs.command("planners"))` says what each does."""
    return _collsynth.planners()
