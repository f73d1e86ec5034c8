"""The words of the command line for what Python states: collectives, numbers, quantities, demands."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _collsynth
from .._errors import UsageError
from .names import one_of
from .topology import Topology, whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The most threads that can be asked for, as on the command line.
MOST_THREADS = 2**16 - 1

#: Numbers of these options are seconds; of these, bytes.
TIMES = ("time_limit", "alpha", "transfer_setup")
SIZES = ("message_bytes", "chunk_bytes")


def option_words(
    options: Mapping[str, Any],
    known: type,
    topology: Topology | None = None,
    folder: str | None = None,
    in_groups: bool = False,
) -> list[str]:
    """Options as the command line has them: `max_steps=3` is `--max-steps 3`, `True` is the option alone.

    `known` are the options of the call, with their types. A demand that is a matrix is written to the folder; without
    one, it has the name `-`.
    """
    words = []
    for name, value in options.items():
        if name == "threads" or value is None:
            continue
        option = "--" + name.replace("_", "-")
        if "bool" in str(known.__annotations__[name]):
            if not isinstance(value, bool):
                raise UsageError(f"{name} is True or False, not {value!r}")
            words += [option] if value else []
            continue
        words.append(option)
        if name in ("root", "rank"):
            word = _rank(name, value, topology, in_groups)
        elif name == "demand":
            if is_path(value) and os.fspath(value) == "-":
                raise UsageError("demand is a matrix, or the path of a file, not '-'")
            word = os.fspath(value) if is_path(value) else _demand_file(value, folder)
        else:
            word = _word(name, value, "Sequence" in str(known.__annotations__[name]))
        words.append(word)
    return words


def is_path(value: Any) -> bool:
    """Is it the path of a file?"""
    return isinstance(value, (str, os.PathLike))


def threads_of(options: Mapping[str, Any]) -> int | None:
    """The number of threads to work with, if it is stated."""
    threads = options.get("threads")
    if threads is not None and not 1 <= whole_number("threads", threads) <= MOST_THREADS:
        raise UsageError(f"threads is {threads!r}: it lies between 1 and {MOST_THREADS}")
    return threads


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


def counts_of(demand: Sequence[Sequence[int]] | NDArray[Any]) -> list[int]:
    """The counts of a demand, row by row."""
    return [count for row in rows_of(demand) for count in row]


def rows_of(demand: Sequence[Sequence[int]] | NDArray[Any]) -> list[list[int]]:
    """The counts of a demand."""
    try:
        rows = [list(row) for row in demand]
    except TypeError:
        raise UsageError(f"demand is a matrix of chunk counts, not {demand!r}") from None
    if any(len(row) != len(rows) for row in rows):
        raise UsageError("a demand is a square matrix: a row for each origin, a column for each destination")
    return [[whole_number("a count", count) for count in row] for row in rows]


def _word(name: str, value: Any, takes_several: bool) -> str:
    if name in ("planner", "planners", "baseline"):
        stated = value.split(",") if isinstance(value, str) else value if takes_several else [value]
        if not isinstance(stated, Sequence):
            raise UsageError(f"{name} is a name, such as 'ring', not {value!r}")
        known = _collsynth.planners() + (["auto"] if name == "planner" else [])
        return ",".join(one_of("planner", one.strip() if isinstance(one, str) else one, known) for one in stated)
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if name in TIMES:
        return f"{quantity(name, 'seconds', value)}s"
    if isinstance(value, Mapping):
        return ",".join(f"{dim}={_word(name, one, False)}" for dim, one in value.items())
    if name == "bandwidth":
        return f"{quantity(name, 'bandwidth', value)}B/s"
    if takes_several and hasattr(value, "__iter__"):
        return ",".join(_word(name, one, False) for one in value)
    if name in SIZES:
        size = quantity(name, "bytes", value)
        if size != int(size):
            raise UsageError(f"{name} is a whole number of bytes, not {value!r}")
        return str(int(value))
    if name in ("minimize", "smt_backend", "form", "barriers"):
        raise UsageError(f"{name} is a word, not {value!r}")
    return str(_seed(value) if name == "seed" else whole_number(name, value))


def _rank(name: str, value: Any, topology: Topology | None, in_groups: bool) -> str:
    if in_groups and isinstance(value, (tuple, list)):
        raise UsageError(f"{name} is {value!r}: in groups, it is the place of a member, from 0")
    if in_groups or topology is None:
        return str(whole_number(name, value))
    return str(topology.rank(value))


def _demand_file(demand: Any, folder: str | None) -> str:
    if folder is None:
        return "-"
    rows, path = rows_of(demand), os.path.join(folder, "demand.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file)
    return path


def _seed(seed: int) -> int:
    try:
        number = None if isinstance(seed, bool) else int(seed.__index__())
    except (AttributeError, TypeError):
        number = None
    if number is None:
        raise UsageError(f"seed is a whole number, not {seed!r}")
    if not 0 <= number < 2**64:
        raise UsageError(f"seed is {seed}: it lies between 0 and 2^64 - 1")
    return number
