"""The command `synth`, and what Python hands to it: bounds, trade-offs, comparisons, other tools' formats."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from . import _collsynth
from ._errors import Error, UsageError, of_ending
from ._groups import group_words
from ._plan import MOST, Plan, Program, Progress, load
from ._topology import Topology

if TYPE_CHECKING:
    import subprocess

    from ._groups import Groups

Option = bool | int | float | str | Sequence[int] | Sequence[str] | None


def main() -> int:
    """The command `synth`."""
    import signal

    # The command has its own handler, which stops with the best plan so far.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _collsynth.synth_main(["synth", *sys.argv[1:]])


def command(*words: str | os.PathLike[str], text: str | None = None) -> str:
    """Runs `synth` with these words in a process of its own, and returns what it prints.

    `text` is its standard input. Exit codes other than 0 raise the exception they stand for, except that the best found
    within a time limit is returned.
    """
    done = _run(words, text)
    return _answer(done.returncode, done.stdout, done.stderr)


def _run(words: Sequence[str | os.PathLike[str]], text: str | None) -> subprocess.CompletedProcess[str]:
    # Costs more to import than all of this package.
    import subprocess

    line = [sys.executable, "-m", "collsynth", *(os.fspath(word) for word in words)]
    return subprocess.run(line, input=text, capture_output=True, text=True, check=False)


def command_json(*words: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON object that `synth` prints for these words; verdicts of any kind are answers."""
    done = _run(words, None)
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise _error(done.returncode, done.stderr) from None
    return answer


def bounds(
    topology: Topology,
    collective: str = "all_to_all",
    *,
    groups: Groups | None = None,
    relays: bool = True,
    progress: Progress | None = None,
    **options: Option,
) -> list[dict[str, Any]]:
    """What no schedule can beat, with the evidence in words: the options are those of `synth bound`.

    Each bound says its `figure` (steps or volume) and `at_least`, an int or an exact `Fraction`. With `frontier`: the
    least width at each number of steps. `groups` and `relays` are those of `plan`.
    """
    answer = _of_machine("bound", topology, collective, group_words(topology, groups, relays), options, progress)
    found: list[dict[str, Any]] = answer["frontier" if options.get("frontier") else "bounds"]
    for one in found:
        for figure in ("at_least", "volume"):
            if isinstance(one.get(figure), str):
                one[figure] = Fraction(one[figure])
    return found


def pareto(
    topology: Topology,
    collective: str = "all_to_all",
    *,
    groups: Groups | None = None,
    relays: bool = True,
    progress: Progress | None = None,
    **options: Option,
) -> dict[str, Any]:
    """The trade of steps against volume; the options are those of `synth pareto`, `groups` and `relays` of `plan`."""
    return _of_machine("pareto", topology, collective, group_words(topology, groups, relays), options, progress)


def compare(
    topology: Topology,
    collective: str = "all_to_all",
    *,
    groups: Groups | None = None,
    relays: bool = True,
    progress: Progress | None = None,
    **options: Option,
) -> dict[str, Any]:
    """Planners side by side; the options are those of `synth compare` (`planners=["ring", "trees"]`).

    `groups` and `relays` are those of `plan`.
    """
    return _of_machine("compare", topology, collective, group_words(topology, groups, relays), options, progress)


def export(plan: Plan | Program, to: str, *, progress: Progress | None = None, **options: Option) -> str:
    """A schedule or program in another tool's format: `msccl`, `rccl`, `csv`, `trace` or `goal`."""
    return _call(["convert", "-", "--to", to], options, plan.to_json(), progress)


def import_(
    path: str | os.PathLike[str],
    format: str,
    topology: Topology | None = None,
    *,
    progress: Progress | None = None,
    **options: Option,
) -> Any:
    """What another tool made: `sccl`, `teccl` and `forestcoll` give a plan, `msccl` the object of a rank program.

    Raises `Refuted` if it does not hold.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        machine = _machine_file(topology, folder) if topology is not None else []
        words = ["convert", path, "--from", format, *machine, "-o", "-"]
        text = _call(words, options, "", progress)
    return json.loads(text) if format == "msccl" else load(text.encode())


def polish(plan: Plan, *, progress: Progress | None = None, **options: Option) -> Plan:
    """A plan that is no worse, found by solving for pieces of it; the options are those of `synth polish`."""
    return load(_call(["polish", "-", "-o", "-"], options, plan.to_json(), progress).encode())


def _of_machine(
    name: str,
    topology: Topology,
    collective: str,
    groups: Sequence[str],
    options: Mapping[str, Option],
    progress: Progress | None,
) -> dict[str, Any]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        words = topology.command_words
        machine = _machine_file(topology, folder) if words is None else words
        line = [name, *machine, "--collective", collective, *groups, "--format", "json"]
        answer: dict[str, Any] = json.loads(_call(line, options, "", progress))
        return answer


def _call(
    words: Sequence[str | os.PathLike[str]], options: Mapping[str, Option], text: str, progress: Progress | None
) -> str:
    """What `synth` prints for these words, called within this process: `text` is its standard input."""
    others = dict(options)
    threads = others.pop("threads", None)
    if threads is not None and not (isinstance(threads, int) and 1 <= threads <= MOST):
        raise UsageError(f"threads is {threads}: it lies between 1 and {MOST}")
    line = ["synth", *(os.fspath(word) for word in words), *_words(others)]
    return _answer(*_collsynth.synth_call(line, text, threads, progress))


def _answer(code: int, output: str, notes: str) -> str:
    """What was printed, if it is an answer; otherwise raises what the exit code stands for."""
    if code == 0 or (code == 4 and output):
        return output
    raise _error(code, notes)


def _error(code: int, notes: str) -> Error:
    message, _, hint = notes.strip().removeprefix("error: ").partition("\nhint: ")
    return of_ending(code, message, hint or None)


def _machine_file(topology: Topology, folder: str) -> list[str]:
    path = os.path.join(folder, "topology.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(topology.to_json())
    return ["--topology", path]


def _words(options: Mapping[str, Option]) -> list[str]:
    """Options as the command line has them: `max_steps=3` is `--max-steps 3`, `True` is the option alone."""
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if isinstance(value, (int, float, str)):
            words += [] if value is True else [f"{value}s" if _is_time(name, value) else str(value)]
        else:
            words.append(",".join(map(str, value)))
    return words


def _is_time(name: str, value: float | str) -> bool:
    return name in ("time_limit", "alpha") and not isinstance(value, str)
