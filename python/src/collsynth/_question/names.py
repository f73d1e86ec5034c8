"""The words that options take, and the options of what runs the command: for editors, type checkers and messages."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from .._errors import UsageError

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from .groups import Groups
    from .topology import Rank

Kind = Literal[
    "all_to_all",
    "all_to_allv",
    "all_gather",
    "reduce_scatter",
    "all_reduce",
    "broadcast",
    "reduce",
    "scatter",
    "gather",
    "barrier",
    "all_reduce_gathered",
]
"""The collectives. Other spellings are taken too: `AllReduce`, `all-reduce`."""

Planner = Literal[
    "auto",
    "template",
    "flow_over_time",
    "mended",
    "negotiated",
    "arborescences",
    "packed_trees",
    "matching",
    "trees",
    "spanning_trees",
    "flood",
    "smt",
    "dim_rotation",
    "half_ring",
    "ring",
    "ring_pipeline",
    "folded_ring",
    "open_ring",
    "mate",
    "mate_open",
    "mate_e",
    "mate_e2",
    "mate_e_open",
    "dor",
    "wfr",
    "recursive_doubling",
    "rabenseifner",
    "swing",
    "swing_latency",
    "bine",
    "bine_tree",
    "trivance",
    "trivance_bandwidth",
    "exchange",
    "ring_all_reduce",
    "ring_gather",
    "binary_tree",
    "two_wave",
    "composed",
]
"""The planners, and `auto`, which chooses among them. Other spellings are taken too: `FoldedRing`."""

ExportFormat = Literal["json", "compact", "explicit", "msccl", "rccl", "csv", "trace", "goal", "chakra"]
ImportFormat = Literal["msccl", "sccl", "teccl", "forestcoll", "csv"]
Barriers = Literal["none", "neighbor", "global"]
Form = Literal["compact", "explicit"]
Minimize = Literal["volume", "steps"]
SmtBackend = Literal["cadical", "z3"]
Plotted = Literal["time", "speedup"]

Progress = Callable[[str, str, int, int], object]
"""What is called while planning: planner, attempt, round, conflicts that remain."""

if TYPE_CHECKING:
    Bytes = int | str
    Seconds = float | str
    Rate = float | str
    Demand = Sequence[Sequence[int]] | NDArray[Any]


class PlanOptions(TypedDict, total=False):
    """The options of `plan`."""

    root: Rank | None
    demand: Demand | str | os.PathLike[str] | None
    planner: Planner | str | None
    parts: int | Literal["auto"] | None
    steps: int | None
    max_steps: int | None
    message_bytes: Bytes | None
    alpha: Seconds | None
    bandwidth: Rate | None
    time_limit: Seconds | None
    seed: int | None
    threads: int | None
    width: int | None
    minimize: Minimize | None
    smt_backend: SmtBackend | None
    form: Form | None


class SurveyOptions(PlanOptions, total=False):
    """The arguments of `plan` that a survey, or a job of one, may state."""

    groups: Groups | None
    relays: bool
    progress: Progress | None


class JobCollective(TypedDict, total=False):
    """A collective of `plan_job`."""

    collective: Kind | str
    groups: Groups | None
    blocks: Sequence[int] | str
    relays: bool
    root: Rank | None
    demand: Demand | str | os.PathLike[str]
    parts: int
    bytes: Bytes


class JobOptions(TypedDict, total=False):
    """The options of `plan_job`."""

    parts: int | Literal["auto"] | None
    steps: int | None
    max_steps: int | None
    time_limit: Seconds | None
    seed: int | None
    threads: int | None


class BoundOptions(TypedDict, total=False):
    """The options of `bounds`."""

    root: Rank | None
    demand: Demand | str | os.PathLike[str] | None
    parts: int | None
    lp: bool
    frontier: bool
    time_limit: Seconds | None
    threads: int | None


class ParetoOptions(TypedDict, total=False):
    """The options of `pareto`."""

    root: Rank | None
    demand: Demand | str | os.PathLike[str] | None
    planner: Planner | str | None
    parts: int | Sequence[int] | Literal["auto"] | None
    max_steps: int | None
    message_bytes: Bytes | Sequence[Bytes] | None
    alpha: Seconds | None
    bandwidth: Rate | None
    time_limit: Seconds | None
    seed: int | None
    threads: int | None
    smt_backend: SmtBackend | None


class CompareOptions(TypedDict, total=False):
    """The options of `compare`."""

    root: Rank | None
    demand: Demand | str | os.PathLike[str] | None
    planners: Sequence[Planner | str] | str | None
    baseline: Planner | str | None
    sound_baseline: bool
    parts: int | Sequence[int] | Literal["auto"] | None
    time_limit: Seconds | None
    seed: int | None
    threads: int | None
    message_bytes: Bytes | Sequence[Bytes] | None
    alpha: Seconds | None
    transfer_setup: Seconds | None
    bandwidth: Rate | Mapping[str, Rate] | None


class PolishOptions(TypedDict, total=False):
    """The options of `polish`."""

    smt_backend: SmtBackend | None
    time_limit: Seconds | None
    threads: int | None


class ExportOptions(TypedDict, total=False):
    """The options of `export`."""

    rank: Rank | None
    barriers: Barriers | None
    in_place: bool
    renumber: str | os.PathLike[str] | None
    chunk_bytes: Bytes | None
    message_bytes: Bytes | None
    alpha: Seconds | None
    bandwidth: Rate | None
    output: str | os.PathLike[str] | None
    threads: int | None


class ImportOptions(TypedDict, total=False):
    """The options of `import_`."""

    collective: Kind | str | None
    root: Rank | None
    demand: Demand | str | os.PathLike[str] | None
    parts: int | None
    slots: int | None
    form: Literal["in-place", "out-of-place"] | None
    threads: int | None


#: Options of the command that state what Python states otherwise.
_OTHERWISE = {
    "output": "the answer is returned: write a plan with .save(path), a plot with .plot(path)",
    "format": "the answer is an object; the text for people is that of cs.command",
    "plot": "the `.plot()` of the answer takes it",
    "sweep": "call it for each machine",
    "paper": 'cs.command("compare", "--paper") prints that table',
    "quiet": "nothing is printed",
} | dict.fromkeys(
    (
        *("torus", "wrap", "capacity", "twist", "slice", "names"),
        *("fail", "fail_link", "fail_rank", "fail_box", "fail_switch", "period"),
    ),
    "the machine states it: cs.Torus(4, 4).fail_cable(2, 3)",
)


def check_options(call: str, options: Mapping[str, Any], known: type) -> None:
    """Raises `UsageError` for an option that a call does not have."""
    names = list(known.__annotations__)
    for name in options:
        if name in names:
            continue
        near = difflib.get_close_matches(name, names, 1)
        hint = _OTHERWISE.get(name, f"it has {', '.join(names)}")
        meant = f"; did you mean {near[0]}?" if near and name not in _OTHERWISE else ""
        raise UsageError(f"{call} has no option {name}{meant}", hint)


def one_of(name: str, stated: Any, words: Any) -> str:
    """The word that was meant of a `Literal`, or of a list, in any spelling."""
    known: Sequence[str] = get_args(words) or words
    if not isinstance(stated, str):
        raise UsageError(f"{name} is a word, such as {known[0]!r}, not {stated!r}")
    for word in known:
        if _bare(word) == _bare(stated):
            return word
    near = difflib.get_close_matches(stated.lower(), known, 1)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    raise UsageError(f"no {name} is called `{stated}`; {meant}")


def _bare(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter.isalnum())
